//! Standing approvals: stores the tool calls that users have allowed permanently, and applies them to active runs.

use std::{collections::BTreeMap, sync::Arc};

use agent::{AnswerError, ApprovalDecision, ApprovalPolicy, Pattern, StandingApproval};
use domain::{
    AllowedCallId, ChatId, ProblemCode,
    event::{Decision, Remembered},
};
use run_registry::{LiveRun, StillHibernated};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use store::{AllowedCall, KeyScope, Principal, StoreError};

use crate::{
    error::ApiError,
    identity::auth::Caller,
    messages,
    runtime::commands::{Command, Commands},
};

/// Maximum number of standing approvals per user.
const MAX_STANDING_APPROVALS: u32 = 1_000;

/// A decision on a tool call.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ApprovalDecision")]
pub(crate) struct AnswerApproval {
    decision: AskedDecision,
    /// Edited arguments.
    arguments: Option<Map<String, Value>>,
    /// The reason, for the model.
    pub(crate) reason: Option<String>,
    /// Also allows further calls of the tool, in this chat or always. Pending calls that match continue at once.
    remember: Option<Remembered>,
    /// Limits this to calls whose arguments match these [patterns](docs/agents/approvals.md), by name.
    #[schemars(with = "Option<BTreeMap<String, String>>")]
    remember_arguments: Option<BTreeMap<String, Pattern>>,
}

/// The possible decisions.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "AllowOrDeny")]
#[serde(rename_all = "snake_case")]
enum AskedDecision {
    Allow,
    Deny,
}

impl AnswerApproval {
    /// A decision on a single call.
    pub(crate) fn once(answer: ApprovalDecision) -> Self {
        let ApprovalDecision {
            decision,
            arguments,
            reason,
            remembered: _,
        } = answer;
        let decision = match decision {
            Decision::Allow => AskedDecision::Allow,
            _ => AskedDecision::Deny,
        };
        let arguments = arguments.and_then(|edited| edited.as_object().cloned());
        Self {
            decision,
            arguments,
            reason,
            remember: None,
            remember_arguments: None,
        }
    }
}

impl AnswerApproval {
    /// Refuses a standing approval that the caller may not give: an API key needs the write scope, and a person behind
    /// a front end may not decide for other chats of the account.
    ///
    /// # Errors
    /// 403.
    pub(crate) fn check_lasting(&self, caller: &Caller) -> Result<(), ApiError> {
        match self.remember {
            None => Ok(()),
            Some(Remembered::Always) if caller.person.is_some() => {
                let message = "On behalf of a person, a front end may allow calls once or in that person's chat, not always.";
                Err(ApiError::forbidden(message))
            }
            Some(_) => caller.check_scope(KeyScope::Write),
        }
    }

    /// The decision for the run, without the standing approval.
    pub(crate) fn answer(&self) -> ApprovalDecision {
        ApprovalDecision {
            decision: match self.decision {
                AskedDecision::Allow => Decision::Allow,
                AskedDecision::Deny => Decision::Deny,
            },
            arguments: self.arguments.clone().map(Value::Object),
            reason: self.reason.clone(),
            remembered: None,
        }
    }
}

/// A standing approval given together with a decision.
#[derive(Debug)]
struct ForGood {
    /// Its scope.
    remembered: Remembered,
    /// Patterns for the arguments; `None` allows any.
    arguments: Option<BTreeMap<String, Pattern>>,
}

impl Commands {
    /// The approval policy for a run. Calls that an account has always allowed do not apply to the people of a front
    /// end: for them only what was allowed in their chat does.
    pub(crate) async fn consents(
        &self,
        principal: &Principal,
        chat: Option<ChatId>,
    ) -> Result<ApprovalPolicy, StoreError> {
        let mut allowed = self.store.allowed_calls_in(principal.account, chat).await?;
        if principal.is_front_end_person() {
            allowed.retain(|allowed| allowed.chat.is_some());
        }
        let rules = Arc::clone(&self.config.now().approvals);
        Ok(ApprovalPolicy::new(
            rules,
            allowed.iter().filter_map(read).collect(),
        ))
    }

    /// Passes a user's decision to a run of this process.
    ///
    /// # Errors
    /// 409 if nothing is pending, 422 if the answer is not valid, 503 if the run does not wake up.
    pub(crate) async fn decide(
        &self,
        live: &Arc<LiveRun>,
        approval: &str,
        said: AnswerApproval,
    ) -> Result<(), ApiError> {
        live.wake_for(approval).await.map_err(still_resting)?;
        let answer = said.answer();
        let Some(remembered) = said.remember else {
            return live
                .pending_input
                .answer_approval(approval, answer)
                .map_err(not_taken);
        };
        if answer.decision != Decision::Allow {
            return Err(ApiError::invalid(messages::Chats::OnlyAllowedRemembered));
        }
        let for_good = ForGood {
            remembered,
            arguments: said.remember_arguments,
        };
        self.allow_for_good(live, approval, answer, for_good).await
    }

