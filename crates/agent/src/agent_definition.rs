//! An agent defined by an administrator, in the configuration file or in the web interface, with one schema and one
//! validation.

use std::{sync::Arc, time::Duration};

use domain::ModelParameters;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{AgentLimits, AgentSpec, Models, Pattern, ToolChoice, Toolbox, messages};

const NAME_LIMIT: usize = 40;
const TITLE_LIMIT_CHARS: usize = 100;
const DESCRIPTION_LIMIT_CHARS: usize = 500;
const INSTRUCTIONS_LIMIT_BYTES: usize = 50_000;
/// Maximum number of names in a list.
const LIST_LIMIT: usize = 200;
/// Maximum length of a name in a list.
const LISTED_LIMIT_BYTES: usize = 200;
/// A year.
const MINUTES_LIMIT: u32 = 525_600;
/// Names that have another meaning in a URL, a model's id or `task`.
pub const RESERVED_NAMES: [&str; 9] = [
    "agent", "deep", "default", "explore", "general", "main", "model", "research", "tour",
];

/// Whether the name is reserved for a built-in agent, so that no defined agent can have it.
#[must_use]
pub fn is_built_in(name: &str) -> bool {
    RESERVED_NAMES.contains(&name)
}

/// An [agent](docs/agents/agents.md). An absent list means all. Unknown fields are refused.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Agent")]
#[serde(deny_unknown_fields)]
pub struct AgentDefinition {
    /// Its name in requests and in `task`: lowercase letters, digits and `-`.
    pub name: String,
    /// The name that people see in lists; `name` if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Its purpose, shown to people in the list and to other agents that may delegate to it.
    pub description: String,
    /// Its system message. The rules for all agents are appended.
    pub instructions: String,
    /// The model it uses; that of the caller if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The parameters of its model calls that a chat does not set.
    #[serde(default, skip_serializing_if = "ModelParameters::is_unset")]
    pub parameters: ModelParameters,
    /// The tools it has; a trailing `*` matches any text. All if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<String>>,
    /// The agents it may delegate to; all that may be called if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sub_agents: Option<Vec<String>>,
    /// The skills it may load; all if absent and it has the tool `skill`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skills: Option<Vec<String>>,
    /// The names of the document collections it searches; all that the person may access if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub collections: Option<Vec<String>>,
    /// Its limits.
    #[serde(default)]
    pub limits: DefinedLimits,
    /// Whether other agents may delegate to it.
    #[serde(default = "yes")]
    pub may_be_called: bool,
    /// Whether it can be used at all.
    #[serde(default = "yes")]
    pub enabled: bool,
}

/// The limits of an agent. The server's limit applies where one is absent.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "AgentLimits")]
#[serde(deny_unknown_fields)]
pub struct DefinedLimits {
    /// Maximum number of its own model calls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steps: Option<u32>,
    /// Maximum number of tokens, including its sub-agents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// Maximum cost in US dollars, including its sub-agents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usd: Option<f64>,
    /// Maximum active minutes of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub minutes: Option<f64>,
}

fn yes() -> bool {
    true
}

impl AgentDefinition {
    /// The name that people see.
    #[must_use]
    pub fn shown_name(&self) -> &str {
        self.title.as_deref().unwrap_or(&self.name)
    }

    /// Validates the definition.
    ///
    /// # Errors
    /// Returns the first invalid field.
    pub fn check(&self) -> Result<(), messages::Agents> {
        check_name(&self.name)?;
        let is_title = |title: &String| {
            !title.trim().is_empty()
                && title.chars().count() <= TITLE_LIMIT_CHARS
                && !title.contains(char::is_control)
        };
        if !self.title.iter().all(is_title) {
            return Err(messages::Agents::BadAgentTitle {
                limit: TITLE_LIMIT_CHARS as u64,
            });
        }
        let characters = self.description.chars().count();
        if self.description.trim().is_empty() || characters > DESCRIPTION_LIMIT_CHARS {
            return Err(messages::Agents::BadAgentDescription {
                limit: DESCRIPTION_LIMIT_CHARS as u64,
            });
        }
        let bytes = self.instructions.len();
        if self.instructions.trim().is_empty() || bytes > INSTRUCTIONS_LIMIT_BYTES {
            return Err(messages::Agents::BadInstructions {
                limit: INSTRUCTIONS_LIMIT_BYTES as u64,
            });
        }
        if self
            .model
            .as_ref()
            .is_some_and(|model| model.trim().is_empty() || model.len() > LISTED_LIMIT_BYTES)
        {
            return Err(messages::Agents::BadAgentModel {
                limit: LISTED_LIMIT_BYTES as u64,
            });
        }
        if self.parameters.system_prompt.is_some() {
            return Err(messages::Agents::AgentSystemPrompt);
        }
        let lists = [
            ("tools", &self.tools),
            ("sub_agents", &self.sub_agents),
            ("skills", &self.skills),
            ("collections", &self.collections),
        ];
        for (field, list) in lists {
            check_list(field, list.as_deref().unwrap_or_default())?;
        }
        let star = |tool: &&String| tool.find('*').is_some_and(|place| place + 1 < tool.len());
        if let Some(tool) = self.tools.iter().flatten().find(star) {
            return Err(messages::Agents::StarWithin {
                tool: tool.to_owned(),
            });
        }
        self.limits.check()
    }

