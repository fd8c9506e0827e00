//! Joins the lines of all pages into a document: paragraphs, words hyphenated at line ends, headings and tables.

use std::{
    collections::{BTreeMap, HashSet},
    ops::Range,
};

use super::{
    lines::Line,
    spacing,
    tables::{self, Block},
};
use crate::{
    document::{Document, Heading, Page},
    read::table,
    recognition::RecognizedLine,
};

/// A line is a heading if its letters are larger than most of the text by this factor.
const HEADING_SCALE: f64 = 1.15;
/// Maximum length of a heading.
const HEADING_LIMIT_CHARS: usize = 120;
/// Words that are usually joined with the next by a hyphen.
const HYPHENATED: [&str; 5] = ["half", "non", "quasi", "self", "well"];
/// Hyphens, of which the first is only drawn at line ends.
const HYPHENS: [char; 3] = ['\u{ad}', '-', '\u{2010}'];

/// The pages read so far.
#[derive(Default)]
pub(in crate::read) struct Assembly {
    /// The number of each page, and of the lines before it.
    pages: Vec<(u32, usize)>,
    lines: Vec<TextLine>,
    size_bytes: u64,
}

/// A line of text or a row of a table.
struct TextLine {
    text: String,
    /// The font size of its first letters, in points; 0 if it is unknown.
    size: f64,
    begins_paragraph: bool,
    is_row: bool,
}

impl Assembly {
    pub(super) fn add_page(&mut self, number: u32, blocks: Vec<Block>) {
        self.pages.push((number, self.lines.len()));
        let mut follows_block = true;
        for block in blocks {
            match block {
                Block::Line(line) => {
                    self.add_line(&line, follows_block);
                    follows_block = false;
                }
                Block::Table { rows, size } => {
                    self.add_table(&rows, size);
                    follows_block = true;
                }
                Block::Columns(columns) => {
                    columns
                        .iter()
                        .flatten()
                        .for_each(|line| self.add_line(line, false));
                    follows_block = true;
                }
            }
        }
    }

    /// Adds a page whose text was recognized.
    pub(in crate::read) fn add_recognized_page(&mut self, number: u32, lines: Vec<RecognizedLine>) {
        self.pages.push((number, self.lines.len()));
        for line in lines {
            self.add(TextLine {
                text: line.text,
                size: 0.0,
                begins_paragraph: line.begins_paragraph,
                is_row: false,
            });
        }
    }

    /// The size of the text read so far.
    pub(in crate::read) fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    pub(super) fn has_words(&self) -> bool {
        let mut lines = self.lines.iter();
        lines.any(|line| line.text.contains(char::is_alphanumeric))
    }

    fn add_line(&mut self, line: &Line, follows_block: bool) {
        let text = spacing::text(&line.glyphs);
        if !text.is_empty() {
            self.add(TextLine {
                text,
                size: tables::size(line),
                begins_paragraph: line.begins_paragraph || follows_block,
                is_row: false,
            });
        }
    }

    /// Adds a Markdown table.
    fn add_table(&mut self, rows: &[Vec<String>], size: f64) {
        for (index, row) in table::markdown(rows).lines().enumerate() {
            self.add(TextLine {
                text: row.to_owned(),
                size,
                begins_paragraph: index == 0,
                is_row: true,
            });
        }
    }

    fn add(&mut self, line: TextLine) {
        self.size_bytes += line.text.len() as u64 + 1;
        self.lines.push(line);
    }

    pub(in crate::read) fn finish(self) -> Document {
        let Self { pages, lines, .. } = self;
        let known = Known::of(&lines);
        let mut document = Document::default();
        let text = &mut document.text;
        let mut spans = Vec::with_capacity(lines.len());
        let mut starts = pages.iter().peekable();
        for (index, line) in lines.iter().enumerate() {
            while let Some((number, _)) = starts.next_if(|(_, first)| *first <= index) {
                document.pages.push(Page {
                    number: *number,
                    start: text.len(),
                });
            }
            let start = text.len();
            // A paragraph does not go on over the end of a page.
            let next = match starts.peek() {
                Some((_, first)) if *first == index + 1 => None,
                _ => lines.get(index + 1),
            };
            let cut = next.and_then(|next| CutWord::of(line, next));
            let shown = match &cut {
                Some(cut) if known.keeps_hyphen(cut) => cut.before_with_hyphen,
                Some(cut) => cut.before,
                None => line.text.as_str(),
            };
            text.push_str(shown);
            spans.push(start..text.len());
            text.push_str(match (cut, next) {
                (Some(_), _) => "",
                (None, Some(next)) if !next.begins_paragraph => "\n",
                (None, _) => "\n\n",
            });
        }
        document.pages.extend(starts.map(|(number, _)| Page {
            number: *number,
            start: text.len(),
        }));
        document.headings = headings(&document.text, &lines, &spans);
        document
    }
}

