//! The backup file: lines of JSON, compressed with gzip. The first line is the header, the last has the number of lines
//! and their hash; between them are the parts of the database, then files.
//!
//! ```text
//! {"glasshouse_backup":1,"version":"0.1.0","made_at":1795000000000}
//! {"schema":20}
//! {"table":"users","columns":["id","email"]}
//! ["user_1","ada@example.org"]
//! {"damaged":["users","id user_2","email","BLOB"]}
//! ["user_2","…"]
//! {"file":"secret.key","base64":"…"}
//! {"end":{"lines":5,"sha256":"…"}}
//! ```

use std::{
    fs::File,
    io::{self, BufRead, BufReader, BufWriter, Read, Write},
    path::Path,
};

use anyhow::{Context, bail, ensure};
use base64::{Engine, engine::general_purpose::STANDARD};
use data_encoding::HEXLOWER;
use flate2::{Compression, read::GzDecoder, write::GzEncoder};
use ring::digest;
use serde_json::{Value, json};
use store::{Damage, Datum, Part};

/// Version of this format.
const FORMAT: u64 = 1;
/// Maximum length of a line, bytes: a file of a chat has 10 MB at most, and an answer less, each byte of which may
/// become seven in a segment of a log.
const LINE_LIMIT_BYTES: u64 = 256_000_000;

/// Writes a backup file.
pub(super) struct Writer<'a> {
    out: GzEncoder<BufWriter<&'a File>>,
    hash: digest::Context,
    lines: u64,
    rows: u64,
}

impl<'a> Writer<'a> {
    pub(super) fn new(file: &'a File, now_ms: i64) -> io::Result<Self> {
        let out = GzEncoder::new(BufWriter::new(file), Compression::fast());
        let mut writer = Self {
            out,
            hash: digest::Context::new(&digest::SHA256),
            lines: 0,
            rows: 0,
        };
        writer.line(&json!({
            "glasshouse_backup": FORMAT, "version": env!("CARGO_PKG_VERSION"), "made_at": now_ms,
        }))?;
        Ok(writer)
    }

    pub(super) fn part(&mut self, part: &Part) -> io::Result<()> {
        match part {
            Part::Schema(number) => self.line(&json!({ "schema": number })),
            Part::Table { name, columns } => {
                self.line(&json!({ "table": name, "columns": columns }))
            }
            Part::Damaged(Damage {
                table,
                row,
                column,
                found,
            }) => self.line(&json!({ "damaged": [table, row, column, found] })),
            Part::Row(row) => {
                self.rows += 1;
                self.line(&row.iter().map(write_datum).collect())
            }
        }
    }

    pub(super) fn file(&mut self, name: &str, content: &[u8]) -> io::Result<()> {
        self.line(&json!({ "file": name, "base64": STANDARD.encode(content) }))
    }

    /// Writes the end; returns the number of rows.
    pub(super) fn finish(mut self) -> io::Result<u64> {
        let sha256 = HEXLOWER.encode(self.hash.clone().finish().as_ref());
        let end = json!({ "end": { "lines": self.lines, "sha256": sha256 } });
        self.line(&end)?;
        self.out.finish()?.flush()?;
        Ok(self.rows)
    }

    fn line(&mut self, value: &Value) -> io::Result<()> {
        let line = format!("{value}\n");
        self.hash.update(line.as_bytes());
        self.lines += 1;
        self.out.write_all(line.as_bytes())
    }
}

/// An entry of a backup.
#[derive(Debug, PartialEq)]
pub(super) enum Entry {
    Part(Part),
    File { name: String, content: Vec<u8> },
}

/// Reads a backup file. Yields the last entry only after the hash was verified; a file without a valid end is an error.
pub(super) struct Copy {
    input: BufReader<GzDecoder<BufReader<File>>>,
    hash: digest::Context,
    lines: u64,
    is_over: bool,
}

impl Copy {
    pub(super) fn open(path: &Path) -> anyhow::Result<Self> {
        let file = File::open(path).with_context(|| format!("cannot read {}", path.display()))?;
        let input = BufReader::new(GzDecoder::new(BufReader::new(file)));
        let mut copy = Self {
            input,
            hash: digest::Context::new(&digest::SHA256),
            lines: 0,
            is_over: false,
        };
        let head = copy
            .line()
            .with_context(|| format!("{} is no copy of Glasshouse", path.display()))?;
        match head.get("glasshouse_backup").and_then(Value::as_u64) {
            Some(FORMAT) => Ok(copy),
            Some(_) => bail!(
                "{} was made by a newer version of Glasshouse",
                path.display()
            ),
            None => bail!("{} is no copy of Glasshouse", path.display()),
        }
    }

