//! Line-by-line diff of two texts, limited in time and size.

use schemars::JsonSchema;
use std::time::Duration;

use serde::Serialize;
use similar::{Algorithm, ChangeTag, DiffTag, TextDiff};

/// Maximum total number of lines in two texts; longer ones are not compared.
const LINES_LIMIT: usize = 100_000;
/// After this time, the rest is taken as changed, which is correct but not minimal.
const EFFORT: Duration = Duration::from_millis(100);
/// Number of unchanged lines shown around a change.
const CONTEXT: usize = 3;
/// Maximum number of lines in a difference.
const SHOWN_LINES_LIMIT: usize = 5_000;
/// Maximum length of a line shown, characters.
const SHOWN_CHARS_LIMIT: usize = 1_000;

/// How many lines a change added and removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LineCounts {
    /// Lines of the new text that are not in the old one.
    pub added: u64,
    /// Lines of the old text that are not in the new one.
    pub removed: u64,
}

/// The difference between two texts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Difference {
    /// Total number of lines added.
    pub added_lines: u64,
    /// Total number of lines removed.
    pub removed_lines: u64,
    /// The changed places, in order.
    pub hunks: Vec<Hunk>,
    /// Whether there is more than is shown.
    pub cut: bool,
}

/// A changed place: changed lines with a few lines around them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "DiffHunk")]
pub struct Hunk {
    /// Its lines in order.
    pub lines: Vec<Line>,
}

/// A line of a hunk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "DiffLine")]
pub struct Line {
    /// Whether it is unchanged, added or removed.
    pub kind: LineKind,
    /// Its number in the old text, from 1; absent if it is new.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old: Option<usize>,
    /// Its number in the new text, from 1; absent if it is removed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new: Option<usize>,
    /// The line without its line break.
    pub text: String,
}

/// How a line has changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "DiffLineKind")]
#[serde(rename_all = "snake_case")]
pub enum LineKind {
    /// It is in both texts.
    Same,
    /// It is only in the new text.
    Added,
    /// It is only in the old text.
    Removed,
}

/// Counts the lines that differ; `None` if the texts are too long to compare.
#[must_use]
pub fn count(old: &str, new: &str) -> Option<LineCounts> {
    // The two most frequent cases need no comparison, regardless of length.
    if old.is_empty() || new.is_empty() {
        return Some(LineCounts {
            added: lines(new) as u64,
            removed: lines(old) as u64,
        });
    }
    compare(old, new).map(|diff| counts(&diff))
}

/// The difference; `None` if the texts are too long to compare.
#[must_use]
pub fn difference(old: &str, new: &str) -> Option<Difference> {
    let diff = compare(old, new)?;
    let LineCounts { added, removed } = counts(&diff);
    let mut hunks = Vec::new();
    let mut room = SHOWN_LINES_LIMIT;
    let mut cut = false;
    for group in diff.grouped_ops(CONTEXT) {
        let changes = group.iter().flat_map(|op| diff.iter_changes(op));
        let mut shown = Vec::new();
        for change in changes {
            if room == 0 {
                cut = true;
                break;
            }
            room -= 1;
            let kind = match change.tag() {
                ChangeTag::Equal => LineKind::Same,
                ChangeTag::Insert => LineKind::Added,
                ChangeTag::Delete => LineKind::Removed,
            };
            let old = change.old_index();
            let new = change.new_index();
            let text = shown_text(change.value());
            shown.push(Line {
                kind,
                old: old.map(|at| at + 1),
                new: new.map(|at| at + 1),
                text,
            });
        }
        if !shown.is_empty() {
            hunks.push(Hunk { lines: shown });
        }
    }
    Some(Difference {
        added_lines: added,
        removed_lines: removed,
        hunks,
        cut,
    })
}

fn lines(text: &str) -> usize {
    text.lines().count()
}

fn compare<'a>(old: &'a str, new: &'a str) -> Option<TextDiff<'a, 'a, str>> {
    if lines(old) + lines(new) > LINES_LIMIT {
        return None;
    }
    Some(
        TextDiff::configure()
            .algorithm(Algorithm::Myers)
            .timeout(EFFORT)
            .diff_lines(old, new),
    )
}

