//! `grep`: finds lines that match a regular expression.
//!
//! The cost of an expression grows with the length of a line times its own size, so both are limited, and it runs on a
//! blocking thread.

use std::time::{Duration, Instant};

use regex::{Regex, RegexBuilder};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::task::spawn_blocking;

use crate::{
    Tool, ToolFailure,
    tool::{ToolContext, ToolKind},
    workspace::{MORE_FILES, Path},
};

/// Maximum number of lines shown.
const LINES_LIMIT: usize = 500;
/// Maximum total size of the lines shown, bytes; a longer result would be stored as a file.
const SHOWN_BYTES: usize = 30_000;
/// Maximum length of a line shown, characters.
const LINE_LIMIT_CHARS: usize = 500;
/// Limits the memory of a hostile expression once compiled, and the time per byte tried.
const REGEX_LIMIT_BYTES: usize = 250_000;
/// Maximum number of bytes searched per line.
const LINE_SEARCHED_BYTES: usize = 100_000;
/// Time limit per search.
const TIME_LIMIT: Duration = Duration::from_secs(10);

#[derive(Deserialize, JsonSchema)]
struct Arguments {
    /// A regular expression (no look-around, no back-references).
    #[schemars(length(min = 1, max = 1000))]
    pattern: String,
    /// The file or folder to search; everything by default.
    #[serde(default)]
    path: Option<String>,
    /// Whether upper and lower case are the same.
    #[serde(default)]
    ignore_case: bool,
}

pub(super) fn tool() -> Result<Tool, ToolFailure> {
    Tool::new(
        "grep",
        "Searches files with a regular expression. Returns matching lines as path:line: text.",
        ToolKind::REPEATABLE,
        grep,
    )
}

async fn grep(arguments: Arguments, context: ToolContext) -> Result<String, ToolFailure> {
    let root = Path::parse(arguments.path.as_deref().unwrap_or("/"))?;
    let pattern = RegexBuilder::new(&arguments.pattern)
        .case_insensitive(arguments.ignore_case)
        .size_limit(REGEX_LIMIT_BYTES)
        .build()
        .map_err(|error| ToolFailure(format!("The expression is not valid: {error}")))?;
    let deadline = Instant::now() + TIME_LIMIT;
    let mut found = Found::default();
    let listing = context.workspace().list().await?;
    for (path, _) in listing.files {
        if !root.contains(&path) {
            continue;
        }
        // A file deleted meanwhile has no lines.
        let Ok(content) = context.workspace().peek_text(&Path::parse(&path)?).await else {
            continue;
        };
        let pattern = pattern.clone();
        let searched = spawn_blocking(move || {
            let is_whole = found.search(&path, &content, &pattern, deadline);
            (found, is_whole)
        });
        let is_whole;
        (found, is_whole) = searched
            .await
            .map_err(|_| ToolFailure("The search broke off. Try it again.".into()))?;
        if !is_whole {
            return Err(ToolFailure(
                "The search took too long. Use a simpler expression, or search fewer files with `path`."
                    .into(),
            ));
        }
    }
    let mut answer = found.shown();
    if listing.more {
        answer.push_str(MORE_FILES);
    }
    Ok(answer)
}

/// The matching lines, up to the limit.
#[derive(Default)]
struct Found {
    shown: Vec<String>,
    shown_bytes: usize,
    count: usize,
}

impl Found {
    /// Searches a file. `false` if the time runs out before its end.
    fn search(&mut self, path: &str, content: &str, pattern: &Regex, deadline: Instant) -> bool {
        for (index, line) in content.lines().enumerate() {
            if Instant::now() > deadline {
                return false;
            }
            let line = &line[..line.floor_char_boundary(LINE_SEARCHED_BYTES)];
            let Some(place) = pattern.find(line) else {
                continue;
            };
            self.count += 1;
            if self.shown.len() < LINES_LIMIT && self.shown_bytes < SHOWN_BYTES {
                let line = format!("{path}:{}: {}", index + 1, around(line, place.start()));
                self.shown_bytes += line.len() + 1;
                self.shown.push(line);
            }
        }
        true
    }

    fn shown(&self) -> String {
        let shown = self.shown.join("\n");
        match self.count - self.shown.len() {
            _ if self.count == 0 => "No line fits.".to_owned(),
            0 => shown,
            rest => format!("{shown}\n… and {rest} more lines"),
        }
    }
}

/// An excerpt of a long line, from slightly before the first match.
fn around(line: &str, place: usize) -> String {
    let begin = if line.len() <= LINE_LIMIT_CHARS {
        0
    } else {
        line.floor_char_boundary(place.saturating_sub(100))
    };
    let shown: String = line[begin..].chars().take(LINE_LIMIT_CHARS).collect();
    if begin > 0 {
        format!("…{shown}")
    } else {
        shown
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_ends_with_its_time() {
        let pattern = Regex::new("a").unwrap();
        let mut found = Found::default();
        assert!(!found.search("/a", "a\na", &pattern, Instant::now()));
        assert!(found.search("/a", "a\na", &pattern, Instant::now() + TIME_LIMIT));
        assert_eq!(found.shown(), "/a:1: a\n/a:2: a");
    }

    #[test]
    fn a_line_is_searched_up_to_the_cost_limit() {
        let pattern = Regex::new("x").unwrap();
        let mut found = Found::default();
        let line = |before: usize| format!("{}x", "é".repeat(before / 2));
        let lines = format!(
            "{}\n{}",
            line(LINE_SEARCHED_BYTES - 2),
            line(LINE_SEARCHED_BYTES)
        );
        assert!(found.search("/a", &lines, &pattern, Instant::now() + TIME_LIMIT));
        assert_eq!(found.count, 1);
    }
}
