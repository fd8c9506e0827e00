//! Replaces the citation marks in a text by the numbers of its sources.

use serde_json::Value;

use super::super::{
    answer::{Answer, MAX_SOURCES, is_web_address},
    fields::{list_at, text_at},
};

/// Maximum length of a text whose marks are looked for one by one, bytes.
const TEXT_BYTES: usize = 1_000_000;
/// A mark is `OPEN kind SEPARATOR value … CLOSE`.
const OPEN: char = '\u{e200}';
const CLOSE: char = '\u{e201}';
const SEPARATOR: char = '\u{e202}';
/// All characters that ChatGPT uses for marks.
const MARKS: std::ops::RangeInclusive<char> = '\u{e200}'..='\u{e206}';

/// The text with numbers in place of its marks. The sources are added to the answer.
pub(super) fn resolved(mut text: String, metadata: &Value, answer: &mut Answer) -> String {
    let references = list_at(metadata, "content_references").iter();
    for reference in references.take(2 * MAX_SOURCES) {
        let numbers = cite(reference, answer);
        let mark = text_at(reference, "matched_text");
        if !mark.starts_with(OPEN) || text.len() > TEXT_BYTES {
            continue;
        }
        let shown = match numbers.as_str() {
            "" => ["alt", "name"]
                .map(|name| text_at(reference, name))
                .into_iter()
                .find(|shown| !shown.is_empty())
                .unwrap_or_default(),
            numbers => numbers,
        };
        text = text.replacen(mark, shown, 1);
    }
    let old = old_numbers(metadata, answer);
    if !old.is_empty() && text.contains('【') {
        text = with_old_numbers(&text, &old);
    }
    if text.contains(|char| MARKS.contains(&char)) {
        text = without_marks(&text);
    }
    text
}

/// Adds the sources of a reference, and returns their numbers in brackets.
fn cite(reference: &Value, answer: &mut Answer) -> String {
    let own = std::slice::from_ref(reference);
    let items = match list_at(reference, "items") {
        [] => own,
        items => items,
    };
    let is_file = text_at(reference, "type") == "file";
    let mut numbers = String::new();
    for item in items {
        let url = text_at(item, "url");
        let title = match text_at(item, "title") {
            "" if is_file => text_at(item, "name"),
            title => title,
        };
        if !is_web_address(url) && !is_file {
            continue;
        }
        if let Some(number) = answer.cite(title, url, Some(text_at(item, "snippet"))) {
            numbers.push_str(&format!("[{number}]"));
        }
    }
    numbers
}

/// Older answers have marks like 【3†source】, with the number of the message that is cited. Returns the number of the
/// source for each.
fn old_numbers(metadata: &Value, answer: &mut Answer) -> Vec<(u64, usize)> {
    let mut numbers = Vec::new();
    for citation in list_at(metadata, "citations").iter().take(MAX_SOURCES) {
        let about = &citation["metadata"];
        let of = |name: &str| text_at(about, name);
        let number = answer.cite(of("title"), of("url"), Some(of("text")));
        let cited = about["extra"]["cited_message_idx"].as_u64();
        numbers.extend(cited.zip(number));
    }
    numbers
}

fn with_old_numbers(text: &str, numbers: &[(u64, usize)]) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, mark)) = rest.split_once('【') {
        plain.push_str(before);
        let Some((inside, after)) = mark.split_once('】') else {
            rest = &rest[before.len()..];
            break;
        };
        let cited = inside
            .split_once('†')
            .and_then(|(cited, _)| cited.parse().ok());
        let number = cited.and_then(|cited: u64| numbers.iter().find(|(known, _)| *known == cited));
        match number {
            Some((_, number)) => plain.push_str(&format!("[{number}]")),
            None => plain.push_str(&rest[before.len()..rest.len() - after.len()]),
        }
        rest = after;
    }
    plain + rest
}

/// The text without marks that no reference explains.
fn without_marks(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, mark)) = rest.split_once(OPEN) {
        let Some((inside, after)) = mark.split_once(CLOSE) else {
            break;
        };
        plain.push_str(before);
        plain.push_str(&shown(inside));
        rest = after;
    }
    plain.push_str(rest);
    plain.retain(|char| !MARKS.contains(&char));
    plain
}

/// What a mark says by itself.
fn shown(mark: &str) -> String {
    let mut values = mark.split(SEPARATOR);
    let kind = values.next().unwrap_or_default();
    let first = values.next().unwrap_or_default();
    match kind {
        "entity" => {
            let names: Vec<String> = serde_json::from_str(first).unwrap_or_default();
            names.into_iter().nth(1).unwrap_or_default()
        }
        "url" => match values.next() {
            Some(url) if is_web_address(url) => format!("[{first}]({url})"),
            _ => first.to_owned(),
        },
        _ => String::new(),
    }
}
