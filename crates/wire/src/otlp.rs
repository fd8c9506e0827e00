//! Encodes runs as traces in OTLP's JSON form, with OpenTelemetry's semantic conventions for generative AI.

mod spans;

use serde::Serialize;
use serde_json::{Value, json};

pub use spans::{Content, spans_of};

/// The kind of a span. `INTERNAL` and `CLIENT` as numbers of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(into = "u8")]
pub enum SpanKind {
    /// In this program.
    Internal,
    /// A call of another program.
    Client,
}

impl From<SpanKind> for u8 {
    fn from(kind: SpanKind) -> Self {
        match kind {
            SpanKind::Internal => 1,
            SpanKind::Client => 3,
        }
    }
}

/// A span of work with its start and end.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Span {
    /// 32 hexadecimal digits.
    pub trace_id: String,
    /// 16 hexadecimal digits.
    pub span_id: String,
    /// Empty for the root span.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub parent_span_id: String,
    /// A low-cardinality name.
    pub name: String,
    /// The kind.
    pub kind: SpanKind,
    /// Nanoseconds since 1970-01-01 UTC, as text: JSON has no whole numbers of that size.
    pub start_time_unix_nano: String,
    /// The end, likewise.
    pub end_time_unix_nano: String,
    /// Key and value.
    pub attributes: Vec<Value>,
    /// The error, if it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<Value>,
}

/// An attribute. Integers are text in this protocol, like every 64-bit number in its JSON form.
fn attribute(key: &str, value: impl Into<Value>) -> Value {
    let value = match value.into() {
        Value::Number(number) if !number.is_f64() => json!({"intValue": number.to_string()}),
        Value::Number(number) => json!({"doubleValue": number}),
        Value::Bool(is) => json!({ "boolValue": is }),
        Value::String(text) => json!({ "stringValue": text }),
        other => json!({"stringValue": other.to_string()}),
    };
    json!({"key": key, "value": value})
}

/// The body of a request to a collector's `/v1/traces`.
#[must_use]
pub fn request(service_name: &str, version: &str, spans: &[Span]) -> Value {
    let resource = [
        attribute("service.name", service_name),
        attribute("service.version", version),
    ];
    let scope = json!({"name": "glasshouse", "version": version});
    json!({"resourceSpans": [{
        "resource": {"attributes": resource},
        "scopeSpans": [{"scope": scope, "spans": spans}],
    }]})
}
