//! Encoded Chat Completions requests.

use domain::ModelParameters;

use super::*;
use crate::openai::Dialect;

fn encoded(messages: &[Message]) -> Value {
    let body = ChatBody {
        model: "m",
        messages,
        provider: "p",
        tools: &[],
        response_format: None,
        parameters: ParameterFields::default(),
        output_limit: None,
        extra: None,
    };
    serde_json::from_slice(&body.encode()).unwrap()
}

#[test]
fn a_whole_body() {
    let schema = ToolSchema::from(json!({"type": "object", "properties": {}}));
    let extra = json!({"top_k": 5});
    let set = ModelParameters {
        temperature: Some(0.7),
        ..ModelParameters::default()
    };
    let body = ChatBody {
        model: "m",
        messages: &[
            Message::text(Role::System, "be brief"),
            Message::text(Role::User, "hi"),
        ],
        provider: "p",
        tools: &[Tool {
            name: "ls",
            description: "lists",
            parameters: &schema,
        }],
        response_format: None,
        parameters: ParameterFields::new(&set, "m", Dialect::Other).0,
        output_limit: Some(OutputLimit::MaxTokens(9)),
        extra: extra.as_object(),
    };
    assert_eq!(
        String::from_utf8(body.encode()).unwrap(),
        concat!(
            r#"{"model":"m","messages":[{"role":"system","content":"be brief"},"#,
            r#"{"role":"user","content":"hi"}],"tools":[{"type":"function","function":"#,
            r#"{"name":"ls","description":"lists","parameters":{"type":"object","properties":{}}}}],"#,
            r#""temperature":0.7,"max_tokens":9,"stream":true,"stream_options":{"include_usage":true},"top_k":5}"#
        )
    );
}

#[test]
fn calls_results_and_pictures() {
    let call = |arguments: &str| ToolCall {
        id: "c".into(),
        name: "ls".into(),
        arguments: arguments.into(),
    };
    let messages = [
        Message {
            content: vec![
                Part::Text { text: "see".into() },
                Part::Image {
                    url: "data:,x".into(),
                },
            ],
            ..Message::text(Role::User, "")
        },
        Message {
            tool_calls: vec![call(r#"{"path":"/"}"#), call(""), call("{broken")],
            ..Message::text(Role::Assistant, "")
        },
        Message::tool_result("c", "a.txt"),
    ];
    let body = encoded(&messages);
    assert_eq!(
        body["messages"][0]["content"],
        json!([{"type": "text", "text": "see"}, {"type": "image_url", "image_url": {"url": "data:,x"}}])
    );
    assert!(body["messages"][1].get("content").is_none(), "{body}");
    let arguments =
        |index: usize| &body["messages"][1]["tool_calls"][index]["function"]["arguments"];
    assert_eq!(arguments(0), r#"{"path":"/"}"#);
    assert_eq!(arguments(1), "{}");
    assert_eq!(arguments(2), r#"{"not_json":"{broken"}"#);
    assert_eq!(
        body["messages"][2],
        json!({"role": "tool", "content": "a.txt", "tool_call_id": "c"})
    );
}

/// As recorded: `document_as_binary_content_input` and `text_document_as_binary_content_input`.
#[test]
fn files_and_failures() {
    let file = |url: &str, media_type: &str| Part::File {
        url: url.to_owned(),
        media_type: media_type.to_owned(),
        name: "a".to_owned(),
    };
    let pdf = "data:application/pdf;base64,JVBERi0=";
    let text = "data:text/plain;base64,RHVtbXkgVFhUIGZpbGUK";
    let content = vec![
        file(pdf, PDF),
        file(text, "text/plain"),
        file("https://a.example/b.pdf", PDF),
    ];
    let failed = Message {
        is_error: true,
        ..Message::tool_result("c", "no such file")
    };
    let body = encoded(&[Message::of(Role::User, content), failed]);
    assert_eq!(
        body["messages"][0]["content"],
        json!([
            {"type": "file", "file": {"filename": "a", "file_data": pdf}},
            {"type": "text", "text": "[The file “a” begins.]\nDummy TXT file\n\n[The file “a” ends.]"},
            {"type": "text", "text": "[The file “a” is at https://a.example/b.pdf]"},
        ])
    );
    assert_eq!(body["messages"][1]["content"], "Error: no such file");
}

#[test]
fn media_of_tools_follow_the_results_in_a_message_of_the_user() {
    let returned = |id: &str, part: Part| {
        let mut message = Message::tool_result(id, "[Picture: /a.png]");
        message.content.push(part);
        message
    };
    let body = encoded(&[
        returned(
            "a",
            Part::Image {
                url: "data:image/png;base64,AA==".into(),
            },
        ),
        returned(
            "b",
            Part::Audio {
                url: "data:audio/mpeg;base64,AA==".into(),
            },
        ),
        Message::tool_result("c", "text"),
        Message::text(Role::Assistant, "so"),
        returned(
            "d",
            Part::Image {
                url: "data:,d".into(),
            },
        ),
    ]);
    let roles: Vec<&str> = body["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["role"].as_str().unwrap())
        .collect();
    assert_eq!(
        roles,
        ["tool", "tool", "tool", "user", "assistant", "tool", "user"]
    );
    assert_eq!(body["messages"][0]["content"], "[Picture: /a.png]");
    assert_eq!(
        body["messages"][3]["content"],
        json!([
            {"type": "text", "text": RETURNED},
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}},
            {"type": "input_audio", "input_audio": {"data": "AA==", "format": "mp3"}},
        ])
    );
    assert_eq!(
        body["messages"][6]["content"][1]["image_url"]["url"],
        "data:,d"
    );
}

#[test]
fn sounds_and_films_go_as_openai_and_vllm_take_them() {
    let body = encoded(&[Message {
        content: vec![
            Part::Audio {
                url: "data:audio/wav;base64,AA==".into(),
            },
            Part::Audio {
                url: "https://a.example/b.ogg".into(),
            },
            Part::Video {
                url: "data:video/mp4;base64,AA==".into(),
            },
        ],
        ..Message::text(Role::User, "")
    }]);
    assert_eq!(
        body["messages"][0]["content"],
        json!([
            {"type": "input_audio", "input_audio": {"data": "AA==", "format": "wav"}},
            {"type": "audio_url", "audio_url": {"url": "https://a.example/b.ogg"}},
            {"type": "video_url", "video_url": {"url": "data:video/mp4;base64,AA=="}},
        ])
    );
}
