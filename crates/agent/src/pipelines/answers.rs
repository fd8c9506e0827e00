//! Parses and validates the models' answers to the pipelines, ignoring surrounding text.

use std::time::Duration;

use domain::LocalizedText;
use serde_json::{Map, Value};

use super::{
    Pipeline, Said,
    title::{is_quote, read_title},
};
use crate::{
    loose_json::{object, texts},
    messages,
    script::writes_without_blanks,
};

/// Maximum number of tags per chat.
pub const TAGS: usize = 3;
/// Maximum number of follow-ups per answer.
pub const FOLLOW_UPS: usize = 5;
/// Maximum number of queries per message.
pub const QUERIES: usize = 5;

const MAX_TAG_CHARS: usize = 40;
/// Anything longer is a sentence.
const MAX_TAG_WORDS: usize = 4;
const MAX_FOLLOW_UP_CHARS: usize = 400;
const MAX_QUERY_CHARS: usize = 300;
const MAX_COMPLETION_CHARS: usize = 300;
const MAX_CONTINUED_WORDS: usize = 6;
/// Later, this few suffice: a suggestion should appear within 300 ms of the last keystroke, half of which the page
/// waits.
const FEWEST_CONTINUED_WORDS: usize = 2;
const SOON: Duration = Duration::from_millis(120);

/// The model's notes on a chat. Fields that were not requested or could not be used are empty.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Notes {
    /// An emoji and 3 to 5 words.
    pub title: Option<String>,
    /// In lower case.
    pub tags: Vec<String>,
    /// Suggested follow-up messages.
    pub follow_ups: Vec<String>,
}

impl Notes {
    /// Fills empty fields from the other answer.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        let list = |own: Vec<String>, other| if own.is_empty() { other } else { own };
        Self {
            title: self.title.or(other.title),
            tags: list(self.tags, other.tags),
            follow_ups: list(self.follow_ups, other.follow_ups),
        }
    }

    /// Parses the answer for these pipelines, for a chat with these messages. If a part is missing, the error comes
    /// with the usable rest.
    ///
    /// # Errors
    /// With the error, for the model.
    pub fn read(
        said: &[Said],
        text: &str,
        wanted: &[Pipeline],
    ) -> Result<Self, (LocalizedText, Self)> {
        let fields: Vec<&str> = wanted.iter().map(|pipeline| pipeline.name()).collect();
        let mut notes = Self::default();
        let mut faults = Vec::<LocalizedText>::new();
        let found = object(text, &fields);
        for pipeline in wanted {
            let value = field(found.as_ref(), text, pipeline.name(), wanted.len() == 1);
            let fault = match pipeline {
                Pipeline::Title => match read_title(value.as_ref(), said) {
                    Ok(title) => {
                        notes.title = Some(title);
                        None
                    }
                    Err(fault) => Some(fault),
                },
                Pipeline::Tags => {
                    notes.tags = tags(value.as_ref());
                    notes
                        .tags
                        .is_empty()
                        .then(|| messages::Runs::TagsMissing.into())
                }
                Pipeline::FollowUps => {
                    let listed = value.filter(is_list_of_questions);
                    notes.follow_ups = distinct(listed.as_ref(), MAX_FOLLOW_UP_CHARS, FOLLOW_UPS);
                    notes
                        .follow_ups
                        .is_empty()
                        .then(|| messages::Runs::FollowUpsMissing.into())
                }
                _ => None,
            };
            faults.extend(fault);
        }
        let all = faults
            .into_iter()
            .reduce(|fault, more| messages::Runs::FaultAndMore { fault, more }.into());
        match all {
            None => Ok(notes),
            Some(faults) => Err((faults, notes)),
        }
    }
}

/// The queries; empty if no search is needed.
///
/// # Errors
/// With the error, for the model.
pub fn read_queries(text: &str) -> Result<Vec<String>, LocalizedText> {
    let found = object_with("queries", text)?;
    Ok(distinct(found.get("queries"), MAX_QUERY_CHARS, QUERIES))
}

