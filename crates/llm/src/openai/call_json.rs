//! Parses tool calls that a model wrote as JSON, tolerating a missing end and unreadable calls.

use serde_json::Value;

use super::{
    json_scan::{self, CALL_LIST},
    text_calls::Piece,
};
use crate::meant_tool;

/// The name of an unreadable call: as the name of the list of calls, it names no tool.
pub const UNREADABLE: &str = CALL_LIST;

/// How much of an unreadable call is kept, bytes.
const MAX_UNREADABLE_BYTES: usize = 4_000;

/// The calls in a JSON text, if it consists of calls of offered tools.
pub(crate) fn read_calls(json: &str, tools: &[String]) -> Option<Vec<Piece>> {
    read_value(&serde_json::from_str(json).ok()?, &|name| {
        tools.iter().any(|tool| tool == name)
    })
}

/// The same for a value, with names as read by [`meant_tool`].
pub(crate) fn read_calls_of(value: &Value, tools: &[String]) -> Option<Vec<Piece>> {
    let names: Vec<&str> = tools.iter().map(String::as_str).collect();
    read_value(value, &|name| meant_tool(name, &names).is_some())
}

/// The same for a model that was instructed to write calls: every entry of a list of calls is one, whichever tool it
/// names.
pub(crate) fn read_instructed_calls(json: &str, tools: &[String]) -> Option<Vec<Piece>> {
    let value: Value = serde_json::from_str(json).ok()?;
    if value.get(CALL_LIST).is_some() {
        return read_value(&value, &|_| true);
    }
    read_value(&value, &|name| tools.iter().any(|tool| tool == name))
}

fn read_value(value: &Value, is_tool: &dyn Fn(&str) -> bool) -> Option<Vec<Piece>> {
    match value {
        Value::Array(list) if !list.is_empty() => {
            list.iter().map(|call| read_call(call, is_tool)).collect()
        }
        Value::Object(fields) if fields.contains_key(CALL_LIST) => match fields.get(CALL_LIST)? {
            Value::Array(list) => list.iter().map(|call| read_call(call, is_tool)).collect(),
            call => Some(vec![read_call(call, is_tool)?]),
        },
        value => Some(vec![read_call(value, is_tool)?]),
    }
}

fn read_call(value: &Value, is_tool: &dyn Fn(&str) -> bool) -> Option<Piece> {
    let value = value
        .get("function")
        .filter(|inner| inner.is_object())
        .unwrap_or(value);
    let fields = value.as_object()?;
    let name = json_scan::NAME_KEYS
        .iter()
        .find_map(|key| fields.get(*key)?.as_str())?;
    if !is_tool(name) {
        return None;
    }
    let arguments = json_scan::ARGUMENT_KEYS
        .iter()
        .find_map(|key| fields.get(*key));
    let arguments = match arguments {
        Some(Value::Object(arguments)) => serde_json::to_string(arguments).ok()?,
        Some(Value::String(text)) if text.trim_start().starts_with('{') => text.clone(),
        Some(Value::Null) => "{}".to_owned(),
        Some(_) => return None,
        // An object with only a name may be anything, but here it can only be a call.
        None if fields.len() == 1 => "{}".to_owned(),
        None => return None,
    };
    Some(Piece::Call {
        name: name.to_owned(),
        arguments,
    })
}

/// The JSON with its missing closing brackets, if nothing else is missing: a value that broke off in the middle would
/// change its meaning.
pub(crate) fn completed(json: &str) -> Option<String> {
    let json = json
        .trim_end()
        .trim_end_matches("</tool_call>")
        .trim_end()
        .trim_end_matches('`')
        .trim_end();
    if !json.ends_with(['}', ']', '"']) {
        return None;
    }
    let mut open = Vec::new();
    let mut in_string = false;
    let mut escaped = false;
    for byte in json.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            _ if in_string => {}
            b'{' => open.push('}'),
            b'[' => open.push(']'),
            b'}' | b']' => _ = open.pop(),
            _ => {}
        }
    }
    (!in_string).then(|| json.chars().chain(open.into_iter().rev()).collect())
}

/// An unreadable call that can only be refused: under the name of the tool that it means, if that can be determined.
pub(crate) fn unreadable(json: &str, tools: &[String]) -> Piece {
    let json = json.trim();
    // Complete JSON could be taken for the tool's arguments.
    let is_broken = serde_json::from_str::<Value>(json).is_err();
    let name = Some(json).filter(|_| is_broken).and_then(written_name);
    let name = name
        .filter(|name| tools.iter().any(|tool| tool == name))
        .unwrap_or(UNREADABLE);
    let arguments = json[..json.floor_char_boundary(MAX_UNREADABLE_BYTES)].to_owned();
    // A cut text could be complete by chance, as `[]` is.
    let arguments = if is_broken {
        arguments
    } else {
        format!("{arguments} ?")
    };
    Piece::Call {
        name: name.to_owned(),
        arguments,
    }
}

/// The value of the key `name`.
fn written_name(json: &str) -> Option<&str> {
    let after = json
        .split_once("\"name\"")?
        .1
        .trim_start()
        .strip_prefix(':')?;
    Some(after.trim_start().strip_prefix('"')?.split_once('"')?.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_brackets_are_added() {
        for (half, whole) in [
            (r#"{"a": [{"b": "}"#, None),
            (r#"{"a": [{"b": "}""#, Some(r#"{"a": [{"b": "}"}]}"#)),
            (r#"{"a": {"b": {}"#, Some(r#"{"a": {"b": {}}}"#)),
            ("{\"a\": []\n```", Some(r#"{"a": []}"#)),
            (r#"{"a": 1"#, None),
            (r#"{"a": "x\""#, None),
            ("", None),
        ] {
            assert_eq!(completed(half).as_deref(), whole, "{half}");
        }
    }

    #[test]
    fn unreadable_calls_can_only_be_refused() {
        let tools = ["ls".to_owned()];
        for (json, name) in [
            (
                r#"{"tool_calls": [{"name": "ls", "parameters": {"path": /}}]}"#,
                "ls",
            ),
            (
                r#"{"tool_calls": [{"name": "rm", "parameters": {"path": /}}]}"#,
                UNREADABLE,
            ),
            (
                r#"{"tool_calls": [{"name": "ls", "parameters": 3}]}"#,
                UNREADABLE,
            ),
            (r#"{"tool_calls": "#, UNREADABLE),
        ] {
            let Piece::Call {
                name: read,
                arguments,
            } = unreadable(json, &tools)
            else {
                panic!("{json}")
            };
            assert_eq!(read, name, "{json}");
            assert!(
                domain::message::arguments_value(&arguments).is_string(),
                "{arguments}"
            );
        }
        let long = format!("{{\"tool_calls\": {}", "é".repeat(1 << 20));
        let Piece::Call { arguments, .. } = unreadable(&long, &tools) else {
            panic!()
        };
        assert!(arguments.len() <= MAX_UNREADABLE_BYTES);
    }
}
