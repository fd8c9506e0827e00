//! Schema mode, the reading side: streams a forced reply while it is being written, and turns a forced call into a tool
//! call.

use serde_json::Value;

use super::{
    call_json::read_calls,
    text_calls::{CallSyntax, Piece, TextCallParser},
};

/// Reads an answer that should be one JSON object.
#[derive(Debug)]
pub(crate) struct SchemaReader {
    tools: Vec<String>,
    form: Form,
}

#[derive(Debug)]
enum Form {
    /// Only white space so far.
    Unknown,
    Json {
        raw: String,
        scan: ReplyScan,
        shown: bool,
    },
    /// The server did not force the form; the answer may still be or contain a call.
    Prose(TextCallParser),
}

impl SchemaReader {
    pub(crate) fn new(tools: Vec<String>) -> Self {
        Self {
            tools,
            form: Form::Unknown,
        }
    }

    /// Reads more of the answer.
    pub(crate) fn push(&mut self, text: &str, out: &mut Vec<Piece>) {
        if matches!(self.form, Form::Unknown) {
            let text = text.trim_start();
            if text.starts_with('{') {
                self.form = Form::Json {
                    raw: String::new(),
                    scan: ReplyScan::default(),
                    shown: false,
                };
            } else if !text.is_empty() {
                self.form = Form::Prose(TextCallParser::new(
                    self.tools.iter().cloned(),
                    CallSyntax::default(),
                ));
            }
        }
        match &mut self.form {
            Form::Unknown => {}
            Form::Json { raw, scan, shown } => {
                let text = if raw.is_empty() {
                    text.trim_start()
                } else {
                    text
                };
                raw.push_str(text);
                let reply = scan.push(text);
                if !reply.is_empty() {
                    *shown = true;
                    out.push(Piece::Text(reply));
                }
            }
            Form::Prose(parser) => parser.push(text, out),
        }
    }

    /// The answer has ended.
    pub(crate) fn finish(&mut self, out: &mut Vec<Piece>) {
        match std::mem::replace(&mut self.form, Form::Unknown) {
            Form::Unknown => {}
            Form::Prose(mut parser) => parser.finish(false, out),
            // The emitted text cannot be taken back; it was the reply.
            Form::Json { shown: true, .. } => {}
            Form::Json { raw, .. } => self.read_whole(raw, out),
        }
    }

    fn read_whole(&self, raw: String, out: &mut Vec<Piece>) {
        if let Some(calls) = read_calls(raw.trim(), &self.tools) {
            out.extend(calls);
            return;
        }
        let value: Value = serde_json::from_str(&raw).unwrap_or_default();
        match value.get("text").and_then(Value::as_str) {
            Some("") => {}
            Some(text) => out.push(Piece::Text(text.to_owned())),
            None => out.push(Piece::Text(raw)),
        }
    }
}

/// Follows the object and emits the characters of its `text` as they come.
#[derive(Debug, Default)]
struct ReplyScan {
    depth: u32,
    in_string: bool,
    escaped: bool,
    is_value: bool,
    key: String,
    /// The value of `action`, empty while unknown.
    action: String,
    /// JSON source of the reply that is not emitted yet: it may end inside an escape.
    held: String,
}

impl ReplyScan {
    /// The reply's characters in the next piece of the answer.
    fn push(&mut self, text: &str) -> String {
        for c in text.chars() {
            if self.in_string {
                self.string_char(c);
            } else {
                self.structure_char(c);
            }
        }
        self.take_decoded()
    }

    fn structure_char(&mut self, c: char) {
        match c {
            '"' => {
                self.in_string = true;
                if self.depth == 1 && !self.is_value {
                    self.key.clear();
                }
            }
            '{' | '[' => self.depth += 1,
            '}' | ']' => self.depth = self.depth.saturating_sub(1),
            ':' if self.depth == 1 => self.is_value = true,
            ',' if self.depth == 1 => self.is_value = false,
            _ => {}
        }
    }

