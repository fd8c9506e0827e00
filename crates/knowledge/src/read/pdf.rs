//! Text of PDF files, page by page: drawn glyphs are grouped into lines, and large short lines are headings.

mod lines;

use hayro_interpret::{
    Context, InterpreterCache, InterpreterSettings, RenderContent,
    hayro_syntax::{DecryptionError, LoadPdfError, Pdf},
    interpret_page,
    kurbo::{Affine, Rect},
};

use self::lines::{Line, Lines};
use crate::{
    document::{Document, Heading, Page},
    unreadable::{Limits, Unreadable},
};

/// A line is a heading if its letters are larger than most of the text by this factor.
const HEADING_SCALE: f64 = 1.15;
/// Maximum length of a heading.
const HEADING_LIMIT_CHARS: usize = 120;
/// A complete file has its end marker within this many bytes of the end.
const END_BYTES: usize = 1024;

/// Reads a PDF.
///
/// # Errors
/// If it is encrypted, damaged or too long.
pub(super) fn read(bytes: &[u8], limits: &Limits) -> Result<Document, Unreadable> {
    let file = Pdf::new(bytes.to_vec()).map_err(|error| match error {
        LoadPdfError::Decryption(DecryptionError::PasswordProtected) => Unreadable::Encrypted,
        LoadPdfError::Decryption(_) | LoadPdfError::Invalid => Unreadable::damaged("PDF"),
    })?;
    let pages = file.pages();
    if pages.is_empty() {
        return Err(Unreadable::damaged("PDF"));
    }
    if pages.len() > limits.pages as usize {
        return Err(Unreadable::TooManyPages {
            limit: limits.pages,
        });
    }
    let cache = InterpreterCache::new();
    let settings = InterpreterSettings {
        render_content: RenderContent::PAGE,
        ..InterpreterSettings::default()
    };
    let mut gathered = Gathered::default();
    for (page, number) in pages.iter().zip(1..) {
        let mut lines = Lines::new(limits.text_bytes);
        let anywhere = Rect::new(0.0, 0.0, 1.0, 1.0);
        let mut context = Context::new(
            Affine::IDENTITY,
            anywhere,
            &cache,
            file.xref(),
            settings.clone(),
        );
        interpret_page(page, &mut context, &mut lines);
        gathered.add_page(number, lines.finish());
        if gathered.document.text.len() as u64 > limits.text_bytes {
            return Err(Unreadable::TooMuchText {
                limit_bytes: limits.text_bytes,
            });
        }
    }
    // Of a truncated file, the reader finds some pages, which are empty.
    if !gathered.document.text.contains(char::is_alphanumeric) && !has_end(bytes) {
        return Err(Unreadable::damaged("PDF"));
    }
    Ok(gathered.finish())
}

/// Whether the end marker of a complete file is present; some files have other data after it.
fn has_end(bytes: &[u8]) -> bool {
    let tail = &bytes[bytes.len().saturating_sub(END_BYTES)..];
    tail.windows(5).any(|window| window == b"%%EOF")
}

/// The document read so far, with the font size of each line.
#[derive(Default)]
struct Gathered {
    document: Document,
    lines: Vec<(std::ops::Range<usize>, f64)>,
}

impl Gathered {
    fn add_page(&mut self, number: u32, lines: Vec<Line>) {
        let text = &mut self.document.text;
        self.document.pages.push(Page {
            number,
            start: text.len(),
        });
        let mut lines = lines.into_iter().peekable();
        while let Some(line) = lines.next() {
            let start = text.len();
            let next = lines.peek();
            let goes_on =
                next.is_some_and(|next| !next.begins_paragraph && starts_small(&next.text));
            // A word hyphenated at the end of the line is joined again.
            let cut = goes_on.then(|| cut_word(&line.text)).flatten();
            text.push_str(cut.unwrap_or(&line.text));
            self.lines.push((start..text.len(), line.size));
            text.push_str(match (cut, next) {
                (Some(_), _) => "",
                (None, Some(next)) if !next.begins_paragraph => "\n",
                (None, _) => "\n\n",
            });
        }
    }

    /// Finds the headings, now that the usual font size is known.
    fn finish(self) -> Document {
        let Self {
            mut document,
            lines,
        } = self;
        let usual = usual_size(&lines);
        let is_heading = |span: &std::ops::Range<usize>, size: f64| {
            let text = &document.text[span.clone()];
            size > usual * HEADING_SCALE
                && text.chars().count() <= HEADING_LIMIT_CHARS
                && text.chars().filter(|char| char.is_alphabetic()).count() > 2
        };
        let found: Vec<_> = lines
            .into_iter()
            .filter(|(span, size)| is_heading(span, *size))
            .collect();
        let mut sizes: Vec<f64> = found.iter().map(|(_, size)| *size).collect();
        sizes.sort_by(|a, b| b.total_cmp(a));
        sizes.dedup_by(|a, b| (*a - *b).abs() < 0.5);
        let level = |size: f64| {
            sizes
                .iter()
                .position(|other| (other - size).abs() < 0.5)
                .unwrap_or(0)
                .min(5)
        };
        document.headings = found
            .into_iter()
            .map(|(span, size)| Heading {
                level: u8::try_from(level(size) + 1).unwrap_or(6),
                title: document.text[span.clone()].trim().to_owned(),
                span,
            })
            .collect();
        document
    }
}

/// The font size of most characters, in points.
fn usual_size(lines: &[(std::ops::Range<usize>, f64)]) -> f64 {
    let mut weights = std::collections::BTreeMap::new();
    for (span, size) in lines {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "sizes are small, and others saturate"
        )]
        let tenths = (size * 10.0).round() as i64;
        *weights.entry(tenths).or_insert(0) += span.len();
    }
    #[expect(clippy::cast_precision_loss, reason = "tenths of points are small")]
    weights
        .into_iter()
        .max_by_key(|(_, weight)| *weight)
        .map_or(0.0, |(tenths, _)| tenths as f64 / 10.0)
}

fn cut_word(line: &str) -> Option<&str> {
    let word = line.strip_suffix(['-', '\u{ad}', '\u{2010}'])?;
    word.ends_with(char::is_alphabetic).then_some(word)
}

fn starts_small(line: &str) -> bool {
    line.starts_with(char::is_lowercase)
}

#[cfg(test)]
mod tests;
