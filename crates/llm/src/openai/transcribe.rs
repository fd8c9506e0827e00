//! Has a model's servers transcribe a recording, in the best format of the answer that they accept.

use std::time::Duration;

use bytes::Bytes;
use provider::{
    multipart::Form,
    openai::transcription::{
        self, Recording, Transcript, TranscriptFormat, TranscriptFormat::Text,
    },
};
use tokio::time::Instant;

use super::{Fault, ForwardContext, ForwardError, UpstreamRoute};
use crate::{ModelError, messages};

impl UpstreamRoute {
    /// What is said in a recording. All of the answer has to arrive within `deadline`. If the servers refuse `format`, they
    /// are asked for text without times; returned with the format in which they answered.
    ///
    /// # Errors
    /// [`ForwardError`], with a sentence for the person in each case.
    pub async fn transcribe(
        &self,
        context: &ForwardContext,
        recording: Recording<'_>,
        format: TranscriptFormat,
        deadline: Duration,
    ) -> Result<(Transcript, TranscriptFormat), ForwardError> {
        if !self.takes_call() {
            let model = self.model().to_owned();
            let kind = self.kind().name().to_owned();
            return Err(ForwardError::Failed(ModelError::new(
                domain::ProblemCode::InvalidRequest,
                messages::Models::NoTranscription { model, kind },
            )));
        }
        let until = Instant::now() + deadline;
        match self.transcribe_as(context, recording, format, until).await {
            Err(ForwardError::Refused(refused))
                if transcription::is_format_refused(refused.status, &refused.body, format) =>
            {
                let text = self.transcribe_as(context, recording, Text, until).await?;
                Ok((text, Text))
            }
            answer => Ok((answer?, format)),
        }
    }

    async fn transcribe_as(
        &self,
        context: &ForwardContext,
        recording: Recording<'_>,
        format: TranscriptFormat,
        until: Instant,
    ) -> Result<Transcript, ForwardError> {
        let Form { content_type, body } = transcription::encode(self.model(), recording, format);
        let answer = self
            .post_whole_as(context, Bytes::from(body), &content_type, until)
            .await?;
        transcription::decode(&answer).map_err(|bad| {
            Fault::protocol(messages::Models::UselessAnswer {
                model: self.model().to_owned(),
                why: bad.to_string(),
            })
            .into()
        })
    }
}