    /// The next line; it is hashed unless it is the last.
    fn line(&mut self) -> anyhow::Result<Value> {
        let mut line = Vec::new();
        (&mut self.input)
            .take(LINE_LIMIT_BYTES)
            .read_until(b'\n', &mut line)
            .context("the copy is damaged")?;
        ensure!(line.ends_with(b"\n"), "the copy is not whole");
        let value: Value = serde_json::from_slice(&line).context("the copy is damaged")?;
        if let Some(end) = value.get("end") {
            self.check_end(end)?;
        }
        self.hash.update(&line);
        self.lines += 1;
        Ok(value)
    }

    fn check_end(&mut self, end: &Value) -> anyhow::Result<()> {
        let sha256 = HEXLOWER.encode(self.hash.clone().finish().as_ref());
        let is_right = *end == json!({ "lines": self.lines, "sha256": sha256 });
        let mut rest = [0];
        ensure!(
            is_right && self.input.read(&mut rest).context("the copy is damaged")? == 0,
            "the copy is damaged"
        );
        self.is_over = true;
        Ok(())
    }

    fn entry(&mut self) -> anyhow::Result<Option<Entry>> {
        let value = self.line()?;
        if self.is_over {
            return Ok(None);
        }
        read_entry(value)
            .map(Some)
            .context("the copy has a line that means nothing")
    }
}

impl Iterator for Copy {
    type Item = anyhow::Result<Entry>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_over {
            return None;
        }
        let entry = self.entry();
        self.is_over |= entry.is_err();
        entry.transpose()
    }
}

fn read_entry(value: Value) -> Option<Entry> {
    let value = match value {
        Value::Array(row) => {
            return row
                .into_iter()
                .map(read_datum)
                .collect::<Option<_>>()
                .map(|row| Entry::Part(Part::Row(row)));
        }
        value => value,
    };
    if let Some(schema) = value.get("schema") {
        return schema
            .as_i64()
            .map(|number| Entry::Part(Part::Schema(number)));
    }
    if let Some(place) = value.get("damaged") {
        let place: [String; 4] = serde_json::from_value(place.clone()).ok()?;
        let [table, row, column, found] = place;
        return Some(Entry::Part(Part::Damaged(Damage {
            table,
            row,
            column,
            found,
        })));
    }
    if let Some(name) = value.get("table") {
        let columns = value.get("columns")?.as_array()?;
        let columns = columns
            .iter()
            .map(|name| name.as_str().map(str::to_owned))
            .collect::<Option<_>>()?;
        return Some(Entry::Part(Part::Table {
            name: name.as_str()?.to_owned(),
            columns,
        }));
    }
    let name = value.get("file")?.as_str()?.to_owned();
    Some(Entry::File {
        name,
        content: STANDARD.decode(value.get("base64")?.as_str()?).ok()?,
    })
}

fn write_datum(datum: &Datum) -> Value {
    match datum {
        Datum::Null => Value::Null,
        Datum::Text(text) => json!(text),
        Datum::Integer(number) => json!(number),
        // Keeps 1.0 from becoming an integer.
        Datum::Real(number) => json!({ "real": number }),
        Datum::Boolean(is_so) => json!(is_so),
        Datum::Bytes(bytes) => json!({ "base64": STANDARD.encode(bytes) }),
    }
}

