//! Decodes the caller's tools in a request, and the tool choice.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use crate::{
    conversation::{Checked, InvalidRequest, present, wrong},
    openai::{
        CallerTool,
        completion_request::{caller_tool, caller_tools, flag},
    },
};

/// The requested tools.
#[derive(Debug, Default)]
pub(super) struct Tools {
    pub(super) offered: Vec<CallerTool>,
    /// For the model's server, under Chat Completions names.
    pub(super) extra: Map<String, Value>,
    /// Whether one must be used.
    pub(super) forced: bool,
}

/// A function's name for the caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FunctionName {
    pub(super) namespace: Option<String>,
    pub(super) name: String,
    /// Whether it is a custom tool for the caller, which takes a text instead of arguments.
    pub(super) is_custom: bool,
}

impl FunctionName {
    /// One without a namespace.
    pub(super) fn plain(name: &str) -> Self {
        Self {
            namespace: None,
            name: name.to_owned(),
            is_custom: false,
        }
    }

    /// The one named by the `name` and `namespace` of a call.
    pub(super) fn of_call(call: &Map<String, Value>) -> Self {
        let text = |field: &str| call.get(field).and_then(Value::as_str).map(str::to_owned);
        let namespace = text("namespace").filter(|namespace| !namespace.is_empty());
        Self {
            namespace,
            ..Self::plain(&text("name").unwrap_or_default())
        }
    }

    /// The name for the model, as Chat Completions has no namespaces.
    pub(super) fn flat(&self) -> String {
        match &self.namespace {
            None => self.name.clone(),
            Some(namespace) => format!("{}__{}", namespace.trim_end_matches('_'), self.name),
        }
    }
}

/// The functions among these `tools`, by their names for the model.
pub(super) fn function_names(tools: Option<&Value>) -> HashMap<String, FunctionName> {
    let mut names = HashMap::new();
    for tool in tools.and_then(Value::as_array).into_iter().flatten() {
        let inner = tool["tools"]
            .as_array()
            .filter(|_| tool["type"] == NAMESPACE);
        match (tool["name"].as_str(), inner) {
            (Some(name), None) => {
                let named = FunctionName {
                    is_custom: tool["type"] == CUSTOM,
                    ..FunctionName::plain(name)
                };
                names.insert(name.to_owned(), named);
            }
            (Some(namespace), Some(inner)) => {
                for tool in inner {
                    let Some(name) = tool["name"].as_str() else {
                        continue;
                    };
                    let namespace = Some(namespace.to_owned());
                    let is_custom = tool["type"] == CUSTOM;
                    let name = FunctionName {
                        namespace,
                        name: name.to_owned(),
                        is_custom,
                    };
                    names.insert(name.flat(), name);
                }
            }
            (None, _) => {}
        }
    }
    names
}

/// The type of a group of functions.
const NAMESPACE: &str = "namespace";
/// The type of a tool that takes a text, often of a grammar.
const CUSTOM: &str = "custom";
/// The argument that holds the text of a custom tool, if the model's server has only functions.
pub(super) const CUSTOM_INPUT: &str = "input";

pub(super) fn read(fields: &Map<String, Value>) -> Checked<Tools> {
    let mut tools = Tools {
        offered: caller_tools(fields, "name", tool)?,
        ..Tools::default()
    };
    if tools.offered.is_empty() {
        check_not_only_hosted(fields)?;
    }
    tools.choose(present(fields, "tool_choice"))?;
    if present(fields, "parallel_tool_calls").is_some()
        && !flag(fields, "parallel_tool_calls", "parallel_tool_calls")?
        && !tools.offered.is_empty()
    {
        tools
            .extra
            .insert("parallel_tool_calls".to_owned(), json!(false));
    }
    Ok(tools)
}

/// One function, those of a namespace, or none: a tool that OpenAI runs is optional for the model, so other servers
/// omit it.
fn tool(value: &Value, at: &str) -> Checked<Vec<CallerTool>> {
    let Value::Object(fields) = value else {
        return wrong(&format!("`{at}`"), "an object with a `type`");
    };
    match fields.get("type").and_then(Value::as_str) {
        Some("function") => Ok(vec![caller_tool(fields, at)?]),
        Some(CUSTOM) => Ok(vec![custom_tool(fields, at)?]),
        Some(NAMESPACE) => namespace(fields, at),
        Some(_) => Ok(Vec::new()),
        None => wrong(&format!("`{at}.type`"), "\"function\""),
    }
}

