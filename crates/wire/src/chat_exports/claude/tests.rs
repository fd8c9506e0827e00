//! Exports of Claude, in the forms of different years.

use domain::{ChatId, MessageId, RunId, laws};
use serde_json::json;

use super::{super::as_run, *};

fn read(chat: &Value) -> Chat {
    let chat = Chat::read(chat.to_string().as_bytes()).expect("it is a chat");
    for answer in chat
        .messages
        .iter()
        .filter_map(|message| message.answer.as_ref())
    {
        let (log, _) = as_run(
            RunId::generate(),
            ChatId::generate(),
            MessageId::generate(),
            "m",
            5,
            answer,
        );
        assert_eq!(laws::check(&log), Ok(()));
    }
    chat
}

fn chat(messages: &Value) -> Value {
    json!({"uuid": "c1", "name": "Tides", "summary": "About tides", "created_at": "2025-12-08T17:00:00.000000Z",
        "updated_at": "2025-12-08T17:05:00Z", "account": {"uuid": "a"}, "chat_messages": messages})
}

#[test]
fn branches_and_times_are_kept() {
    let message = |id: &str, parent: Value, sender: &str, second: u8| {
        json!({"uuid": id, "parent_message_uuid": parent, "sender": sender, "text": "",
            "content": [{"type": "text", "text": id}], "created_at": format!("2025-12-08T17:00:0{second}Z")})
    };
    let none = json!(NO_PARENT);
    let mut exported = chat(&json!([
        message("u1", none.clone(), "human", 1),
        message("a1", json!("u1"), "assistant", 2),
        message("a2", json!("u1"), "assistant", 3),
        message("u2", json!("a2"), "human", 4),
        message("v1", none, "human", 5),
        message("v2", json!("gone"), "assistant", 6),
    ]));
    let read_ = read(&exported);
    let parents: Vec<_> = read_
        .messages
        .iter()
        .map(|it| (it.text.as_str(), it.parent))
        .collect();
    assert_eq!(
        parents,
        [
            ("u1", None),
            ("a1", Some(0)),
            ("a2", Some(0)),
            ("u2", Some(2)),
            ("v1", None),
            ("v2", Some(4))
        ]
    );
    assert_eq!(
        (read_.id.as_str(), read_.title.as_str(), read_.current),
        ("c1", "Tides", Some(5))
    );
    assert_eq!(
        (read_.created_at, read_.updated_at, read_.messages[0].at),
        (1_765_213_200_000, 1_765_213_500_000, 1_765_213_201_000)
    );
    // Other programs export more fields.
    exported["current_leaf_message_uuid"] = json!("a1");
    exported["is_starred"] = json!(true);
    exported["model"] = json!("claude-sonnet-4");
    let more = read(&exported);
    assert_eq!((more.current, more.pinned), (Some(1), true));
    assert_eq!(more.messages[1].model.as_deref(), Some("claude-sonnet-4"));
}

#[test]
fn old_messages_have_a_text_only() {
    let old = read(&chat(&json!([
        {"uuid": "1", "sender": "human", "text": "Hi"}, {"uuid": "2", "sender": "assistant", "text": "Hello"},
        {"uuid": "3", "sender": "human", "text": ""}, {"uuid": "4", "sender": "narrator", "text": "x"}, 7,
    ])));
    let said: Vec<_> = old
        .messages
        .iter()
        .map(|it| (it.text.as_str(), it.parent))
        .collect();
    assert_eq!(said, [("Hi", None), ("Hello", Some(0))]);
    assert!(old.messages.iter().all(|message| message.answer.is_none()));
    assert_eq!(old.skipped[&Skipped::Message], 2);
}

#[test]
fn blocks_become_the_steps_of_an_answer() {
    let read = read(&chat(&json!([
        {"uuid": "1", "sender": "human", "content": [{"type": "voice_note", "title": "Note", "text": "Search."}]},
        {"uuid": "2", "sender": "assistant", "text": "```\nThis block is not supported on your current device yet.\n```", "content": [
            {"type": "thinking", "thinking": "Hm.", "summaries": [{"summary": "x"}],
                "start_timestamp": "2025-12-08T17:00:00Z", "stop_timestamp": "2025-12-08T17:00:02.5Z"},
            {"type": "thinking", "thinking": "", "summaries": [{"summary": "Short"}]},
            {"type": "tool_use", "id": null, "name": "web_search", "input": {"query": "tides"}},
            {"type": "tool_result", "tool_use_id": null, "name": "web_search", "is_error": false, "content": [
                {"type": "knowledge", "title": "Tides", "url": "https://t.example", "text": "Twice."}, {"type": "image"},
                {"type": "text", "text": "Done"}, {"type": "local_resource", "name": "a.md"}, {"type": "hologram"}]},
            {"type": "tool_use", "id": "x", "name": "artifacts", "input": null},
            {"type": "tool_result", "tool_use_id": "x", "name": "artifacts", "is_error": true, "content": "No"},
            {"type": "token_budget"}, {"type": "flag", "flag": "f"}, {"type": "mystery"}, 7,
        ]},
        {"uuid": "3", "sender": "assistant", "content": [{"type": "text", "text": "Twice a day.",
            "citations": [{"start_index": 0, "end_index": 5, "details": {"type": "web_search_citation", "url": "https://u.example"}}]}]},
    ])));
    assert_eq!(read.messages[0].text, "Search.");
    let answer = read.messages[1].answer.as_ref().expect("it did something");
    assert_eq!(
        answer.pieces,
        [
            Piece::Reasoning {
                text: "Hm.".to_owned(),
                duration_ms: 2500
            },
            Piece::Reasoning {
                text: "Short".to_owned(),
                duration_ms: 0
            },
            Piece::call(
                "web_search",
                json!({"query": "tides"}),
                Some("Tides\nhttps://t.example\nTwice.\n\nDone\n\na.md".to_owned())
            ),
            Piece::call("artifacts", json!({}), Some("Error: No".to_owned())),
        ]
    );
    assert_eq!(
        (
            read.messages[1].text.as_str(),
            answer.sources[0].url.as_str()
        ),
        ("", "https://t.example")
    );
    let cited = read.messages[2].answer.as_ref().expect("it has a source");
    assert_eq!(cited.sources[0].url, "https://u.example");
    assert_eq!(
        read.skipped.into_iter().collect::<Vec<_>>(),
        [
            (Skipped::File, 2),
            (Skipped::Content(String::new()), 1),
            (Skipped::Content("hologram".to_owned()), 1),
            (Skipped::Content("mystery".to_owned()), 1),
        ]
    );
}

#[test]
fn extracted_texts_come_along_and_other_files_are_counted() {
    let read = read(&chat(&json!([
        {"uuid": "1", "sender": "human", "content": [], "text": "", "attachments": [
            {"file_name": "a.tsx", "file_type": "text/plain", "file_size": 5, "extracted_content": "hello"},
            {"file_name": "", "extracted_content": "pasted"}, {"file_name": "photo.png", "file_size": 9},
        ], "files": [{"file_uuid": "f", "file_name": "photo.png"}, {"file_name": "a.tsx"}, {"file_name": "b.pdf"}]},
    ])));
    let texts: Vec<_> = read.messages[0]
        .texts
        .iter()
        .map(|it| (it.name.as_str(), it.text.as_str()))
        .collect();
    assert_eq!(texts, [("a.tsx", "hello"), ("", "pasted")]);
    assert_eq!(read.skipped[&Skipped::File], 2);
}
