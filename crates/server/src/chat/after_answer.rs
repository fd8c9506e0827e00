//! Pipelines that run after an answer: title and tags the first time, and follow-ups. Cancelled when a new message is
//! sent.

use std::sync::Arc;

use agent::pipelines::{Notes, Pipeline, Said, Template, shared_template};
use domain::{
    ChatId, EventBody, Message, MessageId, Outcome, PipelineCallId, Problem, RunId, UserId,
};
use run_registry::{Activity, Runs};
use serde_json::{Map, json};
use store::{Chat, ChatMessage, PipelineCall, Run, StoreError};
use tokio::sync::{Semaphore, broadcast::error::RecvError};
use tracing::Instrument;

use crate::{
    error::ApiError,
    gateway::models::ResolvedModel,
    identity::auth::Authority,
    pipelines::{InForce, Job, PersonVariables, Pipelines, TimeVariables, said_in, values},
    platform::request_context,
    runtime::conversation::path_to,
};

/// Maximum number of answered chats processed concurrently: a local model has no capacity for more.
const MAX_CONCURRENT: usize = 2;

/// Runs the pipelines of chats whose runs end.
pub(crate) struct AfterAnswer {
    pipelines: Arc<Pipelines>,
    runs: Runs,
    concurrent: Semaphore,
}

/// Pipelines that share one model call.
struct Group {
    pipelines: Vec<Pipeline>,
    template: Template,
    /// The settings of the first pipeline, used for all.
    set: InForce,
    model: ResolvedModel,
}

/// An answered chat.
struct Answer {
    run: Run,
    chat: Chat,
    message: MessageId,
    said: Vec<Said>,
    /// Whether the answer was finished.
    is_complete: bool,
}

impl AfterAnswer {
    pub(crate) fn new(pipelines: Arc<Pipelines>, runs: Runs) -> Self {
        Self {
            pipelines,
            runs,
            concurrent: Semaphore::new(MAX_CONCURRENT),
        }
    }

    /// Follows the ends of runs until the server stops.
    pub(crate) async fn follow(self: Arc<Self>) {
        let mut ends = self.runs.ends();
        loop {
            let run = tokio::select! {
                () = self.pipelines.stopping.cancelled() => return,
                run = ends.recv() => run,
            };
            match run {
                Ok(run) => drop(self.pipelines.tasks.spawn(Arc::clone(&self).after_run(run))),
                // Chats that were missed keep their first words as the title.
                Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => return,
            }
        }
    }

    async fn after_run(self: Arc<Self>, run: RunId) {
        let answer = match self.answered_by(run).await {
            Ok(Some(answer)) => answer,
            // Not in a chat, or deleted meanwhile.
            Ok(None) | Err(StoreError::NotFound) => return,
            Err(error) => return tracing::warn!(%run, %error, "failed to run pipelines of a chat"),
        };
        let chat = answer.chat.id;
        let work = self.pipelines.work.begin(chat);
        let origin = answer.run.origin.clone().unwrap_or_default();
        let about =
            tracing::error_span!("beside", %chat, %run, request = origin.request.as_deref());
        let written = async {
            let _turn = self.concurrent.acquire().await;
            request_context::on_behalf_of(origin, self.write_after_answer(&answer)).await
        };
        let written = written.instrument(about);
        tokio::select! {
            () = self.pipelines.stopping.cancelled() => {}
            () = work.cancelled() => {}
            written = written => if let Err(error) = written {
                tracing::info!(%run, %error, "failed to run pipelines of a chat");
            }
        }
        self.pipelines.work.end(chat, &work);
    }

    /// The chat that the run has answered, if any.
    async fn answered_by(&self, run: RunId) -> Result<Option<Answer>, StoreError> {
        let run = self.pipelines.store.run(run).await?;
        let outcome = run.summary.as_ref().and_then(|summary| summary.outcome);
        let (Some(chat), Some(message), Some(outcome)) = (run.chat, run.message, outcome) else {
            return Ok(None);
        };
        // It continues with the caller's next request.
        if outcome == Outcome::HandedOver {
            return Ok(None);
        }
        let chat = self.pipelines.store.chat(&run.principal, chat).await?;
        let said = said_up_to(&self.pipelines.store.messages(chat.id).await?, message);
        Ok(Some(Answer {
            run,
            chat,
            message,
            said,
            is_complete: outcome == Outcome::Completed,
        }))
    }

