//! Citations by a model's provider, recorded as sources of the run.

use std::collections::HashMap;

use domain::event::{CitedPlace, Source};
use llm::Citation;

/// Maximum number of cited passages per source.
const MAX_PLACES: usize = 50;
/// Maximum number of citations held until their text ends.
const MAX_WAITING: usize = 500;

/// The numbers of a run's sources. Sources cited by providers are numbered after all others.
#[derive(Debug, Default)]
pub(crate) struct SourceNumbers {
    /// The highest number of a source that does not come from a provider.
    taken: u64,
    /// The highest number of all sources.
    highest: u64,
    /// The numbers of the providers' sources, by address and title.
    of_providers: HashMap<(String, String), u64>,
}

impl SourceNumbers {
    /// Records the numbers of sources that are in the log.
    pub(crate) fn know<'a>(&mut self, ids: impl Iterator<Item = &'a str>) {
        for number in ids.filter_map(|id| id.parse::<u64>().ok()) {
            if !self.of_providers.values().any(|known| *known == number) {
                self.taken = self.taken.max(number);
            }
            self.highest = self.highest.max(number);
        }
    }

    /// Whether a number belongs to a source that does not come from a provider.
    fn is_taken(&self, number: usize) -> bool {
        u64::try_from(number).is_ok_and(|number| number <= self.taken)
    }

    /// The number for a provider's source. `wanted` is the number that the text already cites.
    fn number(&mut self, url: &str, title: &str, wanted: Option<usize>) -> u64 {
        let key = (url.to_owned(), title.to_owned());
        let wanted = wanted.and_then(|number| u64::try_from(number).ok());
        let number = match (wanted, self.of_providers.get(&key)) {
            (Some(wanted), _) => wanted,
            (None, Some(known)) => return *known,
            (None, None) => self.highest.saturating_add(1),
        };
        self.highest = self.highest.max(number);
        self.of_providers.insert(key, number);
        number
    }
}

/// A finished text: its item, its offset in the model's answer in characters, and its length.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EndedText<'a> {
    pub(crate) item: &'a str,
    pub(crate) before: usize,
    pub(crate) chars: usize,
}

/// The citations of a model call that are not in the log yet.
#[derive(Debug, Default)]
pub(crate) struct Waiting(Vec<Citation>);

impl Waiting {
    pub(crate) fn push(&mut self, citations: Vec<Citation>) {
        let room = MAX_WAITING.saturating_sub(self.0.len());
        self.0.extend(citations.into_iter().take(room));
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// Takes the sources cited so far, each once, with their positions in the text if there is one.
    pub(crate) fn take(
        &mut self,
        numbers: &mut SourceNumbers,
        text: Option<EndedText<'_>>,
    ) -> Vec<Source> {
        let mut sources: Vec<Source> = Vec::new();
        let mut places: HashMap<String, usize> = HashMap::new();
        let citations = std::mem::take(&mut self.0);
        // If any number in the text is already taken, none of them can be kept.
        let keeps_numbers = !citations
            .iter()
            .filter_map(|citation| citation.number)
            .any(|it| numbers.is_taken(it));
        for citation in citations {
            let place = text.and_then(|text| place_in(&citation, text));
            let Citation {
                url,
                title,
                quote,
                number,
                ..
            } = citation;
            let id = numbers
                .number(&url, &title, number.filter(|_| keeps_numbers))
                .to_string();
            let at = *places.entry(id.clone()).or_insert_with(|| {
                sources.push(Source::new(id, title, url, None));
                sources.len() - 1
            });
            let source = &mut sources[at];
            source.quote = source.quote.take().or(quote);
            if let Some(place) = place.filter(|_| source.cited.len() < MAX_PLACES)
                && !source.cited.contains(&place)
            {
                source.cited.push(place);
            }
        }
        sources
    }
}

/// The position of a citation within the text; `None` if it lies outside.
fn place_in(citation: &Citation, text: EndedText<'_>) -> Option<CitedPlace> {
    let place = citation.place.as_ref()?;
    let start = place.start.checked_sub(text.before)?;
    let end = place.end.checked_sub(text.before)?;
    if start >= end || end > text.chars {
        return None;
    }
    Some(CitedPlace {
        item: text.item.to_owned(),
        start: start as u64,
        end: end as u64,
        unconfirmed: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn citation(
        url: &str,
        place: Option<std::ops::Range<usize>>,
        number: Option<usize>,
    ) -> Citation {
        Citation {
            url: url.to_owned(),
            title: url.to_owned(),
            quote: None,
            place,
            number,
        }
    }

    /// The id, address and positions of a source.
    type SourceIds<'a> = (&'a str, &'a str, Vec<(u64, u64)>);

    fn ids(sources: &[Source]) -> Vec<SourceIds<'_>> {
        let places = |source: &Source| {
            source
                .cited
                .iter()
                .map(|place| (place.start, place.end))
                .collect()
        };
        sources
            .iter()
            .map(|source| (&*source.id, &*source.url, places(source)))
            .collect()
    }

    const TEXT: EndedText<'_> = EndedText {
        item: "t2",
        before: 10,
        chars: 20,
    };

    #[test]
    fn a_source_is_reported_once_with_its_passages() {
        let mut numbers = SourceNumbers::default();
        numbers.know(["2", "page_x"].into_iter());
        let mut waiting = Waiting::default();
        waiting.push(vec![
            citation("a", Some(10..15), None),
            citation("b", Some(15..30), None),
            citation("a", Some(20..25), None),
            citation("a", Some(20..25), None),
            // One begins in an earlier text, the other extends beyond the end.
            citation("c", Some(5..12), None),
            citation("c", Some(20..31), None),
        ]);
        let sources = waiting.take(&mut numbers, Some(TEXT));
        let expected = [
            ("3", "a", vec![(0, 5), (10, 15)]),
            ("4", "b", vec![(5, 20)]),
            ("5", "c", Vec::new()),
        ];
        assert_eq!(ids(&sources), expected);
        assert!(waiting.take(&mut numbers, None).is_empty());
        waiting.push(vec![citation("b", None, None)]);
        assert_eq!(
            ids(&waiting.take(&mut numbers, None)),
            [("4", "b", Vec::new())],
            "it keeps its number"
        );
    }

    #[test]
    fn numbers_that_the_text_has_are_kept_unless_they_are_of_others() {
        let mut numbers = SourceNumbers::default();
        let mut waiting = Waiting::default();
        let mut cited = |numbers: &mut SourceNumbers| {
            waiting.push(vec![
                citation("a", None, Some(1)),
                citation("b", None, Some(2)),
            ]);
            let sources = waiting.take(numbers, None);
            sources
                .into_iter()
                .map(|source| source.id)
                .collect::<Vec<_>>()
        };
        assert_eq!(cited(&mut numbers), ["1", "2"]);
        numbers.know(["1", "2"].into_iter());
        assert_eq!(cited(&mut numbers), ["1", "2"]);
        let mut numbers = SourceNumbers::default();
        numbers.know(["1"].into_iter());
        assert_eq!(cited(&mut numbers), ["2", "3"], "they are counted on");
    }
}
