//! Whether a request needs features of this server, and so cannot be passed through.

use std::borrow::Cow;

use memchr::memmem;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::ids::{run_of_item, run_of_own_call, run_of_response};
use crate::{openai::run_of_call, sealed::PREFIX};

/// The prefix of a message that requests research, without the bracket that may be escaped.
const RESEARCH: &[u8] = b"research_request";

#[derive(Deserialize)]
struct Item<'a> {
    #[serde(borrow, default)]
    id: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    call_id: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    encrypted_content: Option<Cow<'a, str>>,
}

impl Item<'_> {
    fn is_ours(&self) -> bool {
        let is_of_run = |id: &str| run_of_call(id).or_else(|| run_of_own_call(id)).is_some();
        self.id.as_ref().is_some_and(|id| run_of_item(id).is_some())
            || self.call_id.as_ref().is_some_and(|id| is_of_run(id))
            || self
                .encrypted_content
                .as_ref()
                .is_some_and(|sealed| sealed.starts_with(PREFIX))
    }
}

/// Whether the body of `POST /v1/responses` requests a background response or research, or continues a response or
/// contains items of this server. No other server has these.
#[must_use]
pub fn needs_this_server(body: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Body<'a> {
        #[serde(default)]
        background: Option<bool>,
        #[serde(borrow, default)]
        previous_response_id: Option<Cow<'a, str>>,
        #[serde(borrow, default)]
        input: Option<&'a RawValue>,
    }
    if memmem::find(body, RESEARCH).is_some() {
        return true;
    }
    // An invalid body is reported by its server.
    let Ok(body) = serde_json::from_slice::<Body<'_>>(body) else {
        return false;
    };
    let items = body
        .input
        .and_then(|input| serde_json::from_str::<Vec<Item<'_>>>(input.get()).ok());
    body.background == Some(true)
        || body
            .previous_response_id
            .is_some_and(|id| run_of_response(&id).is_some())
        || items.is_some_and(|items| items.iter().any(Item::is_ours))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_for_this_server_are_recognized() {
        for (body, stays) in [
            (r#"{"model":"m","input":"Hi"}"#, false),
            (
                r#"{"input":[{"role":"user","content":"Hi"}],"background":null}"#,
                false,
            ),
            (
                r#"{"previous_response_id":"resp_68b1e9c8a5c48190bd0e0f3a0e7c1d0b0a1b2c3d4e5f6071"}"#,
                false,
            ),
            (
                r#"{"input":[{"type":"reasoning","id":"rs_68b1e9","encrypted_content":"gAAAA"}]}"#,
                false,
            ),
            (r#"{"input":"Hi","background":true}"#, true),
            (r#"{"input":"\u003cresearch_request>\nWhy?"}"#, true),
            (
                r#"{"previous_response_id":"resp_0192f0c1d2e3f4a5b6c7d8e9fa0b1c2d"}"#,
                true,
            ),
            (
                r#"{"input":[{"type":"item_reference","id":"msg_0192f0c1d2e3f4a5b6c7d8e9fa0b1c2d_t1"}]}"#,
                true,
            ),
            (
                r#"{"input":[{"type":"reasoning","id":"x","encrypted_content":"glasshouse-1.e30="}]}"#,
                true,
            ),
            ("[", false),
        ] {
            assert_eq!(needs_this_server(body.as_bytes()), stays, "{body}");
        }
    }
}
