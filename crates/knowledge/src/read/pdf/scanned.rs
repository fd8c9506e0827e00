//! Pages without text of their own: scans, text as outlines, and fonts whose letters cannot be told. They are drawn and
//! recognized like pictures.

use std::panic::{AssertUnwindSafe, catch_unwind};

use hayro::{PixmapSettings, RenderCache, RenderSettings, vello_cpu::color::palette::css::WHITE};
use hayro_interpret::{
    InterpreterSettings,
    hayro_cmap::BfString,
    hayro_syntax::page::Page,
    kurbo::{Affine, Rect},
};
use image::GrayImage;

use crate::{
    recognition::{DPI, MAX_PIXELS, Recognition, RecognizedLine, UnreadReason, gray},
    unreadable::Limits,
};

/// A page with a picture on at least this part of it …
const PICTURE_PART: f64 = 0.5;
/// … and fewer letters is a scan, which may have a stamp or a page number.
const FEW_LETTERS: u64 = 50;
/// A page with fewer letters, and outlines of this many parts, is text as outlines, or a drawing.
const HARDLY_LETTERS: u64 = 10;
const MANY_OUTLINES: u64 = 2000;
/// A page with this many glyphs, most of which are no known letters, cannot be read as text.
const MANY_UNKNOWN: u64 = 30;
/// Maximum size of a picture on a page, pixels: A2 at 600 dots per inch.
const MAX_PICTURE_PIXELS: u64 = 140_000_000;
/// Points in an inch.
const POINTS: f64 = 72.0;
/// Minimum and maximum length of a side of a page's picture, pixels.
const MIN_SIDE: f64 = 32.0;
const MAX_SIDE: f64 = 16_000.0;

/// What is drawn on a page.
#[derive(Debug, Default)]
pub(super) struct Drawn {
    letters: u64,
    unknown: u64,
    outlines: u64,
    /// The area of pictures, in square points.
    picture_area: f64,
    /// The size of the largest picture, in pixels.
    picture_pixels: u64,
}

impl Drawn {
    /// Notes a glyph with its text, if that is known.
    pub(super) fn glyph(&mut self, text: Option<&BfString>) {
        let first = match text {
            Some(BfString::Char(char)) => Some(*char),
            Some(BfString::String(text)) => text.chars().next(),
            None => None,
        };
        match first {
            Some(char) if char.is_alphanumeric() => self.letters += 1,
            Some(char) if is_meaningless(char) => self.unknown += 1,
            Some(_) => {}
            None => self.unknown += 1,
        }
    }

    /// Notes an outline of this many parts.
    pub(super) fn outline(&mut self, parts: usize) {
        self.outlines += parts as u64;
    }

    /// Notes a picture of this size in pixels, and its place on the page.
    pub(super) fn picture(&mut self, width: u32, height: u32, transform: Affine) {
        let place = Rect::new(0.0, 0.0, f64::from(width), f64::from(height));
        self.picture_area += transform.transform_rect_bbox(place).area();
        let pixels = u64::from(width) * u64::from(height);
        self.picture_pixels = self.picture_pixels.max(pixels);
    }

    /// Whether the page has to be recognized.
    pub(super) fn is_picture(&self, page: &Page<'_>) -> bool {
        let (width, height) = page.base_dimensions();
        let part = self.picture_area / (f64::from(width) * f64::from(height));
        let is_scan = self.letters < FEW_LETTERS && part >= PICTURE_PART;
        let is_outlined = self.letters < HARDLY_LETTERS && self.outlines >= MANY_OUTLINES;
        let is_garbage = self.unknown >= MANY_UNKNOWN && self.unknown > self.letters;
        is_scan || is_outlined || is_garbage
    }

    /// Recognizes the text of the page; no lines if that finds less than there is.
    pub(super) fn recognize(
        &self,
        page: &Page<'_>,
        limits: &Limits,
        recognition: &mut Recognition<'_>,
    ) -> Result<Vec<RecognizedLine>, UnreadReason> {
        recognition.begin_page(limits)?;
        if self.picture_pixels > MAX_PICTURE_PIXELS {
            return Err(UnreadReason::TooLarge);
        }
        let lines = recognition.recognize(&rendered(page).ok_or(UnreadReason::Failed)?)?;
        let chars = lines.iter().flat_map(|line| line.text.chars());
        let letters = chars.filter(|char| char.is_alphanumeric()).count() as u64;
        Ok(if letters > self.letters {
            lines
        } else {
            Vec::new()
        })
    }
}

/// Private and missing characters, which stand for glyphs of a font whose meaning is unknown.
fn is_meaningless(char: char) -> bool {
    char.is_control() || matches!(char, '\u{e000}'..='\u{f8ff}' | '\u{fffd}' | '\u{f0000}'..)
}

/// Draws a page. `None` if it has no size, or cannot be drawn.
fn rendered(page: &Page<'_>) -> Option<GrayImage> {
    let (width, height) = page.render_dimensions();
    let (width, height) = (f64::from(width), f64::from(height));
    let scale = (f64::from(DPI) / POINTS)
        .min((f64::from(MAX_PIXELS) / (width * height)).sqrt())
        .min(MAX_SIDE / width.max(height));
    if width.min(height) * scale < MIN_SIDE {
        return None;
    }
    #[expect(clippy::cast_possible_truncation, reason = "a small factor")]
    let scale = scale as f32;
    let settings = PixmapSettings {
        x_scale: scale,
        y_scale: scale,
        bg_color: WHITE,
    };
    // A new cache for each page, as it never shrinks. A damaged picture may end in a panic.
    let page = catch_unwind(AssertUnwindSafe(|| {
        hayro::render(
            page,
            &RenderCache::new(),
            &InterpreterSettings::default(),
            &RenderSettings::default(),
            &settings,
        )
    }))
    .ok()?;
    let pixels = page.data().iter().map(|it| gray(it.r, it.g, it.b));
    GrayImage::from_raw(
        u32::from(page.width()),
        u32::from(page.height()),
        pixels.collect(),
    )
}
