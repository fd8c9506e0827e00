//! The text of glyphs on a line: gaps as spaces, ligatures and accents as letters, in reading order.

use hayro_interpret::hayro_cmap::BfString;
use unicode_normalization::UnicodeNormalization;

use super::{
    bidi::{self, Unit},
    glyphs::Glyph,
    lines::gap,
};

/// Gaps are relative to the font size. A wider gap is a space …
const SPACE: f64 = 0.15;
/// … or one that is at least this part of the narrowest space that is drawn on the line as a character …
const PART_OF_DRAWN_SPACE: f64 = 0.5;
/// … up to this, since such a space may also be in front of the next column …
const MAX_SPACE: f64 = 0.3;
/// … but not a drawn space that is under the letters beside it, up to this …
const COVERED_SPACE: f64 = 0.05;
/// … between ideographs, which are often spread over the line, only if it is wider than this …
const IDEOGRAPH_SPACE: f64 = 0.5;
/// … and not between letters that are all apart from each other, by up to this …
const MAX_LETTER_SPACING: f64 = 0.5;
/// … unless it is wider than most by this.
const SPACED_WORD_GAP: f64 = 0.12;
/// Minimum number of letters that are apart from the one before them in letter-spaced text.
const MIN_SPACED_PAIRS: usize = 4;

/// The text of the glyphs, which are given from left to right.
pub(super) fn text(glyphs: &[Glyph]) -> String {
    let is_rtl = glyphs.iter().any(|glyph| bidi::is_rtl(glyph.first_char()));
    let words = Words::of(glyphs, is_rtl);
    if !is_rtl {
        let mut text = String::new();
        words.each(|piece| push(piece, &mut text));
        return finished(&text);
    }
    let mut units = Vec::new();
    words.each(|piece| {
        let mut text = String::new();
        push(piece, &mut text);
        units.push(Unit::new(text));
    });
    finished(&bidi::logical(&units))
}

/// Soft hyphens are not drawn inside a line, so there they stand for real ones.
fn finished(text: &str) -> String {
    let text = text.trim();
    match text.strip_suffix('\u{ad}') {
        Some(cut) => cut.replace('\u{ad}', "-") + "\u{ad}",
        None => text.replace('\u{ad}', "-"),
    }
}

/// A glyph or a gap between words.
enum Piece<'a> {
    Space,
    Glyph(&'a Glyph),
    /// Of a letter and the accent that is drawn over it.
    Char(char),
}

/// Glyphs, with the gap from which on there is a space between them.
struct Words<'a> {
    glyphs: Vec<Spaced<'a>>,
    /// The widest gap within a word.
    space: f64,
    /// In letter-spaced text.
    letter_spacing: Option<f64>,
}

/// A glyph that is not a space.
struct Spaced<'a> {
    glyph: &'a Glyph,
    /// The gap before it.
    gap: f64,
    /// Whether a space is drawn before it.
    follows_space: bool,
}

impl<'a> Words<'a> {
    fn of(glyphs: &'a [Glyph], is_rtl: bool) -> Self {
        let mut spaced: Vec<Spaced<'a>> = Vec::with_capacity(glyphs.len());
        let mut follows_space = false;
        for glyph in glyphs {
            if glyph.is_space() {
                follows_space = true;
                continue;
            }
            let gap = spaced.last().map_or(0.0, |last| gap(last.glyph, glyph));
            spaced.push(Spaced {
                glyph,
                gap,
                // In right-to-left lines, spaces that end the line are often drawn under its last letter.
                follows_space: follows_space && (!is_rtl || gap > COVERED_SPACE),
            });
            follows_space = false;
        }
        Self {
            space: space(&spaced),
            letter_spacing: letter_spacing(&spaced),
            glyphs: spaced,
        }
    }

