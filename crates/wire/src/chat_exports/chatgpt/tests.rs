//! Exports of ChatGPT, in the forms of different years.

use domain::{ChatId, MessageId, Outcome, RunId, laws};
use serde_json::json;

use super::{
    super::{Answer, Asset, Piece, as_run},
    *,
};

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

/// A chat of nodes in a row, with the root that exports have.
fn chain(messages: &[Value]) -> Value {
    let mut mapping =
        json!({"root": {"id": "root", "message": null, "parent": null, "children": ["n0"]}});
    for (at, message) in messages.iter().enumerate() {
        let parent = at
            .checked_sub(1)
            .map_or("root".to_owned(), |at| format!("n{at}"));
        mapping[format!("n{at}")] =
            json!({"id": format!("n{at}"), "parent": parent, "message": message});
    }
    json!({"conversation_id": "c", "title": "T", "create_time": 1_700_000_000.25, "mapping": mapping,
        "current_node": format!("n{}", messages.len() - 1), "default_model_slug": "gpt-5"})
}

fn node(role: &str, content: Value) -> Value {
    json!({"author": {"role": role, "name": null}, "content": content, "recipient": "all", "metadata": {}})
}

fn text(role: &str, text: &str) -> Value {
    node(role, json!({"content_type": "text", "parts": [text]}))
}

/// Role, text and parent of each message.
fn said(chat: &Chat) -> Vec<(Role, &str, Option<usize>)> {
    let row = |message: &'_ Message| (message.role, message.parent);
    let texts = chat.messages.iter().map(|message| message.text.as_str());
    let rows = chat.messages.iter().map(row);
    texts
        .zip(rows)
        .map(|(text, (role, parent))| (role, text, parent))
        .collect()
}

fn answer(chat: &Chat) -> &Answer {
    chat.messages[1].answer.as_ref().expect("it did something")
}

#[test]
fn branches_times_and_models_are_kept() {
    let node = |id: &str, parent: &str, role: &str, at: f64| {
        json!({"id": id, "parent": parent, "children": [], "message": {"author": {"role": role}, "create_time": at,
            "content": {"content_type": "text", "parts": [id]}, "metadata": {"model_slug": "gpt-4o"}}})
    };
    let chat = read(&json!({
        "title": "Tides", "id": "x", "conversation_id": "c1", "create_time": 1_700_000_000.5, "update_time": 1_700_000_009,
        "is_archived": true, "is_starred": null, "pinned_time": 1_700_000_009.0, "default_model_slug": "auto",
        "current_node": "a2", "mapping": {
            "a2": node("a2", "u1", "assistant", 1_700_000_003.0),
            "root": {"id": "root", "message": null, "parent": null, "children": ["u1", "u2"]},
            "u1": node("u1", "root", "user", 1_700_000_001.5),
            "a1": node("a1", "u1", "assistant", 1_700_000_002.0),
            // Its parent names it, but not the other way round.
            "u2": {"id": "u2", "message": node("u2", "", "user", 1_700_000_004.0)["message"]},
        }
    }));
    let [user, assistant] = [Role::User, Role::Assistant];
    assert_eq!(
        said(&chat),
        [
            (user, "u1", None),
            (assistant, "a2", Some(0)),
            (assistant, "a1", Some(0)),
            (user, "u2", None)
        ]
    );
    assert_eq!(
        (chat.id.as_str(), chat.title.as_str(), chat.current),
        ("c1", "Tides", Some(1))
    );
    assert_eq!((chat.pinned, chat.archived), (true, true));
    assert_eq!(
        (chat.created_at, chat.updated_at, chat.messages[0].at),
        (1_700_000_000_500, 1_700_000_009_000, 1_700_000_001_500)
    );
    assert_eq!(chat.messages[1].model.as_deref(), Some("gpt-4o"));
    assert!(
        chat.skipped.is_empty() && chat.messages.iter().all(|message| message.answer.is_none())
    );
}

