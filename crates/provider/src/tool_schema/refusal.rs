//! Asking again without a schema that the server does not take, as far as it says which:
//! `{"error":{"message":"Invalid schema for function 'x': …","param":"tools[3].function.parameters"}}`.

use serde_json::{Map, Value};

use super::plain::plain;

/// Maximum length of a description of a tool with a plain schema, characters: OpenAI takes 1,024.
const MAX_DESCRIPTION_CHARS: usize = 1_000;

/// A request that was changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WithoutRefused {
    /// The tools that were changed, by name, and how.
    pub changes: Vec<(String, Change)>,
    /// The JSON to send instead.
    pub body: Vec<u8>,
}

/// What became of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Change {
    /// It has a plain schema.
    Plain,
    /// It is left out.
    LeftOut,
}

/// The request `body`, in any of the formats, after the server has refused it with `status` and what it `said`, the body of
/// its answer. The tool that it names gets a plain schema, and is left out where it has one; all get one where it names
/// none. `None` if the answer is about something else, or nothing is left to change.
#[must_use]
pub fn without_refused(body: &[u8], status: u16, said: &str) -> Option<WithoutRefused> {
    if !is_about_schemas(status, said) {
        return None;
    }
    let mut fields: Map<String, Value> = serde_json::from_slice(body).ok()?;
    let mut tools = Tools::of(&mut fields)?;
    let named = tools.named(&words_of(said));
    let mut changes: Vec<(String, Change)> = match named {
        Some(at) => tools.make_plain(at).into_iter().collect(),
        None => Vec::new(),
    };
    if changes.is_empty() {
        // Whatever it names, it is not that one.
        changes = (0..tools.list.len())
            .filter_map(|at| tools.make_plain(at))
            .collect();
    }
    if changes.is_empty() {
        let name = tools.remove(named?)?;
        changes.push((name, Change::LeftOut));
    }
    if tools.list.is_empty() {
        for name in ["tools", "tool_choice", "parallel_tool_calls", "toolConfig"] {
            fields.shift_remove(name);
        }
    }
    Some(WithoutRefused {
        changes,
        body: serde_json::to_vec(&fields).ok()?,
    })
}

/// Whether a server that answers with `status` and `said` has failed at the schema of a tool: llama.cpp takes a grammar that
/// it cannot read for a fault of its own.
#[must_use]
pub fn breaks_server(status: u16, said: &str) -> bool {
    let said = said.to_lowercase();
    status == 500
        && ["grammar", "json schema"]
            .iter()
            .any(|words| said.contains(words))
}

/// Whether a server refuses a request for a schema of a tool, and not for tools as such or for something else.
#[must_use]
pub(super) fn is_about_schemas(status: u16, said: &str) -> bool {
    const ABOUT: [&str; 12] = [
        "schema",
        "grammar",
        "lookaround",
        "look-around",
        "lookahead",
        "look-ahead",
        "lookbehind",
        "regex",
        "pattern",
        "function_declarations[",
        "functiondeclarations[",
        ".parameters",
    ];
    const OTHERS: [&str; 5] = [
        "response_format",
        "text.format",
        "responseschema",
        "response_schema",
        "output_config",
    ];
    let said = said.to_lowercase();
    let is_said = |words: &[&str]| words.iter().any(|word| said.contains(word));
    let names_tool = said.contains("tools[") || said.contains("tools.") || said.contains("tools/");
    let may_mean_it = match status {
        400 | 422 => is_said(&ABOUT) || names_tool,
        status => breaks_server(status, &said),
    };
    may_mean_it && !is_said(&OTHERS)
}

