//! Rules for a user's message: whether it is valid, and the chat title made from it.

use domain::Part;

use crate::{error::ApiError, messages};

/// Maximum length of a title made from a first message, characters.
const TITLE_LIMIT_CHARS: usize = 60;
/// Maximum number of parts of one message.
const PARTS_LIMIT: usize = 50;

/// Rejects a message without content, or with images from URLs that the server would have to fetch.
pub fn check_content(content: &[Part]) -> Result<(), ApiError> {
    if content.len() > PARTS_LIMIT {
        return Err(ApiError::invalid(messages::Chats::TooManyParts {
            count: PARTS_LIMIT as u64,
        }));
    }
    if !content
        .iter()
        .any(|part| part.speaks() || part.name().is_some())
    {
        return Err(ApiError::invalid(messages::Chats::EmptyMessage));
    }
    if content.iter().any(Part::is_foreign) {
        return Err(ApiError::invalid(messages::Chats::ForeignPicture));
    }
    Ok(())
}

/// The first words of a message as a chat title.
pub(super) fn title_of(content: &[Part]) -> String {
    let text = domain::message::plain_text(content);
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let words = match content.iter().find_map(Part::name) {
        Some(name) if words.is_empty() => name.to_owned(),
        _ => words,
    };
    if words.is_empty() {
        let icon = |part: &Part| match part {
            Part::Audio { .. } => Some("🔊"),
            Part::Video { .. } => Some("🎞"),
            Part::File { .. } => Some("📄"),
            _ => None,
        };
        return content.iter().find_map(icon).unwrap_or("🖼").to_owned();
    }
    if words.chars().count() <= TITLE_LIMIT_CHARS {
        return words;
    }
    let cut: String = words.chars().take(TITLE_LIMIT_CHARS).collect();
    let cut = cut
        .rsplit_once(' ')
        .map_or(cut.as_str(), |(whole, _)| whole);
    format!("{cut}…")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Vec<Part> {
        vec![Part::Text { text: text.into() }]
    }

    #[test]
    fn titles_are_first_words() {
        assert_eq!(title_of(&text("  Hello\n there ")), "Hello there");
        let long = "word ".repeat(40);
        assert!(
            title_of(&text(&long)).ends_with("word…")
                && title_of(&text(&long)).chars().count() <= 61
        );
    }

    #[test]
    fn empty_messages_and_foreign_pictures_are_refused() {
        assert!(check_content(&text(" \n")).is_err());
        assert!(check_content(&[]).is_err());
        assert!(
            check_content(&[Part::Image {
                url: "https://example.org/a.png".into()
            }])
            .is_err()
        );
        assert!(
            check_content(&[Part::Image {
                url: "data:image/png;base64,AAAA".into()
            }])
            .is_ok()
        );
        assert!(
            check_content(&[Part::Audio {
                url: "https://example.org/a.mp3".into()
            }])
            .is_err()
        );
        assert!(
            check_content(&[Part::Audio {
                url: "data:text/html;base64,AAAA".into()
            }])
            .is_err()
        );
        assert!(
            check_content(&[Part::Video {
                url: "data:video/mp4;base64,AAAA".into()
            }])
            .is_ok()
        );
    }
}
