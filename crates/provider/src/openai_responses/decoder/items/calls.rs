//! Events of tool calls.

use serde_json::{Map, Value, json};

use super::{
    super::super::{answer_items::CUSTOM, lenient::text},
    Items, Kind, Piece,
};
use crate::{AnswerEvent, DataPart};

impl Items {
    /// Announces a call as soon as its name is known.
    pub(super) fn start_call(
        &mut self,
        at: usize,
        item: &Map<String, Value>,
        out: &mut Vec<AnswerEvent>,
    ) {
        if !text(item, "name").is_empty() {
            self.announce(at, item, out);
        }
    }

    fn announce(&mut self, at: usize, item: &Map<String, Value>, out: &mut Vec<AnswerEvent>) {
        let this = &mut self.items[at];
        let Kind::Call {
            index, is_started, ..
        } = &mut this.kind
        else {
            return;
        };
        if *is_started {
            return;
        }
        *is_started = true;
        let index = *index;
        let id = match (text(item, "call_id"), this.id.as_str()) {
            ("", "") => format!("call_{index}"),
            ("", id) | (id, _) => id.to_owned(),
        };
        let name = text(item, "name").to_owned();
        self.give(at, AnswerEvent::CallStarted { index, id, name }, out);
    }

    /// Arguments of a call.
    pub(in super::super) fn arguments(
        &mut self,
        event: &Map<String, Value>,
        piece: Piece<'_>,
        out: &mut Vec<AnswerEvent>,
    ) {
        if let Some(at) = self.find(event) {
            self.start_call(at, event, out);
            self.add_arguments(at, piece, out);
        }
    }

    fn add_arguments(&mut self, at: usize, piece: Piece<'_>, out: &mut Vec<AnswerEvent>) {
        let this = &mut self.items[at];
        // Arguments before the name cannot be emitted; they come again when the item is done.
        let Kind::Call {
            index,
            is_started: true,
            ..
        } = this.kind
        else {
            return;
        };
        let delta = this.take(piece);
        if !delta.is_empty() {
            self.give(at, AnswerEvent::Arguments { index, delta }, out);
        }
    }

    pub(super) fn finish_call(
        &mut self,
        at: usize,
        item: &Map<String, Value>,
        out: &mut Vec<AnswerEvent>,
    ) {
        // A call without a name is refused to the model.
        self.announce(at, item, out);
        let Kind::Call {
            index, is_custom, ..
        } = self.items[at].kind
        else {
            return;
        };
        let field = if is_custom { "input" } else { "arguments" };
        // Some servers send an object.
        match item.get(field) {
            Some(Value::String(whole)) => self.add_arguments(at, Piece::Whole(whole), out),
            Some(object @ Value::Object(_)) => {
                self.add_arguments(at, Piece::Whole(&object.to_string()), out);
            }
            _ => {}
        }
        let mut data = item.clone();
        ["type", "status", "call_id", "name", "arguments", "input"]
            .iter()
            .for_each(|name| _ = data.shift_remove(*name));
        data.retain(|_, value| !value.is_null());
        if is_custom {
            data.insert(CUSTOM.to_owned(), json!(true));
        }
        if !data.is_empty() {
            let data = Value::Object(data);
            self.give(
                at,
                AnswerEvent::Data {
                    part: DataPart::Call(index),
                    data,
                },
                out,
            );
        }
    }
}
