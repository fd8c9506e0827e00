//! `task`: delegates a task to a sub-agent and waits for its answer.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    AgentSpec, Tool, ToolFailure,
    subagent::{Job, no_sub_agent, run_sub_agent},
    tool::{ToolContext, ToolKind},
};

/// Maximum length of a name shown for a sub-agent, characters.
const NAME_LIMIT_CHARS: usize = 60;

#[derive(Deserialize, JsonSchema)]
struct Arguments {
    /// The whole task: the sub-agent knows nothing but this text and the files. Begin with a line that names it.
    #[schemars(length(min = 1, max = 20000))]
    description: String,
    /// The type of sub-agent.
    #[schemars(length(min = 1, max = 64))]
    subagent_type: String,
    /// Only to continue a sub-agent that has worked before: its name, from the end of its answer. It remembers what it
    /// did, and gets the description as what to do next.
    #[serde(default, rename = "continue")]
    #[schemars(length(max = 80))]
    continues: Option<String>,
}

pub(super) fn tool() -> Result<Tool, ToolFailure> {
    Tool::new(NAME, DESCRIPTION, ToolKind::WAITING, task)
}

/// The name of the tool.
pub(crate) const NAME: &str = "task";

const DESCRIPTION: &str = "Gives a piece of work to a sub-agent with its own context and returns its answer. Call it \
    several times in one answer to have pieces done at the same time.";

/// The tool with the description for an agent that has these sub-agents.
pub(crate) fn with_types(tool: &Tool, sub_agents: &[&AgentSpec]) -> Tool {
    let types: Vec<String> = sub_agents
        .iter()
        .map(|agent| format!("{} ({})", agent.name, agent.description))
        .collect();
    let names: Vec<&str> = sub_agents.iter().map(|agent| agent.name.as_str()).collect();
    tool.described(
        format!("{DESCRIPTION} Types: {}.", types.join(", ")),
        "subagent_type",
        &names,
    )
}

async fn task(arguments: Arguments, context: ToolContext) -> Result<String, ToolFailure> {
    let Arguments {
        description: task,
        subagent_type,
        continues,
    } = arguments;
    // Models fill in fields that they should leave out.
    let continues = continues.filter(|name| !name.trim().is_empty());
    match context.agent.sub_agent(&subagent_type) {
        Ok(spec) => {
            run_sub_agent(
                context,
                spec,
                Job {
                    name: name_of(&task),
                    task,
                    continues,
                },
            )
            .await
        }
        Err(why) => no_sub_agent(&context, why).await,
    }
}

/// The first line, cut between words.
fn name_of(description: &str) -> String {
    let line = description
        .trim()
        .lines()
        .next()
        .unwrap_or_default()
        .trim_end_matches([':', '.']);
    if line.chars().count() <= NAME_LIMIT_CHARS {
        return line.to_owned();
    }
    let cut: String = line.chars().take(NAME_LIMIT_CHARS).collect();
    let cut = cut
        .rsplit_once(' ')
        .map_or(cut.as_str(), |(words, _)| words);
    format!("{cut}…")
}

#[cfg(test)]
mod tests {
    use super::name_of;

    #[test]
    fn a_name_is_the_first_line_cut_at_a_word() {
        assert_eq!(
            name_of(" Licence reader:\nRead all licences."),
            "Licence reader"
        );
        let long = "Сравнить условия лицензий трёх открытых звёздных каталогов и записать выводы";
        assert_eq!(
            name_of(long),
            "Сравнить условия лицензий трёх открытых звёздных каталогов…"
        );
    }
}
