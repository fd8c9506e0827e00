//! A person's consent to a tool call: whether it is needed, and asking for it.

mod rules;

use std::{sync::Arc, time::Duration};

use domain::{
    EventBody,
    event::{Decision, Remembered},
};
use serde_json::Value;

pub use rules::{Allowed, Consents, Pattern, Rule, RuleProblem, Star, Verdict};

use crate::{
    asks::{ApprovalAnswer, NoAnswer, WaitingCall},
    past::{PastApproval, PastDecision},
    step::millis,
    tool::{Tool, ToolFailure, Toolbox},
    turns::AgentContext,
};
use rules::Need;

/// How a call came to be allowed.
pub(crate) enum Consent {
    /// A person was asked, and perhaps gave other arguments.
    Asked(Option<Value>),
    /// Nobody was asked: it needs no consent, or has it from before.
    Given(Option<Remembered>),
}

/// Gets the consent that the call needs.
///
/// # Errors
/// Where it must not run, with a sentence for the model.
pub(crate) async fn consent(
    agent: &Arc<AgentContext>,
    tools: &Toolbox,
    tool: &Arc<Tool>,
    call: &str,
    arguments: &Value,
) -> Result<Consent, ToolFailure> {
    let need = |arguments: &Value| {
        let asks = tools.needs_approval(tool.name()) || agent.opens_new_address(tool, arguments);
        agent.run.consents.need(tool.name(), asks, arguments)
    };
    let may_remember = match need(arguments) {
        Need::Refused => {
            withdraw_past_approval(agent, call).await;
            return Err(refused_by_rule());
        }
        Need::Consent { may_remember } => may_remember,
        Need::Nothing => {
            withdraw_past_approval(agent, call).await;
            return Ok(Consent::Given(None));
        }
        Need::Given(remembered) if !was_asked(agent, call) => {
            return Ok(Consent::Given(Some(remembered)));
        }
        // It was asked about before, and somebody waits for that answer.
        Need::Given(_) => true,
    };
    let new_address = agent.opens_new_address(tool, arguments);
    let waiting = WaitingCall {
        tool: Arc::clone(tool),
        arguments: arguments.clone(),
        may_remember,
    };
    let answer = ask(agent, call, waiting, new_address).await;
    match answer.decision {
        Decision::Allow => match answer.arguments {
            Some(edited) if need(&edited) == Need::Refused => Err(refused_by_rule()),
            edited => Ok(Consent::Asked(edited)),
        },
        Decision::Expired => Err(ToolFailure(
            "Nobody decided about this call in time, so it was not run. Go on without it."
                .to_owned(),
        )),
        Decision::Deny | Decision::Withdrawn => Err(denied(answer.reason)),
    }
}

/// Takes back what was asked about the call before a restart, and is not asked any more.
pub(crate) async fn withdraw_past_approval(agent: &AgentContext, call: &str) {
    let past = agent
        .run
        .past
        .of_call(call)
        .and_then(|past| past.approval.as_ref());
    if let Some(PastApproval {
        id, answer: None, ..
    }) = past
    {
        let (approval, decision) = (id.clone(), Decision::Withdrawn);
        let taken_back = EventBody::ApprovalAnswered {
            approval,
            decision,
            reason: None,
            edited: false,
            remembered: None,
        };
        agent.emitter.emit(taken_back).await;
    }
}

fn refused_by_rule() -> ToolFailure {
    ToolFailure("The administrator's rules do not allow this call. Do not repeat it.".to_owned())
}

fn denied(reason: Option<String>) -> ToolFailure {
    let why = reason.filter(|reason| !reason.trim().is_empty());
    let why = why.map_or_else(
        || "no reason was given".to_owned(),
        |why| format!("the reason: {why}"),
    );
    ToolFailure(format!(
        "The person did not allow this call; {why}. Do not repeat it."
    ))
}

/// Why a call runs that others of its tool wait for consent, for people.
pub(crate) fn without_asking(remembered: Remembered) -> &'static str {
    match remembered {
        Remembered::Chat => "Runs without asking: you allowed such calls in this chat.",
        Remembered::Always => "Runs without asking: you always allow such calls.",
    }
}

fn was_asked(agent: &AgentContext, call: &str) -> bool {
    agent
        .run
        .past
        .of_call(call)
        .is_some_and(|past| past.approval.is_some())
}

async fn ask(
    agent: &AgentContext,
    call: &str,
    waiting: WaitingCall,
    new_address: bool,
) -> ApprovalAnswer {
    let past = agent
        .run
        .past
        .of_call(call)
        .and_then(|past| past.approval.as_ref());
    let limit = agent.run.limits.waiting;
    let (approval, receiver, within) = match past {
        Some(PastApproval {
            id,
            asked_at,
            answer: None,
        }) => {
            // It was asked before the server was restarted.
            let within = agent.run.past.left_of(*asked_at, limit);
            (id.clone(), agent.run.asks.approval(id, waiting), within)
        }
        Some(PastApproval {
            answer: Some(past), ..
        }) if !past.edited => {
            let PastDecision {
                decision, reason, ..
            } = past.clone();
            return ApprovalAnswer {
                reason,
                ..ApprovalAnswer::only(decision)
            };
        }
        Some(_) | None => {
            let approval = agent.next_item('p');
            let asked = EventBody::ApprovalAsked {
                approval: approval.clone(),
                call: call.to_owned(),
                name: waiting.tool.name().to_owned(),
                arguments: waiting.arguments.clone(),
                may_remember: waiting.may_remember,
                new_address,
                expires_in_ms: expires_in_ms(limit),
            };
            let receiver = agent.run.asks.approval(&approval, waiting);
            agent.emitter.emit(asked).await;
            (approval, receiver, limit)
        }
    };
    let answer = agent.run.asks.answer(&approval, receiver, within).await;
    let answer = answer.unwrap_or_else(|none| match none {
        NoAnswer::Expired => ApprovalAnswer::only(Decision::Expired),
        NoAnswer::Withdrawn => ApprovalAnswer::only(Decision::Withdrawn),
    });
    agent
        .emitter
        .emit(EventBody::ApprovalAnswered {
            approval,
            decision: answer.decision,
            reason: answer.reason.clone(),
            edited: answer.arguments.is_some(),
            remembered: answer.remembered,
        })
        .await;
    answer
}

/// What the log says of the time that people have; nothing where there is no end to it.
pub(crate) fn expires_in_ms(limit: Duration) -> Option<u64> {
    (limit < crate::budget::NO_TIME_LIMIT).then(|| millis(limit))
}
