//! Streams of servers, and our stored data.

use std::collections::BTreeSet;

use domain::{ChatId, ListedModel, MessageId, RunEvent, RunId, laws};
use provider::openai::{
    Chunk, ChunkEncoder, UpstreamError, embeddings as vectors, model_list as models,
    rerank as ranks, transcription as transcripts,
};
use sse::{Decoder, Event, write_data};
use wire::{
    chat_exports::{Chat, Element, Elements, as_run},
    export::Line,
    group_list as groups,
    openai::UsageWatch,
};

type Owned = (Option<String>, Option<String>, String);

fn events(limit_bytes: usize, pieces: &[&[u8]]) -> Vec<Owned> {
    let owned = |event: Event<'_>| {
        (
            event.name.map(str::to_owned),
            event.id.map(str::to_owned),
            event.data.into_owned(),
        )
    };
    let mut decoder = Decoder::new(limit_bytes);
    let mut events = Vec::new();
    for piece in pieces {
        decoder.feed(piece);
        while let Some(next) = decoder.next() {
            events.extend(next.map(owned));
        }
    }
    events.extend(decoder.finish().map(owned));
    events
}

/// Server-sent events: chunk boundaries do not matter, decoded events can be encoded, and limits hold.
pub fn sse(bytes: &[u8]) {
    let whole = events(bytes.len(), &[bytes]);
    let size = 1 + usize::from(bytes.first().copied().unwrap_or(0) % 13);
    let pieces: Vec<&[u8]> = bytes.chunks(size).collect();
    assert_eq!(events(bytes.len(), &pieces), whole, "in pieces of {size}");
    let mut again = Vec::new();
    whole
        .iter()
        .for_each(|(_, _, data)| write_data(data, &mut again));
    let data = |events: Vec<Owned>| events.into_iter().map(|event| event.2).collect::<Vec<_>>();
    assert_eq!(
        data(events(again.len(), &[&again])),
        data(whole),
        "written again"
    );
    for (_, _, data) in events(size, &pieces) {
        // An invalid byte becomes a character of three.
        let min_bytes = data.chars().count();
        assert!(
            min_bytes <= size,
            "{min_bytes} bytes where {size} are the limit"
        );
    }
}

/// A chunk of a completion: decoding what we encode gives the same.
pub fn openai_chunk(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let Ok(chunk) = Chunk::decode(&text) else {
        return;
    };
    assert_eq!(
        Chunk::decode(&format!(" {text}\n")).as_ref().ok(),
        Some(&chunk),
        "with space around it"
    );
    let encoder = ChunkEncoder::new("id", 0, "m");
    let read = |line: &str, check: &dyn Fn(Chunk<'_>) -> bool| {
        assert!(
            check(Chunk::decode(line).expect("we write chunks")),
            "{line} of {text}"
        );
    };
    read(&encoder.content(&chunk.content), &|again| {
        again.content == chunk.content
    });
    read(&encoder.reasoning(&chunk.reasoning), &|again| {
        again.reasoning == chunk.reasoning
    });
    for call in &chunk.calls {
        read(&encoder.call_arguments(3, &call.arguments), &|again| {
            again.calls[0].arguments == call.arguments
        });
        let (Some(id), Some(name)) = (&call.id, &call.name) else {
            continue;
        };
        read(&encoder.call_started(3, id, name), &|again| {
            (&again.calls[0].id, &again.calls[0].name) == (&call.id, &call.name)
        });
    }
    if let Some(reason) = &chunk.finish_reason {
        read(&encoder.finish(reason), &|again| {
            again.finish_reason == chunk.finish_reason
        });
    }
    if let Some(usage) = chunk.usage {
        read(&encoder.usage(usage), &|again| again.usage == chunk.usage);
    }
}

/// An error of a server: decoding our OpenAI form of it gives the same.
pub fn upstream_error(bytes: &[u8]) {
    let Some(error) = UpstreamError::decode(&String::from_utf8_lossy(bytes)) else {
        return;
    };
    if error.message.is_empty() {
        return;
    }
    let again =
        serde_json::json!({"error": {"message": error.message, "code": error.kind}}).to_string();
    assert_eq!(UpstreamError::decode(&again), Some(error));
}

/// A passing answer: chunk boundaries do not affect the token count.
pub fn usage_watch(bytes: &[u8]) {
    let count = |pieces: &mut dyn Iterator<Item = &[u8]>| {
        let mut watch = UsageWatch::default();
        pieces.for_each(|piece| _ = watch.feed(piece));
        watch.counted()
    };
    let size = 1 + usize::from(bytes.first().copied().unwrap_or(0) % 13);
    assert_eq!(
        count(&mut bytes.chunks(size)),
        count(&mut std::iter::once(bytes)),
        "in pieces of {size}"
    );
}

/// Vectors: one for each text, all comparable.
pub fn embeddings(bytes: &[u8]) {
    for asked in 0..3 {
        let Ok(read) = vectors::decode(bytes, asked) else {
            continue;
        };
        assert_eq!(read.vectors.len(), asked);
        let lengths: Vec<usize> = read.vectors.iter().map(Vec::len).collect();
        assert!(lengths.windows(2).all(|pair| pair[0] == pair[1]) && !lengths.contains(&0));
        assert!(read.vectors.iter().flatten().all(|value| value.is_finite()));
    }
}

