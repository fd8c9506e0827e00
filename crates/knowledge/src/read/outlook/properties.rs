//! Properties of a message in a compound file: small ones in one table, texts and data in a stream each.

use std::collections::HashMap;

use encoding_rs::{UTF_8, WINDOWS_1252};

use super::{PROPERTIES, SECONDS_TO_1970};
use crate::{
    read::{charset, compound::Compound},
    unreadable::Unreadable,
};

/// Types of properties.
const STRING_8: u16 = 0x001e;
const UNICODE: u16 = 0x001f;
const BINARY: u16 = 0x0102;
pub(super) const OBJECT: u16 = 0x000d;

const INTERNET_CODE_PAGE: u16 = 0x3fde;
const MESSAGE_CODE_PAGE: u16 = 0x3ffd;

/// A compound file, and the folder in it that is being read.
pub(super) struct Storage<'a> {
    file: Compound<'a>,
    folder: String,
}

impl<'a> Storage<'a> {
    /// # Errors
    /// If it is damaged.
    pub(super) fn open(bytes: &'a [u8]) -> Result<Self, Unreadable> {
        Ok(Self {
            file: Compound::open(bytes).ok_or_else(|| Unreadable::damaged("an e-mail"))?,
            folder: "/".to_owned(),
        })
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.file.has(&self.path(name))
    }

    fn path(&self, name: &str) -> String {
        format!("{}{name}", self.folder)
    }

    /// The folders in this one whose names begin like this, in order.
    pub(super) fn folders(&self, beginning: &str) -> Vec<String> {
        self.file.folders(&self.folder, beginning)
    }

    /// Reads a folder in this one.
    pub(super) fn within<T>(&mut self, folder: &str, read: impl FnOnce(&mut Self) -> T) -> T {
        let outer = self.folder.len();
        self.folder.push_str(folder);
        self.folder.push('/');
        let result = read(self);
        self.folder.truncate(outer);
        result
    }

    fn stream(&mut self, name: &str) -> Option<Vec<u8>> {
        self.file.stream(&self.path(name))
    }

    pub(super) fn binary(&mut self, id: u16) -> Option<Vec<u8>> {
        self.stream(&name_of(id, BINARY))
    }

    /// A text property, empty if there is none.
    pub(super) fn string(&mut self, id: u16, code_page: u16) -> String {
        if let Some(bytes) = self.stream(&name_of(id, UNICODE)) {
            let (pairs, _) = bytes.as_chunks::<2>();
            let units: Vec<u16> = pairs.iter().map(|pair| u16::from_le_bytes(*pair)).collect();
            return ended(&String::from_utf16_lossy(&units));
        }
        let bytes = self.stream(&name_of(id, STRING_8)).unwrap_or_default();
        let text = match charset::of_code_page(code_page).filter(|it| *it != UTF_8) {
            Some(encoding) => encoding.decode_without_bom_handling(&bytes).0,
            None if bytes.is_ascii() => WINDOWS_1252.decode_without_bom_handling(&bytes).0,
            // The code page is that of the message on the internet, where it may be UTF-8, which these texts are not in.
            None => charset::decoded(&bytes, None),
        };
        ended(&text)
    }
}

/// A text without the NUL that some programs end it with.
fn ended(text: &str) -> String {
    text.trim_end_matches('\0').to_owned()
}

/// The name of the stream of a property.
pub(super) fn name_of(id: u16, kind: u16) -> String {
    format!("__substg1.0_{id:04X}{kind:04X}")
}

/// The properties in the table.
pub(super) struct Properties {
    values: HashMap<u16, [u8; 8]>,
    /// The code page of texts that are not Unicode, 0 if it is not given.
    pub(super) code_page: u16,
    /// The code page of the message on the internet, in which its HTML is, 0 if it is not given.
    pub(super) internet_code_page: u16,
}

impl Properties {
    /// The properties of a message, which has counts of its parts before the table: more if it is not in another.
    pub(super) fn of_message(storage: &mut Storage<'_>) -> Self {
        let header_bytes = if storage.folder == "/" { 32 } else { 24 };
        Self::read(storage, header_bytes)
    }

    /// The properties of a recipient or an attachment.
    pub(super) fn of_part(storage: &mut Storage<'_>) -> Self {
        Self::read(storage, 8)
    }

    fn read(storage: &mut Storage<'_>, header_bytes: usize) -> Self {
        let table = storage.stream(PROPERTIES).unwrap_or_default();
        let (entries, _) = table
            .get(header_bytes..)
            .unwrap_or_default()
            .as_chunks::<16>();
        let values = entries.iter().map(|entry| {
            // The type, the identifier, four bytes of flags, and the value.
            let [_, _, low, high, _, _, _, _, value @ ..] = *entry;
            (u16::from_le_bytes([low, high]), value)
        });
        let mut properties = Self {
            values: values.collect(),
            code_page: 0,
            internet_code_page: 0,
        };
        let page = |id| u16::try_from(properties.number(id)?).ok();
        let internet = page(INTERNET_CODE_PAGE);
        let message = page(MESSAGE_CODE_PAGE).or(internet);
        properties.code_page = message.unwrap_or_default();
        properties.internet_code_page = internet.unwrap_or_default();
        properties
    }

    pub(super) fn number(&self, id: u16) -> Option<u32> {
        let [a, b, c, d, ..] = *self.values.get(&id)?;
        Some(u32::from_le_bytes([a, b, c, d]))
    }

    /// A time, in seconds since 1970.
    pub(super) fn time(&self, id: u16) -> Option<i64> {
        let tenths_of_microseconds = i64::from_le_bytes(*self.values.get(&id)?);
        let seconds = tenths_of_microseconds / 10_000_000 - SECONDS_TO_1970;
        (seconds > 0).then_some(seconds)
    }
}
