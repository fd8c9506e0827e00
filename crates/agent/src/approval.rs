//! Approval of tool calls by a person: whether it is required, and requesting it.

mod argument_info;
mod rules;

use std::sync::Arc;

use domain::{
    EventBody,
    event::{Decision, Remembered},
};
use serde_json::Value;
use tokio::sync::oneshot;

pub use rules::{ApprovalPolicy, Pattern, Rule, RuleProblem, StandingApproval, Star, Verdict};

use crate::{
    PendingInput,
    journal::{Ask, CallRecord, Recorded},
    pending_input::{ApprovalDecision, ApprovalRequest, NoAnswer},
    tool::{Tool, ToolFailure, Toolbox},
    turns::AgentContext,
};
use argument_info::argument_info;
use rules::Requirement;

/// How a call was approved.
pub(crate) enum Approval {
    /// By a person, possibly with edited arguments.
    Asked(Option<Value>),
    /// No approval was requested: none is required, or a standing approval applies.
    NotAsked(Option<Remembered>),
}

/// Obtains the approval that the call requires.
///
/// # Errors
/// If it must not run, with a message for the model.
pub(crate) async fn approve(
    agent: &Arc<AgentContext>,
    tools: &Toolbox,
    tool: &Arc<Tool>,
    call: &str,
    arguments: &Value,
) -> Result<Approval, ToolFailure> {
    let requirement = |arguments: &Value| {
        let asks = tools.needs_approval(tool.name()) || agent.opens_new_address(tool, arguments);
        agent
            .run
            .deps
            .approval_policy
            .requirement(tool.name(), asks, arguments)
    };
    let may_remember = match requirement(arguments) {
        Requirement::Refused => {
            agent.journal.withdraw_approval(call).await;
            return Err(refused_by_rule());
        }
        Requirement::Approval { may_remember } => may_remember,
        Requirement::Nothing => {
            agent.journal.withdraw_approval(call).await;
            return Ok(Approval::NotAsked(None));
        }
        Requirement::Standing(remembered) if !agent.journal.has_asked_approval(call) => {
            return Ok(Approval::NotAsked(Some(remembered)));
        }
        // A request is already open, so the person's answer counts.
        Requirement::Standing(_) => true,
    };
    let ask = AskApproval {
        waiting: ApprovalRequest {
            tool: Arc::clone(tool),
            arguments: arguments.clone(),
            may_remember,
        },
        new_address: agent.opens_new_address(tool, arguments),
    };
    let answer = agent.journal.ask_until_answered(call, ask).await;
    let answer = answer.unwrap_or_else(undecided);
    match answer.decision {
        Decision::Allow => match answer.arguments {
            Some(edited) if requirement(&edited) == Requirement::Refused => Err(refused_by_rule()),
            edited => Ok(Approval::Asked(edited)),
        },
        Decision::Expired => Err(ToolFailure(
            "Nobody decided about this call in time, so it was not run. Go on without it."
                .to_owned(),
        )),
        Decision::Deny | Decision::Withdrawn => Err(denied(answer.reason)),
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

/// The explanation, for people, of why a call runs although others of its tool require approval.
pub(crate) fn without_asking(remembered: Remembered) -> &'static str {
    match remembered {
        Remembered::Chat => "Runs without asking: you allowed such calls in this chat.",
        Remembered::Always => "Runs without asking: you always allow such calls.",
    }
}

/// A request for approval of a call.
struct AskApproval {
    waiting: ApprovalRequest,
    /// The call opens an address that was not named before.
    new_address: bool,
}

impl Ask for AskApproval {
    type Answer = ApprovalDecision;
    const KIND: char = 'p';

    fn recorded(&self, call: &CallRecord) -> Recorded<ApprovalDecision> {
        let Some(approval) = &call.approval else {
            return Recorded::Nothing;
        };
        match &approval.answer {
            None => Recorded::Open {
                id: approval.id.clone(),
                asked_at: approval.asked_at,
            },
            // The log does not contain the edited arguments.
            Some(decided) if decided.edited => Recorded::Nothing,
            Some(decided) => Recorded::Answered(ApprovalDecision {
                reason: decided.reason.clone(),
                ..ApprovalDecision::only(decided.decision)
            }),
        }
    }

    fn asked(&self, id: &str, call: &str, expires_in_ms: Option<u64>) -> EventBody {
        EventBody::ApprovalAsked {
            approval: id.to_owned(),
            call: call.to_owned(),
            name: self.waiting.tool.name().to_owned(),
            arguments: self.waiting.arguments.clone(),
            may_remember: self.waiting.may_remember,
            new_address: self.new_address,
            argument_info: argument_info(&self.waiting.tool.spec().parameters.to_value()),
            expires_in_ms,
        }
    }

    fn answered(id: String, answer: &Result<ApprovalDecision, NoAnswer>) -> EventBody {
        let answer = answer.clone().unwrap_or_else(undecided);
        EventBody::ApprovalAnswered {
            approval: id,
            decision: answer.decision,
            reason: answer.reason,
            edited: answer.arguments.is_some(),
            remembered: answer.remembered,
        }
    }

    fn register(
        self,
        id: &str,
        pending_input: &PendingInput,
    ) -> oneshot::Receiver<ApprovalDecision> {
        pending_input.approval(id, self.waiting)
    }
}

/// The decision if no person has decided.
fn undecided(why: NoAnswer) -> ApprovalDecision {
    ApprovalDecision::only(match why {
        NoAnswer::Expired => Decision::Expired,
        NoAnswer::Withdrawn => Decision::Withdrawn,
    })
}