/// A word that is cut at the end of a line, and goes on in the next.
struct CutWord<'a> {
    /// The line without the hyphen.
    before: &'a str,
    before_with_hyphen: &'a str,
    hyphen: char,
    first: &'a str,
    second: &'a str,
}

impl<'a> CutWord<'a> {
    fn of(line: &'a TextLine, next: &'a TextLine) -> Option<Self> {
        if line.is_row || next.is_row || next.begins_paragraph {
            return None;
        }
        let before_with_hyphen = line.text.as_str();
        let hyphen = before_with_hyphen.chars().next_back()?;
        let before = before_with_hyphen.strip_suffix(HYPHENS)?;
        if !before.ends_with(char::is_alphabetic) || !next.text.starts_with(char::is_lowercase) {
            return None;
        }
        let is_word = |char: char| char.is_alphanumeric() || HYPHENS.contains(&char);
        let first = before.rsplit(|char| !is_word(char)).next()?;
        let second = next.text.split(|char| !is_word(char)).next()?;
        Some(Self {
            before,
            before_with_hyphen,
            hyphen,
            first,
            second: second.trim_end_matches(HYPHENS),
        })
    }

    fn joined(&self, hyphen: &str) -> String {
        format!("{}{hyphen}{}", self.first, self.second).to_lowercase()
    }
}

/// The forms of the words cut at line ends that are elsewhere in the document.
struct Known(HashSet<String>);

impl Known {
    fn of(lines: &[TextLine]) -> Self {
        let mut wanted = HashSet::new();
        for pair in lines.windows(2) {
            let [line, next] = pair else { continue };
            if let Some(cut) = CutWord::of(line, next) {
                wanted.extend([cut.joined(""), cut.joined("-")]);
            }
        }
        let mut found = HashSet::new();
        if !wanted.is_empty() {
            let texts = lines.iter().map(|line| line.text.to_lowercase());
            for text in texts {
                let words = text.split(|char: char| !char.is_alphanumeric() && char != '-');
                found.extend(words.filter_map(|word| wanted.take(word)));
            }
        }
        Self(found)
    }

    fn keeps_hyphen(&self, cut: &CutWord<'_>) -> bool {
        if cut.hyphen == '\u{ad}' {
            return false;
        }
        self.0.contains(&cut.joined("-"))
            || !self.0.contains(&cut.joined(""))
                && (HYPHENATED.contains(&cut.first.to_lowercase().as_str())
                    || cut.first.contains(HYPHENS))
    }
}

/// The lines in larger letters than the others.
fn headings(text: &str, lines: &[TextLine], spans: &[Range<usize>]) -> Vec<Heading> {
    let usual = usual_size(lines);
    let shown = |span: &Range<usize>| text.get(span.clone()).unwrap_or_default().trim();
    let is_heading = |line: &TextLine, title: &str| {
        !line.is_row
            && line.size > usual * HEADING_SCALE
            && title.chars().count() <= HEADING_LIMIT_CHARS
            && title.chars().filter(|char| char.is_alphabetic()).count() > 2
    };
    let found: Vec<(&TextLine, &Range<usize>)> = lines
        .iter()
        .zip(spans)
        .filter(|(line, span)| is_heading(line, shown(span)))
        .collect();
    let mut sizes: Vec<f64> = found.iter().map(|(line, _)| line.size).collect();
    sizes.sort_by(|a, b| b.total_cmp(a));
    sizes.dedup_by(|a, b| (*a - *b).abs() < 0.5);
    let level = |size: f64| {
        let position = sizes.iter().position(|other| (other - size).abs() < 0.5);
        position.unwrap_or(0).min(5)
    };
    let heading = |(line, span): (&TextLine, &Range<usize>)| Heading {
        level: u8::try_from(level(line.size) + 1).unwrap_or(6),
        title: shown(span).to_owned(),
        span: span.clone(),
    };
    found.into_iter().map(heading).collect()
}

/// The font size of most characters, in points, among the lines whose size is known.
fn usual_size(lines: &[TextLine]) -> f64 {
    let mut weights = BTreeMap::new();
    for line in lines.iter().filter(|line| line.size > 0.0) {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "sizes are small, and others saturate"
        )]
        let tenths = (line.size * 10.0).round() as i64;
        *weights.entry(tenths).or_insert(0) += line.text.len();
    }
    #[expect(clippy::cast_precision_loss, reason = "tenths of points are small")]
    weights
        .into_iter()
        .max_by_key(|(_, weight)| *weight)
        .map_or(0.0, |(tenths, _)| tenths as f64 / 10.0)
}
