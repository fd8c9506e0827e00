//! Prompt mode, the request side: describes tools with a template, and renders earlier calls in the format that the
//! model is to write.

use domain::{Message, Part, Role, ToolCall, message::arguments_value};
use serde_json::{Value, json};

use super::{call_json::UNREADABLE, plain, text_calls::CallSyntax};
use crate::{ToolPrompt, ToolSpec};

/// The reply to a call that could not be parsed.
const NOT_READ: &str = "Your call could not be read. To call a tool, write this JSON and nothing else: \
    {\"tool_calls\":[{\"name\":\"<tool>\",\"parameters\":{…}}]}. To answer the user, write the answer in words.";

/// Added after the newest results: small models otherwise repeat calls whose results they have, most of all for code.
const RESULTS_END: &str =
    "\n\n[Answer the user with this, in words. Only where something is still missing, call again.]";
const CODE_RESULTS_END: &str = "\n\nNow answer my question in words, without code. Only where it failed or something is still \
    missing, run more.";
const LAST_RESULTS_END: &str = "\n\n[Answer the user with this, in words.]";

/// The conversation in plain messages, with the tools in the system text.
pub(crate) fn plain_messages(
    messages: &[Message],
    tools: &[ToolSpec],
    prompt: &ToolPrompt,
) -> Vec<Message> {
    let offered = code_tool(tools, prompt).map(|spec| spec.name.as_str());
    // Code that is no longer run stays as written: showing it as calls would teach the model to write those instead.
    let was_offered = prompt.code.as_ref().filter(|code| code.not_run.is_some());
    let code = offered.or(was_offered.map(|code| code.tool.as_str()));
    let written = |message: &Message| assistant_text(message, code);
    let render_result = |name: &str, said: &str| match name {
        UNREADABLE => NOT_READ.to_owned(),
        name if code == Some(name) => format!("The code printed:\n{said}"),
        name => plain::result_of(name, said),
    };
    let mut plain = plain::plain_messages(
        messages,
        instructions(tools, prompt),
        written,
        render_result,
    );
    let calls = messages
        .iter()
        .rev()
        .find(|message| !message.tool_calls.is_empty());
    let calls = calls
        .map(|message| message.tool_calls.as_slice())
        .unwrap_or_default();
    if let Some(Message {
        role: Role::Tool, ..
    }) = messages.last().filter(|_| calls.iter().all(has_arguments))
        && let Some(Part::Text { text }) = plain.last_mut().and_then(|last| last.content.last_mut())
    {
        text.push_str(match offered {
            _ if tools.is_empty() => LAST_RESULTS_END,
            Some(code) if calls.iter().all(|call| call.name == code) => CODE_RESULTS_END,
            _ => RESULTS_END,
        });
    }
    plain
}

/// The syntax in which calls are read from the answer.
pub(crate) fn call_syntax(
    messages: &[Message],
    tools: &[ToolSpec],
    prompt: &ToolPrompt,
) -> CallSyntax {
    let code = code_tool(tools, prompt).map(|spec| spec.name.clone());
    // One correction is enough: a second unreadable call is shown.
    let last = messages
        .iter()
        .rev()
        .find(|message| !message.tool_calls.is_empty());
    let was_unreadable =
        last.is_some_and(|message| message.tool_calls.iter().any(|call| !has_arguments(call)));
    let not_run = prompt.code.as_ref().and_then(|code| code.not_run.clone());
    CallSyntax {
        code,
        not_run,
        corrects: !was_unreadable || ends_with_question(messages),
    }
}

fn ends_with_question(messages: &[Message]) -> bool {
    messages
        .last()
        .is_some_and(|message| message.role == Role::User)
}

fn has_arguments(call: &ToolCall) -> bool {
    arguments_value(&call.arguments).is_object()
}

/// The tool that runs code in tags, if there is one.
fn code_tool<'a>(tools: &'a [ToolSpec], prompt: &ToolPrompt) -> Option<&'a ToolSpec> {
    let code = prompt.code.as_ref()?;
    // A caller's own tool of that name may have other arguments.
    tools
        .iter()
        .find(|spec| spec.name == code.tool && spec.parameters["properties"]["code"].is_object())
}

fn instructions(tools: &[ToolSpec], prompt: &ToolPrompt) -> String {
    let code = code_tool(tools, prompt);
    let others: Vec<String> = tools
        .iter()
        .filter(|spec| code.is_none_or(|code| code.name != spec.name))
        .map(described)
        .collect();
    let mut texts = Vec::new();
    if !others.is_empty() {
        texts.push(prompt.tools.join(&format!("[{}]", others.join(",\n"))));
    }
    if let (Some(spec), Some(code)) = (code, &prompt.code) {
        texts.push(code.text.join(&spec.description));
    }
    texts.join("\n\n")
}

fn described(spec: &ToolSpec) -> String {
    let ToolSpec {
        name,
        description,
        parameters,
    } = spec;
    json!({ "name": name, "description": description, "parameters": **parameters }).to_string()
}

