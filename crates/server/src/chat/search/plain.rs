//! Converts Markdown to plain text for search excerpts.

use std::ops::Range;

/// How far the end of a link is searched for, bytes.
const LINK_BYTES: usize = 400;
/// Maximum number of open emphasis marks at a time.
const MAX_OPEN: usize = 100;

/// A Markdown text without the marks of headings, quotes, lists, emphasis, code and links. Keeps `_`, as the text may
/// not be Markdown: it is more common in identifiers than as emphasis.
pub(super) fn plain(markdown: &str) -> String {
    let mut out = String::with_capacity(markdown.len());
    let mut paragraph = String::new();
    let mut fence = None::<&str>;
    for line in markdown.split_inclusive('\n') {
        let bare = line.trim();
        match (fence, fence_of(bare)) {
            (Some(open), Some(mark)) if bare == mark && mark.starts_with(open) => fence = None,
            (Some(_), _) => out.push_str(line),
            (None, Some(mark)) => {
                without_marks(&std::mem::take(&mut paragraph), &mut out);
                fence = Some(mark);
            }
            (None, None) => {
                let text = without_beginning(line);
                // Emphasis does not span blocks.
                if bare.is_empty() || text.len() < line.trim_start().len() {
                    without_marks(&std::mem::take(&mut paragraph), &mut out);
                }
                if !is_rule(bare) {
                    paragraph.push_str(text);
                }
            }
        }
    }
    without_marks(&paragraph, &mut out);
    out
}

/// The mark that opens or closes a code block.
fn fence_of(line: &str) -> Option<&str> {
    let mark = ['`', '~']
        .into_iter()
        .find(|mark| line.starts_with(*mark))?;
    let rest = line.trim_start_matches(mark);
    let length = line.len() - rest.len();
    (length >= 3 && !rest.contains('`')).then(|| &line[..length])
}

/// A line without the marks of quotes, headings and lists.
fn without_beginning(line: &str) -> &str {
    let mut rest = line.trim_start();
    while let Some(quoted) = rest.strip_prefix('>') {
        rest = quoted.trim_start();
    }
    let heading = rest.trim_start_matches('#');
    let is_heading = (1..=6).contains(&(rest.len() - heading.len())) && heading.starts_with(' ');
    let item = rest
        .strip_prefix(['*', '-', '+'])
        .filter(|rest| rest.starts_with(' '));
    match item {
        Some(item) => item.trim_start(),
        None if is_heading => heading.trim_start(),
        None => rest,
    }
}

/// Whether a line is a rule between paragraphs, or between the head and the rows of a table.
fn is_rule(line: &str) -> bool {
    let is_mark = |c: char| matches!(c, '-' | '*' | '_' | '=');
    line.chars().filter(|c| is_mark(*c)).count() >= 3
        && line
            .chars()
            .all(|c| is_mark(c) || matches!(c, '|' | ':' | ' '))
}

/// Writes a block of text without its inline marks.
fn without_marks(text: &str, out: &mut String) {
    let mut marks = Marks::default();
    let mut written = String::with_capacity(text.len());
    let mut at = 0;
    while let Some(char) = text[at..].chars().next() {
        let rest = &text[at..];
        match char {
            '\\' if rest[1..].starts_with(|next: char| next.is_ascii_punctuation()) => {
                written.push_str(&rest[1..2]);
                at += 2;
            }
            '`' => {
                let length = row_of(char, rest);
                let code = code_in(rest, length);
                written.push_str(code.unwrap_or(&rest[..length]));
                at += code.map_or(length, |code| code.len() + 2 * length);
            }
            '*' | '~' => {
                let length = row_of(char, rest);
                marks.read(&text[..at], &rest[..length], &rest[length..], written.len());
                written.push_str(&rest[..length]);
                at += length;
            }
            '[' | '!' => match link(rest) {
                Some((words, size)) => {
                    without_marks(words, &mut written);
                    at += size;
                }
                None => {
                    written.push(char);
                    at += 1;
                }
            },
            char => {
                written.push(char);
                at += char.len_utf8();
            }
        }
    }
    marks.real.sort_unstable_by_key(|mark| mark.start);
    let mut from = 0;
    for mark in marks.real {
        out.push_str(&written[from..mark.start]);
        from = mark.end;
    }
    out.push_str(&written[from..]);
}

/// The emphasis marks in the written text.
#[derive(Default)]
struct Marks {
    /// Marks that are not closed yet.
    open: Vec<(char, Range<usize>)>,
    /// Marks that belong to a pair.
    real: Vec<Range<usize>>,
}

