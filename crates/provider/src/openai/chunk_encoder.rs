//! Encodes chat completion chunks, each as the data of one event.

use domain::Usage;
use serde::Serialize;
use serde_json::{Value, json};

/// An output index after all items. Clients also make items of the text, so they cannot be counted here; without an
/// index, Open WebUI's page inserts an item before the last one.
const LAST: u32 = 1_000_000;

/// Encodes the chunks of one answer.
#[derive(Debug, Clone)]
pub struct ChunkEncoder {
    /// The part before the choices, the same in each chunk.
    head: String,
}

impl ChunkEncoder {
    /// Chunks of the answer `id`, made at `created` (seconds since 1970) by `model`.
    #[must_use]
    pub fn new(id: &str, created: i64, model: &str) -> Self {
        let id = Value::from(id);
        let model = Value::from(model);
        let head = format!(
            r#"{{"id":{id},"object":"chat.completion.chunk","created":{created},"model":{model},"#
        );
        Self { head }
    }

    /// The first chunk, which names the role.
    #[must_use]
    pub fn role(&self) -> String {
        self.delta(&json!({"role": "assistant", "content": ""}))
    }

    /// More text.
    #[must_use]
    pub fn content(&self, text: &str) -> String {
        #[derive(Serialize)]
        struct Delta<'a> {
            content: &'a str,
        }
        self.delta(&Delta { content: text })
    }

    /// More reasoning.
    #[must_use]
    pub fn reasoning(&self, text: &str) -> String {
        #[derive(Serialize)]
        struct Delta<'a> {
            reasoning_content: &'a str,
        }
        self.delta(&Delta {
            reasoning_content: text,
        })
    }

    /// One more of the reasoning details that a client sends back.
    #[must_use]
    pub fn reasoning_details(&self, detail: &Value) -> String {
        self.delta(&json!({ "reasoning_details": [detail] }))
    }

    /// Citations of the text so far, as `url_citation` writes them.
    #[must_use]
    pub fn annotations(&self, annotations: &[Value]) -> String {
        self.delta(&json!({ "annotations": annotations }))
    }

    /// Generated pictures, in OpenRouter's format.
    #[must_use]
    pub fn images(&self, images: &[Value]) -> String {
        self.delta(&json!({ "images": images }))
    }

    /// Tool call number `index` begins.
    #[must_use]
    pub fn call_started(&self, index: usize, id: &str, name: &str) -> String {
        let function = json!({"name": name, "arguments": ""});
        self.delta(&json!({
            "tool_calls": [{"index": index, "id": id, "type": "function", "function": function}],
        }))
    }

    /// More of the call's arguments.
    #[must_use]
    pub fn call_arguments(&self, index: usize, delta: &str) -> String {
        self.delta(&json!({"tool_calls": [{"index": index, "function": {"arguments": delta}}]}))
    }

    /// The last chunk with a choice.
    #[must_use]
    pub fn finish(&self, reason: &str) -> String {
        let reason = Value::from(reason);
        format!(
            r#"{}"choices":[{{"index":0,"delta":{{}},"finish_reason":{reason}}}]}}"#,
            self.head
        )
    }

    /// The chunk without a choice that carries the usage.
    #[must_use]
    pub fn usage(&self, usage: Usage) -> String {
        self.usage_with(&usage_value(usage))
    }

    /// The same with encoded usage.
    #[must_use]
    pub fn usage_with(&self, usage: &Value) -> String {
        format!(r#"{}"choices":[],"usage":{usage}}}"#, self.head)
    }

    /// A chunk without a choice that carries an event of `kind`, in both places that clients read.
    #[must_use]
    pub fn event(&self, kind: &str, data: &Value) -> String {
        let kind = Value::from(kind);
        let event = format!(r#"{{"type":{kind},"data":{data}}}"#);
        format!(
            r#"{}"choices":[],"type":{kind},"data":{data},"event":{event}}}"#,
            self.head
        )
    }

    /// A chunk without a choice that starts an item of the Responses format, after all others.
    #[must_use]
    pub fn item_added(&self, item: &Value) -> String {
        format!(
            r#"{}"choices":[],"type":"response.output_item.added","output_index":{LAST},"item":{item}}}"#,
            self.head
        )
    }

    /// A chunk without a choice with the complete item that was added last.
    #[must_use]
    pub fn item_done(&self, item: &Value) -> String {
        format!(
            r#"{}"choices":[],"type":"response.output_item.done","item":{item}}}"#,
            self.head
        )
    }

    fn delta(&self, delta: &impl Serialize) -> String {
        // Fits most chunks, so that memory is allocated once.
        let mut out = Vec::with_capacity(self.head.len() + 192);
        out.extend_from_slice(self.head.as_bytes());
        out.extend_from_slice(br#""choices":[{"index":0,"delta":"#);
        // Plain structs and values always serialize, and JSON is UTF-8.
        let _ = serde_json::to_writer(&mut out, delta);
        out.extend_from_slice(br#","finish_reason":null}]}"#);
        String::from_utf8(out).unwrap_or_default()
    }
}

/// Usage in OpenAI's format.
#[must_use]
pub fn usage_value(usage: Usage) -> Value {
    let mut written = json!({
        "prompt_tokens": usage.input_tokens,
        "completion_tokens": usage.output_tokens,
        "total_tokens": usage.total_tokens(),
    });
    for (of, kind, tokens) in [
        (
            "prompt_tokens_details",
            "cached_tokens",
            usage.cached_tokens,
        ),
        (
            "prompt_tokens_details",
            "cache_write_tokens",
            usage.cache_write_tokens,
        ),
        (
            "completion_tokens_details",
            "reasoning_tokens",
            usage.reasoning_tokens,
        ),
        (
            "prompt_tokens_details",
            "audio_tokens",
            usage.audio_tokens.saturating_sub(usage.audio_output_tokens),
        ),
        (
            "completion_tokens_details",
            "audio_tokens",
            usage.audio_output_tokens,
        ),
    ] {
        if tokens > 0 {
            written[of][kind] = tokens.into();
        }
    }
    if usage.estimated {
        written["estimated"] = true.into();
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::openai::Chunk;

    #[test]
    fn our_decoder_reads_our_chunks() {
        let encoder = ChunkEncoder::new("c\"1", 7, "m");
        let text = encoder.content("a \"b\"\n✓");
        assert_eq!(Chunk::decode(&text).unwrap().content, "a \"b\"\n✓");
        let reasoning = encoder.reasoning("hm");
        assert_eq!(Chunk::decode(&reasoning).unwrap().reasoning, "hm");
        let start = encoder.call_started(1, "id", "ls");
        let more = encoder.call_arguments(1, "{}");
        let started = Chunk::decode(&start).unwrap().calls.remove(0);
        assert_eq!(
            (
                started.index,
                started.id.as_deref(),
                started.name.as_deref()
            ),
            (Some(1), Some("id"), Some("ls"))
        );
        assert_eq!(Chunk::decode(&more).unwrap().calls[0].arguments, "{}");
        let end = encoder.finish("stop");
        assert_eq!(
            Chunk::decode(&end).unwrap().finish_reason.as_deref(),
            Some("stop")
        );
        let usage = Usage::of(1, 2);
        assert_eq!(
            Chunk::decode(&encoder.usage(usage)).unwrap().usage,
            Some(usage)
        );
        assert_eq!(Chunk::decode(&encoder.role()).unwrap(), Chunk::default());
    }
}
