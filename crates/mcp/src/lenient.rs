//! Normalizes the messages of servers to the form that `rmcp` accepts. An unreadable response becomes an error of its
//! request instead of being dropped.

use rmcp::model::{ErrorCode, RequestId};
use serde_json::{Map, Value, json};

use crate::{
    connection::MESSAGE_LIMIT_BYTES,
    json::{Outline, parse},
};

/// Error code of an unreadable response. Servers do not use it.
pub(crate) const UNREADABLE: ErrorCode = ErrorCode(i32::MIN);

/// The messages in the received data: one, or those of a batch. Empty if there are none.
pub(crate) fn read(bytes: &[u8]) -> Vec<Value> {
    let text = String::from_utf8_lossy(bytes);
    let text = text
        .trim_start_matches('\u{FEFF}')
        .trim_matches(|c: char| c == '\0' || c.is_whitespace());
    match parse(text) {
        Some(Value::Array(batch)) => batch.into_iter().filter_map(message).collect(),
        Some(value) => message(value).into_iter().collect(),
        None => {
            let mut outline = Outline::default();
            outline.read(text.as_bytes());
            outline
                .answers()
                .map(|id| unreadable(&id, "it is not valid JSON"))
                .into_iter()
                .collect()
        }
    }
}

/// An error that replaces an unreadable response.
pub(crate) fn unreadable(id: &RequestId, why: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": UNREADABLE, "message": why}})
}

/// The same for a response beyond the size limit.
pub(crate) fn too_long(id: &RequestId) -> Value {
    unreadable(
        id,
        &format!("it is longer than {MESSAGE_LIMIT_BYTES} bytes"),
    )
}

/// Whether this is a response to a request.
pub(crate) fn is_answer(message: &Value) -> bool {
    message.get("result").is_some() || message.get("error").is_some()
}

fn message(value: Value) -> Option<Value> {
    let Value::Object(mut fields) = value else {
        return None;
    };
    let id = fields.remove("id").filter(|id| !id.is_null());
    let error = fields
        .remove("error")
        .filter(|error| !matches!(error, Value::Null | Value::Bool(false)));
    let result = fields.remove("result");
    let method = fields.remove("method").filter(Value::is_string);
    let mut message = Map::from_iter([("jsonrpc".to_owned(), json!("2.0"))]);
    match (error, result, method) {
        (Some(error), ..) => {
            message.insert("error".to_owned(), error_of(error));
        }
        (None, None | Some(Value::Null), Some(method)) => {
            message.insert("method".to_owned(), method);
            if let Some(mut params) = fields.remove("params").filter(|params| !params.is_null()) {
                without_nulls(&mut params);
                message.insert("params".to_owned(), params);
            }
        }
        (None, Some(mut result), _) => {
            complete_handshake(&mut result);
            message.insert("result".to_owned(), result);
        }
        (None, None, None) => {
            let id = serde_json::from_value(id?).ok()?;
            return Some(unreadable(&id, "it has neither a result nor an error"));
        }
    }
    message.extend(id.map(|id| ("id".to_owned(), id)));
    Some(Value::Object(message))
}

/// An error with a code and a sentence: some servers omit either, or have only a sentence.
fn error_of(mut error: Value) -> Value {
    without_nulls(&mut error);
    let code = match &error["code"] {
        Value::String(code) => code.parse().ok(),
        code => code.as_i64(),
    };
    let code = code
        .and_then(|code| i32::try_from(code).ok())
        .unwrap_or(ErrorCode::INTERNAL_ERROR.0);
    let said = error
        .as_str()
        .or_else(|| error["message"].as_str())
        .filter(|said| !said.trim().is_empty());
    let said = said.map_or_else(|| error.to_string(), str::to_owned);
    let mut whole = json!({"code": code, "message": said});
    if let Some(data) = error.get_mut("data") {
        whole["data"] = data.take();
    }
    whole
}

/// Completes the response to `initialize`: some servers send no `serverInfo` or no `capabilities`.
fn complete_handshake(result: &mut Value) {
    if !result.get("protocolVersion").is_some_and(Value::is_string) {
        return;
    }
    without_nulls(result);
    if !result["serverInfo"]["name"].is_string() {
        result["serverInfo"] = json!({"name": "", "version": ""});
    } else if !result["serverInfo"]["version"].is_string() {
        result["serverInfo"]["version"] = json!("");
    }
    match result.get_mut("capabilities") {
        // PHP encodes an empty object as a list.
        Some(Value::Object(capabilities)) => {
            capabilities.retain(|_, capability| capability.is_object())
        }
        _ => result["capabilities"] = json!({"tools": {}}),
    }
}

/// Removes null fields: many servers write optional fields that way, which the schema does not allow.
fn without_nulls(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|_, field| !field.is_null());
            fields.values_mut().for_each(without_nulls);
        }
        Value::Array(items) => items.iter_mut().for_each(without_nulls),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(said: &str, expected: &[Value]) {
        let messages = read(said.as_bytes());
        let expected: Vec<Value> = expected
            .iter()
            .cloned()
            .map(|mut message| {
                message["jsonrpc"] = json!("2.0");
                message
            })
            .collect();
        assert_eq!(messages, expected, "{said}");
    }

    #[test]
    fn messages_are_normalized() {
        check(
            r#"{"id":"q","method":"a/b","params":{"a":null,"b":[{"c":null}]},"error":null}"#,
            &[json!({"id": "q", "method": "a/b", "params": {"b": [{}]}})],
        );
        check(
            r#"{"id":null,"method":"a/b","params":null,"result":null}"#,
            &[json!({"method": "a/b"})],
        );
        check(
            r#"{"id":1,"method":"tools/call","result":{"a":null}}"#,
            &[json!({"id": 1, "result": {"a": null}})],
        );
        check(
            r#"{"id":1,"result":null}"#,
            &[json!({"id": 1, "result": null})],
        );
        check(
            r#"{"id":1,"result":{},"error":{"code":1,"message":"m","data":{"a":1}}}"#,
            &[json!({"id": 1, "error": {"code": 1, "message": "m", "data": {"a": 1}}})],
        );
        check(
            r#"[{"method":"a"},7,{"id":null},{"id":1,"result":{}}]"#,
            &[json!({"method": "a"}), json!({"id": 1, "result": {}})],
        );
        for nothing in [
            "",
            "  ",
            "null",
            "[]",
            "{}",
            "Listening…",
            r#"{"id":[1]}"#,
            r#"{"id":1,"method":"ping","#,
        ] {
            check(nothing, &[]);
        }
    }

    #[test]
    fn a_handshake_is_completed_and_other_results_stay_as_they_are() {
        let whole = |capabilities: Value, info: Value| json!({"id": 0, "result": {"protocolVersion": "v", "capabilities": capabilities, "serverInfo": info}});
        let unnamed = json!({"name": "", "version": ""});
        check(
            r#"{"id":0,"result":{"protocolVersion":"v"}}"#,
            &[whole(json!({"tools": {}}), unnamed.clone())],
        );
        check(
            r#"{"id":0,"result":{"protocolVersion":"v","capabilities":{"tools":{"a":null},"b":[],"c":true},"serverInfo":"x"}}"#,
            &[whole(json!({"tools": {}}), unnamed)],
        );
        check(
            r#"{"id":0,"result":{"capabilities":null}}"#,
            &[json!({"id": 0, "result": {"capabilities": null}})],
        );
    }
}
