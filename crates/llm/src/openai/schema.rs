//! Schema mode, the request side: describes tools in text, and forces the answer to be a call or a reply.

use domain::{Message, message::arguments_value};
use serde_json::{Map, Value, json};

use super::plain;
use crate::ToolSpec;

/// The schema of an answer: a reply, or a call of one of the tools.
pub(crate) fn answer_schema(tools: &[ToolSpec]) -> Value {
    let mut definitions = Map::new();
    let mut choices = vec![json!({
        "type": "object",
        "properties": { "action": { "const": "reply" }, "text": { "type": "string" } },
        "required": ["action", "text"],
        "additionalProperties": false,
    })];
    choices.extend(tools.iter().map(|tool| {
        json!({
            "type": "object",
            "properties": {
                "action": { "const": "call" },
                "name": { "const": tool.name },
                "arguments": arguments_schema(tool, &mut definitions),
            },
            "required": ["action", "name", "arguments"],
            "additionalProperties": false,
        })
    }));
    let mut schema = json!({ "oneOf": choices });
    if !definitions.is_empty() {
        schema["$defs"] = Value::Object(definitions);
    }
    schema
}

/// A tool's own schema; its definitions move to the root, where references find them.
fn arguments_schema(tool: &ToolSpec, definitions: &mut Map<String, Value>) -> Value {
    let mut schema = tool.parameters.to_value();
    if let Some(fields) = schema.as_object_mut() {
        fields.remove("$schema");
        for key in ["$defs", "definitions"] {
            if let Some(Value::Object(own)) = fields.remove(key) {
                for (name, mut definition) in own {
                    point_to_root(&mut definition, &tool.name);
                    retain_shape(&mut definition);
                    definitions.insert(format!("{}.{name}", tool.name), definition);
                }
            }
        }
    }
    point_to_root(&mut schema, &tool.name);
    retain_shape(&mut schema);
    schema
}

/// Keywords besides the shape of the schema. Some servers unroll bounds into a grammar with a rule for each step:
/// llama.cpp overflows its stack on a text of at most 20,000 characters. Arguments are checked anyway.
const NON_SHAPE_KEYWORDS: [&str; 11] = [
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "format",
    "default",
    "description",
];

