//! Reads the ZIP archive of an export: its chats in chunks, and the files that they mention. Nothing of it is written
//! under the names that it gives, and what is unpacked is counted, whatever sizes it states.

use std::{
    collections::{HashMap, HashSet},
    fs::File,
    io::{self, Read},
    sync::Arc,
};

use flate2::read::DeflateDecoder;
use rawzip::{
    CompressionMethod, FileReader, RECOMMENDED_BUFFER_SIZE, RangeReader, ZipArchive,
    ZipArchiveEntryWayfinder,
};

use super::spool::{Pieces, blocking};
use crate::{error::ApiError, messages};

/// Maximum number of entries; large exports have some thousand.
const MAX_ENTRIES: usize = 100_000;
/// Maximum length of a name that is kept, characters.
const NAME_CHARS: usize = 200;
/// A JSON file of this size holds nothing.
const EMPTY_BYTES: u64 = 4;
/// Entries about the person and the export, in which nothing is missed.
const KNOWN: [&str; 9] = [
    "chat.html",
    "conversation_asset_file_names.json",
    "export_manifest.json",
    "message_feedback.json",
    "model_comparisons.json",
    "shared_conversations.json",
    "user.json",
    "user_settings.json",
    "users.json",
];

/// An open archive.
pub(super) struct Archive {
    zip: Arc<ZipArchive<FileReader>>,
    /// The entries with chats, in order.
    chats: Vec<Entry>,
    /// The other files of chats by their ids.
    assets: HashMap<String, Entry>,
    used: HashSet<String>,
    /// The names of all other entries.
    others: Vec<String>,
    /// How many bytes of files may still be unpacked: a small archive can have many large files, or one many times.
    left_bytes: u64,
}

#[derive(Debug, Clone)]
struct Entry {
    /// Its name without folders.
    name: String,
    place: ZipArchiveEntryWayfinder,
    method: CompressionMethod,
    is_encrypted: bool,
}

/// A file of the archive.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Unpacked {
    File {
        /// Its name in the archive, without folders.
        name: String,
        bytes: Vec<u8>,
    },
    /// The archive does not have it.
    Missing,
    /// It is larger than the limit.
    TooLarge,
    /// It cannot be unpacked.
    Damaged,
}

impl Archive {
    /// Opens an archive of chats. Of their files at most `limit_bytes` are unpacked.
    ///
    /// # Errors
    /// 400 if it is no archive, has no chats, or too many entries.
    pub(super) async fn open(file: File, limit_bytes: u64) -> Result<Self, ApiError> {
        let opened = blocking(move || Ok(Self::list(file, limit_bytes))).await?;
        let mut archive = opened.map_err(ApiError::invalid)?;
        archive.choose_chats();
        if archive.chats.is_empty() {
            return Err(ApiError::invalid(messages::Chats::ArchiveWithoutChats));
        }
        if archive.chats.iter().any(|entry| entry.is_encrypted) {
            return Err(ApiError::invalid(messages::Chats::EncryptedArchive));
        }
        Ok(archive)
    }

    fn list(file: File, limit_bytes: u64) -> Result<Self, messages::Chats> {
        let damaged = |_| messages::Chats::DamagedArchive;
        let mut buffer = vec![0; RECOMMENDED_BUFFER_SIZE];
        let zip = ZipArchive::from_file(file, &mut buffer).map_err(damaged)?;
        let mut archive = Self {
            zip: Arc::new(zip),
            chats: Vec::new(),
            assets: HashMap::new(),
            used: HashSet::new(),
            others: Vec::new(),
            left_bytes: limit_bytes,
        };
        let zip = Arc::clone(&archive.zip);
        let mut entries = zip.entries(&mut buffer);
        let mut count = 0;
        while let Some(found) = entries.next_entry().map_err(damaged)? {
            count += 1;
            if count > MAX_ENTRIES {
                return Err(messages::Chats::TooManyEntries {
                    count: MAX_ENTRIES as u64,
                });
            }
            let path = String::from_utf8_lossy(found.file_path().as_bytes()).into_owned();
            let name = path.rsplit(['/', '\\']).next().unwrap_or_default();
            // Programs of macOS add files about files.
            if found.is_dir() || name.is_empty() || path.starts_with("__MACOSX/") {
                continue;
            }
            let entry = Entry {
                name: name.chars().take(NAME_CHARS).collect(),
                place: found.wayfinder(),
                method: found.compression_method(),
                is_encrypted: found.flags().is_encrypted(),
            };
            archive.sort(entry, &path, found.uncompressed_size_hint());
        }
        Ok(archive)
    }

    fn sort(&mut self, entry: Entry, path: &str, size_bytes: u64) {
        if is_chats(&entry.name) {
            self.chats.push(entry);
        } else if let Some(id) = asset_id(&entry.name) {
            self.assets.entry(id.to_owned()).or_insert(entry);
        } else if !KNOWN.contains(&entry.name.as_str()) && size_bytes > EMPTY_BYTES {
            self.others.push(path.chars().take(NAME_CHARS).collect());
            // The only JSON file may be the one, whatever its name.
            if entry.name.ends_with(".json") {
                self.chats.push(entry);
            }
        }
    }

