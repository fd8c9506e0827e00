//! Chunks in all the shapes that servers and proxies produce.

use proptest::prelude::*;

use super::*;

fn decoded(data: &str) -> Chunk<'_> {
    Chunk::decode(data).unwrap()
}

fn decoded_owned(data: &str) -> Chunk<'static> {
    decoded(data).into_owned()
}

#[test]
fn text_is_borrowed() {
    let chunk =
        decoded(r#"{"choices":[{"index":0,"delta":{"content":"Hé"},"finish_reason":null}]}"#);
    assert!(matches!(chunk.content, Cow::Borrowed("Hé")));
    assert_eq!(chunk.finish_reason, None);
}

#[test]
fn continued_texts_have_no_message() {
    let chunk = decoded(
        r#"{"system_fingerprint":"fp","choices":[{"index":0,"text":" of","logprobs":null}]}"#,
    );
    assert_eq!(
        (&*chunk.content, chunk.fingerprint.as_deref()),
        (" of", Some("fp"))
    );
}

#[test]
fn reasoning_under_every_name() {
    for field in ["reasoning_content", "reasoning", "thinking"] {
        let data = format!(r#"{{"choices":[{{"delta":{{"content":null,"{field}":"a\nb"}}}}]}}"#);
        assert_eq!(decoded(&data).reasoning, "a\nb", "{field}");
    }
    let parts = r#"{"choices":[{"delta":{"content":[{"type":"thinking","thinking":[{"text":"hm"}]},
        {"type":"text","text":"ok"}]}}]}"#;
    let chunk = decoded(parts);
    assert_eq!((&*chunk.reasoning, &*chunk.content), ("hm", "ok"));
    for reasoning in [
        r#"{"type":"reasoning","text":"hm"}"#,
        r#"{"type":"reasoning","summary":[{"type":"summary_text","text":"hm"}]}"#,
    ] {
        let parts = format!(
            r#"{{"choices":[{{"message":{{"content":[{reasoning},{{"type":"text","text":"ok"}}]}}}}]}}"#
        );
        let chunk = decoded(&parts);
        assert_eq!(
            (&*chunk.reasoning, &*chunk.content),
            ("hm", "ok"),
            "{reasoning}"
        );
    }
}

