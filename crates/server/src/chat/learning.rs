//! Extracts facts about users from their chats if they have enabled it: in the background, one idle chat at a time,
//! with the progress stored in the database.

use std::{collections::HashSet, sync::Arc, time::Duration};

use agent::learning::{Asked, KnownFact, Lessons, MAX_FACTS, ask};
use domain::{
    EventBody, FactId, MessageId, Outcome, Problem, Role, RunId, Usage, event::FactCounts,
    message::plain_text,
};
use run_registry::{Runs, ServerLog};
use serde_json::Map;
use store::{
    ChatMessage, ChatToLearnFrom, Fact, Learned, NewFact, NewRun, Principal, Store, StoreError,
};
use tokio::time::Instant;

use crate::{
    gateway::{Gateway, models::ResolvedModel},
    identity::auth::Authority,
    platform::{built_in::TOUR, clock::Clock, metrics::Metrics},
};

/// How long a chat has to be idle.
const REST: Duration = Duration::from_secs(120);
/// Maximum number of chats per pass.
const MAX_CHATS: u32 = 20;
/// Maximum number of attempts for a chat if its model does not answer.
const MAX_TRIES: u64 = 3;
/// The wait before the first retry.
const RETRY: Duration = Duration::from_secs(600);

/// Learns facts about users from their chats, if they have enabled it.
pub struct Learning {
    pub(crate) clock: Clock,
    pub(crate) gateway: Arc<Gateway>,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) runs: Runs,
    pub(crate) store: Store,
}

impl Learning {
    /// Processes the idle chats once. A model call that is interrupted when the server stops is repeated after the next
    /// start.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn learn(self: Arc<Self>) -> Result<(), StoreError> {
        let now = self.clock.now_ms();
        let quiet_since = now.saturating_sub(millis(REST));
        let chats = self
            .store
            .chats_to_learn_from(quiet_since, now, MAX_CHATS)
            .await?;
        for from in chats {
            match self.learn_from(&from).await {
                // The chat was deleted meanwhile.
                Ok(()) | Err(StoreError::NotFound) => {}
                Err(error) => tracing::warn!(chat = %from.chat, %error, "cannot learn from a chat"),
            }
        }
        Ok(())
    }

    async fn learn_from(&self, from: &ChatToLearnFrom) -> Result<(), StoreError> {
        let messages = self.store.messages(from.chat).await?;
        let said: Vec<(MessageId, String)> = messages
            .iter()
            .filter_map(|message| said_in(message, from))
            .collect();
        let (Some(model), false) = (self.model_of(from, &messages), said.is_empty()) else {
            return self
                .store
                .learn(from, &Learned::default(), 0, self.clock.now_ms())
                .await
                .map(drop);
        };
        let facts = self.store.facts(from.owner).await?;
        let known: Vec<KnownFact> = facts
            .iter()
            .map(|fact| KnownFact {
                text: fact.text.clone(),
                corrected: fact.corrected,
            })
            .collect();
        let texts: Vec<String> = said.iter().map(|(_, text)| text.clone()).collect();
        let about = self
            .gateway
            .one_shot(&model, Some(from.chat), Map::new())
            .await?;
        let log = self.begin_log(from, &model).await?;
        log.emit(EventBody::ModelRequested {
            model: model.model.name().to_owned(),
            messages: 2,
        })
        .await;
        let began = Instant::now();
        let (learned, end) = match ask(about.of(&model.model), &known, &texts).await {
            Ok(asked) => {
                let end = LogEnd {
                    usage: asked.usage,
                    cost_micro_usd: asked.cost_micro_usd,
                    problem: None,
                };
                log.emit(called(&model, &asked, began)).await;
                (self.note_asked(from, &model, asked), end)
            }
            Err(error) => {
                self.metrics.learning.note_failed();
                let end = LogEnd {
                    problem: Some(error.clone().into()),
                    ..LogEnd::default()
                };
                if from.failures + 1 < MAX_TRIES {
                    tracing::info!(chat = %from.chat, %error, "the model did not answer; will learn from the chat later");
                    let wait = millis(RETRY) << from.failures.min(8);
                    let later = self
                        .store
                        .learn_later(from, self.clock.now_ms() + wait)
                        .await;
                    end_log(log, Err(error.message), end).await;
                    return later;
                }
                tracing::warn!(chat = %from.chat, %error, "the model did not answer; nothing is learned from the chat");
                (None, end)
            }
        };
        let learned = learned
            .map(|lessons| learned_of(lessons, &facts, &said))
            .unwrap_or_default();
        let most = u32::try_from(MAX_FACTS).unwrap_or(u32::MAX);
        let stored = self
            .store
            .learn(from, &learned, most, self.clock.now_ms())
            .await;
        let counts = match &stored {
            Ok(true) => Ok(counts_of(&learned)),
            Ok(false) => {
                Err("Learning was turned off, or all was forgotten, meanwhile.".to_owned())
            }
            Err(_) => Err("What was learned could not be stored.".to_owned()),
        };
        end_log(log, counts, end).await;
        stored.map(drop)
    }

    /// Starts the log of a run that learns from a chat. The run belongs to no chat, as no user waits for it there.
    async fn begin_log(
        &self,
        from: &ChatToLearnFrom,
        model: &ResolvedModel,
    ) -> Result<ServerLog, StoreError> {
        let run = RunId::generate();
        let principal = Principal::of_account(from.owner);
        let row = NewRun {
            id: run,
            principal: principal.clone(),
            key_models: None,
            chat: None,
            message: None,
            model: model.id.clone(),
            started_at: self.clock.now_ms(),
            request: None,
            idempotency: None,
            origin: None,
            research: None,
            workspace: None,
        };
        self.store.create_run(&row).await?;
        let started = EventBody::RunStarted {
            chat: None,
            message: None,
            model: model.model.name().to_owned(),
        };
        let log = self.runs.keep_log(run, principal, started).await;
        let chat = Some(from.chat);
        log.emit(EventBody::MemoryUpdateStarted {
            call: None,
            name: None,
            chat,
        })
        .await;
        Ok(log)
    }

    /// The model of the chat's last answer, if it still exists.
    fn model_of(&self, from: &ChatToLearnFrom, messages: &[ChatMessage]) -> Option<ResolvedModel> {
        let last = messages
            .iter()
            .rev()
            .find_map(|message| message.model.as_deref());
        let last = last.filter(|model| *model != TOUR)?;
        self.gateway
            .resolve(
                Some(last),
                &self.gateway.permit(Authority::of_account(from.owner)),
            )
            .ok()
    }

    fn note_asked(
        &self,
        from: &ChatToLearnFrom,
        model: &ResolvedModel,
        asked: Asked,
    ) -> Option<Lessons> {
        let Asked {
            lessons,
            usage,
            cost_micro_usd,
        } = asked;
        self.metrics
            .learning
            .note(lessons.is_some(), usage, cost_micro_usd);
        let input_tokens = usage.input_tokens;
        let output_tokens = usage.output_tokens;
        let understood = lessons.is_some();
        tracing::info!(
            chat = %from.chat, model = %model.id, input_tokens, output_tokens, cost_micro_usd, understood,
            "processed a chat to learn from it"
        );
        lessons
    }
}

