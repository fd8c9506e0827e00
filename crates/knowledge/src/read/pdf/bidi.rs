//! Puts right-to-left text, which is drawn in visual order, in the order in which it is read and stored.

use unicode_bidi::BidiClass;

/// What the direction of a character depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    Ltr,
    Rtl,
    Number,
    /// Joins numbers, such as the comma.
    Separator,
    /// Belongs to the number beside it, such as the percent sign.
    Terminator,
    /// Belongs to the letter before it.
    Mark,
    Neutral,
}

impl Class {
    pub(super) fn of(char: char) -> Self {
        match unicode_bidi::bidi_class(char) {
            BidiClass::L => Self::Ltr,
            BidiClass::R | BidiClass::AL => Self::Rtl,
            BidiClass::EN | BidiClass::AN => Self::Number,
            BidiClass::CS | BidiClass::ES => Self::Separator,
            BidiClass::ET => Self::Terminator,
            BidiClass::NSM => Self::Mark,
            _ => Self::Neutral,
        }
    }
}

/// The first letter that is written from right to left.
const FIRST_RTL: char = '\u{590}';

/// Whether the character is written from right to left.
pub(super) fn is_rtl(char: char) -> bool {
    char >= FIRST_RTL && Class::of(char) == Class::Rtl
}

/// A piece of text that stays together: the text of one glyph, or a space.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Unit {
    pub(super) text: String,
    class: Class,
}

impl Unit {
    pub(super) fn new(text: String) -> Self {
        let class = text.chars().next().map_or(Class::Neutral, Class::of);
        Self { text, class }
    }

    fn is_space(&self) -> bool {
        self.text.trim().is_empty()
    }
}

/// The text of a line whose units are given from left to right.
pub(super) fn logical(units: &[Unit]) -> String {
    let mut text = String::new();
    if is_leftward(units) {
        read_leftwards(units, &mut text);
        return text;
    }
    let mut rest = units;
    while let Some(from) = rest.iter().position(|unit| unit.class == Class::Rtl) {
        let phrase = rest.get(from..).unwrap_or_default();
        let end = phrase.iter().position(|unit| unit.class == Class::Ltr);
        let phrase = phrase
            .get(..end.unwrap_or(phrase.len()))
            .unwrap_or_default();
        let last = phrase.iter().rposition(|unit| unit.class == Class::Rtl);
        let phrase = phrase.get(..=last.unwrap_or(0)).unwrap_or_default();
        push_all(rest.get(..from).unwrap_or_default(), &mut text);
        read_leftwards(phrase, &mut text);
        rest = rest.get(from + phrase.len()..).unwrap_or_default();
    }
    push_all(rest, &mut text);
    text
}

/// Whether the line as a whole is read from right to left: by the letters at its ends, or by most if these differ.
fn is_leftward(units: &[Unit]) -> bool {
    let is_letter = |class: &Class| matches!(class, Class::Rtl | Class::Ltr);
    let mut letters = units.iter().map(|unit| unit.class).filter(is_letter);
    let Some(leftmost) = letters.next() else {
        return false;
    };
    let rightmost = letters.next_back().unwrap_or(leftmost);
    if leftmost == rightmost {
        return leftmost == Class::Rtl;
    }
    let rtl = letters.clone().filter(|class| *class == Class::Rtl).count();
    rtl * 2 >= letters.count()
}

fn push_all(units: &[Unit], text: &mut String) {
    units.iter().for_each(|unit| text.push_str(&unit.text));
}

/// Reads from right to left, except for numbers and left-to-right words.
fn read_leftwards(units: &[Unit], text: &mut String) {
    let is_arabic = units.iter().any(|unit| is_arabic(&unit.text));
    let mut parts: Vec<&[Unit]> = Vec::new();
    let mut end = units.len();
    while let Some(last) = end.checked_sub(1) {
        let from = ltr_start(units, last, is_arabic).unwrap_or(last);
        parts.extend(units.get(from..end));
        end = from;
    }
    let outside = |part: &[Unit]| match part {
        [unit] if unit.class == Class::Neutral => mirrored(&unit.text),
        _ => None,
    };
    // Brackets are drawn mirrored, and many files give the character that was drawn.
    let is_mirrored = parts
        .iter()
        .find_map(|part| outside(part))
        .is_some_and(|bracket| "([{«".contains(bracket));
    for part in parts {
        match outside(part) {
            Some(bracket) if is_mirrored => text.push_str(bracket),
            _ => push_all(part, text),
        }
    }
}

