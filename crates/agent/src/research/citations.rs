//! Filters the citations in a report as it streams: those of existing sources pass, others are removed. Images become
//! links, since an image that loads automatically could leak data that a page made the model write into its URL.

use std::collections::HashSet;

use domain::{
    citation_marks::{citation_marks, cited_numbers, open_fence},
    event::Source,
};

use crate::{
    claims::Evidence,
    library::{excerpt::words, sentences::sentences},
};

/// Maximum length of a citation mark in the forms of models, characters; anything longer is not one.
const MARK_CHARS: usize = 60;
/// How much of the text so far is kept to tell citations from other brackets, bytes.
const SAID_BYTES: usize = 4_096;
/// How much of it is kept when it is cut, bytes.
const TAIL_BYTES: usize = 1_024;

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
    /// The end of the text so far, as the model wrote it.
    said: String,
    held: String,
    /// A complete mark that what follows may turn into something else.
    mark: Option<HeldMark>,
    /// A pending space, shown with the text that follows or dropped with a removed mark.
    blank: bool,
    /// Only removed marks have followed since.
    taken_out: bool,
    /// In inline code, where an image is none.
    in_code: bool,
    /// The last character shown.
    last: char,
}

#[derive(Debug)]
struct HeldMark {
    written: String,
    number: usize,
    after: String,
}

impl Citations {
    pub(crate) fn new(known: usize) -> Self {
        Self {
            known,
            said: String::new(),
            held: String::new(),
            mark: None,
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
            self.push(character, &mut shown);
        }
        shown
    }

    /// The text held back at the end.
    pub(crate) fn rest(&mut self) -> String {
        let mut shown = String::new();
        self.settle(&mut shown);
        if !(self.taken_out && self.held.is_empty()) {
            self.show_blank(&mut shown);
        }
        shown + &std::mem::take(&mut self.held)
    }

    fn push(&mut self, character: char, shown: &mut String) {
        self.next(character, shown);
        self.last = shown.chars().next_back().unwrap_or(self.last);
    }

