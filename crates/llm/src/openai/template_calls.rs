//! Tool calls in the markup of a model's template that its server did not parse: an answer that consists of nothing
//! else. Calls in a code fence, a quotation or prose are text.

use serde_json::{Map, Value};

use super::{call_json::read_calls_of, text_calls::Piece};
use crate::meant_tool;

const TOOL_CALL: &str = "<tool_call>";
const TOOL_CALL_END: &str = "</tool_call>";
const FUNCTION: &str = "<function=";
const MISTRAL: &str = "[TOOL_CALLS]";
const PYTHON_TAG: &str = "<|python_tag|>";

/// The beginnings of such answers: Hermes, Qwen and GLM; Qwen3-Coder and Llama; Mistral; Llama.
const MARKERS: [&str; 4] = [TOOL_CALL, FUNCTION, MISTRAL, PYTHON_TAG];

/// Maximum length of such an answer, bytes; longer ones are text.
const MAX_BYTES: usize = 1 << 20;

/// Holds an answer that begins with such markup until it is complete.
#[derive(Debug)]
pub(crate) struct TemplateCalls {
    tools: Vec<String>,
    /// JSON between [`TOOL_CALL`] tags is left to another reader.
    without_json: bool,
    held: String,
    is_text: bool,
}

impl TemplateCalls {
    /// For calls of these tools.
    pub(crate) fn new(tools: Vec<String>) -> Self {
        Self {
            tools,
            without_json: false,
            held: String::new(),
            is_text: false,
        }
    }

    /// Without the markup that holds JSON between tags.
    pub(crate) fn without_json(tools: Vec<String>) -> Self {
        Self {
            without_json: true,
            ..Self::new(tools)
        }
    }

    /// The tools that may be called.
    pub(crate) fn tools(&self) -> &[String] {
        &self.tools
    }

    /// Reads more text; returns the part that is certainly text.
    pub(crate) fn push(&mut self, text: String) -> Option<String> {
        if self.is_text {
            return Some(text);
        }
        self.held.push_str(&text);
        self.is_text = self.held.len() > MAX_BYTES || !self.may_be_calls();
        self.is_text.then(|| std::mem::take(&mut self.held))
    }

    /// The answer has ended: either all of it is calls, or the held part is text. `is_cut` if the answer was truncated.
    pub(crate) fn finish(&mut self, is_cut: bool) -> Result<Vec<Piece>, String> {
        let held = self.restart();
        let calls = read(&held, &self.tools).filter(|_| !is_cut);
        calls.ok_or(held)
    }

    /// Restarts, and returns the held text.
    pub(crate) fn restart(&mut self) -> String {
        self.is_text = false;
        std::mem::take(&mut self.held)
    }

    fn may_be_calls(&self) -> bool {
        let begin = self.held.trim_start();
        let is_json = begin
            .strip_prefix(TOOL_CALL)
            .is_some_and(|after| after.trim_start().starts_with(['{', '[']));
        let is_markup = MARKERS
            .iter()
            .any(|marker| begin.starts_with(marker) || marker.starts_with(begin));
        is_markup && !(is_json && self.without_json)
    }
}

/// The calls that the text consists of.
fn read(text: &str, tools: &[String]) -> Option<Vec<Piece>> {
    let mut rest = without_end_tokens(text.trim());
    let mut calls = Vec::new();
    while !rest.is_empty() {
        let (more, after) = if let Some(inside) = rest.strip_prefix(TOOL_CALL) {
            let (inside, after) = inside.split_once(TOOL_CALL_END).unwrap_or((inside, ""));
            (read_tagged(inside.trim(), tools)?, after)
        } else if rest.starts_with(FUNCTION) {
            let (call, after) = read_function(rest, tools)?;
            (
                vec![call],
                after
                    .trim_start()
                    .strip_prefix(TOOL_CALL_END)
                    .unwrap_or(after),
            )
        } else if let Some(inside) = rest.strip_prefix(MISTRAL) {
            let (inside, after) = inside
                .find(MISTRAL)
                .map_or((inside, ""), |at| inside.split_at(at));
            (read_mistral(inside.trim(), tools)?, after)
        } else {
            (read_json(rest.strip_prefix(PYTHON_TAG)?, tools)?, "")
        };
        calls.extend(more);
        rest = without_end_tokens(after.trim());
    }
    (!calls.is_empty()).then_some(calls)
}

