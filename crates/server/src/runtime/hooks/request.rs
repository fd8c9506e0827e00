//! HTTP hooks: signed requests without redirects, retried on transient errors. The id lets the receiver detect retries.

use std::time::Duration;

use outbound::{Answer, Fault, Limits, Request, plain_host};
use reqwest::{
    Method, StatusCode,
    header::{HeaderName, HeaderValue},
};
use tokio::time::sleep;

use super::{All, MAX_ANSWER_BYTES};
use crate::{
    platform::config::HookTransport,
    platform::{outbound_fault::of_fault, standard_webhooks::sign},
};

/// Pauses before retries.
const PAUSES: [Duration; 2] = [Duration::from_millis(200), Duration::from_secs(1)];
/// The caller limits the time.
const LIMITS: Limits = Limits {
    time: Duration::from_secs(300),
    body_bytes: MAX_ANSWER_BYTES,
    hops: 0,
};

/// Sends the request, with retries on transient errors. Dropping the future cancels it.
pub(super) async fn send(
    all: &All,
    way: &HookTransport,
    id: &str,
    body: String,
) -> Result<String, String> {
    let mut pauses = PAUSES.iter();
    loop {
        let problem = match send_once(all, way, id, body.clone()).await {
            Ok(answer) if answer.status.is_success() => {
                return String::from_utf8(answer.body.to_vec())
                    .map_err(|_| "its answer is not UTF-8".to_owned());
            }
            Ok(answer) => {
                let problem = format!("it answered with HTTP {}", answer.status.as_u16());
                if !may_change(answer.status) {
                    return Err(problem);
                }
                problem
            }
            Err(fault @ (Fault::Unreachable | Fault::Slow | Fault::CutOff)) => {
                of_fault(fault).message
            }
            Err(fault) => return Err(of_fault(fault).message),
        };
        match pauses.next() {
            Some(pause) => sleep(*pause).await,
            None => return Err(problem),
        }
    }
}

async fn send_once(
    all: &All,
    way: &HookTransport,
    id: &str,
    body: String,
) -> Result<Answer, Fault> {
    let HookTransport::Url {
        url,
        secret,
        headers,
    } = way
    else {
        return Err(Fault::NoAddress);
    };
    let seconds = all.clock.now_ms() / 1000;
    let signature = sign(secret.reveal(), &format!("{id}.{seconds}.{body}"));
    // The administrator has chosen the URL, so it may be anywhere.
    let hosts: Vec<String> = plain_host(url).into_iter().collect();
    let mut request = Request::new(Method::POST, url.clone(), LIMITS).chosen(&hosts);
    for (name, value) in headers {
        if let Ok(name) = HeaderName::try_from(name) {
            request = request.header(name, value.reveal());
        }
    }
    let request = request
        .body("application/json", body)
        .header(HeaderName::from_static("idempotency-key"), id)
        .header(HeaderName::from_static("webhook-id"), id)
        .header(
            HeaderName::from_static("webhook-timestamp"),
            &seconds.to_string(),
        )
        .header(HeaderName::from_static("webhook-signature"), &signature);
    debug_assert!(HeaderValue::try_from(id).is_ok());
    all.outbound.send(request).await
}

/// Whether a retry may get another answer.
fn may_change(status: StatusCode) -> bool {
    status.is_server_error() || matches!(status.as_u16(), 408 | 425 | 429)
}
