//! A file as text, for searching, quoting and display, with its pages and headings.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::{properties::Properties, recognition::UnreadReason};

/// The text extracted from a file. All positions are byte offsets into `text`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Document {
    /// The title given in the file, if any.
    pub title: Option<String>,
    /// Plain text, or Markdown if the file has headings, lists or tables.
    pub text: String,
    /// The start of each page, ascending; empty if the format has no pages.
    pub pages: Vec<Page>,
    /// The headings in text order.
    pub headings: Vec<Heading>,
    /// The times at which parts of a recording begin, ascending; empty if it is no recording.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub times: Vec<Moment>,
    /// The numbers of the pages whose text was recognized in a picture, and may have errors.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub recognized: Vec<u32>,
    /// The pages that are pictures and were not read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unread: Vec<UnreadPage>,
    /// What the file says of itself.
    #[serde(default, skip_serializing_if = "Properties::is_empty")]
    pub properties: Properties,
}

/// A page that is a picture, and why its text was not recognized.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnreadPage {
    /// The page number, from 1.
    pub number: u32,
    /// The reason.
    pub reason: UnreadReason,
}

/// The beginning of a page or a slide.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Page {
    /// The page number, from 1.
    pub number: u32,
    /// Its start in the text.
    pub start: usize,
}

/// A time in a recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Moment {
    /// The time from the beginning, in seconds.
    pub seconds: u32,
    /// What is said then: its start in the text.
    pub start: usize,
}

/// A heading in the text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Heading {
    /// 1 is the highest, 6 the lowest.
    pub level: u8,
    /// Its whole line in the text, including the heading markup.
    pub span: Range<usize>,
    /// Its text.
    pub title: String,
}

/// Maximum length of a heading's text; the rest is cut.
const TITLE_LIMIT_CHARS: usize = 200;

impl Document {
    /// Creates a document from Markdown, extracting the headings.
    #[must_use]
    pub fn of_markdown(text: String) -> Self {
        let headings = headings(&text);
        let title = headings
            .iter()
            .find(|it| it.level == 1)
            .map(|it| it.title.clone());
        Self {
            title,
            text,
            headings,
            ..Self::default()
        }
    }

    /// The page at a position.
    #[must_use]
    pub fn page_at(&self, place: usize) -> Option<u32> {
        let after = self.pages.partition_point(|page| page.start <= place);
        self.pages[..after].last().map(|page| page.number)
    }

    /// The time in the recording at a position, in seconds.
    #[must_use]
    pub fn time_at(&self, place: usize) -> Option<u32> {
        let after = self.times.partition_point(|time| time.start <= place);
        self.times[..after].last().map(|time| time.seconds)
    }
}

/// The Markdown headings in the form `# Title`, except in fenced code.
fn headings(text: &str) -> Vec<Heading> {
    let mut found = Vec::new();
    let mut fence: Option<&str> = None;
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let span = start..start + line.trim_end().len();
        start += line.len();
        let shown = line.trim();
        let mark = ["```", "~~~"]
            .into_iter()
            .find(|mark| shown.starts_with(mark));
        match (fence, mark) {
            (None, Some(_)) => fence = mark,
            (Some(open), Some(close)) if open == close => fence = None,
            (None, None) => {
                let heading = heading(shown).map(|(level, title)| Heading { level, span, title });
                found.extend(heading);
            }
            _ => {}
        }
    }
    found
}

fn heading(line: &str) -> Option<(u8, String)> {
    let words = line.trim_start_matches('#');
    let level = u8::try_from(line.len() - words.len())
        .ok()
        .filter(|level| (1..=6).contains(level))?;
    let title = words
        .strip_prefix([' ', '\t'])?
        .trim()
        .trim_end_matches('#')
        .trim_end();
    let title: String = title.chars().take(TITLE_LIMIT_CHARS).collect();
    (!title.is_empty()).then_some((level, title))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_are_found_but_not_in_code() {
        let text =
            "# One\ntext\n```sh\n# not\n```\n## Two ##\n#no\n####### no\n### Three\n## Four\nend";
        let document = Document::of_markdown(text.into());
        let titles: Vec<(u8, &str)> = document
            .headings
            .iter()
            .map(|it| (it.level, it.title.as_str()))
            .collect();
        assert_eq!(titles, [(1, "One"), (2, "Two"), (3, "Three"), (2, "Four")]);
        assert_eq!(document.title.as_deref(), Some("One"));
        for heading in &document.headings {
            assert!(text[heading.span.clone()].contains(&heading.title));
        }
    }

    #[test]
    fn a_place_is_on_the_page_that_began_last() {
        let pages = vec![
            Page {
                number: 1,
                start: 0,
            },
            Page {
                number: 2,
                start: 10,
            },
        ];
        let document = Document {
            pages,
            ..Document::default()
        };
        assert_eq!(
            [0, 9, 10, 99].map(|place| document.page_at(place)),
            [1, 1, 2, 2].map(Some)
        );
        assert_eq!(Document::default().page_at(0), None);
    }
}
