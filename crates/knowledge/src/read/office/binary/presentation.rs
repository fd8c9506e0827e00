//! Presentations of PowerPoint 97 to 2003: each slide is a page, with the speaker's notes and comments.

use std::collections::{HashMap, HashSet};

use super::{
    OldProgram,
    bytes::{Bytes, at},
};
use crate::{
    document::{Document, Page},
    read::{compound::Compound, office::damaged},
    unreadable::{Limits, Unreadable},
};

/// Types of records, by their names in Microsoft's documentation.
mod kind {
    pub(super) const DOCUMENT: u16 = 0x03e8;
    pub(super) const SLIDE: u16 = 0x03ee;
    pub(super) const SLIDE_ATOM: u16 = 0x03ef;
    pub(super) const NOTES: u16 = 0x03f0;
    pub(super) const SLIDE_PERSIST_ATOM: u16 = 0x03f3;
    pub(super) const OUTLINE_TEXT_REF: u16 = 0x0f9e;
    pub(super) const TEXT_HEADER: u16 = 0x0f9f;
    pub(super) const TEXT_CHARS: u16 = 0x0fa0;
    pub(super) const TEXT_BYTES: u16 = 0x0fa8;
    pub(super) const C_STRING: u16 = 0x0fba;
    pub(super) const SLIDE_LIST: u16 = 0x0ff0;
    pub(super) const USER_EDIT: u16 = 0x0ff5;
    pub(super) const CURRENT_USER: u16 = 0x0ff6;
    pub(super) const BINARY_TAG_DATA: u16 = 0x138b;
    pub(super) const PERSIST_DIRECTORY: u16 = 0x1772;
    pub(super) const COMMENT: u16 = 0x2ee0;
    pub(super) const TEXT_BOX: u16 = 0xf00d;
}

/// What the stream with the current user says about an encrypted file.
const ENCRYPTED: u32 = 0xf3d1_c4df;
/// The size of the record of an edit that names the encryption.
const ENCRYPTED_EDIT: usize = 32;
/// The instances of the lists of slides and of notes.
const SLIDES: u16 = 0;
const NOTES_LIST: u16 = 2;
/// The kinds of text: titles, and the speaker's notes.
const TITLE: u32 = 0;
const NOTES_TEXT: u32 = 2;
const CENTERED_TITLE: u32 = 6;
/// Maximum nesting depth of records.
const MAX_DEPTH: usize = 30;
/// Maximum number of times that a file was saved by adding to it.
const MAX_EDITS: usize = 10_000;

/// Reads a presentation.
///
/// # Errors
/// If it is encrypted, damaged, too old or too long.
pub(in crate::read) fn ppt(bytes: &[u8], limits: &Limits) -> Result<Document, Unreadable> {
    let mut file = Compound::open(bytes).ok_or_else(damaged)?;
    // Files for PowerPoint 95, too, have the presentation a second time.
    let folder = if file.has("/PP97_DUALSTORAGE/PowerPoint Document") {
        "/PP97_DUALSTORAGE"
    } else {
        ""
    };
    let Some(user) = file.stream(&format!("{folder}/Current User")) else {
        return Err(OldProgram::PowerPoint.into());
    };
    let stream = file
        .stream(&format!("{folder}/PowerPoint Document"))
        .ok_or_else(damaged)?;
    let user = Records(Bytes(&user)).next();
    let user = user.filter(|user| user.kind == kind::CURRENT_USER);
    let user = user.ok_or_else(damaged)?.data;
    if at(user, 4).u32() == Some(ENCRYPTED) {
        return Err(Unreadable::Encrypted);
    }
    let edit = at(user, 8).u32().ok_or_else(damaged)?;
    let objects = Objects::of(&stream, edit)?;
    Presentation::of(&objects)
        .ok_or_else(damaged)?
        .read(&objects, limits)
}

/// A record, which consists of others or has data.
#[derive(Debug, Clone, Copy)]
struct Record<'a> {
    kind: u16,
    instance: u16,
    is_container: bool,
    data: &'a [u8],
}

impl<'a> Record<'a> {
    fn records(&self) -> Records<'a> {
        Records(Bytes(self.data))
    }

    /// The text of the record, if it has one.
    fn text(&self) -> Option<String> {
        match self.kind {
            kind::TEXT_CHARS | kind::C_STRING => {
                let (units, _) = self.data.as_chunks::<2>();
                let units: Vec<u16> = units.iter().map(|unit| u16::from_le_bytes(*unit)).collect();
                Some(String::from_utf16_lossy(&units))
            }
            kind::TEXT_BYTES => Some(self.data.iter().map(|byte| char::from(*byte)).collect()),
            _ => None,
        }
    }
}

/// The records in data, up to its end or to where it is damaged.
#[derive(Debug, Clone)]
struct Records<'a>(Bytes<'a>);

