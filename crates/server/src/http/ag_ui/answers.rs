//! Passes the client's answers to the run that waits for them, and finds the position at which its stream continues.

use agent::ApprovalDecision;
use domain::{Form, Reply, RunId, event::Decision};
use serde_json::Value;
use sse::Frame;
use store::Chat;
use wire::ag_ui::{AgUiEncoder, Answer, Ask, AskKind, ClientRun, RunInput};

use crate::{
    app::App,
    error::ApiError,
    runtime::commands::{Command, or_answered},
};

/// A run that continues in a new run of the client.
pub(in crate::http) struct GoOn {
    pub(in crate::http) run: RunId,
    /// The last event the client has.
    pub(in crate::http) after: u64,
    pub(in crate::http) encoder: AgUiEncoder,
    pub(in crate::http) opening: Vec<Frame>,
}

/// The run of this chat that the input answers, or that waits for an answer; `None` to start a new run. If the input
/// does not answer every open request that the client knows of, no answer is passed on and the client is asked again.
pub(in crate::http) async fn go_on(
    app: &App,
    chat: &Chat,
    input: &RunInput,
    client_run: &ClientRun,
) -> Result<Option<GoOn>, ApiError> {
    let Some((run, at)) = waiting_run(app, chat, input).await? else {
        if !input.resume.is_empty() && input.said().is_none() {
            return Err(ApiError::conflict(
                "Nothing in this thread waits for these answers (any more).",
            ));
        }
        return Ok(None);
    };
    let place = read_to(app, run, at, client_run).await?;
    let answers: Vec<Option<Answer>> = place
        .open
        .iter()
        .map(|ask| answer_to(ask, run, input))
        .collect();
    let mut answered = Vec::new();
    if answers.iter().all(Option::is_some) {
        let brought = place.open.iter().zip(answers.into_iter().flatten());
        let brought: Vec<(&Ask, Command)> = brought
            .map(|(ask, answer)| (ask, command(ask, answer)))
            .collect();
        // Check all answers before sending any, so that either all are accepted or none. If another client answered
        // first, the stream shows the result.
        for (_, command) in &brought {
            or_answered(app.commands.check(run, command).await)?;
        }
        for (ask, command) in brought {
            or_answered(app.commands.tell(run, command).await)?;
            answered.push(ask.id.clone());
        }
    }
    let mut encoder = place.encoder;
    let opening = encoder.resume(client_run.clone(), &answered);
    Ok(Some(GoOn {
        run,
        after: place.after,
        encoder,
        opening,
    }))
}

/// The run to continue and, if the input says so, the event at which the client's stream ended.
async fn waiting_run(
    app: &App,
    chat: &Chat,
    input: &RunInput,
) -> Result<Option<(RunId, Option<u64>)>, ApiError> {
    for interrupt in input
        .resume
        .iter()
        .filter_map(|resume| resume.interrupt.as_ref())
    {
        match app.store.run(interrupt.run).await {
            Ok(run)
                if run.chat == Some(chat.id)
                    && run.principal.is_same_individual(&chat.principal) =>
            {
                return Ok(Some((run.id, Some(interrupt.seq))));
            }
            // Ignore answers that belong to another thread.
            Ok(_) | Err(store::StoreError::NotFound) => {
                tracing::warn!(run = %interrupt.run, "ignoring an answer to an interrupt of another thread");
            }
            Err(error) => return Err(error.into()),
        }
    }
    for run in app.commands.going_in(chat.id).await? {
        if app.commands.is_waiting(run).await? {
            return Ok(Some((run, None)));
        }
    }
    Ok(None)
}

/// The position in a log at which a client's stream ended.
struct Place {
    encoder: AgUiEncoder,
    after: u64,
    /// The requests that were open at this position and are still unanswered.
    open: Vec<Ask>,
}

async fn read_to(
    app: &App,
    run: RunId,
    at: Option<u64>,
    client_run: &ClientRun,
) -> Result<Place, ApiError> {
    let mut encoder = AgUiEncoder::new(client_run.clone());
    let mut now = None;
    let mut after = 0;
    let mut paused = None;
    let mut reader = app.runs.read_stored(run);
    while let Some(events) = reader.next().await? {
        for event in events.iter().map(|logged| &logged.event) {
            if at.is_some_and(|at| event.seq > at) {
                now.get_or_insert_with(|| encoder.clone()).prime(event);
                continue;
            }
            encoder.prime(event);
            after = event.seq;
            // If the client does not say where its stream ended, assume the first event at which it could have paused.
            if at.is_none() && encoder.paused_at() == Some(event.seq) {
                paused = Some((encoder.clone(), event.seq));
            }
        }
    }
    if let (None, Some((place, seq))) = (at, paused)
        && encoder.paused_at() == Some(seq)
    {
        now = Some(std::mem::replace(&mut encoder, place));
        after = seq;
    }
    let open = encoder.asks().iter().filter(|ask| match &now {
        Some(now) => now.asks().iter().any(|still| still.id == ask.id),
        None => true,
    });
    let open = open.cloned().collect();
    Ok(Place {
        encoder,
        after,
        open,
    })
}

