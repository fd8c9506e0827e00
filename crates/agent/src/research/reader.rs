//! Reads one source: fetches it, has a model take notes, and verifies every quote in the text.

use std::sync::Arc;

use data_encoding::HEXLOWER;
use domain::{Message, Problem, ProblemCode, Role};
use ring::digest::{Context, SHA256};
use serde_json::{Value, json};

use super::{
    Task,
    notes::{MAX_NOTES_PER_SOURCE, POINT_CHARS, QUOTE_CHARS, Reading, Taken},
    prompts::{COPY_EXACTLY, READER},
    thinking::think,
};
use crate::{
    library::{
        Page, address_of_passage,
        excerpt::{best_sentences, excerpt, nearest_sentences},
        first_chars, first_words,
        quotes::{Quotable, plain},
    },
    turns::{AgentContext, Stop},
};

/// Maximum number of characters of a source that a model reads.
const MAX_CHARS: usize = 24_000;
const MIN_CHARS: usize = 2_000;
/// Maximum number of characters of a source that are processed.
const PAGE_CHARS: usize = 2_000_000;
/// Number of sentences that replace the notes if the model takes none.
const SENTENCES: usize = 3;
/// Number of sentences matching the question that are added if the model has overlooked them.
const NEAREST: usize = 2;

/// A note as the model wrote it.
struct Written {
    point: String,
    quote: String,
}

/// Takes notes from a page. `focus` is the current question.
pub(super) async fn read(
    agent: &Arc<AgentContext>,
    task: &Task,
    page: Page,
    focus: &str,
) -> Result<Reading, Stop> {
    let text = first_chars(&page.text, PAGE_CHARS);
    let window = agent.models.chosen().settings().context_tokens;
    let most = window.map_or(MAX_CHARS, |tokens| {
        usize::try_from(tokens).unwrap_or(MAX_CHARS)
    });
    let about = format!("{} {focus}", task.question);
    let shown = excerpt(&text, &about, most.clamp(MIN_CHARS, MAX_CHARS));
    let mut messages = vec![
        Message::text(Role::System, READER),
        Message::text(
            Role::User,
            format!(
                "Question: {}\nLooked for now: {focus}\n\nSource: {}\n<source>\n{}\n</source>",
                first_chars(&task.question, 4_000),
                first_chars(&page.title, 200),
                // A page that closes the source tag itself could pose as our instructions.
                shown.replace("</source", "< /source")
            ),
        ),
    ];
    let properties = || {
        let note = json!({"type": "object", "properties": {"point": {"type": "string"}, "quote": {"type": "string"}},
            "required": ["point", "quote"], "additionalProperties": false});
        json!({"notes": {"type": "array", "items": note}})
    };
    let failed = |problem: Problem| Stop::because(problem);
    let thought = think(agent, &messages, properties())
        .await
        .map_err(failed)?;
    let answered = thought
        .fields
        .as_ref()
        .map(|fields| written(fields.get("notes")));
    thought.tell(agent).await;
    let quotable = Quotable::new(&text);
    let Some(written_notes) = answered else {
        // The model cannot take notes, so use sentences of the source.
        let sentences = best_sentences(&text, &about, SENTENCES);
        let notes = sentences
            .into_iter()
            .filter_map(|said| taken(&quotable, &page, said.clone(), &said));
        return Ok(reading(&page, &text, notes.collect()));
    };
    let mut notes = Vec::new();
    let mut wrong = Vec::new();
    for Written { point, quote } in written_notes {
        match taken(&quotable, &page, point.clone(), &quote) {
            Some(note) => notes.push(note),
            // It says nothing about the source: small models note down the question.
            None if point.ends_with(['?', '？', '؟']) => {}
            None => wrong.push(Written { point, quote }),
        }
    }
    if !wrong.is_empty() && agent.budget.check().is_ok() {
        let list: Vec<Value> = wrong
            .iter()
            .map(
                |note| json!({"point": note.point, "quote": first_chars(&note.quote, QUOTE_CHARS)}),
            )
            .collect();
        messages.push(Message::text(
            Role::Assistant,
            json!({"notes": list}).to_string(),
        ));
        messages.push(Message::text(
            Role::User,
            COPY_EXACTLY.to_owned() + &format!("\n{}", json!({"notes": list})),
        ));
        // A source with some notes is better than none.
        if let Ok(thought) = think(agent, &messages, properties()).await {
            let again = thought
                .fields
                .as_ref()
                .map(|fields| written(fields.get("notes")))
                .unwrap_or_default();
            thought.tell(agent).await;
            for Written { point, quote } in again {
                if let Some(note) = taken(&quotable, &page, point.clone(), &quote) {
                    wrong.retain(|note| note.point != point);
                    notes.push(note);
                }
            }
        }
    }
    add_nearest(
        &mut notes,
        &quotable,
        &page,
        nearest_sentences(&text, &task.question, NEAREST),
    );
    let unverified = wrong.into_iter().filter(|note| !note.point.is_empty());
    notes.extend(unverified.map(|note| Taken {
        point: note.point,
        quote: None,
        copy: None,
    }));
    notes.truncate(MAX_NOTES_PER_SOURCE);
    Ok(reading(&page, &text, notes))
}

