//! Puts segments together to one, without what is gone of them.

use super::{Kept, Segment, postings::PostingsWriter, segment::KeyTerm};

/// The number of what is not taken over.
const GONE: u32 = u32::MAX;

/// Makes one segment of several.
pub(super) fn merge(parts: &[Kept]) -> Segment {
    let mut merged = Segment { starts: vec![0], offsets: vec![0], key_starts: vec![0], ..Segment::default() };
    let renumbered: Vec<Vec<u32>> = parts.iter().map(|part| take_documents(part, &mut merged)).collect();
    let places = take_terms(parts, &renumbered, &mut merged);
    for (part, (numbers, places)) in parts.iter().zip(renumbered.iter().zip(&places)) {
        let live = (0..part.segment.chunk_count()).filter(|chunk| numbers[*chunk] != GONE);
        for chunk in live {
            let keys = part.segment.key_terms(chunk);
            let keys = keys.filter_map(|(_, key)| KeyTerm::new(places[key.place()] as usize, key.times()));
            merged.keys.extend(keys);
            merged.key_starts.push(u32::try_from(merged.keys.len()).unwrap_or(u32::MAX));
        }
    }
    merged.shrink();
    merged
}

/// Appends the documents that are left; gives the new number of each chunk.
fn take_documents(part: &Kept, merged: &mut Segment) -> Vec<u32> {
    let segment = &part.segment;
    let mut numbers = vec![GONE; segment.chunk_count()];
    for (position, document) in segment.documents.iter().enumerate().filter(|(at, _)| !part.gone[*at]) {
        for chunk in segment.chunks_of(position) {
            numbers[chunk] = u32::try_from(merged.lengths.len()).unwrap_or(GONE);
            merged.lengths.push(segment.lengths[chunk]);
            merged.vectors.push_from(&segment.vectors, chunk);
        }
        merged.documents.push(*document);
        merged.starts.push(u32::try_from(merged.lengths.len()).unwrap_or(u32::MAX));
    }
    numbers
}

/// Appends the terms with their postings; gives the new place of each part's terms.
fn take_terms(parts: &[Kept], renumbered: &[Vec<u32>], merged: &mut Segment) -> Vec<Vec<u32>> {
    let mut next = vec![0; parts.len()];
    let mut places: Vec<Vec<u32>> = parts.iter().map(|part| vec![GONE; part.segment.terms.len()]).collect();
    let term_at = |part: usize, at: usize| parts[part].segment.terms.get(at).copied();
    while let Some(term) = (0..parts.len()).filter_map(|part| term_at(part, next[part])).min() {
        let mut writer = PostingsWriter::default();
        let place = u32::try_from(merged.terms.len()).unwrap_or(GONE);
        for part in 0..parts.len() {
            if term_at(part, next[part]) == Some(term) {
                parts[part].segment.postings_at(next[part]).each(|chunk, times| {
                    match renumbered[part][chunk as usize] {
                        GONE => {}
                        chunk => writer.add(chunk, times),
                    }
                });
                places[part][next[part]] = place;
                next[part] += 1;
            }
        }
        if writer.count > 0 {
            merged.terms.push(term);
            writer.write_to(&mut merged.postings);
            merged.offsets.push(u32::try_from(merged.postings.len()).unwrap_or(u32::MAX));
        }
    }
    places
}