fn retain_shape(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            for key in NON_SHAPE_KEYWORDS {
                fields.remove(key);
            }
            for (key, value) in fields {
                match (key.as_str(), value) {
                    // The keys here are names, not keywords.
                    ("properties" | "patternProperties" | "$defs", Value::Object(named)) => {
                        named.values_mut().for_each(retain_shape);
                    }
                    // These are values.
                    ("const" | "enum" | "examples", _) => {}
                    (_, value) => retain_shape(value),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(retain_shape),
        _ => {}
    }
}

fn point_to_root(schema: &mut Value, tool: &str) {
    match schema {
        Value::Object(fields) => {
            for (key, value) in fields {
                match value {
                    Value::String(target) if key == "$ref" => {
                        for own in ["#/$defs/", "#/definitions/"] {
                            if let Some(name) = target.strip_prefix(own) {
                                *target = format!("#/$defs/{tool}.{name}");
                                break;
                            }
                        }
                    }
                    value => point_to_root(value, tool),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| point_to_root(item, tool)),
        _ => {}
    }
}

/// The schema in the form that most servers accept.
pub(crate) fn json_schema_format(schema: &Value) -> Value {
    json!({ "type": "json_schema", "json_schema": { "name": "answer", "schema": schema } })
}

/// The schema in the form of llama-cpp-python and older llama.cpp.
pub(crate) fn json_object_format(schema: &Value) -> Value {
    json!({ "type": "json_object", "schema": schema })
}

/// A caller's schema format in that form; `None` for another format.
pub(crate) fn as_object_format(format: &Value) -> Option<Value> {
    format
        .pointer("/json_schema/schema")
        .map(json_object_format)
}

/// The conversation in plain messages: the tools in the system text, calls as the JSON that the model is to write.
pub(crate) fn plain_messages(messages: &[Message], tools: &[ToolSpec]) -> Vec<Message> {
    plain::plain_messages(
        messages,
        instructions(tools),
        assistant_text,
        plain::result_of,
    )
}

fn instructions(tools: &[ToolSpec]) -> String {
    let mut text = String::from(
        "Answer with one JSON object and nothing else. To use a tool:\n\
         {\"action\":\"call\",\"name\":\"<tool>\",\"arguments\":{…}}\n\
         To answer the user, also after the result of a tool:\n\
         {\"action\":\"reply\",\"text\":\"<answer>\"}\n\
         Use a tool only where you need it, and never call one again whose result you have. The tools:",
    );
    for tool in tools {
        let ToolSpec {
            name,
            description,
            parameters,
        } = tool;
        text.push_str(&format!(
            "\n- {name}: {description} Arguments: {}",
            parameters.json()
        ));
    }
    text
}

fn assistant_text(message: &Message) -> String {
    let said = message.plain_text();
    let calls = message.tool_calls.iter().map(|call| {
        let arguments = arguments_value(&call.arguments);
        json!({ "action": "call", "name": call.name, "arguments": arguments }).to_string()
    });
    // The form allows either a reply or a call; text next to a call is left out.
    let lines: Vec<String> = if message.tool_calls.is_empty() {
        vec![json!({ "action": "reply", "text": said }).to_string()]
    } else {
        calls.collect()
    };
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::{Role, ToolCall};

    fn tool(name: &str, parameters: Value) -> ToolSpec {
        ToolSpec {
            name: name.into(),
            description: format!("Does {name}."),
            parameters: parameters.into(),
        }
    }

    #[test]
    fn each_tool_is_one_choice() {
        let schema = answer_schema(&[
            tool(
                "ls",
                json!({"type": "object", "properties": {"path": {"type": "string"}}}),
            ),
            tool(
                "plan",
                json!({
                    "$schema": "x",
                    "properties": {"todos": {"items": {"$ref": "#/$defs/Todo"}}},
                    "$defs": {"Todo": {"properties": {"after": {"$ref": "#/$defs/Todo"}}}},
                }),
            ),
        ]);
        assert_eq!(
            schema["oneOf"][0]["properties"]["action"],
            json!({"const": "reply"})
        );
        assert_eq!(
            schema["oneOf"][1]["properties"]["name"],
            json!({"const": "ls"})
        );
        assert_eq!(
            schema["oneOf"][2]["properties"]["arguments"],
            json!({"properties": {"todos": {"items": {"$ref": "#/$defs/plan.Todo"}}}})
        );
        assert_eq!(
            schema["$defs"],
            json!({"plan.Todo": {"properties": {"after": {"$ref": "#/$defs/plan.Todo"}}}})
        );
    }

    #[test]
    fn bounds_are_removed_and_property_names_kept() {
        let parameters = json!({
            "type": "object",
            "description": "All.",
            "properties": {
                "format": {"type": "string", "maxLength": 20_000, "minLength": 1},
                "maximum": {"type": ["integer", "null"], "minimum": 1, "format": "uint64", "default": null},
                "list": {"type": "array", "maxItems": 50, "items": {"enum": ["a", {"default": 1}]}},
            },
            "required": ["format"],
        });
        let schema = answer_schema(&[tool("t", parameters)]);
        assert_eq!(
            schema["oneOf"][1]["properties"]["arguments"],
            json!({
                "type": "object",
                "properties": {
                    "format": {"type": "string"},
                    "maximum": {"type": ["integer", "null"]},
                    "list": {"type": "array", "items": {"enum": ["a", {"default": 1}]}},
                },
                "required": ["format"],
            })
        );
    }

    #[test]
    fn history_becomes_alternating_plain_messages() {
        let call = |id: &str| ToolCall {
            id: id.into(),
            name: "ls".into(),
            arguments: r#"{"path":"/"}"#.into(),
        };
        let history = [
            Message::text(Role::System, "Be brief."),
            Message::text(Role::User, "What is there?"),
            Message {
                tool_calls: vec![call("a"), call("b")],
                ..Message::text(Role::Assistant, "")
            },
            Message::tool_result("a", "x.txt"),
            Message::tool_result("b", "y.txt"),
            Message::text(Role::Assistant, "Two \"files\"."),
        ];
        let plain = plain_messages(&history, &[tool("ls", json!({}))]);
        let texts: Vec<(Role, String)> = plain.iter().map(|m| (m.role, m.plain_text())).collect();
        assert_eq!(texts[0].0, Role::System);
        assert!(texts[0].1.contains("- ls: Does ls.") && texts[0].1.starts_with("Be brief.\n\n"));
        let line = r#"{"action":"call","name":"ls","arguments":{"path":"/"}}"#;
        assert_eq!(
            texts[1..],
            [
                (Role::User, "What is there?".to_owned()),
                (Role::Assistant, format!("{line}\n{line}")),
                (
                    Role::User,
                    "Result of ls:\nx.txt\n\nResult of ls:\ny.txt".to_owned()
                ),
                (
                    Role::Assistant,
                    r#"{"action":"reply","text":"Two \"files\"."}"#.to_owned()
                ),
            ]
        );
        assert!(
            plain
                .iter()
                .all(|m| m.tool_calls.is_empty() && m.tool_call_id.is_none())
        );
    }
}
