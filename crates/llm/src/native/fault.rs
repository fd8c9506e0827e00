//! What providers say is wrong, in our sentences.

use domain::{ProblemCode, Sentence};
use provider::{AnswerError, ErrorKind};
use reqwest::{StatusCode, header::HeaderMap};

use super::Format;
use crate::openai::{
    Fault, Target,
    fault::{self, Retry, saying},
    retry,
};

/// What is wrong inside an answer.
pub(crate) fn of_answer(error: &AnswerError, target: &Target) -> Fault {
    let quote = fault::quote(&error.message, target);
    let reported = |code| {
        Fault::new(
            code,
            Sentence::ModelReported {
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
        ErrorKind::RateLimit => later(reported(ProblemCode::ModelRateLimited), error, None),
        ErrorKind::Overloaded => later(reported(ProblemCode::ModelUnavailable), error, None),
        ErrorKind::Server => later(reported(ProblemCode::ModelFailed), error, None),
    }
}

/// What is wrong where the answer has this status, which is none of success.
pub(crate) fn of_status(
    format: Format,
    (status, headers, body): (StatusCode, &HeaderMap, &str),
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
        // Without a model it is the address that is not there.
        ErrorKind::NoModel if target.model().is_empty() => Fault::protocol(saying(
            Sentence::NoApi {
                server: target.shown(),
            },
            &said,
        )),
        ErrorKind::NoModel => {
            let sentence = Sentence::NoSuchModel {
                model: target.model().to_owned(),
            };
            Fault::new(ProblemCode::ModelNotFound, saying(sentence, &said))
        }
        ErrorKind::RateLimit => {
            let fault = Fault::new(
                ProblemCode::ModelRateLimited,
                saying(Sentence::SlowDown, &said),
            );
            later(fault, &error, Some(headers))
        }
        ErrorKind::Overloaded => later(fault::overloaded(status, &said), &error, Some(headers)),
        ErrorKind::Server => later(fault::failed(status, &said), &error, Some(headers)),
        ErrorKind::Request | ErrorKind::StaleReasoning | ErrorKind::Protocol => Fault {
            retry: Retry::OtherForm,
            refusal: Some(fault::refusal(status, &said, body)),
            ..fault::rejected(status, &said)
        },
    }
}

/// With when to ask again, as the headers or the error itself say.
fn later(fault: Fault, error: &AnswerError, headers: Option<&HeaderMap>) -> Fault {
    match headers.and_then(retry::retry_after).or(error.retry_after) {
        Some(wait) => Fault {
            retry: Retry::After(wait),
            ..fault
        },
        None => fault.soon(),
    }
}
