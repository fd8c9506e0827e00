//! Valid, old and malformed exports of Open WebUI.

use domain::{ChatId, MessageId, Outcome, RunId, laws};
use serde_json::json;

use super::{
    super::{Answer, Chat, MAX_MESSAGES, Piece, Skipped, as_run},
    *,
};

fn read(chat: &Value) -> Chat {
    Chat::read(chat.to_string().as_bytes()).expect("it is a chat")
}

/// Role, text and parent of each message.
fn said(chat: &Chat) -> Vec<(Role, &str, Option<usize>)> {
    chat.messages
        .iter()
        .map(|message| (message.role, message.text.as_str(), message.parent))
        .collect()
}

fn tree(messages: &Value, current: &str) -> Value {
    json!({"id": "c1", "user_id": "u", "title": "Tides", "created_at": 1_700_000_000, "updated_at": 1_700_000_100,
        "chat": {"title": "Inner", "models": ["llama3"], "history": {"messages": messages, "currentId": current}}})
}

#[test]
fn a_tree_keeps_its_branches() {
    let chat = read(&tree(
        &json!({
            // Not in the order of the conversation.
            "a2": {"id": "a2", "parentId": "u1", "childrenIds": [], "role": "assistant", "content": "Two", "timestamp": 1_700_000_003, "model": "other"},
            "u1": {"id": "u1", "parentId": null, "childrenIds": ["a1", "a2"], "role": "user", "content": "Hi", "timestamp": 1_700_000_001, "models": ["llama3"]},
            "a1": {"id": "a1", "parentId": "u1", "childrenIds": [], "role": "assistant", "content": "One", "timestamp": 1_700_000_002},
        }),
        "a1",
    ));
    assert_eq!((chat.title.as_str(), chat.id.as_str()), ("Tides", "c1"));
    assert_eq!(
        (chat.created_at, chat.updated_at),
        (1_700_000_000_000, 1_700_000_100_000)
    );
    let user = Role::User;
    let assistant = Role::Assistant;
    assert_eq!(
        said(&chat),
        [
            (user, "Hi", None),
            (assistant, "Two", Some(0)),
            (assistant, "One", Some(0))
        ]
    );
    assert_eq!(chat.current, Some(2));
    assert_eq!(chat.messages[1].model.as_deref(), Some("other"));
    assert_eq!(chat.messages[2].model.as_deref(), Some("llama3"));
    assert_eq!(chat.messages[0].at, 1_700_000_001_000);
    assert!(chat.messages.iter().all(|message| message.answer.is_none()));
}

#[test]
fn the_organization_of_a_chat_is_imported() {
    let with = |more: Value| {
        let mut chat = tree(
            &json!({"u1": {"id": "u1", "role": "user", "content": "Hi"}}),
            "u1",
        );
        chat.as_object_mut()
            .expect("it is an object")
            .extend(more.as_object().expect("so is this").clone());
        read(&chat)
    };
    let chat = with(
        json!({"pinned": true, "archived": 1, "folder_id": "f", "meta": {"tags": ["ocean_tides", 7]}}),
    );
    assert_eq!(
        (chat.pinned, chat.archived, chat.tags),
        (true, true, vec!["ocean tides".to_owned()])
    );
    let chat = with(json!({"pinned": null, "archived": "x", "meta": []}));
    assert_eq!(
        (chat.pinned, chat.archived, chat.tags),
        (false, false, vec![])
    );
}

#[test]
fn a_list_is_a_tree_without_branches() {
    let list = json!([
        {"role": "user", "content": "Hi"},
        {"role": "system", "content": "Be short."},
        {"role": "assistant", "content": [{"type": "text", "text": "Yes"}], "timestamp": "1700000000"},
    ]);
    for chat in [
        json!({"title": "Old", "models": ["m"], "timestamp": 1_700_000_000_000_u64, "messages": list}),
        json!({"title": "Old", "created_at": 1_700_000_000, "chat": {"models": ["m"], "messages": list, "history": {"messages": {}}}}),
        json!({"title": "Old", "created_at": 1_700_000_000_000_000_000_u64, "chat": {"models": ["m"], "messages": list, "history": null}}),
    ] {
        let chat = read(&chat);
        assert_eq!(
            said(&chat),
            [(Role::User, "Hi", None), (Role::Assistant, "Yes", Some(0))]
        );
        assert_eq!(
            (
                chat.created_at,
                chat.skipped[&Skipped::Message],
                chat.current
            ),
            (1_700_000_000_000, 1, Some(1))
        );
    }
    assert!(read(&json!({"chat": {"messages": []}})).messages.is_empty());
}

