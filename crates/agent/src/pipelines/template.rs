//! Prompt templates: text with `{{VARIABLES}}`, parsed once and filled in a single pass, so that text from people or
//! models is never interpreted as a variable.

use super::values::Values;
use crate::messages;

/// Maximum length of a template, bytes.
pub const MAX_TEMPLATE_BYTES: usize = 32_000;
/// Largest number after a colon.
const MAX_COUNT: usize = 1_000_000;

/// A parsed template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template(Vec<Piece>);

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Piece {
    Text(String),
    Variable(Variable),
}

/// A variable, and the requested part of its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Variable {
    /// The last message, or the text that is being written.
    Prompt(Option<Cut>),
    /// The conversation: how many of its messages, and how much of each.
    Messages(Option<Cut>, Option<Cut>),
    /// A variable without a requested part.
    Plain(Name),
}

/// The requested part of a long value: characters of a text, or messages of a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cut {
    Start(usize),
    End(usize),
    /// Both ends, without the middle.
    Middle(usize),
}

/// The variables without requested parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Name {
    /// `CURRENT_DATE`, as `2026-11-24`.
    CurrentDate,
    /// `CURRENT_TIME`, as `14:05:00`.
    CurrentTime,
    /// `CURRENT_DATETIME`: both.
    CurrentDatetime,
    /// `CURRENT_WEEKDAY`, in English.
    CurrentWeekday,
    /// `CURRENT_TIMEZONE`.
    CurrentTimezone,
    /// `USER_NAME`.
    UserName,
    /// `USER_EMAIL`.
    UserEmail,
    /// `USER_GROUPS`, comma-separated.
    UserGroups,
    /// Facts about people that Open WebUI stores and this server does not: `USER_BIO`, `USER_GENDER`,
    /// `USER_BIRTH_DATE`, `USER_AGE`, `USER_LOCATION`, `USER_LANGUAGE`.
    NotKnown,
    /// `CONTEXT`: the retrieved passages.
    Context,
    /// `QUERY`: the question of the retrieval.
    Query,
    /// `TYPE`: the kind of text that is being written.
    Type,
    /// `TOOLS`: the tools that the model can call.
    Tools,
    /// `responses`: the answers of other models.
    Responses,
}

/// All variants of [`Name`] with their names in templates.
const NAMES: [(&str, Name); 19] = [
    ("CURRENT_DATE", Name::CurrentDate),
    ("CURRENT_TIME", Name::CurrentTime),
    ("CURRENT_DATETIME", Name::CurrentDatetime),
    ("CURRENT_WEEKDAY", Name::CurrentWeekday),
    ("CURRENT_TIMEZONE", Name::CurrentTimezone),
    ("USER_NAME", Name::UserName),
    ("USER_EMAIL", Name::UserEmail),
    ("USER_GROUPS", Name::UserGroups),
    ("USER_BIO", Name::NotKnown),
    ("USER_GENDER", Name::NotKnown),
    ("USER_BIRTH_DATE", Name::NotKnown),
    ("USER_AGE", Name::NotKnown),
    ("USER_LOCATION", Name::NotKnown),
    ("USER_LANGUAGE", Name::NotKnown),
    ("CONTEXT", Name::Context),
    ("QUERY", Name::Query),
    ("TYPE", Name::Type),
    ("TOOLS", Name::Tools),
    ("RESPONSES", Name::Responses),
];

/// Why a template is invalid. `Display` is the sentence for the administrator.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.refusal())]
pub struct TemplateError {
    /// The line, counted from 1.
    pub line: usize,
    /// The character within the line, counted from 1.
    pub column: usize,
    /// The error.
    pub problem: messages::Pipelines,
}

impl TemplateError {
    /// The message.
    #[must_use]
    pub fn refusal(&self) -> messages::Pipelines {
        let line = self.line as u64;
        let column = self.column as u64;
        messages::Pipelines::WrongTemplate {
            line,
            column,
            why: self.problem.clone().into(),
        }
    }
}

