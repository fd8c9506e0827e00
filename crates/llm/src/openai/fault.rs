//! What can go wrong with a model server, in a sentence that says what to do.

use std::{error::Error, time::Duration};

use domain::ProblemCode;
use reqwest::{StatusCode, header};
use wire::openai::UpstreamError;

use super::{Target, context_full::says_context_full, retry};
use crate::{ModelError, http::HttpClientError};

/// Words of others are cut here before they are shown, characters.
const QUOTE_LIMIT_CHARS: usize = 300;

/// A failed attempt.
#[derive(Debug)]
pub(crate) struct Fault {
    pub(crate) error: ModelError,
    pub(crate) retry: Retry,
}

/// Whether asking again may help.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Retry {
    /// It would fail again.
    No,
    /// It may work a little later.
    Soon,
    /// The server says when to come back.
    After(Duration),
    /// The server does not take the request in this form; another form may do.
    OtherForm,
    /// The server does not take tools, at least for this model.
    WithoutTools,
}

impl Fault {
    pub(crate) fn new(code: ProblemCode, message: impl Into<String>) -> Self {
        Self { error: ModelError { code, message: message.into() }, retry: Retry::No }
    }

    fn soon(self) -> Self {
        Self { retry: Retry::Soon, ..self }
    }

    /// We cannot even ask.
    pub(crate) fn no_client(error: &HttpClientError) -> Self {
        Self::new(ProblemCode::Internal, format!("Model servers cannot be reached: {error}."))
    }

    /// The server sent something that is not the protocol.
    pub(crate) fn protocol(message: impl Into<String>) -> Self {
        Self::new(ProblemCode::ModelProtocol, message)
    }

    /// The stream ended without an end.
    pub(crate) fn truncated() -> Self {
        Self::protocol(
            "The model server closed the connection in the middle of the answer. Try again; if it keeps \
             happening, look at the server's own log.",
        )
        .soon()
    }

    /// Silence before the first token.
    pub(crate) fn no_first_token(waited: Duration) -> Self {
        Self::new(
            ProblemCode::ModelTimeout,
            format!(
                "The model server sent nothing for {}. It may still be loading the model, or be too busy; try again.",
                seconds(waited)
            ),
        )
    }

    /// Silence in the middle of an answer.
    pub(crate) fn went_silent(waited: Duration) -> Self {
        Self::new(
            ProblemCode::ModelTimeout,
            format!(
                "The model server stopped in the middle of the answer: nothing came for {}. Try again.",
                seconds(waited)
            ),
        )
    }
}

fn seconds(duration: Duration) -> String {
    if duration < Duration::from_secs(2) {
        format!("{} ms", duration.as_millis())
    } else {
        format!("{} s", duration.as_secs())
    }
}

/// `text` on one line, cut to what a person wants to read, and without the key.
pub(crate) fn quote(text: &str, target: &Target) -> String {
    let text = target.redact(text);
    let mut words = String::new();
    for word in text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty()) {
        if !words.is_empty() {
            words.push(' ');
        }
        words.push_str(word);
        if words.len() > 8 * QUOTE_LIMIT_CHARS {
            break;
        }
    }
    match words.char_indices().nth(QUOTE_LIMIT_CHARS) {
        Some((end, _)) => format!("{}…", &words[..end]),
        None => words,
    }
}

/// No answer came, or it broke off.
pub(crate) fn from_transport(error: &reqwest::Error, target: &Target) -> Fault {
    let shown = target.shown();
    let causes = causes(error);
    let unreachable = |message: String| Fault::new(ProblemCode::ModelUnreachable, message);
    if causes.contains("certificate") || causes.contains("Certificate") {
        let causes = quote(&causes, target);
        return unreachable(format!("The certificate of {shown} is not trusted: {causes}"));
    }
    if causes.contains("dns error") || causes.contains("failed to lookup address") {
        return unreachable(format!(
            "There is no server at {shown}: its name is not known. Check the address."
        ))
        .soon();
    }
    if error.is_connect() || error.is_timeout() {
        return unreachable(format!(
            "Nothing answers at {shown}. Is the model server running, and is the address right?"
        ))
        .soon();
    }
    unreachable(format!("The model server at {shown} closed the connection before it answered. Try again."))
        .soon()
}

fn causes(error: &reqwest::Error) -> String {
    let mut text = String::new();
    let mut cause: Option<&dyn Error> = error.source();
    while let Some(error) = cause {
        text = if text.is_empty() { error.to_string() } else { format!("{text}: {error}") };
        cause = error.source();
    }
    text
}

