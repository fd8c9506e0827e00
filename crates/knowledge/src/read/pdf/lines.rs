//! Groups the glyphs of a page into lines, in drawing order, and puts the parts of each line in visual order.

use super::{
    bidi::{self, Class},
    glyphs::Glyph,
};

/// Distances are relative to the font size. A larger step off the line begins another line, and a smaller one is a
/// subscript or superscript …
const LINE_STEP: f64 = 0.5;
/// … and a larger step, or a longer way back, begins another paragraph.
const PARAGRAPH_STEP: f64 = 1.7;
/// A wider gap separates the cells of a table.
const CELL_GAP: f64 = 1.0;
/// Parts of a line may overlap this much.
const OVERLAP: f64 = 0.2;
/// Letters on one line point in the same direction, up to this cosine.
const SAME_DIRECTION: f64 = 0.9;
/// Maximum number of parts of a line that are put in visual order.
const MAX_PARTS: usize = 100;

/// A line of glyphs, from left to right.
#[derive(Debug, Clone)]
pub(super) struct Line {
    pub(super) glyphs: Vec<Glyph>,
    pub(super) begins_paragraph: bool,
}

impl Line {
    /// Its glyphs in groups that are separated by gaps as wide as between the cells of a table.
    pub(super) fn cells(&self) -> Vec<&[Glyph]> {
        let mut cells = Vec::new();
        let mut from = 0;
        let mut last: Option<&Glyph> = None;
        for (index, glyph) in self.glyphs.iter().enumerate() {
            if glyph.is_space() {
                continue;
            }
            if last.is_some_and(|last| gap(last, glyph) > CELL_GAP) {
                cells.extend(self.glyphs.get(from..index));
                from = index;
            }
            last = Some(glyph);
        }
        cells.extend(self.glyphs.get(from..).filter(|_| last.is_some()));
        cells
    }
}

/// The gap between two glyphs of a line, relative to the font size.
pub(super) fn gap(left: &Glyph, right: &Glyph) -> f64 {
    (right.from() - left.to()) / left.size.max(right.size).max(0.1)
}

/// Groups glyphs in drawing order into lines that contain words.
pub(super) fn group(glyphs: Vec<Glyph>) -> Vec<Line> {
    let mut lines = Vec::new();
    let mut current: Option<Growing> = None;
    for glyph in glyphs {
        let step = match &current {
            Some(line) => line.step(&glyph),
            None => Step::Paragraph,
        };
        match (step, &mut current) {
            (Step::Beside, Some(line)) => line.push(glyph),
            (Step::Part, Some(line)) => line.push_part(glyph),
            (step, _) => {
                lines.extend(current.take().map(Growing::finish));
                current = Some(Growing::new(glyph, matches!(step, Step::Paragraph)));
            }
        }
    }
    lines.extend(current.map(Growing::finish));
    lines.retain(|line| !line.glyphs.iter().all(Glyph::is_space));
    lines
}

/// How a glyph continues the text drawn before it.
enum Step {
    /// In the same part of the line.
    Beside,
    /// In another part of the line.
    Part,
    Line,
    Paragraph,
}

/// Glyphs drawn one after the other.
struct Part {
    glyphs: Vec<Glyph>,
    from: f64,
    to: f64,
}

impl Part {
    fn new(glyph: Glyph) -> Self {
        Self {
            from: glyph.from(),
            to: glyph.to(),
            glyphs: vec![glyph],
        }
    }
}

/// The line that is being drawn.
struct Growing {
    parts: Vec<Part>,
    begins_paragraph: bool,
}

impl Growing {
    fn new(glyph: Glyph, begins_paragraph: bool) -> Self {
        Self {
            parts: vec![Part::new(glyph)],
            begins_paragraph,
        }
    }

    fn push(&mut self, glyph: Glyph) {
        if let Some(part) = self.parts.last_mut() {
            if !glyph.is_space() {
                part.from = part.from.min(glyph.from());
                part.to = part.to.max(glyph.to());
            }
            part.glyphs.push(glyph);
        }
    }

    fn push_part(&mut self, glyph: Glyph) {
        self.parts.push(Part::new(glyph));
    }

    /// The glyph drawn last.
    fn last(&self) -> Option<&Glyph> {
        self.parts.last()?.glyphs.last()
    }

    fn step(&self, next: &Glyph) -> Step {
        let Some(last) = self.last() else {
            return Step::Paragraph;
        };
        if last.direction.dot(next.direction) < SAME_DIRECTION {
            return Step::Paragraph;
        }
        let size = last.size.max(next.size).max(0.1);
        let way = next.start - last.end;
        let along = way.dot(last.direction) / size;
        let across = way.cross(last.direction).abs();
        // Below a large title, a step that is small for it is large for the text.
        let down = across / last.size.min(next.size).max(0.1);
        if across / size > LINE_STEP {
            if down > PARAGRAPH_STEP {
                Step::Paragraph
            } else {
                Step::Line
            }
        } else if along > CELL_GAP && self.parts.len() < MAX_PARTS {
            Step::Part
        } else if along < -PARAGRAPH_STEP {
            if self.has_room(next) {
                Step::Part
            } else {
                Step::Paragraph
            }
        } else {
            Step::Beside
        }
    }

    /// Whether the glyph is beside all parts, as a cell is that is drawn after the one to its right.
    fn has_room(&self, glyph: &Glyph) -> bool {
        let overlap = OVERLAP * glyph.size;
        self.parts.len() < MAX_PARTS
            && self
                .parts
                .iter()
                .all(|part| glyph.to() < part.from + overlap || part.to - overlap < glyph.from())
    }

    fn finish(self) -> Line {
        let Self {
            mut parts,
            begins_paragraph,
        } = self;
        parts.sort_by(|a, b| a.from.total_cmp(&b.from));
        let mut glyphs: Vec<Glyph> = parts.into_iter().flat_map(|part| part.glyphs).collect();
        if glyphs.iter().any(|glyph| bidi::is_rtl(glyph.first_char())) {
            glyphs = attach_marks(glyphs);
            glyphs.sort_by(|a, b| a.from().total_cmp(&b.from()));
        }
        Line {
            glyphs,
            begins_paragraph,
        }
    }
}

/// Joins vowel signs and other marks with the letter over or under which they are drawn, before or after it.
fn attach_marks(glyphs: Vec<Glyph>) -> Vec<Glyph> {
    let mut letters: Vec<Glyph> = Vec::with_capacity(glyphs.len());
    let mut waiting: Vec<Glyph> = Vec::new();
    for mut glyph in glyphs {
        if Class::of(glyph.first_char()) == Class::Mark {
            match letters.last_mut() {
                Some(letter) if covers(letter, &glyph) => letter.push_mark(&glyph),
                _ => waiting.push(glyph),
            }
            continue;
        }
        for mark in waiting.drain(..) {
            match letters.last_mut() {
                Some(letter) if !covers(&glyph, &mark) => letter.push_mark(&mark),
                _ => glyph.push_mark(&mark),
            }
        }
        letters.push(glyph);
    }
    match letters.last_mut() {
        Some(letter) => waiting.iter().for_each(|mark| letter.push_mark(mark)),
        None => letters = waiting,
    }
    letters
}

fn covers(letter: &Glyph, mark: &Glyph) -> bool {
    let middle = f64::midpoint(mark.from(), mark.to());
    letter.from() <= middle && middle <= letter.to()
}
