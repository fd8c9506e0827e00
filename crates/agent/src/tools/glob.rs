//! `glob`: lists files whose paths match a pattern.

use globset::GlobBuilder;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    Tool, ToolFailure,
    tool::{ToolContext, ToolKind},
    workspace::{Listing, MORE_FILES, Path},
};

/// Maximum number of paths listed.
const PATHS_LIMIT: usize = 500;

#[derive(Deserialize, JsonSchema)]
struct Arguments {
    /// The pattern, relative to the folder: `*` within a name, `**` over folders, `?`, `{a,b}`, `[a-z]`.
    #[schemars(length(min = 1, max = 500))]
    pattern: String,
    /// The folder to look in; `/` by default.
    #[serde(default)]
    path: Option<String>,
}

pub(super) fn tool() -> Result<Tool, ToolFailure> {
    Tool::new(
        "glob",
        "Finds files by a glob pattern, such as `**/*.md`.",
        ToolKind::REPEATABLE,
        glob,
    )
}

async fn glob(arguments: Arguments, context: ToolContext) -> Result<String, ToolFailure> {
    let folder = Path::parse(arguments.path.as_deref().unwrap_or("/"))?;
    let pattern = arguments.pattern.trim_start_matches('/');
    let pattern = GlobBuilder::new(pattern)
        .literal_separator(true)
        .build()
        .map_err(|error| ToolFailure(format!("The pattern is not valid: {error}")))?
        .compile_matcher();
    let prefix = if folder.as_str() == "/" {
        "/".to_owned()
    } else {
        format!("{folder}/")
    };
    let Listing { files, more } = context.workspace().list().await?;
    let found: Vec<&str> = files
        .iter()
        .map(|(path, _)| path.as_str())
        .filter(|path| {
            path.strip_prefix(&prefix)
                .is_some_and(|rest| pattern.is_match(rest))
        })
        .collect();
    if found.is_empty() {
        return Ok(format!(
            "No file fits the pattern.{}",
            if more { MORE_FILES } else { "" }
        ));
    }
    let mut listed = found
        .iter()
        .take(PATHS_LIMIT)
        .copied()
        .collect::<Vec<_>>()
        .join("\n");
    if found.len() > PATHS_LIMIT {
        listed.push_str(&format!("\n… and {} more", found.len() - PATHS_LIMIT));
    }
    if more {
        listed.push_str(MORE_FILES);
    }
    Ok(listed)
}
