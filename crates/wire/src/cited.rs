//! Locates the citations of a text: marks such as `[1]`, and ranges reported by the model's provider.

use std::{borrow::Cow, collections::HashMap, ops::Range};

use domain::event::Source;

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
        let mut marks: Vec<(usize, usize, &Source)> = Vec::new();
        for source in &self.all {
            let mark = format!("[{}]", source.id);
            let found = text.match_indices(&mark).take(MAX_CITATIONS);
            marks.extend(found.map(|(at, mark)| (at, mark.chars().count(), source)));
        }
        marks.sort_by_key(|(at, ..)| *at);
        marks.truncate(MAX_CITATIONS);
        let mut counted = 0;
        let mut chars = 0;
        let marked = marks.into_iter().map(|(at, size, source)| {
            chars += text[counted..at].chars().count();
            counted = at;
            (chars..chars + size, source)
        });
        let mut cited: Vec<(Range<usize>, &Source)> = marked.collect();
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
        cited.truncate(MAX_CITATIONS);
        cited
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