#[test]
fn circles_and_missing_parents_are_cut() {
    let message = |id: &str, parent: Value| json!({"role": "user", "content": id, "parentId": parent, "timestamp": 5});
    let chat = read(&tree(
        &json!({"a": message("a", json!("b")), "b": message("b", json!("c")), "c": message("c", json!("a")), "d": message("d", json!("d")),
            "e": message("e", json!("gone")), "f": message("f", json!(7))}),
        "gone",
    ));
    let parents: Vec<_> = chat
        .messages
        .iter()
        .map(|message| (message.text.as_str(), message.parent))
        .collect();
    assert_eq!(
        parents,
        [
            ("c", None),
            ("b", Some(0)),
            ("a", Some(1)),
            ("d", None),
            ("e", None),
            ("f", None)
        ]
    );
    assert_eq!(chat.current, Some(5));
    let deep: Map<String, Value> = (0..MAX_MESSAGES)
        .map(|number| {
            (
                number.to_string(),
                json!({"role": "user", "content": "x", "parentId": (number + 1).to_string()}),
            )
        })
        .collect();
    let chat = read(&tree(&Value::Object(deep), "0"));
    assert_eq!(
        (chat.messages.len(), chat.current),
        (MAX_MESSAGES, Some(MAX_MESSAGES - 1))
    );
}

#[test]
fn a_tree_may_be_a_list() {
    let message = |id: &str, parent: Value, role: &str| json!({"id": id, "parentId": parent, "role": role, "content": id});
    let list = json!([
        message("a", Value::Null, "user"),
        message("b", json!("a"), "assistant"),
        message("c", json!("a"), "assistant")
    ]);
    let chat = read(&json!({"chat": {"history": {"messages": list, "currentId": "b"}}}));
    let parents: Vec<Option<usize>> = chat.messages.iter().map(|message| message.parent).collect();
    assert_eq!(
        (parents, chat.current),
        (vec![None, Some(0), Some(0)], Some(1))
    );
}

#[test]
fn values_of_a_wrong_type_are_ignored_with_their_field() {
    let odd = json!({"role": "assistant", "content": 7, "timestamp": [], "model": {}, "output": {}, "sources": "x", "usage": [],
        "info": "x", "files": 3, "error": {}});
    let chat = read(&tree(
        &json!({"a": odd, "b": 5, "c": {"role": "root", "content": "x"}}),
        "a",
    ));
    assert_eq!(
        (chat.messages.len(), chat.skipped[&Skipped::Message]),
        (1, 2)
    );
}

fn answer(message: Value) -> (String, Answer) {
    let mut message = message;
    message["role"] = json!("assistant");
    let mut chat = read(&tree(&json!({"a": message}), "a"));
    let message = chat.messages.remove(0);
    let answer = message.answer.expect("it did something");
    let chat_id = ChatId::generate();
    let message_id = MessageId::generate();
    let (log, summary) = as_run(RunId::generate(), chat_id, message_id, "m", 5, &answer);
    assert_eq!(laws::check(&log), Ok(()));
    let last = answer.pieces.iter().rev().find_map(|piece| match piece {
        Piece::Text(text) => Some(text.clone()),
        _ => None,
    });
    assert_eq!(summary.answer, last.unwrap_or_default());
    (message.text, answer)
}

#[test]
fn reasoning_and_calls_are_read_from_the_text() {
    let text = "First.\n<details type=\"reasoning\" done=\"true\" duration=\"3\">\n<summary>Thought for 3 seconds</summary>\n\
        &gt; literally\n> 2 &lt; 3\n> &amp;lt;\n</details>\nThen.\n\
        <details type=\"tool_calls\" done=\"true\" id=\"c\" name=\"search\" arguments=\"&quot;{\\&quot;q\\&quot;: \\&quot;a&gt;b\\&quot;}&quot;\" result=\"&quot;found \\&quot;it\\&quot;&quot;\" files=\"\">\n\
        <summary>Tool Executed</summary>\n</details>\n\n<details><summary>Mine</summary>kept</details>\nDone. <details type=\"reasoning\">open";
    let (said, answer) = answer(json!({"content": text}));
    let [
        Piece::Text(first),
        Piece::Reasoning { text, duration_ms },
        Piece::Text(then),
        call,
        Piece::Text(done),
    ] = answer.pieces.as_slice()
    else {
        panic!("{:?}", answer.pieces)
    };
    assert_eq!(
        (first.as_str(), then.as_str(), *duration_ms),
        ("First.", "Then.", 3000)
    );
    assert_eq!(text, "> literally\n2 < 3\n&lt;");
    let expected = Piece::Call {
        name: "search".to_owned(),
        arguments: json!({"q": "a>b"}),
        result: Some("found \"it\"".to_owned()),
    };
    assert_eq!(*call, expected);
    assert!(
        done.starts_with("<details><summary>Mine") && done.ends_with("open"),
        "{done}"
    );
    assert_eq!(said, format!("First.\n\nThen.\n\n{done}"));
}

