//! `edit_file`: replaces text in a file.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    Tool, ToolFailure,
    tool::{ToolContext, ToolKind},
    workspace::Path,
};

#[derive(Deserialize, JsonSchema)]
struct Arguments {
    /// The file.
    path: String,
    /// The text to replace, exactly as in the file, without line numbers.
    #[schemars(length(min = 1))]
    old_text: String,
    /// The replacement.
    new_text: String,
    /// Replace all occurrences; otherwise there must be exactly one.
    #[serde(default)]
    replace_all: bool,
}

pub(super) fn tool() -> Result<Tool, ToolFailure> {
    Tool::new(
        "edit_file",
        "Replaces text in a text file. Include enough surrounding text to match exactly one place.",
        ToolKind::ONCE,
        edit_file,
    )
}

async fn edit_file(arguments: Arguments, context: ToolContext) -> Result<String, ToolFailure> {
    let path = Path::parse_file(&arguments.path)?;
    let (content, version) = context.workspace().read(&path).await?;
    let places = content.matches(&arguments.old_text).count();
    match places {
        0 => {
            return Err(ToolFailure(format!(
                "That text does not stand in {path}. Read the file and copy it exactly."
            )));
        }
        2.. if !arguments.replace_all => {
            return Err(ToolFailure(format!(
                "That text stands {places} times in {path}. Give more of the text around it, or set replace_all."
            )));
        }
        _ => {}
    }
    let edited = content.replace(&arguments.old_text, &arguments.new_text);
    // Another agent may have written meanwhile; its change must not be lost.
    let written = context
        .workspace()
        .replace(&path, &content, version, &edited)
        .await?;
    context.emit(written.event(&path)).await;
    let version = written.version;
    let size_bytes = written.size_bytes;
    let places = if places == 1 {
        "1 place".to_owned()
    } else {
        format!("{places} places")
    };
    Ok(format!(
        "Changed {places} in {path}, now {size_bytes} bytes, version {version}."
    ))
}
