//! The approval policy: which tool calls require a person's approval. The administrator's rules are checked first, then
//! standing approvals, then the tool's default.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use domain::event::Remembered;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::messages;

/// Maximum length of a pattern, bytes.
const PATTERN_LIMIT_BYTES: usize = 10_000;
/// Maximum number of arguments in one rule.
const ARGUMENTS_LIMIT: usize = 50;

/// A glob pattern: `*` matches any text, and `\*` a literal star.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Pattern {
    written: String,
    /// The literal texts between the stars.
    pieces: Vec<String>,
}

/// Why a rule is invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct RuleProblem(pub messages::Approvals);

impl TryFrom<String> for Pattern {
    type Error = RuleProblem;

    fn try_from(written: String) -> Result<Self, RuleProblem> {
        if written.len() > PATTERN_LIMIT_BYTES {
            return Err(RuleProblem(messages::Approvals::LongPattern {
                limit: PATTERN_LIMIT_BYTES as u64,
            }));
        }
        let mut pieces = Vec::new();
        let mut piece = String::new();
        let mut characters = written.chars().peekable();
        while let Some(character) = characters.next() {
            match character {
                '\\' if characters
                    .peek()
                    .is_some_and(|next| matches!(next, '*' | '\\')) =>
                {
                    piece.extend(characters.next());
                }
                '*' => pieces.push(std::mem::take(&mut piece)),
                other => piece.push(other),
            }
        }
        pieces.push(piece);
        Ok(Self { written, pieces })
    }
}

impl From<Pattern> for String {
    fn from(pattern: Pattern) -> Self {
        pattern.written
    }
}

/// What a star may match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Star {
    /// Any text, in patterns that ask or deny.
    Anything,
    /// In patterns that allow: no line breaks, no shell operators, and no `..` into another folder, so that `git *`
    /// does not match `git log; rm -r .` and `/notes/*` stays in `/notes`. A lone star matches anything.
    Harmless,
}

impl Pattern {
    /// Whether the pattern matches the whole of `text`.
    #[must_use]
    pub fn fits(&self, text: &str, star: Star) -> bool {
        let [first, .., last] = self.pieces.as_slice() else {
            return self.pieces.first().is_some_and(|whole| whole == text);
        };
        let inner = text
            .strip_prefix(first.as_str())
            .and_then(|rest| rest.strip_suffix(last.as_str()));
        let Some(mut rest) = inner else { return false };
        if self.written == "*" {
            // A lone star matches anything.
            return true;
        }
        if star == Star::Harmless && !stays_inside(text, &self.written) {
            return false;
        }
        for piece in &self.pieces[1..self.pieces.len() - 1] {
            // The first match suffices: text between the pieces is checked the same way everywhere.
            let Some((between, after)) = rest.split_once(piece.as_str()) else {
                return false;
            };
            if !star.may_be(between) {
                return false;
            }
            rest = after;
        }
        star.may_be(rest)
    }

    fn fits_value(&self, value: &Value, star: Star) -> bool {
        match value {
            Value::String(text) => self.fits(text, star),
            // In serialized JSON, a star could match the end of one string and the beginning of the next.
            _ if star == Star::Harmless && self.pieces.len() > 1 => self.written == "*",
            other => self.fits(&other.to_string(), star),
        }
    }
}

impl Star {
    fn may_be(self, text: &str) -> bool {
        let harmful = |c: char| {
            c.is_control() || matches!(c, ';' | '&' | '|' | '<' | '>' | '$' | '`' | '(' | ')')
        };
        self == Self::Anything || !(text.contains(harmful) || text.contains(".."))
    }
}

/// Whether `text` has no `..` beyond those of the pattern, including any of which a star matches only half.
fn stays_inside(text: &str, written: &str) -> bool {
    text.matches("..").count() <= written.matches("..").count()
}

/// The effect of a rule on the calls it matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The calls run.
    Allow,
    /// The calls wait for approval, which can be remembered.
    Ask,
    /// The calls wait for approval every time.
    AskEachTime,
    /// The calls are refused.
    Deny,
}

/// A rule of the administrator. It matches a call if the tool's name and all listed arguments match; other arguments
/// may have any value.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// The tool's name, with optional wildcards.
    pub tool: Pattern,
    /// Patterns by argument name.
    #[serde(default)]
    pub arguments: BTreeMap<String, Pattern>,
    /// The effect on these calls.
    pub then: Verdict,
}

