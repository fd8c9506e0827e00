//! The tools of a server: read from its lists, validated one by one and bounded.

use std::sync::Arc;

use serde_json::{Map, Value};

use crate::{
    problem::{LeftOut, Problem},
    words::{cut, line},
};

/// Maximum number of tools of one server: models choose badly among more.
pub(crate) const MAX_TOOLS: usize = 200;
/// Maximum number of pages of a list.
pub(crate) const MAX_PAGES: usize = 50;
const NAME_LIMIT_CHARS: usize = 128;
const DESCRIPTION_LIMIT_CHARS: usize = 4_000;
/// Maximum size and depth of a schema.
const SCHEMA_LIMIT_BYTES: usize = 32_000;
const SCHEMA_LIMIT_DEPTH: usize = 32;
/// Maximum number of tools that are named as left out.
const MAX_NAMED_LEFT_OUT: usize = 200;

/// A tool as its server describes it.
#[derive(Debug, Clone, PartialEq)]
pub struct OfferedTool {
    /// Its own name, at most 128 characters.
    pub name: String,
    /// The description, at most 4,000 characters; may be empty.
    pub description: String,
    /// The JSON schema of its arguments, an object of at most 32,000 bytes. Not validated beyond that.
    pub schema: Map<String, Value>,
    /// The server declares that it changes nothing.
    pub read_only: bool,
    /// The server declares that repeating it with the same arguments changes nothing more.
    pub idempotent: bool,
}

/// A server's list, read page by page.
#[derive(Debug, Default)]
pub(crate) struct Offer {
    tools: Vec<OfferedTool>,
    left_out: Vec<Problem>,
    /// The number of further tools that are left out without being named.
    more: u64,
    /// Whether there are more pages than the limit.
    is_cut: bool,
}

impl Offer {
    /// Adds a page of the list. `only` are the wanted tools; empty for all.
    pub(crate) fn push_page(&mut self, page: &[Value], only: &[String]) {
        for tool in page {
            let name = tool.get("name").and_then(Value::as_str).unwrap_or("");
            if !only.is_empty() && !only.iter().any(|wanted| wanted == name) {
                continue;
            }
            match self.read(name, tool) {
                Ok(tool) => self.tools.push(tool),
                Err(why) => self.leave_out(name, why),
            }
        }
    }

    /// Records that further pages were not requested.
    pub(crate) fn cut_pages(&mut self) {
        self.is_cut = true;
    }

    fn leave_out(&mut self, name: &str, why: LeftOut) {
        if self.left_out.len() < MAX_NAMED_LEFT_OUT {
            self.left_out.push(Problem::ToolLeftOut {
                name: line(name, 60),
                why,
            });
        } else {
            self.more += 1;
        }
    }

    fn read(&self, name: &str, tool: &Value) -> Result<OfferedTool, LeftOut> {
        if name.is_empty()
            || name.chars().count() > NAME_LIMIT_CHARS
            || name.chars().any(char::is_control)
        {
            return Err(LeftOut::BadName);
        }
        if self.tools.len() >= MAX_TOOLS {
            return Err(LeftOut::TooMany);
        }
        if self.tools.iter().any(|other| other.name == name) {
            return Err(LeftOut::NameTaken);
        }
        let schema = tool
            .get("inputSchema")
            .and_then(Value::as_object)
            .ok_or(LeftOut::NoSchema)?;
        if is_deeper(tool, SCHEMA_LIMIT_DEPTH) {
            return Err(LeftOut::SchemaTooDeep);
        }
        if serde_json::to_string(schema).map_or(usize::MAX, |text| text.len()) > SCHEMA_LIMIT_BYTES
        {
            return Err(LeftOut::SchemaTooLarge);
        }
        let text = |key: &str| {
            tool.get(key)
                .and_then(Value::as_str)
                .filter(|text| !text.trim().is_empty())
        };
        let description = text("description")
            .or_else(|| text("title"))
            .unwrap_or_default();
        let hint =
            |key: &str| tool.pointer(&format!("/annotations/{key}")) == Some(&Value::Bool(true));
        Ok(OfferedTool {
            name: name.to_owned(),
            description: cut(description.to_owned(), DESCRIPTION_LIMIT_CHARS),
            schema: schema.clone(),
            read_only: hint("readOnlyHint"),
            idempotent: hint("idempotentHint"),
        })
    }

