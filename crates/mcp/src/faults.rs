//! Converts errors of `rmcp` to problems, without its type names.

use rmcp::{
    service::{ClientInitializeError, ServiceError},
    transport::{DynamicTransportError, streamable_http_client::StreamableHttpError},
};

use crate::{
    bearer::wants_sign_in,
    lenient::UNREADABLE,
    problem::{Fault, Problem},
    words::line,
};

const LIMIT_CHARS: usize = 200;

/// Why the handshake failed.
pub(crate) fn of_handshake(error: &ClientInitializeError) -> Problem {
    match error {
        ClientInitializeError::ConnectionClosed(_) => Problem::EndedAtOnce,
        ClientInitializeError::TransportError { error, .. } => {
            Problem::Unusable(of_transport(error))
        }
        ClientInitializeError::JsonRpcError(error) if error.code == UNREADABLE => {
            Problem::NoMcpServer
        }
        ClientInitializeError::JsonRpcError(error) => Problem::Refuses {
            quote: part(&error.message),
        },
        ClientInitializeError::NoCompatibleProtocolVersion { .. } => Problem::OtherVersions,
        _ => Problem::NoMcpServer,
    }
}

/// Why a request failed.
pub(crate) fn of_request(error: &ServiceError) -> Fault {
    match error {
        ServiceError::McpError(error) if error.code == UNREADABLE => Fault::SomethingElse,
        ServiceError::McpError(error) => Fault::Quote(part(&error.message)),
        ServiceError::TransportSend(error) => of_transport(error),
        ServiceError::TransportClosed => Fault::Closed,
        ServiceError::Timeout { .. } => Fault::TooLong,
        _ => Fault::SomethingElse,
    }
}

/// Whether a request failed because the server requires a sign-in.
pub(crate) fn is_sign_in(error: &ServiceError) -> bool {
    let ServiceError::TransportSend(error) = error else {
        return false;
    };
    error
        .error
        .downcast_ref::<StreamableHttpError<reqwest::Error>>()
        .is_some_and(wants_sign_in)
}

fn of_transport(error: &DynamicTransportError) -> Fault {
    match error
        .error
        .downcast_ref::<StreamableHttpError<reqwest::Error>>()
    {
        Some(fault) if wants_sign_in(fault) => Fault::WantsSignIn,
        Some(StreamableHttpError::Client(error)) => innermost(error),
        Some(StreamableHttpError::HttpStatus(error)) => Fault::Status(error.status),
        Some(StreamableHttpError::InsufficientScope(_)) => Fault::NotAllowed,
        Some(StreamableHttpError::UnexpectedContentType(Some(kind))) => Fault::Kind(line(kind, 60)),
        Some(StreamableHttpError::UnexpectedServerResponse(said)) => Fault::Quote(part(said)),
        Some(_) => Fault::NotMcp,
        None => innermost(error.error.as_ref()),
    }
}

/// Foreign text as a part of a sentence.
fn part(words: &str) -> String {
    line(words, LIMIT_CHARS)
        .trim_end_matches(['.', ':', ' '])
        .to_owned()
}

/// The root cause: the outer ones only say that something failed, some with the whole URL.
fn innermost(error: &(dyn std::error::Error + 'static)) -> Fault {
    let mut cause = error;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    Fault::Quote(part(&cause.to_string()))
}
