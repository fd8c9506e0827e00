//! Remembers tools whose schemas the servers of a model have refused, and their accepted replacements.

use std::{
    borrow::Cow,
    collections::HashMap,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
};

use provider::tool_schema::{Change, ToolFormat, ToolSchema, plain};

use crate::ToolSpec;

/// Maximum number of remembered tools; above it all are forgotten, and refused again.
const MAX_TOOLS: usize = 1_000;

/// Maximum length of a description kept with a plain schema, characters.
const MAX_DESCRIPTION_CHARS: usize = 1_000;

/// The tools that the servers of a model have refused, by name.
#[derive(Debug, Default)]
pub(crate) struct RefusedTools {
    tools: Mutex<HashMap<String, Refused>>,
    is_any: AtomicBool,
}

#[derive(Debug)]
struct Refused {
    change: Change,
    /// The refused schema; unknown until the tool is offered again.
    schema: Option<ToolSchema>,
    plain: Option<ToolSchema>,
}

impl RefusedTools {
    /// Records the replacements that the servers accept for these tools.
    pub(super) fn note(&self, changes: &[(String, Change)]) {
        if changes.is_empty() {
            return;
        }
        let mut tools = self.lock();
        if tools.len() + changes.len() > MAX_TOOLS {
            tools.clear();
        }
        for (name, change) in changes {
            tools.insert(
                name.clone(),
                Refused {
                    change: *change,
                    schema: None,
                    plain: None,
                },
            );
        }
        self.is_any.store(true, Relaxed);
    }

    /// The replacement for this tool, if it was refused. A tool whose schema has changed since was not.
    pub(super) fn change(&self, tool: &ToolSpec) -> Option<Change> {
        if !self.is_any.load(Relaxed) {
            return None;
        }
        let mut tools = self.lock();
        let refused = tools.get_mut(&tool.name)?;
        if *refused
            .schema
            .get_or_insert_with(|| tool.parameters.clone())
            == tool.parameters
        {
            return Some(refused.change);
        }
        tools.remove(&tool.name);
        None
    }

    /// The tools in the form that the servers are known to accept.
    pub(super) fn applied<'a>(
        &self,
        tools: &'a [ToolSpec],
        tool_format: ToolFormat,
    ) -> Cow<'a, [ToolSpec]> {
        if !tools.iter().any(|tool| self.change(tool).is_some()) {
            return Cow::Borrowed(tools);
        }
        let taken = tools.iter().filter_map(|tool| match self.change(tool) {
            None => Some(tool.clone()),
            Some(Change::Plain) => Some(ToolSpec {
                name: tool.name.clone(),
                description: tool
                    .description
                    .chars()
                    .take(MAX_DESCRIPTION_CHARS)
                    .collect(),
                parameters: self.plain(tool, tool_format),
            }),
            Some(Change::LeftOut) => None,
        });
        Cow::Owned(taken.collect())
    }

    /// The plain schema of a tool, made once.
    fn plain(&self, tool: &ToolSpec, tool_format: ToolFormat) -> ToolSchema {
        let make = || {
            let sent = serde_json::from_str(tool.parameters.json_for(tool_format).get())
                .unwrap_or_default();
            ToolSchema::from(plain(&sent))
        };
        match self.lock().get_mut(&tool.name) {
            Some(refused) => refused.plain.get_or_insert_with(make).clone(),
            None => make(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Refused>> {
        self.tools.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn tool(name: &str, schema: serde_json::Value) -> ToolSpec {
        ToolSpec {
            name: name.into(),
            description: "x".repeat(2_000),
            parameters: schema.into(),
        }
    }

    #[test]
    fn refused_tools_are_offered_in_their_accepted_form() {
        let strict =
            || json!({"type": "object", "properties": {"a": {"type": "string", "minLength": 1}}});
        let tools = [
            tool("a", strict()),
            tool("b", strict()),
            tool("c", strict()),
        ];
        let refused = RefusedTools::default();
        assert!(matches!(
            refused.applied(&tools, ToolFormat::Chat),
            Cow::Borrowed(_)
        ));
        refused.note(&[
            ("a".to_owned(), Change::Plain),
            ("b".to_owned(), Change::LeftOut),
        ]);
        let taken = refused.applied(&tools, ToolFormat::Chat);
        let names: Vec<&str> = taken.iter().map(|tool| tool.name.as_str()).collect();
        assert_eq!(names, ["a", "c"]);
        assert_eq!(
            taken[0].parameters["properties"],
            json!({"a": {"type": "string"}})
        );
        assert_eq!(
            (taken[0].description.len(), taken[1].description.len()),
            (1_000, 2_000)
        );
        // Its server has fixed it.
        let mended = [tool("a", json!({"type": "object"}))];
        assert_eq!(
            refused.applied(&mended, ToolFormat::Chat)[0].parameters,
            mended[0].parameters
        );
        assert_eq!(refused.change(&tools[0]), None, "forgotten");
    }
}
