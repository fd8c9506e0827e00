//! What went wrong with a connection, in words for the administrator, without the library's names of types.

use rmcp::{
    service::{ClientInitializeError, ServiceError},
    transport::{DynamicTransportError, streamable_http_client::StreamableHttpError},
};

use crate::{bearer::wants_sign_in, words::line};

const LIMIT_CHARS: usize = 200;

/// Why the handshake failed, a sentence.
pub(crate) fn of_handshake(error: &ClientInitializeError) -> String {
    match error {
        ClientInitializeError::ConnectionClosed(_) => "The server ended at once.".to_owned(),
        ClientInitializeError::TransportError { error, .. } => {
            format!("The server cannot be used: {}.", of_transport(error).trim_end_matches(['.', ':', ' ']))
        }
        ClientInitializeError::JsonRpcError(error) => {
            format!("The server refuses the connection: {}.", line(&error.message, LIMIT_CHARS))
        }
        ClientInitializeError::NoCompatibleProtocolVersion { .. } => {
            "The server speaks none of the protocol's versions that we speak.".to_owned()
        }
        _ => "The server does not begin as an MCP server does.".to_owned(),
    }
}

/// Why a request failed, a part of a sentence.
pub(crate) fn of_request(error: &ServiceError) -> String {
    match error {
        ServiceError::McpError(error) => line(&error.message, LIMIT_CHARS),
        ServiceError::TransportSend(error) => of_transport(error),
        ServiceError::TransportClosed => "the connection was closed".to_owned(),
        ServiceError::Timeout { .. } => "it took too long".to_owned(),
        _ => "it answered with something else".to_owned(),
    }
}

/// Whether a request failed because the server wants somebody to sign in.
pub(crate) fn is_sign_in(error: &ServiceError) -> bool {
    let ServiceError::TransportSend(error) = error else { return false };
    error.error.downcast_ref::<StreamableHttpError<reqwest::Error>>().is_some_and(wants_sign_in)
}

fn of_transport(error: &DynamicTransportError) -> String {
    match error.error.downcast_ref::<StreamableHttpError<reqwest::Error>>() {
        Some(fault) if wants_sign_in(fault) => "it wants a key or a sign-in, or another one".to_owned(),
        Some(StreamableHttpError::Client(error)) => innermost(error),
        Some(StreamableHttpError::HttpStatus(error)) => format!("it answers with HTTP {}", error.status),
        Some(StreamableHttpError::InsufficientScope(_)) => {
            "the key or sign-in is not allowed this".to_owned()
        }
        Some(StreamableHttpError::UnexpectedContentType(kind)) => {
            let kind = kind.as_deref().unwrap_or("something without a type");
            format!("it answers with {}, not as an MCP server; check the address", line(kind, 60))
        }
        Some(StreamableHttpError::UnexpectedServerResponse(said)) => line(said, LIMIT_CHARS),
        Some(_) => "it answers not as an MCP server does; check the address".to_owned(),
        None => innermost(error.error.as_ref()),
    }
}

/// The first cause: those around it only say that something failed, some with the whole address.
fn innermost(error: &(dyn std::error::Error + 'static)) -> String {
    let mut cause = error;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    line(&cause.to_string(), LIMIT_CHARS)
}