#[test]
fn the_steps_of_an_answer_are_one_message() {
    let mut call = node(
        "assistant",
        json!({"content_type": "code", "language": "python", "text": "1+1"}),
    );
    call["recipient"] = json!("python");
    let mut result = node(
        "tool",
        json!({"content_type": "execution_output", "text": "2"}),
    );
    result["author"]["name"] = json!("python");
    result["metadata"] = json!({"aggregate_result": {"messages": [{"message_type": "image", "image_url": "file-service://file-Plot1"}]}});
    let mut recap = node(
        "assistant",
        json!({"content_type": "reasoning_recap", "content": "Thought for 7s"}),
    );
    recap["metadata"] = json!({"finished_duration_sec": 7, "model_slug": "gpt-5-thinking"});
    let chat = read(&chain(&[
        text("system", ""),
        node(
            "user",
            json!({"content_type": "user_editable_context", "user_profile": "Ada", "user_instructions": "Short"}),
        ),
        text("user", "1+1?"),
        node(
            "assistant",
            json!({"content_type": "thoughts", "thoughts": [
            {"summary": "Adding", "content": "One and one."}, {"summary": "Done", "content": ""}]}),
        ),
        recap,
        text("system", "hidden"),
        call,
        result,
        text("assistant", "It is 2."),
        text("user", "Thanks"),
    ]));
    let [user, assistant] = [Role::User, Role::Assistant];
    assert_eq!(
        said(&chat),
        [
            (user, "1+1?", None),
            (assistant, "It is 2.", Some(0)),
            (user, "Thanks", Some(1))
        ]
    );
    assert_eq!(chat.messages[1].model.as_deref(), Some("gpt-5-thinking"));
    let reasoning = "**Adding**\n\nOne and one.\n\nDone".to_owned();
    assert_eq!(
        answer(&chat).pieces,
        [
            Piece::Reasoning {
                text: reasoning,
                duration_ms: 7000
            },
            Piece::call("python", json!({"code": "1+1"}), Some("2".to_owned())),
            Piece::Text("It is 2.".to_owned()),
        ]
    );
    let plot = Asset {
        id: "file-Plot1".to_owned(),
        name: String::new(),
    };
    assert_eq!(chat.messages[1].assets, [plot]);
    assert_eq!(
        chat.skipped.into_iter().collect::<Vec<_>>(),
        [(Skipped::Hidden, 2)]
    );
}

#[test]
fn files_are_named_by_their_ids() {
    let picture =
        |pointer: &str| json!({"content_type": "image_asset_pointer", "asset_pointer": pointer});
    let mut question = node(
        "user",
        json!({"content_type": "multimodal_text", "parts": [
            picture("sediment://file_0a1b"), picture("file-service://file-Xy9"), picture("data:image/png;base64,AA=="), picture("../../etc/passwd"),
            "Compare", {"content_type": "audio_transcription", "text": "these two", "direction": "in"},
            {"content_type": "real_time_user_audio_video_asset_pointer", "audio_asset_pointer": {"asset_pointer": "sediment://file_s"}},
            {"content_type": "hologram"}, null,
        ]}),
    );
    question["metadata"] = json!({"attachments": [
        {"id": "file_0a1b", "name": "one.jpg", "mime_type": "image/jpeg"}, {"id": "file-Doc", "name": "a.pdf"}, {"name": "gone"},
    ]});
    let chat = read(&chain(&[question, text("assistant", "Alike")]));
    let asset = |id: &str, name: &str| Asset {
        id: id.to_owned(),
        name: name.to_owned(),
    };
    assert_eq!(
        chat.messages[0].assets,
        [
            asset("file_0a1b", "one.jpg"),
            asset("file-Xy9", ""),
            asset("file-Doc", "a.pdf")
        ]
    );
    assert_eq!(chat.messages[0].pictures, ["data:image/png;base64,AA=="]);
    assert_eq!(chat.messages[0].text, "Compare\nthese two");
    assert_eq!(
        chat.skipped.into_iter().collect::<Vec<_>>(),
        [
            (Skipped::File, 2),
            (Skipped::Recording, 1),
            (Skipped::Content("hologram".to_owned()), 1)
        ]
    );
}

