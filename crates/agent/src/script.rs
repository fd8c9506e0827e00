//! The script in which a text is written. Text that a model writes in another script than the person's is of no use to
//! them.

/// Number of characters of a text that determine its script.
const CHARS: usize = 2_000;

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
    /// Including the kana used with it in Japanese.
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
    /// The script of a letter; `None` for other scripts and for anything that is not a letter.
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

/// Whether this script does not put spaces between words.
pub(crate) fn writes_without_blanks(c: char) -> bool {
    matches!(u32::from(c), 0x0E00..=0x0EFF | 0x1000..=0x109F | 0x1780..=0x17FF | 0x3040..=0x30FF | 0x3400..=0x9FFF
        | 0x20000..=0x323AF)
}

/// Whether a text has letters, but none in the script of the other texts. Nothing is foreign to texts in several
/// scripts.
pub(crate) fn is_foreign<'a>(text: &str, others: impl IntoIterator<Item = &'a str>) -> bool {
    let Some(script) = script_of(others) else {
        return false;
    };
    let mut letters = text.chars().filter_map(Script::of).peekable();
    letters.peek().is_some() && !letters.any(|letter| letter == script)
}

/// The number of letters with a known script.
pub(crate) fn letters<'a>(texts: impl IntoIterator<Item = &'a str>) -> usize {
    scripts_of(texts).count()
}

/// The name of a text's script, for models; `None` if it has several.
pub(crate) fn name_of(text: &str) -> Option<&'static str> {
    Some(match script_of([text])? {
        Script::Latin => "Latin",
        Script::Greek => "Greek",
        Script::Cyrillic => "Cyrillic",
        Script::Hebrew => "Hebrew",
        Script::Arabic => "Arabic",
        Script::Devanagari => "Devanagari",
        Script::Thai => "Thai",
        Script::Hangul => "Korean",
        Script::Han => "Chinese or Japanese",
    })
}

/// The script of each letter.
fn scripts_of<'a>(texts: impl IntoIterator<Item = &'a str>) -> impl Iterator<Item = Script> {
    texts
        .into_iter()
        .flat_map(|text| text.chars().take(CHARS).filter_map(Script::of))
}

/// The script of at least four letters in five.
fn script_of<'a>(texts: impl IntoIterator<Item = &'a str>) -> Option<Script> {
    let letters: Vec<Script> = scripts_of(texts).collect();
    let count = |script: Script| letters.iter().filter(|letter| **letter == script).count();
    ALL.into_iter()
        .find(|script| !letters.is_empty() && count(*script) * 5 >= letters.len() * 4)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_without_a_letter_of_the_script_is_foreign() {
        let check = |other: &str, text: &str, expected: bool| {
            assert_eq!(is_foreign(text, [other]), expected, "{text} for {other}");
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

    #[test]
    fn scripts_have_names() {
        for (text, name) in [
            ("Сколько стоит билет?", Some("Cyrillic")),
            ("How much?", Some("Latin")),
            ("植物はどう育つ？", Some("Chinese or Japanese")),
            ("Translate «как растут растения»", None),
            ("1 + 1", None),
        ] {
            assert_eq!(name_of(text), name, "{text}");
        }
    }
}