fn read_datum(value: Value) -> Option<Datum> {
    Some(match value {
        Value::Null => Datum::Null,
        Value::String(text) => Datum::Text(text),
        Value::Number(number) => Datum::Integer(number.as_i64()?),
        Value::Bool(is_so) => Datum::Boolean(is_so),
        Value::Object(one) => match (one.get("real"), one.get("base64")) {
            (Some(number), None) => Datum::Real(number.as_f64()?),
            (None, Some(bytes)) => Datum::Bytes(STANDARD.decode(bytes.as_str()?).ok()?),
            _ => return None,
        },
        Value::Array(_) => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts() -> Vec<Part> {
        let row = vec![
            Datum::Null,
            Datum::Text("a\n\"б\"".to_owned()),
            Datum::Integer(i64::MIN),
            Datum::Real(1.0),
            Datum::Boolean(true),
            Datum::Bytes(vec![0, 10, 255]),
        ];
        let table = Part::Table {
            name: "t".to_owned(),
            columns: vec!["a".to_owned(); 6],
        };
        let [table_name, at, column, found] = ["t", "a \"1\"", "b", "BLOB"].map(str::to_owned);
        let damage = Damage {
            table: table_name,
            row: at,
            column,
            found,
        };
        vec![
            Part::Schema(3),
            table,
            Part::Row(row),
            Part::Damaged(damage),
            Part::Row(vec![]),
        ]
    }

    fn folder() -> std::path::PathBuf {
        let dir =
            std::env::temp_dir().join(format!("glasshouse-backup-{}", domain::RunId::generate()));
        std::fs::create_dir_all(&dir).unwrap();
        dir
    }

    fn write(path: &Path) {
        let file = File::create(path).unwrap();
        let mut writer = Writer::new(&file, 7).unwrap();
        for part in parts() {
            writer.part(&part).unwrap();
        }
        writer.file("secret.key", b"key").unwrap();
        assert_eq!(writer.finish().unwrap(), 2);
    }

    fn read(path: &Path) -> anyhow::Result<Vec<Entry>> {
        Copy::open(path)?.collect()
    }

    #[test]
    fn what_is_written_is_read() {
        let dir = folder();
        let path = dir.join("a");
        write(&path);
        let mut expected: Vec<Entry> = parts().into_iter().map(Entry::Part).collect();
        expected.push(Entry::File {
            name: "secret.key".to_owned(),
            content: b"key".to_vec(),
        });
        assert_eq!(read(&path).unwrap(), expected);
        std::fs::remove_dir_all(dir).unwrap();
    }

    #[test]
    fn every_change_is_noticed() {
        let dir = folder();
        let path = dir.join("a");
        write(&path);
        let good = std::fs::read(&path).unwrap();
        let entries = read(&path).unwrap();
        for end in 0..good.len() {
            std::fs::write(&path, &good[..end]).unwrap();
            assert!(read(&path).is_err(), "cut after {end} of {}", good.len());
        }
        for at in 10..good.len() {
            let mut bad = good.clone();
            bad[at] ^= 0x40;
            std::fs::write(&path, bad).unwrap();
            // Some bits are padding only; then the content must be the same.
            assert!(
                read(&path).map_or(true, |read| read == entries),
                "byte {at}"
            );
        }
        std::fs::remove_dir_all(dir).unwrap();
    }

    #[test]
    fn lines_that_were_changed_on_purpose_are_noticed() {
        let dir = folder();
        let path = dir.join("a");
        write(&path);
        let mut text = String::new();
        GzDecoder::new(File::open(&path).unwrap())
            .read_to_string(&mut text)
            .unwrap();
        let lines: Vec<&str> = text.lines().collect();
        let again = |lines: &[&str]| {
            let file = File::create(&path).unwrap();
            let mut out = GzEncoder::new(&file, Compression::fast());
            out.write_all((lines.join("\n") + "\n").as_bytes()).unwrap();
            out.finish().unwrap();
            read(&path)
        };
        assert!(again(&lines).is_ok());
        let without = |at: usize| [&lines[..at], &lines[at + 1..]].concat();
        for at in 0..lines.len() {
            assert!(again(&without(at)).is_err(), "without line {at}");
        }
        assert!(
            again(&[&lines[..], &["[]"]].concat()).is_err(),
            "something behind the end"
        );
        assert!(again(&[]).is_err());
        for odd in [
            "{}",
            "7",
            "[[]]",
            "[{}]",
            "[1.5]",
            "{\"damaged\":[\"t\"]}",
            "{\"table\":1,\"columns\":[]}",
            "{\"file\":\"a\"}",
            "not JSON",
        ] {
            let mut lines = lines.clone();
            lines[3] = odd;
            assert!(again(&lines).is_err(), "{odd}");
        }
        std::fs::write(&path, vec![b'x'; 1000]).unwrap();
        assert!(read(&path).is_err());
        std::fs::remove_dir_all(dir).unwrap();
    }
}
