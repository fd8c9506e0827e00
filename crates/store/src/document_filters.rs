//! Filters documents by type, name, time, tags and metadata.

use std::fmt::Write;

use domain::{CollectionId, DocumentId, UserId};

use crate::{
    Store, StoreError,
    document_metadata::{TAGS, key_of},
    document_readers::may_read_document,
    query::Query,
};

/// Maximum number of collections in one statement.
const MAX_COLLECTIONS: usize = 500;

/// A filter of documents; empty fields match all.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct DocumentFilter {
    /// File extensions in lower case, without the dot.
    pub endings: Vec<String>,
    /// A part of the name in lower case.
    pub name: String,
    /// Uploaded or read since this time.
    pub since: Option<i64>,
    /// And before this time.
    pub until: Option<i64>,
    /// Each of them has to be met.
    pub metadata: Vec<MetadataCondition>,
}

/// A condition on tags or metadata.
#[derive(Debug, Clone, PartialEq)]
pub enum MetadataCondition {
    /// The document has one of these tags.
    Tag(Vec<String>),
    /// It has none of these tags.
    NoTag(Vec<String>),
    /// A value of this key passes the test.
    Field(String, MetadataTest),
    /// No value of this key passes it.
    NotField(String, MetadataTest),
}

/// A test of a value.
#[derive(Debug, Clone, PartialEq)]
pub enum MetadataTest {
    /// It is one of these.
    OneOf(Vec<WantedValue>),
    /// It contains this text.
    Contains(String),
    /// It is a number or a date in this range.
    Range(WantedRange),
    /// There is one.
    Exists,
}

/// A value in all forms in which it may be stored.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct WantedValue {
    /// As text. Case and accents do not count.
    pub text: String,
    /// As a number.
    pub number: Option<f64>,
    /// As a period, from its first millisecond to the first one after it.
    pub period: Option<(i64, i64)>,
}

/// A range of numbers, of dates, or of both if the limits can be either.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct WantedRange {
    /// Numbers.
    pub numbers: Option<Bounds>,
    /// Dates, Unix milliseconds.
    pub dates: Option<Bounds>,
}

/// Limits of a range.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Bounds {
    /// The least value, and whether the range begins only after it.
    pub from: Option<(f64, bool)>,
    /// The greatest value, and whether the range ends before it.
    pub until: Option<(f64, bool)>,
}

/// Which documents are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FilterScope {
    /// Only those with a text.
    Searchable,
    /// All.
    All,
}

/// A value for a placeholder.
enum Value {
    Text(String),
    Number(f64),
    Time(i64),
}

/// A condition in SQL, with the values for its placeholders.
#[derive(Default)]
struct Sql {
    text: String,
    values: Vec<Value>,
}

impl Sql {
    /// Adds a value; its placeholder.
    fn bind(&mut self, value: Value) -> String {
        self.values.push(value);
        format!("${}", self.values.len())
    }

    fn text(&mut self, text: &str) -> String {
        self.bind(Value::Text(text.to_owned()))
    }

    fn push(&mut self, text: &str) {
        self.text.push_str(text);
    }