    /// The agent with the subset of `tools` that it may use.
    #[must_use]
    pub fn spec(&self, tools: &Toolbox, models: Option<Models>) -> AgentSpec {
        let may_use = match &self.tools {
            None => ToolChoice::All,
            // Validated names are short enough to be patterns.
            Some(names) => ToolChoice::Only(
                names
                    .iter()
                    .filter_map(|name| Pattern::try_from(name.clone()).ok())
                    .collect(),
            ),
        };
        let spec = AgentSpec::new(
            &self.name,
            &self.description,
            &self.instructions,
            tools,
            may_use,
        );
        AgentSpec {
            models: models.map(Arc::new),
            parameters: self.parameters.clone(),
            limits: self.limits.of_agent(),
            sub_agents: self.sub_agents.clone(),
            may_know: self.skills.clone(),
            ..spec
        }
    }
}

fn check_name(name: &str) -> Result<(), messages::Agents> {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let begins = name.starts_with(|c: char| c.is_ascii_lowercase());
    if name.len() > NAME_LIMIT || !begins || !name.chars().all(plain) || name.ends_with('-') {
        return Err(messages::Agents::BadAgentName {
            limit: NAME_LIMIT as u64,
        });
    }
    if RESERVED_NAMES.contains(&name) {
        return Err(messages::Agents::AgentNameReserved {
            name: name.to_owned(),
        });
    }
    Ok(())
}

fn check_list(field: &str, list: &[String]) -> Result<(), messages::Agents> {
    if list.len() > LIST_LIMIT {
        return Err(messages::Agents::TooManyNames {
            field: field.to_owned(),
            limit: LIST_LIMIT as u64,
        });
    }
    match list
        .iter()
        .find(|name| name.trim().is_empty() || name.len() > LISTED_LIMIT_BYTES)
    {
        Some(_) => Err(messages::Agents::BadNameInList {
            field: field.to_owned(),
            limit: LISTED_LIMIT_BYTES as u64,
        }),
        None => Ok(()),
    }
}

impl DefinedLimits {
    fn check(&self) -> Result<(), messages::Agents> {
        let Self {
            steps,
            tokens,
            usd,
            minutes,
        } = *self;
        if steps == Some(0) || tokens == Some(0) {
            return Err(messages::Agents::NoStepsOrTokens);
        }
        if usd.is_some_and(|usd| !(0.000_001..=1e9).contains(&usd)) {
            return Err(messages::Agents::BadAgentCost);
        }
        if minutes.is_some_and(|minutes| !(0.001..=MINUTES_LIMIT.into()).contains(&minutes)) {
            return Err(messages::Agents::BadAgentMinutes {
                most: MINUTES_LIMIT.into(),
            });
        }
        Ok(())
    }

    /// The limits in the units of a run's limits.
    #[must_use]
    pub fn of_agent(&self) -> AgentLimits {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "positive, and a conversion to an integer saturates"
        )]
        let cost_micro_usd = self.usd.map(|usd| (usd * 1e6).round() as u64);
        let time = self
            .minutes
            .map(|minutes| Duration::from_secs_f64(minutes * 60.0));
        AgentLimits {
            steps: self.steps,
            tokens: self.tokens,
            cost_micro_usd,
            time,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn check(changes: Value) -> Result<(), String> {
        let mut definition =
            json!({"name": "writer", "description": "Writes.", "instructions": "Write."});
        let fields = definition.as_object_mut().unwrap();
        fields.extend(changes.as_object().unwrap().clone());
        serde_json::from_value::<AgentDefinition>(definition)
            .map_err(|error| error.to_string())?
            .check()
            .map_err(|refused| refused.to_string())
    }

    #[test]
    fn says_which_field_is_wrong() {
        assert_eq!(
            check(json!({"tools": ["ls", "files__*"], "model": "m", "limits": {"usd": 0.5}})),
            Ok(())
        );
        let wrong = [
            ("name", json!({"name": ""})),
            ("name", json!({"name": "Writer"})),
            ("name", json!({"name": "9"})),
            ("name", json!({"name": "a/b"})),
            ("name", json!({"name": "general"})),
            ("name", json!({"name": "a".repeat(41)})),
            ("description", json!({"description": " "})),
            ("instructions", json!({"instructions": "x".repeat(50_001)})),
            ("model", json!({"model": ""})),
            (
                "parameters.system_prompt",
                json!({"parameters": {"system_prompt": "x"}}),
            ),
            ("temperature", json!({"parameters": {"temperature": 3}})),
            ("tools", json!({"tools": ["a*b"]})),
            ("tools", json!({"tools": [""]})),
            ("sub_agents", json!({"sub_agents": vec!["a"; 201]})),
            ("limits.steps", json!({"limits": {"steps": 0}})),
            ("limits.usd", json!({"limits": {"usd": -1.0}})),
            ("limits.minutes", json!({"limits": {"minutes": 0.0}})),
            ("colour", json!({"colour": "red"})),
        ];
        for (field, changes) in wrong {
            let sentence = check(changes.clone()).unwrap_err();
            assert!(
                sentence.contains(&format!("`{field}`")),
                "{changes}: {sentence}"
            );
        }
    }
}
