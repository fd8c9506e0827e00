//! Consent given for good: what people have allowed, and how it comes to the runs that are going.

use std::{collections::BTreeMap, sync::Arc};

use agent::{Allowed, ApprovalAnswer, AskError, Consents, Pattern};
use domain::{AllowedCallId, ChatId, ProblemCode, UserId, event::Remembered};
use store::{AllowedCall, StoreError};

use crate::{
    app::App,
    error::ApiError,
    runs::{LiveRun, StillResting},
};

/// Most that one person can have allowed.
const MOST: u32 = 1_000;

/// Further calls that are allowed together with one.
#[derive(Debug)]
pub struct ForGood {
    /// How far it holds.
    pub remembered: Remembered,
    /// What their arguments have to be; nothing where any will do.
    pub arguments: Option<BTreeMap<String, Pattern>>,
}

impl App {
    /// All rules for the calls of a run.
    pub(crate) async fn consents(&self, owner: UserId, chat: Option<ChatId>) -> Result<Consents, StoreError> {
        let allowed = self.store.allowed_calls_in(owner, chat).await?;
        let rules = Arc::clone(&self.config.approvals);
        Ok(Consents::new(rules, allowed.iter().filter_map(read).collect()))
    }

    /// Allows a call that waits and, from now on, all that are like it. Those that wait already go on too.
    ///
    /// # Errors
    /// 409 where nothing waits, 422 where the answer cannot be taken; then nothing is allowed.
    pub async fn allow_for_good(
        &self,
        live: &LiveRun,
        approval: &str,
        answer: ApprovalAnswer,
        ForGood { remembered, arguments }: ForGood,
    ) -> Result<(), ApiError> {
        let chat = match remembered {
            Remembered::Chat => Some(live.chat.ok_or_else(|| {
                ApiError::invalid("This run belongs to no chat: allow the call once, or always.")
            })?),
            Remembered::Always => None,
        };
        let answer = ApprovalAnswer { remembered: Some(remembered), ..answer };
        let tool = live.asks.check_approval(approval, &answer).map_err(not_taken)?;
        let allowed = Allowed { tool, arguments, remembered }.checked();
        let allowed = allowed.map_err(|problem| ApiError::invalid(problem.to_string()))?;
        let row = AllowedCall {
            id: AllowedCallId::generate(),
            owner: live.owner,
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
                let message =
                    format!("You have allowed {MOST} kinds of calls. Take some back in the settings.");
                return Err(ApiError::conflict(message));
            }
            stored => stored?,
        }
        if let Err(error) = live.asks.answer_approval(approval, answer) {
            // Somebody else was quicker: then nothing is to be allowed for good either.
            self.store.ask_again(live.owner, row.id).await?;
            return Err(not_taken(error));
        }
        let runs = match chat {
            Some(chat) => self.runs.live_in(chat),
            None => self.runs.live_of(live.owner),
        };
        for run in runs.into_iter().filter(|run| run.owner == live.owner) {
            run.consents.allow(allowed.clone());
            let allowed = allowed.clone();
            // Those that rest have to be brought back first, which the person need not wait for.
            self.tasks.spawn(async move { run.allow_all(&allowed).await });
        }
        Ok(())
    }
}

/// One that cannot be read any more allows nothing.
fn read(row: &AllowedCall) -> Option<Allowed> {
    let arguments = row.arguments.clone().map(serde_json::from_value).transpose();
    let arguments = arguments
        .inspect_err(|error| tracing::warn!(id = %row.id, %error, "cannot read what a person has allowed"))
        .ok()?;
    let remembered = if row.chat.is_some() { Remembered::Chat } else { Remembered::Always };
    Some(Allowed { tool: row.tool.clone(), arguments, remembered })
}

/// An answer could not be brought, because the run did not come back from its rest.
pub(crate) fn still_resting(_: StillResting) -> ApiError {
    let message = "The run could not be brought back to take the answer. Try again in a moment.";
    ApiError::new(ProblemCode::Unavailable, message)
}

/// An answer to a run that was not taken, as the caller is told.
pub(crate) fn not_taken(error: AskError) -> ApiError {
    use axum::http::StatusCode;
    match error {
        AskError::NotWaiting => ApiError::conflict(error.to_string()),
        AskError::InvalidArguments(_) | AskError::EachTime => {
            ApiError::invalid(error.to_string()).with_status(StatusCode::UNPROCESSABLE_ENTITY)
        }
    }
}
