//! Recorded answers with generated pictures: decoding, and the data sent back.

use domain::{Message, Role};
use provider::{
    Annotator, AnswerDecoder, AnswerEvent, DataPart, ModelRequest, Parameters, ServerTool, gemini,
    openai::Chunk, openai_responses,
};
use serde_json::{Value, json};

use crate::{
    answers::{lines, message},
    given_back::sent,
};

const GEMINI: &str = include_str!("../recordings/pictures/gemini_story.json");
const RESPONSES: &str = include_str!("../recordings/pictures/responses_image_generation.json");
const OPENROUTER: &str = include_str!("../recordings/pictures/chat_openrouter_stream.json");

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

fn tools(events: &[AnswerEvent]) -> Vec<&ServerTool> {
    let mut tools = Vec::new();
    for event in events {
        if let AnswerEvent::ServerTool(updates) = event {
            tools.push(updates);
        }
    }
    tools
}

#[test]
fn a_generated_picture_is_a_tool_call() {
    for (events, id) in [
        (of_gemini(), ""),
        (
            of_responses(),
            "ig_0e42c269485e086e016abc35edb46487d1954908971aa5b0e1",
        ),
    ] {
        let [
            ServerTool::Started {
                id: started, name, ..
            },
            ServerTool::Finished {
                id: ended,
                result,
                error,
            },
        ] = tools(&events)[..]
        else {
            panic!("{}", lines(&events))
        };
        assert_eq!(
            (&**started, &**ended, &**name),
            (id, id, "image_generation")
        );
        assert_eq!((&**result, *error), ("", false), "no bytes are told");
        let place = events
            .iter()
            .position(|event| matches!(event, AnswerEvent::ServerTool(_)))
            .unwrap();
        assert!(
            matches!(&events[place - 1], AnswerEvent::Data { part: DataPart::Other, data } if data.to_string().contains(PNG))
        );
    }
}

#[test]
fn pictures_go_back_as_they_came() {
    let answer = first(GEMINI)["answer"]["candidates"][0]["content"].clone();
    let messages = [
        Message::text(Role::User, "A story"),
        message(gemini::PROVIDER, &of_gemini()),
    ];
    let parameters = Parameters::default();
    let model = "gemini-3-pro-image-preview";
    let request = ModelRequest {
        model,
        messages: &messages,
        tools: &[],
        parameters: &parameters,
        stream: true,
    };
    let sent: Value = serde_json::from_slice(&gemini::encode(&request)).unwrap();
    assert_eq!(sent["contents"][1], answer);

    let output = first(RESPONSES)["response"]["output"].clone();
    let messages = [message(openai_responses::PROVIDER, &of_responses())];
    let request = ModelRequest {
        messages: &messages,
        ..request
    };
    let sent: Value = serde_json::from_slice(&openai_responses::encode(&request)).unwrap();
    assert_eq!(sent["input"][1], output[1], "{sent}");
}

#[test]
fn chat_completions_pictures_accompany_the_text() {
    let stream = first(OPENROUTER)["stream"].as_str().unwrap().to_owned();
    let chunks = stream
        .lines()
        .filter_map(|line| line.strip_prefix("data: {"));
    let images: Vec<Value> = chunks
        .filter_map(|data| {
            Chunk::decode(&format!("{{{data}"))
                .unwrap()
                .images
                .map(|images| images.into_owned())
        })
        .map(|images| serde_json::from_str(&images).unwrap())
        .collect();
    let url = format!("data:image/png;base64,{PNG}");
    assert_eq!(
        images,
        [json!([{"type": "image_url", "image_url": {"url": url}, "index": 0}])]
    );
    let whole = json!({"choices": [{"message": {"role": "assistant", "content": "", "images": images[0]}}]});
    assert!(Chunk::decode(&whole.to_string()).unwrap().images.is_some());
    for nothing in [json!(null), json!([]), json!({}), json!("x")] {
        let whole =
            json!({"choices": [{"message": {"content": "So.", "images": nothing}}]}).to_string();
        assert_eq!(Chunk::decode(&whole).unwrap().images, None, "{whole}");
    }

    let data = json!({"images": images[0]});
    let events = [
        AnswerEvent::Text("Here you go: ".to_owned()),
        AnswerEvent::Data {
            part: DataPart::Other,
            data,
        },
    ];
    let message = message("chat_completions/m", &events);
    let sent = |provider: &str| sent(&message, provider);
    let back = json!({"role": "assistant", "content": "Here you go: ", "images": images[0]});
    assert_eq!(sent("chat_completions/m"), back);
    assert_eq!(
        sent("chat_completions/other").get("images"),
        None,
        "only to who gave it"
    );
}