#[test]
fn newer_versions_have_output_items() {
    let (said, answer) = answer(json!({
        "content": "Derived.",
        "output": [
            {"type": "reasoning", "content": [{"type": "output_text", "text": "Hm."}], "duration": 1.5},
            {"type": "function_call", "call_id": "c1", "name": "ls", "arguments": "{\"path\":\"/\"}", "status": "completed"},
            {"type": "function_call", "call_id": "c2", "name": "cat", "arguments": "{broken"},
            {"type": "function_call_output", "call_id": "c1", "output": [{"type": "input_text", "text": "a.txt"}]},
            {"type": "open_webui:code_interpreter", "lang": "python", "code": "1+1", "output": {"stdout": "2"}},
            {"type": "made_up"}, 7,
            {"type": "message", "content": [{"type": "output_text", "text": "Two files."}]},
        ],
        "sources": [
            {"source": {"name": "Tides", "url": "https://example.org/tides"}, "document": ["Twice a day."], "metadata": [{"source": "x"}]},
            {"source": {"id": "f1", "name": "notes.pdf"}, "document": [], "metadata": []},
            {"source": {"name": "javascript:alert(1)", "url": "javascript:alert(1)"}}, {}, 7,
        ],
        "usage": {"prompt_tokens": 12, "completion_tokens": 3.0},
    }));
    assert_eq!(said, "Two files.");
    assert_eq!(answer.pieces.len(), 5);
    assert_eq!(
        answer.pieces[0],
        Piece::Reasoning {
            text: "Hm.".to_owned(),
            duration_ms: 1500
        }
    );
    let Piece::Call {
        arguments, result, ..
    } = &answer.pieces[1]
    else {
        panic!("{:?}", answer.pieces)
    };
    assert_eq!(
        (arguments, result.as_deref()),
        (&json!({"path": "/"}), Some("a.txt"))
    );
    let Piece::Call {
        arguments, result, ..
    } = &answer.pieces[2]
    else {
        panic!("{:?}", answer.pieces)
    };
    assert_eq!((arguments, result), (&json!("{broken"), &None));
    let urls: Vec<_> = answer
        .sources
        .iter()
        .map(|source| (source.title.as_str(), source.url.as_str()))
        .collect();
    assert_eq!(
        urls,
        [
            ("Tides", "https://example.org/tides"),
            ("notes.pdf", ""),
            ("javascript:alert(1)", "")
        ]
    );
    assert_eq!(answer.sources[0].quote.as_deref(), Some("Twice a day."));
    assert_eq!(answer.usage, Some(domain::Usage::of(12, 3)));
}

#[test]
fn older_versions_have_usage_and_errors_elsewhere() {
    let (_, figures) =
        answer(json!({"content": "x", "info": {"prompt_eval_count": 5, "eval_count": 1e300}}));
    assert_eq!(figures.usage, Some(domain::Usage::of(5, 1_000_000_000)));
    let (_, fault) = answer(json!({"content": "", "error": {"content": "No such model"}}));
    assert_eq!(fault.fault.as_deref(), Some("No such model"));
    let chat_id = ChatId::generate();
    let message_id = MessageId::generate();
    let (_, summary) = as_run(RunId::generate(), chat_id, message_id, "m", 5, &fault);
    assert_eq!(summary.outcome, Some(Outcome::Failed));
}

#[test]
fn only_pictures_that_are_in_the_file_come_along() {
    let message = json!({"role": "user", "content": [
            {"type": "text", "text": "Look"},
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}},
            {"type": "image_url", "image_url": {"url": "http://169.254.169.254/latest"}},
        ],
        "files": [{"type": "image", "url": "data:image/png;base64,AA=="}, {"type": "image", "url": "/api/v1/files/1"},
            {"type": "file", "name": "a.pdf"}, {"type": "image", "url": "data:text/html,x"}]});
    let chat = read(&tree(&json!({"a": message}), "a"));
    assert_eq!(chat.messages[0].text, "Look");
    assert_eq!(chat.messages[0].pictures, ["data:image/png;base64,AA=="]);
    assert_eq!(chat.skipped[&Skipped::File], 4);
}
