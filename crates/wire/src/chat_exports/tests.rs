//! What is a chat, and how a file is split into chats.

use serde_json::{Map, Value, json};

use super::*;

#[test]
fn invalid_chats_are_explained() {
    let many: Map<String, Value> = (0..=MAX_MESSAGES)
        .map(|number| (number.to_string(), json!({})))
        .collect();
    let deep = "[".repeat(100_000);
    let no_chat = |json: &str, why| (json.to_owned(), why);
    for (json, why) in [
        no_chat(&deep, Unreadable::NotAChat),
        no_chat(&format!("{{\"chat\":{deep}"), Unreadable::NotAChat),
        no_chat("7", Unreadable::NotAChat),
        no_chat("{}", Unreadable::NotAChat),
        no_chat("{\"mapping\":{}}", Unreadable::NoMessages),
        no_chat("{\"chat_messages\":[]}", Unreadable::NoMessages),
        no_chat("{\"conversationId\":\"c\"}", Unreadable::NoMessages),
        no_chat(
            "{\"conversationId\":\"c\",\"messages\":[\"66326f3f\"]}",
            Unreadable::NoMessages,
        ),
        no_chat(
            "{\"conversationId\":\"c\",\"messageId\":\"m\",\"text\":\"Hi\"}",
            Unreadable::SingleMessage,
        ),
        no_chat(
            "{\"chat\":{\"history\":{\"messages\":[]}}}",
            Unreadable::NoMessages,
        ),
        (
            json!({"chat": {"history": {"messages": many}}}).to_string(),
            Unreadable::TooManyMessages,
        ),
        (
            json!({"mapping": many}).to_string(),
            Unreadable::TooManyMessages,
        ),
        (
            format!("{{\"chat\":{{\"a\":[{}0]}}}}", "0,".repeat(1_000_001)),
            Unreadable::TooManyValues,
        ),
    ] {
        assert_eq!(Chat::read(json.as_bytes()), Err(why));
    }
}

#[test]
fn elements_are_split_at_any_chunking() {
    let whole = "\u{feff} [ {\"a\":\"]},\\\"[\"} ,[1,{}],7, \"x,]\\\\\", {}]  {\"behind\":1}";
    let expected = ["{\"a\":\"]},\\\"[\"}", "[1,{}]", "7", "\"x,]\\\\\"", "{}"];
    for size in 1..whole.len() {
        let mut elements = Elements::new(100);
        let mut all = Vec::new();
        whole
            .as_bytes()
            .chunks(size)
            .for_each(|piece| elements.feed(piece, &mut all));
        let all: Vec<String> = all
            .into_iter()
            .flatten()
            .map(|element| String::from_utf8(element).expect("text"))
            .collect();
        assert_eq!(
            (
                all.iter().map(|it| it.trim()).collect::<Vec<_>>(),
                elements.is_over()
            ),
            (expected.to_vec(), true)
        );
    }
    let mut elements = Elements::new(5);
    let mut all = Vec::new();
    elements.feed(b"[\"123456789\",\"12\",{\"a\":[[[[[[", &mut all);
    assert_eq!(
        (all, elements.is_over()),
        (vec![None, Some(b"\"12\"".to_vec())], false)
    );
    let mut elements = Elements::new(50);
    let mut all = Vec::new();
    elements.feed(b" {\"chat\":{}} [", &mut all);
    assert_eq!((all.len(), elements.is_over()), (1, true));
}

#[test]
fn objects_may_follow_each_other_or_be_inside_another() {
    let split = |mut elements: Elements, text: &str| {
        let mut all = Vec::new();
        elements.feed(text.as_bytes(), &mut all);
        let texts = all
            .into_iter()
            .flatten()
            .map(|it| String::from_utf8(it).expect("text"));
        (texts.collect::<Vec<_>>(), elements.is_over())
    };
    let two = vec!["{\"a\":1}".to_owned(), "{\"b\":2}".to_owned()];
    let lines = "{\"a\":1}\n{\"b\":2}\n";
    assert_eq!(split(Elements::new(100), lines), (two.clone(), true));
    let inside = "{\"conversations\" : [{\"a\":1},{\"b\":2}],\"c\":[{}]}";
    assert_eq!(split(Elements::in_object(100), inside), (two, true));
}

#[test]
fn times_are_understood_in_many_forms() {
    for (time, expected) in [
        (json!(1_700_000_000), Some(1_700_000_000_000)),
        (json!(1_700_000_000.5), Some(1_700_000_000_500)),
        (json!(1_700_000_000_123_i64), Some(1_700_000_000_123)),
        (json!("2023-11-14T22:13:20Z"), Some(1_700_000_000_000)),
        (
            json!("2023-11-14T23:13:20.25+01:00"),
            Some(1_700_000_000_250),
        ),
        (json!("2023-11-14T22:13:20"), Some(1_700_000_000_000)),
        (
            json!({"$date": "2023-11-14T22:13:20.000Z"}),
            Some(1_700_000_000_000),
        ),
        (
            json!("16:33:32 GMT+0200 (Central European Summer Time)"),
            None,
        ),
        (json!("99999-99-99T00:00:00Z"), None),
        (json!(null), None),
    ] {
        assert_eq!(fields::time(&time), expected, "{time}");
    }
}