/// Length of the part of an unfinished continuation that can be offered, bytes, once it suffices: up to the end of a
/// sentence or line, or a number of whole words, fewer if they take long.
#[must_use]
pub fn enough_continued(said: &str, took: Duration) -> Option<usize> {
    let words = said.split_whitespace().count();
    let is_sentence =
        said.ends_with(['。', '！', '？']) || (words > 1 && said.ends_with(['.', '!', '?', '…']));
    if is_sentence || said.trim_start().contains('\n') {
        return Some(said.len());
    }
    let most = if took < SOON {
        MAX_CONTINUED_WORDS
    } else {
        FEWEST_CONTINUED_WORDS
    };
    // The last word may still grow.
    said.rfind(' ').filter(|_| words > most)
}

/// Like [`enough_continued`], for a streaming reader, for whom it need not stop early after the first words.
#[must_use]
pub fn enough_read_along(said: &str, _took: Duration) -> Option<usize> {
    enough_continued(said, Duration::ZERO)
}

/// The part of an unfinished continuation that will not change. Otherwise like [`continuation`].
#[must_use]
pub fn continued_so_far(said: &str, written: &str) -> String {
    let is_end =
        |(_, letter): &(usize, char)| letter.is_whitespace() || writes_without_blanks(*letter);
    let end = said
        .char_indices()
        .rfind(is_end)
        .map_or(0, |(at, letter)| at + letter.len_utf8());
    continuation(&said[..end], written)
}

/// The model's continuation of a text.
#[must_use]
pub fn continuation(said: &str, written: &str) -> String {
    let line = said.lines().next().unwrap_or_default();
    let is_after_blank = written.ends_with(char::is_whitespace);
    // A full stop belongs to the previous word, which a space already follows.
    if is_after_blank && !says_something(line) {
        return String::new();
    }
    // A word continued in the middle gets no space, nor does text after a space.
    let line = if is_after_blank {
        line.trim_start()
    } else {
        line
    };
    line.trim_end().chars().take(MAX_COMPLETION_CHARS).collect()
}

/// The continuation of the text, on one line and without repeating it; empty if there is none.
///
/// # Errors
/// With the error, for the model.
pub fn read_completion(text: &str, written: &str) -> Result<String, LocalizedText> {
    let found = object_with("text", text)?;
    let said = found
        .get("text")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let line = said
        .trim_end()
        .lines()
        .find(|line| !line.trim().is_empty())
        .unwrap_or_default();
    // The placeholder for the answer in the template.
    let line = if line.trim() == "…" { "" } else { line };
    let new = without_overlap(line, written);
    // A word continued in the middle gets no space, nor does text after a space.
    let new = if written.ends_with(char::is_whitespace) {
        new.trim_start()
    } else {
        new
    };
    Ok(new.chars().take(MAX_COMPLETION_CHARS).collect())
}

fn object_with(field: &str, text: &str) -> Result<Map<String, Value>, LocalizedText> {
    object(text, &[field]).ok_or_else(|| {
        messages::Runs::JsonMissing {
            field: field.to_owned(),
        }
        .into()
    })
}

/// The continuation without the end of the written text, which models tend to repeat.
fn without_overlap<'a>(said: &'a str, written: &str) -> &'a str {
    let written = written.trim_end();
    let ends = said.char_indices().map(|(at, c)| at + c.len_utf8());
    let repeated =
        ends.filter(|end| said[..*end].chars().count() >= 3 && written.ends_with(&said[..*end]));
    match repeated.max() {
        Some(end) => &said[end..],
        None => said,
    }
}

/// The field of the object, or the whole text if only that field was requested: a model may know what to write but not
/// the format.
fn field(found: Option<&Map<String, Value>>, text: &str, name: &str, alone: bool) -> Option<Value> {
    if let Some(found) = found {
        return found.get(name).cloned();
    }
    let said = text
        .rsplit_once("</think>")
        .map_or(text, |(_, said)| said)
        .trim();
    if !alone || said.is_empty() || said.contains(['{', '<']) {
        return None;
    }
    match serde_json::from_str(said.trim_start_matches("```json").trim_matches('`').trim()) {
        Ok(value @ (Value::String(_) | Value::Array(_))) => Some(value),
        _ => Some(Value::from(said)),
    }
}

