//! Alternative answers: several models answer the same message concurrently, and their answers can be merged into
//! another one. Each is an ordinary answer with a run of its own.

use std::{collections::HashMap, sync::Arc};

use agent::{Council, RunSpec};
use domain::{Message, MessageId, Outcome, Part, Role, message::plain_text};
use store::{Alternatives, Chat, ChatMessage, IdempotencyKey};

use super::{Exchange, NewAnswer};
use crate::{
    chat::{after_answer::said_up_to, turns::Turns},
    error::ApiError,
    gateway::{models::ResolvedModel, usage::UsageEstimate},
    identity::auth::Caller,
    messages,
    platform::built_in::TOUR,
    runtime::starting_run::StartingRun,
};

/// Maximum number of alternatives to one message.
const MAX_BESIDE: usize = 16;

/// A request to merge alternatives.
#[derive(Debug)]
pub(crate) struct MergeRequest {
    /// One of the alternatives.
    pub(crate) of: MessageId,
    /// The answers to merge; `None` for all that have ended with a text.
    pub(crate) answers: Option<Vec<MessageId>>,
    /// The model that merges; `None` for that of the answers.
    pub(crate) model: Option<String>,
    /// The number of layers, including the existing answers; `None` for the configured number.
    pub(crate) layers: Option<u32>,
    /// The caller's key of the request.
    pub(crate) idempotency: Option<IdempotencyKey>,
}

/// An answer with its alternatives.
struct Row<'a> {
    first: MessageId,
    /// The message that they answer.
    asked: &'a ChatMessage,
    /// Oldest first, without merged ones.
    answers: Vec<&'a ChatMessage>,
}

impl<'a> Row<'a> {
    fn of(
        messages: &'a [ChatMessage],
        beside: &HashMap<MessageId, Alternatives>,
        one: MessageId,
    ) -> Result<Self, ApiError> {
        let gone = || ApiError::not_found(messages::Chats::NoSuchAnswer);
        let find = |id: MessageId| messages.iter().find(move |message| message.id == id);
        let answer = find(one)
            .filter(|message| message.role == Role::Assistant)
            .ok_or_else(gone)?;
        let first = beside.get(&one).map_or(one, |beside| beside.first);
        let asked = answer.parent.and_then(find).ok_or_else(gone)?;
        if asked.role != Role::User {
            return Err(ApiError::conflict(messages::Chats::AnswerOfOtherProgram));
        }
        let stands_here = |message: &&ChatMessage| match beside.get(&message.id) {
            Some(beside) => beside.first == first && beside.made_of.is_empty(),
            None => message.id == first,
        };
        let answers = messages
            .iter()
            .filter(|message| message.parent == Some(asked.id));
        let answers = answers
            .filter(|message| message.role == Role::Assistant)
            .filter(stands_here)
            .collect();
        Ok(Self {
            first,
            asked,
            answers,
        })
    }

    /// The answers to merge: the chosen ones, or all, of those that have completed or reached a limit with a text.
    fn to_merge(&self, chosen: Option<&[MessageId]>) -> Result<Vec<&'a ChatMessage>, ApiError> {
        let is_here = |id: &MessageId| self.answers.iter().any(|answer| answer.id == *id);
        if let Some(chosen) = chosen
            && !chosen.iter().all(is_here)
        {
            return Err(ApiError::not_found(messages::Chats::NotBeside));
        }
        let is_chosen = |id: &MessageId| chosen.is_none_or(|chosen| chosen.contains(id));
        let answers = self.answers.iter().copied();
        let answers: Vec<_> = answers
            .filter(|answer| is_chosen(&answer.id))
            .filter(|answer| says_something(answer))
            .collect();
        if answers.is_empty() {
            return Err(ApiError::conflict(messages::Chats::NoAnswerToMergeYet));
        }
        Ok(answers)
    }
}

fn says_something(answer: &ChatMessage) -> bool {
    let outcome = answer.summary.as_ref().and_then(|summary| summary.outcome);
    matches!(outcome, Some(Outcome::Completed | Outcome::Limited))
        && !plain_text(&answer.content).trim().is_empty()
}