    async fn write_after_answer(self: &Arc<Self>, answer: &Answer) -> Result<(), ApiError> {
        let Answer {
            run, chat, said, ..
        } = answer;
        let permit = self.pipelines.gateway.permit(Authority::of_run(run));
        let model = self.pipelines.gateway.resolve(Some(&run.model), &permit)?;
        let due = self.due(answer).await?;
        let with_model = |set: InForce| match self
            .pipelines
            .effective_pipelines
            .pipeline_model(&set, &model)
        {
            Ok(found) => Some((found?, set)),
            Err(error) => {
                tracing::warn!(pipeline = set.pipeline.name(), %error, "skipping a pipeline whose model is missing");
                None
            }
        };
        let groups = groups(due.into_iter().filter_map(with_model));
        if groups.is_empty() || said.is_empty() {
            return Ok(());
        }
        let user = self.pipelines.store.user(run.principal.account).await?;
        let person = self.pipelines.effective_pipelines.person_variables(&user);
        let now = self.pipelines.effective_pipelines.time_variables();
        for group in groups {
            self.ask_group(answer, &group, &person, &now).await?;
        }
        tracing::debug!(chat = %chat.id, "pipelines of a chat completed");
        Ok(())
    }

    /// The enabled pipelines that are due for this answer.
    async fn due(&self, answer: &Answer) -> Result<Vec<InForce>, StoreError> {
        let chat = &answer.chat;
        let mut due = self
            .pipelines
            .effective_pipelines
            .pipelines_in_force()
            .await?;
        due.retain(|set| {
            set.enabled
                && matches!(
                    set.pipeline,
                    Pipeline::Title | Pipeline::Tags | Pipeline::FollowUps
                )
        });
        let is_named = !self
            .pipelines
            .store
            .is_titled_by_words(chat.principal.account, chat.id)
            .await?;
        let is_first = answer.said.len() <= 2;
        let alternatives = self
            .pipelines
            .store
            .alternative_answers(chat.id)
            .await?
            .remove(&answer.message);
        // The user may continue the chat from another alternative.
        let is_one_of_several =
            alternatives.is_some_and(|alternatives| alternatives.made_of.is_empty());
        due.retain(|set| match set.pipeline {
            // No list shows a temporary chat.
            Pipeline::Title | Pipeline::Tags if chat.expires_at.is_some() => false,
            Pipeline::Title => !is_named,
            // An answer that was stopped or has failed says too little.
            _ if !answer.is_complete => false,
            Pipeline::Tags => !is_named || is_first,
            Pipeline::FollowUps => !is_one_of_several,
            _ => true,
        });
        Ok(due)
    }

    async fn ask_group(
        self: &Arc<Self>,
        answer: &Answer,
        group: &Group,
        person: &PersonVariables,
        now: &TimeVariables,
    ) -> Result<(), ApiError> {
        let job = Job {
            pipelines: &group.pipelines,
            chat: Some(answer.chat.id),
            run: Some(answer.run.id),
            model: group.model.clone(),
            bounds: group.set.bounds,
            metadata: Map::from_iter([("message_id".to_owned(), json!(answer.message))]),
        };
        let prompt = group.template.fill(&values(&answer.said, person, now));
        let mut had = Notes::default();
        let read = |text: &str| {
            Notes::read(&answer.said, text, &group.pipelines).map_err(|(fault, part)| {
                // One attempt may contain what another one lacks.
                had = part.or(std::mem::take(&mut had));
                (
                    fault,
                    Some(had.clone()).filter(|had| *had != Notes::default()),
                )
            })
        };
        let answered = self
            .pipelines
            .ask_pipeline(&job, prompt, read, shown)
            .await?;
        match answered.read {
            Some(notes) => self.keep_notes(answer, notes).await,
            None => Ok(()),
        }
    }