impl Marks {
    /// Handles a run of marks that is written at `at`, between these texts.
    fn read(&mut self, before: &str, row: &str, behind: &str, at: usize) {
        let Some(char) = row
            .chars()
            .next()
            .filter(|char| *char != '~' || row.len() == 2)
        else {
            return;
        };
        let before = before.chars().next_back();
        let behind = behind.chars().next();
        let is_blank = |c: Option<char>| c.is_none_or(char::is_whitespace);
        let is_word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
        let is_mark =
            |c: Option<char>| c.is_some_and(|c| !c.is_alphanumeric() && !c.is_whitespace());
        let opens = !is_blank(behind) && (!is_mark(behind) || !is_word(before));
        let closes = !is_blank(before) && (!is_mark(before) || !is_word(behind));
        let mut mark = at..at + row.len();
        if closes && let Some(place) = self.open.iter().rposition(|(open, _)| *open == char) {
            self.open.truncate(place + 1);
            let Some((_, open)) = self.open.last_mut() else {
                return;
            };
            let length = open.len().min(mark.len());
            self.real.push(open.end - length..open.end);
            self.real.push(mark.start..mark.start + length);
            open.end -= length;
            mark.start += length;
            if open.start == open.end {
                self.open.pop();
            }
        }
        if opens && !mark.is_empty() && self.open.len() < MAX_OPEN {
            self.open.push((char, mark));
        }
    }
}

/// How many times a text starts with this character.
fn row_of(char: char, text: &str) -> usize {
    text.len() - text.trim_start_matches(char).len()
}

/// The code between a run of `length` backticks and the next such run.
fn code_in(text: &str, length: usize) -> Option<&str> {
    let mut at = length;
    while let Some(next) = text[at..].find('`') {
        let row = row_of('`', &text[at + next..]);
        if row == length {
            return Some(&text[length..at + next]);
        }
        at += next + row;
    }
    None
}

/// The text of a link or image at the start of `text`, and the length of the whole link.
fn link(text: &str) -> Option<(&str, usize)> {
    let near = &text[..text.floor_char_boundary(LINK_BYTES)];
    let begin = near.len()
        - near
            .strip_prefix('!')
            .unwrap_or(near)
            .strip_prefix('[')?
            .len();
    let mut depth = 1;
    let words = near[begin..].find(|c: char| {
        depth += i32::from(c == '[') - i32::from(c == ']');
        depth == 0
    })?;
    let address = near[begin + words + 1..].strip_prefix('(')?;
    let end = address
        .find(')')
        .filter(|end| !address[..*end].contains('\n'))?;
    Some((&near[begin..begin + words], begin + words + 2 + end + 1))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn marks_go_and_words_stay() {
        for (markdown, expected) in [
            (
                "By eating **light**, and `a * b`.",
                "By eating light, and a * b.",
            ),
            ("# Head\n\n> *So* ~~not~~ it is.\n", "Head\nSo not it is.\n"),
            ("* one\n- ***two***\n1. __three__", "one\ntwo\n1. __three__"),
            (
                "```rust\nlet a = b ** c; // # no\n```\nSo.",
                "let a = b ** c; // # no\nSo.",
            ),
            (
                "See [the *docs*](https://a.b/c_d \"t\") and ![a plot](/p.png) [1].",
                "See the docs and a plot [1].",
            ),
            (
                "2 * 3 * 4, a_b_c, 5*x, \\*no\\*, `x",
                "2 * 3 * 4, a_b_c, 5*x, *no*, `x",
            ),
            (
                "| a | b |\n|---|:-:|\n| 1 | 2 |\n---\n",
                "| a | b |\n| 1 | 2 |\n",
            ),
            ("``a ` b`` **при**вет *", "a ` b привет *"),
            (
                "**one *two* three** and *四* !é `x` #5",
                "one two three and 四 !é x #5",
            ),
            ("*a **b* c", "*a *b c"),
        ] {
            assert_eq!(plain(markdown), expected, "{markdown}");
        }
    }

    #[test]
    fn it_does_not_take_long() {
        for mark in [
            "[", "a", "!", "*a ", "~~a* ", "`` ` ", "![", "**a", "a** *", "> ", "[a](", "*_~",
        ] {
            let text = mark.repeat(65_536 / mark.len());
            assert!(plain(&text).len() <= text.len());
        }
    }

    proptest! {
        #[test]
        fn letters_stay(text in "[a-zé #>*_`~\\\\!\n-]{0,60}") {
            let letters = |text: &str| text.chars().filter(|c| c.is_alphabetic()).collect::<String>();
            // The info string of a code block is not part of the text.
            prop_assume!(!text.contains("```") && !text.contains("~~~"));
            prop_assert_eq!(letters(&plain(&text)), letters(&text));
        }
    }
}
