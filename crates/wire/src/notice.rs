//! A notice as protocols carry it that take any JSON: its words, and its code where it has one.

use domain::{Sentence, event::NoticeLevel};
use serde_json::{Value, json};

/// `{"level": …, "message": …}`, with `sentence` where there is one.
pub(crate) fn notice(level: NoticeLevel, message: &str, sentence: Option<&Sentence>) -> Value {
    let mut value = json!({"level": level, "message": message});
    if let Some(sentence) = sentence {
        value["sentence"] = json!(sentence);
    }
    value
}