/// Removes the end tokens that some servers leave in an answer.
fn without_end_tokens(mut text: &str) -> &str {
    const ENDS: [&str; 5] = [
        "</s>",
        "<|im_end|>",
        "<|eot_id|>",
        "<|eom_id|>",
        "<|endoftext|>",
    ];
    while let Some(before) = ENDS.iter().find_map(|token| text.strip_suffix(token)) {
        text = before.trim_end();
    }
    text
}

fn read_tagged(inside: &str, tools: &[String]) -> Option<Vec<Piece>> {
    if inside.starts_with(['{', '[']) {
        return read_json(inside, tools);
    }
    if inside.starts_with(FUNCTION) {
        let (call, after) = read_function(inside, tools)?;
        return after.trim().is_empty().then(|| vec![call]);
    }
    // GLM's: the name, and pairs of tags.
    let (name, mut rest) = inside.split_at(inside.find("<arg_key>").unwrap_or(inside.len()));
    let mut arguments = Map::new();
    while let Some(after) = rest.trim().strip_prefix("<arg_key>") {
        let (key, after) = after.split_once("</arg_key>")?;
        let (value, after) = after
            .trim_start()
            .strip_prefix("<arg_value>")?
            .split_once("</arg_value>")?;
        arguments.insert(key.trim().to_owned(), value.into());
        rest = after;
    }
    rest.trim().is_empty().then_some(())?;
    Some(vec![call(name, arguments, tools)?])
}

/// `<function=NAME>` with an object, or with `<parameter=KEY>` tags, up to `</function>`.
fn read_function<'a>(text: &'a str, tools: &[String]) -> Option<(Piece, &'a str)> {
    let (name, inside) = text.strip_prefix(FUNCTION)?.split_once('>')?;
    let (inside, after) = inside.split_once("</function>")?;
    let mut rest = inside.trim();
    if rest.starts_with('{') {
        return Some((call(name, serde_json::from_str(rest).ok()?, tools)?, after));
    }
    let mut arguments = Map::new();
    while !rest.is_empty() {
        let (key, value) = rest.strip_prefix("<parameter=")?.split_once('>')?;
        let end = ["</parameter>", "<parameter="]
            .iter()
            .filter_map(|end| value.find(end))
            .min();
        let (value, after) = value.split_at(end.unwrap_or(value.len()));
        let value = value.strip_prefix('\n').unwrap_or(value);
        let value = value.strip_suffix('\n').unwrap_or(value);
        arguments.insert(key.trim().to_owned(), value.into());
        rest = after
            .strip_prefix("</parameter>")
            .unwrap_or(after)
            .trim_start();
    }
    Some((call(name, arguments, tools)?, after))
}

/// A list of calls, or a name and its arguments with or without `[ARGS]` between them.
fn read_mistral(inside: &str, tools: &[String]) -> Option<Vec<Piece>> {
    if inside.starts_with(['{', '[']) {
        return read_json(inside, tools);
    }
    let (name, arguments) = inside.split_at(inside.find('{')?);
    let name = name.split(['[']).next().unwrap_or_default();
    Some(vec![call(
        name,
        serde_json::from_str(arguments).ok()?,
        tools,
    )?])
}

/// JSON values of calls, with nothing but space, commas and semicolons between them.
fn read_json(text: &str, tools: &[String]) -> Option<Vec<Piece>> {
    let is_between = |c: char| c.is_whitespace() || matches!(c, ',' | ';');
    let mut rest = text.trim_matches(is_between);
    let mut calls = Vec::new();
    while !rest.is_empty() {
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
        let value = values.next()?.ok()?;
        rest = rest[values.byte_offset()..].trim_start_matches(is_between);
        calls.extend(read_calls_of(&value, tools)?);
    }
    Some(calls)
}