/// The server answered, but not with success.
pub(crate) fn from_status(
    status: StatusCode,
    headers: &header::HeaderMap,
    body: &str,
    target: &Target,
) -> Fault {
    let upstream = UpstreamError::decode(body);
    let words = match &upstream {
        Some(error) => quote(&error.message, target),
        None if is_web_page(body) => String::new(),
        None => quote(body, target),
    };
    let said = if words.is_empty() { String::new() } else { format!(" It says: {words}") };
    let shown = target.shown();
    let kind = upstream.as_ref().and_then(|error| error.kind.as_deref());
    if says_context_full(status.as_u16(), kind, &words) {
        return context_full(&words);
    }
    if says_no_tools(status, &words) {
        return Fault { retry: Retry::WithoutTools, ..rejected(status, &said) };
    }
    match status.as_u16() {
        300..=399 => redirect(headers, target),
        401 | 403 => unauthorized(status, &said, target),
        404 if upstream.is_some() => Fault::new(
            ProblemCode::ModelNotFound,
            format!("The model server has no model “{}”.{said}", target.model),
        ),
        404 | 405 => Fault::protocol(format!(
            "There is no OpenAI-compatible API at {shown}. Check the address; it often ends in /v1.{said}"
        )),
        402 => no_credit(&said),
        408 => Fault::new(
            ProblemCode::ModelTimeout,
            format!("The model server took too long and gave up (408). Try again.{said}"),
        )
        .soon(),
        429 => rate_limited(headers, upstream.as_ref(), &said),
        // llama-cpp-python answers a form it does not know as a fault of its own.
        500 if words.contains("response_format") => {
            Fault { retry: Retry::OtherForm, ..rejected(status, &said) }
        }
        500 | 502 | 503 | 504 => {
            let fault = failed(status, &said);
            match retry::retry_after(headers) {
                Some(wait) => Fault { retry: Retry::After(wait), ..fault },
                None => fault.soon(),
            }
        }
        400 | 415 | 422 => Fault { retry: Retry::OtherForm, ..rejected(status, &said) },
        400..=499 => rejected(status, &said),
        _ => failed(status, &said),
    }
}

/// Whether a server refuses tools as such, and not one that is wrong.
fn says_no_tools(status: StatusCode, words: &str) -> bool {
    const REFUSALS: [&str; 8] = [
        "not support",
        "unsupported",
        "no endpoints found that support",
        "requires --",
        "to be set",
        "unrecognized",
        "not permitted",
        "unknown field",
    ];
    let words = words.to_lowercase();
    let may_mean_it = matches!(status.as_u16(), 400 | 404 | 415 | 422 | 500 | 501);
    may_mean_it
        && ["tool", "function call"].iter().any(|what| words.contains(what))
        && !words.contains("schema")
        && REFUSALS.iter().any(|refusal| words.contains(refusal))
}

fn context_full(words: &str) -> Fault {
    Fault::new(
        ProblemCode::ModelContextFull,
        format!("The conversation is too long for the model. The model server says: {words}"),
    )
}

fn rejected(status: StatusCode, said: &str) -> Fault {
    let code = ProblemCode::ModelRejected;
    Fault::new(code, format!("The model server refused the request ({}).{said}", status.as_u16()))
}

fn failed(status: StatusCode, said: &str) -> Fault {
    let code = ProblemCode::ModelFailed;
    Fault::new(code, format!("The model server failed ({}). Try again later.{said}", status.as_u16()))
}

fn unauthorized(status: StatusCode, said: &str, target: &Target) -> Fault {
    let sentence = match (status, target.key()) {
        (_, None) => "The model server wants a key. Enter one for this connection.",
        (StatusCode::FORBIDDEN, _) => "The model server does not allow this key to use the model.",
        _ => "The model server refused the key. Check the key of this connection.",
    };
    Fault::new(ProblemCode::ModelUnauthorized, format!("{sentence}{said}"))
}

fn no_credit(said: &str) -> Fault {
    let code = ProblemCode::ModelRateLimited;
    Fault::new(code, format!("The account at the model server has no credit left.{said}"))
}

fn rate_limited(headers: &header::HeaderMap, upstream: Option<&UpstreamError>, said: &str) -> Fault {
    let code = ProblemCode::ModelRateLimited;
    if upstream.is_some_and(|error| error.kind.as_deref() == Some("insufficient_quota")) {
        return no_credit(said);
    }
    let fault =
        Fault::new(code, format!("The model server asks to slow down. Wait a little and try again.{said}"));
    match retry::retry_after(headers) {
        Some(wait) => Fault { retry: Retry::After(wait), ..fault },
        None => fault.soon(),
    }
}

fn redirect(headers: &header::HeaderMap, target: &Target) -> Fault {
    let location = headers.get(header::LOCATION).and_then(|value| value.to_str().ok());
    let shown = target.shown();
    Fault::protocol(match location {
        Some(location) => {
            format!("{shown} sends on to {}. Enter that server's address instead.", quote(location, target))
        }
        None => format!("{shown} is not an OpenAI-compatible server: it answered with a redirect."),
    })
}

/// The server answered with a web page.
pub(crate) fn web_page(target: &Target) -> Fault {
    Fault::protocol(format!(
        "{} is not an OpenAI-compatible server: it answered with a web page. Check the address; it often ends in /v1.",
        target.shown()
    ))
}

/// The server reports a failure inside its answer.
pub(crate) fn in_stream(error: &UpstreamError, target: &Target) -> Fault {
    let kind = error.kind.as_deref().unwrap_or_default();
    if says_context_full(400, Some(kind), &error.message) {
        return context_full(&quote(&error.message, target));
    }
    let code = match kind {
        "429" | "rate_limit_exceeded" | "rate_limit_error" => ProblemCode::ModelRateLimited,
        "401" | "403" | "invalid_api_key" | "authentication_error" => ProblemCode::ModelUnauthorized,
        "404" | "model_not_found" => ProblemCode::ModelNotFound,
        "400" | "422" | "invalid_request_error" => ProblemCode::ModelRejected,
        _ => ProblemCode::ModelFailed,
    };
    Fault::new(code, format!("The model server reported an error: {}", quote(&error.message, target)))
}

/// Whether the text is HTML.
pub(crate) fn is_web_page(body: &str) -> bool {
    body.trim_start().starts_with('<')
}
