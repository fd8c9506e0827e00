//! The result of an import.

use domain::{LocalizedText, MessageCode};
use schemars::JsonSchema;
use serde::Serialize;

/// Maximum number of skipped items that are listed.
const MAX_LEFT: usize = 200;
/// Maximum length of a name in the report, characters.
const NAME_CHARS: usize = 80;

/// What an import has done.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ImportReport")]
pub(in crate::http) struct Report {
    #[schemars(extend("enum" = ["glasshouse", "open_webui", "chatgpt", "claude", "librechat"]))]
    format: &'static str,
    /// What was created.
    made: Counts,
    /// What existed already.
    here: Counts,
    /// What was not imported, at most 200.
    left: Vec<Left>,
    /// How many more were not imported.
    left_more: u64,
}

/// How many of each.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[schemars(rename = "ImportCounts")]
pub(super) struct Counts {
    pub(super) chats: u64,
    pub(super) messages: u64,
    pub(super) runs: u64,
    pub(super) files: u64,
    pub(super) memories: u64,
    pub(super) facts: u64,
    pub(super) schedules: u64,
    pub(super) collections: u64,
    pub(super) sources: u64,
    pub(super) documents: u64,
}

/// Something that was not imported.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "ImportLeft")]
struct Left {
    /// `chat`, `message`, `run`, `file`, `memory`, `fact`, `schedule`, `collection`, `source`, `document`, `key`, `agent` or
    /// `line`.
    #[schemars(extend("enum" = ["chat", "message", "run", "file", "memory", "fact", "schedule", "collection", "source", "document", "key", "agent", "line"]))]
    what: &'static str,
    /// Its name, if it has one.
    name: String,
    /// The reason, as a sentence.
    why: String,
    /// The reason, as a code.
    #[serde(skip_serializing_if = "Option::is_none")]
    sentence: Option<Box<MessageCode>>,
    /// How many of them.
    count: u64,
}

impl Report {
    pub(super) fn new(format: &'static str) -> Self {
        Self {
            format,
            made: Counts::default(),
            here: Counts::default(),
            left: Vec::new(),
            left_more: 0,
        }
    }

    pub(super) fn made(&mut self) -> &mut Counts {
        &mut self.made
    }

    /// The counts of what was created, for the audit log.
    pub(super) fn made_counts(&self) -> &Counts {
        &self.made
    }

    pub(super) fn here(&mut self) -> &mut Counts {
        &mut self.here
    }

    /// Sets the format once the first chat shows it.
    pub(super) fn set_format(&mut self, format: &'static str) {
        self.format = format;
    }

    /// Reports a skipped item. Repeated items of the same kind, name and reason are counted.
    pub(super) fn leave(&mut self, what: &'static str, name: &str, why: impl Into<LocalizedText>) {
        self.leave_some(what, name, why, 1);
    }

    /// Reports this many skipped items.
    pub(super) fn leave_some(
        &mut self,
        what: &'static str,
        name: &str,
        why: impl Into<LocalizedText>,
        count: u64,
    ) {
        let name: String = name
            .chars()
            .filter(|char| !char.is_control())
            .take(NAME_CHARS)
            .collect();
        let LocalizedText {
            message: why,
            sentence,
        } = why.into();
        self.add(Left {
            what,
            name,
            why,
            sentence,
            count,
        });
    }

    /// Adds the skipped items of another report.
    pub(super) fn take(&mut self, other: Self) {
        other.left.into_iter().for_each(|left| self.add(left));
        self.left_more += other.left_more;
    }

    fn add(&mut self, left: Left) {
        let same =
            |it: &&mut Left| (it.what, &it.name, &it.why) == (left.what, &left.name, &left.why);
        if let Some(before) = self.left.iter_mut().find(same) {
            before.count += left.count;
        } else if self.left.len() < MAX_LEFT {
            self.left.push(left);
        } else {
            self.left_more += left.count;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_left_is_counted_and_bounded() {
        let mut report = Report::new("glasshouse");
        for _ in 0..3 {
            report.leave("key", "", "Keys stay.");
        }
        assert_eq!((report.left.len(), report.left[0].count), (1, 3));
        for number in 0..500 {
            report.leave("chat", &format!("{number}\n{}", "x".repeat(1000)), "No.");
        }
        assert_eq!(
            (
                report.left.len() as u64 + report.left_more,
                report.left.len()
            ),
            (501, MAX_LEFT)
        );
        assert_eq!(report.left[1].name.chars().count(), NAME_CHARS);
    }
}