    fn each(&self, mut put: impl FnMut(Piece<'a>)) {
        let mut last: Option<&Glyph> = None;
        let mut glyphs = self.glyphs.iter().peekable();
        while let Some(spaced) = glyphs.next() {
            if last.is_some_and(|last| self.is_space(last, spaced)) {
                put(Piece::Space);
            }
            let glyph = spaced.glyph;
            match glyphs.peek().and_then(|next| accented(glyph, next.glyph)) {
                Some((letter, composed)) => {
                    glyphs.next();
                    put(Piece::Char(composed));
                    last = Some(letter);
                }
                None => {
                    put(Piece::Glyph(glyph));
                    last = Some(glyph);
                }
            }
        }
    }

    fn is_space(&self, last: &Glyph, next: &Spaced<'_>) -> bool {
        if let Some(letter_spacing) = self.letter_spacing {
            return next.gap > letter_spacing + SPACED_WORD_GAP;
        }
        let between_ideographs =
            is_ideograph(last.first_char()) && is_ideograph(next.glyph.first_char());
        next.follows_space
            || next.gap
                > if between_ideographs {
                    IDEOGRAPH_SPACE
                } else {
                    self.space
                }
    }
}

/// The widest gap within a word. Where spaces are drawn, letters without one between them are seldom apart.
fn space(glyphs: &[Spaced<'_>]) -> f64 {
    let drawn = glyphs.iter().filter(|it| it.follows_space).map(|it| it.gap);
    let narrowest = drawn.min_by(f64::total_cmp).unwrap_or(0.0);
    (narrowest * PART_OF_DRAWN_SPACE).clamp(SPACE, MAX_SPACE)
}

/// The usual gap between the letters, if these are apart from each other as in a spaced heading.
fn letter_spacing(glyphs: &[Spaced<'_>]) -> Option<f64> {
    let wide = letter_gaps(glyphs).filter(|gap| *gap > SPACE).count();
    if wide < MIN_SPACED_PAIRS || wide * 4 < glyphs.len() {
        return None;
    }
    let mut gaps: Vec<f64> = letter_gaps(glyphs).collect();
    if gaps.len() * 2 < glyphs.len() {
        return None;
    }
    let middle = gaps.len() / 2;
    let (_, median, _) = gaps.select_nth_unstable_by(middle, f64::total_cmp);
    let median = *median;
    let is_ideographic = glyphs
        .iter()
        .any(|spaced| is_ideograph(spaced.glyph.first_char()));
    (!is_ideographic && (SPACE..=MAX_LETTER_SPACING).contains(&median)).then_some(median)
}

/// The gaps between letters that follow each other.
fn letter_gaps(glyphs: &[Spaced<'_>]) -> impl Iterator<Item = f64> {
    let is_letter = |spaced: &Spaced<'_>| spaced.glyph.first_char().is_alphabetic();
    glyphs.windows(2).filter_map(move |pair| match pair {
        [left, right] if is_letter(left) && is_letter(right) => Some(right.gap),
        _ => None,
    })
}

/// The letter with its accent, if one of the glyphs is an accent that is drawn over the other.
fn accented<'a>(first: &'a Glyph, second: &'a Glyph) -> Option<(&'a Glyph, char)> {
    let (letter, over) = match (accent(first.first_char()), accent(second.first_char())) {
        (Some(_), None) => (second, first),
        (None, Some(_)) => (first, second),
        _ => return None,
    };
    let BfString::Char(char) = letter.text else {
        return None;
    };
    let middle = f64::midpoint(over.from(), over.to());
    if middle < letter.from() || letter.to() < middle {
        return None;
    }
    Some((letter, composed(char, accent(over.first_char())?)?))
}

fn composed(letter: char, accent: char) -> Option<char> {
    let letter = match letter {
        'ı' => 'i',
        'ȷ' => 'j',
        letter => letter,
    };
    let mut composed = [letter, accent].into_iter().nfc();
    composed.next().filter(|_| composed.next().is_none())
}

/// The combining mark of an accent that is drawn as a character of its own.
fn accent(char: char) -> Option<char> {
    Some(match char {
        '`' | '\u{2cb}' => '\u{300}',
        '´' | '\u{2ca}' => '\u{301}',
        '^' | 'ˆ' => '\u{302}',
        '˜' | '~' => '\u{303}',
        '¯' | 'ˉ' => '\u{304}',
        '˘' => '\u{306}',
        '˙' => '\u{307}',
        '¨' => '\u{308}',
        '˚' => '\u{30a}',
        '˝' => '\u{30b}',
        'ˇ' => '\u{30c}',
        '¸' => '\u{327}',
        '˛' => '\u{328}',
        '\u{300}'..='\u{328}' => char,
        _ => return None,
    })
}

/// Chinese characters and Japanese syllables, between which there are no spaces.
fn is_ideograph(char: char) -> bool {
    matches!(char, '\u{2e80}'..='\u{a4cf}' | '\u{f900}'..='\u{faff}' | '\u{fe30}'..='\u{fe4f}'
        | '\u{ff00}'..='\u{ffef}' | '\u{20000}'..='\u{3ffff}')
}

fn push(piece: Piece<'_>, text: &mut String) {
    match piece {
        Piece::Space => text.push(' '),
        Piece::Char(char) => text.push(char),
        Piece::Glyph(glyph) => match &glyph.text {
            BfString::Char(char) => push_char(*char, text),
            BfString::String(chars) => chars.chars().for_each(|char| push_char(char, text)),
        },
    }
}

fn push_char(char: char, text: &mut String) {
    match char {
        '\u{a0}' | '\t' | '\n' | '\r' => text.push(' '),
        // Ligatures and the shapes of letters in Arabic words.
        '\u{fb00}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}' => {
            let letters = std::iter::once(char).nfkc();
            text.extend(letters.filter(|char| *char != ' '));
        }
        '\u{feff}' => {}
        char if char.is_control() => {}
        char => text.push(char),
    }
}