#[test]
fn a_refusal_follows_other_text() {
    let chunk =
        |delta: &str| decoded_owned(&format!(r#"{{"choices":[{{"delta":{delta}}}]}}"#)).content;
    assert_eq!(chunk(r#"{"content":null,"refusal":"No."}"#), "No.");
    assert_eq!(
        chunk(r#"{"content":"Well.","refusal":"No."}"#),
        "Well.\n\nNo."
    );
    assert_eq!(chunk(r#"{"content":"No.","refusal":"No."}"#), "No.");
    assert_eq!(chunk(r#"{"content":"Well.","refusal":null}"#), "Well.");
}

#[test]
fn pieces_of_calls() {
    let chunk = decoded(
        r#"{"choices":[{"delta":{"tool_calls":[
            {"index":0,"id":"c1","type":"function","function":{"name":"ls","arguments":""}},
            {"index":4000000000,"function":{"arguments":"{\"a\""}},
            {"id":null,"function":{"name":"cat","arguments":{"path":"/"}}}]}}]}"#,
    );
    let piece = |index,
                 id: Option<&'static str>,
                 name: Option<&'static str>,
                 arguments: &'static str| CallDelta {
        index,
        id: id.map(Cow::from),
        name: name.map(Cow::from),
        arguments: arguments.into(),
        extra_content: None,
    };
    assert_eq!(
        chunk.calls,
        [
            piece(Some(0), Some("c1"), Some("ls"), ""),
            piece(Some(4_000_000_000), None, None, "{\"a\""),
            piece(None, None, Some("cat"), r#"{"path":"/"}"#),
        ]
    );
}

#[test]
fn usage_in_every_position() {
    let usage = Some(Usage::of(12, 3));
    for data in [
        r#"{"choices":[],"usage":{"prompt_tokens":12,"completion_tokens":3,"total_tokens":15}}"#,
        r#"{"usage":{"prompt_tokens":12.0,"completion_tokens":3.0}}"#,
        r#"{"usage":{"input_tokens":12,"output_tokens":3}}"#,
        r#"{"choices":[{"delta":{},"usage":{"prompt_tokens":12,"completion_tokens":3}}]}"#,
        r#"{"x_groq":{"usage":{"prompt_tokens":12,"completion_tokens":3}}}"#,
    ] {
        assert_eq!(decoded(data).usage, usage, "{data}");
    }
    let both = r#"{"usage":{"input_tokens":0,"prompt_tokens":12,"output_tokens":0,"completion_tokens":"3"}}"#;
    assert_eq!(
        decoded(both).usage,
        usage,
        "the names of this protocol count"
    );
    for nothing in ["null", "{}", "\"\"", "[]", "7", "true"] {
        assert_eq!(
            decoded(&format!(r#"{{"usage":{nothing}}}"#)),
            Chunk::default(),
            "{nothing}"
        );
    }
    let first = decoded(r#"{"usage":{"prompt_tokens":12,"total_tokens":12}}"#);
    assert_eq!(first.usage, Some(Usage::of(12, 0)));
}

/// Regression: two such answers made a day's sum overflow in the database.
#[test]
fn an_invalid_count_is_no_usage() {
    for figure in [
        "18446744073709551615",
        "1000000001",
        "-1",
        "1e999",
        "\"many\"",
        "[]",
    ] {
        for usage in [
            format!(r#"{{"prompt_tokens":{figure},"completion_tokens":3}}"#),
            format!(r#"{{"prompt_tokens":3,"completion_tokens":{figure}}}"#),
        ] {
            for data in [
                format!(r#"{{"choices":[{{"delta":{{"content":"Hi"}}}}],"usage":{usage}}}"#),
                format!(r#"{{"choices":[{{"delta":{{"content":"Hi"}},"usage":{usage}}}]}}"#),
                format!(
                    r#"{{"choices":[{{"delta":{{"content":"Hi"}}}}],"x_groq":{{"usage":{usage}}}}}"#
                ),
            ] {
                let chunk = decoded(&data);
                assert_eq!((&*chunk.content, chunk.usage), ("Hi", None), "{data}");
            }
        }
    }
}

#[test]
fn errors_in_the_stream() {
    let message = |data: &str| decoded(data).error.map(|error| error.message);
    assert_eq!(
        message(r#"{"error":{"message":"overloaded"}}"#),
        Some("overloaded".into())
    );
    assert_eq!(
        message(r#"{"object":"error","message":"too long"}"#),
        Some("too long".into())
    );
    for none in ["null", "{}", "\"\"", "false", r#"{"message":"","code":0}"#] {
        assert_eq!(
            message(&format!(r#"{{"error":{none},"choices":[]}}"#)),
            None,
            "{none}"
        );
    }
}

#[test]
fn a_whole_answer_and_odd_ones() {
    let whole = r#"{"object":"chat.completion","choices":[{"index":0,"finish_reason":"stop",
        "message":{"role":"assistant","content":"Hi"}}]}"#;
    assert_eq!(decoded(whole).content, "Hi");
    assert_eq!(decoded(whole).finish_reason.as_deref(), Some("stop"));
    assert_eq!(decoded("{}"), Chunk::default());
    let other_choice = r#"{"choices":[{"index":1,"delta":{"content":"x"}}]}"#;
    assert_eq!(decoded(other_choice), Chunk::default());
    assert_eq!(
        decoded(r#"{"choices":[{"delta":{"content":7,"role":[]}}]}"#),
        Chunk::default()
    );
    assert_eq!(
        decoded(r#"{"choices":[{"delta":{"content":"\ud83d"}}]}"#).content,
        "\u{FFFD}"
    );
    for bad in [
        "",
        "x",
        "[]",
        "\"x\"",
        "null",
        "7",
        r#"{"choices":[{"delta":{"con"#,
    ] {
        assert!(Chunk::decode(bad).is_err(), "{bad}");
    }
}

/// Each is from a report about a server or a proxy.
#[test]
fn strange_shapes_cost_only_themselves() {
    for data in [
        r#"{"choices":[{"index":"0","delta":{"content":"Hello"}}]}"#,
        r#"{"choices":[{"index":0.0,"delta":{"content":"Hello"}}]}"#,
        r#"{"choices":[null,{"delta":{"content":"Hello"}}]}"#,
        r#"{"choices":{"delta":{"content":"Hello"}}}"#,
        r#"{"choices":[{"delta":"Hello"}]}"#,
        r#"{"choices":[{"delta":"H\u0065llo"}]}"#,
        r#"{"choices":[{"delta":null,"message":{"content":"Hello"}}]}"#,
        r#"{"choices":[{"delta":{"content":"","content":"Hello"}}]}"#,
        r#"{"choices":[{"delta":{"content":{"type":"text","text":"Hello"}}}]}"#,
        r#"{"choices":[{"delta":{"content":["Hel","lo"]}}]}"#,
        r#"{"choices":[{"delta":{"content":null,"refusal":"Hello"}}]}"#,
        r#"{"choices":[{"delta":{"content":"","audio":{"id":"a","transcript":"Hello"}}}]}"#,
        r#"{"choices":[{"delta":{"content":"Hello","tool_calls":[null],"function_call":null}}]}"#,
        r#"{"choices":[{"delta":{"content":"Hello"},"finish_reason":"null"}]}"#,
        r#"{"object":"chat\u002ecompletion","choices":[{"delta":{"content":"Hello"},"logprobs":{"x":NaN}}]}"#,
        r#"{"choices":[{"delta":{"content":"Hello",},}]}"#,
        r#"{"\u0063hoices":[{"delta":{"content":"Hello"}}],"usage":7,"x_groq":""}"#,
    ] {
        assert_eq!(
            decoded(data),
            Chunk {
                content: "Hello".into(),
                ..Chunk::default()
            },
            "{data}"
        );
    }
    assert_eq!(decoded(r#"{"choices":[null]}"#), Chunk::default());
}

#[test]
fn reasoning_in_details_and_objects() {
    for delta in [
        r#""reasoning_details":[{"type":"reasoning.text","text":"h"},{"type":"reasoning.summary","summary":"m"}]"#,
        r#""reasoning":"hm","reasoning_details":[{"type":"reasoning.text","text":"hm"}]"#,
        r#""reasoning_content":"","reasoning":{"text":"hm"}"#,
    ] {
        let chunk = r#"{"choices":[{"delta":{"content":"","#.to_owned() + delta + "}}]}";
        let read = decoded(&chunk);
        assert_eq!((&*read.reasoning, &*read.content), ("hm", ""), "{delta}");
        assert_eq!(
            read.reasoning_details.is_some(),
            delta.contains("details"),
            "{delta}"
        );
    }
}

#[test]
fn reports_the_field_of_the_reasoning() {
    for (delta, field) in [
        (r#""reasoning_content":"hm""#, Some("reasoning_content")),
        (r#""reasoning":"hm""#, Some("reasoning")),
        (r#""thinking":"hm""#, Some("thinking")),
        (
            r#""content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]}]"#,
            Some("content"),
        ),
        (r#""content":"<think>hm</think>""#, None),
    ] {
        let chunk = r#"{"choices":[{"delta":{"#.to_owned() + delta + "}}]}";
        assert_eq!(decoded(&chunk).reasoning_field, field, "{delta}");
    }
    let call = r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"ls"},"extra_content":{"google":{"thought_signature":"s"}}}]}}]}"#;
    let extra = decoded(call).calls.remove(0).extra_content;
    assert_eq!(
        extra.as_deref(),
        Some(r#"{"google":{"thought_signature":"s"}}"#)
    );
}

#[test]
fn calls_in_odd_shapes() {
    let call = |index, id: Option<&'static str>| CallDelta {
        index,
        id: id.map(Cow::from),
        name: Some("ls".into()),
        arguments: "{}".into(),
        extra_content: None,
    };
    let function = r#""function":{"name":"ls","arguments":"{}"}"#;
    for (calls, expected) in [
        (
            format!(r#""tool_calls":{{"index":0,"id":"a",{function}}}"#),
            call(Some(0), Some("a")),
        ),
        (
            format!(r#""tool_calls":[null,{{"index":"2","id":7,{function}}}]"#),
            call(Some(2), Some("7")),
        ),
        (
            format!(r#""tool_calls":[{{"index":-1,"id":null,{function}}}]"#),
            call(Some(u64::MAX), None),
        ),
        (
            r#""tool_calls":[{"index":1.0,"name":"ls","arguments":{}}]"#.into(),
            call(Some(1), None),
        ),
        (
            r#""function_call":{"name":"ls","arguments":"{}"}"#.into(),
            call(Some(0), None),
        ),
        (
            format!(r#""function_call":{{"name":"x"}},"tool_calls":[{{"index":3,{function}}}]"#),
            call(Some(3), None),
        ),
    ] {
        let data = format!(r#"{{"choices":[{{"delta":{{{calls}}}}}]}}"#);
        assert_eq!(decoded(&data).calls, [expected], "{calls}");
    }
}

#[test]
fn characters_are_joined_over_chunks() {
    let mut halves = Halves::default();
    let mut next = |delta: &str| {
        let data = format!(r#"{{"choices":[{{"delta":{{{delta}}}}}]}}"#);
        let chunk = Chunk::decode_next(&data, &mut halves).unwrap().into_owned();
        (chunk.content, chunk.reasoning)
    };
    assert_eq!(next(r#""content":"A \ud83d""#), ("A ".into(), "".into()));
    assert_eq!(
        next(r#""reasoning":"hm \ud83d""#),
        ("".into(), "hm ".into())
    );
    assert_eq!(next(r#""content":"\ude80""#), ("🚀".into(), "".into()));
    assert_eq!(
        next(r#""reasoning":"\ude80 so""#),
        ("".into(), "🚀 so".into())
    );
    assert_eq!(halves.finish(), "");
}

proptest! {
    #[test]
    fn never_panics(text in r#"[\{\}\[\]":,a-z0-9\\]{0,60}"#) {
        let _ = Chunk::decode(&text);
    }
}