/// Adds these sentences of the source before the other notes, unless a note quotes them. Small models note the
/// beginning of a page and omit the answer.
fn add_nearest(
    notes: &mut Vec<Taken>,
    quotable: &Quotable<'_>,
    page: &Page,
    sentences: Vec<String>,
) {
    for said in sentences.into_iter().rev() {
        let Some(near) = taken(quotable, page, said.clone(), &said) else {
            continue;
        };
        let is_quoted = |note: &Taken| {
            note.quote
                .as_ref()
                .is_some_and(|quote| shares(quote, &said))
        };
        if !notes.iter().any(is_quoted) {
            notes.insert(0, near);
        }
    }
}

/// Whether one of the two strings contains the other.
fn shares(one: &str, other: &str) -> bool {
    let one = plain(one);
    let other = plain(other);
    one.contains(other.trim()) || other.contains(one.trim())
}

/// The notes in an answer.
fn written(notes: Option<&Value>) -> Vec<Written> {
    let list = notes
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .take(2 * MAX_NOTES_PER_SOURCE);
    let notes = list.filter_map(|note| {
        let text = |name: &str| {
            note.get(name)
                .and_then(Value::as_str)
                .map(str::trim)
                .unwrap_or_default()
        };
        let point = text("point");
        let quote = text("quote");
        let point = if point.is_empty() { quote } else { point };
        (!point.is_empty()).then(|| Written {
            point: first_chars(&one_line(point), POINT_CHARS),
            quote: quote.to_owned(),
        })
    });
    notes.take(MAX_NOTES_PER_SOURCE).collect()
}

/// A note whose quote is in the source; `None` if it is not.
fn taken(quotable: &Quotable<'_>, page: &Page, point: String, quote: &str) -> Option<Taken> {
    let quote = first_words(quote, QUOTE_CHARS);
    let (place, words) = quotable.find(&quote)?;
    let copy = page
        .copy
        .as_ref()
        .map(|copy| address_of_passage(copy, place.start, place.end));
    Some(Taken {
        point: first_chars(&one_line(&point), POINT_CHARS),
        quote: Some(words),
        copy,
    })
}

fn reading(page: &Page, text: &str, notes: Vec<Taken>) -> Reading {
    let title = if page.title.trim().is_empty() {
        page.url.clone()
    } else {
        one_line(&page.title)
    };
    Reading {
        title: first_chars(&title, 200),
        url: first_chars(&page.url, 1_000),
        text: name_of(text),
        same_as: None,
        notes,
    }
}

/// The empty result for a page whose text was read at another address.
pub(super) fn same_text(page: &Page, other: String) -> Reading {
    Reading {
        same_as: Some(other),
        ..reading(page, &page.text, Vec::new())
    }
}

/// Equal for texts with the same words.
pub(super) fn name_of(text: &str) -> String {
    let mut hash = Context::new(&SHA256);
    for word in first_chars(text, PAGE_CHARS).split_whitespace() {
        hash.update(word.as_bytes());
        hash.update(b" ");
    }
    HEXLOWER.encode(&hash.finish().as_ref()[..12])
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The error for a source that cannot be read, which does not end the research.
pub(super) fn cannot_read(why: String) -> Stop {
    Stop::Failed(Problem::new(ProblemCode::InvalidRequest, why))
}
