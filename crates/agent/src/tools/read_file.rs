//! `read_file`: reads a file's lines with their numbers.

use domain::event::ToolFile;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    Tool, ToolFailure,
    tool::{ToolContext, ToolKind},
    workspace::{Path, picture_type, seems_picture},
};

/// Maximum size of one result, bytes; a longer one would be stored as a file.
const SHOWN_BYTES: usize = 30_000;

#[derive(Deserialize, JsonSchema)]
struct Arguments {
    /// The file.
    path: String,
    /// The first line to show, from 1; 1 by default.
    #[serde(default)]
    #[schemars(range(min = 1))]
    first_line: Option<u64>,
    /// How many lines to show; 2000 by default.
    #[serde(default)]
    #[schemars(range(min = 1, max = 10000))]
    lines: Option<u64>,
}

pub(super) fn tool() -> Result<Tool, ToolFailure> {
    Tool::new(
        "read_file",
        "Reads a text file. Each line comes with its number and a tab before it; these are not part of the file. Of a \
         PNG, JPEG, GIF or WebP picture you see the picture itself, if you can see pictures.",
        ToolKind::REPEATABLE,
        read_file,
    )
}

async fn read_file(arguments: Arguments, context: ToolContext) -> Result<String, ToolFailure> {
    let path = Path::parse_file(&arguments.path)?;
    if seems_picture(path.as_str())
        && let Some(shown) = show_picture(&path, &context).await?
    {
        return Ok(shown);
    }
    let content = context.workspace().peek_text(&path).await?;
    let first = usize::try_from(arguments.first_line.unwrap_or(1))
        .unwrap_or(usize::MAX)
        .max(1);
    let limit = usize::try_from(arguments.lines.unwrap_or(2000)).unwrap_or(usize::MAX);
    let total = content.lines().count();
    if total == 0 {
        return Ok("The file is empty.".to_owned());
    }
    if first > total {
        return Err(ToolFailure(format!(
            "{path} has {total} lines, so there is no line {first}."
        )));
    }
    let mut shown = String::new();
    let mut last = first - 1;
    for line in content.lines().skip(first - 1).take(limit) {
        if !shown.is_empty() && shown.len() + line.len() > SHOWN_BYTES {
            break;
        }
        last += 1;
        let end = line.floor_char_boundary(SHOWN_BYTES);
        shown.push_str(&format!("{last}\t{}\n", &line[..end]));
        if end < line.len() {
            shown.push_str(&format!(
                "… {} more bytes in this line; search it with grep\n",
                line.len() - end
            ));
        }
    }
    if last < total {
        shown.push_str(&format!(
            "… {} more lines; read on with first_line {}",
            total - last,
            last + 1
        ));
    }
    Ok(shown)
}

/// Shows a picture to the model; `None` if the file is not one.
async fn show_picture(path: &Path, context: &ToolContext) -> Result<Option<String>, ToolFailure> {
    let (bytes, version) = context.workspace().read_bytes(path).await?;
    let Some(media_type) = picture_type(&bytes) else {
        return Ok(None);
    };
    let size_bytes = bytes.len() as u64;
    context.attach(ToolFile {
        path: path.to_string(),
        version,
        media_type: media_type.to_owned(),
        size_bytes,
        for_model: true,
        embed: false,
        url: None,
        content: None,
    });
    Ok(Some(format!(
        "[Picture: {path}, {media_type}, {size_bytes} bytes]"
    )))
}
