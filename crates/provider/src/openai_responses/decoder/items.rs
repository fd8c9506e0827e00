//! Tracks the output items of a streamed answer and emits their events in order: events of an item wait until the items
//! before it are done.

mod calls;
mod texts;

use serde_json::{Map, Value, json};

use super::super::{item_data::ReasoningParts, lenient::text};
use crate::{AnswerEvent, DataPart, StopReason};

/// Text of a part.
#[derive(Debug, Clone, Copy)]
pub(super) enum Piece<'a> {
    /// Text to append.
    Delta(&'a str),
    /// The complete text, of which some may have come before.
    Whole(&'a str),
}

impl<'a> Piece<'a> {
    /// The new text after this many bytes.
    fn after(self, written: usize) -> &'a str {
        match self {
            Self::Delta(text) => text,
            Self::Whole(text) => text.get(written..).unwrap_or_default(),
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct Items {
    items: Vec<Item>,
    /// The first open item; those after it wait.
    front: usize,
    calls: usize,
    has_refusal: bool,
}

#[derive(Debug)]
struct Item {
    output_index: Option<u64>,
    id: String,
    kind: Kind,
    /// The current part, and how much of it was emitted.
    part: u64,
    written: usize,
    /// All that was emitted.
    total: usize,
    waiting: Vec<AnswerEvent>,
    is_done: bool,
}

#[derive(Debug)]
enum Kind {
    Message {
        phase: Value,
        is_refusal: bool,
        annotations: Value,
    },
    Reasoning {
        shown: Option<ReasoningParts>,
    },
    Call {
        index: usize,
        is_started: bool,
        is_custom: bool,
    },
    Other,
}

impl Items {
    /// The stop reason if the response gives none.
    pub(super) fn stop_reason(&self) -> StopReason {
        match (self.calls, self.has_refusal) {
            (0, true) => StopReason::Refused,
            (0, false) => StopReason::Stop,
            _ => StopReason::ToolCalls,
        }
    }

    /// Whether the last item is a complete message, which ends an answer.
    pub(super) fn end_with_text(&self) -> bool {
        self.front == self.items.len()
            && self
                .items
                .last()
                .is_some_and(|item| matches!(item.kind, Kind::Message { .. }) && item.total > 0)
    }

    /// An item starts.
    pub(super) fn start(
        &mut self,
        event: &Map<String, Value>,
        item: &Map<String, Value>,
        out: &mut Vec<AnswerEvent>,
    ) {
        let kind = match text(item, "type") {
            "message" => Kind::Message {
                phase: item.get("phase").cloned().unwrap_or_default(),
                is_refusal: false,
                annotations: Value::Null,
            },
            "reasoning" => Kind::Reasoning { shown: None },
            kind @ ("function_call" | "custom_tool_call") => {
                self.calls += 1;
                let is_custom = kind == "custom_tool_call";
                Kind::Call {
                    index: self.calls - 1,
                    is_started: false,
                    is_custom,
                }
            }
            _ => Kind::Other,
        };
        self.items.push(Item {
            output_index: output_index(event),
            id: text(item, "id").to_owned(),
            kind,
            part: 0,
            written: 0,
            total: 0,
            waiting: Vec::new(),
            is_done: false,
        });
        self.start_call(self.items.len() - 1, item, out);
    }

    /// The item of an event; the last one if unspecified.
    fn find(&self, event: &Map<String, Value>) -> Option<usize> {
        let index = output_index(event);
        let id = text(event, "item_id");
        let by_index = index.and_then(|_| {
            self.items
                .iter()
                .rposition(|item| item.output_index == index)
        });
        let by_id = || {
            self.items
                .iter()
                .rposition(|item| !id.is_empty() && item.id == id)
        };
        let last = || self.items.len().checked_sub(1).filter(|_| index.is_none());
        by_index
            .or_else(by_id)
            .or_else(last)
            .filter(|at| !self.items[*at].is_done)
    }

    /// The same, for servers that may not have announced it.
    fn find_or_start(
        &mut self,
        event: &Map<String, Value>,
        kind: &str,
        out: &mut Vec<AnswerEvent>,
    ) -> Option<usize> {
        if let Some(at) = self.find(event) {
            return Some(at);
        }
        let index = output_index(event);
        let is_known = index.is_some() && self.items.iter().any(|item| item.output_index == index);
        if is_known {
            return None;
        }
        let mut item = Map::new();
        item.insert("type".to_owned(), json!(kind));
        item.insert("id".to_owned(), json!(text(event, "item_id")));
        self.start(event, &item, out);
        Some(self.items.len() - 1)
    }

    /// An item is complete.
    pub(super) fn finish(
        &mut self,
        event: &Map<String, Value>,
        item: &Map<String, Value>,
        out: &mut Vec<AnswerEvent>,
    ) {
        if let Some(at) = self.find_or_start(event, text(item, "type"), out) {
            self.finish_at(at, item, out);
        }
    }

    /// The response is complete, and these are its items. Servers differ in how much they have streamed before.
    pub(super) fn finish_all(&mut self, output: &[Value], out: &mut Vec<AnswerEvent>) {
        let nothing = Map::new();
        for at in 0..output.len().max(self.items.len()) {
            let item = output
                .get(at)
                .and_then(Value::as_object)
                .unwrap_or(&nothing);
            if at == self.items.len() {
                self.start(&nothing, item, out);
            }
            let this = &self.items[at];
            if !this.is_done {
                let item = if this.kind.is_of(item) {
                    item
                } else {
                    &nothing
                };
                self.finish_at(at, item, out);
            }
        }
    }

    fn finish_at(&mut self, at: usize, item: &Map<String, Value>, out: &mut Vec<AnswerEvent>) {
        let this = &mut self.items[at];
        if this.id.is_empty() {
            this.id = text(item, "id").to_owned();
        }
        match &mut this.kind {
            Kind::Message { phase, .. } => {
                if let Some(of_whole) = item.get("phase").filter(|phase| phase.is_string()) {
                    *phase = of_whole.clone();
                }
                self.finish_message(at, item, out);
            }
            Kind::Reasoning { shown } => {
                let shown = *shown;
                self.finish_reasoning(at, shown, item, out);
            }
            Kind::Call { .. } => self.finish_call(at, item, out),
            Kind::Other if item.is_empty() => {}
            Kind::Other => {
                let data = Value::Object(item.clone());
                self.give(
                    at,
                    AnswerEvent::Data {
                        part: DataPart::Other,
                        data,
                    },
                    out,
                );
            }
        }
        self.close(at, out);
    }

    /// Emits an event of an item, or queues it until it is the item's turn.
    fn give(&mut self, at: usize, event: AnswerEvent, out: &mut Vec<AnswerEvent>) {
        match at == self.front {
            true => out.push(event),
            false => self.items[at].waiting.push(event),
        }
    }

    /// The item is done: the items after it proceed.
    fn close(&mut self, at: usize, out: &mut Vec<AnswerEvent>) {
        self.items[at].is_done = true;
        while self.items.get(self.front).is_some_and(|item| item.is_done) {
            self.front += 1;
            if let Some(next) = self.items.get_mut(self.front) {
                out.append(&mut next.waiting);
            }
        }
    }
}

impl Kind {
    fn is_of(&self, item: &Map<String, Value>) -> bool {
        match text(item, "type") {
            "message" => matches!(self, Self::Message { .. }),
            "reasoning" => matches!(self, Self::Reasoning { .. }),
            "function_call" | "custom_tool_call" => matches!(self, Self::Call { .. }),
            _ => matches!(self, Self::Other),
        }
    }
}

impl Item {
    /// The new text in a piece of the current part.
    fn take(&mut self, piece: Piece<'_>) -> String {
        let more = piece.after(self.written).to_owned();
        self.written += more.len();
        self.total += more.len();
        more
    }
}

fn output_index(event: &Map<String, Value>) -> Option<u64> {
    event.get("output_index").and_then(Value::as_u64)
}