/// How the log of a learning run ends.
#[derive(Default)]
struct LogEnd {
    usage: Usage,
    cost_micro_usd: Option<u64>,
    /// Why the model did not answer, if it did not.
    problem: Option<Problem>,
}

/// Ends the log with the result. The learned facts themselves are only in the list of facts.
async fn end_log(log: ServerLog, learned: Result<FactCounts, String>, end: LogEnd) {
    let update = match learned {
        Ok(facts) => EventBody::MemoryUpdateCompleted {
            call: None,
            name: None,
            only_for: None,
            version: None,
            deleted: false,
            added_lines: None,
            removed_lines: None,
            facts: Some(facts),
            error: None,
        },
        Err(why) => EventBody::memory_update_failed(None, None, why),
    };
    log.emit(update).await;
    let outcome = if end.problem.is_some() {
        Outcome::Failed
    } else {
        Outcome::Completed
    };
    log.finish(outcome, end.problem, end.usage, end.cost_micro_usd)
        .await;
}

fn counts_of(learned: &Learned) -> FactCounts {
    let count = |list: usize| u32::try_from(list).unwrap_or(u32::MAX);
    FactCounts {
        added: count(learned.new.len()),
        changed: count(learned.changed.len()),
        removed: count(learned.gone.len()),
    }
}

fn called(model: &ResolvedModel, asked: &Asked, began: Instant) -> EventBody {
    EventBody::ModelCalled {
        model: model.model.name().to_owned(),
        usage: asked.usage,
        cost_micro_usd: asked.cost_micro_usd,
        duration_ms: u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX),
        first_token_ms: None,
        broken_off: false,
    }
}

/// The user's text of a message that was not processed yet.
fn said_in(message: &ChatMessage, from: &ChatToLearnFrom) -> Option<(MessageId, String)> {
    let is_new = message.created_at > from.after && message.created_at <= from.until;
    let text = plain_text(&message.content);
    (message.role == Role::User && is_new && !text.trim().is_empty()).then_some((message.id, text))
}

/// The lessons with ids instead of indices.
fn learned_of(lessons: Lessons, facts: &[Fact], said: &[(MessageId, String)]) -> Learned {
    let known = |place: usize| facts.get(place).map(|fact| fact.id);
    let fact = |id: FactId, text: String, message: usize| {
        said.get(message).map(|(message, _)| NewFact {
            id,
            text,
            message: *message,
        })
    };
    let new = lessons
        .new
        .into_iter()
        .filter_map(|(text, message)| fact(FactId::generate(), text, message));
    let mut seen = HashSet::new();
    let changed = lessons
        .changed
        .into_iter()
        .filter_map(|(place, text, message)| fact(known(place)?, text, message));
    Learned {
        new: new.collect(),
        changed: changed.filter(|fact| seen.insert(fact.id)).collect(),
        gone: lessons.gone.into_iter().filter_map(known).collect(),
    }
}

fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}