fn tags(value: Option<&Value>) -> Vec<String> {
    let split: Vec<String> = match value {
        // Several on one line.
        Some(Value::String(text)) if !text.contains('\n') => {
            text.split(',').map(str::to_owned).collect()
        }
        value => texts(value),
    };
    let tidy = |tag: &String| {
        let tag =
            tag.trim_matches(|c: char| is_quote(c) || c.is_whitespace() || "-•.,*_`".contains(c));
        tag.split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
            .to_lowercase()
    };
    let mut tags: Vec<String> = Vec::new();
    for tag in split.iter().map(tidy) {
        let fits = tag.chars().count() <= MAX_TAG_CHARS && tag.split(' ').count() <= MAX_TAG_WORDS;
        if says_something(&tag) && fits && !tags.contains(&tag) {
            tags.push(tag);
        }
    }
    tags.truncate(TAGS);
    tags
}

/// Whether a value is a list, or lines that can only be meant as one: each is a question, and there are several or they
/// have list markers. Anything else that is not JSON is prose, which must not be offered as a question.
fn is_list_of_questions(value: &Value) -> bool {
    let Value::String(text) = value else {
        return true;
    };
    let lines: Vec<&str> = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect();
    let is_question = |line: &&str| line.trim_end_matches(is_quote).ends_with(['?', '？', '؟']);
    let is_marked = |line: &&str| without_marker(line) != *line;
    lines.iter().all(is_question) && (lines.len() > 1 || lines.iter().all(is_marked))
}

/// Single-line texts, without duplicates that differ only in case.
fn distinct(value: Option<&Value>, max_chars: usize, most: usize) -> Vec<String> {
    let mut seen: Vec<String> = Vec::new();
    let mut kept = Vec::new();
    for text in texts(value) {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let text = without_marker(&text);
        let folded = text.to_lowercase();
        if says_something(text) && text.chars().count() <= max_chars && !seen.contains(&folded) {
            seen.push(folded);
            kept.push(text.to_owned());
        }
    }
    kept.truncate(most);
    kept
}

/// Whether there is more than punctuation, such as the placeholder for an answer in the template.
fn says_something(text: &str) -> bool {
    text.chars().any(char::is_alphanumeric)
}