    fn next(&mut self, character: char, shown: &mut String) {
        if let Some(mark) = &mut self.mark {
            mark.after.push(character);
            let follows = mark.after.as_str();
            // An index is followed by ` =` or `.name`.
            if !matches!(follows, " " | ".") {
                self.settle(shown);
            }
            return;
        }
        if character == '`' {
            self.in_code = !self.in_code;
        }
        let opens = matches!(character, '[' | '【');
        if self.held.is_empty() {
            if opens {
                // An image starts like this.
                self.blank |= self.last == '!' && !self.in_code;
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
            match number_of(&self.held) {
                Some(number) => {
                    self.mark = Some(HeldMark {
                        written: std::mem::take(&mut self.held),
                        number,
                        after: String::new(),
                    });
                }
                None => self.show_held(shown),
            }
        } else if !may_be_in_mark(&self.held, character) || self.held.chars().count() > MARK_CHARS {
            self.show_held(shown);
        }
    }

    /// Shows the complete mark, or removes it if it cites no source, and goes on behind it.
    fn settle(&mut self, shown: &mut String) {
        let Some(HeldMark {
            written,
            number,
            after,
        }) = self.mark.take()
        else {
            return;
        };
        let mark = format!("[{number}]");
        let begin = self.said.len();
        let whole = format!("{}{mark}{after}", self.said);
        let is_citation = citation_marks(&whole)
            .iter()
            .any(|mark| mark.place.start == begin);
        let text = if is_citation { mark } else { written };
        if is_citation && number > self.known {
            self.taken_out = true;
        } else {
            self.show_blank(shown);
            shown.push_str(&text);
        }
        self.say(&text);
        for character in after.chars() {
            self.push(character, shown);
        }
    }

    /// A character outside of marks.
    fn outside(&mut self, character: char, shown: &mut String) {
        let mut letter = [0; 4];
        self.say(character.encode_utf8(&mut letter));
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
        let held = std::mem::take(&mut self.held);
        self.say(&held);
        shown.push_str(&held);
    }

    fn show_blank(&mut self, shown: &mut String) {
        if std::mem::take(&mut self.blank) {
            shown.push(' ');
        }
        self.taken_out = false;
    }

    fn say(&mut self, text: &str) {
        self.said.push_str(text);
        if self.said.len() > SAID_BYTES {
            self.said = tail_of(&self.said);
        }
    }
}

/// The end of a text, which has the same citations behind it as the whole: in code or not as before.
fn tail_of(said: &str) -> String {
    let end_of = |text: &str| -> String {
        let from = text.ceil_char_boundary(text.len().saturating_sub(TAIL_BYTES));
        text[from..].to_owned()
    };
    if let Some(fence) = open_fence(said) {
        let inside = said.rfind(fence).map_or("", |at| &said[at + fence.len()..]);
        return fence.to_owned() + &end_of(inside);
    }
    let lines = said.rmatch_indices('\n').map(|(at, _)| at + 1);
    let outside = |at: &usize| open_fence(&said[..*at]).is_none();
    let far = lines.filter(|at| said.len() - at >= TAIL_BYTES).take(20);
    far.into_iter()
        .find(outside)
        .map_or_else(|| end_of(said), |at| said[at..].to_owned())
}

/// The number in a mark as models write it: `[1]`, `[^1]`, `【1】`, `【1†source】`.
fn number_of(mark: &str) -> Option<usize> {
    let inside = mark
        .trim_start_matches(['[', '【'])
        .trim_end_matches([']', '】']);
    let digits = inside.strip_prefix('^').unwrap_or(inside);
    let digits = digits.split('†').next().unwrap_or(digits);
    let is_number = (1..=3).contains(&digits.len())
        && digits.bytes().all(|b| b.is_ascii_digit())
        && !digits.starts_with('0');
    digits.parse().ok().filter(|_| is_number)
}

fn may_be_in_mark(held: &str, character: char) -> bool {
    match held.starts_with('【') {
        // The name of a file may follow.
        true => character != '\n',
        false => character.is_ascii_digit() || character == '^',
    }
}

/// Citations for a text that has none: for each sentence, the source whose quote shares most words with it, if nothing
/// in the quote speaks against the sentence. Empty if no quote matches, or if the text has citations.
pub(crate) fn nearest(text: &str, sources: &[Source]) -> String {
    if sources.is_empty() || !cited_numbers(text).is_empty() {
        return String::new();
    }
    let quotes: Vec<(HashSet<String>, &Source)> = sources
        .iter()
        .map(|source| (words(source.quote.as_deref().unwrap_or_default()), source))
        .collect();
    let mut marks: Vec<&str> = Vec::new();
    for sentence in sentences(text).take(MAX_SENTENCES) {
        let said = words(sentence);
        let best = quotes
            .iter()
            .enumerate()
            .filter_map(|(at, (quote, source))| Some((shared(quote, &said)?, at, *source)))
            .filter(|(_, _, source)| confirms(source, sentence));
        // Among equals, the first wins.
        let best = best.max_by_key(|(shared, at, _)| (*shared, usize::MAX - at));
        marks.extend(
            best.map(|(_, _, source)| source.id.as_str())
                .filter(|id| !marks.contains(id)),
        );
    }
    marks
        .iter()
        .take(MAX_ADDED)
        .map(|id| format!("[{id}]"))
        .collect()
}

/// The number of words that the quote shares with the sentence; `None` if these are too few to support it.
fn shared(quote: &HashSet<String>, said: &HashSet<String>) -> Option<usize> {
    let shared = said.intersection(quote).count();
    (shared >= MIN_SHARED && shared * 2 > said.len()).then_some(shared)
}

/// Whether the quote has the numbers and names of the sentence, and neither negates the other.
fn confirms(source: &Source, sentence: &str) -> bool {
    let evidence = Evidence::new(source.quote.as_deref(), [source.title.as_str()]);
    evidence.objection(sentence).is_none()
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
            "Both [1][3] and so [2][9], so[^1] and so【2】 and so【3†a.pdf】.",
            "Both [1][3] and so [2], so[1] and so[2] and so[3].",
        );
        check(
            2,
            "A [link](https://a.example), `x[7]` and [ ] to do",
            "A [link](https://a.example), `x[7]` and [ ] to do",
        );
        check(2, "Cut at the end [1", "Cut at the end [1");
        check(2, "Cut at the end [1]", "Cut at the end [1]");
        check(2, "Cut at the end [3]", "Cut at the end");
        check(0, "Nothing [1][2].", "Nothing.");
        check(
            1,
            "One [9] two [8] [1]  three [7]\nfour[9] five [9]",
            "One two [1]  three\nfour five",
        );
        check(1, "Это так [2], а то [1] нет.", "Это так, а то [1] нет.");
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
    }

    #[test]
    fn other_brackets_stay() {
        let same = |text: &str| check(1, text, text);
        same("The interval [0, 1] is closed, as is [1; 3].");
        same("In the array, a[9] = 5, items[8].name and list[7] = 3.");
        same("In [2019] UKSC 41 it was decided.");
        same("[2,2]paracyclophane has [9]brackets.");
        same("See [9](https://a.example) and [[9]](https://a.example) [[1]].");
        same("```py\nprint(so [9])\n```");
        same("~~~\nso [9]\n~~~");
        same("[9] Smith, A study.\n- [8] Jones");
        check(1, "[x [9]]. So [9]: it is", "[x]. So: it is");
        check(1, "```\nso [9]\n```\nso [9].", "```\nso [9]\n```\nso.");
        let code = "x = [9]\n".repeat(2_000);
        check(
            1,
            &format!("So [9]\n```\n{code}as so [9]\n```\nso [9] it is"),
            &format!("So\n```\n{code}as so [9]\n```\nso it is"),
        );
        let long = "It is so.\n```\nso [9]\n```\n".repeat(600);
        check(
            1,
            &format!("{long}So [9] it is"),
            &format!("{long}So it is"),
        );
        let one_line = "It is so, and ".repeat(2_000);
        check(
            1,
            &format!("{one_line}so [9] it is [1]."),
            &format!("{one_line}so it is [1]."),
        );
    }

    fn source(id: usize, quote: &str) -> Source {
        let quote = Some(quote.to_owned());
        Source::new(id.to_string(), "A page".into(), "u".into(), quote)
    }

    #[test]
    fn a_text_that_cites_nothing_gets_the_sources_that_say_the_same() {
        let quotes = [
            "Its first keeper was Ida Halovic.",
            "The Korvel lighthouse was built in 1702 and is 18 metres high.",
            "",
            "To visit the Astra lighthouse costs 94 crowns.",
        ];
        let sources: Vec<Source> = (1..)
            .zip(quotes)
            .map(|(id, quote)| source(id, quote))
            .collect();
        let check =
            |text: &str, expected: &str| assert_eq!(nearest(text, &sources), expected, "{text}");
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
        check("The Korvel lighthouse of 1702 is 19 metres high.", "");
        check("The Korvel lighthouse is 18 metres high [1].", "");
        check("Nothing was found about the moon and its craters.", "");
        check("", "");
        assert_eq!(nearest("The Korvel lighthouse is 18 metres high.", &[]), "");
    }

    #[test]
    fn a_quote_that_says_the_opposite_is_not_added() {
        let check = |text: &str, quote: &str| {
            assert_eq!(nearest(text, &[source(1, quote)]), "", "{text}: {quote}");
        };
        check(
            "Zorvex causes lasting damage to the liver.",
            "It is not true that Zorvex causes lasting damage to the liver.",
        );
        check(
            "Sales of Zorvex rose to 45 million boxes in 2019.",
            "Sales of Zorvex rose to 453 million boxes in 2019.",
        );
        check(
            "Препарат Зорвекс вызывает повреждение печени у взрослых.",
            "Препарат Зорвекс не вызывает повреждение печени у взрослых.",
        );
        let same = "Sales of Zorvex rose to 453 million boxes in 2019.";
        assert_eq!(nearest(same, &[source(1, same)]), "[1]");
    }
}
