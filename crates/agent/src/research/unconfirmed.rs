//! Finds what of a report its citations do not show: sentences whose quotes lack their number, negation or name, and
//! figures and quotations without a citation that no quote has.

use std::ops::Range;

use domain::{
    citation_marks::{CitationMark, citation_marks},
    event::{CitedPlace, Source},
};

use crate::{
    claims::Evidence,
    library::{quotes::plain, sentences::sentences},
};

/// Maximum number of groups of marks and of sentences that are compared.
const MAX_GROUPS: usize = 300;
const MAX_SENTENCES: usize = 500;
/// Maximum number of figures and quotations that are told, and the length of each, characters.
const MAX_TOLD: usize = 5;
const TOLD_CHARS: usize = 80;

/// The sources that the text of an item cites for something that their quotes do not show, with the places of these
/// citations.
pub(crate) fn unconfirmed(item: &str, text: &str, sources: &[Source]) -> Vec<Source> {
    let mut found: Vec<Source> = Vec::new();
    let mut counter = CharCounter::default();
    let mut said_from = 0;
    for marks in groups(text).iter().take(MAX_GROUPS) {
        let claim = claim(&text[said_from..marks[0].place.start]);
        said_from = marks[marks.len() - 1].place.end;
        let cited: Vec<&Source> = marks
            .iter()
            .filter_map(|mark| source_of(mark, sources))
            .collect();
        // A quote that was not found has its own mark, and may be where the words come from.
        let are_found = cited.iter().all(|source| source.verified == Some(true));
        if !are_found || cited.len() < marks.len() {
            continue;
        }
        let quotes = cited.iter().filter_map(|source| source.quote.as_deref());
        let titles = cited.iter().map(|source| source.title.as_str());
        let Some(why) = Evidence::new(quotes, titles).objection(&claim) else {
            continue;
        };
        for (mark, source) in marks.iter().zip(cited) {
            let place = CitedPlace {
                item: item.to_owned(),
                start: counter.chars_before(text, mark.place.start),
                end: counter.chars_before(text, mark.place.end),
                unconfirmed: Some(why),
            };
            match found.iter_mut().find(|known| known.id == source.id) {
                Some(known) => known.cited.push(place),
                None => found.push(Source {
                    cited: vec![place],
                    ..source.clone()
                }),
            }
        }
    }
    found
}

/// The figures and quotations in sentences without a citation that none of the sources and not the question have.
pub(super) fn unsupported(text: &str, sources: &[Source], question: &str) -> Vec<String> {
    let quotes = sources.iter().filter_map(|source| source.quote.as_deref());
    let titles = sources.iter().map(|source| source.title.as_str());
    let evidence = Evidence::new(quotes.chain([question]).chain(titles), []);
    let marks = citation_marks(text);
    let mut found: Vec<String> = Vec::new();
    let mut begin = 0;
    for sentence in sentences(text).take(MAX_SENTENCES) {
        let place = begin..begin + sentence.len();
        begin = place.end;
        if is_cited(&place, &marks, text) || sentence.starts_with('#') {
            continue;
        }
        let claim = claim(sentence);
        let figures = evidence
            .missing_figures(&claim)
            .filter(|figure| figure.contains(|c: char| c.is_ascii_digit()));
        let quotations = evidence
            .missing_quotations(&claim)
            .map(|words| format!("“{words}”"));
        for told in figures.chain(quotations) {
            let told: String = told.chars().take(TOLD_CHARS).collect();
            if !found.contains(&told) {
                found.push(told);
            }
        }
        if found.len() >= MAX_TOLD {
            break;
        }
    }
    found.truncate(MAX_TOLD);
    found
}

/// Whether a sentence has a citation, or is directly followed by one.
fn is_cited(place: &Range<usize>, marks: &[CitationMark], text: &str) -> bool {
    let next = marks.partition_point(|mark| mark.place.start < place.start);
    marks.get(next).is_some_and(|mark| {
        mark.place.start < place.end || text[place.end..mark.place.start].trim().is_empty()
    })
}

/// The marks of a text, those together that only blanks and commas part.
fn groups(text: &str) -> Vec<Vec<CitationMark>> {
    let mut groups: Vec<Vec<CitationMark>> = Vec::new();
    for mark in citation_marks(text) {
        let last = groups.last_mut().and_then(|group| {
            let before = group.last()?;
            let between = &text[before.place.end..mark.place.start];
            let is_near = between
                .chars()
                .all(|c| matches!(c, ' ' | ',' | ';' | '\u{a0}'));
            is_near.then_some(group)
        });
        match last {
            Some(group) => group.push(mark),
            None => groups.push(vec![mark]),
        }
    }
    groups
}

fn source_of<'a>(mark: &CitationMark, sources: &'a [Source]) -> Option<&'a Source> {
    sources
        .get(mark.number.checked_sub(1)?)
        .filter(|source| source.id == mark.number.to_string())
}

