//! What a run waits for a person to say, brought to the client as a form where it can show one. The inbox has it too:
//! whoever answers first is heard.

use std::{collections::HashSet, sync::Arc, time::Duration};

use agent::ApprovalAnswer;
use domain::{EventBody, event::Decision};
use rmcp::{
    Peer, RoleServer,
    model::{
        ClientResult, ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction, ServerRequest,
    },
    service::{ElicitationMode, PeerRequestOptions, RequestContext, RequestHandle},
};
use serde_json::{Value, json};

use crate::runs::{LiveRun, Logged, StillResting};

/// The longest arguments of a call that a form shows, characters.
const ARGUMENTS_SHOWN_CHARS: usize = 2_000;
/// How long sending a form, or withdrawing one, may take.
const PATIENCE: Duration = Duration::from_secs(5);
/// What is said to an agent whose question was dismissed.
const NO_ANSWER: &str = "(The person did not answer.)";

/// The form that the client shows now.
pub(super) struct Asking {
    peer: Peer<RoleServer>,
    can_ask: bool,
    now: Option<(String, RequestHandle<RoleServer>)>,
    /// What the client has been asked; it is asked once.
    asked: HashSet<String>,
}

/// What came of a form.
pub(super) struct Answered {
    ask: String,
    result: Option<ElicitResult>,
}

impl Asking {
    pub(super) fn of(context: &RequestContext<RoleServer>) -> Self {
        let peer = context.peer.clone();
        let can_ask = peer.supported_elicitation_modes().contains(&ElicitationMode::Form);
        Self { peer, can_ask, now: None, asked: HashSet::new() }
    }

    /// Shows the first of these that the client has not been asked yet, one at a time. A form for what has been
    /// answered elsewhere is withdrawn.
    pub(super) async fn turn_to(&mut self, waiting: &[Arc<Logged>]) {
        if !self.can_ask {
            return;
        }
        let still_waits = |id: &str| waiting.iter().any(|logged| ask_id(&logged.event.body) == Some(id));
        if let Some((_, form)) = self.now.take_if(|(id, _)| !still_waits(id)) {
            let reason = Some("It does not need an answer any more.".to_owned());
            // A client that has gone shows no form either.
            drop(tokio::time::timeout(PATIENCE, form.cancel(reason)).await);
        }
        if self.now.is_some() {
            return;
        }
        let new = waiting.iter().find_map(|logged| {
            let id = ask_id(&logged.event.body).filter(|id| !self.asked.contains(*id))?;
            Some((id.to_owned(), form(&logged.event.body)?))
        });
        if let Some((id, form)) = new {
            self.asked.insert(id.clone());
            let form = ServerRequest::ElicitRequest(ElicitRequest::new(form));
            let sent = self.peer.send_request_with_option(form, PeerRequestOptions::no_options());
            let sent = tokio::time::timeout(PATIENCE, sent).await;
            self.now = sent.ok().and_then(Result::ok).map(|handle| (id, handle));
        }
    }

    /// What came of the form; waits for ever where none is shown.
    pub(super) async fn answered(&mut self) -> Answered {
        let Some((ask, form)) = &mut self.now else { return std::future::pending().await };
        let result = match (&mut form.rx).await {
            Ok(Ok(ClientResult::ElicitResult(result))) => Some(result),
            _ => None,
        };
        let answered = Answered { ask: ask.clone(), result };
        self.now = None;
        answered
    }
}

impl Answered {
    /// Brings it to the run. One that was closed without an answer says nothing: the run keeps waiting.
    pub(super) async fn bring(self, live: &LiveRun) {
        let Some(ElicitResult { action, content, .. }) = self.result else { return };
        let said = content.unwrap_or_default();
        let is_question = live.waiting().iter().any(|logged| {
            matches!(&logged.event.body, EventBody::QuestionAsked { question, .. } if *question == self.ask)
        });
        if let (ElicitationAction::Accept | ElicitationAction::Decline, Err(StillResting)) =
            (&action, live.wake_for(&self.ask).await)
        {
            tracing::warn!(run = %live.id, "a run that rests could not be given its answer; the inbox has the question");
        }
        // Somebody else may have been quicker.
        let _ = match (action, is_question) {
            (ElicitationAction::Cancel, _) => return,
            (ElicitationAction::Accept, true) => live.asks.answer_question(&self.ask, words(&said)),
            (_, true) => live.asks.answer_question(&self.ask, NO_ANSWER.to_owned()),
            (action, false) => live.asks.answer_approval(&self.ask, decision(&action, &said)),
        };
    }
}

fn ask_id(event: &EventBody) -> Option<&str> {
    match event {
        EventBody::ApprovalAsked { approval, .. } => Some(approval),
        EventBody::QuestionAsked { question, .. } => Some(question),
        _ => None,
    }
}

fn form(event: &EventBody) -> Option<ElicitRequestParams> {
    let (message, schema) = match event {
        EventBody::ApprovalAsked { name, arguments, .. } => {
            let arguments = arguments.to_string();
            if arguments.chars().count() > ARGUMENTS_SHOWN_CHARS {
                // Nobody is to allow what they cannot see; the inbox shows all of it.
                return None;
            }
            (format!("The agent wants to run {name} with {arguments}. May it?"), approval_form())
        }
        EventBody::QuestionAsked { text, options, .. } => (text.clone(), question_form(options)),
        _ => return None,
    };
    let requested_schema = serde_json::from_value(schema).ok()?;
    Some(ElicitRequestParams::FormElicitationParams { meta: None, message, requested_schema })
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
    let answer =
        json!({"type": "string", "title": "Another answer", "description": "Counts where it is not empty."});
    json!({"type": "object", "properties": {"choice": choice, "answer": answer}})
}

/// Only a clear yes is one.
fn decision(action: &ElicitationAction, said: &Value) -> ApprovalAnswer {
    if matches!(action, ElicitationAction::Accept) && said["decision"] == "allow" {
        return ApprovalAnswer::only(Decision::Allow);
    }
    let reason = said["reason"].as_str().filter(|reason| !reason.trim().is_empty()).map(str::to_owned);
    ApprovalAnswer { reason, ..ApprovalAnswer::only(Decision::Deny) }
}

fn words(said: &Value) -> String {
    let text = |name: &str| said[name].as_str().filter(|text| !text.trim().is_empty());
    text("answer").or_else(|| text("choice")).unwrap_or(NO_ANSWER).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_clear_yes_allows() {
        let allow = json!({"decision": "allow"});
        assert_eq!(decision(&ElicitationAction::Accept, &allow).decision, Decision::Allow);
        assert_eq!(decision(&ElicitationAction::Decline, &allow).decision, Decision::Deny);
        for said in
            [json!({}), json!({"decision": true}), json!(null), json!({"decision": "deny", "reason": " "})]
        {
            let answer = decision(&ElicitationAction::Accept, &said);
            assert_eq!((answer.decision, answer.reason), (Decision::Deny, None));
        }
        let denied = decision(&ElicitationAction::Accept, &json!({"decision": "deny", "reason": "later"}));
        assert_eq!(denied.reason.as_deref(), Some("later"));
    }

    #[test]
    fn own_words_count_more_than_a_choice() {
        assert_eq!(words(&json!({"choice": "red", "answer": "blue"})), "blue");
        assert_eq!(words(&json!({"choice": "red", "answer": " "})), "red");
        assert_eq!(words(&json!({})), NO_ANSWER);
    }
}
