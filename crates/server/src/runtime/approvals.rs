//! Consent given for good: what people have allowed, and how it comes to the runs that are going.

use std::{collections::BTreeMap, sync::Arc};

use agent::{AnswerError, ApprovalDecision, ApprovalPolicy, Pattern, StandingApproval};
use domain::{
    AllowedCallId, ChatId, ProblemCode,
    event::{Decision, Remembered},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use store::{AllowedCall, KeyScope, Principal, StoreError};

use crate::{
    error::ApiError,
    identity::auth::Caller,
    messages,
    runtime::{
        commands::{Command, Commands},
        runs::{LiveRun, StillHibernated},
    },
};

/// Most that one person can have allowed.
const MOST: u32 = 1_000;

/// A decision on a tool call.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ApprovalDecision")]
pub(crate) struct AnswerApproval {
    decision: AskedDecision,
    /// Edited arguments.
    arguments: Option<Map<String, Value>>,
    /// Why, for the model.
    pub(crate) reason: Option<String>,
    /// Allows further calls of the tool too, in this chat or always. Calls that are waiting and match continue at
    /// once.
    remember: Option<Remembered>,
    /// Of those only the ones whose arguments match these [patterns](docs/agents/approvals.md), by name.
    #[schemars(with = "Option<BTreeMap<String, String>>")]
    remember_arguments: Option<BTreeMap<String, Pattern>>,
}

/// What a person can decide.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "AllowOrDeny")]
#[serde(rename_all = "snake_case")]
enum AskedDecision {
    Allow,
    Deny,
}

impl AnswerApproval {
    /// A decision on one call alone.
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
    /// Refuses a standing approval that is not the caller's to give: a key needs to be good for writing, and a front end's
    /// person speaks for no other chats of the account.
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

    /// What the run is told, without what is remembered.
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

/// Further calls that are allowed together with one.
#[derive(Debug)]
struct ForGood {
    /// How far it holds.
    remembered: Remembered,
    /// What their arguments have to be; nothing where any will do.
    arguments: Option<BTreeMap<String, Pattern>>,
}

impl Commands {
    /// All rules for the calls of a run. What the account has always allowed holds for itself, not for the people of a
    /// front end: for these only what was allowed in their chat.
    pub(crate) async fn consents(
        &self,
        principal: &Principal,
        chat: Option<ChatId>,
    ) -> Result<ApprovalPolicy, StoreError> {
        let mut allowed = self.store.allowed_calls_in(principal.account, chat).await?;
        if principal.is_front_end_person() {
            allowed.retain(|allowed| allowed.chat.is_some());
        }
        let rules = Arc::clone(&self.config.approvals);
        Ok(ApprovalPolicy::new(
            rules,
            allowed.iter().filter_map(read).collect(),
        ))
    }

    /// Hands a person's decision to a run of this process.
    ///
    /// # Errors
    /// 409 where nothing waits, 422 where the answer cannot be taken, 503 where the run does not come back from its rest.
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

    /// Allows a call that waits and, from now on, all that are like it. Those that wait already go on too.
    ///
    /// # Errors
    /// 409 where nothing waits, 422 where the answer cannot be taken; then nothing is allowed.
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
        match self.store.allow_call(&row, MOST).await {
            Err(StoreError::Conflict("limit")) => {
                let message = messages::Chats::TooManyAllowed { count: MOST as u64 };
                return Err(ApiError::conflict(message));
            }
            stored => stored?,
        }
        if let Err(error) = live.pending_input.answer_approval(approval, answer) {
            // Somebody else was quicker: then nothing is to be allowed for good either.
            self.store.ask_again(live.principal.account, row.id).await?;
            return Err(not_taken(error));
        }
        self.tell_allowed(&live.principal, chat, &allowed).await;
        Ok(())
    }

    /// Tells the runs that are going in the chat, or all of the person, wherever they are.
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
                return tracing::warn!(%error, "other servers' runs do not know what was allowed");
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
                tracing::warn!(run = %run.id, %error, "a run of another server does not know what was allowed");
            }
        }
    }

    /// Allows such calls in a run of this process.
    pub(crate) fn allow_in(&self, run: &Arc<LiveRun>, allowed: &StandingApproval) {
        run.consents.allow(allowed.clone());
        let (run, allowed) = (Arc::clone(run), allowed.clone());
        // One that rests has to be brought back first, which the person need not wait for.
        self.tasks
            .spawn(async move { run.allow_all(&allowed).await });
    }
}

/// One that cannot be read any more allows nothing.
fn read(row: &AllowedCall) -> Option<StandingApproval> {
    let arguments = row
        .arguments
        .clone()
        .map(serde_json::from_value)
        .transpose();
    let arguments = arguments
        .inspect_err(
            |error| tracing::warn!(id = %row.id, %error, "cannot read what a person has allowed"),
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

/// An answer could not be brought, because the run did not come back from its rest.
pub(crate) fn still_resting(_: StillHibernated) -> ApiError {
    let message = messages::Chats::RunStillRests;
    ApiError::new(ProblemCode::Unavailable, message)
}

/// An answer to a run that was not taken, as the caller is told.
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
