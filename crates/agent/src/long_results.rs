//! Tool results too long for the model's context: the full result is stored as a file of the chat, and the model gets
//! both ends.

use crate::{
    messages,
    turns::AgentContext,
    workspace::{BYTES_LIMIT, FileProblem, Path},
};

/// Maximum length of a result passed in full, bytes: about 8,000 tokens.
const WHOLE_BYTES: usize = 32_000;
/// The part shown of a longer result, bytes; three quarters come from its beginning.
const SHOWN_BYTES: usize = 8_000;
/// Maximum length of the note between the two ends, bytes.
const NOTE_BYTES: usize = 300;
/// Maximum number of file names to try.
const MAX_NAMES: usize = 1_000;

/// A result in the form that is logged.
#[derive(Debug)]
pub(crate) struct Shortened {
    pub(crate) text: String,
    /// The file with the full result.
    pub(crate) file: Option<String>,
}

/// Stores a result in a file of the chat if it is long, or longer than the `limit_bytes` that the model reads of it. If
/// that fails, the result is returned unchanged.
pub(crate) async fn shorten(
    agent: &AgentContext,
    tool: &str,
    text: String,
    limit_bytes: usize,
) -> Shortened {
    if text.len() <= WHOLE_BYTES.min(limit_bytes) || text.len() > BYTES_LIMIT {
        return Shortened { text, file: None };
    }
    match keep(agent, tool, &text).await {
        Ok(path) => {
            let shown = SHOWN_BYTES.min(limit_bytes.saturating_sub(NOTE_BYTES));
            Shortened {
                text: both_ends(&text, shown, &path),
                file: Some(path.to_string()),
            }
        }
        Err(problem) => {
            tracing::debug!(%problem, "failed to store a long result as a file");
            Shortened { text, file: None }
        }
    }
}

/// Writes the file under an unused name and emits the change.
async fn keep(agent: &AgentContext, tool: &str, text: &str) -> Result<Path, FileProblem> {
    let workspace = &agent.run.deps.workspace;
    let stem: String = tool
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .take(40)
        .collect();
    let taken = workspace.list().await?.files;
    let folder = workspace.results_folder();
    let is_free = |path: &String| !taken.iter().any(|(name, _)| name == path);
    for path in (1..=MAX_NAMES)
        .map(|number| format!("{folder}/{stem}-{number}.txt"))
        .filter(is_free)
    {
        let path = Path::parse_file(&path)?;
        match workspace.write_bytes(&path, text.as_bytes(), Some(0)).await {
            Ok(written) => {
                agent.emitter.emit(written.event(&path)).await;
                return Ok(path);
            }
            // A concurrent call has just taken the name, or a file of that name was deleted.
            Err(FileProblem::Conflict(_)) => {}
            Err(problem) => return Err(problem),
        }
    }
    Err(FileProblem::TooLarge(
        messages::Files::TooManyResults.into(),
    ))
}

fn both_ends(text: &str, shown_bytes: usize, path: &Path) -> String {
    let head = &text[..text.floor_char_boundary(shown_bytes / 4 * 3)];
    let tail = &text[text.ceil_char_boundary(text.len() - shown_bytes / 4)..];
    let bytes = text.len();
    let lines = text.lines().count();
    format!(
        "{head}\n\n… The whole result has {bytes} bytes in {lines} lines and is in {path}: search it with grep, or read \
         parts of it with read_file. Its end:\n\n{tail}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ends_are_whole_characters() {
        let text = "ё".repeat(20_000);
        let shown = both_ends(
            &text,
            SHOWN_BYTES,
            &Path::parse_file("/results/a-1.txt").unwrap(),
        );
        assert!(shown.len() < 8_500, "{}", shown.len());
        assert!(
            shown.contains("40000 bytes in 1 lines and is in /results/a-1.txt"),
            "{shown}"
        );
    }
}
