//! Answers that have to be JSON.

use std::sync::Arc;

use agent::AnswerForm;
use domain::Role;
use llm::{
    ChatRequest,
    script::{call, text},
};
use serde_json::{Value, json};

use crate::play::{Play, lines};

fn format() -> Value {
    let city =
        json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]});
    json!({"type": "json_schema", "json_schema": {"name": "place", "schema": city}})
}

fn wish(play: &mut Play) {
    play.spec.answer_form = AnswerForm::new(format()).unwrap().map(Arc::new);
}

#[tokio::test]
async fn an_answer_in_its_form_is_shown_and_the_words_before_it_are_thoughts() {
    let first = [text("Let me look."), call(0, "ls", &json!({}))].concat();
    let mut play = Play::turns(vec![first, text("```json\n{\"city\":\"Rome\"}\n```")]).await;
    wish(&mut play);
    let log = play.log().await;
    let said: Vec<_> = lines(&log)
        .into_iter()
        .filter(|line| !line.contains(" c2"))
        .collect();
    assert_eq!(
        said,
        [
            "main thinks \"Let me look.\"",
            "main thinks \"```json\\n{\\\"city\\\":\\\"Rome\\\"}\\n```\"",
            r#"main answers "{\"city\":\"Rome\"}""#,
            "main finished Completed"
        ]
    );
    let requests = play.requests();
    assert_eq!(requests.len(), 2);
    assert!(
        requests[0][0]
            .plain_text()
            .ends_with("Write nothing before or after it."),
        "{:?}",
        requests[0][0]
    );
}

#[tokio::test]
async fn an_answer_in_another_form_is_written_again() {
    let script = |request: &ChatRequest<'_>| {
        let forced = request.answer_format == Some(&format()) && request.tools.is_empty();
        text(if forced {
            r#"{"city":"Rome"}"#
        } else {
            "It is Rome."
        })
    };
    let mut play = Play::new(Arc::new(script)).await;
    wish(&mut play);
    let log = lines(&play.log().await);
    assert_eq!(
        log[log.len() - 2..],
        [
            r#"main answers "{\"city\":\"Rome\"}""#,
            "main finished Completed"
        ]
    );
    assert!(
        log[1].starts_with("main notices The answer is not in the requested format"),
        "{log:?}"
    );
    let last = play.requests().remove(1);
    assert_eq!(last[last.len() - 2].plain_text(), "It is Rome.");
    assert!(
        last.last().is_some_and(
            |told| told.role == Role::User && told.plain_text().contains("JSON Schema")
        )
    );
}

#[tokio::test]
async fn a_model_that_cannot_write_the_form_fails_the_run() {
    let mut play = Play::turns(vec![text("Rome."), text("{\"city\":5}"), text("{}")]).await;
    wish(&mut play);
    let log = lines(&play.log().await);
    assert_eq!(
        log.last().unwrap(),
        "main finished Failed: The model did not answer in the requested format: \"city\" is a \
         required property."
    );
    assert!(!log.iter().any(|line| line.contains("answers")), "{log:?}");
}

/// The form is of the answer to the caller; what agents tell each other are words.
#[tokio::test]
async fn sub_agents_answer_in_words() {
    let script = |request: &ChatRequest<'_>| match request.messages {
        messages if messages.iter().any(|message| message.role == Role::Tool) => {
            text(r#"{"city":"Rome"}"#)
        }
        [_, asked] if asked.plain_text() == "Please." => call(
            0,
            "task",
            &json!({"description": "Where?", "subagent_type": "general"}),
        ),
        _ => text("In Rome."),
    };
    let mut play = Play::new(Arc::new(script)).await;
    wish(&mut play);
    let log = lines(&play.log().await);
    assert!(
        log.contains(&"a1 answers \"In Rome.\"".to_owned()),
        "{log:?}"
    );
    assert_eq!(log.last().unwrap(), "main finished Completed", "{log:?}");
}
