//! Notes on sources: a point and the quote that supports it, stored in the log.

use std::fmt::Write;

use domain::{EventBody, Message, Role, event::Source};
use serde::{Deserialize, Serialize};

use crate::{
    library::{first_chars, quotes::plain},
    turns::AgentContext,
};

/// Maximum number of notes from one source.
pub(super) const MAX_NOTES_PER_SOURCE: usize = 6;
/// Maximum number of notes in a report written without a model.
const MAX_NOTES_IN_REPORT: usize = 40;
/// Maximum length of a point and of a quote, characters.
pub(super) const POINT_CHARS: usize = 240;
pub(super) const QUOTE_CHARS: usize = 360;
/// Maximum length of the result of reading a source, bytes; it stays in the context of later turns of the chat.
const RESULT_BYTES: usize = 3_900;

/// The result of reading a source, which is the result of the call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Reading {
    pub(super) title: String,
    pub(super) url: String,
    /// Identifies the text, so that the same text at another address is recognized.
    #[serde(default)]
    pub(super) text: String,
    /// The address of the source with the same text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) same_as: Option<String>,
    #[serde(default)]
    pub(super) notes: Vec<Taken>,
}

/// One note on a source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Taken {
    pub(super) point: String,
    /// The quote as written in the source; `None` if the model's quote is not found there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) quote: Option<String>,
    /// The position in the stored copy of the source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) copy: Option<String>,
}

impl Reading {
    /// The result of the call, short enough not to be cut.
    pub(super) fn into_result(mut self) -> String {
        loop {
            let text = serde_json::to_string_pretty(&self).unwrap_or_default();
            if text.len() <= RESULT_BYTES || self.notes.pop().is_none() {
                return text;
            }
        }
    }
}

/// A note and its source.
#[derive(Debug, Clone)]
struct Note {
    title: String,
    url: String,
    taken: Taken,
}

/// All notes of the research, each with a number by which the report cites it.
#[derive(Debug, Clone, Default)]
pub(super) struct Notes {
    all: Vec<Note>,
    /// Number of notes that are already in the log as sources.
    reported: usize,
}

impl Notes {
    /// The notes of the chat's earlier turns.
    pub(super) fn of_earlier(history: &[Message]) -> (Self, Vec<Reading>) {
        let mut notes = Self::default();
        let mut readings = Vec::new();
        for message in history.iter().filter(|message| message.role == Role::Tool) {
            if let Ok(reading) = serde_json::from_str::<Reading>(&message.plain_text()) {
                notes.add(&reading);
                readings.push(reading);
            }
        }
        (notes, readings)
    }

    /// Adds the notes that are new.
    pub(super) fn add(&mut self, reading: &Reading) {
        for taken in &reading.notes {
            let is_same = |note: &Note| match (&note.taken.quote, &taken.quote) {
                (Some(one), Some(other)) => plain(one) == plain(other),
                _ => note.url == reading.url && note.taken.point == taken.point,
            };
            if !self.all.iter().any(is_same) {
                let title = reading.title.clone();
                let url = reading.url.clone();
                self.all.push(Note {
                    title,
                    url,
                    taken: taken.clone(),
                });
            }
        }
    }

    pub(super) fn count(&self) -> usize {
        self.all.len()
    }

    /// All notes as sources, in the order of their numbers.
    pub(super) fn sources(&self) -> Vec<Source> {
        let notes = self.all.iter().enumerate();
        notes.map(|(at, note)| note.source(at + 1)).collect()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Emits the new notes, each as a source with its quote.
    pub(super) async fn tell(&mut self, agent: &AgentContext) {
        let new = self
            .all
            .iter()
            .enumerate()
            .skip(std::mem::replace(&mut self.reported, self.all.len()));
        let new = new.map(|(at, note)| note.source(at + 1));
        let sources = new.collect();
        agent
            .journal
            .once(EventBody::SourcesFound { sources })
            .await;
    }

    /// How many of these have a quote that was found in its source, and how many exist.
    pub(super) fn verified(&self, numbers: &[usize]) -> (usize, usize) {
        let cited = numbers
            .iter()
            .filter_map(|number| self.all.get(number.checked_sub(1)?));
        let verified = cited
            .clone()
            .filter(|note| note.taken.quote.is_some())
            .count();
        (verified, cited.count())
    }

    /// As many of the notes as fit, for a model.
    pub(super) fn for_model(&self, max_bytes: usize) -> String {
        let mut text = String::new();
        for (at, note) in self.all.iter().enumerate() {
            let before = text.len();
            _ = write!(text, "[{}] {}", at + 1, note.taken.point);
            match &note.taken.quote {
                Some(quote) => _ = write!(text, "\n    quote: \"{quote}\""),
                None => text.push_str("\n    (not verified: no quote of the source shows it)"),
            }
            _ = writeln!(
                text,
                "\n    source: {} — {}",
                first_chars(&note.title, 120),
                first_chars(&note.url, 200)
            );
            if text.len() > max_bytes {
                text.truncate(before);
                break;
            }
        }
        text
    }

    /// A report written without a model: the list of points.
    pub(super) fn as_report(&self) -> String {
        let lines = self.all.iter().enumerate().take(MAX_NOTES_IN_REPORT);
        lines
            .map(|(at, note)| format!("- {} [{}]", note.taken.point, at + 1))
            .collect::<Vec<_>>()
            .join("\n")
    }
}

impl Note {
    fn source(&self, number: usize) -> Source {
        let Taken { quote, copy, .. } = self.taken.clone();
        let verified = Some(quote.is_some());
        let new = Source::new(
            number.to_string(),
            self.title.clone(),
            self.url.clone(),
            quote,
        );
        Source {
            verified,
            copy,
            ..new
        }
    }
}
