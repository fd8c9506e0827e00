//! What was said in a recording, as a document: paragraphs that begin with their time.

use std::fmt::Write;

use crate::{
    document::{Document, Moment},
    read::check,
    unreadable::{Limits, Unreadable},
    words::is_unspaced,
};

/// A paragraph is ended at the next end of a sentence after this many characters, and at any part after twice as many.
const PARAGRAPH_CHARS: usize = 400;
/// It is also ended after this time.
const PARAGRAPH_SECONDS: u32 = 60;

/// A part of what was said.
#[derive(Debug, Clone, PartialEq)]
pub struct Utterance {
    /// When it begins, in seconds.
    pub start: f64,
    /// Its text.
    pub text: String,
    /// Who speaks, if known.
    pub speaker: Option<String>,
}

/// A document of what was said: of the utterances, or of the text if there are none.
///
/// # Errors
/// If nothing was said, or it is too long.
pub fn transcript(
    text: &str,
    utterances: &[Utterance],
    limits: &Limits,
) -> Result<Document, Unreadable> {
    let has_words = |it: &Utterance| it.text.contains(char::is_alphanumeric);
    let document = if utterances.iter().any(has_words) {
        timed(utterances)
    } else {
        Document {
            text: text.trim().to_owned(),
            ..Document::default()
        }
    };
    check(document, limits)
}

fn timed(utterances: &[Utterance]) -> Document {
    let mut text = String::new();
    let mut times = Vec::new();
    let mut paragraph = Paragraph::default();
    for utterance in utterances {
        let words = utterance.text.trim();
        if words.is_empty() {
            continue;
        }
        let seconds = whole_seconds(utterance.start);
        if paragraph.ends_before(utterance, seconds) {
            if !text.is_empty() {
                text.push_str("\n\n");
            }
            times.push(Moment {
                seconds,
                start: text.len(),
            });
            _ = write!(text, "[{}] ", time(seconds));
            if let Some(speaker) = &utterance.speaker {
                _ = write!(text, "{}: ", speaker.trim());
            }
            paragraph = Paragraph::at(utterance, seconds);
        } else {
            if !text.ends_with(is_unspaced) {
                text.push(' ');
            }
            times.push(Moment {
                seconds,
                start: text.len(),
            });
        }
        text.push_str(words);
        paragraph.add(words);
    }
    Document {
        text,
        times,
        ..Document::default()
    }
}

/// The paragraph that is being written.
#[derive(Default)]
struct Paragraph<'a> {
    /// Whether there is one.
    is_begun: bool,
    speaker: Option<&'a str>,
    began_at: u32,
    chars: usize,
    ends_a_sentence: bool,
}

impl<'a> Paragraph<'a> {
    fn at(first: &'a Utterance, seconds: u32) -> Self {
        Self {
            is_begun: true,
            speaker: first.speaker.as_deref(),
            began_at: seconds,
            ..Self::default()
        }
    }

    fn add(&mut self, words: &str) {
        self.chars += words.chars().count();
        let ends = ['.', '!', '?', '…', '。', '！', '？', '؟', '।'];
        self.ends_a_sentence = words.ends_with(ends);
    }

    /// Whether this utterance belongs to another paragraph.
    fn ends_before(&self, next: &Utterance, seconds: u32) -> bool {
        let is_long = self.chars >= PARAGRAPH_CHARS || seconds >= self.began_at + PARAGRAPH_SECONDS;
        !self.is_begun
            || self.speaker != next.speaker.as_deref()
            || is_long && self.ends_a_sentence
            || self.chars >= 2 * PARAGRAPH_CHARS
    }
}

/// A time as players show it: `4:07` or `1:04:07`.
#[must_use]
pub fn time(seconds: u32) -> String {
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    match hours {
        0 => format!("{minutes}:{seconds:02}"),
        hours => format!("{hours}:{minutes:02}:{seconds:02}"),
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a float cast saturates"
)]
fn whole_seconds(seconds: f64) -> u32 {
    // Leaves room for sums.
    (seconds as u32).min(u32::MAX / 2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chunks::{Sizes, cut};

    fn said(start: f64, text: &str, speaker: Option<&str>) -> Utterance {
        Utterance {
            start,
            text: text.to_owned(),
            speaker: speaker.map(str::to_owned),
        }
    }

    fn document(utterances: &[Utterance]) -> Document {
        transcript("", utterances, &Limits::default()).unwrap()
    }

    #[test]
    fn paragraphs_begin_with_their_time() {
        let read = document(&[
            said(0.0, " Good morning.", None),
            said(3.3, "The walrus is", None),
            said(5.9, "asleep.", None),
            said(65.2, "", None),
            said(725.6, "It wakes up.", None),
            said(3725.0, "Good night.", None),
        ]);
        assert_eq!(
            read.text,
            "[0:00] Good morning. The walrus is asleep.\n\n[12:05] It wakes up.\n\n[1:02:05] Good night."
        );
        for (words, expected) in [
            ("[0:00]", 0),
            ("Good morning", 0),
            ("walrus", 3),
            ("asleep", 5),
            ("[12:05]", 725),
            ("Good night", 3725),
        ] {
            let at = read.text.find(words).unwrap();
            assert_eq!(read.time_at(at), Some(expected), "{words}");
        }
    }

    #[test]
    fn speakers_have_paragraphs_of_their_own() {
        let read = document(&[
            said(0.0, "Hello?", Some("A")),
            said(1.0, "Hello.", Some("B")),
            said(2.0, "Who is there?", Some("B")),
        ]);
        assert_eq!(
            read.text,
            "[0:00] A: Hello?\n\n[0:01] B: Hello. Who is there?"
        );
    }

    #[test]
    fn words_of_unspaced_scripts_are_joined_without_spaces() {
        let read = document(&[said(0.0, "今日は", None), said(1.0, "晴れです。", None)]);
        assert_eq!(read.text, "[0:00] 今日は晴れです。");
    }

    #[test]
    fn passages_have_the_time_at_which_they_begin() {
        let utterances: Vec<Utterance> = (0..200_u32)
            .map(|at| said(f64::from(at) * 5.0, "A sentence about the harbour.", None))
            .collect();
        let read = document(&utterances);
        let chunks = cut(&read, Sizes::default());
        assert!(chunks.len() > 4);
        for chunk in &chunks {
            let text = &read.text[chunk.bytes.clone()];
            if let Some(shown) = text.strip_prefix('[') {
                let shown = shown.split(']').next().unwrap();
                assert_eq!(time(chunk.time.unwrap()), shown);
            }
        }
        assert!(chunks.is_sorted_by_key(|it| it.time));
        assert_eq!(chunks.last().unwrap().time.map(|it| it > 700), Some(true));
    }

    #[test]
    fn recordings_without_times_or_words() {
        let limits = Limits::default();
        let read = transcript(" Hello. ", &[], &limits).unwrap();
        assert_eq!((read.text.as_str(), read.time_at(0)), ("Hello.", None));
        assert_eq!(transcript(" ", &[], &limits), Err(Unreadable::NoText));
        let hum = [said(0.0, "…", None)];
        // The time alone is no text.
        assert_eq!(transcript("", &hum, &limits), Err(Unreadable::NoText));
        let limits = Limits {
            text_bytes: 3,
            ..limits
        };
        let error = Unreadable::TooMuchText { limit_bytes: 3 };
        assert_eq!(transcript("Hello", &[], &limits), Err(error));
        let huge = [said(f64::MAX, "a", None), said(1e300, "b", None)];
        assert!(transcript("", &huge, &Limits::default()).is_ok());
    }
}
