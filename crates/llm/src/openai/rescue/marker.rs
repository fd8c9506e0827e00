//! What calls in a text begin with.

use super::super::{code_tag::CODE_TAG, json_scan::CALL_LIST};

const FENCE: &str = "```";
const TAG: &str = "<tool_call>";
const TAG_END: &str = "</tool_call>";

/// More space after a brace is no list of calls, bytes.
const MOST_SPACE_BYTES: usize = 64;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Marker {
    Fence,
    Tag,
    /// A tag around code.
    Code,
    /// None: JSON at the beginning of a line, or a list of calls.
    Line {
        is_list: bool,
    },
}

impl Marker {
    pub(super) fn text(self) -> &'static str {
        match self {
            Self::Fence => FENCE,
            Self::Tag => TAG,
            Self::Code => CODE_TAG,
            Self::Line { .. } => "",
        }
    }

    pub(super) fn end(self) -> &'static str {
        match self {
            Self::Fence => FENCE,
            Self::Tag => TAG_END,
            Self::Code | Self::Line { .. } => "",
        }
    }

    /// Whether a text begins with it, or may do so.
    pub(super) fn at(self, text: &str) -> Option<Sight> {
        if text.starts_with(self.text()) {
            Some(Sight::Marker(self))
        } else {
            self.text().starts_with(text).then_some(Sight::Perhaps)
        }
    }
}

/// What stands at a place of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sight {
    Marker(Marker),
    /// The text ends with what may become one.
    Perhaps,
}

/// Whether an object with a list of calls stands at the beginning of the text, or may stand there.
pub(super) fn list_at(text: &str) -> Option<Sight> {
    let inside = text[1..].trim_start();
    let space = text.len() - 1 - inside.len();
    let key = inside.strip_prefix('"').unwrap_or(inside);
    let is_begun = inside.is_empty() || key.len() < inside.len();
    if space > MOST_SPACE_BYTES || !is_begun {
        return None;
    }
    match key.starts_with(CALL_LIST) {
        true => Some(Sight::Marker(Marker::Line { is_list: true })),
        false => CALL_LIST.starts_with(key).then_some(Sight::Perhaps),
    }
}