impl Turns {
    /// Checks whether this many more alternatives may be started.
    ///
    /// # Errors
    /// 404 if the answer does not exist, 409 if there would be too many, 429 if a limit is reached.
    pub(crate) async fn check_room_for_alternatives(
        &self,
        chat: &Chat,
        answered: MessageId,
        models: &[ResolvedModel],
    ) -> Result<(), ApiError> {
        let messages = self.store.messages(chat.id).await?;
        let beside = self.store.alternative_answers(chat.id).await?;
        let row = Row::of(&messages, &beside, answered)?;
        if row.answers.len() + models.len() > MAX_BESIDE {
            return Err(ApiError::conflict(messages::Chats::TooManyBeside {
                count: MAX_BESIDE as u64,
            }));
        }
        let Some(principal) = models.first().map(|model| &model.authority.principal) else {
            return Ok(());
        };
        self.usage.know(principal).await?;
        Ok(self
            .usage
            .check(principal, UsageEstimate::nothing(), models.len() as u64)?)
    }

    /// Starts an alternative to an answer.
    ///
    /// # Errors
    /// 404 if that does not exist.
    pub(crate) async fn answer_alternatively(
        &self,
        chat: Chat,
        new: NewAnswer,
    ) -> Result<Exchange, ApiError> {
        let beside = self.store.alternative_answers(chat.id).await?;
        let first = beside
            .get(&new.answered)
            .map_or(new.answered, |beside| beside.first);
        self.answer_as(
            chat,
            new,
            Some(Alternatives {
                first,
                made_of: Vec::new(),
            }),
        )
        .await
    }

    /// Starts an answer that merges the alternatives.
    ///
    /// # Errors
    /// 404 if one does not exist, 409 if none can be merged, 400 if no model can merge.
    pub(crate) async fn merge_answers(
        self: &Arc<Self>,
        chat: Chat,
        caller: &Caller,
        request: MergeRequest,
    ) -> Result<Exchange, ApiError> {
        let messages = self.store.messages(chat.id).await?;
        let beside = self.store.alternative_answers(chat.id).await?;
        let row = Row::of(&messages, &beside, request.of)?;
        let answers = row.to_merge(request.answers.as_deref())?;
        let model = self
            .merging_model(caller, request.model.as_deref(), &answers)
            .await?;
        let merging = self.pipelines.merging(caller, model).await?;
        let texts: Vec<String> = answers
            .iter()
            .map(|answer| plain_text(&answer.content))
            .collect();
        let said = said_up_to(&messages, row.asked.id);
        let person = self.effective_pipelines.person_variables(&caller.user);
        let now = self.effective_pipelines.time_variables();
        let asked = plain_text(&row.asked.content);
        let prompt = merging.prompt(
            &asked,
            texts.iter().map(String::as_str),
            &said,
            &person,
            &now,
        )?;
        let layers = request.layers.unwrap_or_else(|| merging.layers());
        let members = self.models_of_answers(caller, &answers).await.into_iter();
        let members: Vec<_> = members
            .filter(|model| model.model_id != TOUR)
            .map(|model| model.callable())
            .collect();
        let council = (layers > 1 && !members.is_empty()).then(|| {
            let merging = merging.clone();
            let first = prompt.clone();
            let ask = move |answers: &[String]| {
                let answers = answers.iter().map(String::as_str);
                merging
                    .prompt(&asked, answers, &said, &person, &now)
                    .unwrap_or_else(|_| first.clone())
            };
            Council {
                layers,
                members,
                ask: Arc::new(ask),
            }
        });
        let mut history = self
            .conversations
            .history(&messages, row.asked.parent)
            .await?;
        // Pictures and references belong to the message.
        let others = row
            .asked
            .content
            .iter()
            .filter(|part| !matches!(part, Part::Text { .. }));
        let content = std::iter::once(Part::Text { text: prompt })
            .chain(others.cloned())
            .collect();
        history.push(Message {
            content,
            ..Message::text(Role::User, "")
        });
        let made_of = answers.iter().map(|answer| answer.id).collect();
        let model_id = merging.model.model_id.clone();
        let owner = chat.principal.account;
        let chat_id = chat.id;
        let spec = RunSpec {
            history: Some(history),
            ..merging.spec()
        };
        let start = StartingRun {
            council,
            beside: Some(Alternatives {
                first: row.first,
                made_of,
            }),
            idempotency: request.idempotency,
            ..StartingRun::new(spec, merging.model)
        };
        let begun = self.begin(chat, row.asked.id, None, start).await?;
        self.after_answer
            .record_merge(begun.run, owner, Some(chat_id), model_id);
        Ok(begun)
    }

