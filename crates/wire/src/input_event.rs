//! The data of events about inputs to a running run, the same in all formats that show them.

use domain::EventBody;
use serde_json::{Value, json};

/// The data of the event; `null` for other events.
pub(crate) fn input_event(body: &EventBody) -> Value {
    match body {
        EventBody::InputReceived(input) => json!(input),
        EventBody::InputApplied { input_id, step } => json!({"input_id": input_id, "step": step}),
        EventBody::InputRemoved { input_id } => json!({"input_id": input_id}),
        _ => Value::Null,
    }
}
