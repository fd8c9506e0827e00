//! Replaces media by notes for models whose servers have refused that kind.

use std::{
    borrow::Cow,
    sync::atomic::{AtomicBool, Ordering::Relaxed},
};

use domain::{Message, Part};
use provider::file_in_words;
use reqwest::StatusCode;

/// Kinds of media.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Kinds {
    pictures: bool,
    sounds: bool,
    films: bool,
    files: bool,
}

/// The kinds that the servers of a model have refused.
#[derive(Debug, Default)]
pub(crate) struct Refused {
    pictures: AtomicBool,
    sounds: AtomicBool,
    films: AtomicBool,
    files: AtomicBool,
}

impl Refused {
    pub(super) fn kinds(&self) -> Kinds {
        Kinds {
            pictures: self.pictures.load(Relaxed),
            sounds: self.sounds.load(Relaxed),
            films: self.films.load(Relaxed),
            files: self.files.load(Relaxed),
        }
    }

    pub(super) fn note(&self, kinds: Kinds) {
        self.pictures.fetch_or(kinds.pictures, Relaxed);
        self.sounds.fetch_or(kinds.sounds, Relaxed);
        self.films.fetch_or(kinds.films, Relaxed);
        self.files.fetch_or(kinds.files, Relaxed);
    }
}

impl Kinds {
    /// The kinds in a conversation.
    pub(super) fn of(messages: &[Message]) -> Self {
        let mut kinds = Self::default();
        for part in messages.iter().flat_map(|message| &message.content) {
            let is_file = part.as_file().is_some();
            kinds.files |= is_file;
            kinds.pictures |= !is_file && matches!(part, Part::Image { .. });
            kinds.sounds |= matches!(part, Part::Audio { .. });
            kinds.films |= matches!(part, Part::Video { .. });
        }
        kinds
    }

    pub(super) fn any(self) -> bool {
        self.pictures || self.sounds || self.films || self.files
    }

    pub(super) fn and(self, other: Self) -> Self {
        Self {
            pictures: self.pictures && other.pictures,
            sounds: self.sounds && other.sounds,
            films: self.films && other.films,
            files: self.files && other.files,
        }
    }

    pub(super) fn but(self, other: Self) -> Self {
        Self {
            pictures: self.pictures && !other.pictures,
            sounds: self.sounds && !other.sounds,
            films: self.films && !other.films,
            files: self.files && !other.files,
        }
    }

    /// The note that replaces a part of one of these kinds.
    fn replacement_for(self, part: &Part) -> Option<Cow<'static, str>> {
        if let Some(file) = part.as_file() {
            return self.files.then(|| Cow::Owned(file_in_words(file)));
        }
        let note = match part {
            Part::Image { .. } if self.pictures => {
                Some("[A picture was left out: this model takes none.]")
            }
            Part::Audio { .. } if self.sounds => {
                Some("[A sound was left out: this model takes none.]")
            }
            Part::Video { .. } if self.films => {
                Some("[A film was left out: this model takes none.]")
            }
            _ => None,
        };
        note.map(Cow::Borrowed)
    }
}

/// The conversation with notes in place of these kinds.
pub(super) fn without(messages: &[Message], kinds: Kinds) -> Vec<Message> {
    let rest = |part: &Part| match kinds.replacement_for(part) {
        Some(note) => Part::Text {
            text: note.into_owned(),
        },
        None => part.clone(),
    };
    let message = |message: &Message| Message {
        role: message.role,
        content: message.content.iter().map(rest).collect(),
        tool_calls: message.tool_calls.clone(),
        tool_call_id: message.tool_call_id.clone(),
        is_error: message.is_error,
        provenance: message.provenance.clone(),
    };
    messages.iter().map(message).collect()
}

/// The kinds that a server refuses in general, and not one invalid medium; `None` if it is another error.
pub(super) fn refused(status: StatusCode, words: &str) -> Option<Kinds> {
    const REFUSALS: [&str; 14] = [
        "not support",
        "unsupported",
        "no endpoints found that support",
        "only supported by",
        "is not a multimodal",
        "at most 0",
        "unknown variant",
        "not enabled",
        "must be a string",
        "does not accept",
        "doesn't support",
        "invalid content type",
        "after role 'tool'",
        "mmproj",
    ];
    let words = words.to_lowercase();
    let may_mean_it = matches!(status.as_u16(), 400 | 404 | 415 | 422 | 500 | 501);
    let names = |names: &[&str]| names.iter().any(|name| words.contains(name));
    let kinds = Kinds {
        pictures: names(&["image", "vision", "picture", "mmproj"]),
        sounds: names(&["audio"]),
        films: names(&["video"]),
        files: names(&["`file`", "'file'", "\"file\"", "file input", "pdf"]),
    };
    let unclear = names(&[
        "multimodal",
        "multi-modal",
        "content must be a string",
        "after role 'tool'",
    ]);
    // An image of an unknown format may come with a known one.
    let is_of_one =
        words.contains("format") || words.contains("mime") || words.contains("url must");
    (may_mean_it && (kinds.any() || unclear) && names(&REFUSALS) && !is_of_one).then_some(kinds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_of_real_servers_are_known() {
        let check = |status: u16, words: &str, expected: Option<&str>| {
            let kinds = refused(StatusCode::from_u16(status).unwrap(), words);
            let named = kinds.map(|kinds| match kinds {
                Kinds { pictures: true, .. } => "pictures",
                Kinds { sounds: true, .. } => "sounds",
                Kinds { films: true, .. } => "films",
                Kinds { files: true, .. } => "files",
                Kinds { .. } => "unclear",
            });
            assert_eq!(named, expected, "{words}");
        };
        // DeepSeek, vLLM, llama.cpp, OpenRouter, OpenAI, Groq, Ollama, LM Studio, Mistral.
        for (status, words, kind) in [
            (
                422,
                "Failed to deserialize the JSON body into the target type: messages[1]: unknown variant `image_url`, expected `text`",
                "pictures",
            ),
            (
                400,
                "At most 0 image(s) may be provided in one prompt.",
                "pictures",
            ),
            (400, "Qwen/Qwen3-0.6B is not a multimodal model", "unclear"),
            (
                500,
                "image input is not supported - hint: if this is unexpected, you may need to provide the mmproj",
                "pictures",
            ),
            (
                404,
                "No endpoints found that support image input",
                "pictures",
            ),
            (
                400,
                "Invalid content type. image_url is only supported by certain models.",
                "pictures",
            ),
            (
                400,
                "Invalid content type. input_audio is only supported by certain models.",
                "sounds",
            ),
            (
                400,
                "'messages.1' : for 'role:user' the following must be satisfied[('messages.1.content' : content must be a string)]",
                "unclear",
            ),
            (400, "this model does not support video", "films"),
            (
                422,
                "Failed to deserialize the JSON body into the target type: messages[0]: unknown variant `file`, expected one of `text`, `image_url`",
                "pictures",
            ),
            (
                400,
                "Invalid content type. 'file' is not supported by this model",
                "files",
            ),
            (400, "Unexpected role 'user' after role 'tool'", "unclear"),
        ] {
            check(status, words, Some(kind));
        }
        for (status, words) in [
            (
                400,
                "You uploaded an unsupported image. Please make sure your image has of one the following formats: ['png'].",
            ),
            (400, "Invalid image data"),
            (401, "image input is not supported"),
            (400, "temperature is not supported"),
        ] {
            check(status, words, None);
        }
    }
}
