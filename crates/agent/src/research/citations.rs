//! Filters the citations in a report as it streams: those of existing sources pass, others are removed. Images become
//! links, since an image that loads automatically could leak data that a page made the model write into its URL.

use std::collections::HashSet;

use crate::library::excerpt::words;

/// Maximum length of a citation mark, characters; anything longer is not one.
const MARK_CHARS: usize = 60;

/// Maximum number of sentences examined in a text without citations, and of sources added to it.
const MAX_SENTENCES: usize = 100;
const MAX_ADDED: usize = 3;
/// Minimum number of words shared by a sentence and its quote.
const MIN_SHARED: usize = 3;

/// Processes a text in pieces and holds back anything that may become a citation.
#[derive(Debug)]
pub(crate) struct Citations {
    /// Sources are numbered from 1 to this.
    known: usize,
    held: String,
    /// A pending space, shown with the text that follows or dropped with a removed mark.
    blank: bool,
    /// Only removed marks have followed since.
    taken_out: bool,
    /// In inline code, where brackets have another meaning.
    in_code: bool,
    /// The last character shown.
    last: char,
}

impl Citations {
    pub(crate) fn new(known: usize) -> Self {
        Self {
            known,
            held: String::new(),
            blank: false,
            taken_out: false,
            in_code: false,
            last: ' ',
        }
    }

    /// The part of the text so far that can be shown now.
    pub(crate) fn pass(&mut self, delta: &str) -> String {
        let mut shown = String::with_capacity(delta.len() + 1);
        for character in delta.chars() {
            self.next(character, &mut shown);
            self.last = shown.chars().next_back().unwrap_or(self.last);
        }
        shown
    }

    /// The text held back at the end.
    pub(crate) fn rest(&mut self) -> String {
        let mut shown = String::new();
        if !(self.taken_out && self.held.is_empty()) {
            self.show_blank(&mut shown);
        }
        shown + &std::mem::take(&mut self.held)
    }

    fn next(&mut self, character: char, shown: &mut String) {
        if character == '`' {
            self.in_code = !self.in_code;
        }
        let opens = matches!(character, '[' | '【') && !self.in_code;
        if self.held.is_empty() {
            if opens {
                // An image starts like this.
                self.blank |= self.last == '!';
                self.held.push(character);
            } else {
                self.outside(character, shown);
            }
            return;
        }
        if opens {
            // The text held back is not a mark, but this may begin one.
            self.show_held(shown);
            self.held.push(character);
            return;
        }
        self.held.push(character);
        if matches!(character, ']' | '】') {
            let mark = std::mem::take(&mut self.held);
            let read = self.read(&mark);
            if read.is_empty() {
                self.taken_out = true;
            } else {
                self.show_blank(shown);
                shown.push_str(&read);
            }
        } else if !may_be_in_mark(character) || self.held.chars().count() > MARK_CHARS {
            self.show_held(shown);
        }
    }

    /// A character outside of marks.
    fn outside(&mut self, character: char, shown: &mut String) {
        if character == ' ' && !self.in_code {
            if !self.taken_out {
                self.show_blank(shown);
            }
            self.blank = true;
            return;
        }
        let closes = matches!(
            character,
            '.' | ',' | ';' | ':' | '!' | '?' | ')' | ']' | '»' | '”' | '\n'
        );
        if self.taken_out && closes {
            self.blank = false;
        }
        // Image tags are treated like images; `<br>`, `<b>` and addresses in angle brackets are not affected.
        let begins_tag = self.last == '<' && character.is_ascii_alphabetic() && !self.in_code;
        self.blank |= begins_tag && !matches!(character.to_ascii_lowercase(), 'b' | 'h');
        self.show_blank(shown);
        shown.push(character);
    }

    fn show_held(&mut self, shown: &mut String) {
        self.show_blank(shown);
        shown.push_str(&std::mem::take(&mut self.held));
    }

    fn show_blank(&mut self, shown: &mut String) {
        if std::mem::take(&mut self.blank) {
            shown.push(' ');
        }
        self.taken_out = false;
    }

    /// A complete mark as shown, with one link per number.
    fn read(&self, mark: &str) -> String {
        let inside = mark.trim_matches(['[', ']', '【', '】']);
        if !inside.chars().any(|c| c.is_ascii_digit()) {
            return mark.to_owned();
        }
        let numbers = inside
            .split([',', ';', ' ', '^', '†'])
            .filter(|part| !part.is_empty());
        let numbers = numbers.filter_map(|part| part.parse::<usize>().ok());
        let known = numbers.filter(|number| (1..=self.known).contains(number));
        known.map(|number| format!("[{number}]")).collect()
    }
}

fn may_be_in_mark(character: char) -> bool {
    character.is_ascii_digit() || matches!(character, ' ' | ',' | ';' | '^' | '†')
}