#[test]
fn marks_become_numbers_of_sources() {
    let mut cited = text(
        "assistant",
        "High \u{e200}cite\u{e202}turn0search1\u{e202}turn0search2\u{e201} at \
        \u{e200}entity\u{e202}[\"place\",\"Saint-Malo\"]\u{e201}, \u{e200}url\u{e202}map\u{e202}https://m.example\u{e201}\
        \u{e200}i\u{e202}turn0image0\u{e201} and\u{e203} low 【4†source】 【9†x】 \u{e200}navlist",
    );
    cited["metadata"] = json!({
        "content_references": [
            {"matched_text": "\u{e200}cite\u{e202}turn0search1\u{e202}turn0search2\u{e201}", "type": "grouped_webpages", "alt": "([A](https://a.example))",
                "items": [{"title": "A", "url": "https://a.example", "snippet": "Tides"}, {"title": "B", "url": "https://b.example"}]},
            {"matched_text": " ", "type": "sources_footnote", "sources": []},
            {"matched_text": "\u{e200}x\u{e201}", "type": "webpage", "url": "javascript:alert(1)", "title": "Bad"},
        ],
        "citations": [{"start_ix": 1, "end_ix": 2, "metadata": {"type": "webpage", "title": "C", "url": "https://c.example",
            "text": "t", "extra": {"cited_message_idx": 4}}}],
    });
    let chat = read(&chain(&[text("user", "When?"), cited]));
    assert_eq!(
        chat.messages[1].text,
        "High [1][2] at Saint-Malo, [map](https://m.example) and low [3] 【9†x】 navlist"
    );
    let sources = &answer(&chat).sources;
    let urls: Vec<&str> = sources.iter().map(|source| source.url.as_str()).collect();
    assert_eq!(
        urls,
        [
            "https://a.example",
            "https://b.example",
            "https://c.example"
        ]
    );
    assert_eq!(sources[0].quote.as_deref(), Some("Tides"));
}

#[test]
fn old_tools_and_errors_are_understood() {
    let mut quote = node(
        "tool",
        json!({"content_type": "tether_quote", "title": "A", "url": "https://a.example", "text": "Twice."}),
    );
    quote["author"]["name"] = json!("browser");
    let mut image = node(
        "assistant",
        json!({"content_type": "text", "parts": ["{\"prompt\":\"a cat\"}"]}),
    );
    image["recipient"] = json!("dalle.text2im");
    let mut made = node(
        "tool",
        json!({"content_type": "multimodal_text", "parts": [
        {"content_type": "image_asset_pointer", "asset_pointer": "file-service://file-Cat"}]}),
    );
    made["author"]["name"] = json!("dalle.text2im");
    let mut hidden = text("assistant", "secret");
    hidden["metadata"] = json!({"is_visually_hidden_from_conversation": true});
    let chat = read(&chain(&[
        text("user", "Draw"),
        quote,
        image,
        made,
        hidden,
        node(
            "assistant",
            json!({"content_type": "code", "language": "unknown", "text": "x"}),
        ),
        node(
            "assistant",
            json!({"content_type": "future", "text": "New."}),
        ),
        node(
            "assistant",
            json!({"content_type": "system_error", "name": "Timeout", "text": "Too slow"}),
        ),
    ]));
    assert_eq!(chat.messages[1].text, "```\nx\n```\n\nNew.");
    let done = answer(&chat);
    assert_eq!(
        done.pieces[..2],
        [
            Piece::call("browser", json!({}), Some("Twice.".to_owned())),
            Piece::call(
                "dalle.text2im",
                json!({"prompt": "a cat"}),
                Some(String::new())
            ),
        ]
    );
    assert_eq!(done.fault.as_deref(), Some("Timeout: Too slow"));
    let (_, summary) = as_run(
        RunId::generate(),
        ChatId::generate(),
        MessageId::generate(),
        "m",
        5,
        done,
    );
    assert_eq!(summary.outcome, Some(Outcome::Failed));
    assert_eq!(chat.skipped[&Skipped::Hidden], 1);
}

#[test]
fn strange_nodes_harm_nothing() {
    let chat = read(&json!({"title": 7, "mapping": {
        "a": {"message": text("user", "a"), "parent": "b", "children": 5}, "b": {"message": text("user", "b"), "parent": "a"},
        "c": 7, "d": {"message": {"author": 5, "content": []}}, "e": {"message": {"author": {"role": "assistant"}}},
        "f": {"message": node("tool", json!({"parts": {}})), "parent": "f"},
    }, "current_node": {}}));
    assert_eq!(
        said(&chat),
        [(Role::User, "b", None), (Role::User, "a", Some(0))]
    );
    assert_eq!(chat.current, Some(1));
    // A branch inside an answer.
    let mut branched = chain(&[
        text("user", "Hi"),
        text("assistant", "One"),
        text("assistant", "Two"),
    ]);
    branched["mapping"]["x"] = json!({"parent": "n1", "message": text("assistant", "Other")});
    let chat = read(&branched);
    let parents: Vec<_> = chat
        .messages
        .iter()
        .map(|it| (it.text.as_str(), it.parent))
        .collect();
    assert_eq!(
        parents,
        [
            ("Hi", None),
            ("One", Some(0)),
            ("Two", Some(1)),
            ("Other", Some(1))
        ]
    );
}
