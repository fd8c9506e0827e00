//! Transcription of recordings in OpenAI's format: a form with the file in, text with its times out. Servers and models
//! accept different formats of the answer; all that are JSON are read.

use domain::{TokenCount, Usage};
use serde::Deserialize;
use serde_json::{Value, value::RawValue};

use crate::multipart::{self, Form, FormFile};

/// Maximum number of segments that are read of a transcript.
const MAX_SEGMENTS: usize = 100_000;

/// The format of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TranscriptFormat {
    /// `verbose_json`: text with segments and their times.
    Segments,
    /// `diarized_json`: segments with their speakers, of models that tell them apart.
    Speakers,
    /// `json`: text only, which all models answer with.
    Text,
}

impl TranscriptFormat {
    /// The format to ask this model for first.
    #[must_use]
    pub fn first_for(model: &str) -> Self {
        match model.to_ascii_lowercase().contains("diarize") {
            true => Self::Speakers,
            false => Self::Segments,
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Segments => "verbose_json",
            Self::Speakers => "diarized_json",
            Self::Text => "json",
        }
    }
}

/// A recording to transcribe.
#[derive(Debug, Clone, Copy)]
pub struct Recording<'a> {
    /// The usual ending of its format, without the dot: servers tell the format by it.
    pub ending: &'a str,
    /// Its media type.
    pub media_type: &'a str,
    /// Its content.
    pub content: &'a [u8],
}

/// What was said in a recording.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Transcript {
    /// All of it.
    pub text: String,
    /// Its parts in order; empty if the server gives no times.
    pub segments: Vec<TranscriptSegment>,
    /// The tokens that the server counted. A second of sound counts as a token of sound if it counted seconds.
    pub usage: Option<Usage>,
}

/// A part of a transcript.
#[derive(Debug, Clone, PartialEq)]
pub struct TranscriptSegment {
    /// When it begins, in seconds.
    pub start: f64,
    /// Its text.
    pub text: String,
    /// The server's name for its speaker.
    pub speaker: Option<String>,
}

/// The answer is no transcript.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("it is no transcript")]
pub struct NoTranscript;

/// A request for what is said in a recording.
#[must_use]
pub fn encode(model: &str, recording: Recording<'_>, format: TranscriptFormat) -> Form {
    let mut fields = vec![("model", model), ("response_format", format.name())];
    match format {
        TranscriptFormat::Segments => fields.push(("timestamp_granularities[]", "segment")),
        // These models refuse more than 30 seconds without it.
        TranscriptFormat::Speakers => fields.push(("chunking_strategy", "auto")),
        TranscriptFormat::Text => {}
    }
    multipart::encode(
        &fields,
        FormFile {
            field: "file",
            name: &format!("recording.{}", recording.ending),
            media_type: recording.media_type,
            content: recording.content,
        },
    )
}

/// Whether a server that refused a request may answer in another format.
#[must_use]
pub fn is_format_refused(status: u16, body: &str, format: TranscriptFormat) -> bool {
    if format == TranscriptFormat::Text || !matches!(status, 400 | 415 | 422 | 500 | 501) {
        return false;
    }
    let body = body.to_ascii_lowercase();
    [
        "response_format",
        "response format",
        format.name(),
        "timestamp",
        "chunking_strategy",
    ]
    .iter()
    .any(|word| body.contains(word))
}

#[derive(Deserialize)]
struct Answer<'a> {
    text: Option<String>,
    #[serde(default, borrow)]
    segments: Option<&'a RawValue>,
    #[serde(default)]
    duration: Option<Value>,
    #[serde(default, borrow)]
    usage: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Segment {
    #[serde(default)]
    start: Option<Value>,
    #[serde(default)]
    end: Option<Value>,
    #[serde(default)]
    text: String,
    #[serde(default)]
    speaker: Option<String>,
}

