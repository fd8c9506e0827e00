//! The languages in which sentences are compared.

use std::collections::HashSet;

/// The language of a text, as far as it matters here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Language {
    English,
    Russian,
    /// Numbers are compared, but neither negation nor names.
    Other,
}

const ENGLISH: &str = "the of and is was in to that for with by on are were has have had it at an from not no as or but";
/// Frequent words of other languages in Latin letters that are no English ones.
const OTHER: &str = "der die das und ist nicht ein eine von mit den dem zu auf für sich wird wurde le la les et est des \
    du une dans pour que qui ne pas au aux el los las y de en es un una por con del se su não uma os um do da na em com il \
    che di è per non gli een het van op zijn och att som är på w się z jest";
/// Letters of Ukrainian, Belarusian, Serbian and other languages in Cyrillic letters.
const NOT_RUSSIAN: &str = "іїєґўјљњћђџқғңүұһөәўҷӣӯ";

impl Language {
    pub(super) fn of(text: &str) -> Self {
        let lower = text.to_lowercase();
        let cyrillic = lower.chars().filter(|c| is_cyrillic(*c)).count();
        let latin = lower.chars().filter(char::is_ascii_alphabetic).count();
        if cyrillic > latin {
            return match lower.contains(|c| NOT_RUSSIAN.contains(c)) {
                true => Self::Other,
                false => Self::Russian,
            };
        }
        let letters = lower.chars().filter(|c| c.is_alphabetic()).count();
        if latin == 0 || latin * 2 < letters {
            return Self::Other;
        }
        let words: HashSet<&str> = lower.split(|c: char| !c.is_alphabetic()).collect();
        let count = |list: &str| {
            list.split_whitespace()
                .filter(|word| words.contains(word))
                .count()
        };
        match count(ENGLISH) >= count(OTHER) {
            true => Self::English,
            false => Self::Other,
        }
    }

    pub(super) fn is_known(self) -> bool {
        self != Self::Other
    }
}

pub(super) fn is_cyrillic(c: char) -> bool {
    matches!(c, '\u{400}'..='\u{52f}')
}

/// A word in lower case, without accents that do not matter: `Ё` and `é` are `е` and `e`.
pub(super) fn folded(word: &str) -> String {
    use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};
    let composed = word.replace(['ё', 'Ё'], "е").replace(['й', 'Й'], "\u{1}");
    let letters: String = composed
        .nfd()
        .filter(|c| !is_combining_mark(*c))
        .flat_map(char::to_lowercase)
        .collect();
    letters.replace('\u{1}', "й")
}

/// Whether two folded words are forms of one word: they differ in their endings.
pub(super) fn is_same_word(one: &str, other: &str) -> bool {
    if one == other {
        return true;
    }
    let shared = one
        .chars()
        .zip(other.chars())
        .take_while(|(a, b)| a == b)
        .count();
    let longest = one.chars().count().max(other.chars().count());
    shared >= 4 && longest - shared <= 3
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tells_languages_apart() {
        let check =
            |text: &str, expected: Language| assert_eq!(Language::of(text), expected, "{text}");
        check("The drug is not effective.", Language::English);
        check("NASA launched Apollo", Language::English);
        check("Препарат IBM не помогает.", Language::Russian);
        check("Препарат не допомагає її дітям.", Language::Other);
        check("Das Mittel ist nicht wirksam.", Language::Other);
        check("Le médicament n'est pas efficace.", Language::Other);
        check("El fármaco no es eficaz en los niños.", Language::Other);
        check("药物无效。", Language::Other);
        check("", Language::Other);
    }

    #[test]
    fn endings_make_no_other_word() {
        assert!(is_same_word("injured", "injury"));
        assert!(is_same_word("договор", "договором"));
        assert!(!is_same_word("oil", "oils"));
        assert!(!is_same_word("increase", "incident"));
        assert_eq!(folded("Пётр Йод José"), "петр йод jose");
    }
}
