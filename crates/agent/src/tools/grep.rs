//! `grep`: lines that fit a regular expression.

use regex::{Regex, RegexBuilder};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    Tool, ToolFailure,
    tool::{ToolContext, ToolKind},
    workspace::{MORE_FILES, Path},
};

/// Most lines shown.
const LINES_LIMIT: usize = 500;
/// Most shown of all lines, bytes: a result that is longer would go to a file again.
const SHOWN_BYTES: usize = 30_000;
/// Longest line shown, characters.
const LINE_LIMIT_CHARS: usize = 500;
/// Bounds the memory a hostile expression can take when compiled, bytes.
const REGEX_LIMIT_BYTES: usize = 1_000_000;

#[derive(Deserialize, JsonSchema)]
struct Arguments {
    /// A regular expression (no look-around, no back-references).
    #[schemars(length(min = 1, max = 1000))]
    pattern: String,
    /// The file or folder to search; everything where left out.
    #[serde(default)]
    path: Option<String>,
    /// Whether upper and lower case are the same.
    #[serde(default)]
    ignore_case: bool,
}

pub(super) fn tool() -> Result<Tool, ToolFailure> {
    Tool::new(
        "grep",
        "Finds the lines that fit a regular expression, as path:line: text.",
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
    let (mut shown, mut shown_bytes, mut found) = (Vec::new(), 0, 0_usize);
    let listing = context.workspace().list().await?;
    for (path, _) in listing.files {
        if !root.contains(&path) {
            continue;
        }
        // A file deleted meanwhile has no lines.
        let Ok(content) = context.workspace().peek_text(&Path::parse(&path)?).await else { continue };
        for (index, line) in content.lines().enumerate().filter(|(_, line)| pattern.is_match(line)) {
            found += 1;
            if shown.len() < LINES_LIMIT && shown_bytes < SHOWN_BYTES {
                let line = format!("{path}:{}: {}", index + 1, around(line, &pattern));
                shown_bytes += line.len() + 1;
                shown.push(line);
            }
        }
    }
    let mut answer = match found {
        0 => "No line fits.".to_owned(),
        found if found > shown.len() => {
            let rest = found - shown.len();
            format!("{}\n… and {rest} more lines", shown.join("\n"))
        }
        _ => shown.join("\n"),
    };
    if listing.more {
        answer.push_str(MORE_FILES);
    }
    Ok(answer)
}

/// A long line from a little before the first place that fits.
fn around(line: &str, pattern: &Regex) -> String {
    let place = pattern.find(line).map_or(0, |found| found.start());
    let begin =
        if line.len() <= LINE_LIMIT_CHARS { 0 } else { line.floor_char_boundary(place.saturating_sub(100)) };
    let shown: String = line[begin..].chars().take(LINE_LIMIT_CHARS).collect();
    if begin > 0 { format!("…{shown}") } else { shown }
}
