//! Text of PDF files, page by page, as it is read: lines, columns, tables and the values of form fields.

mod assembly;
mod bidi;
mod fields;
mod fonts;
mod glyphs;
mod lines;
mod scanned;
mod spacing;
mod tables;

use hayro_interpret::{
    Context, InterpreterCache, InterpreterSettings, RectExt, RenderContent,
    hayro_syntax::{DecryptionError, LoadPdfError, Pdf, page::Page},
    interpret_page,
    kurbo::{Affine, Rect},
};

pub(super) use self::assembly::Assembly;
use self::{
    fonts::{Collections, Fonts},
    glyphs::PageGlyphs,
};
use crate::{
    document::{Document, UnreadPage},
    recognition::Recognition,
    unreadable::{Limits, Unreadable},
};

/// A complete file has its end marker within this many bytes of the end.
const END_BYTES: usize = 1024;

/// Reads a PDF.
///
/// # Errors
/// If it is encrypted, damaged or too long.
pub(super) fn read(
    bytes: &[u8],
    limits: &Limits,
    recognition: &mut Recognition<'_>,
) -> Result<Document, Unreadable> {
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
    let mut assembly = Assembly::default();
    let mut collections = Collections::default();
    let mut recognized = Vec::new();
    let mut unread = Vec::new();
    for (page, number) in pages.iter().zip(1..) {
        let mut glyphs = PageGlyphs::new(
            limits.text_bytes,
            visible(page),
            Fonts::of(page, &mut collections),
        );
        let anywhere = Rect::new(0.0, 0.0, 1.0, 1.0);
        let mut context = Context::new(
            Affine::IDENTITY,
            anywhere,
            &cache,
            file.xref(),
            settings.clone(),
        );
        interpret_page(page, &mut context, &mut glyphs);
        let too_much = Unreadable::TooMuchText {
            limit_bytes: limits.text_bytes,
        };
        let Some((glyphs, drawn)) = glyphs.finish() else {
            return Err(too_much);
        };
        let seen = match drawn.is_picture(page) {
            true => drawn.recognize(page, limits, recognition),
            false => Ok(Vec::new()),
        };
        match seen {
            Ok(seen) if !seen.is_empty() => {
                assembly.add_recognized_page(number, seen);
                recognized.push(number);
            }
            seen => {
                let mut lines = lines::group(glyphs);
                fields::add(page, &mut lines);
                assembly.add_page(number, tables::find(lines));
                unread.extend(seen.err().map(|reason| UnreadPage { number, reason }));
            }
        }
        if assembly.size_bytes() > limits.text_bytes {
            return Err(too_much);
        }
    }
    // Of a truncated file, the reader finds some pages, which are empty.
    if !assembly.has_words() && !has_end(bytes) {
        return Err(Unreadable::damaged("PDF"));
    }
    Ok(Document {
        recognized,
        unread,
        ..assembly.finish()
    })
}

/// The visible part of a page; everything if the file gives it no size.
fn visible(page: &Page<'_>) -> Rect {
    let visible = page.intersected_crop_box().to_kurbo();
    if visible.area() >= 1.0 {
        visible
    } else {
        Rect::new(
            f64::NEG_INFINITY,
            f64::NEG_INFINITY,
            f64::INFINITY,
            f64::INFINITY,
        )
    }
}

/// Whether the end marker of a complete file is present; some files have other data after it.
fn has_end(bytes: &[u8]) -> bool {
    let tail = &bytes[bytes.len().saturating_sub(END_BYTES)..];
    tail.windows(5).any(|window| window == b"%%EOF")
}

#[cfg(test)]
mod tests;