    fn applied<'a>(&self, query: Query<'a>) -> Query<'a> {
        self.values.iter().fold(query, |query, value| match value {
            Value::Text(text) => query.text(text),
            Value::Number(number) => query.bind(*number),
            Value::Time(ms) => query.bind(*ms),
        })
    }

    /// The documents with such a row of metadata, as a list for `IN`.
    fn documents_with(&mut self, list: &str, name: &str, test: impl FnOnce(&mut Self)) {
        let name = self.text(name);
        _ = write!(
            self.text,
            "(SELECT document FROM document_metadata WHERE effective AND collection IN ({list}) AND name = {name} AND ("
        );
        test(self);
        self.push("))");
    }

    fn condition(&mut self, list: &str, condition: &MetadataCondition) {
        self.push(match condition {
            MetadataCondition::Tag(_) | MetadataCondition::Field(..) => " AND id IN ",
            MetadataCondition::NoTag(_) | MetadataCondition::NotField(..) => " AND id NOT IN ",
        });
        match condition {
            MetadataCondition::Tag(tags) | MetadataCondition::NoTag(tags) => {
                self.documents_with(list, TAGS, |sql| sql.keys(tags.iter().map(String::as_str)));
            }
            MetadataCondition::Field(key, test) | MetadataCondition::NotField(key, test) => {
                self.documents_with(list, key, |sql| sql.test(test));
            }
        }
    }

    fn keys<'t>(&mut self, texts: impl Iterator<Item = &'t str>) {
        let keys: Vec<String> = texts.map(|text| self.text(&key_of(text))).collect();
        _ = write!(self.text, "value_key IN ({})", keys.join(", "));
    }

    fn test(&mut self, test: &MetadataTest) {
        match test {
            MetadataTest::OneOf(wanted) => {
                self.keys(wanted.iter().map(|value| value.text.as_str()));
                for value in wanted {
                    self.other_forms(value);
                }
            }
            MetadataTest::Contains(part) => {
                // As a pattern, because both databases have no other function in common.
                let pattern = self.text(&format!("%{}%", escaped(&key_of(part))));
                _ = write!(self.text, "value_key LIKE {pattern} ESCAPE '\\'");
            }
            MetadataTest::Range(range) => {
                self.push("FALSE");
                for (kind, bounds) in [("number", range.numbers), ("date", range.dates)] {
                    if let Some(bounds) = bounds {
                        self.bounds(kind, bounds);
                    }
                }
            }
            MetadataTest::Exists => self.push("TRUE"),
        }
    }

    fn other_forms(&mut self, value: &WantedValue) {
        if let Some(number) = value.number {
            let number = self.bind(Value::Number(number));
            _ = write!(self.text, " OR kind = 'number' AND number = {number}");
        }
        if let Some((first, behind)) = value.period {
            let bounds = Bounds {
                from: Some((as_number(first), false)),
                until: Some((as_number(behind), true)),
            };
            self.bounds("date", bounds);
        }
    }

    fn bounds(&mut self, kind: &str, bounds: Bounds) {
        _ = write!(self.text, " OR kind = '{kind}'");
        if let Some((from, is_after)) = bounds.from {
            let from = self.bind(Value::Number(from));
            _ = write!(
                self.text,
                " AND number {} {from}",
                if is_after { ">" } else { ">=" }
            );
        }
        if let Some((until, is_before)) = bounds.until {
            let until = self.bind(Value::Number(until));
            _ = write!(
                self.text,
                " AND number {} {until}",
                if is_before { "<" } else { "<=" }
            );
        }
    }
}

/// Milliseconds as they are stored.
#[expect(
    clippy::cast_precision_loss,
    reason = "milliseconds are exact for 280,000 years"
)]
const fn as_number(ms: i64) -> f64 {
    ms as f64
}

/// Without characters that have a meaning in patterns.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\")
        .replace('%', "\\%")
        .replace('_', "\\_")
}

impl Store {
    /// The matching documents that a user may read, with their collections. The caller must have checked access to the
    /// collections.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn filtered_documents(
        &self,
        reader: UserId,
        collections: &[CollectionId],
        filter: &DocumentFilter,
        scope: FilterScope,
    ) -> Result<Vec<(CollectionId, DocumentId)>, StoreError> {
        let mut found = Vec::new();
        for collections in collections.chunks(MAX_COLLECTIONS) {
            let sql = statement(reader, collections, filter, scope);
            let query = self.db().built_to_read(sql.text.clone());
            for row in &sql.applied(query).fetch_all().await? {
                if filter.matches_name(&row.get::<String>("name")?) {
                    found.push((row.id("collection")?, row.id("id")?));
                }
            }
        }
        Ok(found)
    }
}

fn statement(
    reader: UserId,
    collections: &[CollectionId],
    filter: &DocumentFilter,
    scope: FilterScope,
) -> Sql {
    let mut sql = Sql::default();
    let list: Vec<String> = collections
        .iter()
        .map(|id| sql.text(&id.to_string()))
        .collect();
    let list = list.join(", ");
    let since = sql.bind(Value::Time(filter.since.unwrap_or(i64::MIN)));
    let until = sql.bind(Value::Time(filter.until.unwrap_or(i64::MAX)));
    let reader = sql.text(&reader.to_string());
    let least = match scope {
        FilterScope::Searchable => 1,
        FilterScope::All => 0,
    };
    sql.text = format!(
        "SELECT id, collection, name FROM documents WHERE collection IN ({list}) AND version >= {least} \
         AND updated_at >= {since} AND updated_at < {until} AND {}",
        may_read_document(&reader)
    );
    for condition in &filter.metadata {
        sql.condition(&list, condition);
    }
    sql.push(" ORDER BY collection, name, id");
    sql
}

impl DocumentFilter {
    fn matches_name(&self, name: &str) -> bool {
        if self.endings.is_empty() && self.name.is_empty() {
            return true;
        }
        let name = name.to_lowercase();
        let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
        let is_kind = self.endings.is_empty() || self.endings.iter().any(|other| other == ending);
        is_kind && name.contains(&self.name)
    }
}
