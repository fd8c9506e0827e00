//! The title of a chat: an emoji and 3 to 5 words, extracted from the model's answer.

use domain::{LocalizedText, Role};
use serde_json::Value;

use super::Said;
use crate::{
    messages,
    script::{self, writes_without_blanks},
};

/// Number of words in a title.
const TITLE_WORDS: std::ops::RangeInclusive<usize> = 3..=5;
/// Maximum length of a title without spaces between its words, as in Chinese.
const MAX_TITLE_CHARS: usize = 60;
/// The emoji for a title to which the model gave none.
const ANY_CHAT: &str = "💬";
/// Number of characters of a message that are searched for words to extend a short title.
const LOOKED_AT_CHARS: usize = 1_000;
/// Number of latest messages that determine the script of a chat.
const MESSAGES: usize = 6;
/// With fewer letters, a person's text does not determine the script: it may be a name.
const ENOUGH_LETTERS: usize = 10;
/// Words that share a prefix of this length count as forms of one word.
const STEM_CHARS: usize = 4;
/// Words with which a title must not end.
const LOOSE_ENDS: [&str; 22] = [
    "a", "an", "and", "as", "at", "for", "from", "in", "of", "on", "or", "the", "to", "with", "в",
    "для", "и", "из", "на", "о", "с", "у",
];

/// The emoji and the words.
type Title = (String, String);

/// Why there is no title.
#[derive(Debug)]
pub(super) struct NoTitle {
    /// The error.
    pub(super) fault: LocalizedText,
    /// The fallback if no better title is found.
    pub(super) instead: Option<String>,
}

/// Parses the title of a chat with these messages.
///
/// # Errors
/// With the error. A title that is too short is extended with adjacent words from the chat.
pub(super) fn read_title(value: Option<&Value>, said: &[Said]) -> Result<String, NoTitle> {
    let (emoji, words) = match title(value) {
        Ok(title) => title,
        Err((fault, None)) => {
            return Err(NoTitle {
                fault,
                instead: None,
            });
        }
        Err((fault, Some((emoji, short)))) => {
            let instead = widened(&short, said).map(|words| format!("{emoji} {words}"));
            return Err(NoTitle { fault, instead });
        }
    };
    if is_foreign_to_chat(&words, said) {
        return Err(NoTitle {
            fault: messages::Runs::TitleInOtherLanguage.into(),
            instead: None,
        });
    }
    Ok(format!("{emoji} {words}"))
}

