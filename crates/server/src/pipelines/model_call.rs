//! One model call of pipelines: checked against the account's limits, booked as usage, and recorded with its result,
//! even if it is cancelled.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering::Relaxed},
};

use agent::{
    call_cost,
    pipelines::{
        Asked, Bounds, Pipeline, answer_format, ask, continue_text, enough_continued,
        enough_read_along,
    },
};
use domain::{ChatId, LocalizedText, PipelineCallId, ProblemCode, RunId, Usage};
use llm::ModelError;
use serde_json::{Map, Value};
use store::{PipelineCall, StoreError};
use tokio::time::Instant;
use tracing::field;
use wire::gateway::Used;

use crate::{
    error::ApiError,
    gateway::{
        caller_info::OneShotAbout,
        models::ResolvedModel,
        usage::{PaidCall, UsageEstimate},
    },
    pipelines::Pipelines,
};

/// How much of the text of a call is recorded, characters.
const DETAIL_CHARS: usize = 500;
const BYTES_PER_TOKEN: usize = 4;

/// A call to make.
#[derive(Debug)]
pub(crate) struct Job<'a> {
    /// The pipelines it is for.
    pub(crate) pipelines: &'a [Pipeline],
    /// The chat it is about.
    pub(crate) chat: Option<ChatId>,
    /// The run it follows.
    pub(crate) run: Option<RunId>,
    /// The model to call.
    pub(crate) model: ResolvedModel,
    /// Its limits.
    pub(crate) bounds: Bounds,
    /// Metadata from the caller, for model servers that receive it.
    pub(crate) metadata: Map<String, Value>,
}

/// The result of a call.
#[derive(Debug)]
pub(crate) struct Answered<T> {
    /// The parsed answer.
    pub(crate) read: Option<T>,
    /// Otherwise, what was wrong with the answer.
    pub(crate) fault: Option<LocalizedText>,
    /// Its usage and cost.
    pub(crate) used: Used,
}

impl Pipelines {
    /// Calls the model. `read` parses its answer, and `shown` summarizes the parsed answer.
    ///
    /// # Errors
    /// If a limit is reached or the model's server does not answer.
    pub(crate) async fn ask_pipeline<T>(
        self: &Arc<Self>,
        job: &Job<'_>,
        prompt: String,
        read: impl FnMut(&str) -> Result<T, (LocalizedText, Option<T>)>,
        shown: impl Fn(&T) -> String,
    ) -> Result<Answered<T>, ApiError> {
        let prompt_bytes = prompt.len();
        let form = answer_format(job.pipelines);
        let about = self.about(job).await?;
        let call = ask(
            about.of(&job.model.model),
            prompt,
            form.as_ref(),
            job.bounds,
            read,
        );
        self.pay_and_note(
            job,
            prompt_bytes,
            &AtomicUsize::new(0),
            call,
            shown,
            |_| "failed",
        )
        .await
    }

    /// Has the model continue a text instead; `heard` gets the text as it is written. If the caller `reads_along`, the
    /// text is not cut short when it takes long.
    ///
    /// # Errors
    /// As for [`Pipelines::ask_pipeline`]; and an error for which [`cannot_continue`] returns `true`.
    pub(crate) async fn continue_pipeline(
        self: &Arc<Self>,
        job: &Job<'_>,
        text: String,
        reads_along: bool,
        mut heard: impl FnMut(&str),
        read: impl Fn(&str) -> String,
    ) -> Result<Answered<String>, ApiError> {
        let text_bytes = text.len();
        let about = self.about(job).await?;
        let model = about.of(&job.model.model);
        let enough = if reads_along {
            enough_read_along
        } else {
            enough_continued
        };
        let written_bytes = AtomicUsize::new(0);
        let heard = |text: &str| {
            written_bytes.store(text.len(), Relaxed);
            heard(text);
        };
        let call = continue_text(model, text, enough, job.bounds, heard, |said| {
            Ok(read(said))
        });
        // If the text cannot be continued, the caller asks for it instead.
        let outcome = |error: &ApiError| {
            if cannot_continue(error) {
                "fallback"
            } else {
                "failed"
            }
        };
        self.pay_and_note(
            job,
            text_bytes,
            &written_bytes,
            call,
            String::clone,
            outcome,
        )
        .await
    }

    /// The call's metadata and caller information.
    async fn about(&self, job: &Job<'_>) -> Result<OneShotAbout, ApiError> {
        let mut metadata = job.metadata.clone();
        if let Some(task) = job.pipelines.first().map(|pipeline| pipeline.task()) {
            metadata.insert("task".to_owned(), task.into());
        }
        Ok(self
            .gateway
            .one_shot(&job.model, job.chat, metadata)
            .await?)
    }

