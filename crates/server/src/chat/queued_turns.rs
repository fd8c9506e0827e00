//! The turns that begin with what people wrote to a run and no agent has read before it ended.

use std::sync::Arc;

use agent::RunSpec;
use domain::{
    MessageId, Part, RunId,
    event::{Author, ReceivedInput},
};
use store::{ChatMessage, QueuedTurn, Run, Store, StoreError};

use crate::{
    chat::turns::{NewMessage, Turns},
    error::ApiError,
    gateway::Gateway,
    identity::auth::Authority,
    platform::{
        clock::Clock,
        jobs::{Failure, Steps},
    },
    runtime::commands::Commands,
};

/// Maximum number of turns tried in one pass.
const AT_ONCE: u32 = 1000;
/// How long a turn is tried that cannot begin, for example because its model is gone, milliseconds. After that its
/// inputs stay for people to take back.
pub(crate) const MAX_AGE_MS: i64 = 24 * 3600 * 1000;

/// Begins queued turns.
pub struct QueuedTurns {
    pub(crate) clock: Clock,
    pub(crate) commands: Arc<Commands>,
    pub(crate) gateway: Arc<Gateway>,
    pub(crate) store: Store,
    pub(crate) turns: Arc<Turns>,
}

impl QueuedTurns {
    /// Begins each queued turn whose chat has no active run. One that cannot begin now is tried again in the next pass.
    pub(crate) async fn begin_all(self: Arc<Self>) -> Result<(), Failure> {
        let mut steps = Steps::default();
        let since = self.clock.now_ms().saturating_sub(MAX_AGE_MS);
        for run in self.store.queued_turns(since, AT_ONCE).await? {
            steps.note(&run.to_string(), self.begin(run).await);
        }
        steps.finish()
    }

    async fn begin(&self, run: RunId) -> Result<(), ApiError> {
        let run = self.store.run(run).await?;
        let (Some(chat), Some(message)) = (run.chat, run.message) else {
            return Ok(());
        };
        if !self.commands.going_in(chat).await?.is_empty() {
            return Ok(());
        }
        let Some(turn) = self.store.queued_turn(run.id).await? else {
            return Ok(());
        };
        match self.say(&run, message, turn).await {
            Err(error) if error.is_ours() => Err(error),
            Err(error) => {
                tracing::debug!(run = %run.id, %error, "cannot begin a queued turn yet");
                Ok(())
            }
            begun => begun,
        }
    }

    async fn say(&self, run: &Run, answer: MessageId, turn: QueuedTurn) -> Result<(), ApiError> {
        let chat = self
            .store
            .chat(&run.principal, run.chat.ok_or(StoreError::NotFound)?);
        let chat = chat.await?;
        let messages = self.store.messages(chat.id).await?;
        let answered = messages.iter().find(|message| message.id == answer);
        let model = answered.and_then(|message| message.model.as_deref());
        let permit = self.gateway.permit(Authority::of_run(run));
        let model = self.gateway.resolve(model, &permit)?;
        let earlier = turn.request.as_deref().map(RunSpec::from_json);
        let earlier = earlier.and_then(Result::ok).unwrap_or_default();
        let (text, author) = together(&turn.inputs);
        let new = NewMessage {
            parent: newest_below(&messages, answer).or(chat.current),
            content: vec![Part::Text { text }],
            idempotency: None,
            schedule: None,
            author,
            queued: Some(turn),
            spec: RunSpec {
                parameters: earlier.parameters,
                metadata: earlier.metadata,
                ..RunSpec::default()
            },
        };
        self.turns.say(chat, new, model).await.map(drop)
    }
}

/// The inputs as one message, and its author if that is not the chat's owner. If several people wrote, each input names
/// its author.
fn together(inputs: &[ReceivedInput]) -> (String, Option<Author>) {
    let first = inputs.first().map(|input| &input.by);
    let is_of_one = inputs.iter().all(|input| Some(&input.by) == first);
    let text = |input: &ReceivedInput| match is_of_one {
        true => input.content.clone(),
        false => input.text_for_model(),
    };
    let texts: Vec<String> = inputs.iter().map(text).collect();
    let author = first.filter(|author| is_of_one && !author.is_owner);
    (texts.join("\n\n"), author.cloned())
}

/// The last message of the branch that continues from this one, along the newest messages. `None` if it is gone.
fn newest_below(messages: &[ChatMessage], from: MessageId) -> Option<MessageId> {
    let mut leaf = messages.iter().find(|message| message.id == from)?.id;
    for _ in messages {
        let mut newest_first = messages.iter().rev();
        match newest_first.find(|message| message.parent == Some(leaf)) {
            Some(next) => leaf = next.id,
            None => break,
        }
    }
    Some(leaf)
}

#[cfg(test)]
mod tests {
    use domain::{UserId, event::InputMode};

    use super::*;

    #[test]
    fn inputs_of_several_people_name_them() {
        let input = |name: &str, is_owner, content: &str| ReceivedInput {
            input_id: content.to_owned(),
            mode: InputMode::Queue,
            agent: None,
            by: Author {
                id: UserId::generate(),
                name: name.to_owned(),
                is_owner,
            },
            content: content.to_owned(),
        };
        let owner = input("Ann", true, "Shorter.");
        let guest = input("Bob", false, "In French.");
        let two = [
            owner.clone(),
            ReceivedInput {
                content: "Please.".into(),
                ..owner.clone()
            },
        ];
        assert_eq!(together(&two), ("Shorter.\n\nPlease.".into(), None));
        let (text, author) = together(std::slice::from_ref(&guest));
        assert_eq!(
            (text.as_str(), author),
            ("In French.", Some(guest.by.clone()))
        );
        let both = together(&[owner, guest]);
        assert_eq!(both, ("Shorter.\n\nBob: In French.".into(), None));
    }
}
