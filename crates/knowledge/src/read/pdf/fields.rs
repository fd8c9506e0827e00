//! Puts the values of form fields and text boxes, which are not part of the page's content, beside their labels.

use hayro_interpret::{
    RectExt,
    hayro_cmap::BfString,
    hayro_syntax::{
        object::{Array, Dict, Name, Object, Rect as FieldRect, String as PdfString},
        page::Page,
    },
    kurbo::{Point, Rect, Vec2},
};

use super::{glyphs::Glyph, lines::Line, tables::size};

/// Maximum number of annotations of a page that are read.
const MAX_FIELDS: usize = 2000;
/// Maximum number of comparisons of fields with lines, since each field is compared with each line of the page.
const MAX_COMPARISONS: usize = 20_000_000;
/// Maximum number of dictionaries through which a field inherits its properties.
const MAX_PARENTS: usize = 16;
/// Flags of annotations that are not shown.
const HIDDEN: u32 = 1 << 1 | 1 << 5;
/// Flag of text fields that hold passwords.
const PASSWORD: u32 = 1 << 13;
/// Flag of buttons without a value.
const PUSH_BUTTON: u32 = 1 << 16;
/// The font size on pages without other text, in points.
const FONT_SIZE: f64 = 10.0;
/// The gap between a value and its label, relative to the font size.
const LABEL_GAP: f64 = 0.3;
/// The middle of lower-case letters above the baseline, relative to the font size.
const LETTER_MIDDLE: f64 = 0.3;

/// Adds the values of the page's fields to its lines.
pub(super) fn add(page: &Page<'_>, lines: &mut Vec<Line>) {
    let Some(annotations) = page.raw().get::<Array<'_>>("Annots") else {
        return;
    };
    let mut fields: Vec<Field> = annotations
        .iter::<Dict<'_>>()
        .take(MAX_FIELDS.min(MAX_COMPARISONS / lines.len().max(1)))
        .filter_map(|annotation| Field::of(&annotation))
        .collect();
    // Ticks alone are no text, for example on a scanned form.
    if lines.is_empty() && fields.iter().all(|field| field.is_tick) {
        return;
    }
    let font_size = lines.iter().map(size).min_by(f64::total_cmp);
    let font_size = font_size.unwrap_or(FONT_SIZE);
    fields.sort_by(|a, b| b.top.total_cmp(&a.top).then(a.from.total_cmp(&b.from)));
    for field in fields {
        match field
            .line_beside(lines)
            .and_then(|index| lines.get_mut(index))
        {
            Some(line) => field.put_into(line),
            None => {
                let index = field.line_above(lines).map_or(0, |index| index + 1);
                let line = Line {
                    glyphs: vec![field.glyph(field.from, field.to, font_size)],
                    begins_paragraph: index == 0,
                };
                lines.insert(index.min(lines.len()), line);
            }
        }
    }
}

/// A field on the page. Places are measured along its text and upwards from it.
struct Field {
    text: String,
    is_tick: bool,
    direction: Vec2,
    from: f64,
    to: f64,
    bottom: f64,
    top: f64,
}

