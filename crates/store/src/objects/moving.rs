//! Moves large contents of existing rows to the object storage, or back.

use std::time::Duration;

use super::Held;
use crate::{
    Store, StoreError,
    query::{Query, Row},
};

/// Time to read a content from the database, which may be 500 MB.
const READ_LIMIT: Duration = Duration::from_secs(60);
/// Rows that are moved before the next look.
const BATCH: u64 = 20;

/// Where contents are moved to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MovedTo {
    /// Large contents become objects.
    Objects,
    /// All objects become contents of rows.
    Database,
}

/// What was moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Moved {
    /// The number of contents.
    pub contents: u64,
    /// Their size.
    pub bytes: u64,
    /// The number of contents that could not be read, and stay where they are.
    pub failed: u64,
}

/// A table with contents, and the columns by which a row is found.
struct Movable {
    table: &'static str,
    key: &'static [&'static str],
    /// The size of a content.
    size: &'static str,
}

const MOVABLE: [Movable; 4] = [
    Movable {
        table: "files",
        // With the version, so that another writer's content is not replaced.
        key: &["workspace", "path", "version"],
        size: "size_bytes",
    },
    Movable {
        table: "file_versions",
        key: &["id"],
        size: "size_bytes",
    },
    Movable {
        table: "document_files",
        key: &["document"],
        size: "length(content)",
    },
    Movable {
        table: "sealed_logs",
        key: &["run"],
        size: "size_bytes",
    },
];

/// A value of a key.
#[derive(Debug, Clone)]
enum Part {
    Text(String),
    Number(i64),
}

impl Store {
    /// Moves a batch of contents; one that is written meanwhile stays as it is then. Returns what was moved: nothing if
    /// there is no more. Safe on several servers at a time, and if it ends anywhere.
    ///
    /// # Errors
    /// Database errors, and those of the storage. Contents that are missing or damaged are counted and logged.
    pub async fn move_contents(&self, to: MovedTo) -> Result<Moved, StoreError> {
        self.objects()?;
        let mut moved = Moved::default();
        for movable in &MOVABLE {
            let mut passed = 0;
            loop {
                let rows = self.to_move(movable, to, passed).await?;
                if rows.is_empty() {
                    break;
                }
                for row in &rows {
                    match self.move_row(movable, row, to).await {
                        Ok(bytes) => {
                            moved.contents += 1;
                            moved.bytes += bytes;
                        }
                        Err(StoreError::Corrupt(error)) => {
                            tracing::error!(
                                table = movable.table,
                                error,
                                "a content cannot be moved"
                            );
                            moved.failed += 1;
                            passed += 1;
                        }
                        Err(error) => return Err(error),
                    }
                }
                if moved.contents >= BATCH {
                    return Ok(moved);
                }
            }
        }
        Ok(moved)
    }

    /// The next rows, except for the first ones, which could not be moved.
    async fn to_move(
        &self,
        movable: &Movable,
        to: MovedTo,
        passed: u64,
    ) -> Result<Vec<Row>, StoreError> {
        let Movable { table, key, size } = movable;
        let columns = key.join(", ");
        let which = match to {
            MovedTo::Objects => format!("object IS NULL AND {size} >= {}", super::OBJECT_BYTES),
            MovedTo::Database => "object IS NOT NULL".to_owned(),
        };
        let sql = format!(
            "SELECT {columns} FROM {table} WHERE {which} ORDER BY {columns} LIMIT {BATCH} OFFSET {passed}"
        );
        self.db().built_to_read(sql).fetch_all().await
    }

    /// Returns the size of the content.
    async fn move_row(&self, movable: &Movable, row: &Row, to: MovedTo) -> Result<u64, StoreError> {
        let Movable { table, key, .. } = movable;
        let names: Vec<String> = (key.iter().enumerate())
            .map(|(at, name)| format!("{name} = ${}", at + 1))
            .collect();
        let which = names.join(" AND ");
        let key = key.iter().map(|name| part(row, name));
        let key: Vec<Part> = key.collect::<Result<_, _>>()?;
        let sql = format!("SELECT content, object FROM {table} WHERE {which}");
        let query = bind(self.db().built_to_read(sql), &key).within(READ_LIMIT);
        let Some(found) = query.fetch_optional().await? else {
            return Ok(0);
        };
        let held = Held::read(&found)?;
        let was_object = held.object.is_some();
        if was_object == (to == MovedTo::Objects) {
            return Ok(0);
        }
        let old_key = held.object.clone();
        let content = self.content_of(held).await?;
        let new = match to {
            MovedTo::Objects => self.hold(&content).await?,
            MovedTo::Database => Held::inline(&content),
        };
        if new.object.is_some() == was_object {
            let text = format!("a row of {table} has a content of another size than it says");
            return Err(StoreError::Corrupt(text));
        }
        let place = names.len();
        // The content is compared, as another one may have been stored meanwhile.
        let unchanged = match to {
            MovedTo::Objects => format!("object IS NULL AND content = ${}", place + 3),
            MovedTo::Database => format!("object = ${}", place + 3),
        };
        let sql = format!(
            "UPDATE {table} SET content = ${}, object = ${} WHERE {which} AND {unchanged}",
            place + 1,
            place + 2
        );
        let query = bind(self.db().built(sql), &key)
            .file(&new.content)
            .optional_text(new.object.as_deref());
        let query = match &old_key {
            Some(key) => query.text(key),
            None => query.file(&content),
        };
        let outcome = query.execute().await;
        if !matches!(outcome, Ok(1)) {
            self.abandon(&new).await;
        }
        outcome?;
        Ok(content.len() as u64)
    }
}

fn part(row: &Row, name: &'static str) -> Result<Part, StoreError> {
    Ok(match name {
        "workspace" | "path" | "document" => Part::Text(row.get(name)?),
        _ => Part::Number(row.get(name)?),
    })
}

fn bind<'q>(query: Query<'q>, key: &[Part]) -> Query<'q> {
    key.iter().fold(query, |query, part| match part {
        Part::Text(text) => query.text(text),
        Part::Number(number) => query.bind(*number),
    })
}