    fn string_char(&mut self, c: char) {
        if c == '"' && !self.escaped {
            self.in_string = false;
            return;
        }
        self.escaped = c == '\\' && !self.escaped;
        if self.depth != 1 {
            return;
        }
        if !self.is_value {
            self.key.push(c);
        } else if self.key == "action" {
            self.action.push(c);
        } else if self.key == "text" && self.action != "call" {
            match c {
                // Models forget to escape these.
                '\n' => self.held.push_str("\\n"),
                '\r' | '\t' => self.held.push(' '),
                c if c.is_control() => {}
                c => self.held.push(c),
            }
        }
    }

    /// The decodable part of the held source: all of it, or all before an incomplete escape, which may be the second
    /// half of a surrogate pair.
    fn take_decoded(&mut self) -> String {
        let mut end = self.held.len();
        for _ in 0..3 {
            if let Ok(text) = serde_json::from_str::<String>(&format!("\"{}\"", &self.held[..end]))
            {
                self.held.drain(..end);
                return text;
            }
            end = self.held[..end].rfind('\\').unwrap_or(0);
        }
        String::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(tokens: &[&str]) -> Vec<Piece> {
        let mut reader = SchemaReader::new(vec!["ls".to_owned()]);
        let mut out = Vec::new();
        tokens.iter().for_each(|token| reader.push(token, &mut out));
        reader.finish(&mut out);
        out
    }

    /// All text and all calls, however the answer is split.
    fn check(answer: &str, text: &str, calls: &[&str]) {
        let by_char: Vec<String> = answer.chars().map(String::from).collect();
        for tokens in [vec![answer], by_char.iter().map(String::as_str).collect()] {
            let mut seen = String::new();
            let mut called = Vec::new();
            for piece in read(&tokens) {
                match piece {
                    Piece::Text(more) => seen.push_str(&more),
                    Piece::Call { name, arguments } => called.push(format!("{name}({arguments})")),
                }
            }
            assert_eq!(
                (seen.as_str(), called),
                (text, calls.iter().map(|c| (*c).to_owned()).collect()),
                "{answer}"
            );
        }
    }

    #[test]
    fn replies_and_calls() {
        check(
            r#"{"action":"reply","text":"Hi \"you\"\n\u00e9 \ud83d\ude00 \\ \/"}"#,
            "Hi \"you\"\né 😀 \\ /",
            &[],
        );
        check(
            r#" { "action" : "call" , "name" : "ls" , "arguments" : {"text":"no"} } "#,
            "",
            &["ls({\"text\":\"no\"})"],
        );
        check(r#"{"action":"reply","text":""}"#, "", &[]);
        check("{\"action\":\"reply\",\"text\":\"a\nb\"}", "a\nb", &[]);
        check(r#"{"action":"reply","text":"cut of"#, "cut of", &[]);
        check("", "", &[]);
    }

    #[test]
    fn answers_that_were_not_forced() {
        check("Just text.", "Just text.", &[]);
        check(
            "```json\n{\"action\":\"call\",\"name\":\"ls\",\"arguments\":{}}\n```",
            "",
            &["ls({})"],
        );
        check(
            r#"{"action":"call","name":"rm","arguments":{}}"#,
            r#"{"action":"call","name":"rm","arguments":{}}"#,
            &[],
        );
        check(
            "{\"action\":\"call\",\"na",
            "{\"action\":\"call\",\"na",
            &[],
        );
    }

    #[test]
    fn a_reply_is_shown_while_it_comes() {
        let tokens = [
            "{\"action\":\"reply\",",
            "\"text\":\"Hel",
            "lo \\",
            "u00e9",
            "\"}",
        ];
        let texts: Vec<Piece> = ["Hel", "lo ", "é"]
            .map(|text| Piece::Text(text.to_owned()))
            .into();
        assert_eq!(read(&tokens), texts);
    }
}
