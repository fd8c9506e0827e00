//! Collects the glyphs drawn on a page, in drawing order and without those that are printed twice.

use std::collections::HashMap;

use hayro_interpret::{
    BlendMode, ClipPath, Device, DrawMode, DrawProps, Image, ImageDrawProps, SoftMask,
    font::{Glyph as FontGlyph, GlyphRun},
    hayro_cmap::{BfString, WritingMode},
    hayro_syntax::object::{Dict, String as PdfString},
    kurbo::{Affine, BezPath, Point, Rect, Vec2},
};

use super::{fields, fonts::Fonts, scanned::Drawn};

/// The same letter is printed twice, for a bold look, if it is this close to the first, relative to the font size …
const DOUBLED: f64 = 0.15;
/// … and to its width, since narrow letters follow each other closely.
const DOUBLED_OF_WIDTH: f64 = 0.4;
/// Maximum size of a page's text, since each glyph takes memory until the page is read.
const MAX_PAGE_BYTES: u64 = 2_000_000;

/// A glyph on the page.
#[derive(Debug, Clone)]
pub(super) struct Glyph {
    /// Its text: usually one character, several for a ligature or the value of a form field.
    pub(super) text: BfString,
    pub(super) start: Point,
    pub(super) end: Point,
    /// Unit vector along the line.
    pub(super) direction: Vec2,
    /// The font size, in points.
    pub(super) size: f64,
}

impl Glyph {
    pub(super) fn first_char(&self) -> char {
        match &self.text {
            BfString::Char(char) => *char,
            BfString::String(text) => text.chars().next().unwrap_or(' '),
        }
    }

    pub(super) fn is_space(&self) -> bool {
        match &self.text {
            BfString::Char(char) => char.is_whitespace(),
            BfString::String(text) => text.trim().is_empty(),
        }
    }

    /// Where it begins along the line.
    pub(super) fn from(&self) -> f64 {
        self.start.to_vec2().dot(self.direction)
    }

    /// Where it ends along the line.
    pub(super) fn to(&self) -> f64 {
        self.end.to_vec2().dot(self.direction)
    }

    /// Appends the text of a mark that is drawn over it.
    pub(super) fn push_mark(&mut self, mark: &Self) {
        if let BfString::Char(char) = self.text {
            self.text = BfString::String(char.to_string());
        }
        if let BfString::String(text) = &mut self.text {
            mark.push_to(text);
        }
    }

    fn push_to(&self, text: &mut String) {
        match &self.text {
            BfString::Char(char) => text.push(*char),
            BfString::String(chars) => text.push_str(chars),
        }
    }

    fn len(&self) -> u64 {
        match &self.text {
            BfString::Char(char) => char.len_utf8() as u64,
            BfString::String(text) => text.len() as u64,
        }
    }
}

/// The glyphs of a page.
pub(super) struct PageGlyphs {
    glyphs: Vec<Glyph>,
    /// The places of the letters, by cells as wide as the distance at which a letter is a double.
    seen: HashMap<(char, (i64, i64)), Point>,
    /// Whether the last letter was a double.
    is_doubling: bool,
    /// `None` if the page has too much text.
    left_bytes: Option<u64>,
    drawn: Drawn,
    replaced: Option<Replaced>,
    fonts: Fonts,
    /// The visible part of the page.
    visible: Rect,
}

/// Glyphs for which the file gives another text (`ActualText`), such as the letters of a ligature.
struct Replaced {
    text: String,
    /// The first glyph, extended by those beside it.
    glyph: Option<Glyph>,
    /// How many sequences of marked content have begun inside.
    depth: usize,
}

impl Replaced {
    fn extend(&mut self, glyph: Glyph) {
        let Some(first) = &mut self.glyph else {
            self.glyph = Some(glyph);
            return;
        };
        let offset = (glyph.start - first.start).cross(first.direction).abs();
        if offset > first.size {
            // In another line.
            return;
        }
        if glyph.from() < first.from() {
            first.start = glyph.start;
        }
        if glyph.to() > first.to() {
            first.end = glyph.end;
        }
    }
}

impl PageGlyphs {
    pub(super) fn new(limit_bytes: u64, visible: Rect, fonts: Fonts) -> Self {
        Self {
            glyphs: Vec::new(),
            seen: HashMap::new(),
            is_doubling: false,
            left_bytes: Some(limit_bytes.min(MAX_PAGE_BYTES)),
            drawn: Drawn::default(),
            replaced: None,
            fonts,
            visible,
        }
    }

    /// The glyphs and what else is drawn, or `None` if there are too many.
    pub(super) fn finish(mut self) -> Option<(Vec<Glyph>, Drawn)> {
        self.end_replaced();
        self.left_bytes.map(|_| (self.glyphs, self.drawn))
    }

    /// Adds the text that is given for the glyphs drawn so far.
    fn end_replaced(&mut self) {
        let Some(Replaced { text, glyph, .. }) = self.replaced.take() else {
            return;
        };
        if let Some(glyph) = glyph.filter(|_| !text.is_empty()) {
            let mut chars = text.chars();
            let text = match (chars.next(), chars.next()) {
                (Some(char), None) => BfString::Char(char),
                _ => BfString::String(text),
            };
            self.drawn.glyph(Some(&text));
            self.add(Glyph { text, ..glyph });
        }
    }

