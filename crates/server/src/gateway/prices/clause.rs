//! Patterns that match model names in a price list: text with a sign in front, or combinations of them.

use std::sync::OnceLock;

use regex::Regex;
use serde::{Deserialize, Serialize};

/// A condition on a model's name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum Clause {
    /// A text whose first character says how it is matched: `=` the whole name, `^` its beginning, `$` its end, `*` a
    /// part of it, `~` a regular expression that matches and `!` one that does not.
    One(Pattern),
    /// All of these.
    All {
        /// The clauses.
        all: Vec<Clause>,
    },
    /// One of these.
    Any {
        /// The clauses.
        any: Vec<Clause>,
    },
}

/// One text, with its sign.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub(super) struct Pattern {
    text: String,
    /// Compiled on first use; `None` for an invalid expression, which matches nothing.
    regex: OnceLock<Option<Regex>>,
}

impl From<String> for Pattern {
    fn from(text: String) -> Self {
        Self {
            text,
            regex: OnceLock::new(),
        }
    }
}

impl From<Pattern> for String {
    fn from(pattern: Pattern) -> Self {
        pattern.text
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Pattern {
    fn matches(&self, name: &str) -> bool {
        let mut text = self.text.chars();
        let sign = text.next();
        let text = text.as_str();
        let regex = || self.regex.get_or_init(|| Regex::new(text).ok()).as_ref();
        match sign {
            Some('=') => name == text,
            Some('^') => name.starts_with(text),
            Some('$') => name.ends_with(text),
            Some('*') => name.contains(text),
            Some('~') => regex().is_some_and(|regex| regex.is_match(name)),
            Some('!') => regex().is_some_and(|regex| !regex.is_match(name)),
            _ => false,
        }
    }
}

impl Clause {
    /// A text with its sign.
    pub(super) fn one(sign: char, text: &str) -> Self {
        Self::One(format!("{sign}{text}").into())
    }

    /// Whether a name in lower case matches.
    pub(super) fn matches(&self, name: &str) -> bool {
        match self {
            Self::One(pattern) => pattern.matches(name),
            Self::All { all } => all.iter().all(|clause| clause.matches(name)),
            Self::Any { any } => any.iter().any(|clause| clause.matches(name)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_sign() {
        let check = |clause: &str, name: &str, expected: bool| {
            let clause: Clause = serde_json::from_str(clause).unwrap();
            assert_eq!(clause.matches(name), expected, "{clause:?} {name}");
        };
        for (clause, like, unlike) in [
            (r#""=gpt-5""#, "gpt-5", "gpt-5-mini"),
            (r#""^gpt-5""#, "gpt-5-mini", "my-gpt-5"),
            (r#""$-free""#, "a-free", "a-free-b"),
            (r#""*sonnet""#, "claude-sonnet-4", "claude"),
            (r#""~^o[134]$""#, "o3", "o5"),
            (r#""!-tts(?:$|-)""#, "gemini", "gemini-tts"),
            (r#"{"all":["^a",{"any":["$b","$c"]}]}"#, "a-c", "a-d"),
        ] {
            check(clause, like, true);
            check(clause, unlike, false);
        }
        for broken in [
            r#""""#,
            r#""gpt""#,
            r#""~(""#,
            r#""!(""#,
            r#"{"all":["=a"],"any":["=b"],"x":1}"#,
        ] {
            check(broken, "gpt", false);
        }
    }
}
