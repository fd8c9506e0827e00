//! The text of a paragraph, put together from runs, with super- and subscripts in plain characters: the one place that
//! decides how they are written, for all formats.

use std::mem;

/// Where text stands in relation to its line.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in crate::read) enum Script {
    #[default]
    Baseline,
    Super,
    Sub,
}

/// Superscripts that are not exponents: ordinals and abbreviations, as in 1st, 2ème and Mme.
const SUPERSCRIPT_WORDS: [&str; 21] = [
    "st", "nd", "rd", "th", "er", "re", "ère", "ème", "eme", "nde", "de", "es", "me", "mes", "lle",
    "gr", "os", "ra", "tm", "sm", "r",
];
/// A superscript with this many letters in a row is a remark, not an exponent.
const REMARK_LETTERS: usize = 4;

/// A paragraph's text so far.
#[derive(Debug, Default)]
pub(in crate::read) struct Line {
    text: String,
    /// A super- or subscript that may go on in the next run.
    raised: String,
    script: Script,
}

impl Line {
    pub(in crate::read) fn push(&mut self, text: &str, script: Script) {
        if script != self.script {
            self.settle();
            self.script = script;
        }
        match script {
            Script::Baseline => self.text.push_str(text),
            Script::Super | Script::Sub => self.raised.push_str(text),
        }
    }

    fn settle(&mut self) {
        let raised = mem::take(&mut self.raised);
        let text = raised.trim();
        let start = raised.len() - raised.trim_start().len();
        self.text.push_str(&raised[..start]);
        let shown = scripted(&self.text, self.script, text);
        self.text.push_str(&shown);
        self.text.push_str(&raised[start + text.len()..]);
    }

    pub(in crate::read) fn is_empty(&self) -> bool {
        self.text.is_empty() && self.raised.is_empty()
    }

    /// The number of bytes of its text.
    pub(in crate::read) fn size(&self) -> usize {
        self.text.len() + self.raised.len()
    }

    pub(in crate::read) fn finish(mut self) -> String {
        self.settle();
        self.text
    }
}

/// A super- or subscript after `before`: `10^6`, `x^(n+1)`, `H2O`, `x_i`.
pub(in crate::read) fn scripted(before: &str, script: Script, text: &str) -> String {
    let mark = match script {
        Script::Super
            if !is_word(text) && !is_ordinal(before, text) && text.contains(is_meaningful) =>
        {
            '^'
        }
        Script::Sub if !is_index(before, text) && text.contains(is_meaningful) => '_',
        _ => return text.to_owned(),
    };
    let is_compound = text
        .trim_matches(is_sign)
        .contains(|char: char| !char.is_alphanumeric() && !matches!(char, ',' | '.'));
    if is_compound && !is_enclosed(text) {
        format!("{mark}({text})")
    } else {
        format!("{mark}{text}")
    }
}

/// Whether one pair of parentheses encloses all of it.
fn is_enclosed(text: &str) -> bool {
    let Some(inner) = text
        .strip_prefix('(')
        .and_then(|text| text.strip_suffix(')'))
    else {
        return false;
    };
    let mut depth = 0;
    for char in inner.chars() {
        match char {
            '(' => depth += 1,
            ')' if depth == 0 => return false,
            ')' => depth -= 1,
            _ => {}
        }
    }
    depth == 0
}

/// Parentheses around a text with operators in it.
pub(in crate::read) fn grouped(text: &str) -> String {
    let is_simple =
        |char: char| char.is_alphanumeric() || matches!(char, '.' | ',' | '^' | '_' | '∞');
    if text.chars().all(is_simple) || is_enclosed(text) {
        text.to_owned()
    } else {
        format!("({text})")
    }
}

/// A superscript of an equation, where every one is an exponent, such as in 2^r.
pub(in crate::read) fn power(text: &str) -> String {
    match text {
        "" | "′" | "'" | "*" | "″" => text.to_owned(),
        _ => format!("^{}", grouped(text.trim())),
    }
}

/// A subscript of an equation.
pub(in crate::read) fn index(text: &str) -> String {
    match text.trim() {
        "" => String::new(),
        text => format!("_{}", grouped(text)),
    }
}

fn is_word(text: &str) -> bool {
    let lower = text.to_lowercase();
    SUPERSCRIPT_WORDS.contains(&lower.as_str())
        || text
            .split(|char: char| !char.is_alphabetic())
            .any(|word| word.chars().nth(REMARK_LETTERS - 1).is_some())
}

/// Whether it is a letter that makes an ordinal of a number, as in XIXe, or stands for the word, as in no.
fn is_ordinal(before: &str, text: &str) -> bool {
    match text {
        "e" => before.ends_with(|char: char| char.is_ascii_digit() || "IVXLCDM".contains(char)),
        "o" => before.ends_with(['n', 'N']),
        _ => false,
    }
}

/// Whether it is a number behind a letter or a parenthesis, as in formulas of chemistry.
fn is_index(before: &str, text: &str) -> bool {
    let follows = |char: char| char.is_alphabetic() || matches!(char, ')' | ']');
    before.ends_with(follows) && text.chars().all(|char| char.is_ascii_digit())
}

fn is_meaningful(char: char) -> bool {
    char.is_alphanumeric() || is_sign(char)
}

fn is_sign(char: char) -> bool {
    matches!(char, '+' | '-' | '−' | '–' | '±')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(runs: &[(&str, Script)], expected: &str) {
        let mut line = Line::default();
        for (text, script) in runs {
            line.push(text, *script);
        }
        assert_eq!(line.finish(), expected);
    }

    #[test]
    fn scripts_are_told_from_the_text_around_them() {
        use Script::{Baseline, Sub, Super};
        check(&[("5 x 10", Baseline), ("6", Super)], "5 x 10^6");
        check(
            &[
                ("10", Baseline),
                ("-1", Super),
                ("2 ", Super),
                ("m", Baseline),
            ],
            "10^-12 m",
        );
        check(&[("x", Baseline), ("n+1", Super)], "x^(n+1)");
        check(&[("e", Baseline), ("(a)", Super)], "e^(a)");
        check(&[("Ca", Baseline), ("2+", Super)], "Ca^2+");
        check(&[("H", Baseline), ("2", Sub), ("O", Baseline)], "H2O");
        check(
            &[
                ("Fe(OH)", Baseline),
                ("3", Sub),
                (" x", Baseline),
                ("i", Sub),
            ],
            "Fe(OH)3 x_i",
        );
        check(&[("the 1", Baseline), ("st", Super)], "the 1st");
        check(&[("M", Baseline), ("me", Super)], "Mme");
        check(&[("M", Baseline), ("lle", Super)], "Mlle");
        check(
            &[
                ("le XIX", Baseline),
                ("e", Super),
                (" siècle, n", Baseline),
                ("o", Super),
                (" 2, x", Baseline),
                ("e", Super),
            ],
            "le XIXe siècle, no 2, x^e",
        );
        check(&[("Widget", Baseline), ("TM", Super)], "WidgetTM");
        check(&[("x", Baseline), ("max", Super)], "x^max");
        check(
            &[("claim ", Baseline), ("citation needed", Super)],
            "claim citation needed",
        );
        check(&[("p", Baseline), ("*", Super), (" ", Super)], "p* ");
        check(&[("", Super), ("a", Baseline), ("", Sub)], "a");
    }
}
