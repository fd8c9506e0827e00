//! A small form, an unanswered question, and a form with hostile texts.

use domain::{AgentPath, EventBody, Form, Reply, RunEvent};
use serde_json::json;

use super::log::Log;

pub(super) fn log() -> Vec<RunEvent> {
    let main = AgentPath::main();
    let schema = json!({"type": "object", "properties": {
        "city": {"type": "string", "title": "City", "maxLength": 500},
        "seats": {"type": "integer", "description": "How many of you", "minimum": 1, "maximum": 9, "default": 2},
    }, "required": ["city"]});
    let values = json!({"city": "Rome", "seats": 3});
    let arguments = json!({"question": "Where to?", "fields": []});
    let mut log = Log::new();
    log.request(&main, "c1", "ask_user", &arguments);
    log.main(EventBody::QuestionAsked {
        question: "q1".into(),
        call: "c1".into(),
        text: "Where to?".into(),
        options: vec![],
        schema: Form::try_from(schema).ok(),
        expires_in_ms: Some(3_600_000),
    });
    log.main(Reply::answered(
        "q1".into(),
        values.as_object().cloned().map(Reply::Values),
    ));
    log.main(EventBody::QuestionAsked {
        question: "q2".into(),
        call: "c1".into(),
        text: "And back?".into(),
        options: vec![],
        schema: None,
        expires_in_ms: None,
    });
    log.main(Reply::answered("q2".into(), Some(Reply::Declined(None))));
    log.finish(&main, "c1", "ask_user", &arguments, Ok(&values.to_string()));
    log.text(&main, "t1", &["To Rome."], true);
    log.completed()
}

/// A form in which every text is this one.
pub(super) fn hostile(words: &str) -> Form {
    let choices = json!({"oneOf": [{"const": words, "title": words}]});
    let field =
        json!({"type": "string", "title": words, "description": words, "oneOf": choices["oneOf"]});
    Form::try_from(json!({"properties": {words: field}})).unwrap()
}