/// Scores: at most one for each document.
pub fn rerank(bytes: &[u8]) {
    for asked in 0..4 {
        let Ok(read) = ranks::decode(bytes, asked) else {
            continue;
        };
        assert_eq!(read.scores.len(), asked);
        assert!(read.scores.iter().flatten().all(|score| score.is_finite()));
    }
}

/// A transcript: times from 0, and counts that fit.
pub fn transcription(bytes: &[u8]) {
    let Ok(read) = transcripts::decode(bytes) else {
        return;
    };
    for segment in &read.segments {
        assert!(segment.start.is_finite() && segment.start >= 0.0);
        assert_eq!(segment.text, segment.text.trim());
    }
    if let Some(usage) = read.usage {
        assert!(usage.audio_tokens <= usage.input_tokens);
    }
}

/// A page of groups: all of them or none, and unchanged by a round trip.
pub fn group_list(bytes: &[u8]) {
    let Ok(answer) = serde_json::from_slice::<serde_json::Value>(bytes) else {
        return;
    };
    let claim = ["realm".to_owned(), "groups".to_owned()];
    let Some(page) = groups::decode(&answer, &claim) else {
        return;
    };
    let again = serde_json::json!({"value": page.groups, "@odata.nextLink": page.next});
    assert_eq!(groups::decode(&again, &claim), Some(page));
}

/// Secrets are redacted from any text, and redacting twice changes nothing. A JSON value keeps its shape.
pub fn redact(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let once = redact::text(&text);
    assert_eq!(redact::text(&once), once, "{text:?}");
    let Ok(mut value) = serde_json::from_slice::<serde_json::Value>(bytes) else {
        return;
    };
    redact::value(&mut value);
    let once = value.clone();
    redact::value(&mut value);
    assert_eq!(value, once, "{text:?}");
}

/// A list of models: names are unique, and the stored form round-trips.
pub fn model_list(bytes: &[u8]) {
    let Some(models) = models::decode(&String::from_utf8_lossy(bytes)) else {
        return;
    };
    let ids: BTreeSet<&str> = models.iter().map(|model| model.id.as_str()).collect();
    assert!(ids.len() == models.len() && !ids.contains(""), "{ids:?}");
    let stored = serde_json::to_string(&models).expect("a list has a JSON form");
    assert_eq!(
        serde_json::from_str::<Vec<ListedModel>>(&stored).expect("we wrote it"),
        models
    );
}

/// Lines of a log: a decoded event is one line again, which decodes to the same event.
pub fn event_lines(bytes: &[u8]) {
    for line in String::from_utf8_lossy(bytes).lines() {
        let Ok(event) = serde_json::from_str::<RunEvent>(line) else {
            continue;
        };
        let again = serde_json::to_string(&event).expect("an event has a JSON form");
        assert_eq!(again.lines().count(), 1, "{again}");
        let read: RunEvent = serde_json::from_str(&again).expect("our own line");
        assert_eq!(read, event, "{again}");
    }
}

/// A line of an export: the decoded line round-trips.
pub fn export_line(bytes: &[u8]) {
    let Ok(line) = Line::read(bytes) else { return };
    let again = serde_json::to_string(&line).expect("it can be written");
    assert!(!again.contains('\n'));
    assert_eq!(Line::read(again.as_bytes()), Ok(line));
}

/// Chats of other products: chunk boundaries do not matter, each message follows its parent, no link leads elsewhere, and
/// every answer's log is lawful.
pub fn chat_exports(bytes: &[u8]) {
    let elements = |size: usize| {
        let mut elements = Elements::new(100_000);
        let mut all = Vec::new();
        bytes
            .chunks(size)
            .for_each(|piece| elements.feed(piece, &mut all));
        (all, elements.is_over())
    };
    let (all, is_over) = elements(bytes.len().max(1));
    assert_eq!((&all, is_over), (&elements(3).0, elements(3).1));
    let read = |element: &Element| Chat::read(element.as_deref()?).ok();
    for chat in all.iter().filter_map(read) {
        assert!(chat.current.is_none_or(|at| at < chat.messages.len()));
        for (at, message) in chat.messages.iter().enumerate() {
            assert!(
                message
                    .parent
                    .is_none_or(|parent| parent < at && chat.messages[parent].at <= message.at)
            );
            assert!(
                message
                    .pictures
                    .iter()
                    .all(|url| url.starts_with("data:image/"))
            );
            let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
            assert!(
                message
                    .assets
                    .iter()
                    .all(|asset| asset.id.bytes().all(is_plain))
            );
            let Some(answer) = &message.answer else {
                continue;
            };
            let chat_id = ChatId::generate();
            let message_id = MessageId::generate();
            let (log, _) = as_run(
                RunId::generate(),
                chat_id,
                message_id,
                "m",
                message.at,
                answer,
            );
            assert_eq!(laws::check(&log), Ok(()));
            assert!(
                answer
                    .sources
                    .iter()
                    .all(|source| source.url.is_empty() || source.url.starts_with("http"))
            );
        }
    }
}
