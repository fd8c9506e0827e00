//! Shows a run's pending approvals and questions to the client as forms (MCP elicitation), if it supports them. They
//! are in the inbox too: the first answer counts.

use std::{collections::HashMap, sync::Arc, time::Duration};

use agent::ApprovalDecision;
use domain::{EventBody, ProblemCode, Reply, RunId, event::Decision};
use rmcp::{
    Peer, RoleServer,
    model::{
        ClientResult, ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction,
        ServerRequest,
    },
    service::{ElicitationMode, PeerRequestOptions, RequestContext, RequestHandle},
};
use run_registry::Logged;
use serde_json::{Value, json};

use crate::{
    app::App,
    runtime::commands::{Command, or_answered},
};

/// Maximum length of a call's arguments in a form, characters.
const ARGUMENTS_SHOWN_CHARS: usize = 2_000;
/// Added for a call that opens an address which neither the person nor a search has named.
const NEW_ADDRESS: &str = " Neither you nor a search has named this address, and an address can carry away what the agent knows.";
/// Timeout for sending or withdrawing a form.
const PATIENCE: Duration = Duration::from_secs(5);
/// How often a form is shown while its answers are invalid; the question stays in the inbox all the time.
const TRIES: u32 = 3;

/// The form that the client shows at the moment.
pub(super) struct Asking {
    peer: Peer<RoleServer>,
    can_ask: bool,
    now: Option<(String, RequestHandle<RoleServer>)>,
    /// How often each question was shown; once, unless an answer was invalid.
    asked: HashMap<String, u32>,
    /// The question to show again, and what was wrong with its answer.
    again: Option<Unfit>,
}

/// An answer that does not match its form.
pub(super) struct Unfit {
    ask: String,
    fault: String,
}

/// The client's response to a form.
pub(super) struct Answered {
    ask: String,
    result: Option<ElicitResult>,
}

impl Asking {
    pub(super) fn of(context: &RequestContext<RoleServer>) -> Self {
        let peer = context.peer.clone();
        let can_ask = peer
            .supported_elicitation_modes()
            .contains(&ElicitationMode::Form);
        Self {
            peer,
            can_ask,
            now: None,
            asked: HashMap::new(),
            again: None,
        }
    }

    /// Shows the first of these that was not shown yet, one at a time. Withdraws the form of a question that was
    /// answered elsewhere.
    pub(super) async fn turn_to(&mut self, waiting: &[Arc<Logged>]) {
        if !self.can_ask {
            return;
        }
        let still_waits = |id: &str| {
            waiting
                .iter()
                .any(|logged| ask_id(&logged.event.body) == Some(id))
        };
        if let Some((_, form)) = self.now.take_if(|(id, _)| !still_waits(id)) {
            let reason = Some("It does not need an answer any more.".to_owned());
            // Best effort: a client that has disconnected shows no form.
            drop(tokio::time::timeout(PATIENCE, form.cancel(reason)).await);
        }
        if self.now.is_some() {
            return;
        }
        let again = self.again.take();
        let new = waiting.iter().find_map(|logged| {
            let id = ask_id(&logged.event.body)?;
            let fault = again
                .as_ref()
                .filter(|again| again.ask == id)
                .map(|again| again.fault.as_str());
            let is_due = fault.is_some() || !self.asked.contains_key(id);
            Some((
                id.to_owned(),
                form(&logged.event.body, fault).filter(|_| is_due)?,
            ))
        });
        if let Some((id, form)) = new {
            *self.asked.entry(id.clone()).or_default() += 1;
            let form = ServerRequest::ElicitRequest(ElicitRequest::new(form));
            let sent = self
                .peer
                .send_request_with_option(form, PeerRequestOptions::no_options());
            let sent = tokio::time::timeout(PATIENCE, sent).await;
            self.now = sent.ok().and_then(Result::ok).map(|handle| (id, handle));
        }
    }

    /// Shows the form again, unless it was shown `TRIES` times.
    pub(super) fn ask_again(&mut self, unfit: Unfit) {
        self.again = Some(unfit).filter(|unfit| {
            self.asked
                .get(&unfit.ask)
                .is_none_or(|times| *times < TRIES)
        });
    }

    /// Waits for the response to the form; pending forever if none is shown.
    pub(super) async fn answered(&mut self) -> Answered {
        let Some((ask, form)) = &mut self.now else {
            return std::future::pending().await;
        };
        let result = match (&mut form.rx).await {
            Ok(Ok(ClientResult::ElicitResult(result))) => Some(result),
            _ => None,
        };
        let answered = Answered {
            ask: ask.clone(),
            result,
        };
        self.now = None;
        answered
    }
}

