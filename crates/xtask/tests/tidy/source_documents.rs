//! Every requirement of the source documents has a test that is there.

use std::collections::BTreeSet;

use crate::{
    expect_none,
    repository::{File, files_named, is_there, read},
};

const TABLE: &str = "docs/source-documents.md";

#[test]
fn every_requirement_has_its_tests() {
    let table = read(TABLE);
    let rows = rows(&table);
    assert!(
        rows.len() > 170,
        "only {} rows were read: has their form changed?",
        rows.len()
    );
    expect_none(rows.iter().flat_map(|row| faults(row, &text_at)).collect());
}

fn text_at(path: &str) -> Option<String> {
    is_there(path.as_ref()).then(|| read(path))
}

/// A test that is named after a document is the one of a requirement.
#[test]
fn every_test_of_a_document_is_in_the_table() {
    let table = read(TABLE);
    let rows = rows(&table);
    let listed: BTreeSet<&str> = rows
        .iter()
        .flat_map(|row| row.tests.iter().map(|test| test.name))
        .collect();
    let tests = files_named(&[".rs", ".mjs", ".ts", ".py"])
        .into_iter()
        .flat_map(|file| of_documents(&file));
    let unlisted = tests.filter(|(_, name)| !listed.contains(name.as_str()));
    expect_none(
        unlisted
            .map(|(path, name)| format!("{path}: put {name} into a row of {TABLE}"))
            .collect(),
    );
}

#[derive(Debug, PartialEq)]
struct Row<'a> {
    requirement: &'a str,
    tests: Vec<Test<'a>>,
}

#[derive(Debug, PartialEq)]
struct Test<'a> {
    name: &'a str,
    path: &'a str,
}

/// The rows of the documents' tables: what stands in three columns, below the heading of one.
fn rows(text: &str) -> Vec<Row<'_>> {
    let documents = text
        .split_once("\n## 000")
        .map_or("", |(_, documents)| documents);
    let cells = documents
        .lines()
        .filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |"));
    let cells = cells.map(|line| line.split(" | ").collect::<Vec<_>>());
    cells
        .filter(|cells| cells[0] != "requirement" && cells[0] != "---")
        .map(|cells| Row {
            requirement: cells[0],
            tests: cells.get(2).map_or_else(Vec::new, |cell| tests(cell)),
        })
        .collect()
}

/// ``[`name`](../path)`` for each test.
fn tests(cell: &str) -> Vec<Test<'_>> {
    let links = cell.split("[`").skip(1);
    let links = links.filter_map(|link| link.split_once("`](../"));
    links
        .filter_map(|(name, rest)| {
            Some(Test {
                name,
                path: rest.split_once(')')?.0,
            })
        })
        .collect()
}

fn faults(row: &Row<'_>, text_at: &impl Fn(&str) -> Option<String>) -> Vec<String> {
    let requirement = row.requirement;
    if row.tests.is_empty() {
        return vec![format!(
            "{TABLE}: “{requirement}” has no test: write one, or link the one that asserts it"
        )];
    }
    let missing = row.tests.iter().filter(|test| {
        let text = text_at(test.path);
        !text.is_some_and(|text| names(test.path, &text).any(|name| name == test.name))
    });
    missing
        .map(|Test { name, path }| {
            format!("{TABLE}: “{requirement}”: there is no test {name} in {path}")
        })
        .collect()
}

/// The tests that a file has.
pub(crate) fn names<'a>(path: &str, text: &'a str) -> Box<dyn Iterator<Item = &'a str> + 'a> {
    match path.rsplit_once('.').map(|(_, ending)| ending) {
        Some("rs") => Box::new(rust_names(text)),
        Some("py") => Box::new(python_names(text)),
        _ => Box::new(titles(text)),
    }
}

