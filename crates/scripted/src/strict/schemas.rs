//! Validation of tool schemas with the servers' own error messages.

use serde_json::{Map, Value};

use super::{Rules, list, text_of};

/// Maximum number of tools accepted by OpenAI, Gemini and similar servers.
const MAX_TOOLS: usize = 128;

/// All schema keywords that Gemini supports.
const OF_GEMINI: [&str; 16] = [
    "$defs",
    "$ref",
    "additionalProperties",
    "anyOf",
    "default",
    "description",
    "enum",
    "items",
    "maxItems",
    "maximum",
    "minItems",
    "minimum",
    "prefixItems",
    "properties",
    "required",
    "type",
];

/// The schema validation of a kind of server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Validation {
    Claude,
    Gemini,
    OpenAi,
    /// The schema is converted to a grammar.
    Llama,
}

impl Validation {
    fn of(rules: Rules) -> Self {
        match rules {
            Rules::Anthropic | Rules::Bedrock => Self::Claude,
            Rules::Gemini | Rules::Vertex => Self::Gemini,
            Rules::ReasoningContent => Self::Llama,
            Rules::Responses | Rules::ReasoningDetails | Rules::ExtraContent => Self::OpenAi,
        }
    }
}

/// Validates the tools of a request. `unknown` is a keyword that this server rejects in addition to those that all of
/// its kind reject.
pub(super) fn check(body: &Value, rules: Rules, unknown: Option<&str>) -> Result<(), String> {
    let by = Validation::of(rules);
    let tools = match rules {
        Rules::Gemini | Rules::Vertex => list(
            &list(body, "tools").first().cloned().unwrap_or_default(),
            "functionDeclarations",
        )
        .to_vec(),
        Rules::Bedrock => list(&body["toolConfig"], "tools")
            .iter()
            .filter_map(|tool| tool.get("toolSpec").cloned())
            .collect(),
        // Of the others, only functions have a schema.
        _ => list(body, "tools")
            .iter()
            .filter(|tool| !is_of_server(tool))
            .cloned()
            .collect(),
    };
    if tools.len() > MAX_TOOLS && by != Validation::Claude {
        return Err(format!(
            "Invalid 'tools': array too long. Expected an array with maximum length {MAX_TOOLS}, but got an array with \
             length {} instead.",
            tools.len()
        ));
    }
    for (at, tool) in tools.iter().enumerate() {
        let (name, schema) = match rules {
            Rules::Anthropic => (text_of(tool, "name"), &tool["input_schema"]),
            Rules::Bedrock => (text_of(tool, "name"), &tool["inputSchema"]["json"]),
            Rules::Gemini | Rules::Vertex => (text_of(tool, "name"), &tool["parametersJsonSchema"]),
            Rules::Responses => (text_of(tool, "name"), &tool["parameters"]),
            _ => (
                text_of(&tool["function"], "name"),
                &tool["function"]["parameters"],
            ),
        };
        let is_refused =
            unknown.filter(|unknown| schema.to_string().contains(&format!("\"{unknown}\":")));
        let fault = top(schema, by).and_then(|()| within(schema, by)).err();
        let Some(fault) =
            fault.or_else(|| is_refused.map(|unknown| format!("'{unknown}' is not supported")))
        else {
            continue;
        };
        return Err(match rules {
            Rules::Anthropic => format!(
                "tools.{at}.custom.input_schema: JSON schema is invalid. It must match JSON Schema draft 2020-12 ({fault})"
            ),
            Rules::Bedrock => format!(
                "The value at toolConfig.tools.{at}.toolSpec.inputSchema.json is invalid. It must match JSON Schema draft \
                 2020-12 ({fault})"
            ),
            Rules::Gemini | Rules::Vertex => format!(
                "Invalid JSON payload received. Unknown name at 'tools[0].function_declarations[{at}].parameters': {fault}"
            ),
            _ => format!("Invalid schema for function '{name}': {fault}"),
        });
    }
    Ok(())
}

/// Whether it is a tool run by the provider, such as `web_search`.
fn is_of_server(tool: &Value) -> bool {
    tool.get("type").is_some_and(|kind| kind != "function") && tool.get("input_schema").is_none()
}