/// A custom tool as a function of one text; the grammar, which other servers cannot enforce, is put in the description.
fn custom_tool(fields: &Map<String, Value>, at: &str) -> Checked<CallerTool> {
    let mut tool = caller_tool(fields, at)?;
    if let Some(format) = present(fields, "format")
        && format["type"] == "grammar"
    {
        let text = |name: &str| {
            format[name]
                .as_str()
                .or_else(|| format["grammar"][name].as_str())
        };
        let (Some(syntax), Some(definition)) = (text("syntax"), text("definition")) else {
            return wrong(
                &format!("`{at}.format`"),
                "a grammar with a `syntax` and a `definition`",
            );
        };
        let described =
            format!("`{CUSTOM_INPUT}` must match this {syntax} grammar:\n\n{definition}");
        tool.description = format!("{}\n\n{described}", tool.description)
            .trim_start()
            .to_owned();
    }
    tool.parameters = json!({
        "type": "object",
        "properties": {CUSTOM_INPUT: {"type": "string", "description": "The whole input of the tool, as plain text."}},
        "required": [CUSTOM_INPUT],
        "additionalProperties": false,
    });
    Ok(tool)
}

fn namespace(fields: &Map<String, Value>, at: &str) -> Checked<Vec<CallerTool>> {
    let Some(name) = fields.get("name").and_then(Value::as_str) else {
        return wrong(&format!("`{at}.name`"), "a string");
    };
    let Some(functions) = fields.get("tools").and_then(Value::as_array) else {
        return wrong(&format!("`{at}.tools`"), "a list of tools");
    };
    let mut tools = Vec::with_capacity(functions.len());
    for (number, function) in functions.iter().enumerate() {
        let at = format!("{at}.tools[{number}]");
        let Value::Object(function) = function else {
            return wrong(&format!("`{at}`"), "an object");
        };
        let mut tool = match function.get("type").and_then(Value::as_str) {
            None | Some("function") => caller_tool(function, &at)?,
            Some(CUSTOM) => custom_tool(function, &at)?,
            Some(_) => continue,
        };
        tool.name = FunctionName {
            namespace: Some(name.to_owned()),
            ..FunctionName::plain(&tool.name)
        }
        .flat();
        tools.push(tool);
    }
    Ok(tools)
}

/// Rejects a request with only OpenAI's own tools, which this server does not have.
fn check_not_only_hosted(fields: &Map<String, Value>) -> Checked<()> {
    let tools = present(fields, "tools")
        .and_then(Value::as_array)
        .into_iter()
        .flatten();
    let mut kinds = tools.map(|tool| tool["type"].as_str().unwrap_or_default());
    let Some((at, hosted)) = kinds
        .by_ref()
        .enumerate()
        .find(|(_, kind)| *kind != NAMESPACE)
    else {
        return Ok(());
    };
    let hosted: String = hosted
        .chars()
        .filter(|c| !c.is_control())
        .take(40)
        .collect();
    Err(InvalidRequest(format!(
        "`tools[{at}].type` must be \"function\": this server does not run {hosted}. Our agents have tools of their own, \
         without being told; a plain model has yours."
    )))
}

impl Tools {
    fn choose(&mut self, choice: Option<&Value>) -> Checked<()> {
        let wanted = "\"auto\", \"none\", \"required\" or the tool to use";
        let Some(choice) = choice else { return Ok(()) };
        match (choice.as_str(), choice.get("type").and_then(Value::as_str)) {
            (Some("auto"), _) => Ok(()),
            (Some("none"), _) => {
                self.offered.clear();
                Ok(())
            }
            (Some("required"), _) => self.force(json!("required")),
            (None, Some("function" | CUSTOM)) => {
                let name = choice
                    .as_object()
                    .map(|it| FunctionName::of_call(it).flat())
                    .unwrap_or_default();
                self.check_known(&name, "`tool_choice.name`")?;
                self.force(json!({"type": "function", "function": {"name": name}}))
            }
            (None, Some("allowed_tools")) => self.allow(choice),
            _ => wrong("`tool_choice`", wanted),
        }
    }

    fn force(&mut self, choice: Value) -> Checked<()> {
        if self.offered.is_empty() {
            return wrong(
                "`tool_choice`",
                "\"auto\" or \"none\" where there are no `tools`",
            );
        }
        self.extra.insert("tool_choice".to_owned(), choice);
        self.forced = true;
        Ok(())
    }

    /// Restricts the tools to these.
    fn allow(&mut self, choice: &Value) -> Checked<()> {
        let list = choice.get("tools").and_then(Value::as_array);
        let Some(list) = list else {
            return wrong("`tool_choice.tools`", "a list of tools");
        };
        let names = list
            .iter()
            .filter_map(Value::as_object)
            .map(|tool| FunctionName::of_call(tool).flat());
        let names: Vec<String> = names.filter(|name| !name.is_empty()).collect();
        for name in &names {
            self.check_known(name, "`tool_choice.tools`")?;
        }
        self.offered.retain(|tool| names.contains(&tool.name));
        match choice.get("mode").and_then(Value::as_str) {
            None | Some("auto") => Ok(()),
            Some("required") => self.force(json!("required")),
            Some(_) => wrong("`tool_choice.mode`", "\"auto\" or \"required\""),
        }
    }

    fn check_known(&self, name: &str, what: &str) -> Checked<()> {
        if self.offered.iter().any(|tool| tool.name == name) {
            return Ok(());
        }
        wrong(what, "the name of one of the `tools`")
    }
}
