//! Repairs malformed tool calls: misspelled names, and arguments that are nearly JSON. Only unambiguous errors are
//! repaired, and each repair is logged.

use domain::{event::NoticeLevel, message::arguments_value};
use json_repair::repaired_object;
use llm::meant_tool;
use serde_json::{Map, Value};

use crate::{
    answer::Answer,
    journal::Step,
    messages,
    tool::{Tool, Toolbox},
    turns::AgentContext,
};

/// Resolves a name written by the model to an offered tool.
pub(crate) fn meant_name(tools: &Toolbox, written: String) -> String {
    // Some callable tools are not offered.
    if tools.get(&written).is_some() {
        return written;
    }
    let names: Vec<&str> = tools
        .specs()
        .iter()
        .map(|spec| spec.name.as_str())
        .collect();
    meant_tool(&written, &names).map_or(written, str::to_owned)
}

/// The answer with repaired arguments in its calls. Repairs are logged, unless the answer itself comes from the log.
pub(crate) async fn with_meant_arguments(
    agent: &AgentContext,
    tools: &Toolbox,
    mut answer: Answer,
    step: &Step<'_>,
) -> Answer {
    for call in &mut answer.calls {
        let written = &mut call.written;
        let tool = tools.get(&written.name);
        if tool.is_none() && !tools.is_client(&written.name) {
            continue;
        }
        let Some(meant) = meant_arguments(&written.arguments, tool.map(|tool| &**tool)) else {
            continue;
        };
        written.arguments = meant.to_string();
        if !step.is_replayed() {
            let tool = written.name.clone();
            agent
                .notice(
                    NoticeLevel::Info,
                    messages::Runs::ArgumentsRepaired { tool },
                )
                .await;
        }
    }
    answer
}

/// The repaired arguments. `None` if they are valid already, or cannot be repaired.
fn meant_arguments(written: &str, tool: Option<&Tool>) -> Option<Value> {
    let fits = |arguments: &Value| tool.is_none_or(|tool| tool.check(arguments).is_ok());
    let (arguments, is_repaired) = match arguments_value(written) {
        Value::Object(arguments) => (arguments, false),
        _ => (repaired_object(written)?, true),
    };
    let whole = Value::Object(arguments);
    if fits(&whole) {
        return is_repaired.then_some(whole);
    }
    let coerced = tool
        .and_then(|tool| coerced(&whole, tool.parameters()))
        .filter(fits);
    coerced.or_else(|| is_repaired.then_some(whole))
}

/// Converts values to the types that the schema requires: lists, objects, numbers and booleans that were written as
/// strings. Removes `null` where a value may be absent. `None` if nothing changes.
fn coerced(arguments: &Value, schema: &Value) -> Option<Value> {
    let properties = schema.get("properties")?.as_object()?;
    let is_required = |name: &str| {
        let required = schema.get("required").and_then(Value::as_array);
        required.is_some_and(|names| names.iter().any(|required| required == name))
    };
    let mut changed = false;
    let mut meant = Map::new();
    for (name, value) in arguments.as_object()? {
        let types = properties.get(name).map(types_of).unwrap_or_default();
        let takes = |kind: &str| types.is_empty() || types.contains(&kind);
        match value {
            Value::Null if !takes("null") && !is_required(name) => changed = true,
            Value::String(text) if !takes("string") => {
                let parsed = serde_json::from_str::<Value>(text.trim()).ok();
                let parsed = parsed.filter(|parsed| types.iter().any(|kind| is_of(parsed, kind)));
                changed |= parsed.is_some();
                meant.insert(name.clone(), parsed.unwrap_or_else(|| value.clone()));
            }
            value => _ = meant.insert(name.clone(), value.clone()),
        }
    }
    changed.then_some(Value::Object(meant))
}

/// The types that a schema allows; empty if it does not specify any.
fn types_of(schema: &Value) -> Vec<&str> {
    match schema.get("type") {
        Some(Value::String(one)) => vec![one],
        Some(Value::Array(several)) => several.iter().filter_map(Value::as_str).collect(),
        _ => {
            let variants = ["anyOf", "oneOf"]
                .iter()
                .find_map(|of| schema.get(*of)?.as_array());
            let types: Vec<Vec<&str>> = variants.into_iter().flatten().map(types_of).collect();
            // A variant without a type may be a string.
            if types.iter().any(Vec::is_empty) {
                Vec::new()
            } else {
                types.concat()
            }
        }
    }
}

fn is_of(value: &Value, kind: &str) -> bool {
    match kind {
        "array" => value.is_array(),
        "object" => value.is_object(),
        "boolean" => value.is_boolean(),
        "number" => value.is_number(),
        "integer" => value.is_i64() || value.is_u64(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use llm::ToolSpec;
    use serde_json::json;

    use super::*;
    use crate::tool::ToolKind;

    fn tool() -> Tool {
        let parameters = json!({
            "type": "object",
            "properties": {
                "path": {"type": "string"},
                "todos": {"type": "array", "items": {"type": "object"}},
                "limit": {"type": ["integer", "null"]},
                "deep": {"anyOf": [{"type": "boolean"}, {"type": "object"}]},
                "any": {},
            },
            "required": ["path"],
        });
        let spec = ToolSpec {
            name: "t".into(),
            description: "T.".into(),
            parameters: parameters.into(),
        };
        Tool::from_outside(spec, ToolKind::REPEATABLE, |_, _| async {
            Ok(String::new())
        })
        .unwrap()
    }

    fn check(written: &str, meant: Option<Value>) {
        assert_eq!(meant_arguments(written, Some(&tool())), meant, "{written}");
    }

    #[test]
    fn nearly_json_is_repaired() {
        let meant = || Some(json!({"path": "a"}));
        check(r#"{"path":"a",}"#, meant());
        check("```json\n{\"path\":\"a\"}\n```", meant());
        check(r#""{\"path\":\"a\"}""#, meant());
        check(r#"{"path":"a"}{"path":"a"}"#, meant());
        check("{\"path\":\"a\nb\"}", Some(json!({"path": "a\nb"})));
        check(
            r#"{"path":"a \ud83d"}"#,
            Some(json!({"path": "a \u{FFFD}"})),
        );
        assert_eq!(meant_arguments("null", None), Some(json!({})));
        check(r#"{"path":"a"}{"path":"b"}"#, None);
        check(r#"{"path":"a"#, None);
    }

    #[test]
    fn values_in_strings_are_unwrapped_if_the_schema_wants_them() {
        check(
            r#"{"path":"a","todos":"[{\"x\":1}]"}"#,
            Some(json!({"path": "a", "todos": [{"x": 1}]})),
        );
        check(
            r#"{"path":"a","limit":"5"}"#,
            Some(json!({"path": "a", "limit": 5})),
        );
        check(
            r#"{"path":"a","deep":" true "}"#,
            Some(json!({"path": "a", "deep": true})),
        );
        check(r#"{"path":"a","todos":null}"#, Some(json!({"path": "a"})));
        check(r#"{"path":"[1]","any":"[1]","limit":null}"#, None);
        check(r#"{"path":"a","limit":"many"}"#, None);
        check(r#"{"path":null,"limit":"5"}"#, None);
        check(r#"{"limit":"5"}"#, None);
        check(r#"{"path":7}"#, None);
    }
}