fn top(schema: &Value, by: Validation) -> Result<(), String> {
    if schema["type"] != "object" {
        return Err("schema must be a JSON Schema of 'type: \"object\"'".to_owned());
    }
    if !schema["properties"].is_object() {
        return Err("object schema missing properties".to_owned());
    }
    let refused = if by == Validation::Gemini {
        &["$ref"][..]
    } else {
        &["anyOf", "oneOf", "allOf", "enum", "not"]
    };
    if let Some(keyword) = refused
        .iter()
        .find(|keyword| schema.get(**keyword).is_some())
    {
        return Err(format!("schema must not have '{keyword}' at the top level"));
    }
    let is_plain = |name: &String| {
        (1..=64).contains(&name.len())
            && name
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte))
    };
    let odd = schema["properties"]
        .as_object()
        .into_iter()
        .flatten()
        .find(|(name, _)| !is_plain(name));
    match odd {
        Some((name, _)) if by == Validation::Claude => Err(format!(
            "property keys should match pattern '^[a-zA-Z0-9_.-]{{1,64}}$': {name}"
        )),
        _ => Ok(()),
    }
}

fn within(schema: &Value, by: Validation) -> Result<(), String> {
    let fields = match schema {
        Value::Object(fields) => fields,
        Value::Bool(_) if by == Validation::Claude => return Ok(()),
        schema => return Err(format!("{schema} is not of type 'object'")),
    };
    keywords(fields, by)?;
    for keyword in ["properties", "$defs", "definitions", "patternProperties"] {
        for schema in fields
            .get(keyword)
            .and_then(Value::as_object)
            .into_iter()
            .flat_map(Map::values)
        {
            within(schema, by)?;
        }
    }
    for keyword in ["anyOf", "oneOf", "allOf", "prefixItems"] {
        list(schema, keyword)
            .iter()
            .try_for_each(|schema| within(schema, by))?;
    }
    for keyword in ["items", "additionalProperties", "not"] {
        match fields.get(keyword) {
            None | Some(Value::Bool(_)) => {}
            Some(schema) => within(schema, by)?,
        }
    }
    Ok(())
}

fn keywords(fields: &Map<String, Value>, by: Validation) -> Result<(), String> {
    for (keyword, value) in fields {
        let fits = match keyword.as_str() {
            "type" => value.is_string() || value.as_array().is_some_and(|types| types.len() > 1),
            "description" | "title" | "pattern" | "format" | "$ref" => value.is_string(),
            "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" => value.is_number(),
            "required" | "enum" => value.is_array(),
            "properties" => value.is_object(),
            "patternProperties" => by != Validation::Claude,
            _ => true,
        };
        if !fits {
            return Err(format!("{value} is not valid under '{keyword}'"));
        }
        if by == Validation::Gemini && !OF_GEMINI.contains(&keyword.as_str()) {
            return Err(format!("Cannot find field: {keyword}"));
        }
    }
    if let Some(reference) = fields.get("$ref").and_then(Value::as_str)
        && !reference.starts_with("#/$defs/")
    {
        return Err(format!("references must start with #/$defs/: {reference}"));
    }
    let is_of_openai = matches!(by, Validation::OpenAi | Validation::Llama);
    let pattern = fields
        .get("pattern")
        .and_then(Value::as_str)
        .unwrap_or_default();
    if is_of_openai
        && ["(?=", "(?!", "(?<"]
            .iter()
            .any(|look| pattern.contains(look))
    {
        return Err("regex lookaround is not supported".to_owned());
    }
    let is_llama = by == Validation::Llama;
    if is_llama && !pattern.is_empty() && !(pattern.starts_with('^') && pattern.ends_with('$')) {
        return Err(
            "JSON schema conversion failed: Pattern must start with '^' and end with '$'"
                .to_owned(),
        );
    }
    if is_of_openai
        && fields.get("type").is_some_and(|kind| kind == "array")
        && !fields.contains_key("items")
    {
        return Err("array schema missing items".to_owned());
    }
    Ok(())
}
