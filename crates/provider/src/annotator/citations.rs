//! Citations of each provider as one type: the source, and the place of the answer's text that rests on it.
//!
//! | where | format |
//! |---|---|
//! | data of a text, `citations` with `type` | Anthropic: all of the text since the last part |
//! | data of a text, `citations` with `location` | Bedrock: the same |
//! | data of a text, `annotations` | Responses: places in characters of the part |
//! | `groundingMetadata`, `citationMetadata`, `urlContextMetadata` | Gemini: places in bytes of the answer |
//! | `annotations` of a message, `citations`, `search_results` | Chat Completions: OpenRouter, Perplexity, xAI |

mod chat;
mod gemini;

use std::ops::Range;

use serde_json::Value;

pub use chat::chat_citations;
pub(super) use gemini::of_metadata;

/// Maximum number of citations of one answer.
pub const MAX_CITATIONS: usize = 500;
/// Maximum length of a URL, bytes: a longer one is left out.
const MAX_URL_BYTES: usize = 2_048;
/// Maximum length of a title, characters.
const MAX_TITLE_CHARS: usize = 300;
/// Maximum length of a quote, characters.
const MAX_QUOTE_CHARS: usize = 1_000;

/// A source, and the part of the answer that it supports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Citation {
    /// A web address; empty if the source has none, such as an attached document.
    pub url: String,
    /// Its title; never empty.
    pub title: String,
    /// The quoted text of the source.
    pub quote: Option<String>,
    /// The range in the text of the whole answer, in characters (Unicode scalar values).
    pub place: Option<Range<usize>>,
    /// The number by which the text itself cites it, as in `[1]`.
    pub number: Option<usize>,
}

impl Citation {
    /// `None` if it has neither a web address nor a title.
    fn new(url: Option<&str>, title: Option<&str>, quote: Option<&str>) -> Option<Self> {
        let url = url.and_then(web_address).unwrap_or_default();
        let title = title
            .map(|title| one_line(title, MAX_TITLE_CHARS))
            .filter(|title| !title.is_empty());
        let title = match title {
            Some(title) => title,
            None if url.is_empty() => return None,
            None => one_line(&url, MAX_TITLE_CHARS),
        };
        let quote = quote
            .map(|quote| cut(quote.trim(), MAX_QUOTE_CHARS))
            .filter(|quote| !quote.is_empty());
        Some(Self {
            url,
            title,
            quote,
            place: None,
            number: None,
        })
    }

    fn at(self, place: Option<Range<usize>>) -> Self {
        Self { place, ..self }
    }
}

/// The URL, if it is a web address that a page can link to.
#[must_use]
pub fn web_address(text: &str) -> Option<String> {
    let text = text.trim();
    let scheme = text.split_once("://")?.0;
    let is_web = scheme.eq_ignore_ascii_case("https") || scheme.eq_ignore_ascii_case("http");
    if !is_web || text.len() > MAX_URL_BYTES || text.contains(char::is_control) {
        return None;
    }
    let mut address = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            // Gemini returns URLs with spaces.
            ' ' | '"' | '<' | '>' | '\\' | '^' | '`' | '{' | '|' | '}' => {
                address.push_str(&format!("%{:02X}", u32::from(letter)));
            }
            letter => address.push(letter),
        }
    }
    Some(address)
}

fn one_line(text: &str, chars: usize) -> String {
    let words = text.split(|letter: char| letter.is_whitespace() || letter.is_control());
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).take(chars).collect();
    cut(&words.join(" "), chars)
}

fn cut(text: &str, chars: usize) -> String {
    match text.char_indices().nth(chars) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

/// The text of an answer so far.
#[derive(Debug, Default)]
pub(super) struct Texts {
    all: String,
    /// Its length in characters.
    chars: usize,
    /// The start of the current part, characters.
    part: usize,
}

impl Texts {
    pub(super) fn push(&mut self, text: &str) {
        self.all.push_str(text);
        self.chars += text.chars().count();
    }

    pub(super) fn end_part(&mut self) {
        self.part = self.chars;
    }

    /// The range of the current part.
    fn whole_part(&self) -> Option<Range<usize>> {
        (self.part < self.chars).then_some(self.part..self.chars)
    }

    /// A range given in characters of the current part.
    fn in_part(&self, start: Option<u64>, end: Option<u64>) -> Option<Range<usize>> {
        let place = |at: Option<u64>| self.part.checked_add(usize::try_from(at?).ok()?);
        let start = place(start)?;
        let end = place(end)?;
        (start < end && end <= self.chars).then_some(start..end)
    }
}

/// The citations in the data of the text part that ends.
pub(super) fn of_text(data: &Value, texts: &Texts) -> Vec<Citation> {
    let list = |field: &str| {
        data[field]
            .as_array()
            .into_iter()
            .flatten()
            .take(MAX_CITATIONS)
    };
    let of_blocks = list("citations").filter_map(|citation| {
        let citation = if citation["type"].is_string() {
            of_messages(citation)
        } else {
            of_converse(citation)
        };
        citation.map(|citation| citation.at(texts.whole_part()))
    });
    let of_annotations = list("annotations").filter_map(|annotation| {
        let place = texts.in_part(
            annotation["start_index"].as_u64(),
            annotation["end_index"].as_u64(),
        );
        of_annotation(annotation).map(|citation| citation.at(place))
    });
    of_blocks.chain(of_annotations).collect()
}

/// From the Messages API.
fn of_messages(citation: &Value) -> Option<Citation> {
    let text = |field: &str| citation[field].as_str();
    // Our own search results have their URL in `source`.
    let url = text("url").or(text("source"));
    let title = text("title").or(text("document_title")).or(text("source"));
    Citation::new(url, title, text("cited_text"))
}

/// From the Converse API.
fn of_converse(citation: &Value) -> Option<Citation> {
    let url = citation["location"]["web"]["url"]
        .as_str()
        .or(citation["source"].as_str());
    let title = [
        &citation["title"],
        &citation["location"]["web"]["domain"],
        &citation["source"],
    ];
    let title = title
        .into_iter()
        .filter_map(Value::as_str)
        .find(|title| !title.trim().is_empty());
    let words = citation["sourceContent"].as_array().into_iter().flatten();
    let words: Vec<&str> = words
        .filter_map(|content| content["text"].as_str())
        .collect();
    Citation::new(url, title, Some(words.join(" ").as_str()))
}

/// From the Responses API. The path of a generated file is no source.
fn of_annotation(annotation: &Value) -> Option<Citation> {
    let text = |field: &str| annotation[field].as_str();
    match text("type")? {
        "url_citation" => Citation::new(text("url"), text("title"), None),
        "file_citation" => Citation::new(None, text("filename").or(text("file_id")), None),
        _ => None,
    }
}
