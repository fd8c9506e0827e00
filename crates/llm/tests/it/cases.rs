//! Streams as servers really send them: the files of `tests/cases`, played byte for byte, with the expected events.

use std::{io::Write, path::Path};

use flate2::{Compression, write::GzEncoder};

use super::*;

/// The expected events of an answer; missing fields are empty.
#[derive(Debug, Default, PartialEq, Eq)]
struct Said<'a> {
    reasoning: &'a str,
    text: &'a str,
    /// Name and arguments.
    calls: &'a [(&'a str, &'a str)],
    /// Tokens read and written.
    usage: Option<(u64, u64)>,
    /// The code of the error it ends with.
    error: Option<ProblemCode>,
}

const A: (&str, &str) = ("write_file", r#"{"path":"/a.txt","content":"x"}"#);
const B: (&str, &str) = ("write_file", r#"{"path":"/b.txt","content":"x"}"#);
const SECOND_CALL: &[(&str, &str)] = &[A, B];

/// The reply that a file describes.
fn reply(file: &[u8]) -> Reply {
    let (mut status, mut kind, mut split, mut gzip) =
        (200, "text/event-stream".to_owned(), None, false);
    let mut body = file;
    let mut headers: Vec<(String, String)> = Vec::new();
    if file.starts_with(b"#") {
        let at = file
            .windows(4)
            .position(|window| window == b"---\n")
            .expect("a line between");
        body = &file[at + 4..];
        for line in std::str::from_utf8(&file[..at]).unwrap().lines() {
            let (name, value) = line.split_once(' ').unwrap_or((line, ""));
            match name {
                "#status" => status = value.parse().unwrap(),
                "#type" => value.clone_into(&mut kind),
                "#split" => split = value.parse::<usize>().ok(),
                "#gzip" => gzip = true,
                "#header" => {
                    let (name, value) = value.split_once(": ").unwrap();
                    headers.push((name.to_owned(), value.to_owned()));
                }
                other => panic!("{other} is no directive"),
            }
        }
    }
    if let Some(size) = split {
        let steps: Vec<Step> = body
            .chunks(size)
            .map(|bytes| Step::Bytes {
                bytes: bytes.to_vec(),
            })
            .collect();
        return Reply::stream(&steps);
    }
    let mut body = body.to_vec();
    if gzip {
        let mut packed = GzEncoder::new(Vec::new(), Compression::default());
        packed.write_all(&body).unwrap();
        body = packed.finish().unwrap();
        headers.push(("content-encoding".into(), "gzip".into()));
    }
    headers.push(("content-type".into(), kind));
    let headers: Vec<(&str, &str)> = headers
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .collect();
    Reply::bytes(status, &headers, body)
}

/// Plays a file to a model with these tools and compares the events.
async fn check(name: &str, expected: Said<'_>) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/cases")
        .join(format!("{name}.txt"));
    let file = std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let server = server(reply(&file)).await;
    let tools = ["ls", "write_file", "delete_file", "task"].map(tool);
    let request = ChatRequest {
        messages: &[Message::text(Role::User, "Hello")],
        tools: &tools,
        tool_mode: ToolMode::Native,
        tool_prompt: None,
        parameters: ModelParameters::unset(),
        answer_format: None,
        without_thinking: false,
        extra: None,
        trace: None,
        caller: None,
    };
    let (events, error) = drain(model(&server).call(&request)).await;
    let calls = calls_of(&events);
    let calls: Vec<(&str, &str)> = calls
        .iter()
        .map(|(_, name, arguments)| (name.as_str(), arguments.as_str()))
        .collect();
    let usage = events.iter().find_map(|event| match event {
        ModelEvent::Finished { usage, .. } => *usage,
        _ => None,
    });
    let said = Said {
        reasoning: &reasoning_of(&events),
        text: &text_of(&events),
        calls: &calls,
        usage: usage.map(|usage| (usage.input_tokens, usage.output_tokens)),
        error: error.as_ref().map(|error| error.code),
    };
    assert_eq!(said, expected, "{name}: {error:?}");
}

fn text(text: &str) -> Said<'_> {
    Said {
        text,
        ..Said::default()
    }
}

fn calls<'a>(calls: &'a [(&'a str, &'a str)]) -> Said<'a> {
    Said {
        calls,
        ..Said::default()
    }
}

#[tokio::test]
async fn an_unexpected_field_is_ignored() {
    for name in [
        "audio",
        "azure",
        "bignum",
        "calls-nullitem",
        "choices-null",
        "delta-string",
        "dup-key",
        "err-emptyobj",
        "err-emptystr",
        "err-false",
        "idx-float",
        "idx-str",
        "nan",
        "obj-escaped",
        "parts-object",
        "usage-empty-string",
    ] {
        check(name, text("Hello")).await;
    }
    check("finish-each", text("Hello you")).await;
    check("finish-null-str", text("Hello you")).await;
    check("refusal", text("I cannot help with that.")).await;
    check("end-empty", text("")).await;
    check("end-space", text(" \n")).await;
}