/// The emoji and the words; if there are only too few words, they come with the error.
fn title(value: Option<&Value>) -> Result<Title, (LocalizedText, Option<Title>)> {
    let said = value
        .and_then(Value::as_str)
        .ok_or_else(|| (messages::Runs::TitleMissing.into(), None))?;
    if said.trim().lines().count() > 1 {
        return Err((messages::Runs::TitleOfLines.into(), None));
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
    if words.is_empty() || words.iter().map(|word| word.chars().count()).sum::<usize>() > 200 {
        return Err((messages::Runs::TitleWithoutWords.into(), None));
    }
    let emoji = if emoji.is_empty() {
        at_end.unwrap_or(ANY_CHAT)
    } else {
        emoji
    }
    .to_owned();
    let has_blanks = !rest.chars().any(writes_without_blanks);
    if has_blanks && !TITLE_WORDS.contains(&words.len()) {
        if words.len() < *TITLE_WORDS.start() {
            return Err((
                messages::Runs::TitleTooShort.into(),
                Some((emoji, words.join(" "))),
            ));
        }
        words.truncate(*TITLE_WORDS.end());
        drop_loose_end(&mut words);
    }
    let words = words.join(" ");
    let words = words
        .trim_end_matches(['.', ':', ';', ','])
        .chars()
        .take(MAX_TITLE_CHARS)
        .collect();
    Ok((emoji, words))
}

/// Lists do not render Markdown. Single marks may be intended, as in `snake_case`.
fn without_emphasis(text: &str) -> String {
    text.replace("**", "").replace("__", "").replace('`', "")
}

fn drop_loose_end(words: &mut Vec<&str>) {
    while words.len() > *TITLE_WORDS.start() && words.last().is_some_and(|last| is_loose(last)) {
        words.pop();
    }
}

fn is_loose(word: &str) -> bool {
    LOOSE_ENDS.contains(&word.to_lowercase().as_str())
}

/// A title of one or two words, extended with adjacent words from the person's messages.
fn widened(short: &str, said: &[Said]) -> Option<String> {
    let wanted: Vec<String> = short
        .split_whitespace()
        .map(folded)
        .filter(|word| !word.is_empty())
        .collect();
    let persons = said.iter().filter(|said| said.role == Role::User);
    persons
        .map(|said| said.text.chars().take(LOOKED_AT_CHARS).collect::<String>())
        .find_map(|text| {
            let mut sentences = text.split(['.', '!', '?', '…', '\n']);
            sentences.find_map(|sentence| {
                around(&wanted, &sentence.split_whitespace().collect::<Vec<_>>())
            })
        })
}

/// 3 to 5 words of the sentence that include the wanted ones.
fn around(wanted: &[String], sentence: &[&str]) -> Option<String> {
    let is_wanted = |word: &&str| {
        wanted
            .iter()
            .any(|wanted| is_form_of(&folded(word), wanted))
    };
    let mut from = sentence.iter().position(is_wanted)?;
    let mut to = sentence.iter().rposition(is_wanted)? + 1;
    if TITLE_WORDS.contains(&sentence.len()) {
        (from, to) = (0, sentence.len());
    }
    let least = *TITLE_WORDS.start();
    let most = *TITLE_WORDS.end();
    while from > 0 && (to - from < least || is_loose(sentence[from]) && to - from < most) {
        from -= 1;
    }
    to = to.max((from + least).min(sentence.len()));
    while to < sentence.len() && to - from < most && is_loose(sentence[to - 1]) {
        to += 1;
    }
    let mut words = sentence[from..to].to_vec();
    drop_loose_end(&mut words);
    let text = words.join(" ");
    let text = text.trim_matches(|c: char| is_quote(c) || c == ',' || c == ':' || c == ';');
    let mut letters = text.chars();
    let first: String = letters
        .next()
        .into_iter()
        .flat_map(char::to_uppercase)
        .collect();
    let fits = TITLE_WORDS.contains(&words.len()) && text.chars().count() <= MAX_TITLE_CHARS;
    fits.then(|| first + letters.as_str())
}

/// The letters and digits of a word.
fn folded(word: &str) -> String {
    word.chars()
        .filter(|c| c.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .collect()
}

fn is_form_of(word: &str, wanted: &str) -> bool {
    let same = word
        .chars()
        .zip(wanted.chars())
        .take_while(|(one, other)| one == other)
        .count();
    word == wanted || same >= STEM_CHARS
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
            Some("💬 Bread at Home"),
        );
        check_title(
            r#"{"title": "\"👩‍🔬 The Life and Work of the Great Marie Curie\""}"#,
            Some("👩‍🔬 The Life and Work"),
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
        check_title("🍞 Baking Good Bread", Some("🍞 Baking Good Bread"));
        check_title("\"Baking Good Bread\"", Some("💬 Baking Good Bread"));
        check_title(
            "**Title:** Baking **Good** Bread",
            Some("💬 Baking Good Bread"),
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
            r#"{"title": "Bread"}"#,
            r#"{"title": 7}"#,
        ] {
            check_title(useless, None);
        }
        check_title("I would call it this:\nBread", None);
        check_title("<think>I should find a title", None);
    }

    #[test]
    fn a_short_title_is_extended_by_neighbouring_words() {
        let check = |short: &str, chat: &str, expected: Option<&str>| {
            let said = [Said {
                role: Role::User,
                text: chat.to_owned(),
            }];
            let value = Value::from(short);
            let instead = read_title(Some(&value), &said).unwrap_err().instead;
            assert_eq!(instead.as_deref(), expected, "{short} in {chat}");
        };
        check(
            "🇫🇷 French Revolution",
            "What should I know about the French Revolution?",
            Some("🇫🇷 About the French Revolution"),
        );
        check(
            "Stage fright",
            "Hi! Explain stage fright to me as if I were ten.",
            Some("💬 Explain stage fright"),
        );
        check(
            "Tomatoes",
            "tomatoes in a pot: which ones?",
            Some("💬 Tomatoes in a pot"),
        );
        check(
            "Домашние растения",
            "Объясни простыми словами: домашние растения.",
            Some("💬 Объясни простыми словами: домашние растения"),
        );
        check(
            "Ипотека",
            "Расскажи мне, что важно знать про ипотеку?",
            Some("💬 Знать про ипотеку"),
        );
        check(
            "Пицца",
            "Расскажи, что важно знать. Тема: выпечка хлеба.",
            None,
        );
        check("Bread", "Bread.", None);
        check("…", "How do plants grow?", None);
        check("Bread", "", None);
    }
}
