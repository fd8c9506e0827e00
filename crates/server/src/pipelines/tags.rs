//! Normalizes the tags of chats.

use crate::{error::ApiError, pipelines::Pipelines};
use domain::ChatId;

/// Maximum number of tags per chat.
pub(crate) const MAX_TAGS: usize = 8;
/// Maximum length of a tag, characters; longer ones are cut.
const TAG_CHARS: usize = 40;

/// Tags in lower case with single spaces, without duplicates or empty ones: “#Rust, Web  search” gives `rust` and `web
/// search`.
pub(crate) fn normal_tags<'a>(tags: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let mut normal: Vec<String> = Vec::new();
    for tag in tags.into_iter().flat_map(|tag| tag.split([',', '\n'])) {
        let words =
            tag.split(|char: char| char.is_whitespace() || char.is_control() || char == '\u{fffd}');
        let tag = words
            .filter(|word| !word.is_empty())
            .collect::<Vec<_>>()
            .join(" ")
            .to_lowercase();
        let tag: String = tag
            .trim_start_matches('#')
            .trim()
            .chars()
            .take(TAG_CHARS)
            .collect();
        let tag = tag.trim_end().to_owned();
        if !tag.is_empty() && !normal.contains(&tag) {
            normal.push(tag);
        }
    }
    normal
}

/// The first [`MAX_TAGS`] of them, normalized.
pub(crate) fn few_tags(tags: &[String]) -> Vec<String> {
    let mut tags = normal_tags(tags.iter().map(String::as_str));
    tags.truncate(MAX_TAGS);
    tags
}

impl Pipelines {
    /// Sets the generated tags of a chat, the first few of them, unless its owner has chosen some. Returns whether they
    /// were set.
    ///
    /// # Errors
    /// Database errors.
    pub async fn tag_chat(&self, chat: ChatId, tags: &[String]) -> Result<bool, ApiError> {
        Ok(self.store.set_generated_tags(chat, &few_tags(tags)).await?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(tags: &[&str], expected: &[&str]) {
        assert_eq!(normal_tags(tags.iter().copied()), expected, "{tags:?}");
    }

    #[test]
    fn tags_have_one_form() {
        check(
            &["#Rust", " rust ", "Web \t Search"],
            &["rust", "web search"],
        );
        check(&["Ёлки, ПАЛКИ", "", " # "], &["ёлки", "палки"]);
        check(&["知識", "a\0b\nc"], &["知識", "a b", "c"]);
        check(&[&"ы".repeat(100)], &[&"ы".repeat(TAG_CHARS)]);
    }
}
