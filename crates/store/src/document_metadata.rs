//! Tags and metadata of documents: what files and their sources say, and what people set, which replaces it.

mod known;

use std::collections::{BTreeMap, HashMap, HashSet};

use domain::{CollectionId, DocumentId, UserId};
use serde::{Deserialize, Serialize};

pub use self::known::{KnownKey, KnownMetadata, KnownValue};
use crate::{
    Store, StoreError,
    query::{Row, Tx},
};

/// The name of the rows of tags.
pub(crate) const TAGS: &str = "tags";
/// The kind of a value that people have removed.
const REMOVED: &str = "removed";
/// Maximum length of a value for comparison, bytes. PostgreSQL does not index more than 2,700.
const KEY_BYTES: usize = 900;

/// A value of metadata.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MetadataValue {
    /// Any text.
    Text(String),
    /// A finite number.
    Number(f64),
    /// A day or a time.
    Date {
        /// As it is shown: `2026-05-31`, or with a time.
        shown: String,
        /// Its beginning, Unix milliseconds.
        ms: i64,
    },
    /// Yes or no.
    Boolean(bool),
}

impl MetadataValue {
    /// As it is shown.
    #[must_use]
    pub fn shown(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Number(number) => number.to_string(),
            Self::Date { shown, .. } => shown.clone(),
            Self::Boolean(is) => is.to_string(),
        }
    }

    fn kind(&self) -> &'static str {
        match self {
            Self::Text(_) => "text",
            Self::Number(_) => "number",
            Self::Date { .. } => "date",
            Self::Boolean(_) => "boolean",
        }
    }

    #[expect(
        clippy::cast_precision_loss,
        reason = "milliseconds are exact for 280,000 years"
    )]
    const fn number(&self) -> Option<f64> {
        match self {
            Self::Number(number) => Some(*number),
            Self::Date { ms, .. } => Some(*ms as f64),
            Self::Text(_) | Self::Boolean(_) => None,
        }
    }
}

/// The tags of a document, and its metadata by key in lower case.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct DocumentMetadata {
    /// Short words. Those that differ in case or accents only are the same.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// One or several values for each key.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub fields: BTreeMap<String, Vec<MetadataValue>>,
}

impl DocumentMetadata {
    /// Whether there is nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tags.is_empty() && self.fields.is_empty()
    }
}

/// Where values come from. Later ones replace earlier ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MetadataOrigin {
    /// The file itself.
    File,
    /// The source from which it is synchronized.
    Source,
    /// People.
    Person,
}

impl MetadataOrigin {
    const fn column(self) -> i64 {
        match self {
            Self::File => 0,
            Self::Source => 1,
            Self::Person => 2,
        }
    }

    fn of_column(column: i64) -> Result<Self, StoreError> {
        match column {
            0 => Ok(Self::File),
            1 => Ok(Self::Source),
            2 => Ok(Self::Person),
            other => Err(StoreError::Corrupt(format!(
                "the origin of metadata is {other}"
            ))),
        }
    }
}

/// A change that people make.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MetadataChange {
    /// Tags to add.
    pub add_tags: Vec<String>,
    /// Tags to remove.
    pub remove_tags: Vec<String>,
    /// Keys with their new values; without values, they are removed.
    pub fields: BTreeMap<String, Vec<MetadataValue>>,
    /// Keys that get the values of the file or the source again.
    pub reset: Vec<String>,
}

/// Maximum numbers of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MetadataLimits {
    /// Tags.
    pub tags: usize,
    /// Keys.
    pub fields: usize,
}

/// What applies to a document, and what people have set.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ShownMetadata {
    /// What applies.
    pub effective: DocumentMetadata,
    /// The keys that people have set or removed.
    pub set: HashSet<String>,
}

/// A text for comparison.
#[must_use]
pub(crate) fn key_of(text: &str) -> String {
    let folded = folding::fold(text.trim());
    let mut end = folded.len().min(KEY_BYTES);
    while !folded.is_char_boundary(end) {
        end -= 1;
    }
    folded[..end].to_owned()
}

/// A stored value.
#[derive(Debug, Clone, PartialEq)]
struct Entry {
    name: String,
    origin: MetadataOrigin,
    /// `None` if people have removed it; a tag is then in `shown`.
    value: Option<MetadataValue>,
    shown: String,
}

impl Entry {
    fn tag(tag: &str, origin: MetadataOrigin, is_removed: bool) -> Self {
        let value = MetadataValue::Text(tag.to_owned());
        Self {
            name: TAGS.to_owned(),
            origin,
            value: (!is_removed).then_some(value),
            shown: tag.to_owned(),
        }
    }

    fn is_tag(&self, key: &str) -> bool {
        self.name == TAGS && key_of(&self.shown) == key
    }

