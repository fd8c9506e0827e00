//! Hostile bytes: random ones, JSON of random shape, and valid input with changes.

use proptest::{collection::vec, prelude::*, sample::select};
use serde_json::{Map, Value};

/// Inputs near these and far from them.
pub(crate) fn near(seeds: Vec<String>) -> impl Strategy<Value = Vec<u8>> {
    let texts = seeds.clone();
    let values: Vec<Value> = seeds
        .iter()
        .filter_map(|seed| serde_json::from_str(seed).ok())
        .collect();
    let values = if values.is_empty() {
        vec![Value::Null]
    } else {
        values
    };
    prop_oneof![
        1 => vec(any::<u8>(), 0..300),
        1 => json().prop_map(|value| value.to_string().into_bytes()),
        4 => (select(texts), vec(change(), 1..5)).prop_map(|(seed, changes)| changed(seed.into_bytes(), &changes)),
        6 => (select(values), vec((any::<usize>(), json()), 1..4)).prop_map(|(seed, parts)| replaced(seed, &parts)),
    ]
}

/// A change of bytes, at a relative position.
#[derive(Debug, Clone)]
enum Change {
    Remove(usize, usize),
    Insert(usize, Vec<u8>),
    Repeat(usize, usize),
}

fn change() -> impl Strategy<Value = Change> {
    let words: Vec<&[u8]> = vec![
        b"\n",
        b"\r",
        b"\r\n",
        b"\n\n",
        b"data: ",
        b"id: 1\n",
        b"event: e\n",
        b"\xEF\xBB\xBF",
        b"\xFF",
        b"\0",
        b"\\u0000",
        b"\\ud83d",
        b"\"",
        b"{",
        b"}",
        b"[",
        b"]",
        b",",
        b":",
        b"null",
        b"true",
        b"-1",
        b"1e309",
        b"0.1e-5",
        b"18446744073709551616",
        b"\"usage\":{\"prompt_tokens\":7}",
        b"[[[[[[[[[[[[[[[[[[[[",
    ];
    let word = select(words).prop_map(<[u8]>::to_vec);
    prop_oneof![
        (any::<usize>(), 1..20_usize).prop_map(|(at, size)| Change::Remove(at, size)),
        (
            any::<usize>(),
            prop_oneof![3 => word, 1 => vec(any::<u8>(), 1..6)]
        )
            .prop_map(|(at, bytes)| Change::Insert(at, bytes)),
        (any::<usize>(), 1..60_usize).prop_map(|(at, size)| Change::Repeat(at, size)),
    ]
}

fn changed(mut bytes: Vec<u8>, changes: &[Change]) -> Vec<u8> {
    for change in changes {
        let (Change::Remove(at, _) | Change::Insert(at, _) | Change::Repeat(at, _)) = change;
        let at = at % (bytes.len() + 1);
        match change {
            Change::Remove(_, size) => drop(bytes.drain(at..(at + size).min(bytes.len()))),
            Change::Insert(_, new) => drop(bytes.splice(at..at, new.iter().copied())),
            Change::Repeat(_, size) => {
                let again = bytes[at..(at + size).min(bytes.len())].to_vec();
                bytes.splice(at..at, again);
            }
        }
    }
    bytes
}

/// Any JSON, with the names and texts that decoders look for.
fn json() -> impl Strategy<Value = Value> {
    let text = prop_oneof![
        select(vec![
            "",
            "a",
            "é✓\u{2028}",
            "a\0b",
            "a\nb\r",
            "user",
            "assistant",
            "system",
            "tool",
            "text",
            "function",
            "call_1",
            "data:image/png;base64,AA==",
            "https://example.org/a",
            "<research_request>\nx",
            "{\"a\":1}",
            "{",
            "1.0",
        ])
        .prop_map(str::to_owned),
        ".{0,12}",
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        text.prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        let names = select(vec![
            "role",
            "content",
            "text",
            "type",
            "id",
            "messages",
            "model",
            "tool_calls",
            "toolCalls",
            "toolCallId",
            "function",
            "name",
            "arguments",
            "parts",
            "input",
            "call_id",
            "output",
            "error",
            "message",
            "usage",
            "choices",
            "delta",
            "stream",
            "tools",
            "parameters",
            "url",
            "image_url",
            "state",
        ]);
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            vec((names, inner), 0..5).prop_map(|fields| {
                let fields = fields
                    .into_iter()
                    .map(|(name, value)| (name.to_owned(), value));
                Value::from(fields.collect::<Map<_, _>>())
            }),
        ]
    })
}

/// Replaces values at some places of valid JSON.
fn replaced(mut seed: Value, parts: &[(usize, Value)]) -> Vec<u8> {
    for (at, new) in parts {
        let mut place = at % size(&seed);
        replace(&mut seed, &mut place, new);
    }
    seed.to_string().into_bytes()
}

fn size(value: &Value) -> usize {
    1 + match value {
        Value::Array(list) => list.iter().map(size).sum(),
        Value::Object(fields) => fields.values().map(size).sum(),
        _ => 0,
    }
}

/// Puts `new` at position `place`, counted from the outside. Returns whether it did.
fn replace(value: &mut Value, place: &mut usize, new: &Value) -> bool {
    if *place == 0 {
        *value = new.clone();
        return true;
    }
    *place -= 1;
    match value {
        Value::Array(list) => list.iter_mut().any(|inner| replace(inner, place, new)),
        Value::Object(fields) => fields.values_mut().any(|inner| replace(inner, place, new)),
        _ => false,
    }
}
