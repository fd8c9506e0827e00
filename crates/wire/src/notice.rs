//! Encodes a notice for protocols that carry arbitrary JSON: its message, and its code if it has one.

use domain::{MessageCode, event::NoticeLevel};
use serde_json::{Value, json};

/// `{"level": …, "message": …}`, with `sentence` if there is one.
pub(crate) fn notice(level: NoticeLevel, message: &str, sentence: Option<&MessageCode>) -> Value {
    let mut value = json!({"level": level, "message": message});
    if let Some(sentence) = sentence {
        value["sentence"] = json!(sentence);
    }
    value
}
