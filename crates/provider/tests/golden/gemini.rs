//! Gemini's format against recorded traffic: `tests/recordings/gemini`.

mod recorded;

use std::fmt::Write as _;

use domain::Message;
use proptest::prelude::*;
use provider::{
    AnswerEvent, AnswerFormat, DataPart, ModelRequest, Parameters, Reasoning, ToolChoice, gemini,
    openai::Tool, tool_schema::ToolSchema,
};
use serde_json::{Value, json};

use recorded::{Exchange, compared, conversation, message, recording, recordings, streamed};

/// A line for each event. Signatures are shortened, as they are opaque and long.
fn readable(events: &[AnswerEvent]) -> String {
    let mut lines = String::new();
    for event in events {
        let _ = match event {
            AnswerEvent::Data { part, data } => {
                writeln!(lines, "Data {part:?} {}", shortened(data))
            }
            AnswerEvent::Finished { reason, usage } => {
                writeln!(lines, "Finished {reason:?} {usage:?}")
            }
            event => writeln!(lines, "{event:?}"),
        };
    }
    lines
}

fn shortened(value: &Value) -> Value {
    match value {
        Value::String(text) if text.len() > 60 && !text.contains(' ') => {
            json!(format!("{}… ({} bytes)", &text[..12], text.len()))
        }
        Value::Array(items) => items.iter().map(shortened).collect(),
        Value::Object(fields) => {
            let fields = fields
                .iter()
                .map(|(name, value)| (name.clone(), shortened(value)));
            Value::Object(fields.collect())
        }
        value => value.clone(),
    }
}

#[test]
fn answers_become_events() {
    for (name, exchanges) in recordings() {
        let answers = exchanges
            .iter()
            .map(|exchange| readable(&exchange.events().unwrap()));
        insta::assert_snapshot!(name, answers.collect::<Vec<_>>().join("---\n"));
    }
}

/// All but the metadata of the whole answer is sent back in the original order and with its signatures.
#[test]
fn requests_send_back_received_data() {
    let mut turns = 0;
    for (name, exchanges) in recordings() {
        let mut answers: Vec<Message> = Vec::new();
        for exchange in &exchanges {
            if !answers.is_empty() {
                let messages = conversation(&exchange.request, &answers);
                let sent = encoded(exchange.model(), &messages, &[], &Parameters::default());
                let wanted = compared(&exchange.request["contents"]);
                assert_eq!(compared(&sent["contents"]), wanted, "{name}");
                turns += 1;
            }
            answers.push(message(&exchange.events().unwrap()));
        }
    }
    assert_eq!(turns, 11, "recordings of several turns");
}

#[test]
fn calls_of_another_model_get_the_documented_signature() {
    let [exchange] = &recording("call_of_another_model")[..] else {
        panic!("one exchange")
    };
    let call = [
        AnswerEvent::CallStarted {
            index: 0,
            id: "call_1w9YRdMtRTRucwZShoZYlLJp".to_owned(),
            name: "get_country".to_owned(),
        },
        AnswerEvent::Data {
            part: DataPart::Call(0),
            data: json!("of another provider"),
        },
    ];
    let mut answer = message(&call);
    answer.provenance.as_mut().unwrap().provider = "openai_responses".to_owned();
    let messages = conversation(&exchange.request, &[answer]);
    let sent = encoded(exchange.model(), &messages, &[], &Parameters::default());
    assert_eq!(
        compared(&sent["contents"]),
        compared(&exchange.request["contents"])
    );
}