impl Template {
    /// Parses a template that may use the variables `own` in addition to the common ones. Names are case-insensitive.
    /// Braces around anything that is not a name are plain text, as in a JSON example.
    ///
    /// # Errors
    /// With the position of a variable that is unknown or not available in this template.
    pub fn parse(text: &str, own: &[Name]) -> Result<Self, TemplateError> {
        if text.len() > MAX_TEMPLATE_BYTES {
            let problem = messages::Pipelines::LongTemplate {
                limit: MAX_TEMPLATE_BYTES as u64,
            };
            return Err(TemplateError {
                line: 1,
                column: 1,
                problem,
            });
        }
        let mut pieces = Vec::new();
        let mut rest = text;
        while let Some(begin) = rest.find("{{") {
            let inside = &rest[begin + 2..];
            let Some(end) = inside.find("}}").filter(|end| is_name(&inside[..*end])) else {
                add_text(&mut pieces, &rest[..begin + 1]);
                rest = &rest[begin + 1..];
                continue;
            };
            add_text(&mut pieces, &rest[..begin]);
            let variable = variable(inside[..end].trim(), own);
            let place = text.len() - rest.len() + begin;
            pieces.push(Piece::Variable(
                variable.map_err(|problem| error_at(text, place, problem))?,
            ));
            rest = &inside[end + 2..];
        }
        add_text(&mut pieces, rest);
        Ok(Self(pieces))
    }

    /// Whether it uses this variable.
    #[must_use]
    pub fn has(&self, name: Name) -> bool {
        self.0.contains(&Piece::Variable(Variable::Plain(name)))
    }

    /// Whether it uses the conversation: the prompt or messages.
    #[must_use]
    pub fn has_conversation(&self) -> bool {
        self.0.iter().any(|piece| {
            matches!(
                piece,
                Piece::Variable(Variable::Prompt(_) | Variable::Messages(..))
            )
        })
    }

    /// The text with the variables replaced by these values.
    #[must_use]
    pub fn fill(&self, values: &Values<'_>) -> String {
        self.around(None, values).concat()
    }

    /// The text in parts, split at each occurrence of `open`, whose value is known only later.
    #[must_use]
    pub fn fill_around(&self, open: Name, values: &Values<'_>) -> Vec<String> {
        self.around(Some(Variable::Plain(open)), values)
    }

    fn around(&self, open: Option<Variable>, values: &Values<'_>) -> Vec<String> {
        let mut parts = Vec::new();
        let mut filled = String::new();
        for piece in &self.0 {
            match piece {
                Piece::Text(text) => filled.push_str(text),
                Piece::Variable(variable) if Some(*variable) == open => {
                    parts.push(std::mem::take(&mut filled));
                }
                Piece::Variable(variable) => values.write(*variable, &mut filled),
            }
        }
        parts.push(filled);
        parts
    }
}

fn add_text(pieces: &mut Vec<Piece>, text: &str) {
    match pieces.last_mut() {
        Some(Piece::Text(before)) => before.push_str(text),
        _ if text.is_empty() => {}
        _ => pieces.push(Piece::Text(text.to_owned())),
    }
}

/// Whether this text in braces is meant as a variable.
fn is_name(inside: &str) -> bool {
    let inside = inside.trim();
    inside.len() <= 100
        && inside.starts_with(|first: char| first.is_ascii_alphabetic())
        && inside
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "_:|".contains(c))
}

fn variable(inside: &str, own: &[Name]) -> Result<Variable, messages::Pipelines> {
    let (whole, each) = match inside.split_once('|') {
        Some((whole, each)) => (whole, Some(each)),
        None => (inside, None),
    };
    let (name, part) = match whole.split_once(':') {
        Some((name, part)) => (name, Some(part)),
        None => (whole, None),
    };
    let upper = name.to_ascii_uppercase();
    if upper == "MESSAGES" {
        return Ok(Variable::Messages(
            part.map(cut).transpose()?,
            each.map(cut).transpose()?,
        ));
    }
    if each.is_some() {
        return Err(messages::Pipelines::BarInVariable {
            name: name.to_owned(),
        });
    }
    if upper == "PROMPT" {
        return Ok(Variable::Prompt(part.map(cut).transpose()?));
    }
    if part.is_some() {
        return Err(messages::Pipelines::ColonInVariable {
            name: name.to_owned(),
        });
    }
    let known = NAMES.iter().find(|(known, _)| *known == upper);
    let Some((_, known)) = known else {
        return Err(messages::Pipelines::NoSuchVariable {
            name: name.to_owned(),
        });
    };
    match known {
        Name::Context | Name::Query | Name::Type | Name::Tools | Name::Responses
            if !own.contains(known) =>
        {
            Err(messages::Pipelines::VariableNotHere {
                name: name.to_owned(),
            })
        }
        known => Ok(Variable::Plain(*known)),
    }
}

