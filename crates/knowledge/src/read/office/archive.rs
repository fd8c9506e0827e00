//! Reads ZIP archives with a limit on the total unpacked size.

use std::{collections::HashMap, io::Read};

use encoding_rs::Encoding;
use flate2::read::DeflateDecoder;
use rawzip::{CompressionMethod, ZipArchive, ZipArchiveEntryWayfinder, ZipSliceArchive};

use super::{Item, Items, damaged};
use crate::unreadable::Unreadable;

/// Maximum number of parts; real documents have some hundred.
const PARTS_LIMIT: usize = 20_000;
/// Number of bytes in which a part's outermost element begins, with all its namespaces.
const ROOT_BYTES: u64 = 65_536;

/// An archive in memory.
pub(in crate::read) struct Archive<'a> {
    archive: ZipSliceArchive<&'a [u8]>,
    /// By name in lower case, since names of parts are equal regardless of it.
    parts: HashMap<String, (ZipArchiveEntryWayfinder, CompressionMethod)>,
    limit_bytes: u64,
    left_bytes: u64,
}

impl<'a> Archive<'a> {
    /// Opens an archive of which at most `limit_bytes` may be unpacked.
    ///
    /// # Errors
    /// If it is damaged, or its parts are encrypted.
    pub(in crate::read) fn open(bytes: &'a [u8], limit_bytes: u64) -> Result<Self, Unreadable> {
        let archive = ZipArchive::from_slice(bytes).map_err(|_| damaged())?;
        let mut parts = HashMap::new();
        let mut entries = archive.entries();
        while let Some(entry) = entries.next_entry().map_err(|_| damaged())? {
            if parts.len() >= PARTS_LIMIT {
                return Err(damaged());
            }
            if entry.flags().is_encrypted() {
                return Err(Unreadable::Encrypted);
            }
            if let Ok(path) = entry.file_path().try_normalize() {
                parts.insert(
                    path.as_ref().to_ascii_lowercase(),
                    (entry.wayfinder(), entry.compression_method()),
                );
            }
        }
        Ok(Self {
            archive,
            parts,
            limit_bytes,
            left_bytes: limit_bytes,
        })
    }

    /// Whether a part of this name exists.
    pub(in crate::read) fn has(&self, name: &str) -> bool {
        self.parts.contains_key(&name.to_ascii_lowercase())
    }

    /// A part's XML, if the part exists.
    ///
    /// # Errors
    /// If it is damaged, or exceeds the limit.
    pub(in crate::read) fn text(&mut self, name: &str) -> Result<Option<String>, Unreadable> {
        self.bytes(name)?.map(decoded).transpose()
    }

    /// A part that need not be XML, if it exists.
    ///
    /// # Errors
    /// If it is damaged, or exceeds the limit.
    pub(in crate::read) fn bytes(&mut self, name: &str) -> Result<Option<Vec<u8>>, Unreadable> {
        // The sizes stated in the archive are not trusted: the actual output is counted.
        let Some(bytes) = self.unpacked(name, self.left_bytes + 1)? else {
            return Ok(None);
        };
        self.left_bytes =
            self.left_bytes
                .checked_sub(bytes.len() as u64)
                .ok_or(Unreadable::UnpacksTooLarge {
                    limit_bytes: self.limit_bytes,
                })?;
        Ok(Some(bytes))
    }

    /// The name of a part's outermost element, without prefix, if the part is XML.
    pub(super) fn root(&self, name: &str) -> Option<String> {
        let bytes = self.unpacked(name, ROOT_BYTES).ok()??;
        let encoding = Encoding::for_bom(&bytes).map_or(encoding_rs::UTF_8, |(found, _)| found);
        let (xml, _, _) = encoding.decode(&bytes);
        Items::new(&xml).find_map(|item| match item {
            Ok(Item::Open(tag)) => Some(tag.name),
            _ => None,
        })
    }

    /// The first bytes of a part, if the part exists.
    fn unpacked(&self, name: &str, limit_bytes: u64) -> Result<Option<Vec<u8>>, Unreadable> {
        let Some((wayfinder, method)) = self.parts.get(&name.to_ascii_lowercase()) else {
            return Ok(None);
        };
        let entry = self.archive.get_entry(*wayfinder).map_err(|_| damaged())?;
        let mut bytes = Vec::new();
        match *method {
            CompressionMethod::STORE => entry.data().take(limit_bytes).read_to_end(&mut bytes),
            CompressionMethod::DEFLATE => DeflateDecoder::new(entry.data())
                .take(limit_bytes)
                .read_to_end(&mut bytes),
            _ => return Err(damaged()),
        }
        .map_err(|_| damaged())?;
        Ok(Some(bytes))
    }
}

/// XML is UTF-8 unless it begins with a UTF-16 byte order mark. The declared encoding is dropped, since the result is
/// UTF-8.
fn decoded(bytes: Vec<u8>) -> Result<String, Unreadable> {
    let mut xml = match Encoding::for_bom(&bytes) {
        None => String::from_utf8(bytes).map_err(|_| damaged())?,
        Some((encoding, mark_bytes)) => encoding
            .decode_without_bom_handling_and_without_replacement(&bytes[mark_bytes..])
            .ok_or_else(damaged)?
            .into_owned(),
    };
    if xml.starts_with("<?xml")
        && let Some(end) = xml.find("?>")
    {
        xml.drain(..end + "?>".len());
    }
    Ok(xml)
}