    /// Allows a pending call and, from now on, all matching ones, including those that are already pending.
    ///
    /// # Errors
    /// 409 if nothing is pending, 422 if the answer is not valid; then nothing is allowed.
    async fn allow_for_good(
        &self,
        live: &Arc<LiveRun>,
        approval: &str,
        answer: ApprovalDecision,
        ForGood {
            remembered,
            arguments,
        }: ForGood,
    ) -> Result<(), ApiError> {
        let chat = match remembered {
            Remembered::Chat => Some(
                live.chat
                    .ok_or_else(|| ApiError::invalid(messages::Chats::NoChatToAllowIn))?,
            ),
            Remembered::Always => None,
        };
        let answer = ApprovalDecision {
            remembered: Some(remembered),
            ..answer
        };
        let tool = live
            .pending_input
            .check_approval(approval, &answer)
            .map_err(not_taken)?;
        let allowed = StandingApproval {
            tool,
            arguments,
            remembered,
        }
        .checked();
        let allowed = allowed.map_err(|problem| ApiError::invalid(problem.0))?;
        let row = AllowedCall {
            id: AllowedCallId::generate(),
            owner: live.principal.account,
            chat,
            tool: allowed.tool.clone(),
            arguments: allowed
                .arguments
                .as_ref()
                .map(serde_json::to_value)
                .transpose()
                .map_err(ApiError::internal)?,
            created_at: self.clock.now_ms(),
        };
        match self.store.allow_call(&row, MAX_STANDING_APPROVALS).await {
            Err(StoreError::Conflict("limit")) => {
                let message = messages::Chats::TooManyAllowed {
                    count: MAX_STANDING_APPROVALS as u64,
                };
                return Err(ApiError::conflict(message));
            }
            stored => stored?,
        }
        if let Err(error) = live.pending_input.answer_approval(approval, answer) {
            // Another answer was faster: then the standing approval does not apply either.
            self.store.ask_again(live.principal.account, row.id).await?;
            return Err(not_taken(error));
        }
        self.tell_allowed(&live.principal, chat, &allowed).await;
        Ok(())
    }

    /// Applies it to the active runs in the chat, or to all of the principal, on all servers.
    async fn tell_allowed(
        &self,
        principal: &Principal,
        chat: Option<ChatId>,
        allowed: &StandingApproval,
    ) {
        let here = self.runs.live_of(principal);
        here.iter()
            .filter(|run| chat.is_none() || run.chat == chat)
            .for_each(|run| self.allow_in(run, allowed));
        let elsewhere = match self.going_unseen(principal).await {
            Ok(runs) => runs,
            Err(error) => {
                return tracing::warn!(%error, "failed to send a standing approval to runs of other servers");
            }
        };
        for run in elsewhere
            .iter()
            .filter(|run| chat.is_none() || run.chat == chat)
        {
            let allow = Command::Allow {
                allowed: allowed.clone(),
            };
            if let Err(error) = self.leave_word(run, &allow).await {
                tracing::warn!(run = %run.id, %error, "failed to send a standing approval to a run of another server");
            }
        }
    }

    /// Allows such calls in a run of this process.
    pub(crate) fn allow_in(&self, run: &Arc<LiveRun>, allowed: &StandingApproval) {
        run.consents.allow(allowed.clone());
        let run = Arc::clone(run);
        let allowed = allowed.clone();
        // In the background: a hibernated run has to be woken first.
        self.tasks
            .spawn(async move { run.allow_all(&allowed).await });
    }
}

/// A standing approval that cannot be parsed allows nothing.
fn read(row: &AllowedCall) -> Option<StandingApproval> {
    let arguments = row
        .arguments
        .clone()
        .map(serde_json::from_value)
        .transpose();
    let arguments = arguments
        .inspect_err(
            |error| tracing::warn!(id = %row.id, %error, "failed to parse a standing approval"),
        )
        .ok()?;
    let remembered = if row.chat.is_some() {
        Remembered::Chat
    } else {
        Remembered::Always
    };
    Some(StandingApproval {
        tool: row.tool.clone(),
        arguments,
        remembered,
    })
}

/// The error if an answer could not be delivered because the run did not wake up.
pub(crate) fn still_resting(_: StillHibernated) -> ApiError {
    let message = messages::Chats::RunStillRests;
    ApiError::new(ProblemCode::Unavailable, message)
}

/// The error if a run did not accept an answer, for the caller.
pub(crate) fn not_taken(error: AnswerError) -> ApiError {
    use axum::http::StatusCode;
    match error {
        AnswerError::NotWaiting => ApiError::conflict(agent::messages::Approvals::NotWaiting),
        AnswerError::Unfit(fault) => ApiError::invalid(fault.message)
            .with_field(fault.field.as_deref())
            .with_status(StatusCode::UNPROCESSABLE_ENTITY),
        AnswerError::InvalidArguments(why) => {
            ApiError::invalid(agent::messages::Approvals::ArgumentsUnfit { why })
                .with_status(StatusCode::UNPROCESSABLE_ENTITY)
        }
        AnswerError::EachTime => ApiError::invalid(agent::messages::Approvals::AskedEachTime)
            .with_status(StatusCode::UNPROCESSABLE_ENTITY),
    }
}