fn call(name: &str, arguments: Map<String, Value>, tools: &[String]) -> Option<Piece> {
    let names: Vec<&str> = tools.iter().map(String::as_str).collect();
    let name = meant_tool(name, &names)?.to_owned();
    Some(Piece::Call {
        name,
        arguments: Value::Object(arguments).to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_all(whole: &str, size: usize, is_cut: bool) -> Vec<Piece> {
        let mut calls = TemplateCalls::new(vec!["ls".into(), "write_file".into()]);
        let mut pieces = Vec::new();
        let mut text = String::new();
        let chars: Vec<char> = whole.chars().collect();
        for piece in chars.chunks(size) {
            text.extend(calls.push(piece.iter().collect()));
        }
        match calls.finish(is_cut) {
            Ok(calls) => pieces.extend(calls),
            Err(held) => text.push_str(&held),
        }
        if !text.is_empty() {
            pieces.push(Piece::Text(text));
        }
        pieces
    }

    fn call(name: &str, arguments: &str) -> Piece {
        Piece::Call {
            name: name.into(),
            arguments: arguments.into(),
        }
    }

    fn check(whole: &str, expected: &[Piece]) {
        for size in [1, 1000] {
            assert_eq!(read_all(whole, size, false), expected, "{whole}");
        }
    }

    #[test]
    fn markup_of_every_template() {
        let found = call("write_file", r#"{"path":"/a","content":"x"}"#);
        let one = std::slice::from_ref(&found);
        let json = r#"{"name": "write_file", "arguments": {"path": "/a", "content": "x"}}"#;
        let code = "<function=write_file>\n<parameter=path>\n/a\n</parameter>\n<parameter=content>\nx\n</parameter>\n</function>";
        check(&format!("<tool_call>\n{json}\n</tool_call>"), one);
        check(&format!("\n<tool_call>{json}</tool_call><|im_end|>\n"), one);
        check(
            &format!("<tool_call>{json}</tool_call>\n<tool_call>{json}"),
            &[found.clone(), found.clone()],
        );
        check(&format!("<tool_call>\n{code}\n</tool_call>"), one);
        check(code, one);
        check(&format!("{code}\n</tool_call>"), one);
        check(&format!("{code}\n{code}"), &[found.clone(), found.clone()]);
        check("<function=ls></function>", &[call("ls", "{}")]);
        check(
            r#"<function=write_file>{"path":"/a","content":"x"}</function><|eot_id|>"#,
            one,
        );
        check(&format!("[TOOL_CALLS][{json}]</s>"), one);
        check(
            &format!("[TOOL_CALLS] [{json}, {json}]"),
            &[found.clone(), found.clone()],
        );
        check(
            r#"[TOOL_CALLS]write_file[ARGS]{"path":"/a","content":"x"}"#,
            one,
        );
        check(
            r#"[TOOL_CALLS]ls{}[TOOL_CALLS]ls[CALL_ID]abc[ARGS]{"a":1}"#,
            &[call("ls", "{}"), call("ls", r#"{"a":1}"#)],
        );
        check(
            &format!("<|python_tag|>{}", json.replace("arguments", "parameters")),
            one,
        );
        check(
            &format!("<|python_tag|>{json}; {json}<|eom_id|>"),
            &[found.clone(), found.clone()],
        );
        check(
            "<tool_call>write_file\n<arg_key>path</arg_key>\n<arg_value>/a</arg_value>\n<arg_key>content</arg_key><arg_value>x</arg_value>\n</tool_call>",
            one,
        );
        check("<tool_call>ls</tool_call>", &[call("ls", "{}")]);
        check(
            "<function=functions.Write_File><parameter=path>a\nb</parameter></function>",
            &[call("write_file", r#"{"path":"a\nb"}"#)],
        );
    }

    #[test]
    fn everything_else_is_text() {
        let json = r#"{"name": "ls", "arguments": {}}"#;
        for whole in [
            "Hello",
            json,
            &format!("[{json}]"),
            &format!("```json\n{json}\n```"),
            &format!("The manual says:\n\n```json\n{json}\n```\n\nDo not run this."),
            &format!("I look. <tool_call>{json}</tool_call>"),
            &format!("<tool_call>{json}</tool_call>\nThis is how you call it."),
            &format!("```\n<tool_call>{json}</tool_call>\n```"),
            &format!("> <tool_call>{json}</tool_call>"),
            "<tool_call>{\"name\": \"rm\", \"arguments\": {}}</tool_call>",
            "<tool_call>none at all</tool_call>",
            "<|python_tag|>print(1)",
            "<function=ls>",
            "[TOOL_CALLS]",
            "[TOOL",
            "<|python",
        ] {
            check(whole, &[Piece::Text(whole.to_owned())]);
        }
        check("", &[]);
        let cut = format!("<tool_call>{json}</tool_call>");
        assert_eq!(read_all(&cut, 7, true), [Piece::Text(cut.clone())]);
    }
}
