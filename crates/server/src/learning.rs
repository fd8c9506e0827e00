//! Learns about people from what they write, where they have turned it on: beside all else, one chat after the other,
//! and only once a chat rests. What was looked at is marked in the database.

use std::{collections::HashSet, sync::Arc, time::Duration};

use agent::learning::{Asked, KnownFact, Lessons, MOST_FACTS, ask};
use domain::{FactId, MessageId, Role, message::plain_text};
use serde_json::Map;
use store::{ChatMessage, ChatToLearnFrom, Fact, Learned, NewFact, Principal, StoreError, UsageSum};

use crate::{
    app::App,
    auth::Authority,
    models::{ResolvedModel, TOUR},
};

/// How long a chat has to rest.
const REST: Duration = Duration::from_secs(120);
/// How often chats are looked for.
const LOOK: Duration = Duration::from_secs(30);
/// Most chats looked at in a row.
const MOST_CHATS: u32 = 20;
/// How often a chat is tried whose model does not answer.
const MOST_TRIES: u64 = 3;
/// How long until it is tried again, the first time.
const RETRY: Duration = Duration::from_secs(600);

/// Goes on until the server stops; what it is about to ask then is asked again after the next start.
pub(crate) async fn keep_learning(app: Arc<App>) {
    loop {
        let look = async {
            tokio::time::sleep(LOOK).await;
            app.learn().await;
        };
        tokio::select! {
            () = app.stopping.cancelled() => return,
            () = look => {}
        }
    }
}

impl App {
    /// Looks at the chats that rest, once.
    pub async fn learn(&self) {
        let now = self.clock.now_ms();
        let quiet_since = now.saturating_sub(millis(REST));
        let chats = match self.store.chats_to_learn_from(quiet_since, now, MOST_CHATS).await {
            Ok(chats) => chats,
            Err(error) => return tracing::warn!(%error, "cannot look for chats to learn from"),
        };
        for from in chats {
            match self.learn_from(&from).await {
                // The chat was deleted meanwhile.
                Ok(()) | Err(StoreError::NotFound) => {}
                Err(error) => tracing::warn!(chat = %from.chat, %error, "cannot learn from a chat"),
            }
        }
    }

    async fn learn_from(&self, from: &ChatToLearnFrom) -> Result<(), StoreError> {
        let messages = self.store.messages(from.chat).await?;
        let said: Vec<(MessageId, String)> =
            messages.iter().filter_map(|message| said_in(message, from)).collect();
        let (Some(model), false) = (self.model_of(from, &messages), said.is_empty()) else {
            return self.store.learn(from, &Learned::default(), 0, self.clock.now_ms()).await.map(drop);
        };
        let facts = self.store.facts(from.owner).await?;
        let known: Vec<KnownFact> = facts
            .iter()
            .map(|fact| KnownFact { text: fact.text.clone(), corrected: fact.corrected })
            .collect();
        let texts: Vec<String> = said.iter().map(|(_, text)| text.clone()).collect();
        let about = self.one_shot(&model, Some(from.chat), Map::new()).await?;
        let learned = match ask(about.of(&model.model), &known, &texts).await {
            Ok(asked) => self.note_asked(from, &model, asked),
            Err(error) if from.failures + 1 < MOST_TRIES => {
                tracing::info!(chat = %from.chat, %error, "the model did not answer; will learn from the chat later");
                self.runs.metrics().learning.note_failed();
                let wait = millis(RETRY) << from.failures.min(8);
                return self.store.learn_later(from, self.clock.now_ms() + wait).await;
            }
            Err(error) => {
                tracing::warn!(chat = %from.chat, %error, "the model did not answer; nothing is learned from the chat");
                self.runs.metrics().learning.note_failed();
                None
            }
        };
        let learned = learned.map(|lessons| learned_of(lessons, &facts, &said)).unwrap_or_default();
        let most = u32::try_from(MOST_FACTS).unwrap_or(u32::MAX);
        self.store.learn(from, &learned, most, self.clock.now_ms()).await.map(drop)
    }

    /// The model of the chat's last answer, where it is still there.
    fn model_of(&self, from: &ChatToLearnFrom, messages: &[ChatMessage]) -> Option<ResolvedModel> {
        let last = messages.iter().rev().find_map(|message| message.model.as_deref());
        let last = last.filter(|model| *model != TOUR)?;
        self.resolve(Some(last), &self.permit(Authority::of_account(from.owner))).ok()
    }

    fn note_asked(&self, from: &ChatToLearnFrom, model: &ResolvedModel, asked: Asked) -> Option<Lessons> {
        let Asked { lessons, usage, cost_micro_usd } = asked;
        self.runs.metrics().learning.note(lessons.is_some(), usage, cost_micro_usd);
        let sum = UsageSum::of_call(usage, cost_micro_usd);
        self.usage.note(&Principal::of_account(from.owner), model.model.name(), sum);
        let (input_tokens, output_tokens) = (usage.input_tokens, usage.output_tokens);
        let understood = lessons.is_some();
        tracing::info!(
            chat = %from.chat, model = %model.id, input_tokens, output_tokens, cost_micro_usd, understood,
            "looked at a chat to learn from it"
        );
        lessons
    }
}

/// What the person said in a message that was not looked at.
fn said_in(message: &ChatMessage, from: &ChatToLearnFrom) -> Option<(MessageId, String)> {
    let is_new = message.created_at > from.after && message.created_at <= from.until;
    let text = plain_text(&message.content);
    (message.role == Role::User && is_new && !text.trim().is_empty()).then_some((message.id, text))
}

/// The lessons with ids in the places of places.
fn learned_of(lessons: Lessons, facts: &[Fact], said: &[(MessageId, String)]) -> Learned {
    let known = |place: usize| facts.get(place).map(|fact| fact.id);
    let fact = |id: FactId, text: String, message: usize| {
        said.get(message).map(|(message, _)| NewFact { id, text, message: *message })
    };
    let new = lessons.new.into_iter().filter_map(|(text, message)| fact(FactId::generate(), text, message));
    let mut seen = HashSet::new();
    let changed =
        lessons.changed.into_iter().filter_map(|(place, text, message)| fact(known(place)?, text, message));
    Learned {
        new: new.collect(),
        changed: changed.filter(|fact| seen.insert(fact.id)).collect(),
        gone: lessons.gone.into_iter().filter_map(known).collect(),
    }
}

fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}
