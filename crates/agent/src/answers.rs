//! Texts that are emitted as a whole: answers that hooks check first, and texts that no model streams.

use domain::{EventBody, event::Source};

use crate::{
    AnswerForm,
    answer::Answer,
    hooks::{Settled, after_answer, before_answer},
    journal::Step,
    research::unconfirmed,
    turns::{AgentContext, Stop},
};

/// Emits a finished text, as the agent's answer or as an interim message.
pub(crate) async fn write_text(agent: &AgentContext, text: &str, answer: bool) {
    write_cited(agent, text, answer, &[]).await;
}

/// Emits a finished text with those of its citations whose quotes in `proofs` do not confirm their sentence.
async fn write_cited(agent: &AgentContext, text: &str, answer: bool, proofs: &[Source]) {
    let item = agent.journal.next_item('t');
    let text = text.to_owned();
    agent.clear_status().await;
    let sources = unconfirmed(&item, &text, proofs);
    let cited = (!sources.is_empty()).then_some(EventBody::SourcesFound { sources });
    let started = EventBody::TextStarted { item: item.clone() };
    let delta = EventBody::TextDelta {
        item: item.clone(),
        delta: text.clone(),
    };
    let finished = EventBody::TextFinished {
        item,
        text,
        answer,
        reasoning: false,
    };
    let bodies = [Some(started), Some(delta), cited, Some(finished)];
    for body in bodies.into_iter().flatten() {
        agent.emitter.emit(body).await;
    }
}

/// Emits a text as the answer, after hooks have checked or changed it.
///
/// # Errors
/// If a hook withholds it.
pub(crate) async fn write_answer(
    agent: &AgentContext,
    step: u32,
    text: &str,
    form: Option<&AnswerForm>,
) -> Result<String, Stop> {
    let text = checked(agent, step, text.to_owned(), form, false).await?;
    write_text(agent, &text, true).await;
    Ok(text)
}

/// Like [`write_answer`], for a report that cites `proofs`.
///
/// # Errors
/// If a hook withholds it.
pub(crate) async fn write_report(
    agent: &AgentContext,
    step: u32,
    text: &str,
    proofs: &[Source],
) -> Result<String, Stop> {
    let text = checked(agent, step, text.to_owned(), None, false).await?;
    write_cited(agent, &text, true, proofs).await;
    Ok(text)
}

/// The text after hooks have checked or changed it.
async fn checked(
    agent: &AgentContext,
    step: u32,
    text: String,
    form: Option<&AnswerForm>,
    is_replayed: bool,
) -> Result<String, Stop> {
    after_answer(agent, step, text, form, is_replayed)
        .await
        .map_err(|denied| denied.withholds())
}

/// The text of an answer that ends the agent's work regardless of hooks, emitted unless it was streamed.
///
/// # Errors
/// If a hook withholds it.
pub(crate) async fn shown(
    agent: &AgentContext,
    step: u32,
    answer: &Answer,
) -> Result<String, Stop> {
    match answer.held {
        true => write_answer(agent, step, &answer.text, None).await,
        false => Ok(answer.text.clone()),
    }
}

/// The hooks' verdict on an answer.
pub(crate) enum Ended {
    /// The answer is emitted.
    With(String),
    /// The agent continues, because a hook rejected the answer.
    NotYet { said: Answer, reason: String },
}

/// Passes a held-back answer to the hooks, and emits it. `may_go_on`: whether the agent can be asked to continue.
///
/// # Errors
/// If a hook withholds it, or rejects the answer of an agent that cannot continue.
pub(crate) async fn end_with(
    agent: &AgentContext,
    step: &Step<'_>,
    answer: Answer,
    may_go_on: bool,
) -> Result<Ended, Stop> {
    match before_answer(agent, step, &answer).await {
        Settled::SentBack(denied) if !may_go_on => Err(denied.withholds()),
        Settled::SentBack(denied) => {
            if answer.held {
                write_text(agent, &answer.text, false).await;
            }
            Ok(Ended::NotYet {
                said: answer,
                reason: denied.text_for_model(),
            })
        }
        Settled::Stands if answer.held => {
            let replayed = step.is_replayed();
            let text = checked(agent, step.number(), answer.text, None, replayed).await?;
            write_text(agent, &text, true).await;
            Ok(Ended::With(text))
        }
        Settled::Stands => Ok(Ended::With(answer.text)),
    }
}
