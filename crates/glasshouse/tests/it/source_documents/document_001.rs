//! Document 001, "Tool Call Streaming": the frames and elements that show tool calls, and OpenAI's chunks.

use std::collections::{BTreeMap, BTreeSet};

use reqwest::Method;
use scripted::{Behaviour, Reply};
use serde_json::{Value, json};

use super::{deep, fields, frames, say, says_and_calls, screens};
use crate::{
    openai::{CHAT, Door, streaming},
    sse::{Event, Events},
};

/// The flat frames of a run, each of which is a `message`.
async fn flat(door: &Door, words: &str) -> (String, Vec<Value>) {
    let (run, frames) = frames(door, "?format=tool_calls", &say(words)).await;
    assert!(
        frames
            .iter()
            .all(|frame| frame.name.as_deref() == Some("message")),
        "{frames:?}"
    );
    (run, frames.iter().map(Event::json).collect())
}

fn of<'a>(frames: &'a [Value], kind: &str) -> Vec<&'a Value> {
    frames
        .iter()
        .filter(|frame| frame["type"] == kind)
        .collect()
}

#[tokio::test]
async fn document_001_tool_call_frames_have_the_fields_of_the_document() {
    let door = Door::open(deep()).await;
    let (_, frames) = flat(&door, "Work").await;
    for (kind, expected) in [
        ("status", &["type", "content"][..]),
        ("message", &["type", "content"]),
        (
            "tool_call_start",
            &["type", "tool_call_id", "tool_name", "tool_args"],
        ),
        (
            "tool_call_complete",
            &["type", "tool_call_id", "tool_name", "result"],
        ),
        (
            "tool_call_error",
            &["type", "tool_call_id", "tool_name", "error"],
        ),
        ("done", &["type"]),
    ] {
        let of_kind = of(&frames, kind);
        assert!(!of_kind.is_empty(), "there is no {kind}: {frames:?}");
        let expected: BTreeSet<&str> = expected.iter().copied().collect();
        for frame in of_kind {
            assert_eq!(
                fields(frame).into_iter().collect::<BTreeSet<_>>(),
                expected,
                "{frame}"
            );
        }
    }
    let written = of(&frames, "tool_call_start")[0];
    assert_eq!(written["tool_name"], "write_file");
    assert_eq!(
        written["tool_args"],
        json!({"path": "/a.md", "content": "<b>one</b>"})
    );
    let failed = of(&frames, "tool_call_error")[0];
    assert!(
        failed["error"].as_str().unwrap().contains("/none.md"),
        "{failed}"
    );
    let started = frames.iter().position(|frame| {
        frame["type"] == "tool_call_start" && frame["tool_call_id"] == failed["tool_call_id"]
    });
    let ended = frames.iter().position(|frame| frame == failed);
    assert!(started < ended, "an error comes behind its start");
    assert_eq!(frames.last().unwrap(), &json!({"type": "done"}));
}

#[tokio::test]
async fn document_001_a_failing_model_is_an_error_frame() {
    let door = Door::open(Behaviour::always(Reply::error(400, "I am out of order"))).await;
    let (_, frames) = flat(&door, "Work").await;
    let [error] = of(&frames, "error")[..] else {
        panic!("{frames:?}")
    };
    assert!(
        error["content"]
            .as_str()
            .unwrap()
            .contains("I am out of order"),
        "{error}"
    );
    assert_eq!(frames.last().unwrap(), &json!({"type": "done"}));
}

#[tokio::test]
async fn document_001_long_results_are_cut_at_two_thousand_characters() {
    let lines = "a line of this long file\n".repeat(300);
    let door = Door::open(Behaviour::sequence(vec![
        Reply::calls(&[("write_file", json!({"path": "/long.md", "content": lines}))]),
        Reply::calls(&[("read_file", json!({"path": "/long.md"}))]),
        Reply::text("Read."),
    ]))
    .await;
    let (run, frames) = flat(&door, "Read").await;
    let read = of(&frames, "tool_call_complete")[1];
    let shown = read["result"].as_str().unwrap();
    assert_eq!(shown.chars().count(), 2_003);
    let path = format!(
        "/runs/{run}/calls/{}",
        read["tool_call_id"].as_str().unwrap()
    );
    let whole = door.server.get(&path, &door.key).await.json();
    let whole = whole["result"].as_str().unwrap();
    assert!(whole.len() > 7_000, "{}", whole.len());
    assert_eq!(
        shown,
        format!("{}...", whole.chars().take(2_000).collect::<String>())
    );
}

#[tokio::test]
async fn document_001_parallel_calls_are_told_apart_by_their_ids() {
    let names = ["one", "two", "three"];
    let calls = |name: &'static str, arguments: fn(&str) -> Value| {
        Reply::calls(&names.map(|of| (name, arguments(of))))
    };
    let door = Door::open(Behaviour::sequence(vec![
        calls(
            "write_file",
            |of| json!({"path": format!("/{of}.md"), "content": format!("This is {of}.")}),
        ),
        calls("read_file", |of| json!({"path": format!("/{of}.md")})),
        Reply::text("Read."),
    ]))
    .await;
    let (_, frames) = flat(&door, "Read").await;
    let mut asked = BTreeMap::new();
    for start in of(&frames, "tool_call_start") {
        let path = start["tool_args"]["path"].as_str().unwrap().to_owned();
        assert_eq!(
            asked.insert(
                start["tool_call_id"].to_string(),
                (start["tool_name"].clone(), path)
            ),
            None
        );
    }
    let ended = of(&frames, "tool_call_complete");
    assert_eq!((asked.len(), ended.len()), (6, 6));
    for end in ended {
        let (name, path) = &asked[&end["tool_call_id"].to_string()];
        assert_eq!(&end["tool_name"], name);
        let of = path.trim_start_matches('/').trim_end_matches(".md");
        let result = end["result"].as_str().unwrap();
        assert!(
            result.contains(path) || result.contains(&format!("This is {of}.")),
            "{path}: {result}"
        );
    }
}