    /// The models of these answers that exist and that the caller may use.
    async fn models_of_answers(
        &self,
        caller: &Caller,
        answers: &[&ChatMessage],
    ) -> Vec<ResolvedModel> {
        let mut models = Vec::new();
        for answer in answers {
            models.extend(
                self.gateway
                    .resolve_for(caller, answer.model.as_deref())
                    .await,
            );
        }
        models
    }

    /// The named model, or else the first of the answers' models that the caller may use and that can merge.
    async fn merging_model(
        &self,
        caller: &Caller,
        named: Option<&str>,
        answers: &[&ChatMessage],
    ) -> Result<ResolvedModel, ApiError> {
        if named.is_some() {
            return self.gateway.resolve_for(caller, named).await;
        }
        match self
            .models_of_answers(caller, answers)
            .await
            .into_iter()
            .find(|model| model.model_id != TOUR)
        {
            Some(model) => Ok(model),
            None => self.gateway.resolve_for(caller, None).await,
        }
    }
}

#[cfg(test)]
mod tests {
    use domain::{ChatId, RunSummary};

    use super::*;

    fn answer(
        parent: Option<MessageId>,
        role: Role,
        outcome: Option<Outcome>,
        text: &str,
    ) -> ChatMessage {
        ChatMessage {
            id: MessageId::generate(),
            chat: ChatId::generate(),
            parent,
            role,
            content: vec![Part::Text {
                text: text.to_owned(),
            }],
            created_at: 1,
            model: None,
            run: None,
            summary: outcome.map(|outcome| {
                let mut summary = RunSummary::default();
                summary.outcome = Some(outcome);
                summary
            }),
            schedule: None,
            author: None,
        }
    }

    #[test]
    fn only_what_has_ended_and_speaks_is_merged() {
        let asked = answer(None, Role::User, None, "Why?");
        let of = |outcome, text: &str| answer(Some(asked.id), Role::Assistant, outcome, text);
        let first = of(Some(Outcome::Completed), "So.");
        let alone = of(Some(Outcome::Completed), "Said again.");
        let cases = [
            (of(Some(Outcome::Limited), "Because"), true),
            (of(Some(Outcome::Completed), " "), false),
            (of(Some(Outcome::Failed), "Half of"), false),
            (of(Some(Outcome::Cancelled), "Half of"), false),
            (of(None, ""), false),
        ];
        let merged = of(Some(Outcome::Completed), "Merged.");
        let mut beside: HashMap<_, _> = cases
            .iter()
            .map(|(one, _)| {
                (
                    one.id,
                    Alternatives {
                        first: first.id,
                        made_of: Vec::new(),
                    },
                )
            })
            .collect();
        beside.insert(
            merged.id,
            Alternatives {
                first: first.id,
                made_of: vec![first.id],
            },
        );
        let mut messages = vec![asked.clone(), first.clone(), alone.clone(), merged.clone()];
        messages.extend(cases.iter().map(|(one, _)| one.clone()));
        for one in [first.id, merged.id, cases[4].0.id] {
            let row = Row::of(&messages, &beside, one).unwrap_or_else(|_| panic!("{one}"));
            assert_eq!((row.first, row.answers.len()), (first.id, 1 + cases.len()));
            let ids: Vec<_> = row
                .to_merge(None)
                .unwrap()
                .iter()
                .map(|answer| answer.id)
                .collect();
            assert_eq!(ids, [first.id, cases[0].0.id]);
            assert!(row.to_merge(Some(&[alone.id])).is_err());
            for (case, fits) in &cases {
                assert_eq!(row.to_merge(Some(&[case.id])).is_ok(), *fits, "{case:?}");
            }
        }
        assert_eq!(
            Row::of(&messages, &beside, alone.id)
                .map(|row| row.answers.len())
                .ok(),
            Some(1)
        );
        assert!(Row::of(&messages, &beside, asked.id).is_err());
    }
}
