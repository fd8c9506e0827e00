//! The script that a text is written in: a title in another one than its chat's is of no use to who reads the chat.

use super::Said;

/// So much of each message, and so many of the latest, tell the script of a chat.
const CHARS: usize = 2_000;
const MESSAGES: usize = 6;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Script {
    Latin,
    Greek,
    Cyrillic,
    Hebrew,
    Arabic,
    Devanagari,
    Thai,
    Hangul,
    /// With the kana that stand beside it in Japanese.
    Han,
}

const ALL: [Script; 9] = [
    Script::Latin,
    Script::Greek,
    Script::Cyrillic,
    Script::Hebrew,
    Script::Arabic,
    Script::Devanagari,
    Script::Thai,
    Script::Hangul,
    Script::Han,
];

impl Script {
    /// That of a letter; nothing for others and for what is no letter.
    fn of(letter: char) -> Option<Self> {
        if !letter.is_alphabetic() {
            return None;
        }
        Some(match u32::from(letter) {
            0x0041..=0x024F | 0x1E00..=0x1EFF => Self::Latin,
            0x0370..=0x03FF | 0x1F00..=0x1FFF => Self::Greek,
            0x0400..=0x052F => Self::Cyrillic,
            0x0590..=0x05FF => Self::Hebrew,
            0x0600..=0x077F => Self::Arabic,
            0x0900..=0x097F => Self::Devanagari,
            0x0E00..=0x0E7F => Self::Thai,
            0x1100..=0x11FF | 0xAC00..=0xD7AF => Self::Hangul,
            0x3040..=0x30FF | 0x3400..=0x9FFF | 0x20000..=0x323AF => Self::Han,
            _ => return None,
        })
    }
}

/// Whether a text has letters, and none of the script that the chat is written in. Nothing is foreign to a chat in several.
pub(super) fn is_foreign(text: &str, chat: &[Said]) -> bool {
    let Some(script) = script_of(chat) else { return false };
    let mut letters = text.chars().filter_map(Script::of).peekable();
    letters.peek().is_some() && !letters.any(|letter| letter == script)
}

/// The script of four letters in five.
fn script_of(chat: &[Said]) -> Option<Script> {
    let latest = &chat[chat.len().saturating_sub(MESSAGES)..];
    let letters: Vec<Script> =
        latest.iter().flat_map(|said| said.text.chars().take(CHARS).filter_map(Script::of)).collect();
    let count = |script: Script| letters.iter().filter(|letter| **letter == script).count();
    ALL.into_iter().find(|script| !letters.is_empty() && count(*script) * 5 >= letters.len() * 4)
}

#[cfg(test)]
mod tests {
    use domain::Role;

    use super::*;

    #[test]
    fn a_title_is_in_the_script_of_its_chat() {
        let check = |chat: &str, title: &str, expected: bool| {
            let said = [Said { role: Role::User, text: chat.to_owned() }];
            assert_eq!(is_foreign(title, &said), expected, "{title} for {chat}");
        };
        check("How do plants grow?", "🌱 Как растут растения", true);
        check("How do plants grow?", "🌱 How Plants Grow", false);
        check("Как растут растения?", "🌱 How Plants Grow", true);
        check("Как растут растения?", "🐍 Python и растения", false);
        check("植物はどう育つ？", "🌱 植物の育ち方", false);
        check("植物はどう育つ？", "🌱 How Plants Grow", true);
        check("Translate «как растут растения»", "🌱 Рост растений", false);
        check("1 + 1", "🌱 Как растут", false);
        check("How?", "🌱 42", false);
    }
}
