//! Perl's manual as a held-out collection, on which nothing was tuned: the questions of its FAQ, each answered by the
//! section below it. The questions are removed from the text, so only the rest of the section can match.

use std::{collections::HashMap, fs, path::Path};

use anyhow::Context;

use super::collections::{Collection, Question, Text};

/// Pages that only repeat others, or consist of tables.
const LEFT_OUT: [&str; 5] = [
    "perltoc",
    "perlfaq",
    "perluniprops",
    "perlapi",
    "perlintern",
];
/// Minimum length of a section; shorter ones contain next to nothing.
const MIN_CHARS: usize = 40;
/// Minimum number of words of a heading to be a realistic question.
const FEWEST_WORDS: usize = 4;

/// Reads the pages of a folder.
pub(super) fn manual(folder: &Path) -> anyhow::Result<Collection> {
    let mut pages = Vec::new();
    for entry in
        fs::read_dir(folder).with_context(|| format!("no manual in {}", folder.display()))?
    {
        let path = entry?.path();
        let name = path
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let is_page = path.extension().is_some_and(|extension| extension == "pod");
        if is_page && !LEFT_OUT.contains(&name.as_str()) && !name.ends_with("delta") {
            pages.push((name, path));
        }
    }
    pages.sort();
    let mut documents = Vec::new();
    let mut questions = Vec::new();
    for (name, path) in pages {
        let text = String::from_utf8_lossy(&fs::read(path)?).into_owned();
        let mut title = name.clone();
        for Section {
            above,
            heading,
            body,
        } in sections(&text)
        {
            if heading == "NAME" {
                title = body;
                continue;
            }
            if body.chars().count() < MIN_CHARS {
                continue;
            }
            let is_question =
                heading.ends_with('?') && heading.split_whitespace().count() >= FEWEST_WORDS;
            if name.starts_with("perlfaq") && is_question {
                questions.push(Question {
                    text: heading,
                    grades: HashMap::from([(documents.len(), 1.0)]),
                });
            }
            documents.push(Text {
                title: title.clone(),
                heading: above,
                body,
            });
        }
    }
    Ok(Collection {
        name: "Perl FAQ, unseen",
        documents,
        questions,
    })
}

/// The text below a heading of the first or second level.
struct Section {
    /// The enclosing heading of the first level.
    above: Option<String>,
    heading: String,
    body: String,
}

fn sections(text: &str) -> Vec<Section> {
    let mut sections: Vec<Section> = Vec::new();
    let mut first = None;
    // Lines of white space also separate paragraphs.
    let lines: Vec<&str> = text.lines().collect();
    for lines in lines.split(|line| line.trim().is_empty()) {
        let paragraph = &lines.join("\n");
        let words = match paragraph.strip_prefix('=') {
            None => plain(paragraph),
            Some(command) => {
                let (name, rest) = command
                    .split_once(char::is_whitespace)
                    .unwrap_or((command, ""));
                let words = plain(&rest.split_whitespace().collect::<Vec<_>>().join(" "));
                // Index marks may follow, which are not shown.
                let words = words.trim().to_owned();
                match name {
                    "head1" => {
                        first = Some(words.clone());
                        sections.push(Section {
                            above: None,
                            heading: words,
                            body: String::new(),
                        });
                        continue;
                    }
                    "head2" => {
                        sections.push(Section {
                            above: first.clone(),
                            heading: words,
                            body: String::new(),
                        });
                        continue;
                    }
                    "head3" | "head4" | "item" => words,
                    _ => continue,
                }
            }
        };
        if let Some(section) = sections.last_mut().filter(|_| !words.trim().is_empty()) {
            if !section.body.is_empty() {
                section.body.push_str("\n\n");
            }
            section.body.push_str(&words);
        }
    }
    sections
}

/// A text without markup such as `C<print>`, `L<text|page>` and `E<lt>`.
fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    // For each open mark: the number of brackets that close it, its kind, and the start of its text.
    let mut open: Vec<(usize, char, usize)> = Vec::new();
    let mut rest = text;
    while let Some(next) = rest.chars().next() {
        let brackets = rest
            .get(next.len_utf8()..)
            .unwrap_or("")
            .bytes()
            .take_while(|it| *it == b'<')
            .count();
        if next.is_ascii_uppercase()
            && brackets > 0
            && !plain.ends_with(|it: char| it.is_ascii_alphanumeric())
        {
            open.push((brackets, next, plain.len()));
            rest = &rest[1 + brackets..];
            continue;
        }
        let closes = |(count, ..): &mut (usize, char, usize)| rest.starts_with(&">".repeat(*count));
        if let Some((count, mark, start)) = open.pop_if(closes) {
            let inner = plain.split_off(start);
            let shown = match mark {
                'E' if inner == "lt" => "<",
                'E' if inner == "gt" => ">",
                'L' => inner
                    .split_once('|')
                    .map_or(inner.as_str(), |(shown, _)| shown),
                'X' | 'Z' => "",
                _ => inner.trim(),
            };
            plain.push_str(shown);
            rest = &rest[count..];
            continue;
        }
        plain.push(next);
        rest = &rest[next.len_utf8()..];
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_sections_without_marks() {
        let text = "=head1 Strings\n\n=head2 How do I use C<print E<lt>> well?\nX<print>\n\nSee L<the manual|perlfunc> and\n \t\n\
                    =item C<< a > b >>\n\n    code <here>\n\n=cut\n";
        let found: Vec<_> = sections(text)
            .into_iter()
            .map(|it| (it.above, it.heading, it.body))
            .collect();
        let heading = "How do I use print < well?".to_owned();
        let body = "See the manual and\n\na > b\n\n    code <here>".to_owned();
        let expected = [
            (None, "Strings".into(), String::new()),
            (Some("Strings".to_owned()), heading, body),
        ];
        assert_eq!(found, expected);
    }
}
