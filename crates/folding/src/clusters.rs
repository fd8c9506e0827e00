//! Folds a text letter by letter: each with the marks that follow it, so that folding one does not depend on others.

use std::{iter::once, ops::Range};

use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

use crate::letters::{
    base_letter, digit, is_accent, is_apostrophe, is_invisible, is_mark, is_optional_mark,
    makes_another_letter,
};

/// What is removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Level {
    /// Case, compatibility forms, invisible characters and optional marks.
    Normalized,
    /// Accents and variants of letters, too.
    Folded,
}

/// Maximum number of marks that are read with one letter; no writing system has that many.
const MAX_MARKS: usize = 32;

/// The letters of a text with the marks after them, in bytes. Together they are the whole text.
pub(crate) fn clusters(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let mut chars = text[at..].char_indices();
        chars.next()?;
        let length = chars
            .enumerate()
            .find(|(count, (_, char))| !goes_on(*char) || *count >= MAX_MARKS)
            .map_or(text.len() - at, |(_, (length, _))| length);
        let cluster = at..at + length;
        at = cluster.end;
        Some(cluster)
    })
}

/// Whether the character belongs to the letter before it.
fn goes_on(char: char) -> bool {
    match char {
        '\0'..='\u{ac}' | 'а'..='я' | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}' => false,
        // Half-width voiced marks.
        '\u{ff9e}' | '\u{ff9f}' => true,
        // Some letters join the one before without being marks, such as the vowels of decomposed Hangul.
        _ => is_mark(char) || is_invisible(char) || is_nfc_quick(once(char)) == IsNormalized::Maybe,
    }
}

/// Appends a folded letter with its marks.
pub(crate) fn push(cluster: &str, level: Level, into: &mut String) {
    let mut chars = cluster.chars();
    match (chars.next(), chars.next()) {
        (Some(char), None) if char.is_ascii() => into.push(char.to_ascii_lowercase()),
        // Letters that are their own form: common, so worth a shortcut.
        (Some(char @ ('а'..='я' | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}')), None) => {
            into.push(char);
        }
        _ => push_decomposed(cluster, level, into),
    }
}

fn push_decomposed(cluster: &str, level: Level, into: &mut String) {
    let mut kept = String::with_capacity(cluster.len());
    let mut base = '\0';
    let letters = cluster
        .chars()
        .filter(|char| !is_invisible(*char))
        .nfkd()
        .filter(|char| !is_invisible(*char))
        .flat_map(char::to_lowercase);
    for char in letters {
        if is_mark(char) {
            let is_kept = match level {
                // The dot that lower case leaves of a Turkish capital İ.
                Level::Normalized => !(is_optional_mark(char) || base == 'i' && char == '\u{307}'),
                Level::Folded => {
                    makes_another_letter(base, char) || !(is_optional_mark(char) || is_accent(char))
                }
            };
            if is_kept {
                push_mark(&mut kept, base, char, level);
            }
            continue;
        }
        base = char;
        match char {
            // Arabic tatweel only makes a word longer.
            '\u{640}' => {}
            'ß' => kept.push_str("ss"),
            'ς' => kept.push('σ'),
            char if is_apostrophe(char) => kept.push('\''),
            char => match (digit(char), level) {
                (Some(digit), _) => kept.push(digit),
                (None, Level::Normalized) => kept.push(char),
                (None, Level::Folded) => match base_letter(char) {
                    Some(letters) => kept.push_str(letters),
                    None => kept.push(char),
                },
            },
        }
    }
    into.extend(kept.nfc());
}

/// Devanagari writes one nasal sound as a consonant without a vowel, as a dot, or as a dot in a half-moon.
fn push_mark(kept: &mut String, base: char, mark: char, level: Level) {
    const DOT: char = '\u{902}';
    const HALF_MOON: char = '\u{901}';
    const NO_VOWEL: char = '\u{94d}';
    let is_nasal = matches!(base, 'ङ' | 'ञ' | 'ण' | 'न' | 'म');
    match mark {
        HALF_MOON if level == Level::Folded => kept.push(DOT),
        NO_VOWEL if level == Level::Folded && is_nasal && kept.ends_with(base) => {
            kept.pop();
            kept.push(DOT);
        }
        mark => kept.push(mark),
    }
}