impl Field {
    /// `None` if it is not shown or has no value.
    fn of(annotation: &Dict<'_>) -> Option<Self> {
        if annotation.get::<u32>("F").unwrap_or(0) & HIDDEN != 0 {
            return None;
        }
        let value = match annotation.get::<Name<'_>>("Subtype")?.as_ref() {
            b"Widget" => value(annotation)?,
            b"FreeText" => annotation
                .get::<PdfString<'_>>("Contents")
                .map(|it| decode(&it))?,
            _ => return None,
        };
        let text = value.split_whitespace().collect::<Vec<_>>().join(" ");
        if text.is_empty() {
            return None;
        }
        let rect = annotation.get::<FieldRect>("Rect")?.to_kurbo();
        let turned = annotation
            .get::<Dict<'_>>("MK")
            .and_then(|look| look.get::<i32>("R"));
        let direction = match turned.unwrap_or(0).rem_euclid(360) {
            90 => Vec2::new(0.0, 1.0),
            180 => Vec2::new(-1.0, 0.0),
            270 => Vec2::new(0.0, -1.0),
            _ => Vec2::new(1.0, 0.0),
        };
        Some(Self::at(text, direction, rect))
    }

    fn at(text: String, direction: Vec2, rect: Rect) -> Self {
        let corners = [Point::new(rect.x0, rect.y0), Point::new(rect.x1, rect.y1)];
        let [a, b] = corners.map(|corner| corner.to_vec2().dot(direction));
        let [c, d] = corners.map(|corner| upwards(corner, direction));
        Self {
            is_tick: text == TICKED || text == UNTICKED,
            text,
            direction,
            from: a.min(b),
            to: a.max(b),
            bottom: c.min(d),
            top: c.max(d),
        }
    }

    /// The line at the height of the field that is nearest to it.
    fn line_beside(&self, lines: &[Line]) -> Option<usize> {
        let beside = (0..).zip(lines).filter_map(|(index, line)| {
            let baseline = self.baseline(line)?;
            let middle = baseline + LETTER_MIDDLE * size(line);
            let is_beside = (self.bottom..=self.top).contains(&middle);
            is_beside.then(|| (index, self.distance(line), baseline))
        });
        let nearest = beside
            .min_by(|(_, a, high), (_, b, higher)| a.total_cmp(b).then(higher.total_cmp(high)));
        nearest.map(|(index, ..)| index)
    }

    /// The line above the field that is nearest to it.
    fn line_above(&self, lines: &[Line]) -> Option<usize> {
        let mut nearest: Option<(usize, f64)> = None;
        for (index, line) in lines.iter().enumerate() {
            let Some(baseline) = self.baseline(line) else {
                continue;
            };
            let height = baseline - self.top;
            let is_nearer = |distance: f64| nearest.is_none_or(|(_, least)| distance <= least);
            if height > -size(line) && is_nearer(height) {
                let distance = height + self.distance(line);
                if is_nearer(distance) {
                    nearest = Some((index, distance));
                }
            }
        }
        nearest.map(|(index, _)| index)
    }

    /// The height of the line's baseline, if it has the same direction.
    fn baseline(&self, line: &Line) -> Option<f64> {
        let glyph = line.glyphs.first()?;
        (glyph.direction.dot(self.direction) > 0.9).then(|| upwards(glyph.start, self.direction))
    }

    /// The distance to the line's nearest glyph, along the line.
    fn distance(&self, line: &Line) -> f64 {
        let glyphs = line.glyphs.iter();
        let distances = glyphs.map(|it| (self.from - it.to()).max(it.from() - self.to).max(0.0));
        distances.min_by(f64::total_cmp).unwrap_or(f64::INFINITY)
    }

    /// Inserts the value at its place in the line, and in place of dots or underscores to write upon.
    fn put_into(self, line: &mut Line) {
        let size = size(line);
        let glyphs = &mut line.glyphs;
        let middle = |glyph: &Glyph| f64::midpoint(glyph.from(), glyph.to());
        glyphs.retain(|glyph| {
            !matches!(glyph.first_char(), '_' | '.' | '…')
                || !(self.from..=self.to).contains(&middle(glyph))
        });
        let is_after = |glyph: &Glyph| !glyph.is_space() && middle(glyph) >= self.from;
        let index = glyphs.iter().position(is_after).unwrap_or(glyphs.len());
        let before = glyphs.get(..index).unwrap_or_default();
        let label = before.iter().rfind(|glyph| !glyph.is_space());
        let from = label.map_or(self.from, |label| label.to() + LABEL_GAP * size);
        let next = glyphs.get(index).map(|next| next.from() - LABEL_GAP * size);
        let to = next.map_or(self.to, |next| next.min(self.to));
        let glyph = self.glyph(from, to, size);
        glyphs.insert(index, glyph);
    }

    fn glyph(&self, from: f64, to: f64, size: f64) -> Glyph {
        let up = Vec2::new(-self.direction.y, self.direction.x);
        let baseline = up * f64::midpoint(self.bottom, self.top) - up * LETTER_MIDDLE * size;
        Glyph {
            text: BfString::String(self.text.clone()),
            start: (self.direction * from + baseline).to_point(),
            end: (self.direction * to + baseline).to_point(),
            direction: self.direction,
            size,
        }
    }
}

fn upwards(place: Point, direction: Vec2) -> f64 {
    place.to_vec2().dot(Vec2::new(-direction.y, direction.x))
}

const TICKED: &str = "[x]";
const UNTICKED: &str = "[ ]";

