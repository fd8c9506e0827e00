//! Model aliases: other names for models and agents, for clients that ask for a fixed model name.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::messages;

/// Maximum number of aliases.
const MAX_ALIASES: usize = 200;
/// Maximum length of a name, bytes, as for models.
const MAX_NAME_BYTES: usize = 500;

/// Names and the models they refer to. A name that ends in `*` matches every name with that prefix.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ModelAliasNames")]
pub struct Aliases(BTreeMap<String, String>);

impl Aliases {
    /// Validates names and ids; whether a target exists is only known when it is requested.
    ///
    /// # Errors
    /// Why they are invalid.
    pub fn new(aliases: BTreeMap<String, String>) -> Result<Self, messages::Settings> {
        if aliases.len() > MAX_ALIASES {
            return Err(messages::Settings::TooManyModelAliases {
                count: MAX_ALIASES as u64,
            });
        }
        let is_name = |name: &str| {
            (1..=MAX_NAME_BYTES).contains(&name.len())
                && !name.chars().any(|c| c.is_whitespace() || c.is_control())
        };
        let is_pattern =
            |name: &str| !name.trim_end_matches('*').contains('*') && !name.ends_with("**");
        for (name, model) in &aliases {
            if !is_name(name)
                || !is_name(model)
                || !is_pattern(name)
                || model.contains('*')
                || name == model
            {
                return Err(messages::Settings::BadAlias {
                    name: name.chars().take(100).collect(),
                });
            }
        }
        Ok(Self(aliases))
    }

    /// What this name resolves to: an exact match before a pattern, and of patterns the longest.
    #[must_use]
    pub fn target(&self, name: &str) -> Option<&str> {
        let exact = self.0.get(name);
        let patterns = self
            .0
            .iter()
            .filter_map(|(pattern, model)| Some((pattern.strip_suffix('*')?, model)));
        let fit = patterns.filter(|(start, _)| name.starts_with(start));
        let target = exact.or_else(|| {
            fit.max_by_key(|(start, _)| start.len())
                .map(|(_, model)| model)
        });
        target.map(String::as_str)
    }

    /// The names without a pattern and their targets.
    pub fn names(&self) -> impl Iterator<Item = (&str, &str)> {
        let names = self.0.iter().filter(|(name, _)| !name.ends_with('*'));
        names.map(|(name, model)| (name.as_str(), model.as_str()))
    }

    /// These aliases and those of `others`, which take precedence.
    #[must_use]
    pub fn under(&self, others: &Self) -> Self {
        Self(self.0.clone().into_iter().chain(others.0.clone()).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(pairs: &[(&str, &str)]) -> Result<Aliases, messages::Settings> {
        Aliases::new(
            pairs
                .iter()
                .map(|(name, model)| ((*name).to_owned(), (*model).to_owned()))
                .collect(),
        )
    }

    #[test]
    fn a_name_before_a_pattern_and_the_longest_pattern() {
        let aliases = of(&[
            ("claude-*", "big"),
            ("claude-haiku-*", "small"),
            ("claude-haiku-4", "tiny"),
        ])
        .unwrap();
        for (name, target) in [
            ("claude-haiku-4", Some("tiny")),
            ("claude-haiku-4-5", Some("small")),
            ("claude-sonnet-5", Some("big")),
            ("claude-", Some("big")),
            ("gpt", None),
        ] {
            assert_eq!(aliases.target(name), target, "{name}");
        }
        assert_eq!(
            aliases.names().collect::<Vec<_>>(),
            [("claude-haiku-4", "tiny")]
        );
        let over = of(&[("claude-*", "other")]).unwrap();
        assert_eq!(
            aliases.under(&over).target("claude-sonnet-5"),
            Some("other")
        );
    }

    #[test]
    fn what_cannot_be_a_name_is_refused() {
        for pair in [
            ("", "m"),
            ("a", ""),
            ("a b", "m"),
            ("a*b", "m"),
            ("a**", "m"),
            ("a", "m*"),
            ("m", "m"),
        ] {
            assert!(of(&[pair]).is_err(), "{pair:?}");
        }
        assert!(of(&[("*", "m")]).is_ok());
    }
}
