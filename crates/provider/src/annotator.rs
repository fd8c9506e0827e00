//! Reads citations and server-side tool calls from the provider data of an answer.

mod citations;
mod server_tools;

pub use citations::{Citation, MAX_CITATIONS, chat_citations, web_address};
pub use server_tools::{ServerTool, of_block as server_tools};

use citations::{Texts, of_metadata, of_text};
use serde_json::Value;

use super::{AnswerEvent, DataPart};

/// Whether standalone data is about the answer as a whole, as Gemini's metadata is, and ends no text.
#[must_use]
pub fn is_of_whole_answer(data: &Value) -> bool {
    data.get("metadata").is_some()
}

/// Follows one answer and adds the citations and server-side tool calls found in its data.
#[derive(Debug, Default)]
pub struct Annotator {
    texts: Texts,
    /// How many citations were emitted.
    cited: usize,
}

impl Annotator {
    /// Reads the next events, and adds to them.
    pub fn annotate(&mut self, events: &mut Vec<AnswerEvent>) {
        // Most events are only text.
        if !events
            .iter()
            .any(|event| matches!(event, AnswerEvent::Data { .. }))
        {
            return events.iter().for_each(|event| self.note_text(event));
        }
        for event in std::mem::take(events) {
            self.note_text(&event);
            match event {
                AnswerEvent::Data {
                    part: DataPart::Text,
                    ref data,
                } => {
                    // Before the data, which ends the cited text.
                    self.cite(of_text(data, &self.texts), events);
                    self.texts.end_part();
                    events.push(event);
                }
                AnswerEvent::Data {
                    part: DataPart::Other,
                    ref data,
                } => {
                    self.cite(of_metadata(data, &self.texts), events);
                    let tools = server_tools::of_block(data);
                    events.push(event);
                    events.extend(tools.into_iter().map(AnswerEvent::ServerTool));
                }
                event => events.push(event),
            }
        }
    }

    fn note_text(&mut self, event: &AnswerEvent) {
        if let AnswerEvent::Text(text) = event {
            self.texts.push(text);
        }
    }

    fn cite(&mut self, mut cited: Vec<Citation>, events: &mut Vec<AnswerEvent>) {
        cited.truncate(MAX_CITATIONS.saturating_sub(self.cited));
        self.cited += cited.len();
        if !cited.is_empty() {
            events.push(AnswerEvent::Citations(cited));
        }
    }
}

#[cfg(test)]
mod tests;
