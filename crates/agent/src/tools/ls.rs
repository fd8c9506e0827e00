//! `ls`: lists a folder.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    Tool, ToolFailure,
    tool::{ToolContext, ToolKind},
    workspace::{Listing, MORE_FILES, Path},
};

#[derive(Deserialize, JsonSchema)]
struct Arguments {
    /// The folder; `/` by default.
    #[serde(default)]
    path: Option<String>,
}

pub(super) fn tool() -> Result<Tool, ToolFailure> {
    Tool::new(
        "ls",
        "Lists a folder: its files with sizes in bytes, and its folders.",
        ToolKind::REPEATABLE,
        ls,
    )
}

async fn ls(arguments: Arguments, context: ToolContext) -> Result<String, ToolFailure> {
    let folder = Path::parse(arguments.path.as_deref().unwrap_or("/"))?;
    let Listing { files, more } = context.workspace().list().await?;
    let prefix = if folder.as_str() == "/" {
        "/".to_owned()
    } else {
        format!("{folder}/")
    };
    // A name with a slash is a folder, whose number is its file count.
    let mut entries: BTreeMap<String, u64> = BTreeMap::new();
    for (path, size_bytes) in &files {
        let Some(rest) = path.strip_prefix(&prefix) else {
            continue;
        };
        match rest.split_once('/') {
            Some((name, _)) => *entries.entry(format!("{name}/")).or_default() += 1,
            None => drop(entries.insert(rest.to_owned(), *size_bytes)),
        }
    }
    if entries.is_empty() {
        let what = if files.is_empty() {
            "The workspace is empty."
        } else {
            "There is nothing in this folder."
        };
        return Ok(what.to_owned());
    }
    let line = |(name, figure): (&String, &u64)| match name.strip_suffix('/') {
        Some(_) => format!("{name} ({figure} files)"),
        None => format!("{name} ({figure} bytes)"),
    };
    let listed = entries.iter().map(line).collect::<Vec<_>>().join("\n");
    Ok(if more { listed + MORE_FILES } else { listed })
}