#[tokio::test]
async fn document_001_text_between_calls_stands_in_its_place() {
    let write = |words: &str, path: &str| {
        says_and_calls(
            words,
            &[("write_file", json!({"path": path, "content": "x"}))],
        )
    };
    for format in ["tool_calls", "markup", "details", "details&replace=true"] {
        let replies = vec![
            write("First this.", "/a.md"),
            write("Then that.", "/b.md"),
            Reply::text("Done now."),
        ];
        let door = Door::open(Behaviour::sequence(replies)).await;
        let (_, frames) = frames(&door, &format!("?format={format}"), &say("Write")).await;
        let whole = match format {
            "tool_calls" => frames.iter().map(|frame| frame.data.as_str()).collect(),
            _ => screens(&frames).pop().unwrap(),
        };
        // `markup` shows results and no arguments, so the file is found by its name there.
        let mut from = 0;
        for words in ["First this.", "a.md", "Then that.", "b.md", "Done now."] {
            let at = whole[from..]
                .find(words)
                .unwrap_or_else(|| panic!("{format}: no {words} there: {whole}"));
            from += at + words.len();
        }
    }
}

#[tokio::test]
async fn document_001_details_elements_are_those_of_open_webui() {
    let door = Door::open(Behaviour::sequence(vec![
        Reply::calls(&[
            ("write_file", json!({"path": "/a.md", "content": "<b>"})),
            ("ls", json!({})),
        ]),
        Reply::text("Written."),
    ]))
    .await;
    let (_, frames) = frames(&door, "?format=details&replace=true", &say("Write")).await;
    let screens = screens(&frames);
    let arguments =
        "{&quot;path&quot;:&quot;/a.md&quot;,&quot;content&quot;:&quot;&lt;b&gt;&quot;}";
    let other = "{&quot;content&quot;:&quot;&lt;b&gt;&quot;,&quot;path&quot;:&quot;/a.md&quot;}";
    let is_element = |screen: &String, done: bool, rest: &str, summary: &str| {
        [arguments, other].iter().any(|arguments| {
            let tag = format!("<details type=\"tool_calls\" done=\"{done}\" id=\"c1\" name=\"write_file\" arguments=\"{arguments}\"{rest}");
            screen.contains(&tag) && screen.contains(&format!("<summary>{summary}</summary>\n</details>"))
        })
    };
    assert!(
        screens
            .iter()
            .any(|screen| is_element(screen, false, ">", "Executing...")),
        "{screens:?}"
    );
    let last = screens.last().unwrap();
    assert!(
        is_element(last, true, " result=\"&quot;", "Tool Executed"),
        "{last}"
    );
    // A finished element stands where the pending one stood.
    for screen in &screens {
        assert!(
            screen.matches("id=\"c1\"").count() <= 1 && screen.matches("id=\"c2\"").count() <= 1,
            "{screen}"
        );
    }
    assert!(
        !last.contains("done=\"false\"") && last.ends_with("Written."),
        "{last}"
    );
}

/// A program with tools of its own gets calls in OpenAI's pieces: name first, arguments by index, and the reason last.
#[tokio::test]
async fn document_001_openai_tool_calls_name_the_tool_first_and_go_by_index() {
    let cities = ["Paris", "Rome"];
    let calls = Reply::calls(&cities.map(|city| ("weather", json!({ "city": city }))));
    let door = Door::open(Behaviour::always(calls)).await;
    let weather = json!({"type": "function", "function": {"name": "weather", "parameters": {"type": "object"}}});
    for model in ["glasshouse/agent", "scripted"] {
        let mut body = streaming(model, "How is it?");
        body["tools"] = json!([weather]);
        let request = door
            .server
            .request(Method::POST, CHAT, &door.key)
            .json(&body);
        let all = Events::of(request.send().await.unwrap()).rest().await;
        assert_eq!(all.last().unwrap().data, "[DONE]");
        let chunks: Vec<Value> = all[..all.len() - 1].iter().map(Event::json).collect();
        assert_eq!(
            chunks[0]["choices"][0]["delta"]["role"], "assistant",
            "{model}: {}",
            chunks[0]
        );
        let mut arguments: BTreeMap<u64, String> = BTreeMap::new();
        for chunk in &chunks {
            let Some(pieces) = chunk["choices"][0]["delta"]["tool_calls"].as_array() else {
                continue;
            };
            for piece in pieces {
                let index = piece["index"].as_u64().unwrap();
                let text = piece["function"]["arguments"].as_str().unwrap();
                if let Some(known) = arguments.get_mut(&index) {
                    assert!(
                        piece["id"].is_null() && piece["function"]["name"].is_null(),
                        "{model}: {piece}"
                    );
                    known.push_str(text);
                } else {
                    assert!(piece["id"].is_string(), "{model}: {piece}");
                    assert_eq!(
                        (&piece["type"], &piece["function"]["name"]),
                        (&json!("function"), &json!("weather"))
                    );
                    assert_eq!(text, "", "{model}: {piece}");
                    arguments.insert(index, String::new());
                }
            }
        }
        let heard: Vec<Value> = arguments
            .values()
            .map(|text| serde_json::from_str(text).unwrap())
            .collect();
        assert_eq!(heard, cities.map(|city| json!({ "city": city })), "{model}");
        let reasons: Vec<&str> = chunks
            .iter()
            .filter_map(|chunk| chunk["choices"][0]["finish_reason"].as_str())
            .collect();
        assert_eq!(reasons, ["tool_calls"], "{model}");
    }
}