/// The value of a form field as it is shown.
fn value(field: &Dict<'_>) -> Option<String> {
    let flags = inherited(field, "Ff")
        .and_then(|flags| flags.into_i32())
        .and_then(|flags| u32::try_from(flags).ok())
        .unwrap_or(0);
    match inherited(field, "FT")?.into_name()?.as_ref() {
        b"Btn" if flags & PUSH_BUTTON == 0 => {
            let state = field.get::<Name<'_>>("AS");
            let state = state.or_else(|| inherited(field, "V")?.into_name());
            let is_ticked = state.is_some_and(|state| state.as_ref() != b"Off");
            Some(if is_ticked { TICKED } else { UNTICKED }.to_owned())
        }
        b"Tx" if flags & PASSWORD == 0 => match inherited(field, "V")? {
            Object::String(text) => Some(decode(&text)),
            Object::Stream(text) => Some(decode_bytes(&text.decoded().ok()?)),
            _ => None,
        },
        b"Ch" => chosen(field),
        _ => None,
    }
}

/// The chosen options, by the names under which they are shown.
fn chosen(field: &Dict<'_>) -> Option<String> {
    let chosen = match inherited(field, "V")? {
        Object::String(text) => vec![decode(&text)],
        Object::Array(texts) => texts
            .iter::<PdfString<'_>>()
            .take(MAX_FIELDS)
            .map(|it| decode(&it))
            .collect(),
        _ => return None,
    };
    let options = inherited(field, "Opt").and_then(Object::into_array);
    let options: Vec<(String, String)> = options
        .into_iter()
        .flat_map(|options| {
            options
                .iter::<Array<'_>>()
                .take(MAX_FIELDS)
                .collect::<Vec<_>>()
        })
        .filter_map(|option| {
            let mut names = option.iter::<PdfString<'_>>();
            Some((decode(&names.next()?), decode(&names.next()?)))
        })
        .collect();
    let shown = chosen.into_iter().map(|value| {
        let option = options.iter().find(|(export, _)| *export == value);
        option.map_or(value, |(_, shown)| shown.clone())
    });
    Some(shown.collect::<Vec<_>>().join(", "))
}

/// A property of the field or of the fields of which it is a part.
fn inherited<'a>(field: &Dict<'a>, key: &str) -> Option<Object<'a>> {
    let mut field = field.clone();
    for _ in 0..MAX_PARENTS {
        if let Some(value) = field.get::<Object<'_>>(key) {
            return Some(value);
        }
        field = field.get::<Dict<'_>>("Parent")?;
    }
    None
}

pub(super) fn decode(text: &PdfString<'_>) -> String {
    decode_bytes(text.as_bytes())
}

/// Text in UTF-16 or UTF-8 if it begins with a byte order mark, else in `PDFDocEncoding`.
fn decode_bytes(bytes: &[u8]) -> String {
    match bytes {
        [0xfe, 0xff, text @ ..] => utf16(text, u16::from_be_bytes),
        [0xff, 0xfe, text @ ..] => utf16(text, u16::from_le_bytes),
        [0xef, 0xbb, 0xbf, text @ ..] => String::from_utf8_lossy(text).into_owned(),
        text => text.iter().map(|byte| pdf_doc_char(*byte)).collect(),
    }
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> String {
    let units = bytes.as_chunks::<2>().0.iter().map(|pair| unit(*pair));
    let chars = char::decode_utf16(units);
    chars
        .map(|char| char.unwrap_or(char::REPLACEMENT_CHARACTER))
        .collect()
}

/// A character of `PDFDocEncoding`, which is Latin-1 with other characters in place of control characters.
fn pdf_doc_char(byte: u8) -> char {
    const ACCENTS: [char; 8] = ['˘', 'ˇ', 'ˆ', '˙', '˝', '˛', '˚', '˜'];
    const OTHERS: [char; 31] = [
        '•', '†', '‡', '…', '—', '–', 'ƒ', '⁄', '‹', '›', '−', '‰', '„', '“', '”', '‘', '’', '‚',
        '™', 'ﬁ', 'ﬂ', 'Ł', 'Œ', 'Š', 'Ÿ', 'Ž', 'ı', 'ł', 'œ', 'š', 'ž',
    ];
    let from = |chars: &[char], first: u8| {
        let index = byte.checked_sub(first)?;
        chars.get(usize::from(index)).copied()
    };
    match byte {
        0xa0 => '€',
        _ => from(&ACCENTS, 0x18)
            .or_else(|| from(&OTHERS, 0x80))
            .unwrap_or(char::from(byte)),
    }
}