fn encoded(
    model: &str,
    messages: &[Message],
    tools: &[Tool<'_>],
    parameters: &Parameters,
) -> Value {
    let request = ModelRequest {
        model,
        messages,
        tools,
        parameters,
        stream: false,
    };
    serde_json::from_slice(&gemini::encode(&request)).unwrap()
}

/// Encodes the first exchange of a recording and compares the result, except for fields that only the recorded client
/// sends.
fn check_request(name: &str, parameters: Parameters) {
    let exchange: &Exchange = &recording(name)[0];
    let wanted = recorded::request(&exchange.request);
    let declared = wanted
        .pointer("/tools/0/functionDeclarations")
        .and_then(Value::as_array);
    let schemas: Vec<_> = declared
        .into_iter()
        .flatten()
        .map(|declared| {
            (
                declared,
                ToolSchema::from(declared["parametersJsonSchema"].clone()),
            )
        })
        .collect();
    let tools: Vec<Tool<'_>> = schemas
        .iter()
        .map(|(declared, schema)| Tool {
            name: declared["name"].as_str().unwrap(),
            description: declared["description"].as_str().unwrap(),
            parameters: schema,
        })
        .collect();
    let messages = conversation(&exchange.request, &[]);
    let sent = encoded(exchange.model(), &messages, &tools, &parameters);
    assert_eq!(recorded::request(&sent), wanted, "{name}");
}

#[test]
fn requests_are_those_that_servers_took() {
    let chosen = |tool_choice| Parameters {
        tool_choice,
        ..Parameters::default()
    };
    let tool = |name: &str| chosen(ToolChoice::Tool(name.to_owned()));
    check_request(
        "signed_calls",
        Parameters {
            temperature: Some(0.0),
            ..Parameters::default()
        },
    );
    check_request("tool_choice_none", chosen(ToolChoice::None));
    check_request("tool_choice_required", chosen(ToolChoice::Required));
    check_request("tool_choice_one", tool("final_result"));
    check_request("nested_tool_schema", tool("final_result"));
    check_request("film", Parameters::default());
    let short = Parameters {
        max_output_tokens: Some(5),
        reasoning: Some(Reasoning::Off),
        ..Parameters::default()
    };
    check_request("max_tokens", short);
    for name in [
        "recursive_schema",
        "tuple_schema",
        "integer_enum",
        "free_fields",
        "signature_alone",
    ] {
        let request = &recording(name)[0].request;
        let schema = request["generationConfig"]["responseJsonSchema"].clone();
        let format = AnswerFormat::Schema {
            name: "answer".to_owned(),
            schema,
            strict: true,
        };
        check_request(
            name,
            Parameters {
                answer_format: Some(format),
                ..Parameters::default()
            },
        );
    }
}

#[test]
fn a_stream_as_a_list_is_the_same_answer() {
    for (name, exchanges) in recordings() {
        for exchange in &exchanges {
            let Some(stream) = &exchange.stream else {
                continue;
            };
            let events: Vec<&str> = stream
                .lines()
                .filter_map(|line| line.strip_prefix("data: "))
                .collect();
            let list = format!("[{}\n]\n", events.join(",\n"));
            assert_eq!(
                recorded::whole(&list).unwrap(),
                exchange.events().unwrap(),
                "{name}"
            );
        }
    }
}

#[test]
fn chunking_does_not_matter() {
    for (name, exchanges) in recordings() {
        for exchange in &exchanges {
            let Some(stream) = &exchange.stream else {
                continue;
            };
            let bytes: Vec<&[u8]> = stream.as_bytes().chunks(1).collect();
            assert_eq!(streamed(&bytes), exchange.events(), "{name}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    /// Of an interrupted stream, the received part is emitted, and it is reported as incomplete.
    #[test]
    fn an_interrupted_stream_is_never_complete(at in any::<prop::sample::Index>()) {
        let exchanges = recording("streamed_thoughts");
        let stream = exchanges[0].stream.as_deref().unwrap().as_bytes();
        let whole = stream.windows(13).position(|window| window == b"\"finishReason").unwrap();
        let cut = &stream[..at.index(whole)];
        prop_assert!(streamed(&[cut]).is_err());
    }

    #[test]
    fn changed_streams_never_panic(
        which in any::<prop::sample::Index>(),
        at in any::<prop::sample::Index>(),
        byte in any::<u8>(),
    ) {
        let all = recordings();
        let streams: Vec<&str> =
            all.iter().flat_map(|(_, exchanges)| exchanges).filter_map(|it| it.stream.as_deref()).collect();
        let mut stream = which.get(&streams).as_bytes().to_vec();
        *at.get_mut(&mut stream) = byte;
        let at = at.index(stream.len());
        let pieces = [&stream[..at], &stream[at..]];
        prop_assert_eq!(streamed(&pieces), streamed(&[&stream]));
    }
}
