//! Events of messages and reasoning: text parts, and the data kept of a finished item.

use serde_json::{Map, Value, json};

use super::{
    super::super::{
        answer_items::{ANNOTATIONS, REFUSAL},
        item_data::{PART_BREAK, ReasoningParts, reasoning_data},
        lenient::{list, text},
    },
    Items, Kind, Piece,
};
use crate::{AnswerEvent, DataPart};

impl Items {
    /// Text of a message.
    pub(in super::super) fn text(
        &mut self,
        event: &Map<String, Value>,
        is_refusal: bool,
        piece: Piece<'_>,
        out: &mut Vec<AnswerEvent>,
    ) {
        if let Some(at) = self.find_or_start(event, "message", out) {
            let part = event
                .get("content_index")
                .and_then(Value::as_u64)
                .unwrap_or_default();
            self.add_text(at, part, is_refusal, piece, out);
        }
    }

    fn add_text(
        &mut self,
        at: usize,
        part: u64,
        is_refusal: bool,
        piece: Piece<'_>,
        out: &mut Vec<AnswerEvent>,
    ) {
        let this = &mut self.items[at];
        if !matches!(this.kind, Kind::Message { .. }) || part < this.part {
            return;
        }
        if part > this.part {
            self.end_text(at, out);
        }
        let this = &mut self.items[at];
        this.part = part;
        let more = this.take(piece);
        if more.is_empty() {
            return;
        }
        if let Kind::Message {
            is_refusal: of_part,
            ..
        } = &mut this.kind
        {
            *of_part = is_refusal;
        }
        self.has_refusal |= is_refusal;
        self.give(at, AnswerEvent::Text(more), out);
    }

    /// The data of the text part that ends.
    fn end_text(&mut self, at: usize, out: &mut Vec<AnswerEvent>) {
        let this = &mut self.items[at];
        let Kind::Message {
            phase,
            is_refusal,
            annotations,
        } = &mut this.kind
        else {
            return;
        };
        if std::mem::take(&mut this.written) == 0 {
            return;
        }
        let mut data = Map::new();
        data.insert("id".to_owned(), json!(this.id));
        if phase.is_string() {
            data.insert("phase".to_owned(), phase.clone());
        }
        if std::mem::take(is_refusal) {
            data.insert(REFUSAL.to_owned(), json!(true));
        }
        let annotations = annotations.take();
        if annotations.as_array().is_some_and(|list| !list.is_empty()) {
            data.insert(ANNOTATIONS.to_owned(), annotations);
        }
        self.give(
            at,
            AnswerEvent::Data {
                part: DataPart::Text,
                data: Value::Object(data),
            },
            out,
        );
    }

    /// A part of a message is complete: its citations are known.
    pub(in super::super) fn part_done(&mut self, event: &Map<String, Value>) {
        let found = self.find(event).map(|at| &mut self.items[at].kind);
        if let (Some(Kind::Message { annotations, .. }), Some(part)) = (found, event.get("part")) {
            *annotations = part.get(ANNOTATIONS).cloned().unwrap_or_default();
        }
    }

    pub(super) fn finish_message(
        &mut self,
        at: usize,
        item: &Map<String, Value>,
        out: &mut Vec<AnswerEvent>,
    ) {
        for (index, part) in (0..).zip(list(item, "content")) {
            let Some(part) = part.as_object() else {
                continue;
            };
            let is_refusal = text(part, "type") == "refusal";
            let whole = text(part, if is_refusal { "refusal" } else { "text" });
            self.add_text(at, index, is_refusal, Piece::Whole(whole), out);
            let this = &mut self.items[at];
            if let Kind::Message { annotations, .. } = &mut this.kind
                && this.part == index
            {
                *annotations = part.get(ANNOTATIONS).cloned().unwrap_or_default();
            }
        }
        self.end_text(at, out);
    }

    /// Text of reasoning. The first of summary and content is emitted.
    pub(in super::super) fn reasoning(
        &mut self,
        event: &Map<String, Value>,
        parts: ReasoningParts,
        piece: Piece<'_>,
        out: &mut Vec<AnswerEvent>,
    ) {
        if let Some(at) = self.find_or_start(event, "reasoning", out) {
            let name = match parts {
                ReasoningParts::Summary => "summary_index",
                ReasoningParts::Content => "content_index",
            };
            let part = event.get(name).and_then(Value::as_u64).unwrap_or_default();
            self.add_reasoning(at, parts, part, piece, out);
        }
    }

    fn add_reasoning(
        &mut self,
        at: usize,
        parts: ReasoningParts,
        part: u64,
        piece: Piece<'_>,
        out: &mut Vec<AnswerEvent>,
    ) {
        let this = &mut self.items[at];
        let Kind::Reasoning { shown } = &mut this.kind else {
            return;
        };
        if shown.is_some_and(|shown| shown != parts) || part < this.part {
            return;
        }
        if part > this.part {
            (this.part, this.written) = (part, 0);
        }
        let is_next_part = this.written == 0 && this.total > 0;
        let mut more = this.take(piece);
        if more.is_empty() {
            return;
        }
        if let Kind::Reasoning { shown } = &mut this.kind {
            *shown = Some(parts);
        }
        if is_next_part {
            this.total += PART_BREAK.len();
            more.insert_str(0, PART_BREAK);
        }
        self.give(at, AnswerEvent::Reasoning(more), out);
    }

    pub(super) fn finish_reasoning(
        &mut self,
        at: usize,
        shown: Option<ReasoningParts>,
        item: &Map<String, Value>,
        out: &mut Vec<AnswerEvent>,
    ) {
        let has = |parts: ReasoningParts| !list(item, parts.field()).is_empty();
        let open = Some(ReasoningParts::Content).filter(|parts| has(*parts));
        let shown = shown.or(open).unwrap_or(ReasoningParts::Summary);
        for (index, part) in (0..).zip(list(item, shown.field())) {
            let whole = part.get("text").and_then(Value::as_str).unwrap_or_default();
            self.add_reasoning(at, shown, index, Piece::Whole(whole), out);
        }
        if !item.is_empty() {
            let data = reasoning_data(item.clone(), shown, self.items[at].total);
            self.give(
                at,
                AnswerEvent::Data {
                    part: DataPart::Reasoning,
                    data,
                },
                out,
            );
        }
    }
}
