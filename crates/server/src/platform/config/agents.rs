//! `[[agents]]`: agent definitions with the fields of the page's form; instructions may be in a separate file.

use std::{collections::BTreeSet, path::Path};

use anyhow::Context;
use toml::Table;

use super::layers::in_words;
use agent::AgentDefinition;

/// The key that names the file with the instructions.
const FILE: &str = "instructions_file";

/// Relative paths start at `folder`.
pub(super) fn check(raw: Vec<Table>, folder: &Path) -> anyhow::Result<Vec<AgentDefinition>> {
    let mut names = BTreeSet::new();
    let read = |mut table: Table| {
        let name = table
            .get("name")
            .and_then(|name| name.as_str())
            .unwrap_or("?")
            .to_owned();
        let definition =
            definition(&mut table, folder).with_context(|| format!("agents “{name}”"))?;
        anyhow::ensure!(
            names.insert(name.clone()),
            "agents: there are two of the name “{name}”"
        );
        Ok(definition)
    };
    raw.into_iter().map(read).collect()
}

fn definition(table: &mut Table, folder: &Path) -> anyhow::Result<AgentDefinition> {
    if let Some(file) = table.remove(FILE) {
        anyhow::ensure!(
            !table.contains_key("instructions"),
            "give it either instructions or {FILE}"
        );
        let file = file
            .as_str()
            .with_context(|| format!("{FILE} must be a path"))?;
        let path = folder.join(file);
        let text = std::fs::read_to_string(&path)
            .with_context(|| format!("cannot read {}", path.display()))?;
        table.insert("instructions".to_owned(), text.into());
    }
    let definition: AgentDefinition = std::mem::take(table).try_into().map_err(in_words)?;
    definition
        .check()
        .map_err(|sentence| anyhow::anyhow!(sentence))?;
    Ok(definition)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, folder: &Path) -> Result<Vec<AgentDefinition>, String> {
        let agents = toml::from_str::<Table>(text)
            .unwrap()
            .remove("agents")
            .unwrap();
        check(agents.try_into().unwrap(), folder).map_err(|error| format!("{error:#}"))
    }

    #[test]
    fn instructions_stand_here_or_in_a_file() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("writer.md"), "Write well.").unwrap();
        let text = r#"
            [[agents]]
            name = "writer"
            description = "Writes."
            instructions_file = "writer.md"
            tools = ["write_file", "files__*"]
            limits = { steps = 5, usd = 0.5 }
            parameters = { temperature = 0, stop = ["END"], reasoning_effort = "none" }
            may_be_called = false
            [[agents]]
            name = "editor"
            description = "Edits."
            instructions = "Edit."
        "#;
        let agents = read(text, folder.path()).unwrap();
        assert_eq!(agents[0].instructions, "Write well.");
        assert_eq!(
            (
                agents[0].limits.steps,
                agents[0].may_be_called,
                agents[0].enabled
            ),
            (Some(5), false, true)
        );
        let set = &agents[0].parameters;
        assert_eq!(
            (set.temperature, set.stop.as_deref(), set.reasoning_effort),
            (
                Some(0.0),
                Some(&["END".to_owned()][..]),
                Some(domain::ReasoningEffort::None)
            )
        );
        assert_eq!(
            (agents[1].name.as_str(), agents[1].tools.as_ref()),
            ("editor", None)
        );
    }

    #[test]
    fn what_is_wrong_is_said_with_the_name() {
        let folder = Path::new("/nonexistent");
        let wrong = [
            ("", "missing field `description`"),
            (
                "description = 'd'\ninstructions = 'i'\ncolour = 'red'",
                "colour",
            ),
            (
                "description = 'd'\ninstructions_file = 'gone.md'",
                "cannot read",
            ),
            (
                "description = 'd'\ninstructions = 'i'\ninstructions_file = 'gone.md'",
                "either instructions or",
            ),
            (
                "description = 'd'\ninstructions = 'i'\nlimits = { steps = 0 }",
                "`limits.steps`",
            ),
            (
                "description = 'd'\ninstructions = 'i'\n[[agents]]\nname = 'writer'\ndescription = 'd'\ninstructions = 'i'",
                "two of the name",
            ),
        ];
        for (rest, part) in wrong {
            let error = read(&format!("[[agents]]\nname = 'writer'\n{rest}"), folder).unwrap_err();
            assert!(
                error.contains(part) && error.contains("“writer”"),
                "{error}"
            );
        }
    }
}