    /// Leaves those entries in `chats` that hold the chats: one, or numbered ones.
    fn choose_chats(&mut self) {
        let whole = |entry: &Entry| entry.name == "conversations.json";
        if self.chats.iter().any(whole) {
            self.chats.retain(whole);
        } else if self.chats.iter().any(|entry| is_chats(&entry.name)) {
            self.chats.retain(|entry| is_chats(&entry.name));
            self.chats
                .sort_by(|a, b| (a.name.len(), &a.name).cmp(&(b.name.len(), &b.name)));
        } else if self.chats.len() == 1 {
            let name = self.chats[0].name.clone();
            self.others.retain(|other| !other.ends_with(&name));
        } else {
            self.chats.clear();
        }
    }

    /// The bytes of each entry with chats, at most `limit_bytes`. One that is damaged ends early.
    pub(super) fn chats(&self, limit_bytes: u64) -> Vec<Pieces> {
        let open = |entry: &Entry| {
            let reader: Box<dyn Read + Send> = match self.reader(entry) {
                Ok(reader) => Box::new(reader.take(limit_bytes)),
                Err(_) => Box::new(io::empty()),
            };
            Pieces::unpacking(reader)
        };
        self.chats.iter().map(open).collect()
    }

    /// Unpacks a file.
    ///
    /// # Errors
    /// Never because of what is in the archive.
    pub(super) async fn file(&mut self, id: &str, limit_bytes: u64) -> Result<Unpacked, ApiError> {
        let Some(entry) = self.assets.get(id) else {
            return Ok(Unpacked::Missing);
        };
        self.used.insert(id.to_owned());
        let name = entry.name.clone();
        let Ok(reader) = self.reader(entry) else {
            return Ok(Unpacked::Damaged);
        };
        let limit_bytes = limit_bytes.min(self.left_bytes);
        let unpacked = blocking(move || {
            let mut bytes = Vec::new();
            Ok(match reader.take(limit_bytes + 1).read_to_end(&mut bytes) {
                Err(_) => Unpacked::Damaged,
                Ok(size_bytes) if size_bytes as u64 > limit_bytes => Unpacked::TooLarge,
                Ok(_) => Unpacked::File { name, bytes },
            })
        })
        .await?;
        let used_bytes = match &unpacked {
            Unpacked::File { bytes, .. } => bytes.len() as u64,
            _ => limit_bytes,
        };
        self.left_bytes = self.left_bytes.saturating_sub(used_bytes);
        Ok(unpacked)
    }

    fn reader(&self, entry: &Entry) -> Result<Box<dyn Read + Send>, rawzip::Error> {
        let (from, to) = self.zip.get_entry(entry.place)?.compressed_data_range();
        let data = RangeReader::new(Shared(Arc::clone(&self.zip)), from..to);
        Ok(match entry.method {
            CompressionMethod::STORE if !entry.is_encrypted => Box::new(data),
            CompressionMethod::DEFLATE if !entry.is_encrypted => {
                Box::new(DeflateDecoder::new(data))
            }
            _ => Box::new(Unsupported),
        })
    }

    /// How many files of chats no chat has mentioned.
    pub(super) fn unused(&self) -> u64 {
        (self.assets.len() - self.used.len()) as u64
    }

    /// The names of the entries that hold neither chats nor their files.
    pub(super) fn others(&self) -> &[String] {
        &self.others
    }
}

/// The archive's file for several readers, each with a position of its own.
#[derive(Clone)]
struct Shared(Arc<ZipArchive<FileReader>>);

impl rawzip::ReaderAt for Shared {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        self.0.get_ref().read_at(buffer, offset)
    }
}

/// An entry that is encrypted or compressed in another way.
struct Unsupported;

impl Read for Unsupported {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// Whether an entry has this name because it holds chats: `conversations.json`, or parts like `conversations-000.json`.
fn is_chats(name: &str) -> bool {
    let part = name
        .strip_prefix("conversations")
        .and_then(|rest| rest.strip_suffix(".json"));
    part.is_some_and(|part| {
        part.is_empty()
            || part.strip_prefix('-').is_some_and(|number| {
                !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
            })
    })
}

/// The id of a file of a chat, with which its name begins: `file-ID-photo.png`, `file_ID-sanitized.png`, `file_ID.dat`.
fn asset_id(name: &str) -> Option<&str> {
    let rest = name
        .strip_prefix("file-")
        .or_else(|| name.strip_prefix("file_"))?;
    let size = rest.find(['-', '.']).unwrap_or(rest.len());
    (size > 0).then(|| &name[.."file-".len() + size])
}

#[cfg(test)]
mod tests;
