//! The markers at the beginning of calls in text.

use super::super::{code_tag::CODE_TAG, json_scan::CALL_LIST};

const FENCE: &str = "```";
const TAG: &str = "<tool_call>";
const TAG_END: &str = "</tool_call>";

/// Maximum space after the brace of a list of calls, bytes.
const MAX_SPACE_BYTES: usize = 64;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Marker {
    Fence,
    Tag,
    /// A tag around code.
    Code,
    /// No marker: JSON at the beginning of a line, or a list of calls.
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

    /// Whether a text begins with it, or may do so once more text has come.
    pub(super) fn at(self, text: &str) -> Option<MarkerMatch> {
        if text.starts_with(self.text()) {
            Some(MarkerMatch::Marker(self))
        } else {
            self.text()
                .starts_with(text)
                .then_some(MarkerMatch::Perhaps)
        }
    }
}

/// A marker at a place of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MarkerMatch {
    Marker(Marker),
    /// The text ends with a possible beginning of one.
    Perhaps,
}

/// Whether an object with a list of calls is at the beginning of the text, or may be once more text has come.
pub(super) fn list_at(text: &str) -> Option<MarkerMatch> {
    let inside = text[1..].trim_start();
    let space = text.len() - 1 - inside.len();
    let key = inside.strip_prefix('"').unwrap_or(inside);
    let is_begun = inside.is_empty() || key.len() < inside.len();
    if space > MAX_SPACE_BYTES || !is_begun {
        return None;
    }
    match key.starts_with(CALL_LIST) {
        true => Some(MarkerMatch::Marker(Marker::Line { is_list: true })),
        false => CALL_LIST.starts_with(key).then_some(MarkerMatch::Perhaps),
    }
}
