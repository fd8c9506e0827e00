//! Failures of model servers, each with a message that says what to do.

use std::{error::Error, time::Duration};

use domain::{LocalizedText, ProblemCode};
use provider::{openai::UpstreamError, tool_schema::breaks_server};
use reqwest::{StatusCode, header};

use super::{
    Target,
    context_full::is_context_full,
    media::{self, Kinds},
    retry,
};
use crate::{ModelError, http::HttpClientError, messages, native};

/// Quoted messages of servers are cut at this many characters.
const QUOTE_LIMIT_CHARS: usize = 300;

/// A failed attempt.
#[derive(Debug)]
pub(crate) struct Fault {
    pub(crate) error: ModelError,
    pub(crate) retry: Retry,
    /// The body with which a server refused the request as it was.
    pub(crate) refusal: Option<Box<Refusal>>,
}

/// An answer that refuses a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) status: u16,
    /// Its message, on one line.
    pub(crate) words: String,
    /// The whole body.
    pub(crate) body: String,
}

/// Whether and how to retry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Retry {
    /// It would fail again.
    No,
    /// It may work a little later.
    Soon,
    /// The server says when to retry.
    After(Duration),
    /// The server does not accept the request in this form; another form may work.
    OtherForm,
    /// The server does not accept tools, at least for this model.
    WithoutTools,
    /// The server does not accept these kinds of media, or some kind that it does not name.
    WithoutMedia(Kinds),
}

impl Fault {
    /// The final error of a call, with the wait that the server asks for.
    pub(crate) fn into_error(self) -> ModelError {
        let retry_after_s = match self.retry {
            // A fraction of a second is rounded up, not to 0.
            Retry::After(wait) => u32::try_from(wait.as_millis().div_ceil(1000)).ok(),
            _ => None,
        };
        ModelError {
            retry_after_s,
            ..self.error
        }
    }

    pub(crate) fn new(code: ProblemCode, words: impl Into<LocalizedText>) -> Self {
        Self {
            error: ModelError::new(code, words),
            retry: Retry::No,
            refusal: None,
        }
    }

    pub(crate) fn soon(self) -> Self {
        Self {
            retry: Retry::Soon,
            ..self
        }
    }

    /// The HTTP client could not be set up.
    pub(crate) fn no_client(error: &HttpClientError) -> Self {
        Self::new(
            ProblemCode::Internal,
            messages::Models::ModelServersUnreachable {
                why: error.to_string(),
            },
        )
    }

    /// The server does not follow the protocol.
    pub(crate) fn protocol(words: impl Into<LocalizedText>) -> Self {
        Self::new(ProblemCode::ModelProtocol, words)
    }

    /// The stream ended without an end.
    pub(crate) fn truncated() -> Self {
        Self::protocol(messages::Models::ModelBrokeOff).soon()
    }

    /// Silence before the first token.
    pub(crate) fn no_first_token(waited: Duration) -> Self {
        Self::new(
            ProblemCode::ModelTimeout,
            messages::Models::ModelSilent {
                waited: seconds(waited),
            },
        )
    }

    /// Silence in the middle of an answer.
    pub(crate) fn went_silent(waited: Duration) -> Self {
        Self::new(
            ProblemCode::ModelTimeout,
            messages::Models::ModelWentSilent {
                waited: seconds(waited),
            },
        )
    }
}

fn seconds(duration: Duration) -> LocalizedText {
    if duration < Duration::from_secs(2) {
        let count = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
        messages::Models::ShortMilliseconds { count }.into()
    } else {
        messages::Models::ShortSeconds {
            count: duration.as_secs(),
        }
        .into()
    }
}

/// The sentence, followed by the server's own message if it sent one.
pub(crate) fn with_quote(sentence: messages::Models, quote: &str) -> LocalizedText {
    let words = LocalizedText::from(sentence);
    match quote {
        "" => words,
        quote => messages::Models::Saying {
            words,
            quote: quote.to_owned(),
        }
        .into(),
    }
}

