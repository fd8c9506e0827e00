//! What an answer brings beside text, reasoning and calls, read from the data that its provider wants back: citations, and
//! tools that run at the provider.

mod citations;
mod server_tools;

pub use citations::{Citation, MAX_CITATIONS, chat_citations, web_address};
pub use server_tools::ServerTool;

use serde_json::Value;

use super::{AnswerEvent, DataPart};
use citations::{Texts, of_metadata, of_text};

/// Whether data that is a part by itself is about the answer as a whole, as Gemini's metadata is, and ends no text.
#[must_use]
pub fn is_of_whole_answer(data: &Value) -> bool {
    data.get("metadata").is_some()
}

/// Follows one answer, and adds what is beside its text before the data that says so.
#[derive(Debug, Default)]
pub struct Beside {
    texts: Texts,
    /// How many citations were given.
    cited: usize,
}

impl Beside {
    /// Reads the next events, and adds to them.
    pub fn read(&mut self, events: &mut Vec<AnswerEvent>) {
        let mut at = 0;
        while let Some(event) = events.get(at) {
            let cited = match event {
                AnswerEvent::Text(text) => {
                    self.texts.push(text);
                    Vec::new()
                }
                AnswerEvent::Data { part: DataPart::Text, data } => {
                    let cited = of_text(data, &self.texts);
                    self.texts.end_part();
                    cited
                }
                AnswerEvent::Data { part: DataPart::Other, data } => of_metadata(data, &self.texts),
                _ => Vec::new(),
            };
            let tools = match event {
                AnswerEvent::Data { part: DataPart::Other, data } => server_tools::of_block(data),
                _ => Vec::new(),
            };
            let tools: Vec<AnswerEvent> = tools.into_iter().map(AnswerEvent::ServerTool).collect();
            let count = tools.len();
            // Behind the data, which ends the text before it.
            events.splice(at + 1..at + 1, tools);
            // Before the data, which ends the text.
            if let Some(citations) = self.bounded(cited) {
                events.insert(at, citations);
                at += 1;
            }
            at += 1 + count;
        }
    }

    fn bounded(&mut self, mut cited: Vec<Citation>) -> Option<AnswerEvent> {
        cited.truncate(MAX_CITATIONS.saturating_sub(self.cited));
        self.cited += cited.len();
        (!cited.is_empty()).then_some(AnswerEvent::Citations(cited))
    }
}

#[cfg(test)]
mod tests;
