//! Texts that are emitted as a whole: answers that hooks check first, and texts that no model streams.

use domain::EventBody;

use crate::{
    AnswerForm,
    answer::Answer,
    hooks::{Settled, after_answer, before_answer},
    journal::Step,
    turns::{AgentContext, Stop},
};

/// Emits a finished text, as the agent's answer or as an interim message.
pub(crate) async fn write_text(agent: &AgentContext, text: &str, answer: bool) {
    let item = agent.journal.next_item('t');
    let text = text.to_owned();
    agent.clear_status().await;
    for body in [
        EventBody::TextStarted { item: item.clone() },
        EventBody::TextDelta {
            item: item.clone(),
            delta: text.clone(),
        },
        EventBody::TextFinished {
            item,
            text,
            answer,
            reasoning: false,
        },
    ] {
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
    show(agent, step, text.to_owned(), form, false).await
}

async fn show(
    agent: &AgentContext,
    step: u32,
    text: String,
    form: Option<&AnswerForm>,
    is_replayed: bool,
) -> Result<String, Stop> {
    let text = after_answer(agent, step, text, form, is_replayed)
        .await
        .map_err(|denied| denied.withholds())?;
    write_text(agent, &text, true).await;
    Ok(text)
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
            let text = show(agent, step.number(), answer.text, None, step.is_replayed());
            text.await.map(Ended::With)
        }
        Settled::Stands => Ok(Ended::With(answer.text)),
    }
}