/// The message, and what else names a place in the request.
fn words_of(said: &str) -> String {
    let Ok(value) = serde_json::from_str::<Value>(said) else {
        return said.to_owned();
    };
    let mut words = String::new();
    let mut waiting = vec![&value];
    while let Some(value) = waiting.pop() {
        match value {
            Value::String(text) => {
                words.push_str(text);
                words.push('\n');
            }
            Value::Array(list) => waiting.extend(list),
            Value::Object(fields) => waiting.extend(fields.values()),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    words
}

/// The tools of a request in any format.
struct Tools<'a> {
    list: &'a mut Vec<Value>,
}

impl<'a> Tools<'a> {
    fn of(fields: &'a mut Map<String, Value>) -> Option<Self> {
        let list = if fields.contains_key("toolConfig") && fields.get("tools").is_none() {
            fields.get_mut("toolConfig")?.get_mut("tools")?
        } else {
            fields.get_mut("tools")?
        };
        // Gemini has all of them in one entry.
        let is_gemini = list.pointer("/0/functionDeclarations").is_some();
        let list = if is_gemini {
            list.pointer_mut("/0/functionDeclarations")?
        } else {
            list
        };
        Some(Self {
            list: list.as_array_mut()?,
        })
    }

    /// The tool that is named by its name or its place in the list.
    fn named(&self, words: &str) -> Option<usize> {
        let by_name = |tool: &Value| {
            let name = inner(tool)
                .get("name")
                .and_then(Value::as_str)
                .unwrap_or_default();
            !name.is_empty()
                && ["'", "\"", "`"]
                    .iter()
                    .any(|quote| words.contains(&format!("{quote}{name}{quote}")))
        };
        self.list
            .iter()
            .position(by_name)
            .or_else(|| place(words))
            .filter(|at| *at < self.list.len())
    }

    fn make_plain(&mut self, at: usize) -> Option<(String, Change)> {
        let tool = inner_mut(self.list.get_mut(at)?);
        let name = tool.get("name")?.as_str()?.to_owned();
        let schema = schema_mut(tool)?;
        let lowered = plain(schema);
        let is_new = *schema != lowered;
        *schema = lowered;
        let is_long = shorten_description(tool);
        (is_new || is_long).then_some((name, Change::Plain))
    }

    fn remove(&mut self, at: usize) -> Option<String> {
        let name = inner(self.list.get(at)?).get("name")?.as_str()?.to_owned();
        self.list.remove(at);
        Some(name)
    }
}

/// Where a tool's name and schema stand: at the top of its entry, or in an object in it.
fn inner(tool: &Value) -> &Value {
    tool.get("function")
        .or_else(|| tool.get("toolSpec"))
        .unwrap_or(tool)
}

fn inner_mut(tool: &mut Value) -> &mut Value {
    let within = ["function", "toolSpec"]
        .into_iter()
        .find(|name| tool.get(*name).is_some());
    match within {
        Some(name) => &mut tool[name],
        None => tool,
    }
}

fn schema_mut(tool: &mut Value) -> Option<&mut Value> {
    let places = [
        "/parameters",
        "/input_schema",
        "/parametersJsonSchema",
        "/inputSchema/json",
    ];
    let place = places
        .into_iter()
        .find(|place| tool.pointer(place).is_some())?;
    if tool.get("strict").is_some() {
        tool["strict"] = Value::Bool(false);
    }
    tool.pointer_mut(place)
}

fn shorten_description(tool: &mut Value) -> bool {
    let Some(Value::String(description)) = tool.get_mut("description") else {
        return false;
    };
    let Some((end, _)) = description.char_indices().nth(MAX_DESCRIPTION_CHARS) else {
        return false;
    };
    description.truncate(end);
    true
}

/// The place in `tools[3]`, `tools.3` or `tools/3`; Gemini's is that of the declaration.
fn place(words: &str) -> Option<usize> {
    let number = |after: &str| {
        let after = after.strip_prefix(['[', '.', '/'])?;
        let digits = after.bytes().take_while(u8::is_ascii_digit).count();
        after[..digits].parse().ok()
    };
    ["function_declarations", "functionDeclarations", "tools"]
        .iter()
        .find_map(|list| {
            words
                .match_indices(list)
                .find_map(|(at, _)| number(&words[at + list.len()..]))
        })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn schema() -> Value {
        json!({"type": "object", "properties": {"a": {"type": "string", "pattern": "^(?!x)"}}})
    }

    fn of_chat(names: &[&str]) -> Value {
        let tool = |name: &&str| json!({"type": "function", "function": {"name": name, "description": "", "parameters": schema()}});
        json!({"model": "m", "tools": names.iter().map(tool).collect::<Vec<_>>(), "tool_choice": "auto"})
    }

    fn check(body: &Value, status: u16, said: &str, expected: &[(&str, Change)]) -> Value {
        let changed = without_refused(body.to_string().as_bytes(), status, said);
        let Some(WithoutRefused { changes, body }) = changed else {
            assert_eq!(expected, [], "{said}");
            return Value::Null;
        };
        let changes: Vec<(&str, Change)> = changes
            .iter()
            .map(|(name, change)| (name.as_str(), *change))
            .collect();
        assert_eq!(changes, expected, "{said}");
        serde_json::from_slice(&body).unwrap()
    }

    #[test]
    fn the_tool_that_is_named_gets_a_plain_schema() {
        let body = of_chat(&["ls", "mail"]);
        for said in [
            r#"{"error":{"message":"Invalid schema for function 'mail': In context=('properties', 'a'), regex lookaround is not supported.","type":"invalid_request_error","param":"tools[1].function.parameters","code":"invalid_function_parameters"}}"#,
            r#"{"error":{"message":"Invalid JSON schema: regex lookaround is not supported. Found at $.properties.a.pattern.","param":"tools[1].function.parameters"}}"#,
            r#"{"error":"tools.1.function.parameters: bad pattern"}"#,
        ] {
            let changed = check(&body, 400, said, &[("mail", Change::Plain)]);
            assert_eq!(changed["tools"][0], body["tools"][0]);
            assert_eq!(
                changed["tools"][1]["function"]["parameters"],
                plain(&schema())
            );
        }
    }

    #[test]
    fn each_format_has_its_place_for_tools() {
        let tool = json!({"name": "mail", "description": "d", "input_schema": schema()});
        let said = r#"{"type":"error","error":{"type":"invalid_request_error","message":"tools.0.custom.input_schema: JSON schema is invalid. It must match JSON Schema draft 2020-12"}}"#;
        let changed = check(
            &json!({"tools": [tool]}),
            400,
            said,
            &[("mail", Change::Plain)],
        );
        assert_eq!(changed["tools"][0]["input_schema"], plain(&schema()));

        let declared = |name: &str| json!({"name": name, "parametersJsonSchema": schema()});
        let body = json!({"tools": [{"functionDeclarations": [declared("ls"), declared("mail")]}]});
        let said = r#"[{"error":{"code":400,"message":"* GenerateContentRequest.tools[0].function_declarations[1].parameters.properties[a].items: missing field.","status":"INVALID_ARGUMENT"}}]"#;
        check(&body, 400, said, &[("mail", Change::Plain)]);

        let spec = json!({"toolSpec": {"name": "mail", "inputSchema": {"json": schema()}}});
        let said = r#"{"message":"The value at toolConfig.tools.0.toolSpec.inputSchema.json.type must be one of the following: object."}"#;
        check(
            &json!({"toolConfig": {"tools": [spec]}}),
            400,
            said,
            &[("mail", Change::Plain)],
        );

        let tool =
            json!({"type": "function", "name": "mail", "parameters": schema(), "strict": true});
        let said = r#"{"error":{"message":"Invalid schema for function 'mail': schema must have type 'object'","param":"tools[0].parameters"}}"#;
        let changed = check(
            &json!({"tools": [tool]}),
            400,
            said,
            &[("mail", Change::Plain)],
        );
        assert_eq!(changed["tools"][0]["strict"], false);
    }

    #[test]
    fn all_tools_get_plain_schemas_if_none_is_named() {
        let both = [("ls", Change::Plain), ("mail", Change::Plain)];
        for (status, said) in [
            (
                400,
                r#"{"error":{"code":400,"message":"JSON schema conversion failed:\nPattern must start with '^' and end with '$'"}}"#,
            ),
            (
                500,
                r#"{"error":{"code":500,"message":"Failed to initialize samplers: failed to parse grammar"}}"#,
            ),
            (
                400,
                r#"{"error":{"message":"tools.function.parameters is not a valid moonshot flavored json schema, details: <At path 'root'>"}}"#,
            ),
            (
                400,
                "Grammar error: Invalid regex: look-around is not supported",
            ),
        ] {
            check(&of_chat(&["ls", "mail"]), status, said, &both);
        }
    }

    #[test]
    fn a_schema_refused_again_is_omitted() {
        let said = r#"{"error":{"message":"Invalid schema for function 'mail'"}}"#;
        let once = check(
            &of_chat(&["ls", "mail"]),
            400,
            said,
            &[("mail", Change::Plain)],
        );
        // Perhaps it is another one after all.
        let twice = check(&once, 400, said, &[("ls", Change::Plain)]);
        let without = check(&twice, 400, said, &[("mail", Change::LeftOut)]);
        assert_eq!(without["tools"].as_array().unwrap().len(), 1);
        check(&without, 400, said, &[]);
        let last = check(
            &check(&of_chat(&["mail"]), 400, said, &[("mail", Change::Plain)]),
            400,
            said,
            &[("mail", Change::LeftOut)],
        );
        assert_eq!(last, json!({"model": "m"}));
    }

    #[test]
    fn other_refusals_are_not_taken_for_it() {
        for (status, said) in [
            (
                400,
                r#"{"error":{"message":"Invalid schema for response_format 'a'"}}"#,
            ),
            (
                400,
                r#"{"error":{"message":"messages.1: tool_use ids were found without tool_result blocks"}}"#,
            ),
            (
                401,
                r#"{"error":{"message":"tools[0].function.parameters"}}"#,
            ),
            (500, r#"{"error":{"message":"internal error"}}"#),
        ] {
            check(&of_chat(&["ls"]), status, said, &[]);
        }
        check(&json!({"model": "m"}), 400, "bad schema", &[]);
    }

    #[test]
    fn long_descriptions_are_cut() {
        let mut body = of_chat(&["ls"]);
        body["tools"][0]["function"]["parameters"] = plain(&schema());
        body["tools"][0]["function"]["description"] = "é".repeat(3_000).into();
        let said = r#"{"error":{"message":"Invalid 'tools[0].function.description': string too long. Expected a string with maximum length 1024"}}"#;
        let changed = check(&body, 400, said, &[("ls", Change::Plain)]);
        assert_eq!(
            changed["tools"][0]["function"]["description"],
            "é".repeat(1_000)
        );
    }
}
