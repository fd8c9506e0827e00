//! Groups glyphs drawn on a page into lines of text, in drawing order.

use hayro_interpret::{
    BlendMode, ClipPath, Device, DrawMode, DrawProps, Image, ImageDrawProps, SoftMask,
    font::{Glyph, GlyphRun},
    hayro_cmap::BfString,
    kurbo::{Affine, BezPath, Point, Vec2},
};

/// Distances are relative to the font size. A wider gap is a space …
const SPACE: f64 = 0.15;
/// … a larger step off the line begins another line, and a smaller one is a subscript or superscript …
const LINE_STEP: f64 = 0.5;
/// … and a larger step, or a longer way back, begins another paragraph.
const PARAGRAPH_STEP: f64 = 1.7;

/// A line of text.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Line {
    pub(super) text: String,
    /// The font size of its first letters, in points.
    pub(super) size: f64,
    pub(super) begins_paragraph: bool,
}

/// Collects a page's lines.
pub(super) struct Lines {
    lines: Vec<Line>,
    last: Option<Drawn>,
    left_bytes: u64,
}

/// A glyph on the page.
#[derive(Debug, Clone, Copy)]
struct Drawn {
    start: Point,
    end: Point,
    /// Unit vector along the line.
    direction: Vec2,
    size: f64,
    first_char: char,
}

impl Lines {
    pub(super) fn new(limit_bytes: u64) -> Self {
        Self {
            lines: Vec::new(),
            last: None,
            left_bytes: limit_bytes.saturating_add(1),
        }
    }

    /// The lines that contain words.
    pub(super) fn finish(self) -> Vec<Line> {
        let trimmed = self.lines.into_iter().map(|line| Line {
            text: line.text.trim().to_owned(),
            ..line
        });
        trimmed.filter(|line| !line.text.is_empty()).collect()
    }

    fn add(&mut self, text: &str, drawn: Drawn) {
        let Some(left_bytes) = self.left_bytes.checked_sub(text.len() as u64) else {
            return;
        };
        self.left_bytes = left_bytes;
        match self
            .last
            .map_or(Step::Paragraph, |last| step(&last, &drawn))
        {
            // Bold letters are sometimes drawn twice.
            Step::Again => return,
            Step::Beside => {}
            Step::Space => self.put(" "),
            Step::Line => self.begin(&drawn, false),
            Step::Paragraph => self.begin(&drawn, true),
        }
        self.put(text);
        self.last = Some(drawn);
    }

    fn begin(&mut self, drawn: &Drawn, begins_paragraph: bool) {
        self.lines.push(Line {
            text: String::new(),
            size: drawn.size,
            begins_paragraph,
        });
    }

    fn put(&mut self, text: &str) {
        let Some(line) = self.lines.last_mut() else {
            return;
        };
        if text.trim().is_empty() {
            if !line.text.ends_with(' ') {
                line.text.push(' ');
            }
            return;
        }
        for char in text.chars() {
            match char {
                'ﬀ' => line.text.push_str("ff"),
                'ﬁ' => line.text.push_str("fi"),
                'ﬂ' => line.text.push_str("fl"),
                'ﬃ' => line.text.push_str("ffi"),
                'ﬄ' => line.text.push_str("ffl"),
                '\u{a0}' | '\t' | '\n' | '\r' => line.text.push(' '),
                char if char.is_control() => {}
                char => line.text.push(char),
            }
        }
    }
}

enum Step {
    Again,
    Beside,
    Space,
    Line,
    Paragraph,
}

fn step(last: &Drawn, next: &Drawn) -> Step {
    let size = last.size.max(next.size).max(0.1);
    let moved = next.start - last.start;
    if moved.hypot() < SPACE * size && last.first_char == next.first_char && last.first_char != ' '
    {
        return Step::Again;
    }
    let gap = next.start - last.end;
    let along = gap.dot(last.direction) / size;
    let across = gap.cross(last.direction).abs() / size;
    // Below a large title, a step that is small for it is large for the text.
    let down = gap.cross(last.direction).abs() / last.size.min(next.size).max(0.1);
    if (across > LINE_STEP && down > PARAGRAPH_STEP)
        || (across <= LINE_STEP && along < -PARAGRAPH_STEP)
    {
        Step::Paragraph
    } else if across > LINE_STEP {
        Step::Line
    } else if along > SPACE {
        Step::Space
    } else {
        Step::Beside
    }
}

impl Drawn {
    /// `units` is the number of glyph units per em.
    fn new(transform: Affine, advance: f64, units: f64, first_char: char) -> Self {
        let [a, b, c, d, ..] = transform.as_coeffs();
        let start = transform * Point::ZERO;
        let along = Vec2::new(a, b);
        let direction = if along.hypot() > 0.0 {
            along / along.hypot()
        } else {
            Vec2::new(1.0, 0.0)
        };
        let size = Vec2::new(c, d).hypot() * units;
        Self {
            start,
            end: start + along * advance,
            direction,
            size,
            first_char,
        }
    }
}

impl Device<'_> for Lines {
    fn draw_glyph_run(&mut self, run: &GlyphRun<'_, '_>, props: DrawProps<'_>, _: &DrawMode) {
        for placed in run.glyphs() {
            let text = match placed.as_unicode() {
                Some(BfString::Char(char)) => char.to_string(),
                Some(BfString::String(text)) => text,
                None => continue,
            };
            let Some(first_char) = text.chars().next() else {
                continue;
            };
            let glyph: &Glyph<'_> = placed;
            let (advance, units) = match glyph {
                Glyph::Outline(glyph) => (glyph.advance_width(), 1000.0),
                // The units of Type 3 glyphs are arbitrary; most are drawn about one em wide.
                Glyph::Type3(glyph) => (
                    glyph.advance_width(),
                    f64::from(glyph.advance_width().unwrap_or(1.0)),
                ),
            };
            let advance = f64::from(advance.unwrap_or(500.0));
            let drawn = Drawn::new(
                props.transform * placed.transform(),
                advance,
                units,
                first_char,
            );
            self.add(&text, drawn);
        }
    }

    fn draw_path(&mut self, _: &BezPath, _: DrawProps<'_>, _: &DrawMode) {}
    fn push_clip_path(&mut self, _: &ClipPath) {}
    fn push_transparency_group(&mut self, _: f32, _: Option<SoftMask<'_>>, _: BlendMode) {}
    fn draw_image(&mut self, _: Image<'_, '_>, _: ImageDrawProps<'_>) {}
    fn pop_clip(&mut self) {}
    fn pop_transparency_group(&mut self) {}
}