impl Answered {
    /// Sends it to the run. A form that was closed without an answer is ignored: the run keeps waiting. Returns the
    /// answer if it does not match the form.
    pub(super) async fn bring(
        self,
        app: &App,
        run: RunId,
        waiting: &[Arc<Logged>],
    ) -> Option<Unfit> {
        let ElicitResult {
            action, content, ..
        } = self.result?;
        let said = content.unwrap_or_default();
        let has_form = waiting.iter().find_map(|logged| match &logged.event.body {
            EventBody::QuestionAsked {
                question, schema, ..
            } if *question == self.ask => Some(schema.is_some()),
            _ => None,
        });
        let command = match (action, has_form) {
            (ElicitationAction::Cancel, _) => return None,
            (action, None) => Command::approve(&self.ask, decision(&action, &said)),
            (ElicitationAction::Accept, Some(has_form)) => {
                Command::answer(&self.ask, reply(said, has_form))
            }
            (_, Some(_)) => Command::answer(&self.ask, Reply::Declined(None)),
        };
        // It may have been answered elsewhere in the meantime.
        match or_answered(app.commands.tell(run, command).await) {
            Ok(()) => None,
            Err(error) if error.problem().code == ProblemCode::InvalidRequest => Some(Unfit {
                ask: self.ask,
                fault: error.problem().message.clone(),
            }),
            Err(error) => {
                tracing::warn!(%run, %error, "failed to deliver an answer to a run; its question stays in the inbox");
                None
            }
        }
    }
}

fn ask_id(event: &EventBody) -> Option<&str> {
    match event {
        EventBody::ApprovalAsked { approval, .. } => Some(approval),
        EventBody::QuestionAsked { question, .. } => Some(question),
        _ => None,
    }
}

/// The form for the client; `fault` is what was wrong with its previous answer.
fn form(event: &EventBody, fault: Option<&str>) -> Option<ElicitRequestParams> {
    let (message, schema) = match event {
        EventBody::ApprovalAsked {
            name,
            arguments,
            new_address,
            ..
        } => {
            let why = if *new_address { NEW_ADDRESS } else { "" };
            let arguments = arguments.to_string();
            if arguments.chars().count() > ARGUMENTS_SHOWN_CHARS {
                // People must see everything they approve; the inbox shows all of it.
                return None;
            }
            (
                format!("The agent wants to run {name} with {arguments}.{why} May it?"),
                approval_form(),
            )
        }
        EventBody::QuestionAsked {
            text,
            schema: Some(form),
            ..
        } => (text.clone(), form.schema()),
        EventBody::QuestionAsked { text, options, .. } => (text.clone(), question_form(options)),
        _ => return None,
    };
    let message = fault.map_or_else(|| message.clone(), |fault| format!("{fault}\n\n{message}"));
    let requested_schema = serde_json::from_value(schema).ok()?;
    Some(ElicitRequestParams::FormElicitationParams {
        meta: None,
        message,
        requested_schema,
    })
}

fn approval_form() -> Value {
    json!({
        "type": "object",
        "properties": {
            "decision": {"type": "string", "title": "Decision", "enum": ["allow", "deny"]},
            "reason": {"type": "string", "title": "Why not", "description": "For the agent, where you deny it."},
        },
        "required": ["decision"],
    })
}

fn question_form(options: &[String]) -> Value {
    let other = json!({"type": "string", "title": "Answer"});
    if options.is_empty() {
        return json!({"type": "object", "properties": {"answer": other}, "required": ["answer"]});
    }
    let choice = json!({"type": "string", "title": "Choice", "enum": options});
    let answer = json!({"type": "string", "title": "Another answer", "description": "Counts where it is not empty."});
    json!({"type": "object", "properties": {"choice": choice, "answer": answer}})
}

/// Denies unless the answer is an explicit `allow`.
fn decision(action: &ElicitationAction, said: &Value) -> ApprovalDecision {
    if matches!(action, ElicitationAction::Accept) && said["decision"] == "allow" {
        return ApprovalDecision::only(Decision::Allow);
    }
    let reason = said["reason"]
        .as_str()
        .filter(|reason| !reason.trim().is_empty())
        .map(str::to_owned);
    ApprovalDecision {
        reason,
        ..ApprovalDecision::only(Decision::Deny)
    }
}

fn reply(said: Value, has_form: bool) -> Reply {
    match said {
        Value::Object(values) if has_form => Reply::Values(values),
        said => {
            let text = |name: &str| said[name].as_str().filter(|text| !text.trim().is_empty());
            text("answer")
                .or_else(|| text("choice"))
                .map_or(Reply::Declined(None), Reply::from)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_clear_yes_allows() {
        let allow = json!({"decision": "allow"});
        assert_eq!(
            decision(&ElicitationAction::Accept, &allow).decision,
            Decision::Allow
        );
        assert_eq!(
            decision(&ElicitationAction::Decline, &allow).decision,
            Decision::Deny
        );
        for said in [
            json!({}),
            json!({"decision": true}),
            json!(null),
            json!({"decision": "deny", "reason": " "}),
        ] {
            let answer = decision(&ElicitationAction::Accept, &said);
            assert_eq!((answer.decision, answer.reason), (Decision::Deny, None));
        }
        let denied = decision(
            &ElicitationAction::Accept,
            &json!({"decision": "deny", "reason": "later"}),
        );
        assert_eq!(denied.reason.as_deref(), Some("later"));
    }

    #[test]
    fn own_words_count_more_than_a_choice() {
        assert_eq!(
            reply(json!({"choice": "red", "answer": "blue"}), false),
            "blue".into()
        );
        assert_eq!(
            reply(json!({"choice": "red", "answer": " "}), false),
            "red".into()
        );
        assert_eq!(reply(json!({}), false), Reply::Declined(None));
    }
}
