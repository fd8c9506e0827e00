//! The identity of the caller of a request, sent to trusted servers only, in headers and in `metadata` of the body.

use std::fmt;

use bytes::Bytes;
use reqwest::header::HeaderMap;
use serde_json::{Map, Value};

use crate::ProviderKind;

/// The caller of a request. `Debug` shows nothing of it: names and e-mail addresses do not belong in logs.
#[derive(Clone, Default, PartialEq)]
pub struct CallerInfo {
    headers: HeaderMap,
    /// `"metadata":{…},` as part of a JSON body. Empty if there is none.
    metadata: String,
}

impl CallerInfo {
    /// The headers, and the body's `metadata` object, which may be empty.
    #[must_use]
    pub fn new(headers: HeaderMap, metadata: Map<String, Value>) -> Self {
        let metadata = match metadata.is_empty() {
            true => String::new(),
            false => format!("\"metadata\":{},", Value::Object(metadata)),
        };
        Self { headers, metadata }
    }

    /// The headers for a trusted server.
    #[must_use]
    pub fn headers(&self) -> &HeaderMap {
        &self.headers
    }

    /// `body`, a JSON object with at least one field and without `metadata`, with the metadata for a trusted server of
    /// this kind.
    pub(crate) fn body_for(&self, body: Bytes, kind: ProviderKind) -> Bytes {
        // Google's and Amazon's formats refuse unknown fields.
        let is_closed = matches!(
            kind,
            ProviderKind::Gemini | ProviderKind::Vertex | ProviderKind::Bedrock
        );
        match body.strip_prefix(b"{") {
            Some(fields) if !self.metadata.is_empty() && !is_closed => {
                [b"{", self.metadata.as_bytes(), fields].concat().into()
            }
            _ => body,
        }
    }
}

impl fmt::Debug for CallerInfo {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("CallerInfo").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn metadata_joins_the_body_and_stays_out_of_logs() {
        let metadata = json!({"user_id": "user_1", "name": "Ann \"\u{e9}\"\n"})
            .as_object()
            .cloned()
            .unwrap();
        let info = CallerInfo::new(HeaderMap::new(), metadata.clone());
        let sent = |info: &CallerInfo, kind| info.body_for(r#"{"model":"m"}"#.into(), kind);
        let body: Value = serde_json::from_slice(&sent(&info, ProviderKind::Openai)).unwrap();
        assert_eq!(body, json!({"model": "m", "metadata": metadata}));
        assert_eq!(sent(&info, ProviderKind::Bedrock), r#"{"model":"m"}"#);
        assert!(!format!("{info:?}").contains("Ann"));
        let none = CallerInfo::new(HeaderMap::new(), Map::new());
        assert_eq!(sent(&none, ProviderKind::Openai), r#"{"model":"m"}"#);
    }
}