/// What a server says that it has counted: tokens, or seconds.
#[derive(Deserialize)]
struct Counted {
    #[serde(default)]
    seconds: Option<Value>,
    #[serde(default)]
    prompt_audio_seconds: Option<Value>,
    #[serde(default, alias = "prompt_tokens")]
    input_tokens: Option<Value>,
    #[serde(default, alias = "completion_tokens")]
    output_tokens: Option<Value>,
    #[serde(
        default,
        alias = "prompt_tokens_details",
        alias = "input_tokens_details"
    )]
    input_token_details: Option<InputDetails>,
}

#[derive(Deserialize)]
struct InputDetails {
    #[serde(default)]
    audio_tokens: Option<Value>,
}

/// Reads an answer.
///
/// # Errors
/// If it has no text.
pub fn decode(body: &[u8]) -> Result<Transcript, NoTranscript> {
    let Answer {
        text,
        segments,
        duration,
        usage,
    } = serde_json::from_slice(body).map_err(|_| NoTranscript)?;
    // Segments are an addition, without which the text remains.
    let segments: Vec<Segment> = segments
        .and_then(|list| serde_json::from_str(list.get()).ok())
        .unwrap_or_default();
    let end = segments
        .last()
        .and_then(|it| it.end.as_ref())
        .and_then(number);
    let seconds = duration.as_ref().and_then(number).or(end);
    let segments: Vec<TranscriptSegment> = segments
        .into_iter()
        .take(MAX_SEGMENTS)
        .filter_map(Segment::read)
        .collect();
    let text = match text {
        Some(text) => text,
        None if !segments.is_empty() => {
            let texts: Vec<&str> = segments.iter().map(|it| it.text.as_str()).collect();
            texts.join(" ")
        }
        None => return Err(NoTranscript),
    };
    let usage: Option<Counted> = usage.and_then(|it| serde_json::from_str(it.get()).ok());
    let usage = usage.and_then(Counted::read);
    Ok(Transcript {
        text,
        segments,
        usage: usage.or_else(|| seconds.map(of_seconds)),
    })
}

impl Segment {
    /// `None` if it has no text, or its time is unknown.
    fn read(self) -> Option<TranscriptSegment> {
        let text = self.text.trim();
        (!text.is_empty()).then_some(())?;
        Some(TranscriptSegment {
            start: self.start.as_ref().and_then(number)?,
            text: text.to_owned(),
            speaker: self.speaker.filter(|name| !name.trim().is_empty()),
        })
    }
}

impl Counted {
    fn read(self) -> Option<Usage> {
        let input = self.input_tokens.as_ref().and_then(count);
        let output = self.output_tokens.as_ref().and_then(count);
        // Some servers send zeros beside the seconds.
        if input.unwrap_or(0) + output.unwrap_or(0) > 0 {
            let input = input.unwrap_or(0);
            let audio = self.input_token_details.and_then(|it| it.audio_tokens);
            let audio = audio.as_ref().and_then(count).unwrap_or(0).min(input);
            return Some(Usage {
                audio_tokens: audio,
                ..Usage::of(input, output.unwrap_or(0))
            });
        }
        let seconds = self.seconds.or(self.prompt_audio_seconds);
        seconds.as_ref().and_then(number).map(of_seconds)
    }
}

/// A finite number from 0, also written as text, as some servers do.
fn number(value: &Value) -> Option<f64> {
    let number = match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    };
    number.filter(|number| number.is_finite() && *number >= 0.0)
}

fn count(value: &Value) -> Option<u64> {
    TokenCount::from_json(&value.to_string()).map(TokenCount::get)
}

/// Seconds of sound as the tokens that they count as.
fn of_seconds(seconds: f64) -> Usage {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a float cast saturates, and it is not negative"
    )]
    let tokens = (seconds.ceil() as u64).min(Usage::MAX_TOKENS);
    Usage {
        audio_tokens: tokens,
        ..Usage::of(tokens, 0)
    }
}

#[cfg(test)]
mod tests;