fn counts(diff: &TextDiff<'_, '_, str>) -> LineCounts {
    diff.ops()
        .iter()
        .filter(|op| op.tag() != DiffTag::Equal)
        .fold(LineCounts::default(), |sum, op| {
            let added = op.new_range().len() as u64;
            let removed = op.old_range().len() as u64;
            LineCounts {
                added: sum.added + added,
                removed: sum.removed + removed,
            }
        })
}

fn shown_text(line: &str) -> String {
    let line = line.trim_end_matches(['\n', '\r']);
    match line.char_indices().nth(SHOWN_CHARS_LIMIT) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(old: &str, new: &str) -> Option<(u64, u64)> {
        count(old, new).map(|counts| (counts.added, counts.removed))
    }

    #[test]
    fn lines_are_counted() {
        for (old, new, expected) in [
            ("", "", (0, 0)),
            ("", "a\nb\n", (2, 0)),
            ("a\nb", "", (0, 2)),
            ("a\nb\nc\n", "a\nB\nc\n", (1, 1)),
            ("a\nb\n", "a\nb\nc\nd\n", (2, 0)),
            ("a\r\nb\r\n", "a\r\nb\r\n", (0, 0)),
            ("a\n", "a", (1, 1)),
        ] {
            assert_eq!(counted(old, new), Some(expected), "{old:?} {new:?}");
        }
    }

    #[test]
    fn hunks_have_lines_with_numbers() {
        let old: String = (1..=30).map(|line| format!("{line}\n")).collect();
        let new = old.replace("10\n", "ten\n").replace("29\n", "");
        let found = difference(&old, &new).unwrap();
        assert_eq!(
            (found.added_lines, found.removed_lines, found.cut),
            (1, 2, false)
        );
        let shown = |hunk: &Hunk| -> Vec<String> {
            let sign = |kind| match kind {
                LineKind::Same => ' ',
                LineKind::Added => '+',
                LineKind::Removed => '-',
            };
            let number =
                |number: Option<usize>| number.map_or(String::new(), |number| number.to_string());
            let line = |line: &Line| {
                format!(
                    "{}|{}|{}{}",
                    number(line.old),
                    number(line.new),
                    sign(line.kind),
                    line.text
                )
            };
            hunk.lines.iter().map(line).collect()
        };
        let first = [
            "7|7| 7",
            "8|8| 8",
            "9|9| 9",
            "10||-10",
            "|10|+ten",
            "11|11| 11",
            "12|12| 12",
            "13|13| 13",
        ];
        assert_eq!(shown(&found.hunks[0]), first);
        assert_eq!(
            shown(&found.hunks[1]),
            [
                "26|26| 26",
                "27|27| 27",
                "28|28| 28",
                "29||-29",
                "30|29| 30"
            ]
        );
        assert_eq!(difference("same\n", "same\n").unwrap().hunks, []);
    }

    #[test]
    fn long_values_are_bounded() {
        let old = "a\n".repeat(60_000);
        let new = "b\n".repeat(60_000);
        assert_eq!((count(&old, &new), difference(&old, &new)), (None, None));
        assert_eq!(counted("", &old), Some((60_000, 0)));
        let long = difference("", &"x\n".repeat(20_000)).unwrap();
        assert_eq!(
            (long.added_lines, long.hunks[0].lines.len(), long.cut),
            (20_000, 5_000, true)
        );
        let wide = difference("", &"я".repeat(5_000)).unwrap();
        assert_eq!(wide.hunks[0].lines[0].text.chars().count(), 1_001);
    }

    /// Texts without anything in common are the most expensive. The effort is limited, and the result still correct.
    #[test]
    fn the_effort_is_bounded() {
        let text = |first: u64| -> String {
            let next = |number: u64| {
                number
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1)
            };
            let numbers = std::iter::successors(Some(first), |number| Some(next(*number)));
            numbers
                .take(45_000)
                .map(|number| format!("{}\n", number >> 50))
                .collect()
        };
        let old = text(1);
        let new = text(2);
        let begun = std::time::Instant::now();
        let counts = count(&old, &new).unwrap();
        assert!(
            begun.elapsed() < Duration::from_secs(5),
            "{:?}",
            begun.elapsed()
        );
        // The number of unchanged lines is the same in both texts.
        assert_eq!(45_000 - counts.removed, 45_000 - counts.added);
    }
}
