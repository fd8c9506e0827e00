//! Exports of LibreChat: flat, recursive, and with parts.

use domain::{ChatId, MessageId, RunId, laws};
use serde_json::json;

use super::{
    super::{Piece, as_run},
    *,
};

fn read(chat: &str) -> Chat {
    let chat = Chat::read(chat.as_bytes()).expect("it is a chat");
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

fn message(id: &str, parent: &str, is_user: bool, second: u8) -> Value {
    json!({"messageId": id, "parentMessageId": parent, "conversationId": "c1", "isCreatedByUser": is_user, "error": false,
        "sender": if is_user { "User" } else { "GPT-4" }, "text": id, "createdAt": format!("2024-05-28T18:08:0{second}.500Z"),
        "model": if is_user { Value::Null } else { json!("gpt-4o") }, "endpoint": "azureOpenAI", "unfinished": false})
}

fn conversation(key: &str, messages: &Value) -> String {
    json!({"conversationId": "c1", "endpoint": "azureOpenAI", "title": "Tides", "exportAt": "08:12:16 GMT-0400 (EDT)",
        "branches": true, "recursive": key == "messagesTree", "options": {"model": "gpt-4-turbo"}, key: messages})
    .to_string()
}

const NO_PARENT: &str = "00000000-0000-0000-0000-000000000000";

#[test]
fn lists_and_trees_are_the_same() {
    let flat = json!([
        message("u1", NO_PARENT, true, 1),
        message("a1", "u1", false, 3),
        message("a2", "u1", false, 2),
        message("u2", NO_PARENT, true, 2),
    ]);
    let mut root = message("u1", NO_PARENT, true, 1);
    root["children"] = json!([message("a1", "u1", false, 3), message("a2", "u1", false, 2)]);
    let tree = json!([root, message("u2", NO_PARENT, true, 2)]);
    for exported in [
        conversation("messages", &flat),
        conversation("messages", &tree),
        conversation("messagesTree", &tree),
    ] {
        let chat = read(&exported);
        let said: Vec<_> = chat
            .messages
            .iter()
            .map(|it| (it.role, it.text.as_str(), it.parent))
            .collect();
        let [user, assistant] = [Role::User, Role::Assistant];
        assert_eq!(
            said,
            [
                (user, "u1", None),
                (assistant, "a1", Some(0)),
                (assistant, "a2", Some(0)),
                (user, "u2", None)
            ]
        );
        assert_eq!(
            (chat.id.as_str(), chat.title.as_str(), chat.current),
            ("c1", "Tides", Some(1))
        );
        assert_eq!(
            (chat.created_at, chat.updated_at),
            (1_716_919_681_500, 1_716_919_683_500)
        );
        assert_eq!(chat.messages[1].model.as_deref(), Some("gpt-4o"));
        assert!(chat.skipped.is_empty());
    }
}

#[test]
fn a_long_chat_is_nested_deeply() {
    let mut tree = String::new();
    for at in 0..5_000 {
        tree.push_str(&format!(
            "{{\"messageId\":\"{at}\",\"isCreatedByUser\":{},\"text\":\"t\",\"children\":[",
            at % 2 == 0
        ));
    }
    tree.push_str(&"]}".repeat(5_000));
    let chat = read(&format!(
        "{{\"conversationId\":\"c\",\"messagesTree\":[{tree}]}}"
    ));
    assert_eq!(
        (chat.messages.len(), chat.messages[4_999].parent),
        (5_000, Some(4_998))
    );
    let deep = format!(
        "{{\"conversationId\":\"c\",\"messages\":[{{\"isCreatedByUser\":true,\"text\":\"x\"}},{{\"a\":{}{}}}]}}",
        "[".repeat(9_000),
        "]".repeat(9_000)
    );
    let chat = read(&deep);
    assert_eq!(
        (chat.messages.len(), chat.skipped[&Skipped::Message]),
        (1, 1)
    );
}

#[test]
fn parts_become_the_steps_of_an_answer() {
    let mut asked = message("u1", NO_PARENT, true, 1);
    asked["files"] = json!([{"file_id": "f", "filename": "a.pdf", "filepath": "/uploads/f"}]);
    let mut answered = message("a1", "u1", false, 2);
    answered["model"] = json!("agent_123");
    answered["tokenCount"] = json!(7);
    answered["attachments"] = json!([{"type": "web_search", "web_search": {"organic": [{"title": "T", "link": "https://t.example", "snippet": "s"}]}},
        {"filename": "plot.png", "filepath": "/images/plot.png"}]);
    answered["content"] = json!([
        {"type": "think", "think": "Hm."},
        {"type": "text", "text": {"value": "First."}},
        {"type": "tool_call", "tool_call": {"id": "1", "name": "search", "args": "{\"q\":\"a\"}", "output": "found", "progress": 1, "type": "tool_call"}},
        {"type": "tool_call", "tool_call": {"type": "function", "function": {"name": "ls", "arguments": {"path": "/"}, "output": null}}},
        {"type": "tool_call", "tool_call": {"type": "code_interpreter", "code_interpreter": {"input": "1+1", "outputs": [{"type": "logs", "logs": "2"}]}}},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}},
        {"type": "image_file", "image_file": {"filepath": "/images/x.png"}},
        {"type": "agent_update", "agent_update": {}}, null, {"type": "hologram"},
        {"type": "text", "text": "Last."},
    ]);
    let mut failed = message("a2", "u1", false, 3);
    (failed["error"], failed["text"]) = (json!(true), json!("Quota"));
    let mut old = message("a3", "u1", false, 4);
    old["text"] = json!(":::thinking\nWell\n:::\n\nYes.");
    old["model"] = Value::Null;
    let chat = read(&conversation(
        "messages",
        &json!([asked, answered, failed, old]),
    ));
    let answer = |at: usize| chat.messages[at].answer.as_ref().expect("it did something");
    assert_eq!(
        answer(1).pieces,
        [
            Piece::Reasoning {
                text: "Hm.".to_owned(),
                duration_ms: 0
            },
            Piece::Text("First.".to_owned()),
            Piece::call("search", json!({"q": "a"}), Some("found".to_owned())),
            Piece::call("ls", json!({"path": "/"}), None),
            Piece::call(
                "code_interpreter",
                json!({"input": "1+1"}),
                Some("[{\"type\":\"logs\",\"logs\":\"2\"}]".to_owned())
            ),
            Piece::Text("Last.".to_owned()),
        ]
    );
    assert_eq!(answer(1).sources[0].url, "https://t.example");
    assert_eq!(answer(1).usage, Some(domain::Usage::of(0, 7)));
    assert_eq!(chat.messages[1].pictures, ["data:image/png;base64,AA=="]);
    assert_eq!(chat.messages[1].model.as_deref(), Some("gpt-4-turbo"));
    assert_eq!(answer(2).fault.as_deref(), Some("Quota"));
    assert_eq!(
        (chat.messages[3].text.as_str(), answer(3).pieces.len()),
        ("Yes.", 2)
    );
    assert_eq!(
        chat.skipped.into_iter().collect::<Vec<_>>(),
        [
            (Skipped::File, 3),
            (Skipped::Content("hologram".to_owned()), 1)
        ]
    );
}
