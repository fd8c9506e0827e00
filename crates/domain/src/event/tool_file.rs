//! A file that a tool call produced, as events tell of it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One state of a file of the chat that a tool call produced: a picture, a sound, a document, or HTML to show.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ToolFile {
    /// Absolute path in the workspace.
    pub path: String,
    /// The file's version.
    #[cfg_attr(feature = "typescript", ts(type = "number"))]
    pub version: u64,
    /// The media type detected from its bytes, such as `image/png`; never the declared one.
    pub media_type: String,
    /// Size, bytes.
    #[cfg_attr(feature = "typescript", ts(type = "number"))]
    pub size_bytes: u64,
    /// Whether the model gets the content too, if it accepts this kind.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[cfg_attr(feature = "typescript", ts(optional, as = "Option<bool>"))]
    pub for_model: bool,
    /// Whether it is HTML that the tool wants shown in a frame.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[cfg_attr(feature = "typescript", ts(optional, as = "Option<bool>"))]
    pub embed: bool,
    /// An address at which a reader outside can fetch it. Filled in for each reader, never stored.
    #[serde(skip)]
    pub url: Option<String>,
    /// The content: a `data:` URL of a picture, the text of HTML. Filled in for readers that need it, never stored.
    #[serde(skip)]
    pub content: Option<String>,
}

impl ToolFile {
    /// Whether it is a picture.
    #[must_use]
    pub fn is_picture(&self) -> bool {
        self.media_type.starts_with("image/")
    }

    /// The file's name without its folders.
    #[must_use]
    pub fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(&self.path)
    }
}
