//! A model that plans, reads and writes by picking sentences that share words with the question, and counts tokens.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use scripted::{Behaviour, Reply, Request, ScriptedServer, ServerOptions};
use serde_json::{Value, json};

use crate::passed_on::Tokens;

/// The model behind its server.
pub(super) struct Model {
    server: ScriptedServer,
    counts: Arc<[AtomicUsize; 2]>,
}

impl Model {
    pub(super) async fn start() -> anyhow::Result<Self> {
        let counts: Arc<[AtomicUsize; 2]> = Arc::default();
        let counted = Arc::clone(&counts);
        let behaviour = Behaviour::answer(move |request| {
            let said = answer(request);
            let asked: usize = messages(request)
                .iter()
                .map(|text| text.split_whitespace().count())
                .sum();
            counted[0].fetch_add(asked, Ordering::Relaxed);
            counted[1].fetch_add(said.split_whitespace().count(), Ordering::Relaxed);
            Reply::text(&said)
        });
        let options = ServerOptions {
            keep_requests: false,
            ..ServerOptions::default()
        };
        Ok(Self {
            server: ScriptedServer::start_with(behaviour, options).await?,
            counts,
        })
    }

    pub(super) fn base_url(&self) -> String {
        self.server.base_url()
    }

    /// Words, as this model has no other tokens.
    pub(super) fn tokens(&self) -> Tokens {
        let [input, output] = &*self.counts;
        Tokens {
            input: input.load(Ordering::Relaxed),
            output: output.load(Ordering::Relaxed),
        }
    }
}

fn messages(request: &Request) -> Vec<String> {
    let messages = request.body["messages"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default();
    let text = |message: &Value| match &message["content"] {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts
            .iter()
            .filter_map(|part| part["text"].as_str())
            .collect(),
        _ => String::new(),
    };
    messages.iter().map(text).collect()
}

fn answer(request: &Request) -> String {
    let messages = messages(request);
    let first = messages.first().map(String::as_str).unwrap_or_default();
    let last = messages.last().map(String::as_str).unwrap_or_default();
    let question = messages.get(1).map(String::as_str).unwrap_or_default();
    if first.starts_with("You write a research report") {
        let notes = last
            .split("What was to be found out")
            .next()
            .unwrap_or_default();
        best(
            notes.lines().filter(|line| line.starts_with('[')),
            question,
            1,
        )
        .first()
        .map(|note| report(note))
        .unwrap_or_else(|| "Nothing was found.".to_owned())
    } else if first.starts_with("You take notes") {
        let asked = question.lines().next().unwrap_or_default();
        let source = last.split_once("<source>").map_or("", |(_, source)| source);
        let notes = best(source.split_inclusive(['.', '\n']), asked, 2);
        let notes: Vec<Value> = notes
            .iter()
            .map(|said| json!({"point": said.trim(), "quote": said.trim()}))
            .collect();
        json!({ "notes": notes }).to_string()
    } else if last.contains("Plan the research") {
        json!({"plan": [question], "question": ""}).to_string()
    } else {
        let has_notes = last
            .split("Notes so far:")
            .nth(1)
            .is_some_and(|notes| notes.contains("[1]"));
        let queries = if has_notes { vec![] } else { vec![question] };
        json!({"done": has_notes, "queries": queries}).to_string()
    }
}

/// The point of a note, followed by its number.
fn report(note: &str) -> String {
    match note.split_once(']') {
        Some((number, point)) => format!("{} {number}].", point.trim().trim_end_matches('.')),
        None => note.to_owned(),
    }
}

/// The texts with most of the question's words, best first; those without any are left out.
fn best<'a>(texts: impl Iterator<Item = &'a str>, question: &str, most: usize) -> Vec<&'a str> {
    let words = |text: &str| -> Vec<String> {
        text.split(|letter: char| !letter.is_alphanumeric())
            .filter(|word| word.len() > 2)
            .map(str::to_lowercase)
            .collect()
    };
    let asked = words(question);
    let shared = |text: &str| {
        let said = words(text);
        asked.iter().filter(|word| said.contains(word)).count()
    };
    let mut scored: Vec<(usize, &str)> = texts
        .map(|text| (shared(text), text))
        .filter(|(shared, _)| *shared > 0)
        .collect();
    scored.sort_by_key(|(shared, _)| std::cmp::Reverse(*shared));
    scored
        .into_iter()
        .take(most)
        .map(|(_, text)| text)
        .collect()
}