impl<'a> Iterator for Records<'a> {
    type Item = Record<'a>;

    fn next(&mut self) -> Option<Self::Item> {
        let head = self.0.u16()?;
        let kind = self.0.u16()?;
        let size = self.0.u32()? as usize;
        // A file that is cut has a part of its last record.
        let data = self.0.take(size.min(self.0.0.len()))?;
        Some(Record {
            kind,
            instance: head >> 4,
            is_container: head & 0xf == 0xf,
            data,
        })
    }
}

/// Where the parts of the presentation are that it refers to by numbers.
struct Objects<'a> {
    stream: &'a [u8],
    places: HashMap<u32, u32>,
    document: u32,
}

impl<'a> Objects<'a> {
    /// Follows the edits, of which each refers to the one before it.
    fn of(stream: &'a [u8], last_edit: u32) -> Result<Self, Unreadable> {
        let mut objects = Self {
            stream,
            places: HashMap::new(),
            document: 0,
        };
        let mut edit = last_edit;
        let mut seen = HashSet::new();
        while seen.insert(edit) && seen.len() < MAX_EDITS {
            let record = objects
                .record_at(edit)
                .filter(|it| it.kind == kind::USER_EDIT);
            let record = match record {
                Some(record) => record,
                None if seen.len() == 1 => return Err(damaged()),
                None => break,
            };
            if record.data.len() >= ENCRYPTED_EDIT {
                return Err(Unreadable::Encrypted);
            }
            let mut numbers = at(record.data, 8);
            let before = numbers.u32().unwrap_or(0);
            let directory = numbers.u32().unwrap_or(0);
            if seen.len() == 1 {
                objects.document = numbers.u32().unwrap_or(0);
            }
            objects.read_directory(directory);
            if before == 0 {
                break;
            }
            edit = before;
        }
        Ok(objects)
    }

    fn record_at(&self, place: u32) -> Option<Record<'a>> {
        Records(at(self.stream, place as usize)).next()
    }

    /// Reads a table of places. Those of later edits are known already.
    fn read_directory(&mut self, place: u32) -> Option<()> {
        let record = self.record_at(place)?;
        if record.kind != kind::PERSIST_DIRECTORY {
            return None;
        }
        let mut rest = Bytes(record.data);
        while let Some(head) = rest.u32() {
            let first = head & 0xf_ffff;
            for number in (first..).take((head >> 20) as usize) {
                let place = rest.u32()?;
                self.places.entry(number).or_insert(place);
            }
        }
        Some(())
    }

    fn object(&self, number: u32, kind: u16) -> Option<Record<'a>> {
        let record = self.record_at(*self.places.get(&number)?)?;
        (record.kind == kind).then_some(record)
    }
}

/// A slide or a page of notes in a list.
struct Listed {
    object: u32,
    id: u32,
    /// The texts that the slide refers to by their numbers.
    texts: Vec<Text>,
}

/// A text and its kind.
#[derive(Debug, Clone, Default)]
struct Text {
    kind: Option<u32>,
    text: String,
}

impl Text {
    fn is_title(&self) -> bool {
        matches!(self.kind, Some(TITLE | CENTERED_TITLE))
    }
}

/// The lists of slides and of notes.
#[derive(Default)]
struct Presentation {
    slides: Vec<Listed>,
    notes: Vec<Listed>,
}

impl Presentation {
    fn of(objects: &Objects<'_>) -> Option<Self> {
        let document = objects.object(objects.document, kind::DOCUMENT)?;
        let mut presentation = Self::default();
        for record in document.records().filter(|it| it.kind == kind::SLIDE_LIST) {
            match record.instance {
                SLIDES => presentation.slides.extend(listed(record)),
                NOTES_LIST => presentation.notes.extend(listed(record)),
                _ => {}
            }
        }
        Some(presentation)
    }

    fn read(&self, objects: &Objects<'_>, limits: &Limits) -> Result<Document, Unreadable> {
        if self.slides.len() > limits.pages as usize {
            return Err(Unreadable::TooManyPages {
                limit: limits.pages,
            });
        }
        let notes: HashMap<u32, u32> = self.notes.iter().map(|it| (it.id, it.object)).collect();
        let mut text = String::new();
        let mut pages = Vec::new();
        for (slide, number) in self.slides.iter().zip(1..) {
            pages.push(Page {
                number,
                start: text.len(),
            });
            let mut content = SlideContent::default();
            let record = objects.object(slide.object, kind::SLIDE);
            if let Some(record) = record {
                content.read(record, &slide.texts, 0);
            }
            content.add_unused(&slide.texts);
            let notes = content.notes.and_then(|id| notes.get(&id));
            if let Some(notes) = notes.and_then(|object| objects.object(*object, kind::NOTES)) {
                let mut on_notes = SlideContent::default();
                on_notes.read(notes, &[], 0);
                on_notes.texts.retain(|text| text.kind == Some(NOTES_TEXT));
                content.texts.append(&mut on_notes.texts);
            }
            content.write(&mut text);
            if text.len() as u64 > limits.text_bytes {
                return Err(Unreadable::TooMuchText {
                    limit_bytes: limits.text_bytes,
                });
            }
        }
        Ok(Document {
            pages,
            ..Document::of_markdown(text)
        })
    }
}

