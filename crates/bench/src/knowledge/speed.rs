//! Speed and memory of building and searching an index, on generated text with a natural word distribution.

use std::{hint::black_box, time::Instant};

use knowledge::{
    ChunkToIndex, Document, Index, Meaning, Query, Sizes, Terms, ToIndex, cut, encode_vector,
    search,
};

use anyhow::Context;

use crate::table::{Aim, Row, percentile, print};

/// Number of chunks searched.
const CHUNKS: usize = 100_000;
const QUICK_CHUNKS: usize = 5_000;
const SEARCHES: usize = 400;
/// Typical of small embedding models.
const DIMENSIONS: usize = 384;
/// Characters per page of a book.
const PAGE_CHARS: usize = 3_000;

pub(super) fn measure(quick: bool) -> anyhow::Result<()> {
    let chunks = if quick { QUICK_CHUNKS } else { CHUNKS };
    let mut rows = ingest(if quick { 2_000_000 } else { 20_000_000 });
    rows.extend(searches(chunks));
    print("Knowledge: speed, one thread", &rows);
    print(
        "Knowledge: memory",
        &memory(if quick { 20_000_000 } else { 1_000_000_000 })?,
    );
    Ok(())
}

/// From text via chunks to an index, in pages per second.
fn ingest(bytes: usize) -> Vec<Row> {
    let mut words = Words::new(1);
    let texts: Vec<String> = (0..bytes / 100_000).map(|_| words.text(100_000)).collect();
    let terms = Terms::default();
    let start = Instant::now();
    let mut index = Index::default();
    for (document, text) in (0..).zip(texts) {
        put(&mut index, &terms, document, text, None);
    }
    black_box(index.chunk_count());
    let pages = bytes as f64 / PAGE_CHARS as f64;
    let figure = pages / start.elapsed().as_secs_f64();
    vec![Row {
        what: "pages a second, cut and indexed",
        figure,
        unit: "/s",
        aim: Some(Aim::AtLeast(200.0)),
    }]
}

fn put(
    index: &mut Index,
    terms: &Terms,
    document: u128,
    text: String,
    vectors: Option<&mut Words>,
) {
    let document_text = Document {
        text,
        ..Document::default()
    };
    let cut = cut(&document_text, Sizes::default());
    let vectors: Vec<Option<Vec<u8>>> = match vectors {
        Some(words) => cut.iter().map(|_| encode_vector(&words.vector())).collect(),
        None => vec![None; cut.len()],
    };
    let chunks: Vec<ChunkToIndex<'_>> = cut
        .iter()
        .zip(&vectors)
        .map(|(chunk, vector)| ChunkToIndex {
            text: &document_text.text[chunk.bytes.clone()],
            headings: &chunk.headings,
            vector: vector.as_deref(),
        })
        .collect();
    index.put(
        terms,
        &[ToIndex {
            document,
            title: "",
            chunks: &chunks,
        }],
    );
}

/// Search latencies among many chunks of two collections and ten owners.
fn searches(chunks: usize) -> Vec<Row> {
    let terms = Terms::default();
    let mut words = Words::new(2);
    let mut other = Words::new(3);
    let mut indexes = [Index::default(), Index::default()];
    let mut document = 0;
    while indexes.iter().map(Index::chunk_count).sum::<usize>() < chunks {
        let index = &mut indexes[usize::from(document % 10 == 0)];
        put(
            index,
            &terms,
            document,
            words.text(10_000),
            Some(&mut other),
        );
        document += 1;
    }
    let all: Vec<&Index> = indexes.iter().collect();
    let mut time = |indexes: &[&Index], admits: Option<&dyn Fn(u128) -> bool>, has_vector: bool| {
        let mut times: Vec<f64> = (0..SEARCHES)
            .map(|_| {
                let question = words.text(60);
                let meaning = if has_vector {
                    Meaning::Vector(words.vector())
                } else {
                    Meaning::Unknown
                };
                let meanings = [meaning.clone(), meaning];
                let query = Query {
                    text: &question,
                    meanings: &meanings,
                    limit: 20,
                    admits,
                };
                let start = Instant::now();
                black_box(search(&terms, indexes, &query));
                start.elapsed().as_secs_f64() * 1000.0
            })
            .collect();
        (percentile(&mut times, 0.5), percentile(&mut times, 0.99))
    };
    let tenth = |document: u128| document % 10 == 3;
    let measured = [
        ("words, p50", "words, p99", time(&all, None, false)),
        (
            "words and vectors, p50",
            "words and vectors, p99",
            time(&all, None, true),
        ),
        (
            "a tenth of the documents, p50",
            "a tenth of the documents, p99",
            time(&all, Some(&tenth), true),
        ),
        (
            "a small collection, p50",
            "a small collection, p99",
            time(&all[1..], None, true),
        ),
    ];
    let rows = measured.into_iter().flat_map(|(half, most, (p50, p99))| {
        let aim = Some(Aim::AtMost(30.0));
        [
            Row {
                what: half,
                figure: p50,
                unit: "ms",
                aim: None,
            },
            Row {
                what: most,
                figure: p99,
                unit: "ms",
                aim,
            },
        ]
    });
    rows.collect()
}

/// Additional memory for an index of this much text.
fn memory(bytes: usize) -> anyhow::Result<Vec<Row>> {
    let before = memory_mb()?;
    let terms = Terms::default();
    let mut words = Words::new(4);
    let mut index = Index::default();
    let start = Instant::now();
    for document in 0..(bytes / 100_000) as u128 {
        put(&mut index, &terms, document, words.text(100_000), None);
    }
    let after = memory_mb()?;
    let per_gb = 1e9 / bytes as f64;
    Ok(vec![
        Row {
            what: "index of 1 GB of text, as it counts itself",
            figure: index.size_bytes() as f64 / 1e6 * per_gb,
            unit: "MB",
            aim: Some(Aim::AtMost(300.0)),
        },
        Row {
            what: "index of 1 GB of text, as the system counts",
            figure: (after - before) * per_gb,
            unit: "MB",
            aim: None,
        },
        Row {
            what: "chunks of it",
            figure: index.chunk_count() as f64,
            unit: "",
            aim: None,
        },
        Row {
            what: "time to make it",
            figure: start.elapsed().as_secs_f64(),
            unit: "s",
            aim: None,
        },
    ])
}

/// Memory of this process as reported by the system.
fn memory_mb() -> anyhow::Result<f64> {
    let status =
        std::fs::read_to_string("/proc/self/status").context("memory is counted on Linux only")?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))
        .context("no VmRSS")?;
    let kilobytes: f64 = line.trim().trim_end_matches(" kB").parse()?;
    Ok(kilobytes / 1000.0)
}

/// Words with a natural distribution: the n-th is n times rarer than the first, and new ones keep appearing.
struct Words(u64);

impl Words {
    fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// A random number from 0 to 1.
    fn share(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A text of about this many characters.
    fn text(&mut self, chars: usize) -> String {
        const VOCABULARY: f64 = 2_000_000.0;
        let mut text = String::with_capacity(chars + 16);
        while text.len() < chars {
            let rank = VOCABULARY.powf(self.share()) as u64;
            let mut rest = rank.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 16;
            for _ in 0..3 + rank.checked_ilog(8).unwrap_or(0) {
                text.push(char::from(b'a' + (rest % 26) as u8));
                rest /= 26;
            }
            text.push_str(if rest.is_multiple_of(17) { ". " } else { " " });
        }
        text
    }

    fn vector(&mut self) -> Vec<f32> {
        (0..DIMENSIONS).map(|_| self.share() as f32 - 0.5).collect()
    }
}