    async fn keep_notes(&self, answer: &Answer, notes: Notes) -> Result<(), ApiError> {
        let Chat { id, principal, .. } = &answer.chat;
        let id = *id;
        let owner = principal.account;
        let has_tags = !notes.tags.is_empty() && self.pipelines.tag_chat(id, &notes.tags).await?;
        let mut title = String::new();
        if let Some(new) = notes.title
            && self.pipelines.store.title_chat(owner, id, &new).await?
        {
            title = new;
        }
        if !notes.follow_ups.is_empty() {
            self.pipelines
                .store
                .put_follow_ups(answer.message, &notes.follow_ups)
                .await?;
        }
        if !title.is_empty() || has_tags || !notes.follow_ups.is_empty() {
            self.runs
                .tell(Activity::changed(principal.clone(), id, title));
        }
        Ok(())
    }

    /// Records the result of the merging run as a pipeline call, once the run has ended.
    pub(crate) fn record_merge(
        self: &Arc<Self>,
        run: RunId,
        owner: UserId,
        chat: Option<ChatId>,
        model: String,
    ) {
        let this = Arc::clone(self);
        let call = PipelineCall {
            id: PipelineCallId::generate(),
            pipelines: Pipeline::Moa.name().to_owned(),
            owner,
            chat,
            // The call is the run itself, and does not follow one.
            run: None,
            model,
            at: self.pipelines.clock.now_ms(),
            duration_ms: 0,
            usage: domain::Usage::default(),
            cost_micro_usd: None,
            outcome: String::new(),
            detail: "".into(),
        };
        self.pipelines.tasks.spawn(async move {
            let Some(call) = this.end_of_merging(run, call).await else {
                return;
            };
            match this.pipelines.store.note_pipeline_call(&call).await {
                Ok(()) | Err(StoreError::NotFound) => {}
                Err(error) => tracing::warn!(%error, "failed to record a pipeline call"),
            }
        });
    }

    /// The record, once the run has ended. `None` if its log cannot be read.
    async fn end_of_merging(&self, run: RunId, call: PipelineCall) -> Option<PipelineCall> {
        let mut reader = self.runs.read(run, 0);
        while let Some(events) = reader.next().await.ok()? {
            for logged in events {
                let EventBody::RunFinished {
                    outcome,
                    problem,
                    usage,
                    cost_micro_usd,
                } = &logged.event.body
                else {
                    continue;
                };
                let outcome = match outcome {
                    Outcome::Completed | Outcome::HandedOver => "done",
                    Outcome::Limited => "fallback",
                    Outcome::Failed => "failed",
                    Outcome::Cancelled => "cancelled",
                };
                return Some(PipelineCall {
                    duration_ms: u64::try_from(logged.event.at - call.at).unwrap_or(0),
                    usage: *usage,
                    cost_micro_usd: *cost_micro_usd,
                    outcome: outcome.to_owned(),
                    detail: problem.clone().map_or_else(|| "".into(), Problem::words),
                    ..call
                });
            }
        }
        None
    }
}

/// One call for all pipelines that use the default template and the same model; one call each for the others.
fn groups(due: impl Iterator<Item = (ResolvedModel, InForce)>) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for (model, set) in due {
        let Some(template) = set.template.clone() else {
            continue;
        };
        let together = groups.iter_mut().find(|group| {
            set.is_default && group.set.is_default && group.model.model_id == model.model_id
        });
        match together {
            Some(group) => {
                group.pipelines.push(set.pipeline);
                if let Some(shared) = shared_template(&group.pipelines) {
                    group.template = shared;
                }
            }
            None => groups.push(Group {
                pipelines: vec![set.pipeline],
                template,
                set,
                model,
            }),
        }
    }
    groups
}

/// The text of the branch that ends with this message.
pub(crate) fn said_up_to(messages: &[ChatMessage], last: MessageId) -> Vec<Said> {
    let as_message = |message: &ChatMessage| Message {
        content: message.content.clone(),
        ..Message::text(message.role, "")
    };
    let branch: Vec<Message> = path_to(messages, Some(last))
        .into_iter()
        .map(as_message)
        .collect();
    said_in(&branch)
}

fn shown(notes: &Notes) -> String {
    let mut parts: Vec<String> = notes.title.iter().cloned().collect();
    if !notes.tags.is_empty() {
        parts.push(notes.tags.join(", "));
    }
    parts.extend(notes.follow_ups.iter().cloned());
    parts.join("\n")
}
