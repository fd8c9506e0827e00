//! Recorded answers with generated pictures, as programs receive them.

use domain::RunId;
use provider::{Annotator, AnswerDecoder, AnswerEvent, StopReason, gemini, openai_responses};
use serde_json::{Value, json};
use wire::gateway::{AnswerEncoder, ChatAnswer, PlainRequest, Used};

const GEMINI: &str = include_str!("../../../provider/tests/recordings/pictures/gemini_story.json");
const RESPONSES: &str =
    include_str!("../../../provider/tests/recordings/pictures/responses_image_generation.json");

/// The picture of all recordings.
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

fn first(recording: &str) -> Value {
    serde_json::from_str::<Vec<Value>>(recording)
        .unwrap()
        .remove(0)
}

fn read(mut decoder: impl AnswerDecoder, answer: &Value) -> Vec<AnswerEvent> {
    let mut events = Vec::new();
    decoder.whole(&answer.to_string(), &mut events).unwrap();
    Annotator::default().annotate(&mut events);
    events
}

fn of_gemini() -> Vec<AnswerEvent> {
    read(gemini::Decoder::default(), &first(GEMINI)["answer"])
}

fn of_responses() -> Vec<AnswerEvent> {
    read(
        openai_responses::ResponsesDecoder::new(),
        &first(RESPONSES)["response"],
    )
}

/// A program that speaks Chat Completions receives pictures in OpenRouter's form, and sends them back.
#[test]
fn programs_get_pictures_as_openrouter_sends_them() {
    for (events, provider) in [
        (of_gemini(), gemini::PROVIDER),
        (of_responses(), openai_responses::PROVIDER),
    ] {
        let mut encoder = ChatAnswer::new(RunId::generate(), 0, "m", provider, false);
        let mut frames = Vec::new();
        events
            .iter()
            .for_each(|event| encoder.push(event.clone(), &mut frames));
        encoder.finish(StopReason::Stop, Used::default(), &mut frames);
        let image = json!({"type": "image_url", "image_url": {"url": format!("data:image/png;base64,{PNG}")}});
        let images: Vec<Value> = frames
            .iter()
            .filter_map(|frame| serde_json::from_str::<Value>(&frame.data).ok())
            .filter_map(|chunk| chunk.pointer("/choices/0/delta/images").cloned())
            .collect();
        assert_eq!(images, [json!([image])], "{provider}");
        let message = encoder.whole()["choices"][0]["message"].clone();
        assert_eq!(message["images"], json!([image]), "{provider}");
        let body = json!({"model": "m", "messages": [{"role": "user", "content": "A cat"}, message, {"role": "user", "content": "And a dog"}]});
        let request = PlainRequest::of_chat(body.to_string().as_bytes()).unwrap();
        let provenance = request.messages[1].provenance.as_deref().unwrap();
        assert_eq!(provenance.provider, provider);
        assert!(format!("{provenance:?}").contains(PNG));
    }
}
