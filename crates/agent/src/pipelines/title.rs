//! The title of a chat, extracted from the model's answer.

use domain::{LocalizedText, Role};
use serde_json::Value;

use super::Said;
use crate::{messages, script};

/// Maximum length of a title, characters. A longer one ends with an ellipsis after a whole word.
const MAX_TITLE_CHARS: usize = 60;
/// Number of latest messages that determine the script of a chat.
const MESSAGES: usize = 6;
/// With fewer letters, a person's text does not determine the script: it may be a name.
const ENOUGH_LETTERS: usize = 10;
/// Words with which a shortened title must not end.
const LOOSE_ENDS: [&str; 22] = [
    "a", "an", "and", "as", "at", "for", "from", "in", "of", "on", "or", "the", "to", "with", "в",
    "для", "и", "из", "на", "о", "с", "у",
];

/// Parses the title of a chat with these messages: as the model wrote it, with an emoji if it gave one.
///
/// # Errors
/// With the error.
pub(super) fn read_title(value: Option<&Value>, said: &[Said]) -> Result<String, LocalizedText> {
    let title = title(value)?;
    match is_foreign_to_chat(&title, said) {
        true => Err(messages::Runs::TitleInOtherLanguage.into()),
        false => Ok(title),
    }
}

fn title(value: Option<&Value>) -> Result<String, LocalizedText> {
    let said = value
        .and_then(Value::as_str)
        .ok_or(messages::Runs::TitleMissing)?;
    if said.trim().lines().count() > 1 {
        return Err(messages::Runs::TitleOfLines.into());
    }
    let said = without_emphasis(said);
    let said = said.trim().trim_start_matches("Title:");
    let (emoji, rest) = split_emoji(said.trim_matches(is_quote).trim());
    let rest = rest.trim_matches(|c: char| is_quote(c) || c.is_whitespace());
    let mut words: Vec<&str> = rest
        .trim_end_matches(['.', ':', ';', ','])
        .split_whitespace()
        .collect();
    // The emoji may also be at the end.
    let at_end = words
        .last()
        .filter(|last| last.chars().all(is_emoji))
        .copied();
    if at_end.is_some() {
        words.pop();
    }
    if !words
        .iter()
        .any(|word| word.chars().any(char::is_alphanumeric))
        || words.iter().map(|word| word.chars().count()).sum::<usize>() > 200
    {
        return Err(messages::Runs::TitleWithoutWords.into());
    }
    let emoji = if emoji.is_empty() {
        at_end.unwrap_or_default()
    } else {
        emoji
    };
    let words = shortened(words);
    Ok(match emoji {
        "" => words,
        emoji => format!("{emoji} {words}"),
    })
}

/// The words within the limit.
fn shortened(mut words: Vec<&str>) -> String {
    let whole = words.join(" ");
    if whole.chars().count() <= MAX_TITLE_CHARS {
        return whole;
    }
    while words.len() > 1
        && (words.join(" ").chars().count() >= MAX_TITLE_CHARS
            || words.last().is_some_and(|last| is_loose(last)))
    {
        words.pop();
    }
    let words = words.join(" ");
    let cut: String = words.chars().take(MAX_TITLE_CHARS - 1).collect();
    format!("{}…", cut.trim_end_matches([' ', '.', ':', ';', ',']))
}

/// Lists do not render Markdown. Single marks may be intended, as in `snake_case`.
fn without_emphasis(text: &str) -> String {
    text.replace("**", "").replace("__", "").replace('`', "")
}

fn is_loose(word: &str) -> bool {
    LOOSE_ENDS.contains(&word.to_lowercase().as_str())
}

/// The emoji that a text begins with, and the rest.
fn split_emoji(text: &str) -> (&str, &str) {
    let end = text
        .char_indices()
        .find(|(_, c)| !is_emoji(*c))
        .map_or(text.len(), |(at, _)| at);
    (&text[..end], text[end..].trim_start())
}

/// Pictographs, and the characters that join and tint them.
fn is_emoji(c: char) -> bool {
    matches!(u32::from(c), 0x1F000..=0x1FAFF | 0x2600..=0x27BF | 0x2B00..=0x2BFF | 0x2190..=0x21FF | 0x2300..=0x23FF
        | 0xFE0F | 0x200D | 0x20E3 | 0xE0020..=0xE007F)
}