/// Citations for a text that has none: for each sentence, the source whose quote shares most words with it, and one of
/// its numbers if it has any. Empty if no quote matches, or if the text has citations.
pub(crate) fn nearest(text: &str, quotes: &[String]) -> String {
    if quotes.is_empty() || !cited(text).is_empty() {
        return String::new();
    }
    let quotes: Vec<HashSet<String>> = quotes.iter().map(|quote| words(quote)).collect();
    let mut marks: Vec<usize> = Vec::new();
    for sentence in text.split(['.', '!', '?', '\n']).take(MAX_SENTENCES) {
        let said = words(sentence);
        let best = quotes
            .iter()
            .enumerate()
            .filter_map(|(at, quote)| Some((shows(quote, &said)?, at + 1)));
        // Among equals, the first wins.
        let best = best.max_by_key(|(shared, number)| (*shared, usize::MAX - number));
        marks.extend(
            best.map(|(_, number)| number)
                .filter(|number| !marks.contains(number)),
        );
    }
    marks
        .iter()
        .take(MAX_ADDED)
        .map(|number| format!("[{number}]"))
        .collect()
}

/// The number of words that the quote shares with the sentence; `None` if it does not support it.
fn shows(quote: &HashSet<String>, said: &HashSet<String>) -> Option<usize> {
    let shared = said.intersection(quote).count();
    let is_number = |word: &&String| word.chars().all(|c| c.is_ascii_digit());
    let numbers = said.iter().filter(is_number).count();
    let has_number = numbers == 0 || said.intersection(quote).any(|word| is_number(&word));
    (shared >= MIN_SHARED && shared * 2 > said.len() && has_number).then_some(shared)
}

/// The numbers that a text cites, without duplicates, in order of first occurrence.
pub(super) fn cited(text: &str) -> Vec<usize> {
    let mut numbers = Vec::new();
    for part in text.split('[').skip(1) {
        let number = part
            .split_once(']')
            .and_then(|(number, _)| number.parse().ok());
        numbers.extend(number.filter(|number| !numbers.contains(number)));
    }
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(known: usize, text: &str, expected: &str) {
        // Both at once and character by character, since chunk boundaries must not matter.
        let mut whole = Citations::new(known);
        assert_eq!(whole.pass(text) + &whole.rest(), expected, "{text:?}");
        let mut pieces = Citations::new(known);
        let shown: String = text.chars().map(|c| pieces.pass(&c.to_string())).collect();
        assert_eq!(shown + &pieces.rest(), expected, "{text:?} in pieces");
    }

    #[test]
    fn only_sources_that_exist_are_cited() {
        check(
            2,
            "It is so [1]. It is not [3].",
            "It is so [1]. It is not.",
        );
        check(
            3,
            "Both [1, 3] and [2;9][^1]【2】.",
            "Both [1][3] and [2][1][2].",
        );
        check(
            2,
            "A [link](https://a.example), `x[7]` and [ ] to do",
            "A [link](https://a.example), `x[7]` and [ ] to do",
        );
        check(2, "Cut at the end [1", "Cut at the end [1");
        check(0, "Nothing [1][18446744073709551616][0].", "Nothing.");
        check(
            1,
            "One [9] two [8] [1]  three [7]\nfour[9] five [9]",
            "One two [1]  three\nfour five",
        );
        check(1, "Это так [2], а то [1] нет.", "Это так, а то [1] нет.");
        check(1, "[[9]] [[1]] [x [9]].", "[] [[1]] [x].");
        check(1, "A ` [9] ` stays [", "A ` [9] ` stays [");
        check(
            1,
            "Blanks  stay . At the end too  ",
            "Blanks  stay . At the end too  ",
        );
        check(
            1,
            "![p](https://a.example/x.png) Yes![1] A ![2] b",
            "! [p](https://a.example/x.png) Yes! [1] A ! b",
        );
        check(
            1,
            "![a][1] `![a](b)` <img src=x><IMG> a < b <br><b>",
            "! [a][1] `![a](b)` < img src=x>< IMG> a < b <br><b>",
        );
        check(
            1,
            "<https://a.example/> <svg/onload=x>",
            "<https://a.example/> < svg/onload=x>",
        );
        assert_eq!(cited("a [2] b [1][2] [x] [3"), [2, 1]);
    }

    #[test]
    fn a_text_that_cites_nothing_gets_the_sources_that_say_the_same() {
        let quotes = [
            "Its first keeper was Ida Halovic.",
            "The Korvel lighthouse was built in 1702 and is 18 metres high.",
            "",
            "To visit the Astra lighthouse costs 94 crowns.",
        ]
        .map(str::to_owned);
        let check =
            |text: &str, expected: &str| assert_eq!(nearest(text, &quotes), expected, "{text}");
        check("The height of the Korvel lighthouse is 18 metres.", "[2]");
        check(
            "The first keeper was Ida Halovic. The Korvel lighthouse was built in 1702.",
            "[1][2]",
        );
        // A different number makes a different statement.
        check(
            "The cost of visiting the Astra lighthouse is 100 crowns.",
            "",
        );
        check("The Korvel lighthouse is 18 metres high [1].", "");
        check("Nothing was found about the moon and its craters.", "");
        check("", "");
        assert_eq!(nearest("The Korvel lighthouse is 18 metres high.", &[]), "");
    }
}
