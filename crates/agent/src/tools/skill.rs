//! `skill`: loads the instructions of a skill, reads another file of it, or copies its files into the workspace.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    Agents, Tool, ToolFailure,
    skills::{Skill, Skills},
    tool::{ToolContext, ToolKind},
    workspace::Path,
};

/// The name of the tool.
pub(crate) const NAME: &str = "skill";
/// Maximum total size of all descriptions, bytes; they are sent with every model call.
const DESCRIPTIONS_BYTES: usize = 16_000;
/// Maximum number of a skill's files that are listed.
const NAMED_LIMIT: usize = 100;
const DESCRIPTION: &str = "Loads a skill: instructions that others have written for work of its kind. Load it before you \
    begin such work. Its other files are read with `file`; scripts and templates are put into the workspace with `copy`.";

#[derive(Deserialize, JsonSchema)]
struct Arguments {
    /// The skill's name.
    #[schemars(length(min = 1, max = 64))]
    skill: String,
    /// Another file of it instead of its instructions, by its path within the skill.
    #[serde(default)]
    #[schemars(length(max = 500))]
    file: Option<String>,
    /// Copies the file, or all files if none is named, to `/skills/<skill>/` in the workspace.
    #[serde(default)]
    copy: bool,
}

impl Agents {
    /// Describes these skills, and adds the tool to load them, to the agents that may use them.
    ///
    /// # Errors
    /// If the tool's schema is not valid, which a test rules out.
    pub fn with_skills(&self, skills: &Skills) -> Result<Self, ToolFailure> {
        let mut agents = self.clone();
        if skills.skills.is_empty() {
            return Ok(agents);
        }
        let tool = tool()?;
        for agent in agents.all_mut() {
            let may = |skill: &&Arc<Skill>| match &agent.may_know {
                Some(names) => names.contains(&skill.name),
                None => agent.may_use.allows(NAME),
            };
            let known: Vec<Arc<Skill>> = skills.skills.iter().filter(may).cloned().collect();
            if !known.is_empty() {
                agent.tools = agent
                    .tools
                    .with_tools(&[Arc::new(described_with(&tool, &known))]);
            }
            agent.skills = known.into();
        }
        Ok(agents)
    }
}

/// The tool, without any skills yet.
fn tool() -> Result<Tool, ToolFailure> {
    // Repeatable: copying the same bytes again is harmless.
    Tool::new(NAME, DESCRIPTION, ToolKind::REPEATABLE, skill)
}

/// The tool with the description for an agent that has these skills.
fn described_with(tool: &Tool, skills: &[Arc<Skill>]) -> Tool {
    let room = DESCRIPTIONS_BYTES / skills.len().max(1);
    let line = |skill: &Arc<Skill>| {
        let end = skill.description.floor_char_boundary(room);
        let cut = if end < skill.description.len() {
            "…"
        } else {
            ""
        };
        format!("\n- {}: {}{cut}", skill.name, &skill.description[..end])
    };
    let lines: String = skills.iter().map(line).collect();
    let names: Vec<&str> = skills.iter().map(|skill| skill.name.as_str()).collect();
    tool.described(format!("{DESCRIPTION} Skills:{lines}"), "skill", &names)
}

async fn skill(arguments: Arguments, context: ToolContext) -> Result<String, ToolFailure> {
    let Arguments { skill, file, copy } = arguments;
    let known = &context.agent.spec.skills;
    let found = known
        .iter()
        .find(|known| known.name == skill)
        .cloned()
        .ok_or_else(|| {
            let names: Vec<&str> = known.iter().map(|skill| skill.name.as_str()).collect();
            ToolFailure(format!(
                "There is no skill {skill}. There are: {}.",
                names.join(", ")
            ))
        })?;
    match (copy, file) {
        (true, file) => copy_files(found, file, &context).await,
        (false, Some(file)) => {
            let hint = "To have it as it is, call this again with `copy`.";
            let text = on_disk(move || found.text_of(&file)).await;
            text.map_err(|ToolFailure(why)| ToolFailure(format!("{why} {hint}")))
        }
        (false, None) => {
            let files = list(&found);
            Ok(format!(
                "{}{files}",
                on_disk(move || found.instructions()).await?
            ))
        }
    }
}

fn list(skill: &Skill) -> String {
    if skill.files.is_empty() {
        return String::new();
    }
    let line = |(path, size): (&String, &u64)| format!("\n- {path} ({size} bytes)");
    let lines: String = skill.files.iter().take(NAMED_LIMIT).map(line).collect();
    let more = skill.files.len().saturating_sub(NAMED_LIMIT);
    let more = if more > 0 {
        format!("\n… {more} more")
    } else {
        String::new()
    };
    format!("\n\nOther files of this skill:{lines}{more}")
}

async fn copy_files(
    skill: Arc<Skill>,
    file: Option<String>,
    context: &ToolContext,
) -> Result<String, ToolFailure> {
    let files: Vec<String> =
        file.map_or_else(|| skill.files.keys().cloned().collect(), |file| vec![file]);
    let mut copied = Vec::new();
    for file in files {
        let from = Arc::clone(&skill);
        let name = file.clone();
        let content = on_disk(move || from.content_of(&name)).await?;
        let path = Path::parse_file(&format!("/skills/{}/{file}", skill.name))?;
        let written = context
            .workspace()
            .write_bytes(&path, &content, None)
            .await?;
        context.emit(written.event(&path)).await;
        copied.push(path.to_string());
    }
    match copied.as_slice() {
        [] => Ok(format!("The skill {} has no files to copy.", skill.name)),
        copied => Ok(format!("Copied to the workspace: {}.", copied.join(", "))),
    }
}

/// Reads on a blocking thread.
async fn on_disk<T: Send + 'static>(
    read: impl FnOnce() -> Result<T, String> + Send + 'static,
) -> Result<T, ToolFailure> {
    let done = tokio::task::spawn_blocking(read).await;
    done.unwrap_or_else(|_| Err("The skill could not be read.".to_owned()))
        .map_err(ToolFailure)
}