impl Rule {
    fn fits(&self, tool: &str, arguments: &Value) -> bool {
        let star = if self.then == Verdict::Allow {
            Star::Harmless
        } else {
            Star::Anything
        };
        let has = |(name, pattern): (&String, &Pattern)| {
            arguments
                .get(name)
                .is_some_and(|value| pattern.fits_value(value, star))
        };
        self.tool.fits(tool, star) && self.arguments.iter().all(has)
    }
}

/// A person's standing approval. Without arguments it covers every call of the tool; otherwise only calls with exactly
/// these arguments whose values match.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StandingApproval {
    /// The tool's name.
    pub tool: String,
    /// Patterns by argument name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments: Option<BTreeMap<String, Pattern>>,
    /// Whether it applies to this chat only or always.
    pub remembered: Remembered,
}

impl StandingApproval {
    /// Checks the number of arguments.
    ///
    /// # Errors
    /// If it names too many arguments.
    pub fn checked(self) -> Result<Self, RuleProblem> {
        match &self.arguments {
            Some(arguments) if arguments.len() > ARGUMENTS_LIMIT => {
                Err(RuleProblem(messages::Approvals::TooManyArguments {
                    count: ARGUMENTS_LIMIT as u64,
                }))
            }
            _ => Ok(self),
        }
    }

    /// Whether it covers a call.
    #[must_use]
    pub fn fits(&self, tool: &str, arguments: &Value) -> bool {
        let Some(patterns) = &self.arguments else {
            return self.tool == tool;
        };
        let Some(given) = arguments.as_object() else {
            return false;
        };
        let fits = |(name, value): (&String, &Value)| {
            patterns
                .get(name)
                .is_some_and(|pattern| pattern.fits_value(value, Star::Harmless))
        };
        self.tool == tool && given.len() == patterns.len() && given.iter().all(fits)
    }
}

/// What a call requires before it may run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Requirement {
    /// No approval.
    Nothing,
    /// None, since a standing approval covers it.
    Standing(Remembered),
    /// A person's approval.
    Approval { may_remember: bool },
    /// It must not run.
    Refused,
}

/// All approval rules of a run. Clones share the standing approvals granted during the run.
#[derive(Debug, Clone, Default)]
pub struct ApprovalPolicy {
    rules: Arc<[Rule]>,
    allowed: Arc<Mutex<Vec<StandingApproval>>>,
}

impl ApprovalPolicy {
    /// A policy with the administrator's rules, of which the first match applies, and the person's standing approvals.
    #[must_use]
    pub fn new(rules: Arc<[Rule]>, allowed: Vec<StandingApproval>) -> Self {
        Self {
            rules,
            allowed: Arc::new(Mutex::new(allowed)),
        }
    }

    /// Adds a standing approval for later calls.
    pub fn allow(&self, allowed: StandingApproval) {
        self.allowed
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(allowed);
    }

