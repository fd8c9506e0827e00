//! Maps the errors of providers to our faults and messages.

use domain::ProblemCode;
use provider::{AnswerError, ErrorKind};
use reqwest::{StatusCode, header::HeaderMap};

use super::Format;
use crate::{
    messages,
    openai::{
        Fault, Target,
        fault::{self, Retry, with_quote},
        retry,
    },
};

/// An error inside an answer.
pub(crate) fn of_answer(error: &AnswerError, target: &Target) -> Fault {
    let quote = fault::quote(&error.message, target);
    let reported = |code| {
        Fault::new(
            code,
            messages::Models::ModelReported {
                quote: quote.clone(),
            },
        )
    };
    match error.kind {
        ErrorKind::Protocol => fault::not_the_protocol(&error.message, target),
        ErrorKind::ContextFull => fault::context_full(quote),
        ErrorKind::Request | ErrorKind::StaleReasoning => reported(ProblemCode::ModelRejected),
        ErrorKind::Key => reported(ProblemCode::ModelUnauthorized),
        ErrorKind::NoCredit => fault::no_credit(&quote),
        ErrorKind::NoModel => reported(ProblemCode::ModelNotFound),
        ErrorKind::RateLimit => {
            with_retry_delay(reported(ProblemCode::ModelRateLimited), error, None)
        }
        ErrorKind::Overloaded => {
            with_retry_delay(reported(ProblemCode::ModelUnavailable), error, None)
        }
        ErrorKind::Server => with_retry_delay(reported(ProblemCode::ModelFailed), error, None),
    }
}

/// An answer with an unsuccessful status.
pub(crate) fn of_status(
    format: Format,
    status: StatusCode,
    headers: &HeaderMap,
    body: &str,
    target: &Target,
) -> Fault {
    if status.is_redirection() {
        return fault::redirect(headers, target);
    }
    let error = format.error(status.as_u16(), headers, body);
    let said = match fault::is_web_page(body) {
        true => String::new(),
        false => fault::quote(&error.message, target),
    };
    match error.kind {
        ErrorKind::ContextFull => fault::context_full(said),
        ErrorKind::Key => fault::unauthorized(status, &said, target),
        ErrorKind::NoCredit => fault::no_credit(&said),
        // Without a model name, the URL itself does not exist.
        ErrorKind::NoModel if target.model().is_empty() => Fault::protocol(with_quote(
            messages::Models::NoApi {
                server: target.shown(),
            },
            &said,
        )),
        ErrorKind::NoModel => {
            let sentence = messages::Models::NoSuchModel {
                model: target.model().to_owned(),
            };
            Fault::new(ProblemCode::ModelNotFound, with_quote(sentence, &said))
        }
        ErrorKind::RateLimit => {
            let fault = Fault::new(
                ProblemCode::ModelRateLimited,
                with_quote(messages::Models::SlowDown, &said),
            );
            with_retry_delay(fault, &error, Some(headers))
        }
        ErrorKind::Overloaded => {
            with_retry_delay(fault::overloaded(status, &said), &error, Some(headers))
        }
        ErrorKind::Server => with_retry_delay(fault::failed(status, &said), &error, Some(headers)),
        ErrorKind::Request | ErrorKind::StaleReasoning | ErrorKind::Protocol => Fault {
            retry: Retry::OtherForm,
            refusal: Some(fault::refusal(status, &said, body)),
            ..fault::rejected(status, &said)
        },
    }
}

/// Adds the retry delay from the headers or the error itself.
fn with_retry_delay(fault: Fault, error: &AnswerError, headers: Option<&HeaderMap>) -> Fault {
    match headers.and_then(retry::retry_after).or(error.retry_after) {
        Some(wait) => Fault {
            retry: Retry::After(wait),
            ..fault
        },
        None => fault.soon(),
    }
}