/// The entries of a list, each with the texts that follow it.
fn listed(list: Record<'_>) -> Vec<Listed> {
    let mut all: Vec<Listed> = Vec::new();
    let mut kind = None;
    for record in list.records() {
        match record.kind {
            kind::SLIDE_PERSIST_ATOM => {
                let mut data = Bytes(record.data);
                let object = data.u32().unwrap_or(0);
                let id = at(record.data, 12).u32().unwrap_or(0);
                kind = None;
                all.push(Listed {
                    object,
                    id,
                    texts: Vec::new(),
                });
            }
            kind::TEXT_HEADER => {
                kind = Bytes(record.data).u32();
                // A placeholder that is still empty counts, too.
                if let Some(slide) = all.last_mut() {
                    slide.texts.push(Text {
                        kind,
                        text: String::new(),
                    });
                }
            }
            kind::TEXT_CHARS | kind::TEXT_BYTES => {
                let last = all.last_mut().and_then(|slide| slide.texts.last_mut());
                if let (Some(last), Some(text)) = (last, record.text()) {
                    last.text = text;
                    last.kind = kind;
                }
            }
            _ => {}
        }
    }
    all
}

/// What is on a slide.
#[derive(Default)]
struct SlideContent {
    texts: Vec<Text>,
    used: HashSet<usize>,
    comments: String,
    /// The number of its notes.
    notes: Option<u32>,
    kind: Option<u32>,
}

impl SlideContent {
    fn read(&mut self, record: Record<'_>, outline: &[Text], depth: usize) {
        for inner in record.records() {
            match inner.kind {
                kind::SLIDE_ATOM => self.notes = at(inner.data, 16).u32().filter(|id| *id != 0),
                kind::TEXT_BOX => self.kind = None,
                kind::TEXT_HEADER => self.kind = Bytes(inner.data).u32(),
                kind::OUTLINE_TEXT_REF => {
                    let index = Bytes(inner.data).u32().unwrap_or(u32::MAX) as usize;
                    if let Some(text) = outline.get(index).filter(|_| self.used.insert(index)) {
                        self.texts.push(text.clone());
                    }
                }
                kind::TEXT_CHARS | kind::TEXT_BYTES => self.texts.push(Text {
                    kind: self.kind,
                    text: inner.text().unwrap_or_default(),
                }),
                kind::COMMENT => self.read_comment(inner),
                _ => {}
            }
            let has_records = inner.is_container || inner.kind == kind::BINARY_TAG_DATA;
            if has_records && inner.kind != kind::COMMENT && depth < MAX_DEPTH {
                self.read(inner, outline, depth + 1);
            }
        }
    }

    /// The texts of the outline that the slide does not show in a box of its own.
    fn add_unused(&mut self, outline: &[Text]) {
        for (index, text) in outline.iter().enumerate() {
            if self.used.insert(index) {
                self.texts.push(text.clone());
            }
        }
    }

    fn read_comment(&mut self, record: Record<'_>) {
        const AUTHOR: u16 = 0;
        const WORDS: u16 = 1;
        let string = |instance| {
            let mut strings = record.records().filter(|it| it.kind == kind::C_STRING);
            let found = strings.find(|it| it.instance == instance);
            let text = found.and_then(|it| it.text()).unwrap_or_default();
            text.split_whitespace().collect::<Vec<_>>().join(" ")
        };
        let (author, words) = (string(AUTHOR), string(WORDS));
        if !words.is_empty() {
            let head = if author.is_empty() {
                author
            } else {
                author + ": "
            };
            self.comments += &format!("{head}{words}\n\n");
        }
    }

    fn write(&self, text: &mut String) {
        for part in &self.texts {
            let lines = part.text.split(['\r', '\n']);
            for line in lines {
                let line = line.replace(['\u{b}', '\t'], " ");
                let shown: String = line.chars().filter(|char| !char.is_control()).collect();
                let shown = shown.trim();
                // A star stands for the number of the slide and the like.
                if shown.is_empty() || shown == "*" {
                    continue;
                }
                if part.is_title() {
                    text.push_str("## ");
                }
                text.push_str(shown);
                text.push_str(if part.is_title() { "\n\n" } else { "\n" });
            }
            if !text.is_empty() && !text.ends_with("\n\n") {
                text.push('\n');
            }
        }
        text.push_str(&self.comments);
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Cursor, Write};