    pub(crate) fn requirement(
        &self,
        tool: &str,
        asks_by_default: bool,
        arguments: &Value,
    ) -> Requirement {
        let by_default = if asks_by_default {
            Verdict::Ask
        } else {
            Verdict::Allow
        };
        let rule = self.rules.iter().find(|rule| rule.fits(tool, arguments));
        match rule.map_or(by_default, |rule| rule.then) {
            Verdict::Allow => Requirement::Nothing,
            Verdict::Deny => Requirement::Refused,
            Verdict::AskEachTime => Requirement::Approval {
                may_remember: false,
            },
            Verdict::Ask => {
                let allowed = self.allowed.lock().unwrap_or_else(PoisonError::into_inner);
                let given = allowed.iter().find(|allowed| allowed.fits(tool, arguments));
                given.map_or(Requirement::Approval { may_remember: true }, |given| {
                    Requirement::Standing(given.remembered)
                })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn pattern(text: &str) -> Pattern {
        Pattern::try_from(text.to_owned()).unwrap()
    }

    #[test]
    fn a_star_matches_harmless_text() {
        for (written, text, fits) in [
            ("ls", "ls", true),
            ("ls", "ls -l", false),
            ("git *", "git log --oneline", true),
            ("git *", "git log; rm -r .", false),
            ("git *", "git log && rm -r .", false),
            ("git *", "git log $(rm -r .)", false),
            ("git *", "git log\nrm -r .", false),
            ("/notes/*", "/notes/plan.md", true),
            ("/notes/*", "/notes/../etc/passwd", false),
            ("../*", "../a", true),
            ("../*", "../a/../../b", false),
            ("/a/.*", "/a/..", false),
            ("cat *", "cat ../secret", false),
            ("--file=*", "--file=../x", false),
            ("*", "", true),
            ("*", "a; b\n../c", true),
            ("*.md", "/a/b.md", true),
            ("a*b*c", "a-b-c", true),
            ("a*b*c", "a-c-b", false),
            ("aba*aba", "aba", false),
            (r"2\*3", "2*3", true),
            (r"2\*3", "2x3", false),
            ("", "", true),
            ("", "x", false),
        ] {
            assert_eq!(
                pattern(written).fits(text, Star::Harmless),
                fits,
                "{written} {text}"
            );
        }
        assert!(pattern("rm *").fits("rm a; rm ../b", Star::Anything));
        assert!(Pattern::try_from("x".repeat(10_001)).is_err());
    }

    proptest! {
        #[test]
        fn an_escaped_text_fits_itself_alone(text in ".{0,40}", other in ".{0,40}") {
            let exact = pattern(&text.replace('\\', r"\\").replace('*', r"\*"));
            prop_assert!(exact.fits(&text, Star::Harmless));
            prop_assert_eq!(exact.fits(&other, Star::Anything), text == other);
        }
    }

    #[test]
    fn a_standing_approval_names_all_arguments() {
        let arguments = BTreeMap::from([("path".to_owned(), pattern("/notes/*"))]);
        let allowed = StandingApproval {
            tool: "read".into(),
            arguments: Some(arguments),
            remembered: Remembered::Always,
        };
        assert!(allowed.fits("read", &json!({"path": "/notes/a"})));
        assert!(!allowed.fits("read", &json!({"path": "/notes/a", "follow_links": true})));
        assert!(!allowed.fits("read", &json!({})));
        assert!(!allowed.fits("write", &json!({"path": "/notes/a"})));
        let list = |pattern_text: &str| StandingApproval {
            arguments: Some(BTreeMap::from([("args".to_owned(), pattern(pattern_text))])),
            ..allowed.clone()
        };
        let pushes = json!({"args": ["push", "--force", "x"]});
        assert!(!list(r#"["push","*"]"#).fits("read", &pushes));
        assert!(
            list(r#"["push","--force","x"]"#).fits("read", &pushes)
                && list("*").fits("read", &pushes)
        );
        let any = StandingApproval {
            arguments: None,
            ..allowed
        };
        assert!(any.fits("read", &json!({"anything": 1})));
    }

    #[test]
    fn the_first_rule_that_fits_holds_and_people_cannot_undo_a_refusal() {
        let rules: Vec<Rule> = serde_json::from_value(json!([
            {"tool": "shell", "arguments": {"command": "rm *"}, "then": "deny"},
            {"tool": "shell", "arguments": {"command": "git push*"}, "then": "ask_each_time"},
            {"tool": "shell", "then": "ask"},
            {"tool": "files__*", "then": "allow"},
        ]))
        .unwrap();
        let policy = ApprovalPolicy::new(rules.into(), Vec::new());
        let any = StandingApproval {
            tool: "shell".into(),
            arguments: None,
            remembered: Remembered::Chat,
        };
        let requirement =
            |command: &str| policy.requirement("shell", false, &json!({"command": command}));
        assert_eq!(
            requirement("ls"),
            Requirement::Approval { may_remember: true }
        );
        policy.allow(any);
        assert_eq!(requirement("ls"), Requirement::Standing(Remembered::Chat));
        assert_eq!(requirement("rm -r . && ls"), Requirement::Refused);
        assert_eq!(
            requirement("git push --force"),
            Requirement::Approval {
                may_remember: false
            }
        );
        assert_eq!(
            policy.requirement("files__write", true, &json!({})),
            Requirement::Nothing
        );
        assert_eq!(
            policy.requirement("other", true, &json!({})),
            Requirement::Approval { may_remember: true }
        );
    }
}
