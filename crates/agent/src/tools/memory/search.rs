//! `memory_search`: finds the lines of memories that contain all words.

use schemars::JsonSchema;
use serde::Deserialize;

use super::memory;
use crate::{
    Tool, ToolFailure,
    tool::{ToolContext, ToolKind},
};

/// Maximum number of lines shown.
const MAX_LINES: usize = 50;
/// Maximum length of a line shown, characters.
const MAX_LINE_CHARS: usize = 300;

#[derive(Deserialize, JsonSchema)]
struct Arguments {
    /// Words that must all occur in a memory, in any order and case.
    #[schemars(length(min = 1, max = 200))]
    query: String,
}

pub(super) fn tool() -> Result<Tool, ToolFailure> {
    Tool::new(
        "memory_search",
        "Finds memories of this person that contain all the words, with the matching lines.",
        ToolKind::REPEATABLE,
        search,
    )
}

async fn search(arguments: Arguments, context: ToolContext) -> Result<String, ToolFailure> {
    let words: Vec<String> = folding::fold(&arguments.query)
        .split_whitespace()
        .map(str::to_owned)
        .collect();
    if words.is_empty() {
        return Err(ToolFailure("The query has no words.".to_owned()));
    }
    let mut shown = Vec::new();
    let mut rest = 0_usize;
    for block in memory(&context)
        .await?
        .list(&context.agent.spec.known_as)
        .await?
    {
        let content = &block.content;
        let all = format!(
            "{}\n{}\n{}",
            content.name, content.description, content.text
        );
        let all = folding::fold(&all);
        if !words.iter().all(|word| all.contains(word.as_str())) {
            continue;
        }
        let is_hit = |line: &&str| {
            let line = folding::fold(line);
            words.iter().any(|word| line.contains(word.as_str()))
        };
        let mut lines: Vec<&str> = content.text.lines().filter(is_hit).collect();
        if lines.is_empty() {
            // The words are in its name or description.
            lines.push(content.description.as_str());
        }
        for line in lines {
            match shown.len() < MAX_LINES {
                true => shown.push(format!("{}: {}", content.name, start_of(line))),
                false => rest += 1,
            }
        }
    }
    Ok(match (shown.is_empty(), rest) {
        (true, _) => "No memory holds these words.".to_owned(),
        (_, 0) => shown.join("\n"),
        _ => format!("{}\n… and {rest} more lines", shown.join("\n")),
    })
}

fn start_of(line: &str) -> String {
    line.chars().take(MAX_LINE_CHARS).collect()
}