/// Where the left-to-right text that ends with this unit starts, if it is one.
fn ltr_start(units: &[Unit], last: usize, is_arabic: bool) -> Option<usize> {
    let class = |index: usize| units.get(index).map(|unit| unit.class);
    let ends_number = !is_arabic
        && class(last) == Some(Class::Terminator)
        && last.checked_sub(1).and_then(class) == Some(Class::Number);
    if !ends_number && !matches!(class(last), Some(Class::Ltr | Class::Number)) {
        return None;
    }
    let mut start = last;
    let mut index = last;
    while let Some(left) = index.checked_sub(1) {
        index = left;
        match class(left) {
            Some(Class::Ltr | Class::Number) => {
                let between = units.get(left + 1..start).unwrap_or_default();
                let is_joined = match (class(left), class(start)) {
                    (Some(Class::Ltr), _) => true,
                    (_, Some(Class::Ltr)) => !between.iter().any(Unit::is_space),
                    _ => joins_numbers(between, is_arabic),
                };
                if !is_joined {
                    break;
                }
                start = left;
            }
            Some(Class::Rtl) | None => break,
            Some(_) => {}
        }
    }
    let before = start.checked_sub(1);
    if !is_arabic && before.and_then(class) == Some(Class::Terminator) {
        return before;
    }
    Some(start)
}

/// Whether numbers with this between them are one, such as `1,250`.
fn joins_numbers(between: &[Unit], is_arabic: bool) -> bool {
    match between {
        [] => true,
        [unit] => match unit.class {
            // After Arabic letters, plus and minus do not join numbers.
            Class::Separator => !is_arabic || !matches!(unit.text.as_str(), "-" | "+"),
            Class::Terminator => !is_arabic,
            _ => false,
        },
        _ => false,
    }
}

fn is_arabic(text: &str) -> bool {
    text.chars()
        .any(|char| unicode_bidi::bidi_class(char) == BidiClass::AL)
}

fn mirrored(bracket: &str) -> Option<&'static str> {
    const PAIRS: [(&str, &str); 4] = [("(", ")"), ("[", "]"), ("{", "}"), ("«", "»")];
    PAIRS.iter().find_map(|(open, close)| {
        if *open == bracket {
            Some(*close)
        } else {
            (*close == bracket).then_some(*open)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `drawn` is from left to right.
    #[track_caller]
    fn check(drawn: &str, expected: &str) {
        let units: Vec<Unit> = drawn
            .chars()
            .map(|char| Unit::new(char.to_string()))
            .collect();
        assert_eq!(logical(&units), expected);
    }

    #[test]
    fn left_to_right_text_stays() {
        check("The price (net) is 250.", "The price (net) is 250.");
        check("", "");
    }

    #[test]
    fn letters_are_reversed_and_numbers_are_not() {
        check("םילקש 250 אוה ריחמה", "המחיר הוא 250 שקלים");
        check(".12/05/2024 ךיראתב", "בתאריך 12/05/2024.");
        check("50% הנחה", "החנה 50%");
        check("نم ٪15,5 ىلإ", "إلى 15,5٪ من");
    }

    #[test]
    fn words_from_left_to_right_stay_inside() {
        check("םולש Glasshouse Server 2 תא", "את Glasshouse Server 2 שלום");
        check(
            "The word םולש םלוע means peace.",
            "The word עולם שלום means peace.",
        );
    }

    #[test]
    fn drawn_brackets_are_mirrored_and_others_are_not() {
        check(")גבא( ה", "ה (אבג)");
        check("(גבא) ה", "ה (אבג)");
    }
}
