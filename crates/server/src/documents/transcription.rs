//! Transcribes recordings with the model that is named for it, on the account of the documents' owner.

use std::sync::PoisonError;

use domain::Usage;
use knowledge::{Document, Recording, Utterance, transcript};
use provider::openai::transcription::{
    Recording as SentRecording, Transcript, TranscriptFormat, TranscriptSegment,
};
use store::{ClaimedReading, Principal};

use super::{
    Documents,
    model_calls::{ModelUnavailable, UnavailableKind},
    remote::{RemoteFailure, Retry},
};
use crate::{
    gateway::{models::ModelServer, usage::UsageEstimate},
    messages,
    platform::config::TranscriptionSettings,
};

/// The bytes of a recording that count as one token before the provider says how many it has counted: models count about
/// ten tokens for a second, which has 16,000 bytes in an MP3 file.
const BYTES_PER_TOKEN: u64 = 1_600;
/// Maximum number of models whose format of answers is remembered.
const MAX_FORMATS: usize = 100;
/// Time until the models of connections are known, seconds.
const AWAITED_SECONDS: u64 = 15;

impl Documents {
    /// What is said in a recording.
    pub(super) async fn transcribe(
        &self,
        settings: &TranscriptionSettings,
        of: &ClaimedReading,
        recording: Recording,
        file: &[u8],
    ) -> Result<Document, RemoteFailure> {
        if file.len() as u64 > settings.file_bytes {
            return Err(RemoteFailure::Service {
                code: "recording_too_large",
                words: messages::Knowledge::RecordingTooLarge {
                    limit: settings.file_bytes / 1_000_000,
                }
                .into(),
                retry: Retry::No,
            });
        }
        let is_awaited = self.models.is_awaited(&settings.model);
        let server = self.helper(&settings.model, "audio/transcriptions");
        let server = server.map_err(|why| match is_awaited {
            true => unavailable(why, Retry::After(AWAITED_SECONDS)),
            false => unavailable(why, Retry::Soon),
        })?;
        let said = self.heard(settings, of, &server, recording, file).await;
        let Transcript { text, segments, .. } = said.map_err(failure)?;
        let utterances: Vec<Utterance> = segments.into_iter().map(utterance).collect();
        transcript(&text, &utterances, &self.reading_limits()).map_err(RemoteFailure::Unreadable)
    }

    async fn heard(
        &self,
        settings: &TranscriptionSettings,
        of: &ClaimedReading,
        server: &ModelServer,
        recording: Recording,
        file: &[u8],
    ) -> Result<Transcript, ModelUnavailable> {
        let sent = SentRecording {
            ending: recording.ending,
            media_type: recording.media_type,
            content: file,
        };
        let expected = UsageEstimate {
            input_tokens: file.len() as u64 / BYTES_PER_TOKEN,
            max_output_tokens: Some(0),
            prices: server.prices,
        };
        let format = self.transcript_format(server.upstream.model());
        let ask = async |context| {
            let asked = server
                .upstream
                .transcribe(&context, sent, format, settings.deadline);
            let (transcript, answered) = asked.await?;
            self.note_transcript_format(server.upstream.model(), answered);
            // Of a provider that counts nothing, only the request is known.
            let used = transcript.usage.unwrap_or(Usage::of(0, 0));
            Ok((transcript, used))
        };
        let principal = Principal::of_account(of.owner);
        self.ask_metered(&principal, server, expected, ask).await
    }

    /// The format to ask this model for.
    fn transcript_format(&self, model: &str) -> TranscriptFormat {
        let known = self.transcript_formats.lock();
        let known = known.unwrap_or_else(PoisonError::into_inner);
        let format = known.get(model).copied();
        format.unwrap_or_else(|| TranscriptFormat::first_for(model))
    }

    /// Remembers a format, so that the others are not tried again for each recording.
    fn note_transcript_format(&self, model: &str, format: TranscriptFormat) {
        let known = self.transcript_formats.lock();
        let mut known = known.unwrap_or_else(PoisonError::into_inner);
        if known.len() >= MAX_FORMATS {
            known.clear();
        }
        known.insert(model.to_owned(), format);
    }
}

fn utterance(segment: TranscriptSegment) -> Utterance {
    let TranscriptSegment {
        start,
        text,
        speaker,
    } = segment;
    Utterance {
        start,
        text,
        speaker,
    }
}

fn failure(why: ModelUnavailable) -> RemoteFailure {
    let retry = match why.kind {
        UnavailableKind::Limited(seconds) => Retry::After(seconds),
        UnavailableKind::Failed => Retry::Soon,
        // The same recording would be refused again, or take as long.
        UnavailableKind::Texts | UnavailableKind::Late => Retry::No,
    };
    unavailable(why, retry)
}

fn unavailable(why: ModelUnavailable, retry: Retry) -> RemoteFailure {
    RemoteFailure::Service {
        code: match why.kind {
            UnavailableKind::Limited(_) => "transcription_limited",
            _ => "transcription_failed",
        },
        words: why.words,
        retry,
    }
}