    fn read(row: &Row) -> Result<Self, StoreError> {
        let shown: String = row.get("value")?;
        let number: Option<f64> = row.get("number")?;
        let kind: String = row.get("kind")?;
        let damaged = || StoreError::Corrupt(format!("metadata of the kind {kind}"));
        let value = match kind.as_str() {
            "text" => Some(MetadataValue::Text(shown.clone())),
            "number" => Some(MetadataValue::Number(number.ok_or_else(damaged)?)),
            "date" => Some(MetadataValue::Date {
                shown: shown.clone(),
                ms: milliseconds(number.ok_or_else(damaged)?),
            }),
            "boolean" => Some(MetadataValue::Boolean(shown == "true")),
            REMOVED => None,
            _ => return Err(damaged()),
        };
        Ok(Self {
            name: row.get("name")?,
            origin: MetadataOrigin::of_column(row.get("origin")?)?,
            value,
            shown,
        })
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "it was stored as a number of milliseconds"
)]
pub(crate) const fn milliseconds(number: f64) -> i64 {
    number as i64
}

/// The rows of an origin, in order.
fn entries(metadata: &DocumentMetadata, origin: MetadataOrigin) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    for tag in &metadata.tags {
        if !entries.iter().any(|known| known.is_tag(&key_of(tag))) {
            entries.push(Entry::tag(tag, origin, false));
        }
    }
    for (name, values) in &metadata.fields {
        entries.extend(values.iter().map(|value| Entry {
            name: name.clone(),
            origin,
            shown: value.shown(),
            value: Some(value.clone()),
        }));
    }
    entries
}

/// Replaces what the file or the source of a document says.
pub(crate) async fn set_metadata(
    tx: &mut Tx,
    document: DocumentId,
    origin: MetadataOrigin,
    metadata: &DocumentMetadata,
) -> Result<(), StoreError> {
    set_entries(tx, document, origin, &entries(metadata, origin)).await
}

async fn set_entries(
    tx: &mut Tx,
    document: DocumentId,
    origin: MetadataOrigin,
    entries: &[Entry],
) -> Result<(), StoreError> {
    let sql = "DELETE FROM document_metadata WHERE document = $1 AND origin = $2";
    let query = tx.query(sql).id(document).bind(origin.column());
    let deleted = query.execute().await?;
    let mut positions: HashMap<&str, u64> = HashMap::new();
    for entry in entries {
        let position = positions.entry(&entry.name).or_default();
        let sql = "INSERT INTO document_metadata (document, collection, name, origin, position, kind, value, value_key, \
                   number, effective) SELECT id, collection, $2, $3, $4, $5, $6, $7, $8, FALSE FROM documents WHERE id = $1";
        let query = tx
            .query(sql)
            .id(document)
            .text(&entry.name)
            .bind(origin.column())
            .number(*position)
            .text(entry.value.as_ref().map_or(REMOVED, MetadataValue::kind))
            .text(&entry.shown)
            .text(&key_of(&entry.shown))
            .bind(entry.value.as_ref().and_then(MetadataValue::number));
        query.execute().await?;
        *position += 1;
    }
    if deleted == 0 && entries.is_empty() {
        return Ok(());
    }
    let sql = "UPDATE document_metadata SET effective = kind <> 'removed' AND NOT EXISTS ( \
               SELECT 1 FROM document_metadata AS higher WHERE higher.document = document_metadata.document \
               AND higher.name = document_metadata.name AND higher.origin > document_metadata.origin \
               AND (higher.name <> 'tags' OR higher.value_key = document_metadata.value_key)) WHERE document = $1";
    tx.query(sql).id(document).execute().await?;
    Ok(())
}

async fn read_entries(tx: &mut Tx, document: DocumentId) -> Result<Vec<Entry>, StoreError> {
    let sql = "SELECT name, origin, kind, value, number FROM document_metadata WHERE document = $1 \
               ORDER BY name, origin, position";
    let rows = tx.query(sql).id(document).fetch_all().await?;
    rows.iter().map(Entry::read).collect()
}

impl MetadataChange {
    /// What people have set after the change.
    fn applied(&self, before: &[Entry]) -> Vec<Entry> {
        let person = MetadataOrigin::Person;
        let (lower, set): (Vec<_>, Vec<_>) = before.iter().partition(|entry| entry.origin < person);
        let mut set: Vec<Entry> = set.into_iter().cloned().collect();
        for tag in self.add_tags.iter().chain(&self.remove_tags) {
            set.retain(|entry| !entry.is_tag(&key_of(tag)));
        }
        for tag in &self.add_tags {
            set.push(Entry::tag(tag, person, false));
        }
        for tag in &self.remove_tags {
            if lower.iter().any(|entry| entry.is_tag(&key_of(tag))) {
                set.push(Entry::tag(tag, person, true));
            }
        }
        set.retain(|entry| {
            !self.fields.contains_key(&entry.name) && !self.reset.contains(&entry.name)
        });
        for (name, values) in &self.fields {
            let has_lower = lower.iter().any(|entry| &entry.name == name);
            if values.is_empty() && has_lower {
                set.push(Entry {
                    name: name.clone(),
                    origin: person,
                    value: None,
                    shown: String::new(),
                });
            }
            set.extend(values.iter().map(|value| Entry {
                name: name.clone(),
                origin: person,
                shown: value.shown(),
                value: Some(value.clone()),
            }));
        }
        set
    }
}

