//! Locates the citations of a text: marks such as `[1]`, and ranges reported by the model's provider.

use std::{borrow::Cow, collections::HashMap, ops::Range};

use domain::{
    citation_marks::{CitationMark, citation_marks},
    event::Source,
};

/// Maximum number of citations per text.
const MAX_CITATIONS: usize = 200;

/// The sources of a run, in the order they were reported.
#[derive(Debug, Default, Clone)]
pub(crate) struct Sources {
    all: Vec<Source>,
    /// The index of each, by its id.
    places: HashMap<String, usize>,
}

impl Sources {
    /// Adds sources. A known one is replaced, and keeps its cited ranges.
    pub(crate) fn add(&mut self, sources: &[Source]) {
        for source in sources {
            match self
                .places
                .get(&source.id)
                .and_then(|at| self.all.get_mut(*at))
            {
                Some(known) => {
                    let mut cited = std::mem::take(&mut known.cited);
                    for place in &source.cited {
                        if !cited.contains(place) {
                            cited.push(place.clone());
                        }
                    }
                    *known = Source {
                        cited,
                        ..source.clone()
                    };
                }
                None => {
                    self.places.insert(source.id.clone(), self.all.len());
                    self.all.push(source.clone());
                }
            }
        }
    }

    /// All of them, without duplicates.
    pub(crate) fn all(&self) -> &[Source] {
        &self.all
    }

    /// The ranges at which the text of this item cites a source, in order, in characters.
    pub(crate) fn cited_in(&self, item: &str, text: &str) -> Vec<(Range<usize>, &Source)> {
        let mut cited: Vec<(Range<usize>, &Source)> = Vec::new();
        let mut counted = 0;
        let mut chars = 0;
        for CitationMark { place, number } in citation_marks(text) {
            let Some(at) = self.places.get(&number.to_string()) else {
                continue;
            };
            chars += text[counted..place.start].chars().count();
            counted = place.start;
            // A mark has one byte for each character.
            cited.push((chars..chars + place.len(), &self.all[*at]));
            if cited.len() >= MAX_CITATIONS {
                break;
            }
        }
        let length = text.chars().count();
        for source in &self.all {
            let of_item = source.cited.iter().filter(|place| place.item == item);
            let places = of_item.filter_map(|place| {
                let place = usize::try_from(place.start).ok()?..usize::try_from(place.end).ok()?;
                (place.start < place.end && place.end <= length).then_some((place, source))
            });
            cited.extend(places);
        }
        cited.sort_by_key(|(place, _)| (place.start, place.end));
        // What is said of a mark has the mark's own place.
        cited.dedup_by(|(place, source), (kept, known)| place == kept && source.id == known.id);
        cited.truncate(MAX_CITATIONS);
        cited
    }
}

/// The sources that were sent to a client, for formats that have no places: an event that only adds places to them tells
/// nothing new.
#[derive(Debug, Default)]
pub(crate) struct SentSources(HashMap<String, Source>);

impl SentSources {
    /// Those of the sources that were not sent yet, without places.
    pub(crate) fn new_of(&mut self, sources: &[Source]) -> Vec<Source> {
        let plain = without_places(sources).into_owned().into_iter();
        plain
            .filter(|source| {
                let known = self.0.insert(source.id.clone(), source.clone());
                known.as_ref() != Some(source)
            })
            .collect()
    }
}

/// The sources without the ranges, which refer to items of the log: for formats without items.
pub(crate) fn without_places(sources: &[Source]) -> Cow<'_, [Source]> {
    if sources.iter().all(|source| source.cited.is_empty()) {
        return Cow::Borrowed(sources);
    }
    sources
        .iter()
        .map(|source| Source {
            cited: Vec::new(),
            ..source.clone()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use domain::event::CitedPlace;

    use super::*;

    fn source(id: &str, cited: &[(&str, u64, u64)]) -> Source {
        let place = |(item, start, end): &(&str, u64, u64)| CitedPlace {
            item: (*item).to_owned(),
            start: *start,
            end: *end,
            unconfirmed: None,
        };
        let cited = cited.iter().map(place).collect();
        Source {
            cited,
            ..Source::new(id.into(), "T".into(), "u".into(), None)
        }
    }

    fn found(sources: &Sources, text: &str) -> Vec<(Range<usize>, String)> {
        sources
            .cited_in("t1", text)
            .into_iter()
            .map(|(place, source)| (place, source.id.clone()))
            .collect()
    }

    #[test]
    fn marks_count_characters() {
        let mut sources = Sources::default();
        sources.add(&[source("1", &[]), source("2", &[]), source("3", &[])]);
        let expected = [
            (3..6, "2".to_owned()),
            (11..14, "1".to_owned()),
            (15..18, "2".to_owned()),
        ];
        assert_eq!(found(&sources, "Né [2], né [1] [2]."), expected);
    }

    #[test]
    fn other_brackets_are_no_citations() {
        let mut sources = Sources::default();
        sources.add(&[source("1", &[]), source("2", &[])]);
        let text = "In [0, 1] a[1] is `so [1]` as [1](u) and [2] [3].\n[2] Smith";
        assert_eq!(found(&sources, text), [(41..44, "2".to_owned())]);
    }

    #[test]
    fn a_place_of_a_mark_is_sent_once() {
        let mut sources = Sources::default();
        sources.add(&[source("1", &[("t1", 3, 6)])]);
        assert_eq!(found(&sources, "So [1]."), [(3..6, "1".to_owned())]);
    }

    #[test]
    fn a_source_that_only_gets_places_is_sent_once() {
        let mut sent = SentSources::default();
        let one = [source("1", &[]), source("2", &[])];
        assert_eq!(sent.new_of(&one), one);
        assert!(sent.new_of(&[source("1", &[("t1", 0, 2)])]).is_empty());
        let other = Source {
            title: "Other".to_owned(),
            ..source("2", &[])
        };
        assert_eq!(sent.new_of(std::slice::from_ref(&other)), [other]);
    }

    #[test]
    fn provider_ranges_complement_marks() {
        let mut sources = Sources::default();
        sources.add(&[source(
            "1",
            &[("t1", 0, 2), ("t2", 0, 2), ("t1", 3, 99), ("t1", 2, 2)],
        )]);
        sources.add(&[
            source("1", &[("t1", 3, 5)]),
            source("2", &[("t1", 0, u64::MAX)]),
        ]);
        assert_eq!(sources.all().len(), 2);
        assert_eq!(
            found(&sources, "Né né [2]"),
            [
                (0..2, "1".to_owned()),
                (3..5, "1".to_owned()),
                (6..9, "2".to_owned())
            ]
        );
    }
}
