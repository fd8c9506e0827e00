//! `find_tools`: searches for tools that are not offered to the model because its server accepts fewer than there are.

use std::{cmp::Reverse, collections::BTreeMap, sync::Arc};

use llm::ToolSpec;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    Tool, ToolFailure,
    tool::{ToolContext, ToolKind},
};

/// The name of the tool.
pub(crate) const NAME: &str = "find_tools";

/// Maximum number of tools in one result; all of them are then offered to the model.
const MAX_FOUND: usize = 8;

/// Maximum length of a description in a result, characters.
const MAX_DESCRIPTION_CHARS: usize = 200;

/// Maximum number of servers whose tools are counted in the description.
const MAX_GROUPS: usize = 40;

#[derive(Deserialize, JsonSchema)]
struct Arguments {
    /// What the tool should do, in a few words.
    #[schemars(length(min = 1, max = 500))]
    query: String,
}

/// The tool, which searches `all`. Its description counts, by server, the tools that are not offered at first.
///
/// # Errors
/// If its schema is not valid, which a test rules out.
pub(crate) fn tool(all: &Arc<[ToolSpec]>, left_out: &[&ToolSpec]) -> Result<Tool, ToolFailure> {
    let all = Arc::clone(all);
    let find = move |Arguments { query }: Arguments, _: ToolContext| {
        let found = result(&found(&all, &query));
        std::future::ready(Ok(found))
    };
    Tool::new(NAME, &description(left_out), ToolKind::REPEATABLE, find)
}

fn description(left_out: &[&ToolSpec]) -> String {
    let mut groups: BTreeMap<&str, usize> = BTreeMap::new();
    for tool in left_out {
        let server = tool
            .name
            .split_once("__")
            .map_or("other", |(server, _)| server);
        *groups.entry(server).or_default() += 1;
    }
    let more = if groups.len() > MAX_GROUPS {
        ", …"
    } else {
        ""
    };
    let groups: Vec<String> = groups
        .iter()
        .take(MAX_GROUPS)
        .map(|(server, count)| format!("{server} ({count})"))
        .collect();
    format!(
        "Finds tools that are not listed here. There are {} more: {}{more}. Search for what you need before you say that \
         you cannot do it. The tools in the result can be called in your next step.",
        left_out.len(),
        groups.join(", ")
    )
}

fn result(found: &[&ToolSpec]) -> String {
    if found.is_empty() {
        return "No tool was found. Try other words.".to_owned();
    }
    let line = |tool: &&ToolSpec| {
        let text: String = tool
            .description
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ");
        format!(
            "- {}: {}",
            tool.name,
            text.chars().take(MAX_DESCRIPTION_CHARS).collect::<String>()
        )
    };
    found.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// The names in a result.
pub(crate) fn names_in(result: &str) -> impl Iterator<Item = &str> {
    result
        .lines()
        .filter_map(|line| Some(line.strip_prefix("- ")?.split_once(": ")?.0))
}

/// The best matches, best first. A word counts more the fewer tools contain it, and three times in a name.
fn found<'a>(tools: &'a [ToolSpec], query: &str) -> Vec<&'a ToolSpec> {
    let wanted = words(query);
    let texts: Vec<(Vec<String>, Vec<String>)> = tools
        .iter()
        .map(|tool| (words(&tool.name), words(&tool.description)))
        .collect();
    let has = |words: &[String], wanted: &str| words.iter().any(|word| is_like(word, wanted));
    let mut scores = vec![0_usize; tools.len()];
    for word in &wanted {
        let weights: Vec<usize> = texts
            .iter()
            .map(|(name, description)| {
                if has(name, word) {
                    3
                } else {
                    usize::from(has(description, word))
                }
            })
            .collect();
        let count = weights.iter().filter(|weight| **weight > 0).count();
        let rarity = 1_000 / count.max(1);
        for (score, weight) in scores.iter_mut().zip(weights) {
            *score += weight * rarity;
        }
    }
    let mut found: Vec<(usize, &ToolSpec)> = scores
        .into_iter()
        .zip(tools)
        .filter(|(score, _)| *score > 0)
        .collect();
    found.sort_by_key(|(score, _)| Reverse(*score));
    found
        .into_iter()
        .take(MAX_FOUND)
        .map(|(_, tool)| tool)
        .collect()
}

/// The folded words of a text; a camel-case name is split.
fn words(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for letter in text.chars() {
        if folding::is_mark(letter) || folding::is_invisible(letter) {
            // Part of the letter before it.
            words
                .last_mut()
                .into_iter()
                .for_each(|word| word.push(letter));
            continue;
        }
        if !letter.is_alphanumeric() || was_lower && letter.is_uppercase() {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| letter.is_alphanumeric()) {
            word.push(letter);
        }
        was_lower = letter.is_lowercase();
    }
    let folded = words.iter().map(|word| folding::fold(word).into_owned());
    folded
        .filter(|word| word.chars().nth(1).is_some())
        .collect()
}

/// Whether two words differ only in an ending.
fn is_like(word: &str, wanted: &str) -> bool {
    let shorter = word.chars().count().min(wanted.chars().count());
    word == wanted || shorter >= 4 && (word.starts_with(wanted) || wanted.starts_with(word))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn spec(name: &str, description: &str) -> ToolSpec {
        let parameters = json!({"type": "object", "properties": {}}).into();
        ToolSpec {
            name: name.into(),
            description: description.into(),
            parameters,
        }
    }

    #[test]
    fn tools_are_found_by_name_and_description() {
        let tools = [
            spec("jira__createIssue", "Creates an issue."),
            spec("jira__list_projects", "Lists the projects\nof the person."),
            spec("mail__send", "Sends a message, also about issues."),
            spec("mail__поиск", "Ищет письма."),
        ];
        let check = |query: &str, expected: &[&str]| {
            let names: Vec<&str> = found(&tools, query)
                .iter()
                .map(|tool| tool.name.as_str())
                .collect();
            assert_eq!(names, expected, "{query}");
        };
        check("create an issue", &["jira__createIssue", "mail__send"]);
        check("projects", &["jira__list_projects"]);
        check("jira", &["jira__createIssue", "jira__list_projects"]);
        check("письмо", &[]);
        check("письма", &["mail__поиск"]);
        check("Creátes", &["jira__createIssue"]);
        check("?!", &[]);
        let result = result(&found(&tools, "project"));
        assert_eq!(
            result,
            "- jira__list_projects: Lists the projects of the person."
        );
        assert_eq!(
            names_in(&result).collect::<Vec<_>>(),
            ["jira__list_projects"]
        );
    }

    #[test]
    fn left_out_tools_are_counted_by_server() {
        let tools = [spec("jira__a", ""), spec("jira__b", ""), spec("x", "")];
        let said = description(&tools.iter().collect::<Vec<_>>());
        assert!(
            said.contains("There are 3 more: jira (2), other (1)."),
            "{said}"
        );
    }
}