/// Whether a title has no letters of the chat's script, which is the person's if they have written enough.
fn is_foreign_to_chat(title: &str, said: &[Said]) -> bool {
    let of = |roles: &[Role]| -> Vec<&str> {
        let said = said.iter().rev().filter(|said| roles.contains(&said.role));
        said.take(MESSAGES).map(|said| said.text.as_str()).collect()
    };
    let own = of(&[Role::User]);
    let is_enough = script::letters(own.iter().copied()) >= ENOUGH_LETTERS;
    script::is_foreign(
        title,
        if is_enough {
            own
        } else {
            of(&[Role::User, Role::Assistant])
        },
    )
}

pub(super) fn is_quote(c: char) -> bool {
    matches!(
        c,
        '"' | '\'' | '`' | '*' | '_' | '“' | '”' | '„' | '«' | '»' | '#' | '[' | ']'
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pipelines::{Notes, Pipeline};

    #[test]
    fn the_persons_messages_determine_the_language() {
        let check = |person: &str, answer: &str, title: &str, expected: bool| {
            let of = |role, text: &str| Said {
                role,
                text: text.to_owned(),
            };
            let said = [of(Role::User, person), of(Role::Assistant, answer)];
            assert_eq!(
                is_foreign_to_chat(title, &said),
                expected,
                "{title} for {person}"
            );
        };
        let answer = "Plants grow by eating light, water and air, and so does moss.";
        check("Как растут растения?", answer, "🌱 How Plants Grow", true);
        check(
            "Как растут растения?",
            answer,
            "🌱 Как растут растения",
            false,
        );
        check(
            "Git?",
            "Это система управления версиями, самая распространённая.",
            "🌱 Что такое Git",
            false,
        );
        check("1 + 1", answer, "🌱 Как растут растения", true);
    }

    fn check_title(text: &str, expected: Option<&str>) {
        let read = Notes::read(&[], text, &[Pipeline::Title])
            .ok()
            .and_then(|notes| notes.title);
        assert_eq!(read.as_deref(), expected, "{text}");
    }

    #[test]
    fn titles_are_held_to_their_rules() {
        check_title(
            r#"{"title": "🌱 How Plants Make Food"}"#,
            Some("🌱 How Plants Make Food"),
        );
        check_title(
            "```json\n{\"title\": \"Bread at Home.\"}\n```",
            Some("Bread at Home"),
        );
        check_title(
            r#"{"title": "\"👩‍🔬 The Life and Work of the Great Marie Curie\""}"#,
            Some("👩‍🔬 The Life and Work of the Great Marie Curie"),
        );
        check_title(
            r#"{"title": "Как растут растения 🌱"}"#,
            Some("🌱 Как растут растения"),
        );
        check_title(
            r#"{"title": "🌱 植物如何制造食物"}"#,
            Some("🌱 植物如何制造食物"),
        );
        check_title(
            "<think>hm {\"title\": \"x\"}</think>{\"title\": \"🍞 Baking Good Bread\"}",
            Some("🍞 Baking Good Bread"),
        );
        check_title(r#"{"title": "Bread"}"#, Some("Bread"));
        check_title(
            "A Very Long Title about the Baking of Good Bread at Home in an Old Oven",
            Some("A Very Long Title about the Baking of Good Bread at Home…"),
        );
        check_title("🍞 Baking Good Bread", Some("🍞 Baking Good Bread"));
        check_title("\"Baking Good Bread\"", Some("Baking Good Bread"));
        check_title(
            "**Title:** Baking **Good** Bread",
            Some("Baking Good Bread"),
        );
        check_title(
            "🐍 Why `snake_case` in Python",
            Some("🐍 Why snake_case in Python"),
        );
        for useless in [
            "",
            "{}",
            r#"{"title": "…"}"#,
            r#"{"title": ""}"#,
            r#"{"title": "🌱"}"#,
            r#"{"title": 7}"#,
        ] {
            check_title(useless, None);
        }
        check_title("I would call it this:\nBread", None);
        check_title("<think>I should find a title", None);
    }
}
