//! Parses the front matter of a `SKILL.md`, between two `---` lines. Only the subset of YAML that skills use is
//! supported: `key: value`, quoted values, and texts over several lines. Anything else is skipped.

use crate::messages;

/// The metadata of a skill, and the text after it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct FrontMatter<'a> {
    pub(super) name: String,
    pub(super) description: String,
    pub(super) body: &'a str,
}

impl<'a> FrontMatter<'a> {
    pub(super) fn parse(text: &'a str) -> Result<Self, messages::Skills> {
        let text = text.trim_start_matches('\u{feff}');
        let (head, body) = split(text).ok_or(messages::Skills::SkillNoHead)?;
        let field = |name: &str| {
            value(head, name).ok_or_else(|| messages::Skills::SkillFieldMissing {
                field: name.to_owned(),
            })
        };
        Ok(Self {
            name: field("name")?,
            description: field("description")?,
            body,
        })
    }
}

/// The text between the two `---` lines, and the text after them.
fn split(text: &str) -> Option<(&str, &str)> {
    let (first, rest) = text.split_once('\n')?;
    if first.trim_end() != "---" {
        return None;
    }
    let mut place = 0;
    for line in rest.split_inclusive('\n') {
        if line.trim_end() == "---" {
            return Some((&rest[..place], &rest[place + line.len()..]));
        }
        place += line.len();
    }
    None
}

/// The value of a key at the beginning of a line, including indented lines below it.
fn value(head: &str, key: &str) -> Option<String> {
    let mut lines = head.lines();
    let first = lines
        .by_ref()
        .find_map(|line| line.strip_prefix(key)?.strip_prefix(':'))?
        .trim();
    let more = lines
        .take_while(|line| line.is_empty() || line.starts_with([' ', '\t']))
        .map(str::trim);
    let first = if matches!(first, ">" | "|" | ">-" | "|-" | ">+" | "|+") {
        ""
    } else {
        first
    };
    let words: Vec<&str> = std::iter::once(first)
        .chain(more)
        .filter(|line| !line.is_empty())
        .collect();
    Some(unquoted(&words.join(" ")))
}

fn unquoted(text: &str) -> String {
    let inside = |quote: char| {
        text.strip_prefix(quote)
            .and_then(|rest| rest.strip_suffix(quote))
    };
    match (inside('"'), inside('\'')) {
        (Some(text), _) => text.replace("\\\"", "\"").replace("\\\\", "\\"),
        (_, Some(text)) => text.replace("''", "'"),
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::FrontMatter;

    fn check(text: &str, name: &str, description: &str, body: &str) {
        let name = name.to_owned();
        let description = description.to_owned();
        assert_eq!(
            FrontMatter::parse(text),
            Ok(FrontMatter {
                name,
                description,
                body
            })
        );
    }

    #[test]
    fn reads_the_syntax_that_skills_use() {
        check(
            "---\nname: a\ndescription: b: c\n---\nd\n",
            "a",
            "b: c",
            "d\n",
        );
        check(
            "\u{feff}---\r\nname: a\r\ndescription: 'it''s'\r\n---\r\nd",
            "a",
            "it's",
            "d",
        );
        check(
            "---\nlicense: MIT\nname: \"a\"\ndescription: >-\n  one\n\n  two\nmetadata:\n  name: no\n---\n",
            "a",
            "one two",
            "",
        );
        check(
            "---\nname: a\ndescription: one\n  two\n---\n---\nnot the head\n---\n",
            "a",
            "one two",
            "---\nnot the head\n---\n",
        );
    }

    #[test]
    fn reports_missing_fields() {
        for (text, word) in [
            ("", "begin with"),
            ("# Title\n", "begin with"),
            ("---\nname: a\n", "begin with"),
            ("---\nname: a\n---\n", "`description:`"),
            ("---\ndescription: a\n---\n", "`name:`"),
            ("---\n name: a\ndescription: b\n---\n", "`name:`"),
        ] {
            assert!(
                FrontMatter::parse(text)
                    .unwrap_err()
                    .to_string()
                    .contains(word),
                "{text:?}"
            );
        }
    }
}
