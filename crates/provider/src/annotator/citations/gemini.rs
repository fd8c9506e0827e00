//! Gemini's grounding metadata: the chunks that support an answer, and the segments that they support.

use std::ops::Range;

use serde_json::Value;

use super::{Citation, MAX_CITATIONS, Texts};

/// The citations in the metadata of the whole answer.
pub(in super::super) fn of_metadata(data: &Value, texts: &Texts) -> Vec<Citation> {
    let metadata = &data["metadata"];
    if !metadata.is_object() {
        return Vec::new();
    }
    let mut cited = of_grounding(&metadata["groundingMetadata"], texts);
    let citations = &metadata["citationMetadata"];
    let places = Places::of(texts);
    for source in list(&citations["citations"]).chain(list(&citations["citationSources"])) {
        let place = places.bytes(
            source["startIndex"].as_u64().unwrap_or(0),
            source["endIndex"].as_u64(),
        );
        let citation = Citation::new(source["uri"].as_str(), source["title"].as_str(), None);
        cited.extend(citation.map(|citation| citation.at(place)));
    }
    for page in list(&metadata["urlContextMetadata"]["urlMetadata"]) {
        let is_read = page["urlRetrievalStatus"] == "URL_RETRIEVAL_STATUS_SUCCESS";
        let citation = Citation::new(
            page["retrievedUrl"].as_str().filter(|_| is_read),
            None,
            None,
        );
        cited.extend(
            citation.filter(|citation| cited.iter().all(|known| known.url != citation.url)),
        );
    }
    cited
}

fn of_grounding(grounding: &Value, texts: &Texts) -> Vec<Citation> {
    let chunks: Vec<Option<Citation>> = list(&grounding["groundingChunks"]).map(of_chunk).collect();
    let mut is_cited = vec![false; chunks.len()];
    let mut cited = Vec::new();
    let places = Places::of(texts);
    for support in list(&grounding["groundingSupports"]) {
        let place = places.segment(&support["segment"]);
        for index in list(&support["groundingChunkIndices"]) {
            let index = index.as_u64().and_then(|index| usize::try_from(index).ok());
            let chunk = index.and_then(|index| Some((index, chunks.get(index)?.as_ref()?)));
            if let Some((index, chunk)) =
                chunk.filter(|_| place.is_some() && cited.len() < MAX_CITATIONS)
            {
                is_cited[index] = true;
                cited.push(chunk.clone().at(place.clone()));
            }
        }
    }
    let rest = chunks
        .into_iter()
        .zip(is_cited)
        .filter(|(_, is_cited)| !is_cited);
    cited.extend(rest.filter_map(|(chunk, _)| chunk));
    cited
}

fn of_chunk(chunk: &Value) -> Option<Citation> {
    let kinds = ["web", "retrievedContext", "maps", "image"];
    let source = kinds
        .into_iter()
        .map(|kind| &chunk[kind])
        .find(|source| source.is_object())?;
    let text = |field: &str| {
        source[field]
            .as_str()
            .filter(|text| !text.trim().is_empty())
    };
    // A document of a store may have no title.
    let store = text("fileSearchStore")
        .or(text("documentName"))
        .and_then(|name| name.rsplit('/').next());
    Citation::new(
        text("uri").or(text("sourceUri")),
        text("title").or(store),
        text("text"),
    )
}

/// Converts positions in the answer's text.
struct Places<'a> {
    text: &'a str,
    /// The byte offset of each character.
    chars: Vec<usize>,
}

impl<'a> Places<'a> {
    fn of(texts: &'a Texts) -> Self {
        let text = texts.all.as_str();
        Self {
            text,
            chars: text.char_indices().map(|(at, _)| at).collect(),
        }
    }

    /// A range given in bytes.
    fn bytes(&self, start: u64, end: Option<u64>) -> Option<Range<usize>> {
        let start = usize::try_from(start).ok()?;
        let end = usize::try_from(end?).ok()?;
        let char_at = |byte: usize| match byte == self.text.len() {
            true => Some(self.chars.len()),
            false => self.chars.binary_search(&byte).ok(),
        };
        let start = char_at(start)?;
        let end = char_at(end)?;
        (start < end).then_some(start..end)
    }

    /// The range of a segment: as given, or by searching its text, as offsets count from the start of its own part.
    fn segment(&self, segment: &Value) -> Option<Range<usize>> {
        let words = segment["text"].as_str().unwrap_or_default();
        let start = segment["startIndex"].as_u64().unwrap_or(0);
        let end = segment["endIndex"].as_u64();
        let described = |start: u64| {
            let start = usize::try_from(start).ok()?;
            let end = usize::try_from(end?).ok()?;
            self.text.get(start..end)
        };
        if words.is_empty() || described(start) == Some(words) {
            return self.bytes(start, end);
        }
        let start = self.text.find(words)?;
        self.bytes(start as u64, Some((start + words.len()) as u64))
    }
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten().take(MAX_CITATIONS)
}
