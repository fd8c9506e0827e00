//! Documents of the Office programs before 2007: compound files of binary records.

mod bytes;
mod formatting;
mod lists;
mod presentation;
mod records;
mod word;
mod workbook;

pub(in crate::read) use self::{presentation::ppt, word::doc, workbook::xls};
use crate::{
    read::{Format, compound::Compound},
    unreadable::Unreadable,
};

/// The main streams, by which these files are told apart.
const WORD: &str = "/WordDocument";
const WORKBOOKS: [&str; 2] = ["/Workbook", "/Book"];
const PRESENTATIONS: [&str; 2] = ["/PowerPoint Document", "/PP40"];

/// The format of a compound file, if it is one of these.
pub(in crate::read) fn format(file: &Compound<'_>) -> Option<Format> {
    let has = |name: &&str| file.has(name);
    if has(&WORD) {
        Some(Format::Doc)
    } else if WORKBOOKS.iter().any(has) {
        Some(Format::Xls)
    } else if PRESENTATIONS.iter().any(has) {
        Some(Format::Ppt)
    } else {
        None
    }
}

/// A program whose files are too old.
enum OldProgram {
    Word,
    Excel,
    PowerPoint,
}

impl From<OldProgram> for Unreadable {
    fn from(program: OldProgram) -> Self {
        let program = match program {
            OldProgram::Word => "Word 95",
            OldProgram::Excel => "Excel 4",
            OldProgram::PowerPoint => "PowerPoint 95",
        };
        Self::TooOld {
            format: program.to_owned(),
        }
    }
}

/// The last version of the program whose files are too old, if these bytes are one that is not a compound file.
pub(in crate::read) fn old_program(bytes: &[u8], ending: &str) -> Option<&'static str> {
    match (ending, bytes) {
        // Documents of Word 1 and 2, and workbooks of Excel 2, 3 and 4.
        ("doc" | "dot", [0x9b | 0xdb, 0xa5, ..]) => Some("Word 95"),
        ("xls" | "xlt" | "xlw", [0x09, 0x00 | 0x02 | 0x04, 0x04 | 0x06, 0x00, ..]) => {
            Some("Excel 4")
        }
        _ => None,
    }
}