/// Parses `START:3` and the like.
fn cut(text: &str) -> Result<Cut, messages::Pipelines> {
    let wrong = || messages::Pipelines::BadCut {
        text: text.to_owned(),
    };
    let (way, count) = text.split_once(':').ok_or_else(wrong)?;
    let count = count
        .parse()
        .ok()
        .filter(|count| (1..=MAX_COUNT).contains(count))
        .ok_or_else(wrong)?;
    match way.to_ascii_lowercase().as_str() {
        "start" => Ok(Cut::Start(count)),
        "end" => Ok(Cut::End(count)),
        "middletruncate" => Ok(Cut::Middle(count)),
        _ => Err(wrong()),
    }
}

fn error_at(text: &str, place: usize, problem: messages::Pipelines) -> TemplateError {
    let before = &text[..place];
    let line = before.matches('\n').count() + 1;
    let column = before
        .rsplit('\n')
        .next()
        .unwrap_or_default()
        .chars()
        .count()
        + 1;
    TemplateError {
        line,
        column,
        problem,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(text: &str, expected: &str) {
        let read = Template::parse(text, &[])
            .map(|_| ())
            .map_err(|error| error.to_string());
        let expected = if expected.is_empty() {
            Ok(())
        } else {
            Err(expected.to_owned())
        };
        assert_eq!(read, expected, "{text}");
    }

    #[test]
    fn errors_have_a_position() {
        check(
            "Hello {{USER_NAME}}, it is {{ current_weekday }}.\n{{MESSAGES:END:6|middletruncate:300}}",
            "",
        );
        check(
            "{{prompt}} {{prompt:start:10}} {{PROMPT:MIDDLETRUNCATE:8}} {{MESSAGES}} {{MESSAGES|end:5}}",
            "",
        );
        check("JSON: {{\"a\": 1}} {{}} {{ {x} }} { \"b\": {} } {{", "");
        check(
            "Hé\n  é {{NOBODY}}",
            "Line 2, column 5: Unknown variable: NOBODY.",
        );
        check(
            "{{CONTEXT}}",
            "Line 1, column 1: The variable CONTEXT is not available in this template.",
        );
        check(
            "{{MESSAGES:LAST:2}}",
            "Line 1, column 1: “LAST:2” must be start:N, end:N or middletruncate:N.",
        );
        check(
            "{{prompt:end:0}}",
            "Line 1, column 1: “end:0” must be start:N, end:N or middletruncate:N.",
        );
        check(
            "{{prompt|end:3}}",
            "Line 1, column 1: “|” can be used only in MESSAGES, not in prompt.",
        );
        check(
            "{{USER_NAME:end:3}}",
            "Line 1, column 1: “:” can be used only in MESSAGES and prompt, not in USER_NAME.",
        );
        check(
            &"x".repeat(MAX_TEMPLATE_BYTES + 1),
            "Line 1, column 1: A template can have at most 32000 bytes.",
        );
    }

    #[test]
    fn a_template_may_name_its_own_variables() {
        let template =
            Template::parse("{{CONTEXT}} {{query}}", &[Name::Context, Name::Query]).unwrap();
        assert!(
            template.has(Name::Context) && template.has(Name::Query) && !template.has(Name::Type)
        );
        assert!(!template.has_conversation());
        assert!(
            Template::parse("{{prompt}}", &[])
                .unwrap()
                .has_conversation()
        );
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "[{}A-Za-z_:|0-9 \n\u{e9}]{0,60}") {
            if let Ok(template) = Template::parse(&text, &[]) {
                prop_assert!(template.fill(&Values::default()).len() <= 10 * text.len());
            }
        }
    }
}