/// A list entry without its marker: `- ` or `1. `.
fn without_marker(text: &str) -> &str {
    let (marker, rest) = text.split_once(' ').unwrap_or(("", text));
    let number = marker.trim_end_matches(['.', ')']);
    let is_number =
        number.len() < marker.len() && number.len() <= 2 && number.parse::<u8>().is_ok();
    if is_number || matches!(marker, "-" | "•" | "*") {
        rest
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_answer_may_hold_all_and_parts_of_it_are_kept() {
        let all = [Pipeline::Title, Pipeline::Tags, Pipeline::FollowUps];
        let text = r##"{"title": "🌱 How Plants Grow", "tags": ["Science", "#biology", "science", "a", "b"],
            "follow_ups": ["Why?", "why?", " 2. How  much? ", ""]}"##;
        let notes = Notes {
            title: Some("🌱 How Plants Grow".to_owned()),
            tags: vec!["science".to_owned(), "biology".to_owned(), "a".to_owned()],
            follow_ups: vec!["Why?".to_owned(), "How much?".to_owned()],
        };
        assert_eq!(Notes::read(&[], text, &all), Ok(notes));
        let (fault, notes) =
            Notes::read(&[], r#"{"title": "🌱 How Plants Grow", "tags": ["a"#, &all).unwrap_err();
        assert_eq!(notes.title.as_deref(), Some("🌱 How Plants Grow"));
        assert_eq!(
            fault.to_string(),
            "there are no tags; there are no follow_ups"
        );
        let other = Notes {
            title: Some("Other".to_owned()),
            tags: vec!["b".to_owned()],
            ..Notes::default()
        };
        let both = notes.or(other.clone());
        assert_eq!(
            (both.title.as_deref(), &both.tags),
            (Some("🌱 How Plants Grow"), &other.tags)
        );
    }

    #[test]
    fn lists_may_be_lines() {
        let read = |text: &str, pipeline| Notes::read(&[], text, &[pipeline]).unwrap();
        assert_eq!(
            read("1. Why?\n2. How?", Pipeline::FollowUps).follow_ups,
            ["Why?", "How?"]
        );
        assert_eq!(
            read("science, biology", Pipeline::Tags).tags,
            ["science", "biology"]
        );
        assert_eq!(
            read("[\"science\", \"biology\"]", Pipeline::Tags).tags,
            ["science", "biology"]
        );
        assert_eq!(
            read("**Science**, a sentence is no tag, plants", Pipeline::Tags).tags,
            ["science", "plants"]
        );
    }

    #[test]
    fn document_004_prose_is_no_follow_up() {
        for prose in [
            "this is no json",
            "What would you like to know?",
            "Sure! Here are some questions:\n1. Why?\n2. How?",
            "Plants eat light.\nDo you want to know more?",
            "- Plants eat light.",
            "{\"follow_ups\": \"I do not know.\"}",
        ] {
            let (_, notes) = Notes::read(&[], prose, &[Pipeline::FollowUps]).unwrap_err();
            assert_eq!(notes.follow_ups, [""; 0], "{prose}");
        }
        let listed = |text: &str| {
            Notes::read(&[], text, &[Pipeline::FollowUps])
                .unwrap()
                .follow_ups
        };
        assert_eq!(listed("- Why?"), ["Why?"]);
        assert_eq!(listed("Why?\n\nAnd “how?”"), ["Why?", "And “how?”"]);
        assert_eq!(listed("[\"Tell me more\"]"), ["Tell me more"]);
        assert_eq!(
            listed("{\"follow_ups\": [\"Tell me more\"]}"),
            ["Tell me more"]
        );
    }

    #[test]
    fn queries_may_be_none() {
        assert_eq!(read_queries(r#"{"queries": []}"#), Ok(vec![]));
        let said = r#"Sure: {"queries": ["A b", "a B", "2026 prices"]}"#;
        assert_eq!(
            read_queries(said),
            Ok(vec!["A b".to_owned(), "2026 prices".to_owned()])
        );
        assert!(read_queries("none").is_err());
    }

    #[test]
    fn texts_are_continued_by_some_words_or_to_the_end_of_the_sentence() {
        let check = |said: &str, written: &str, took: Duration, enough: bool, expected: &str| {
            let offered = enough_continued(said, took);
            assert_eq!(offered.is_some(), enough, "{said}");
            let offered = &said[..offered.unwrap_or(said.len())];
            assert_eq!(
                continuation(offered, written),
                expected,
                "{said} after {written}"
            );
        };
        let now = Duration::ZERO;
        check(
            " is the capital of Fra",
            "What",
            now,
            false,
            " is the capital of Fra",
        );
        check(
            " is the capital of Fra",
            "What",
            SOON,
            true,
            " is the capital of",
        );
        check(" is the", "What", SOON, false, " is the");
        check(" is the cap", "What", SOON, true, " is the");
        check(
            " one two three four five six se",
            "What",
            now,
            true,
            " one two three four five six",
        );
        check(" is it?", "What ", now, true, "is it?");
        check("ers. ", "din", now, false, "ers.");
        check("?", "Is it", now, false, "?");
        check(". ", "Is it ", now, false, "");
        check("光合作用？", "什么是", now, true, "光合作用？");
        check(" рождения.\nЕщё", "с днём", now, true, " рождения.");
        check("", "What", SOON, false, "");
        check("\nParis", "What", SOON, false, "");
    }

    #[test]
    fn whole_words_are_shown_while_more_are_written() {
        for (said, shown) in [
            (" is the capital of Fra", " is the capital of"),
            (" is", ""),
            (" is ", " is"),
            ("ers.", ""),
            ("光合作", "光合作"),
            (" рождения.\nЕщё", " рождения."),
        ] {
            assert_eq!(continued_so_far(said, "What"), shown, "{said}");
        }
        assert_eq!(continued_so_far(" is it", "What "), "is");
        assert_eq!(enough_read_along(" one two three fo", SOON), None);
        assert_eq!(
            enough_read_along(" one two three four five six se", SOON),
            Some(28)
        );
    }

    #[test]
    fn completions_continue_at_the_end_of_the_text() {
        let check = |said: &str, written: &str, expected: &str| {
            let text = serde_json::json!({"text": said}).to_string();
            assert_eq!(
                read_completion(&text, written),
                Ok(expected.to_owned()),
                "{said} after {written}"
            );
        };
        check(" is the capital?", "What", " is the capital?");
        check("What is the capital?", "What is", " the capital?");
        check(" capital?\nParis", "What is the ", "capital?");
        check("", "What", "");
        check("…", "What", "");
        check("aaa", "b", "aaa");
        assert!(read_completion("Paris", "What").is_err());
    }
}