/// Whether what people set for a document is within the limits.
fn is_within(set: &[Entry], limits: MetadataLimits) -> bool {
    let tags = set.iter().filter(|entry| entry.name == TAGS).count();
    let names = set.iter().map(|entry| entry.name.as_str());
    let fields: HashSet<&str> = names.filter(|name| *name != TAGS).collect();
    tags <= limits.tags && fields.len() <= limits.fields
}

impl Store {
    /// Changes tags and metadata of documents in a person's collection: all of them, or none.
    ///
    /// # Errors
    /// `NotFound` if it is not their collection, or a document is not in it; `Conflict("metadata")` if a document would
    /// have more than `limits`.
    pub async fn change_metadata(
        &self,
        owner: UserId,
        collection: CollectionId,
        documents: &[DocumentId],
        change: &MetadataChange,
        limits: MetadataLimits,
        now: i64,
    ) -> Result<(), StoreError> {
        let mut tx = self.db().begin().await?;
        // Also prevents concurrent callers from overwriting each other.
        let sql = "UPDATE collections SET updated_at = $3 WHERE id = $1 AND owner = $2";
        let query = tx.query(sql).id(collection).id(owner);
        query.bind(now).execute_on_one().await?;
        for document in documents {
            let sql = "SELECT id FROM documents WHERE id = $1 AND collection = $2";
            let query = tx.query(sql).id(document).id(collection);
            query.fetch_one().await?;
            let before = read_entries(&mut tx, *document).await?;
            let set = change.applied(&before);
            if !is_within(&set, limits) {
                return Err(StoreError::Conflict("metadata"));
            }
            let person = MetadataOrigin::Person;
            set_entries(&mut tx, *document, person, &set).await?;
        }
        tx.commit().await
    }

    /// Replaces what an origin says of a document.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn set_metadata(
        &self,
        document: DocumentId,
        origin: MetadataOrigin,
        metadata: &DocumentMetadata,
    ) -> Result<(), StoreError> {
        let mut tx = self.db().begin().await?;
        set_metadata(&mut tx, document, origin, metadata).await?;
        tx.commit().await
    }

    /// The tags and metadata of a document, without access checks.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn document_metadata(
        &self,
        document: DocumentId,
    ) -> Result<ShownMetadata, StoreError> {
        let sql = "SELECT name, origin, kind, value, number, effective FROM document_metadata WHERE document = $1 \
                   ORDER BY name, origin, position";
        let mut found = ShownMetadata::default();
        for row in &self.db().read(sql).id(document).fetch_all().await? {
            let entry = Entry::read(row)?;
            if entry.origin == MetadataOrigin::Person && entry.name != TAGS {
                found.set.insert(entry.name.clone());
            }
            if row.get("effective")? {
                add(&mut found.effective, entry);
            }
        }
        Ok(found)
    }

    /// What one origin says of each document of a collection, without access checks.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn metadata_of_origin(
        &self,
        collection: CollectionId,
        origin: MetadataOrigin,
    ) -> Result<HashMap<DocumentId, DocumentMetadata>, StoreError> {
        let sql = "SELECT document, name, origin, kind, value, number FROM document_metadata \
                   WHERE document IN (SELECT id FROM documents WHERE collection = $1) AND origin = $2 AND kind <> 'removed' \
                   ORDER BY document, name, position";
        let query = self.db().read(sql).id(collection).bind(origin.column());
        let mut found: HashMap<DocumentId, DocumentMetadata> = HashMap::new();
        for row in &query.fetch_all().await? {
            let of = found.entry(row.id("document")?).or_default();
            add(of, Entry::read(row)?);
        }
        Ok(found)
    }

    /// The tags of the documents of a collection, without access checks.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn document_tags(
        &self,
        collection: CollectionId,
    ) -> Result<HashMap<DocumentId, Vec<String>>, StoreError> {
        let sql = "SELECT document, value FROM document_metadata WHERE collection = $1 AND name = 'tags' AND effective \
                   ORDER BY document, value_key";
        let mut found: HashMap<DocumentId, Vec<String>> = HashMap::new();
        for row in &self.db().read(sql).id(collection).fetch_all().await? {
            let tags = found.entry(row.id("document")?).or_default();
            tags.push(row.get("value")?);
        }
        Ok(found)
    }
}

fn add(to: &mut DocumentMetadata, entry: Entry) {
    match entry.value {
        None => {}
        Some(_) if entry.name == TAGS => to.tags.push(entry.shown),
        Some(value) => to.fields.entry(entry.name).or_default().push(value),
    }
}
