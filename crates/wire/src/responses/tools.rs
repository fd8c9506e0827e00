//! The tools of a request: those that the caller runs, and which of them may be used.

use serde_json::{Map, Value, json};

use crate::{
    conversation::{Checked, InvalidRequest, present, wrong},
    openai::{
        CallerTool,
        completion_request::{caller_tool, caller_tools, flag},
    },
};

/// What was asked for.
#[derive(Debug, Default)]
pub(super) struct Tools {
    pub(super) offered: Vec<CallerTool>,
    /// For the model's server, as chat completions name it.
    pub(super) extra: Map<String, Value>,
    /// Whether one has to be used.
    pub(super) forced: bool,
}

pub(super) fn read(fields: &Map<String, Value>) -> Checked<Tools> {
    let mut tools = Tools { offered: caller_tools(fields, "name", tool)?, ..Tools::default() };
    tools.choose(present(fields, "tool_choice"))?;
    if present(fields, "parallel_tool_calls").is_some()
        && !flag(fields, "parallel_tool_calls", "parallel_tool_calls")?
        && !tools.offered.is_empty()
    {
        tools.extra.insert("parallel_tool_calls".to_owned(), json!(false));
    }
    Ok(tools)
}

fn tool(value: &Value, at: &str) -> Checked<CallerTool> {
    let Value::Object(fields) = value else {
        return wrong(&format!("`{at}`"), "an object with a `type`");
    };
    match fields.get("type").and_then(Value::as_str) {
        Some("function") => caller_tool(fields, at),
        Some(hosted) => {
            let hosted: String = hosted.chars().filter(|c| !c.is_control()).take(40).collect();
            Err(InvalidRequest(format!(
                "`{at}.type` must be \"function\": this server does not run {hosted}. Our agents have tools \
                 of their own, without being told; a plain model has yours."
            )))
        }
        None => wrong(&format!("`{at}.type`"), "\"function\""),
    }
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
            (None, Some("function")) => {
                let name = choice.get("name").and_then(Value::as_str).unwrap_or_default();
                self.check_known(name, "`tool_choice.name`")?;
                self.force(json!({"type": "function", "function": {"name": name}}))
            }
            (None, Some("allowed_tools")) => self.allow(choice),
            _ => wrong("`tool_choice`", wanted),
        }
    }

    fn force(&mut self, choice: Value) -> Checked<()> {
        if self.offered.is_empty() {
            return wrong("`tool_choice`", "\"auto\" or \"none\" where there are no `tools`");
        }
        self.extra.insert("tool_choice".to_owned(), choice);
        self.forced = true;
        Ok(())
    }

    /// Only these of the tools.
    fn allow(&mut self, choice: &Value) -> Checked<()> {
        let list = choice.get("tools").and_then(Value::as_array);
        let Some(list) = list else { return wrong("`tool_choice.tools`", "a list of tools") };
        let names: Vec<&str> = list.iter().filter_map(|tool| tool["name"].as_str()).collect();
        for name in &names {
            self.check_known(name, "`tool_choice.tools`")?;
        }
        self.offered.retain(|tool| names.contains(&tool.name.as_str()));
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
