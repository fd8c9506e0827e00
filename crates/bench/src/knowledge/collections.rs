//! Public collections of documents, questions and judgments, in their published formats.

use std::{collections::HashMap, fs, io::Read, path::Path};

use anyhow::Context;
use knowledge::{Document, Sizes, cut};
use serde_json::Value;

/// Documents and questions with known answers.
pub(super) struct Collection {
    pub(super) name: &'static str,
    pub(super) documents: Vec<Text>,
    pub(super) questions: Vec<Question>,
}

/// A document's text, below its title and an optional heading.
pub(super) struct Text {
    pub(super) title: String,
    pub(super) heading: Option<String>,
    pub(super) body: String,
}

impl Text {
    /// Its chunks, split as by the server.
    pub(super) fn pieces(&self) -> Vec<&str> {
        let document = Document {
            text: self.body.clone(),
            ..Document::default()
        };
        let pieces = cut(&document, Sizes::default());
        pieces
            .into_iter()
            .filter_map(|piece| self.body.get(piece.bytes))
            .collect()
    }
}

impl Collection {
    /// The texts passed to an embedding model for each document, as by the server.
    pub(super) fn passages(&self) -> impl Iterator<Item = Vec<String>> {
        self.documents.iter().map(|text| {
            let above = text
                .heading
                .iter()
                .fold(text.title.trim().to_owned(), |above, heading| {
                    if above.is_empty() {
                        heading.clone()
                    } else {
                        format!("{above} › {heading}")
                    }
                });
            let above: String = above.chars().take(HEAD_CHARS).collect();
            text.pieces()
                .into_iter()
                .map(|piece| format!("{above}\n{piece}"))
                .collect()
        })
    }
}

/// Maximum length of the headings before a chunk, characters.
const HEAD_CHARS: usize = 300;

/// A question, and the relevance of documents by index.
pub(super) struct Question {
    pub(super) text: String,
    pub(super) grades: HashMap<usize, f64>,
}

/// Cranfield: abstracts on aerodynamics. Its questions are numbered by position.
pub(super) fn cranfield(folder: &Path) -> anyhow::Result<Collection> {
    let read = |name: &str| {
        fs::read_to_string(folder.join(name)).with_context(|| format!("no {name} of Cranfield"))
    };
    let documents = records(&read("cran.all.1400")?);
    let documents = documents.into_iter().map(|mut fields| Text {
        title: fields.remove("T").unwrap_or_default(),
        heading: None,
        body: fields.remove("W").unwrap_or_default(),
    });
    let questions = records(&read("cran.qry")?).into_iter();
    let mut questions: Vec<Question> = questions
        .map(|mut fields| Question {
            text: fields.remove("W").unwrap_or_default(),
            grades: HashMap::new(),
        })
        .collect();
    for line in read("cranqrel")?.lines() {
        let numbers: Vec<i32> = line
            .split_whitespace()
            .filter_map(|number| number.parse().ok())
            .collect();
        let [question, document, grade] = numbers[..] else {
            continue;
        };
        // 1 is a complete answer and 4 of least interest; -1 marks the documents from which the questions were made.
        let gain = if (1..=4).contains(&grade) {
            f64::from(5 - grade)
        } else {
            continue;
        };
        let at = |number: i32| usize::try_from(number - 1);
        if let Some(question) = questions.get_mut(at(question)?) {
            question.grades.insert(at(document)?, gain);
        }
    }
    Ok(Collection {
        name: "Cranfield",
        documents: documents.collect(),
        questions,
    })
}

/// The records of a file in SMART format: fields after lines such as `.T`.
fn records(text: &str) -> Vec<HashMap<String, String>> {
    let mut records: Vec<HashMap<String, String>> = Vec::new();
    let mut field = String::new();
    for line in text.lines() {
        if line.starts_with(".I") {
            records.push(HashMap::new());
            field.clear();
        } else if let Some(name) = line
            .strip_prefix('.')
            .map(str::trim_end)
            .filter(|name| name.len() == 1)
        {
            name.clone_into(&mut field);
        } else if let Some(record) = records.last_mut() {
            let words = record.entry(field.clone()).or_default();
            words.push_str(line);
            words.push('\n');
        }
    }
    records
}

/// tau2's bank: documents for its staff, and customers' requests.
pub(super) fn banking(folder: &Path) -> anyhow::Result<Collection> {
    let mut documents = String::new();
    let packed =
        fs::File::open(folder.join("documents.json.gz")).context("no documents of the bank")?;
    flate2::read::GzDecoder::new(packed).read_to_string(&mut documents)?;
    let documents: Vec<Value> = serde_json::from_str(&documents)?;
    let tasks: Vec<Value> = serde_json::from_str(&fs::read_to_string(folder.join("tasks.json"))?)?;
    let text = |value: &Value| {
        value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned)
    };
    let places: HashMap<String, usize> = documents
        .iter()
        .enumerate()
        .map(|(at, document)| (text(&document["id"]), at))
        .collect();
    let questions = tasks.iter().map(|task| {
        let wanted = task["required_documents"].as_array().into_iter().flatten();
        let grades = wanted
            .filter_map(|id| Some((*places.get(id.as_str()?)?, 1.0)))
            .collect();
        Question {
            text: text(&task["user_scenario"]["instructions"]),
            grades,
        }
    });
    let questions = questions.collect();
    let document = |it: &Value| Text {
        title: text(&it["title"]),
        heading: None,
        body: text(&it["content"]),
    };
    let documents = documents.iter().map(document).collect();
    Ok(Collection {
        name: "tau2 banking",
        documents,
        questions,
    })
}