    /// The tools, and the problems of the list.
    pub(crate) fn finish(mut self, only: &[String]) -> (Arc<[OfferedTool]>, Vec<Problem>) {
        for wanted in only {
            if !self.tools.iter().any(|tool| tool.name == *wanted) {
                self.leave_out(wanted, LeftOut::NotOffered);
            }
        }
        let more = (self.more > 0).then_some(Problem::MoreLeftOut { count: self.more });
        let cut = self.is_cut.then_some(Problem::PagesLeftOut {
            count: MAX_PAGES as u64,
        });
        (
            self.tools.into(),
            self.left_out.into_iter().chain(more).chain(cut).collect(),
        )
    }
}

fn is_deeper(value: &Value, limit: usize) -> bool {
    match value {
        Value::Array(items) => limit == 0 || items.iter().any(|item| is_deeper(item, limit - 1)),
        Value::Object(fields) => {
            limit == 0 || fields.values().any(|field| is_deeper(field, limit - 1))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(page: Value, only: &[&str]) -> (Vec<String>, String) {
        let only: Vec<String> = only.iter().map(|name| (*name).to_owned()).collect();
        let mut offer = Offer::default();
        offer.push_page(page.as_array().unwrap(), &only);
        let (tools, problems) = offer.finish(&only);
        let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
        (
            tools.iter().map(|tool| tool.name.clone()).collect(),
            problems.join(" "),
        )
    }

    #[test]
    fn good_tools_are_taken_and_bad_ones_named() {
        let deep = (0..50).fold(json!({}), |inner, _| json!({ "a": inner }));
        let (names, problem) = check(
            json!([
                { "name": "a", "inputSchema": { "type": "object" } },
                { "name": "a", "inputSchema": { "type": "object" } },
                { "name": "b" },
                { "name": "c\n", "inputSchema": {} },
                { "name": "d", "inputSchema": deep },
                { "name": "e", "inputSchema": { "x": "y".repeat(40_000) } },
                7,
            ]),
            &[],
        );
        assert_eq!(names, ["a"]);
        assert_eq!(
            problem,
            "The tool “a” cannot be used: another tool has this name. The tool “b” cannot be used: it has no schema. \
             The tool “c” cannot be used: its name is invalid. The tool “d” cannot be used: its schema is too deep. The \
             tool “e” cannot be used: its schema is too large. The tool “” cannot be used: its name is invalid."
        );
    }

    #[test]
    fn only_wanted_tools_up_to_the_limit() {
        let tool = |name: String| json!({ "name": name, "inputSchema": {} });
        let many: Vec<Value> = (0..1000).map(|n| tool(n.to_string())).collect();
        let (names, problem) = check(Value::Array(many.clone()), &[]);
        assert_eq!(names.len(), MAX_TOOLS);
        assert!(
            problem.ends_with("600 more of its tools cannot be used."),
            "{problem}"
        );
        let (names, problem) = check(Value::Array(many), &["7", "x"]);
        assert_eq!(names, ["7"]);
        assert_eq!(
            problem,
            "The tool “x” cannot be used: the server does not offer it."
        );
    }

    #[test]
    fn hints_and_descriptions_are_read() {
        let page = json!([{
            "name": "a", "title": "T", "inputSchema": {}, "annotations": { "readOnlyHint": true, "idempotentHint": "yes" },
        }]);
        let mut offer = Offer::default();
        offer.push_page(page.as_array().unwrap(), &[]);
        let (tools, problems) = offer.finish(&[]);
        assert_eq!(
            (
                tools[0].description.as_str(),
                tools[0].read_only,
                tools[0].idempotent
            ),
            ("T", true, false)
        );
        assert_eq!(problems, []);
    }
}
