//! What Gemini's servers send, and schemas on their way to them.

use serde_json::Value;
use wire::provider::{AnswerDecoder, AnswerEvent, gemini as format};

/// Answers, errors, lists of models, vectors and schemas: what is understood holds together.
pub fn gemini(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let mut whole = Vec::new();
    let read = format::Decoder::default().whole(&text, &mut whole);
    assert_eq!(read.is_ok(), matches!(whole.last(), Some(AnswerEvent::Finished { .. })), "{text}");
    let mut calls = 0;
    for event in &whole {
        match event {
            AnswerEvent::CallStarted { index, .. } => {
                assert_eq!(*index, calls, "{text}");
                calls += 1;
            }
            AnswerEvent::Arguments { index, delta } => {
                assert!(*index < calls && delta.starts_with('{'), "{text}");
            }
            _ => {}
        }
    }
    assert!(!format::error(400, &text).message.is_empty());
    let _ = format::models(&text);
    if let Ok(embedded) = format::decode_embeddings(bytes, 2) {
        assert_eq!(embedded.vectors.len(), 2);
    }
    let Ok(schema) = serde_json::from_str::<Value>(&text) else { return };
    assert!(format::lower_schema(&schema).is_object());
}
