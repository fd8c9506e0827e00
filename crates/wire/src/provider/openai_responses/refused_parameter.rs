//! Asking again without a parameter that the model does not take, as its server names it:
//! `{"error":{"code":"unsupported_parameter","param":"temperature",…}}`.

use serde_json::{Map, Value};

/// What may be left out of a request without changing what it asks for. Longer names stand first.
const OPTIONAL: [&str; 11] = [
    "reasoning.summary",
    "reasoning.effort",
    "reasoning",
    "include",
    "temperature",
    "top_p",
    "parallel_tool_calls",
    "max_output_tokens",
    "tool_choice",
    "text.format",
    "text",
];

/// A request that was changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestWithout {
    /// What is left out now.
    pub parameter: &'static str,
    /// The JSON to send instead.
    pub body: Vec<u8>,
}

/// The request `body` without the parameter that the server's answer (`status`, `error_body`) does not accept; `None` if
/// the answer names none that can be left out.
#[must_use]
pub fn without_refused_parameter(body: &[u8], status: u16, error_body: &str) -> Option<RequestWithout> {
    if !matches!(status, 400 | 422) {
        return None;
    }
    let said: Value = serde_json::from_str(error_body).ok()?;
    let error = said.get("error")?;
    let param = error.get("param").and_then(Value::as_str).unwrap_or_default();
    let message = error.get("message").and_then(Value::as_str).unwrap_or_default();
    // `include[0]`, or only in the message: `Unsupported parameter: 'top_p' is not supported with this model.`
    let named = |name: &&&str| {
        let rest = param.strip_prefix(**name);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['[', '.'])) || {
            param.is_empty() && message.contains(&format!("'{name}'"))
        }
    };
    let is_about_encryption = message.starts_with("Encrypted content is not supported");
    let parameter = match OPTIONAL.iter().find(named) {
        _ if is_about_encryption => "include",
        named => named?,
    };
    let mut fields: Map<String, Value> = serde_json::from_slice(body).ok()?;
    remove(&mut fields, parameter)?;
    let body = serde_json::to_vec(&fields).ok()?;
    Some(RequestWithout { parameter, body })
}

fn remove(fields: &mut Map<String, Value>, name: &str) -> Option<()> {
    let Some((outer, inner)) = name.split_once('.') else {
        return fields.shift_remove(name).map(drop);
    };
    let object = fields.get_mut(outer)?.as_object_mut()?;
    object.shift_remove(inner)?;
    if object.is_empty() {
        fields.shift_remove(outer);
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(param: &Value, message: &str, expected: Option<(&str, Value)>) {
        let body = json!({"model": "m", "reasoning": {"effort": "low", "summary": "auto"}, "top_p": 0.5,
            "include": ["reasoning.encrypted_content"], "input": "hi"});
        let said = json!({"error": {"message": message, "param": param, "code": "unsupported_parameter"}});
        let other = without_refused_parameter(body.to_string().as_bytes(), 400, &said.to_string());
        let Some((name, without)) = expected else { return assert_eq!(other, None) };
        let other = other.unwrap();
        assert_eq!(other.parameter, name);
        let mut wanted = body;
        remove(wanted.as_object_mut().unwrap(), name).unwrap();
        assert_eq!(serde_json::from_slice::<Value>(&other.body).unwrap(), wanted);
        assert!(wanted.pointer(without.as_str().unwrap()).is_none());
    }

    #[test]
    fn leaves_out_what_is_named() {
        let null = Value::Null;
        check(
            &null,
            "Unsupported parameter: 'top_p' is not supported with this model.",
            Some(("top_p", json!("/top_p"))),
        );
        check(
            &json!("reasoning.summary"),
            "Your organization must be verified to generate reasoning summaries.",
            Some(("reasoning.summary", json!("/reasoning/summary"))),
        );
        check(
            &json!("reasoning.effort"),
            "Unsupported value: 'none' is not supported with the 'gpt-5' model.",
            Some(("reasoning.effort", json!("/reasoning/effort"))),
        );
        check(
            &json!("include"),
            "Encrypted content is not supported with this model.",
            Some(("include", json!("/include"))),
        );
        check(&json!("include[0]"), "Invalid value", Some(("include", json!("/include"))));
        // Not in the request, not optional, or nothing named.
        check(&json!("temperature"), "x", None);
        check(&json!("input"), "x", None);
        check(&null, "No tool output found", None);
    }

    #[test]
    fn an_object_that_is_left_empty_goes_too() {
        let said = r#"{"error":{"message":"x","param":"reasoning.effort"}}"#;
        let without = without_refused_parameter(br#"{"reasoning":{"effort":"none"}}"#, 400, said).unwrap();
        assert_eq!(without.body, b"{}");
        assert_eq!(without_refused_parameter(br#"{"reasoning":{"effort":"none"}}"#, 500, said), None);
    }
}