/// `text` on one line, cut to a readable length, without the key or other secrets.
pub(crate) fn quote(text: &str, target: &Target) -> String {
    let own = target.redact(text);
    let text = redact::text(&own);
    let mut words = String::new();
    for word in text.split(is_separator).filter(|word| !word.is_empty()) {
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

/// White space, and invisible characters that change how the text around them looks.
fn is_separator(c: char) -> bool {
    let is_direction =
        matches!(c, '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}');
    c.is_whitespace() || c.is_control() || is_direction || matches!(c, '\u{200B}' | '\u{FEFF}')
}

/// No answer came, or it broke off.
pub(crate) fn from_transport(error: &reqwest::Error, target: &Target) -> Fault {
    let server = target.shown();
    let causes = causes(error);
    let unreachable =
        |sentence: messages::Models| Fault::new(ProblemCode::ModelUnreachable, sentence);
    if causes.contains("certificate") || causes.contains("Certificate") {
        return unreachable(messages::Models::CertificateNotTrusted {
            server,
            why: quote(&causes, target),
        });
    }
    if causes.contains("dns error") || causes.contains("failed to lookup address") {
        return unreachable(messages::Models::ServerNameUnknown { server }).soon();
    }
    if error.is_connect() || error.is_timeout() {
        return unreachable(messages::Models::NothingAnswers { server }).soon();
    }
    unreachable(messages::Models::ClosedBeforeAnswer { server }).soon()
}

fn causes(error: &reqwest::Error) -> String {
    let mut text = String::new();
    let mut cause: Option<&dyn Error> = error.source();
    while let Some(error) = cause {
        text = if text.is_empty() {
            error.to_string()
        } else {
            format!("{text}: {error}")
        };
        cause = error.source();
    }
    text
}

/// The server answered with an unsuccessful status.
pub(crate) fn from_status(
    status: StatusCode,
    headers: &header::HeaderMap,
    body: &str,
    target: &Target,
) -> Fault {
    if let Some(format) = target.format() {
        return native::of_status(format, status, headers, body, target);
    }
    let upstream = UpstreamError::decode(body);
    let words = match &upstream {
        Some(error) => quote(&error.message, target),
        None if is_web_page(body) => String::new(),
        None => quote(body, target),
    };
    let said = words.as_str();
    let kind = upstream.as_ref().and_then(|error| error.kind.as_deref());
    if is_context_full(status.as_u16(), kind, &words) {
        return context_full(words);
    }
    let refused = |retry| Fault {
        retry,
        refusal: Some(refusal(status, &words, body)),
        ..rejected(status, said)
    };
    if breaks_server(status.as_u16(), body) {
        return refused(Retry::OtherForm);
    }
    if refuses_tools(status, &words) {
        return refused(Retry::WithoutTools);
    }
    if let Some(kinds) = media::refused(status, &words) {
        return refused(Retry::WithoutMedia(kinds));
    }
    match status.as_u16() {
        300..=399 => redirect(headers, target),
        401 | 403 => unauthorized(status, said, target),
        // Without a model name, the URL itself does not exist.
        404 if upstream.is_some() && !target.model.is_empty() => Fault::new(
            ProblemCode::ModelNotFound,
            with_quote(
                messages::Models::NoSuchModel {
                    model: target.model.clone(),
                },
                said,
            ),
        ),
        404 | 405 => Fault::protocol(with_quote(
            messages::Models::NoApi {
                server: target.shown(),
            },
            said,
        )),
        402 => no_credit(said),
        408 => Fault::new(
            ProblemCode::ModelTimeout,
            with_quote(messages::Models::ModelGaveUp, said),
        )
        .soon(),
        429 => rate_limited(headers, upstream.as_ref(), said),
        // llama-cpp-python reports an unknown format as its own failure.
        500 if words.contains("response_format") => Fault {
            retry: Retry::OtherForm,
            ..rejected(status, said)
        },
        500 | 502 | 503 | 504 => {
            let fault = failed(status, said);
            match retry::retry_after(headers) {
                Some(wait) => Fault {
                    retry: Retry::After(wait),
                    ..fault
                },
                None => fault.soon(),
            }
        }
        400 | 415 | 422 => refused(Retry::OtherForm),
        400..=499 => rejected(status, said),
        _ => failed(status, said),
    }
}

pub(crate) fn refusal(status: StatusCode, words: &str, body: &str) -> Box<Refusal> {
    Box::new(Refusal {
        status: status.as_u16(),
        words: words.to_owned(),
        body: body.to_owned(),
    })
}

/// Whether a server refuses tools in general, and not one invalid tool.
fn refuses_tools(status: StatusCode, words: &str) -> bool {
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
        && ["tool", "function call"]
            .iter()
            .any(|what| words.contains(what))
        && !["schema", "grammar", "regex", "pattern", "look"]
            .iter()
            .any(|part| words.contains(part))
        && REFUSALS.iter().any(|refusal| words.contains(refusal))
}

pub(crate) fn context_full(quote: String) -> Fault {
    Fault::new(
        ProblemCode::ModelContextFull,
        messages::Models::ContextFull { quote },
    )
}

pub(crate) fn rejected(status: StatusCode, said: &str) -> Fault {
    let sentence = messages::Models::ModelRefused {
        status: status.as_u16(),
    };
    Fault::new(ProblemCode::ModelRejected, with_quote(sentence, said))
}

pub(crate) fn failed(status: StatusCode, said: &str) -> Fault {
    if matches!(status.as_u16(), 503 | 529) {
        return overloaded(status, said);
    }
    let sentence = messages::Models::ModelFailed {
        status: status.as_u16(),
    };
    Fault::new(ProblemCode::ModelFailed, with_quote(sentence, said))
}

/// The server cannot answer now.
pub(crate) fn overloaded(status: StatusCode, said: &str) -> Fault {
    let sentence = messages::Models::ModelFailed {
        status: status.as_u16(),
    };
    Fault::new(ProblemCode::ModelUnavailable, with_quote(sentence, said))
}

pub(crate) fn unauthorized(status: StatusCode, said: &str, target: &Target) -> Fault {
    let sentence = match (status, target.key()) {
        (_, None) => messages::Models::KeyWanted,
        (StatusCode::FORBIDDEN, _) => messages::Models::KeyNotAllowed,
        _ => messages::Models::KeyRefused,
    };
    Fault::new(ProblemCode::ModelUnauthorized, with_quote(sentence, said))
}

pub(crate) fn no_credit(said: &str) -> Fault {
    Fault::new(
        ProblemCode::ModelRateLimited,
        with_quote(messages::Models::NoCredit, said),
    )
}

fn rate_limited(
    headers: &header::HeaderMap,
    upstream: Option<&UpstreamError>,
    said: &str,
) -> Fault {
    if upstream.is_some_and(|error| error.kind.as_deref() == Some("insufficient_quota")) {
        return no_credit(said);
    }
    let fault = Fault::new(
        ProblemCode::ModelRateLimited,
        with_quote(messages::Models::SlowDown, said),
    );
    match retry::retry_after(headers) {
        Some(wait) => Fault {
            retry: Retry::After(wait),
            ..fault
        },
        None => fault.soon(),
    }
}

pub(crate) fn redirect(headers: &header::HeaderMap, target: &Target) -> Fault {
    let location = headers
        .get(header::LOCATION)
        .and_then(|value| value.to_str().ok());
    let server = target.shown();
    Fault::protocol(match location {
        Some(location) => messages::Models::SendsOn {
            server,
            to: quote(location, target),
        },
        None => messages::Models::AnswersRedirect { server },
    })
}

/// The server answered with a web page.
pub(crate) fn web_page(target: &Target) -> Fault {
    Fault::protocol(messages::Models::AnswersWebPage {
        server: target.shown(),
    })
}

/// The server sent data that is not an answer: an error in an unknown form, or another protocol.
pub(crate) fn no_answer(sent: &str, target: &Target) -> Fault {
    match UpstreamError::decode(sent) {
        Some(error) => in_stream(&error, target),
        None => not_the_protocol(sent, target),
    }
}

/// The server does not follow this protocol.
pub(crate) fn not_the_protocol(said: &str, target: &Target) -> Fault {
    Fault::protocol(messages::Models::NotTheProtocol {
        server: target.shown(),
        quote: quote(said, target),
    })
}

/// The server reports a failure inside its answer.
pub(crate) fn in_stream(error: &UpstreamError, target: &Target) -> Fault {
    let kind = error.kind.as_deref().unwrap_or_default();
    if is_context_full(400, Some(kind), &error.message) {
        return context_full(quote(&error.message, target));
    }
    let code = match kind {
        "429" | "rate_limit_exceeded" | "rate_limit_error" => ProblemCode::ModelRateLimited,
        "401" | "403" | "invalid_api_key" | "authentication_error" => {
            ProblemCode::ModelUnauthorized
        }
        "404" | "model_not_found" => ProblemCode::ModelNotFound,
        "400" | "422" | "invalid_request_error" => ProblemCode::ModelRejected,
        "503" | "529" | "overloaded_error" | "service_unavailable" => ProblemCode::ModelUnavailable,
        _ => ProblemCode::ModelFailed,
    };
    Fault::new(
        code,
        messages::Models::ModelReported {
            quote: quote(&error.message, target),
        },
    )
}

/// Whether the text is HTML.
pub(crate) fn is_web_page(body: &str) -> bool {
    body.trim_start().starts_with('<')
}
