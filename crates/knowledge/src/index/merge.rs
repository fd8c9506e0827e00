//! Merges segments into one, dropping removed documents.

use super::{Kept, Segment, postings::PostingsWriter};

/// Marks a removed chunk.
const GONE: u32 = u32::MAX;

/// Merges several segments; documents keep their vectors.
pub(super) fn merge(parts: &[Kept]) -> Kept {
    let mut merged = Segment {
        starts: vec![0],
        key_starts: vec![0],
        ..Segment::default()
    };
    let renumbered: Vec<Vec<u32>> = parts
        .iter()
        .map(|part| take_documents(part, &mut merged))
        .collect();
    let places = take_terms(parts, &renumbered, &mut merged);
    for (part, (numbers, places)) in parts.iter().zip(renumbered.iter().zip(&places)) {
        let live = (0..part.segment.chunk_count()).filter(|chunk| numbers[*chunk] != GONE);
        for chunk in live {
            let mut writer = PostingsWriter::default();
            // The terms are in the same order as before.
            part.segment
                .keys_of(chunk)
                .each(|place, times| writer.add(places[place as usize], times));
            merged.add_keys(&writer);
        }
    }
    merged.shrink();
    let live = parts.iter().flat_map(|part| {
        part.vectors
            .iter()
            .zip(&part.gone)
            .filter(|(_, gone)| !**gone)
    });
    Kept::new(merged, live.map(|(vectors, _)| vectors.clone()).collect())
}

/// Appends the remaining documents. Returns the new number of each chunk.
fn take_documents(part: &Kept, merged: &mut Segment) -> Vec<u32> {
    let segment = &part.segment;
    let mut numbers = vec![GONE; segment.chunk_count()];
    for (position, document) in segment
        .documents
        .iter()
        .enumerate()
        .filter(|(at, _)| !part.gone[*at])
    {
        for chunk in segment.chunks_of(position) {
            numbers[chunk] = u32::try_from(merged.lengths.len()).unwrap_or(GONE);
            merged.lengths.push(segment.lengths[chunk]);
        }
        merged.documents.push(*document);
        merged.languages.push(segment.languages[position]);
        merged
            .starts
            .push(u32::try_from(merged.lengths.len()).unwrap_or(u32::MAX));
    }
    numbers
}

/// Appends the terms with their postings. Returns the new index of each part's terms.
fn take_terms(parts: &[Kept], renumbered: &[Vec<u32>], merged: &mut Segment) -> Vec<Vec<u32>> {
    let mut places: Vec<Vec<u32>> = vec![Vec::new(); parts.len()];
    let mut all: Vec<_> = parts
        .iter()
        .map(|part| part.segment.terms.entries().peekable())
        .collect();
    while let Some(term) = all
        .iter_mut()
        .filter_map(|entries| Some(entries.peek()?.term))
        .min()
    {
        let mut writer = PostingsWriter::default();
        let place = u32::try_from(merged.terms.len()).unwrap_or(GONE);
        for (part, entries) in all.iter_mut().enumerate() {
            let Some(entry) = entries.next_if(|entry| entry.term == term) else {
                continue;
            };
            parts[part]
                .segment
                .postings_in(entry.postings)
                .each(|chunk, times| match renumbered[part][chunk as usize] {
                    GONE => {}
                    chunk => writer.add(chunk, times),
                });
            places[part].push(place);
        }
        if writer.count > 0 {
            writer.write_to(&mut merged.postings);
            merged.terms.push(term, merged.postings.len());
        }
    }
    places
}
