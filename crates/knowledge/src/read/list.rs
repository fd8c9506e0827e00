//! Items of lists as Markdown: their indents, bullets and labels, and numbers in the formats of word processors.

/// Spaces by which an inner list is indented: enough to be inside of a numbered item.
const INDENT: usize = 4;
/// Lists are indented to this depth.
const MAX_DEPTH: usize = 10;
/// Longest label; longer ones are not of a word processor.
pub(super) const LABEL_LIMIT_CHARS: usize = 100;

/// The label of a list item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Label {
    Bullet,
    Number(String),
    /// An item of a list without bullets.
    None,
}

impl Label {
    /// What an item begins with whose list is inside of this many others. Markdown takes a number with a full stop or a
    /// parenthesis for a label; others follow a bullet.
    pub(super) fn item(&self, depth: usize) -> String {
        let indent = " ".repeat(INDENT * depth.min(MAX_DEPTH));
        match self {
            Self::Number(number) if is_number(number) => format!("{indent}{number}. "),
            Self::Number(number) if !is_list_mark(number) => format!("{indent}- {number} "),
            label => indent + &label.inline(),
        }
    }

    /// What an item in a cell of a table begins with.
    pub(super) fn inline(&self) -> String {
        match self {
            Self::Bullet => "- ".to_owned(),
            Self::Number(number) => format!("{number} "),
            Self::None => String::new(),
        }
    }

    /// What a heading begins with.
    pub(super) fn heading(&self) -> String {
        match self {
            Self::Number(_) => self.inline(),
            Self::Bullet | Self::None => String::new(),
        }
    }
}

/// The levels of a list that is being written, outermost first. A list may leave out levels.
#[derive(Debug, Default)]
pub(super) struct Nesting(Vec<usize>);

impl Nesting {
    /// In how many others the list of the next item is, which is of this level.
    pub(super) fn depth(&mut self, level: usize) -> usize {
        while self.0.pop_if(|last| *last > level).is_some() {}
        if self.0.last() != Some(&level) {
            self.0.push(level);
        }
        self.0.len() - 1
    }

    /// Ends the list. Returns whether there was one.
    pub(super) fn end(&mut self) -> bool {
        let was_open = !self.0.is_empty();
        self.0.clear();
        was_open
    }
}

/// Whether Markdown takes it for the number of a list item.
fn is_list_mark(label: &str) -> bool {
    label.strip_suffix(['.', ')']).is_some_and(is_number)
}

/// Whether it is a number that is not too long for a list.
fn is_number(text: &str) -> bool {
    (1..10).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// A number in one of Word's formats; rare ones are shown as digits.
pub(in crate::read) fn formatted(number: u32, format: &str) -> String {
    match format {
        "lowerLetter" => letters(number, 'a'),
        "upperLetter" => letters(number, 'A'),
        "lowerRoman" => roman(number).to_lowercase(),
        "upperRoman" => roman(number),
        "decimalZero" => format!("{number:02}"),
        "ordinal" => ordinal(number),
        "russianLower" => cyrillic(number).to_lowercase(),
        "russianUpper" => cyrillic(number),
        "none" => String::new(),
        _ => number.to_string(),
    }
}

/// a to z, then aa, bb and so on.
fn letters(number: u32, first: char) -> String {
    let Some(index) = number.checked_sub(1) else {
        return String::new();
    };
    repeated(char::from_u32(u32::from(first) + index % 26), index / 26)
}

/// Russian lists leave out ё, й, ъ, ы and ь.
fn cyrillic(number: u32) -> String {
    const LETTERS: &str = "АБВГДЕЖЗИКЛМНОПРСТУФХЦЧШЩЭЮЯ";
    let Some(index) = number.checked_sub(1) else {
        return String::new();
    };
    repeated(LETTERS.chars().nth(index as usize % 28), index / 28)
}

fn repeated(letter: Option<char>, more: u32) -> String {
    let times = (more as usize + 1).min(LABEL_LIMIT_CHARS);
    std::iter::repeat_n(letter.unwrap_or_default(), times).collect()
}

fn roman(number: u32) -> String {
    const DIGITS: [(u32, &str); 13] = [
        (1000, "M"),
        (900, "CM"),
        (500, "D"),
        (400, "CD"),
        (100, "C"),
        (90, "XC"),
        (50, "L"),
        (40, "XL"),
        (10, "X"),
        (9, "IX"),
        (5, "V"),
        (4, "IV"),
        (1, "I"),
    ];
    if !(1..4000).contains(&number) {
        return number.to_string();
    }
    let mut left = number;
    let mut shown = String::new();
    for (value, digit) in DIGITS {
        while left >= value {
            shown.push_str(digit);
            left -= value;
        }
    }
    shown
}

fn ordinal(number: u32) -> String {
    let ending = match (number % 100, number % 10) {
        (11..=13, _) => "th",
        (_, 1) => "st",
        (_, 2) => "nd",
        (_, 3) => "rd",
        _ => "th",
    };
    format!("{number}{ending}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_begin_as_markdown_takes_them() {
        let number = |text: &str| Label::Number(text.to_owned());
        for (label, depth, expected) in [
            (Label::Bullet, 0, "- "),
            (number("2."), 1, "    2. "),
            (number("2)"), 0, "2) "),
            (number("2"), 0, "2. "),
            (number("a)"), 0, "- a) "),
            (number("1.2"), 1, "    - 1.2 "),
            (Label::None, 1, "    "),
        ] {
            assert_eq!(label.item(depth), expected);
        }
        assert_eq!(number("a)").inline(), "a) ");
        assert_eq!(Label::Bullet.heading(), "");
        assert!(Label::Bullet.item(usize::MAX).len() < 50);
    }

    #[test]
    fn levels_that_are_left_out_are_not_indented() {
        let mut nesting = Nesting::default();
        assert!(!nesting.end());
        let depths = [2, 2, 5, 2, 0, 1, 0].map(|level| nesting.depth(level));
        assert_eq!(depths, [0, 0, 1, 0, 0, 1, 0]);
        assert!(nesting.end() && !nesting.end());
    }

    #[test]
    fn numbers_have_words_formats() {
        for (number, format, expected) in [
            (3, "lowerLetter", "c"),
            (28, "upperLetter", "BB"),
            (1994, "upperRoman", "MCMXCIV"),
            (4000, "lowerRoman", "4000"),
            (7, "decimalZero", "07"),
            (112, "ordinal", "112th"),
            (22, "ordinal", "22nd"),
            (10, "russianLower", "к"),
            (0, "lowerLetter", ""),
            (5, "chineseCounting", "5"),
        ] {
            assert_eq!(formatted(number, format), expected);
        }
        assert_eq!(formatted(u32::MAX, "lowerLetter").len(), LABEL_LIMIT_CHARS);
    }
}