/// The functions behind `#[test]` or `#[tokio::test]`.
fn rust_names(text: &str) -> impl Iterator<Item = &str> {
    let mut is_test = false;
    text.lines().map(str::trim).filter_map(move |line| {
        if line.starts_with("#[") || line.starts_with("//") {
            is_test |= line.starts_with("#[test]") || line.starts_with("#[tokio::test");
            return None;
        }
        let was_test = std::mem::take(&mut is_test);
        let name = line
            .strip_prefix("async ")
            .unwrap_or(line)
            .strip_prefix("fn ")?
            .split('(')
            .next()?;
        was_test.then_some(name)
    })
}

/// The methods that unittest finds.
fn python_names(text: &str) -> impl Iterator<Item = &str> {
    let methods = text.lines().map(str::trim).filter_map(|line| {
        line.strip_prefix("async ")
            .unwrap_or(line)
            .strip_prefix("def ")?
            .split('(')
            .next()
    });
    methods.filter(|name| name.starts_with("test_"))
}

/// The titles of `test("…", …)`.
fn titles(text: &str) -> impl Iterator<Item = &str> {
    text.split("test(\"")
        .skip(1)
        .filter_map(|rest| rest.split('"').next())
}

/// The tests of a file that are named after a document, each with the file's path.
fn of_documents(file: &File) -> Vec<(String, String)> {
    let is_named = |name: &&str| {
        let name = name.strip_prefix("test_").unwrap_or(name);
        let number = name
            .strip_prefix("document")
            .and_then(|rest| rest.get(1..4));
        number.is_some_and(|number| number.starts_with("00"))
    };
    let found = names(&file.path, &file.text).filter(is_named);
    found
        .map(|name| (file.path.clone(), name.to_owned()))
        .collect()
}

#[test]
fn rows_and_their_faults_are_seen() {
    let text = "| document | what |\n| --- | --- |\n| 000 | x |\n\n## 000: Events\n\n| requirement | Glasshouse | test |\n\
                | --- | --- | --- |\n| one | yes | [`a_b`](../x.rs)<br>[`it: is`](../y.mjs) |\n| two | no | later |\n";
    let rows = rows(text);
    let tests = vec![
        Test {
            name: "a_b",
            path: "x.rs",
        },
        Test {
            name: "it: is",
            path: "y.mjs",
        },
    ];
    assert_eq!(
        rows,
        [
            Row {
                requirement: "one",
                tests
            },
            Row {
                requirement: "two",
                tests: vec![]
            }
        ]
    );
    let text_at = |path: &str| (path == "x.rs").then(|| "#[test]\nfn a_b() {}".to_owned());
    assert_eq!(
        faults(&rows[0], &text_at),
        [format!("{TABLE}: “one”: there is no test it: is in y.mjs")]
    );
    assert_eq!(faults(&rows[1], &text_at).len(), 1);
}

#[test]
fn tests_are_read() {
    let of = |path: &str, text| names(path, text).map(str::to_owned).collect::<Vec<_>>();
    let rust = "#[test]\n#[expect(x)]\nfn a() {}\nfn b() {}\n/// Words.\n#[tokio::test]\nasync fn c() {}\n#[cfg(unix)]\nfn d() {}";
    assert_eq!(of("x.rs", rust), ["a", "c"]);
    assert_eq!(
        of("x.py", "    async def test_a(self):\n    def b(self):"),
        ["test_a"]
    );
    assert_eq!(
        of(
            "x.mjs",
            "test(\"a, b\", async () => {\n  await test(\"c\", x)"
        ),
        ["a, b", "c"]
    );
    let file = File {
        path: "x.py".into(),
        text: "def test_document_003_a(self):\ndef test_b(self):".into(),
    };
    assert_eq!(
        of_documents(&file),
        [("x.py".to_owned(), "test_document_003_a".to_owned())]
    );
    let file = File {
        path: "x.mjs".into(),
        text: "test(\"document 000: it\", f)".into(),
    };
    assert_eq!(
        of_documents(&file),
        [("x.mjs".to_owned(), "document 000: it".to_owned())]
    );
}