    /// Makes the call within the account's limits and records its result; `outcome` names that of a failed call. The
    /// usage of an aborted call is estimated from the number of bytes that were shown.
    async fn pay_and_note<T>(
        self: &Arc<Self>,
        job: &Job<'_>,
        prompt_bytes: usize,
        shown_bytes: &AtomicUsize,
        call: impl Future<Output = Result<Asked<T>, ModelError>>,
        shown: impl Fn(&T) -> String,
        outcome: fn(&ApiError) -> &'static str,
    ) -> Result<Answered<T>, ApiError> {
        let mut note = Note::begin(self, job, prompt_bytes);
        let asked = match self.pay(job, prompt_bytes, shown_bytes, call).await {
            Ok(asked) => asked,
            Err(error) => {
                note.call.usage = Usage::default();
                note.end(outcome(&error), error.problem().clone().words());
                return Err(error);
            }
        };
        note.call.usage = asked.usage;
        let cost_micro_usd = call_cost(job.model.prices, asked.usage);
        note.call.cost_micro_usd = cost_micro_usd;
        let outcome = if asked.fault.is_none() {
            "done"
        } else {
            "fallback"
        };
        let detail = asked
            .fault
            .clone()
            .or_else(|| asked.read.as_ref().map(|read| shown(read).into()));
        note.end(outcome, detail.unwrap_or_else(|| "".into()));
        let used = Used {
            usage: asked.usage,
            cost_micro_usd,
        };
        Ok(Answered {
            read: asked.read,
            fault: asked.fault,
            used,
        })
    }

    async fn pay<T>(
        self: &Arc<Self>,
        job: &Job<'_>,
        prompt_bytes: usize,
        shown_bytes: &AtomicUsize,
        call: impl Future<Output = Result<Asked<T>, ModelError>>,
    ) -> Result<Asked<T>, ApiError> {
        let model = &job.model;
        let expected = UsageEstimate {
            input_tokens: (prompt_bytes / BYTES_PER_TOKEN) as u64,
            max_output_tokens: Some(job.bounds.output_tokens),
            prices: model.prices,
        };
        let principal = model.authority.principal.clone();
        let mut paid =
            PaidCall::begin(&self.usage, principal, model.model.name(), expected).await?;
        // If the caller cancels, what was sent is booked.
        paid.has_used(Some(Usage::estimate(expected.input_tokens, 0)));
        match call.await {
            Ok(asked) => {
                paid.end(asked.usage);
                Ok(asked)
            }
            Err(error) => {
                let written = (shown_bytes.load(Relaxed) / BYTES_PER_TOKEN) as u64;
                paid.has_used(
                    (written > 0).then(|| Usage::estimate(expected.input_tokens, written)),
                );
                Err(error.into())
            }
        }
    }
}

/// Whether a model's server has refused to continue a text, and would refuse again.
pub(crate) fn cannot_continue(error: &ApiError) -> bool {
    let code = error.problem().code;
    matches!(
        code,
        ProblemCode::ModelRejected | ProblemCode::ModelProtocol | ProblemCode::ModelNotFound
    )
}

/// The record of a call, written when it ends; as cancelled if it is dropped before.
struct Note {
    pipelines: Arc<Pipelines>,
    begun: Instant,
    call: PipelineCall,
    is_written: bool,
}

impl Note {
    fn begin(pipelines: &Arc<Pipelines>, job: &Job<'_>, prompt_bytes: usize) -> Self {
        let names: Vec<&str> = job
            .pipelines
            .iter()
            .map(|pipeline| pipeline.name())
            .collect();
        let call = PipelineCall {
            id: PipelineCallId::generate(),
            pipelines: names.join(","),
            owner: job.model.authority.principal.account,
            chat: job.chat,
            run: job.run,
            model: job.model.model_id.clone(),
            at: pipelines.clock.now_ms(),
            duration_ms: 0,
            // The minimum usage of a cancelled call.
            usage: Usage::of((prompt_bytes / BYTES_PER_TOKEN) as u64, 0),
            cost_micro_usd: None,
            outcome: String::new(),
            detail: "".into(),
        };
        Self {
            pipelines: Arc::clone(pipelines),
            begun: Instant::now(),
            call,
            is_written: false,
        }
    }

    fn end(mut self, outcome: &str, detail: LocalizedText) {
        self.write(outcome, detail);
    }

    /// In the background, so that the caller does not wait.
    fn write(&mut self, outcome: &str, detail: LocalizedText) {
        if std::mem::replace(&mut self.is_written, true) {
            return;
        }
        let call = PipelineCall {
            duration_ms: u64::try_from(self.begun.elapsed().as_millis()).unwrap_or(u64::MAX),
            outcome: outcome.to_owned(),
            detail: LocalizedText {
                message: detail.message.chars().take(DETAIL_CHARS).collect(),
                ..detail
            },
            ..self.call.clone()
        };
        tracing::info!(
            target: "runs",
            pipelines = call.pipelines,
            model = call.model,
            chat = call.chat.map(field::display),
            run = call.run.map(field::display),
            outcome,
            ms = call.duration_ms,
            input_tokens = call.usage.input_tokens,
            output_tokens = call.usage.output_tokens,
            "pipeline call"
        );
        let store = self.pipelines.store.clone();
        self.pipelines.tasks.spawn(async move {
            match store.note_pipeline_call(&call).await {
                Ok(()) | Err(StoreError::NotFound) => {}
                Err(error) => tracing::warn!(%error, "failed to record a pipeline call"),
            }
        });
    }
}

impl Drop for Note {
    fn drop(&mut self) {
        self.write("cancelled", "".into());
    }
}