#[tokio::test]
async fn usage_never_fails_an_answer() {
    let counted = |read, written| Said {
        text: "Hello",
        usage: Some((read, written)),
        ..Said::default()
    };
    check("usage-both", counted(11, 5)).await;
    check("usage-both-whole", counted(11, 5)).await;
    check("usage-strings", counted(11, 5)).await;
    check("dup-key-usage", counted(1, 2)).await;
    // The server does not count the completion, so it is estimated.
    check("usage-first", counted(11, 1)).await;
}

#[tokio::test]
async fn nothing_after_the_end_fails_an_answer() {
    for name in [
        "end-garbage-after",
        "end-nofinish-done",
        "end-ping",
        "end-quoteddone",
        "end-usage-error",
    ] {
        check(name, text("Hello")).await;
    }
    check("end-null", text("Hello you")).await;
    let broken = |text, code| Said {
        text,
        error: Some(code),
        ..Said::default()
    };
    check(
        "end-nothing",
        broken("Half an answer is here.", ProblemCode::ModelProtocol),
    )
    .await;
    check(
        "sse-errevent-late",
        broken("Hello", ProblemCode::ModelFailed),
    )
    .await;
    check(
        "err-200json",
        Said {
            error: Some(ProblemCode::ModelFailed),
            ..Said::default()
        },
    )
    .await;
}

#[tokio::test]
async fn frames_and_characters() {
    for name in ["gzip", "sse-fields", "sse-pretty", "sse-singlenl"] {
        check(name, text("Hello")).await;
    }
    check("uni-badutf8", text("caf\u{FFFD} good text")).await;
    check("uni-crlfbom", text("Hello you")).await;
    check(
        "uni-split1",
        text("Привет, 世界 👩\u{200d}👩\u{200d}👧 — done"),
    )
    .await;
    check(
        "uni-lone",
        text("Before. Important text, forty-two \u{FFFD} and more words. After."),
    )
    .await;
    check(
        "uni-lone-whole",
        text("Important text, forty-two \u{FFFD} and more words."),
    )
    .await;
    check("uni-pairsplit", text("A rocket: 🚀 flies.")).await;
    check("uni-nul", text("a\u{FFFD}b")).await;
}

#[tokio::test]
async fn calls_in_any_numbering() {
    for name in [
        "calls-fragname",
        "calls-legacy",
        "calls-lmstudio",
        "calls-negindex",
        "calls-nofinish",
        "calls-object",
        "calls-strindex",
    ] {
        check(name, calls(&[A])).await;
    }
    for name in [
        "calls-idx0-ids",
        "calls-idx0-onechunk",
        "calls-sameid",
        "calls-sameid-idx0",
        "calls-whole-noid",
    ] {
        check(name, calls(SECOND_CALL)).await;
    }
    check(
        "calls-length",
        calls(&[("write_file", "{\"path\":\"/a.txt\",\"content\":\"half of")]),
    )
    .await;
}

/// The agent refuses them to the model.
#[tokio::test]
async fn calls_without_a_name_do_not_fail_the_answer() {
    check("emptyname", calls(&[(llm::openai::UNREADABLE, A.1)])).await;
    check("namenull", calls(&[(llm::openai::UNREADABLE, "{}")])).await;
    check("toolmeta", text("Hello")).await;
}

#[tokio::test]
async fn reasoning_in_any_markup() {
    let thought = |reasoning| Said {
        reasoning,
        text: "The answer is 4.",
        ..Said::default()
    };
    check("think-details", thought("hm hm")).await;
    check("think-thinking", thought(" hm hm ")).await;
    check("think-twice", thought("one\n\ntwo")).await;
    check("think-aftertool", thought("The tool says nothing.\n")).await;
    check(
        "reasoning-obj",
        Said {
            reasoning: "hm",
            text: "Hello",
            ..Said::default()
        },
    )
    .await;
}

#[tokio::test]
async fn markup_of_templates_is_calls() {
    let spaced = ("write_file", r#"{"path":"/a.txt","content":"x"}"#);
    for name in [
        "text-llama",
        "text-mistral",
        "text-qwencoder",
        "text-toolcall-tag",
    ] {
        check(name, calls(&[spaced])).await;
    }
}

/// Text is no command: the server was offered tools and accepted them.
#[tokio::test]
async fn text_that_looks_like_calls_stays_text() {
    check(
        "text-doc-quote",
        text(
            "The manual says:\n\n```json\n{\"name\": \"delete_file\", \"arguments\": {\"path\": \"/important.txt\"}}\n```\n\nDo not run this.",
        ),
    )
    .await;
    check(
        "text-example-fence",
        text(
            "The format of a call looks like this:\n\n```json\n{\"name\": \"write_file\", \"arguments\": {\"path\": \"/example.txt\", \"content\": \"x\"}}\n```\n\nThat is all.",
        ),
    )
    .await;
    check(
        "text-json-array",
        text(
            "```json\n[{\"name\": \"write_file\", \"arguments\": {\"path\": \"/one.txt\", \"content\": \"x\"}}, {\"name\": \"task\", \"arguments\": {\"description\": \"y\"}}]\n```",
        ),
    )
    .await;
    check(
        "text-json-answer",
        text("{\"name\": \"Ada\", \"arguments\": [1,2]}"),
    )
    .await;
    check(
        "text-json-ls",
        text("[\n  {\"name\": \"ls\"},\n  {\"name\": \"cd\"}\n]"),
    )
    .await;
}
