//! Bedrock's Converse API against recordings: answers, binary frames, and returned data.

use base64::{Engine, engine::general_purpose::STANDARD as BASE64};
use domain::{Message, Role};
use proptest::prelude::*;
use provider::{
    AnswerDecoder, AnswerError, AnswerEvent, ErrorKind, ModelRequest, Parameters,
    bedrock::{Decoder, FrameDecoder, PROVIDER, encode, error},
};
use serde_json::{Value, json};

use crate::{
    answers::message,
    recorded::{Exchange, decode_whole, joined, recordings, shown},
};

/// The frames of a recorded stream.
fn stream(exchange: &Exchange) -> Option<Vec<u8>> {
    exchange.response["base64"]
        .as_str()
        .map(|base64| BASE64.decode(base64).unwrap())
}

fn decode_frames<'a>(
    pieces: impl IntoIterator<Item = &'a [u8]>,
) -> Result<Vec<AnswerEvent>, AnswerError> {
    let (mut frames, mut decoder, mut events) =
        (FrameDecoder::new(1 << 24), Decoder::default(), Vec::new());
    for piece in pieces {
        frames.feed(piece);
        while let Some(frame) = frames.next() {
            let frame =
                frame.map_err(|fault| AnswerError::new(ErrorKind::Protocol, fault.to_string()))?;
            decoder.event(Some(&frame.name), &frame.data, &mut events)?;
        }
    }
    decoder.end(&mut events)?;
    Ok(events)
}

/// The events of a recorded answer; `None` for a count of tokens.
fn events(exchange: &Exchange) -> Option<Vec<AnswerEvent>> {
    let decoded = match stream(exchange) {
        Some(bytes) => decode_frames([&bytes[..]]),
        None if exchange.response.get("output").is_some() => {
            decode_whole(Decoder::default(), &exchange.response.to_string())
        }
        None => return None,
    };
    Some(joined(decoded.unwrap()))
}

#[test]
fn recorded_answers_are_read() {
    for (name, exchanges) in recordings(PROVIDER) {
        let of = |exchange: &Exchange| match exchange.status {
            200 => events(exchange)
                .map_or_else(|| exchange.response.to_string(), |events| shown(&events)),
            status => format!("{:?}", error(status, None, &exchange.response.to_string())),
        };
        let shown: Vec<String> = exchanges.iter().map(of).collect();
        insta::assert_snapshot!(format!("bedrock__{name}"), shown.join("\n\n"));
    }
}

/// The content of an assistant's message as it is sent back.
fn sent_back(answer: Message) -> Value {
    let messages = [Message::text(Role::User, "a"), answer];
    let parameters = Parameters::default();
    let model = "us.meta.llama4-maverick-17b-instruct-v1:0";
    let request = ModelRequest {
        model,
        messages: &messages,
        tools: &[],
        parameters: &parameters,
        stream: false,
    };
    let mut body: Value = serde_json::from_slice(&encode(&request)).unwrap();
    match body["messages"][1]["role"] == "assistant" {
        true => body["messages"][1]["content"].take(),
        false => json!([]),
    }
}

/// The parts that the provider needs back.
fn wanted_back(mut content: Value) -> Value {
    let blocks = content.as_array_mut().unwrap();
    // No model accepts reasoning without a signature.
    blocks.retain(|block| {
        let unsigned = &block["reasoningContent"]["reasoningText"];
        unsigned.is_null() || unsigned["signature"].is_string()
    });
    blocks.retain(|block| {
        block["text"]
            .as_str()
            .is_none_or(|text| !text.trim().is_empty())
    });
    if let Some(Value::String(text)) = blocks.last_mut().map(|block| &mut block["text"]) {
        *text = text.trim_end().to_owned();
    }
    for block in blocks {
        block
            .as_object_mut()
            .unwrap()
            .retain(|_, value| !value.is_null());
        let Some(call) = block.get_mut("toolUse").and_then(Value::as_object_mut) else {
            continue;
        };
        if call.get("type").is_none_or(|kind| kind == "tool_use") {
            call.remove("type");
            let id = call["toolUseId"].as_str().unwrap().replace(['.', ':'], "_");
            call["toolUseId"] = json!(id);
        }
    }
    content
}

fn check(name: &str, exchange: &Exchange) {
    let Some(events) = events(exchange) else {
        return;
    };
    if let Some(content) = exchange.response.pointer("/output/message/content") {
        assert_eq!(
            sent_back(message(PROVIDER, &events)),
            wanted_back(content.clone()),
            "{name}"
        );
    }
    if let Some(bytes) = stream(exchange) {
        let whole = decode_frames([&bytes[..]]);
        assert_eq!(
            decode_frames(bytes.chunks(1)),
            whole,
            "{name}, byte by byte"
        );
    }
}

#[test]
fn recorded_answers_go_back() {
    for (name, exchanges) in recordings(PROVIDER) {
        exchanges
            .iter()
            .filter(|exchange| exchange.status == 200)
            .for_each(|exchange| check(&name, exchange));
    }
}

proptest! {
    #[test]
    fn cut_and_changed_frames_never_panic(
        which in any::<prop::sample::Index>(),
        cut in any::<prop::sample::Index>(),
        byte in any::<u8>(),
        changed in any::<prop::sample::Index>(),
    ) {
        let streams: Vec<Vec<u8>> = recordings(PROVIDER)
            .into_iter()
            .flat_map(|(_, exchanges)| exchanges)
            .filter_map(|exchange| stream(&exchange))
            .collect();
        let mut bytes = which.get(&streams).clone();
        let at = changed.index(bytes.len());
        bytes[at] = byte;
        bytes.truncate(cut.index(bytes.len()));
        let whole = decode_frames([&bytes[..]]);
        prop_assert_eq!(decode_frames(bytes.chunks(7)), whole);
    }
}