/// The words that a mark stands for: the last sentence before it, without Markdown and the number of a list item.
fn claim(said: &str) -> String {
    let last = sentences(said)
        .filter(|sentence| !sentence.trim().is_empty())
        .last();
    let words = plain(last.unwrap_or_default());
    let words = words.trim();
    let digits = words.bytes().take_while(u8::is_ascii_digit).count();
    let after = &words[digits..];
    let is_item = (1..=3).contains(&digits) && (after.starts_with(". ") || after.starts_with(") "));
    if is_item {
        words[digits + 2..].to_owned()
    } else {
        words.to_owned()
    }
}

/// Counts characters up to growing places of one text.
#[derive(Default)]
struct CharCounter {
    bytes: usize,
    chars: u64,
}

impl CharCounter {
    fn chars_before(&mut self, text: &str, place: usize) -> u64 {
        self.chars += text[self.bytes..place].chars().count() as u64;
        self.bytes = place;
        self.chars
    }
}

#[cfg(test)]
mod tests {
    use domain::event::Unconfirmed;

    use super::*;

    fn sources() -> Vec<Source> {
        let quotes = [
            Some("It sailed from Plymouth on 6 September 1620 with 102 passengers."),
            Some("Zorvex does not cause lasting damage to the liver."),
            None,
            Some("Его построил в 1702 году Иван Петров, а не его брат."),
        ];
        let source = |(id, quote): (u32, Option<&str>)| Source {
            verified: Some(quote.is_some()),
            ..Source::new(
                id.to_string(),
                "The Mayflower".into(),
                "u".into(),
                quote.map(str::to_owned),
            )
        };
        (1..).zip(quotes).map(source).collect()
    }

    /// The marks that are not confirmed as `number@character reason`.
    fn check(text: &str, expected: &[&str]) {
        let found = unconfirmed("t1", text, &sources());
        let mut places: Vec<(u64, String)> = Vec::new();
        for source in &found {
            for CitedPlace {
                item,
                start,
                end,
                unconfirmed,
            } in &source.cited
            {
                assert_eq!(item, "t1");
                assert_eq!(end - start, source.id.len() as u64 + 2);
                let why = match unconfirmed.unwrap() {
                    Unconfirmed::Number => "number",
                    Unconfirmed::Negation => "negation",
                    Unconfirmed::Name => "name",
                    Unconfirmed::Quotation => "quotation",
                };
                places.push((*start, format!("{}@{start} {why}", source.id)));
            }
        }
        places.sort();
        let places: Vec<String> = places.into_iter().map(|(_, place)| place).collect();
        assert_eq!(places, expected, "{text}");
    }

    #[test]
    fn marks_whose_quotes_lack_what_the_sentence_says_are_found() {
        check(
            "It sailed on September 6, 1620, with 102 passengers [1].",
            &[],
        );
        check("It sailed with 104 passengers [1].", &["1@30 number"]);
        check(
            "Né: it sailed with 102 [1] or 104 [1] passengers.",
            &["1@34 number"],
        );
        check(
            "Zorvex causes lasting damage to the liver.[2] It sailed in 1620. [1]",
            &["2@42 negation"],
        );
        check(
            "- **It** sailed with 104 [1][2], they say.",
            &["1@25 number", "2@28 number"],
        );
        check(
            "It sailed from Plymouth with John Carver [1].",
            &["1@41 name"],
        );
        check("The Mayflower sailed with 102 passengers [1].", &[]);
        check(
            "One said “the sea was calm that day” of it [1].",
            &["1@43 quotation"],
        );
        check("One said “from Plymouth on 6 September 1620” [1].", &[]);
        check("Его построил в 1702 г. Пётр Сидоров [4].", &["4@36 name"]);
        check(
            "Его построил Иван Петров [4] в 1703 году [4].",
            &["4@41 number"],
        );
    }

    #[test]
    fn marks_of_quotes_that_were_not_found_are_left_alone() {
        check("It had 104 passengers [3].", &[]);
        check("It had 104 passengers [1][3].", &[]);
        check("It had 104 passengers [9] and a[1] = 5.", &[]);
        check(
            "1. It sailed in 1620 [1].\n2. It had 102 passengers [1].",
            &[],
        );
    }

    #[test]
    fn figures_and_quotations_without_a_citation_are_told() {
        let told = |text: &str| unsupported(text, &sources(), "What became of 25 ships?");
        assert_eq!(
            told(
                "It had 104 passengers. It sailed in 1620. Of 25 ships 7 % came back [1]. Two did not."
            ),
            ["104"]
        );
        assert_eq!(
            told("One said “the sea was calm that day”, another 99 %."),
            ["99 %", "“the sea was calm that day”"]
        );
        assert_eq!(
            told("# In 1999\nIt had 104 passengers. [1]\n1. So"),
            [""; 0]
        );
        assert_eq!(told(&"It had 104 passengers. ".repeat(3_000)), ["104"]);
    }
}