/// The text of a message, and its calls as they are to be written.
fn assistant_text(message: &Message, code: Option<&str>) -> String {
    let mut lines = vec![message.plain_text()]
        .into_iter()
        .filter(|said| !said.is_empty())
        .collect::<Vec<_>>();
    let mut list: Vec<Value> = Vec::new();
    for call in &message.tool_calls {
        match arguments_value(&call.arguments) {
            Value::Object(arguments) => match arguments.get("code").and_then(Value::as_str) {
                Some(text) if code == Some(&call.name) => lines.push(format!(
                    "<code_interpreter type=\"code\" lang=\"python\">\n{text}\n</code_interpreter>"
                )),
                _ => list.push(json!({ "name": call.name, "parameters": arguments })),
            },
            // Unchanged.
            _ => lines.push(call.arguments.clone()),
        }
    }
    if !list.is_empty() {
        lines.push(json!({ "tool_calls": list }).to_string());
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CodePrompt;

    fn tools() -> Vec<ToolSpec> {
        let tool = |name: &str, parameters: Value| ToolSpec {
            name: name.into(),
            description: format!("Does {name}."),
            parameters: parameters.into(),
        };
        let code = json!({"type": "object", "properties": {"code": {"type": "string"}}});
        vec![tool("ls", json!({"type": "object"})), tool("python", code)]
    }

    fn prompt(has_code: bool) -> ToolPrompt {
        let parts = |before: &str| vec![before.to_owned(), "]".to_owned()];
        let code = has_code.then(|| CodePrompt {
            tool: "python".into(),
            text: parts("Code ["),
            not_run: None,
        });
        ToolPrompt {
            tools: parts("Tools ["),
            code,
        }
    }

    fn call(id: &str, name: &str, arguments: &str) -> ToolCall {
        ToolCall {
            id: id.into(),
            name: name.into(),
            arguments: arguments.into(),
        }
    }

    fn called(calls: Vec<ToolCall>) -> Message {
        Message {
            tool_calls: calls,
            ..Message::text(Role::Assistant, "I look.")
        }
    }

    #[test]
    fn tools_and_calls_become_text() {
        let history = [
            Message::text(Role::System, "Be brief."),
            Message::text(Role::User, "What is there?"),
            called(vec![
                call("a", "ls", "{\"path\":\"/\"}"),
                call("b", "python", "{\"code\":\"1 < 2\"}"),
            ]),
            Message::tool_result("a", "x.txt"),
            Message::tool_result("b", "True"),
            Message::text(Role::Assistant, "A file."),
        ];
        let plain = plain_messages(&history, &tools(), &prompt(true));
        let texts: Vec<String> = plain.iter().map(Message::plain_text).collect();
        assert_eq!(
            texts,
            [
                "Be brief.\n\nTools [[{\"name\":\"ls\",\"description\":\"Does ls.\",\"parameters\":{\"type\":\"object\"}}]]\n\n\
                 Code [Does python.]",
                "What is there?",
                "I look.\n<code_interpreter type=\"code\" lang=\"python\">\n1 < 2\n</code_interpreter>\n\
                 {\"tool_calls\":[{\"name\":\"ls\",\"parameters\":{\"path\":\"/\"}}]}",
                "Result of ls:\nx.txt\n\nThe code printed:\nTrue",
                "A file.",
            ]
        );
        let without = plain_messages(&history, &tools(), &prompt(false));
        assert!(
            without[0].plain_text().contains("\"python\"")
                && !without[0].plain_text().contains("Code")
        );
        let only_code = plain_messages(&history, &tools()[1..], &prompt(true));
        assert!(
            only_code[0]
                .plain_text()
                .ends_with("Be brief.\n\nCode [Does python.]")
        );
    }

    #[test]
    fn one_correction_for_each_unreadable_call() {
        let tools = tools();
        let prompt = prompt(true);
        let corrects = |history: &[Message]| call_syntax(history, &tools, &prompt).corrects;
        let mut history = vec![Message::text(Role::User, "What is there?")];
        assert!(corrects(&history));
        history.push(called(vec![call("a", UNREADABLE, "{\"tool_calls\":")]));
        history.push(Message::tool_result("a", "Error: no such tool"));
        assert!(!corrects(&history));
        let plain = plain_messages(&history, &tools, &prompt);
        assert_eq!(plain[2].plain_text(), "I look.\n{\"tool_calls\":");
        assert_eq!(plain[3].plain_text(), NOT_READ);
        history.push(called(vec![call("b", "ls", "{}")]));
        history.push(Message::tool_result("b", "x"));
        assert!(corrects(&history), "another may follow one that was read");
        let plain = plain_messages(&history, &tools, &prompt);
        assert!(
            plain
                .last()
                .unwrap()
                .plain_text()
                .ends_with(&format!("x{RESULTS_END}"))
        );
        history.truncate(3);
        history.push(Message::text(Role::User, "And now?"));
        assert!(corrects(&history));
    }
}