    fn add(&mut self, glyph: Glyph) {
        if !self.visible.contains(glyph.start) && !self.visible.contains(glyph.end) {
            return;
        }
        self.left_bytes = self
            .left_bytes
            .and_then(|left| left.checked_sub(glyph.len()));
        if self.left_bytes.is_none() {
            return;
        }
        let distance = doubled_distance(&glyph);
        // A text is printed again from its beginning, so letters in the middle of a new text are not looked up.
        let may_be_double = self.is_doubling || !self.continues(&glyph, distance);
        let distance = match self.is_doubling {
            true => DOUBLED * glyph.size,
            false => distance,
        };
        self.is_doubling = may_be_double && self.is_double(&glyph, distance);
        if !self.is_doubling {
            let place = cell(&glyph);
            self.seen.insert((glyph.first_char(), place), glyph.start);
            self.glyphs.push(glyph);
        }
    }

    /// Whether the glyph is beside the last one.
    fn continues(&self, glyph: &Glyph, distance: f64) -> bool {
        self.glyphs.last().is_some_and(|last| {
            let moved = (glyph.start - last.start).dot(last.direction);
            moved > distance && (glyph.start - last.end).hypot() < glyph.size
        })
    }

    /// Whether the same letter is at this place already.
    fn is_double(&self, glyph: &Glyph, distance: f64) -> bool {
        let char = glyph.first_char();
        let (column, row) = cell(glyph);
        (-1..=1).any(|right| {
            (-1..=1).any(|up| {
                let place = (column.wrapping_add(right), row.wrapping_add(up));
                let other = self.seen.get(&(char, place));
                other.is_some_and(|other| (*other - glyph.start).hypot() < distance)
            })
        })
    }
}

/// How close the same letter is if it is printed twice.
fn doubled_distance(glyph: &Glyph) -> f64 {
    let width = (glyph.end - glyph.start).hypot();
    (DOUBLED * glyph.size).min(DOUBLED_OF_WIDTH * width)
}

/// The column and row of the glyph in a grid as wide as the distance at which it may be a double.
#[expect(
    clippy::cast_possible_truncation,
    reason = "places beyond the range share a cell"
)]
fn cell(glyph: &Glyph) -> (i64, i64) {
    let place = glyph.start.to_vec2() / (DOUBLED * glyph.size);
    (place.x.floor() as i64, place.y.floor() as i64)
}

/// The place of a glyph in em: `advance` and `units` are in glyph units, of which `units` are one em.
fn placed(text: BfString, transform: Affine, advance: f64, units: f64, mode: WritingMode) -> Glyph {
    let [a, b, c, d, ..] = transform.as_coeffs();
    let start = transform * Point::ZERO;
    let right = Vec2::new(a, b);
    let up = Vec2::new(c, d);
    let (along, advance, size) = match mode {
        WritingMode::Horizontal => (right, advance, up.hypot() * units),
        WritingMode::Vertical => (-up, units, right.hypot() * units),
    };
    let direction = if along.hypot() > 0.0 {
        along / along.hypot()
    } else {
        Vec2::new(1.0, 0.0)
    };
    Glyph {
        text,
        start,
        end: start + along * advance,
        direction,
        size,
    }
}

impl Device<'_> for PageGlyphs {
    fn draw_glyph_run(&mut self, run: &GlyphRun<'_, '_>, props: DrawProps<'_>, _: &DrawMode) {
        for positioned in run.glyphs() {
            let text = match &self.replaced {
                // Its own text may be unknown.
                Some(_) => Some(BfString::Char(char::REPLACEMENT_CHARACTER)),
                None => {
                    let text = positioned.as_unicode().or_else(|| match &**positioned {
                        FontGlyph::Outline(glyph) => self.fonts.text(glyph),
                        FontGlyph::Type3(_) => None,
                    });
                    self.drawn.glyph(text.as_ref());
                    text
                }
            };
            let Some(text) = text else {
                continue;
            };
            if matches!(&text, BfString::String(text) if text.is_empty()) {
                continue;
            }
            let (advance, units) = match &**positioned {
                FontGlyph::Outline(glyph) => (glyph.advance_width(), 1000.0),
                // The units of Type 3 glyphs are arbitrary; most are drawn about one em wide.
                FontGlyph::Type3(glyph) => (
                    glyph.advance_width(),
                    f64::from(glyph.advance_width().unwrap_or(1.0)),
                ),
            };
            let advance = f64::from(advance.unwrap_or(500.0));
            let transform = props.transform * positioned.transform();
            let glyph = placed(text, transform, advance, units, run.writing_mode());
            match &mut self.replaced {
                Some(replaced) => replaced.extend(glyph),
                None => self.add(glyph),
            }
        }
    }

    fn begin_marked_content(&mut self, _: &[u8], properties: Option<&Dict<'_>>) {
        if let Some(replaced) = &mut self.replaced {
            replaced.depth += 1;
            return;
        }
        let text = properties.and_then(|it| it.get::<PdfString<'_>>("ActualText"));
        self.replaced = text.map(|text| Replaced {
            text: fields::decode(&text),
            glyph: None,
            depth: 0,
        });
    }

    fn end_marked_content(&mut self) {
        if let Some(replaced) = &mut self.replaced
            && let Some(depth) = replaced.depth.checked_sub(1)
        {
            replaced.depth = depth;
            return;
        }
        self.end_replaced();
    }

    fn draw_path(&mut self, path: &BezPath, _: DrawProps<'_>, _: &DrawMode) {
        self.drawn.outline(path.elements().len());
    }
    fn push_clip_path(&mut self, _: &ClipPath) {}
    fn push_transparency_group(&mut self, _: f32, _: Option<SoftMask<'_>>, _: BlendMode) {}
    fn draw_image(&mut self, image: Image<'_, '_>, props: ImageDrawProps<'_>) {
        self.drawn
            .picture(image.width(), image.height(), props.transform);
    }
    fn pop_clip(&mut self) {}
    fn pop_transparency_group(&mut self) {}
}
