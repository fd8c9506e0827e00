//! Citations of recorded answers.

use provider::{
    Annotator, AnswerDecoder, AnswerEvent, Citation, anthropic, gemini, openai_responses,
};

use crate::recorded::{Exchange, decode_stream, decode_whole, recordings};

/// The text of an answer with its citations.
struct Read {
    text: String,
    citations: Vec<Citation>,
}

fn read(decoder: impl AnswerDecoder, exchange: &Exchange) -> Read {
    let body = exchange
        .response
        .as_str()
        .map_or_else(|| exchange.response.to_string(), str::to_owned);
    let events = match body.starts_with('{') {
        true => decode_whole(decoder, &body),
        false => decode_stream(decoder, [body.as_bytes()]),
    };
    let mut annotator = Annotator::default();
    let mut read = Read {
        text: String::new(),
        citations: Vec::new(),
    };
    // One by one, as they come.
    for event in events.unwrap() {
        let mut events = vec![event];
        annotator.annotate(&mut events);
        for event in events {
            match event {
                AnswerEvent::Text(text) => read.text.push_str(&text),
                AnswerEvent::Citations(more) => read.citations.extend(more),
                _ => {}
            }
        }
    }
    read
}

fn exchanges(provider: &str, name: &str) -> Vec<Exchange> {
    recordings(provider)
        .into_iter()
        .find(|(of, _)| of == name)
        .unwrap()
        .1
}

impl Read {
    /// Each citation: the URL, the title, and the cited text of the answer.
    fn lines(&self) -> Vec<(String, String, String)> {
        let words = |citation: &Citation| match &citation.place {
            Some(place) => self
                .text
                .chars()
                .skip(place.start)
                .take(place.end - place.start)
                .collect(),
            None => "-".to_owned(),
        };
        let short = |text: &str| text.chars().take(70).collect::<String>();
        let line = |it: &Citation| (short(&it.url), short(&it.title), words(it));
        self.citations.iter().map(line).collect()
    }
}

#[test]
fn citations_of_recorded_answers() {
    let mut lines = Vec::new();
    let mut add = |name: &str, reads: Vec<Read>| {
        for read in reads {
            lines.push(name.to_owned());
            lines.extend(read.lines().into_iter().map(|line| format!("  {line:?}")));
        }
    };
    let messages = exchanges("anthropic", "web_search_stream");
    add(
        "messages",
        messages
            .iter()
            .map(|it| read(anthropic::Decoder::default(), it))
            .collect(),
    );
    for name in [
        "responses_web_search_stream",
        "responses_file_search_stream",
    ] {
        let all = exchanges("citations", name);
        add(
            name,
            all.iter()
                .map(|it| read(openai_responses::ResponsesDecoder::new(), it))
                .collect(),
        );
    }
    for name in ["gemini_web_search_stream", "gemini_file_search"] {
        let all = exchanges("citations", name);
        add(
            name,
            all.iter()
                .map(|it| read(gemini::Decoder::default(), it))
                .collect(),
        );
    }
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn gemini_ranges_match_their_segments() {
    for exchange in exchanges("citations", "gemini_web_search_stream") {
        let read = read(gemini::Decoder::default(), &exchange);
        let body = exchange
            .response
            .as_str()
            .map_or_else(|| exchange.response.to_string(), str::to_owned);
        let placed = read.lines().into_iter().filter(|(.., words)| words != "-");
        let placed: Vec<String> = placed.map(|(.., words)| words).collect();
        assert!(!placed.is_empty());
        for words in placed {
            let json = serde_json::to_string(&words).unwrap();
            assert!(
                body.contains(&json) || body.contains(&json.replace('\u{b0}', "\\u00b0")),
                "{words}"
            );
        }
    }
}
