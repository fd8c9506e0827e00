//! The list of tools, one file per tool.

mod ask_user;
mod delete_file;
mod edit_file;
pub(crate) mod find_tools;
mod glob;
mod grep;
mod latex;
mod ls;
pub(crate) mod memory;
mod move_file;
mod python;
mod read_file;
mod shell;
pub(crate) mod skill;
pub(crate) mod task;
mod write_file;
mod write_todos;

use std::sync::Arc;

use crate::{Agents, Programs, Tool, ToolFailure};

/// The tools that run programs.
pub const PROGRAM_TOOLS: [&str; 3] = ["latex", "python", "shell"];

impl Programs {
    /// Adds the tools that run programs to the agents that may use them.
    ///
    /// # Errors
    /// If a tool's schema is not valid, which a test rules out.
    pub fn equip(&self, agents: &Agents) -> Result<Agents, ToolFailure> {
        let mut tools = vec![Arc::new(python::tool(self)?)];
        if self.found().shell {
            tools.push(Arc::new(shell::tool(self)?));
            tools.push(Arc::new(latex::tool(self)?));
        }
        Ok(agents.with_tools(&tools))
    }
}

/// All tools, in the order in which models see them.
///
/// # Errors
/// If a tool's schema is not valid, which a test rules out.
pub fn all() -> Result<Vec<Arc<Tool>>, ToolFailure> {
    let tools = [
        write_todos::tool()?,
        ls::tool()?,
        read_file::tool()?,
        write_file::tool()?,
        edit_file::tool()?,
        move_file::tool()?,
        delete_file::tool()?,
        glob::tool()?,
        grep::tool()?,
        task::tool()?,
        ask_user::tool()?,
    ];
    Ok(tools
        .into_iter()
        .chain(memory::tools()?)
        .map(Arc::new)
        .collect())
}

#[cfg(test)]
mod tests {
    #[test]
    fn schemas_are_plain_objects_with_described_fields() {
        for tool in super::all().unwrap() {
            let toolbox = crate::Toolbox::new(vec![std::sync::Arc::clone(&tool)]);
            let parameters = &toolbox.specs()[0].parameters;
            assert_eq!(parameters["type"], "object", "{}", tool.name());
            for (field, schema) in parameters["properties"].as_object().unwrap() {
                assert!(
                    schema["description"].is_string(),
                    "{} {field} has no description",
                    tool.name()
                );
            }
        }
    }
}