/// The input's answer to a request: either to the interrupt, or as the result of the waiting tool call, from clients
/// without support for interrupts.
fn answer_to(ask: &Ask, run: RunId, input: &RunInput) -> Option<Answer> {
    let resumed = input.resume.iter().find(|resume| {
        resume
            .interrupt
            .as_ref()
            .is_some_and(|interrupt| interrupt.run == run && interrupt.ask == ask.id)
    });
    if let Some(resumed) = resumed {
        return Some(resumed.answer.clone());
    }
    let said = input.result_of(run, &ask.call)?;
    Some(Answer::Resolved(
        serde_json::from_str(&said).unwrap_or(Value::String(said)),
    ))
}

fn command(ask: &Ask, answer: Answer) -> Command {
    match &ask.kind {
        AskKind::Approval { .. } => Command::approve(&ask.id, decision(answer)),
        AskKind::Question { form, .. } => Command::answer(&ask.id, reply(answer, form.as_ref())),
    }
}

/// Parses `{approved, editedArgs?, reason?}` or the forms that clients of other servers send. Anything else denies.
fn decision(answer: Answer) -> ApprovalDecision {
    let denied = |reason: String| ApprovalDecision {
        reason: Some(reason).filter(|reason| !reason.is_empty()),
        ..ApprovalDecision::only(Decision::Deny)
    };
    let Answer::Resolved(said) = answer else {
        return denied("the question was dismissed".to_owned());
    };
    let yes = said
        .as_bool()
        .or(said["approved"].as_bool())
        .or(said["accepted"].as_bool());
    match yes {
        Some(true) => {
            let arguments = Some(&said["editedArgs"])
                .filter(|edited| edited.is_object())
                .cloned();
            ApprovalDecision {
                arguments,
                ..ApprovalDecision::only(Decision::Allow)
            }
        }
        Some(false) => denied(said["reason"].as_str().unwrap_or_default().to_owned()),
        None => denied(
            said.as_str()
                .map_or_else(|| said.to_string(), str::to_owned),
        ),
    }
}

/// Parses the values of the form, a string, or `{answer}` as for questions without a form.
fn reply(answer: Answer, form: Option<&Form>) -> Reply {
    let said = match answer {
        Answer::Cancelled | Answer::Resolved(Value::Null) => return Reply::Declined(None),
        Answer::Resolved(said) => said,
    };
    let is_form = form.is_some_and(|form| {
        let is_answer = said
            .as_object()
            .is_some_and(|said| said.len() == 1 && said.contains_key("answer"));
        !is_answer || form.fields().iter().any(|field| field.name == "answer")
    });
    match said {
        Value::String(words) => Reply::Words(words),
        Value::Object(values) if is_form => Reply::Values(values),
        said => Reply::Words(
            said["answer"]
                .as_str()
                .map_or_else(|| said.to_string(), str::to_owned),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_a_yes_is_a_yes() {
        for yes in [
            json!(true),
            json!({"approved": true}),
            json!({"accepted": true}),
        ] {
            assert_eq!(decision(Answer::Resolved(yes)).decision, Decision::Allow);
        }
        for no in [
            json!(null),
            json!("yes please"),
            json!({"approved": "true"}),
            json!({"approved": false}),
        ] {
            assert_eq!(decision(Answer::Resolved(no)).decision, Decision::Deny);
        }
        assert_eq!(decision(Answer::Cancelled).decision, Decision::Deny);
        let edited = json!({"approved": true, "editedArgs": {"path": "/b"}});
        assert_eq!(
            decision(Answer::Resolved(edited)).arguments,
            Some(json!({"path": "/b"}))
        );
        let reason = decision(Answer::Resolved(
            json!({"approved": false, "reason": "later"}),
        ))
        .reason;
        assert_eq!(reason.as_deref(), Some("later"));
    }

    #[test]
    fn answers_are_words_or_values() {
        let form =
            |name: &str| Form::try_from(json!({"properties": {name: {"type": "string"}}})).unwrap();
        let check = |said: Value, form: Option<&Form>, expected: Reply| {
            assert_eq!(
                reply(Answer::Resolved(said.clone()), form),
                expected,
                "{said}"
            );
        };
        let values = |said: Value| Reply::Values(said.as_object().cloned().unwrap());
        check(json!("blue"), None, "blue".into());
        check(json!({"answer": "blue"}), None, "blue".into());
        check(
            json!({"colour": "blue"}),
            None,
            r#"{"colour":"blue"}"#.into(),
        );
        check(json!(36), Some(&form("age")), "36".into());
        check(
            json!({"colour": "blue"}),
            Some(&form("colour")),
            values(json!({"colour": "blue"})),
        );
        check(
            json!({"answer": "blue"}),
            Some(&form("colour")),
            "blue".into(),
        );
        check(
            json!({"answer": "blue"}),
            Some(&form("answer")),
            values(json!({"answer": "blue"})),
        );
        assert_eq!(reply(Answer::Cancelled, None), Reply::Declined(None));
    }
}