    use super::*;

    const CONTAINER: u16 = 0xf;

    fn record(head: u16, kind: u16, data: &[u8]) -> Vec<u8> {
        let size = data.len() as u32;
        [
            &head.to_le_bytes()[..],
            &kind.to_le_bytes(),
            &size.to_le_bytes(),
            data,
        ]
        .concat()
    }

    fn numbers(numbers: &[u32]) -> Vec<u8> {
        numbers.iter().flat_map(|it| it.to_le_bytes()).collect()
    }

    fn text(kind: u32, text: &str) -> Vec<u8> {
        let units: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        [
            record(0, kind::TEXT_HEADER, &numbers(&[kind])),
            record(0, kind::TEXT_CHARS, &units),
        ]
        .concat()
    }

    fn string(instance: u16, text: &str) -> Vec<u8> {
        let units: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        record(instance << 4, kind::C_STRING, &units)
    }

    fn in_box(data: &[u8]) -> Vec<u8> {
        record(CONTAINER, kind::TEXT_BOX, data)
    }

    /// A file whose objects 1 to 3 are the document, a slide and its notes.
    fn file(token: u32) -> Vec<u8> {
        let slides = [
            record(0, kind::SLIDE_PERSIST_ATOM, &numbers(&[2, 0, 2, 256, 0])),
            text(TITLE, "Walrus \u{b}budget"),
            text(1, "Herring\rIce"),
        ];
        let notes = record(0, kind::SLIDE_PERSIST_ATOM, &numbers(&[3, 0, 0, 512, 0]));
        let document = [
            record(CONTAINER, kind::SLIDE_LIST, &slides.concat()),
            record(NOTES_LIST << 4 | CONTAINER, kind::SLIDE_LIST, &notes),
        ];
        let comment = [string(0, "Ann"), string(1, "Really?"), string(2, "A")];
        let slide = [
            record(2, kind::SLIDE_ATOM, &numbers(&[0, 0, 0, 0, 512, 0])),
            in_box(&text(4, "A box – Żuk")),
            in_box(&record(0, kind::OUTLINE_TEXT_REF, &numbers(&[0]))),
            in_box(&text(4, "*")),
            in_box(&record(0, kind::TEXT_BYTES, b"caf\xe9")),
            record(
                0,
                kind::BINARY_TAG_DATA,
                &record(CONTAINER, kind::COMMENT, &comment.concat()),
            ),
        ];
        let notes = [
            in_box(&text(4, "17 May")),
            in_box(&text(NOTES_TEXT, "The budget is 12,500 euros.")),
        ];
        let objects = [
            record(CONTAINER, kind::DOCUMENT, &document.concat()),
            record(CONTAINER, kind::SLIDE, &slide.concat()),
            record(CONTAINER, kind::NOTES, &notes.concat()),
        ];
        let mut stream = Vec::new();
        let mut places = vec![3 << 20 | 1];
        for object in objects {
            places.push(stream.len() as u32);
            stream.extend(object);
        }
        let directory = stream.len() as u32;
        stream.extend(record(0, kind::PERSIST_DIRECTORY, &numbers(&places)));
        let edit = stream.len() as u32;
        let numbers_of_edit = numbers(&[256, 0, 0, directory, 1, 3, 0]);
        stream.extend(record(0, kind::USER_EDIT, &numbers_of_edit));
        let user = record(0, kind::CURRENT_USER, &numbers(&[20, token, edit]));
        let mut file = cfb::CompoundFile::create(Cursor::new(Vec::new())).unwrap();
        for (name, content) in [("Current User", user), ("PowerPoint Document", stream)] {
            let mut stream = file.create_stream(name).unwrap();
            stream.write_all(&content).unwrap();
        }
        file.into_inner().into_inner()
    }

    #[test]
    fn slides_notes_and_comments_are_read() {
        let document = crate::read("a.ppt", &file(0xe391_c05f), &Limits::default()).unwrap();
        assert_eq!(
            document.text,
            "A box – Żuk\n\n## Walrus  budget\n\ncafé\n\nHerring\nIce\n\nThe budget is 12,500 euros.\n\nAnn: Really?\n\n"
        );
        assert_eq!(
            document.pages,
            [Page {
                number: 1,
                start: 0
            }]
        );
    }

    #[test]
    fn what_cannot_be_read_is_told() {
        let read = |bytes: &[u8]| crate::read("a.ppt", bytes, &Limits::default());
        assert_eq!(read(&file(ENCRYPTED)), Err(Unreadable::Encrypted));
        let whole = file(0);
        for end in (512..whole.len()).step_by(97) {
            if let Err(why) = read(&whole[..end]) {
                assert!(!matches!(why, Unreadable::Fault { .. }));
            }
        }
    }
}
