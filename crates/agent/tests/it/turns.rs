//! Plain turns: text, reasoning, faults of the model, faults in its calls.

use std::sync::Arc;

use agent::history::{messages_of, messages_with_handed_over};
use domain::{EventBody, Message, ProblemCode, Role, RunSummary, Usage};
use llm::{
    FinishReason, Line, ModelError, ModelEvent,
    script::{call, finish, finish_with, interleave, raw_call, reasoning, text},
};
use serde_json::json;

use crate::play::{Play, lines};

#[tokio::test]
async fn an_answer_without_tools() {
    let usage = Usage::of(11, 2);
    let turn = [
        reasoning("Let me think."),
        text("Hello there"),
        finish_with(FinishReason::Stop, usage),
    ]
    .concat();
    let log = Play::turns(vec![turn]).await.log().await;
    assert_eq!(
        lines(&log),
        [
            r#"main thinks "Let me think.""#,
            r#"main answers "Hello there""#,
            "main finished Completed"
        ]
    );
    let EventBody::RunFinished { usage: total, .. } = &log.last().unwrap().body else {
        unreachable!()
    };
    assert_eq!(*total, usage);
    let deltas = log
        .iter()
        .filter(|event| matches!(event.body, EventBody::TextDelta { .. }))
        .count();
    assert_eq!(deltas, 2);
    let hidden = log
        .iter()
        .position(|event| matches!(event.body, EventBody::Status { hidden: true, .. }));
    let first = log
        .iter()
        .position(|event| matches!(event.body, EventBody::TextDelta { .. }));
    assert!(
        hidden < first,
        "the status line is taken away before the first token"
    );
}

#[tokio::test]
async fn parallel_calls_come_back_in_order() {
    let calls = interleave(vec![
        call(
            0,
            "write_file",
            &json!({"path": "a.md", "content": "one\ntwo"}),
        ),
        call(
            1,
            "write_todos",
            &json!({"todos": [{"content": "x", "status": "in_progress"}]}),
        ),
        call(2, "ls", &json!({})),
    ]);
    let play = Play::turns(vec![[text("I write."), calls].concat(), text("Done.")]).await;
    let log = play.log().await;
    let requests = play.requests();
    let last: Vec<String> = requests[1][2..]
        .iter()
        .map(domain::Message::plain_text)
        .collect();
    assert_eq!(last[0], "I write.");
    assert_eq!(last[1], "Wrote /a.md, 7 bytes.");
    assert_eq!(last[2], "The plan has 1 tasks, 0 completed.");
    assert!(
        last[3].contains("workspace is empty") || last[3].contains("a.md (7 bytes)"),
        "{}",
        last[3]
    );
    let ids: Vec<_> = requests[1][3..]
        .iter()
        .map(|message| message.tool_call_id.clone().unwrap())
        .collect();
    assert_eq!(ids, ["call_0", "call_1", "call_2"]);
    assert_eq!(lines(&log)[0], r#"main says "I write.""#);
    assert_eq!(lines(&log).last().unwrap(), "main finished Completed");
}

#[tokio::test]
async fn bad_calls_are_answered_to_the_model() {
    let bad = [
        raw_call(0, "read_file", "{\"path\": "),
        call(1, "read_file", &json!({"file": "x"})),
        call(2, "no_such_tool", &json!({})),
        call(3, "read_file", &json!({"path": "/missing.md"})),
        call(
            4,
            "write_todos",
            &json!({"todos": [{"content": "", "status": "later"}]}),
        ),
        raw_call(5, llm::openai::UNREADABLE, "{\"tool_calls\": "),
    ]
    .concat();
    let play = Play::turns(vec![bad, text("Sorry.")]).await;
    let log = play.log().await;
    let answers: Vec<String> = play.requests()[1][3..]
        .iter()
        .map(domain::Message::plain_text)
        .collect();
    for (answer, words) in answers.iter().zip([
        "Error: The arguments are not valid JSON",
        "Error: The arguments do not fit: \"path\" is a required property",
        "Error: There is no tool no_such_tool. The tools are: write_todos, ls,",
        "Error: There is no file /missing.md. Use ls",
        "Error: The arguments do not fit: /todos/0/content",
        "Error: The tool call could not be parsed: it names no tool. The tools are: write_todos, ls,",
    ]) {
        assert!(answer.starts_with(words), "{answer:?} should begin with {words:?}");
    }
    assert_eq!(lines(&log).last().unwrap(), "main finished Completed");
}

/// Some servers send reasoning, or a blank for it, in the middle of an answer and after it.
#[tokio::test]
async fn text_before_reasoning_is_the_answer_unless_a_call_follows() {
    let thought = || reasoning(" ");
    let ls = || call(0, "ls", &json!({}));
    for (first, answer, said) in [
        ([text("All."), thought()].concat(), "All.", "All."),
        (
            [text("One."), thought(), text(" Two."), thought()].concat(),
            "One.\n\n Two.",
            "One. Two.",
        ),
        (
            [text("I look."), thought(), ls()].concat(),
            "Done.",
            "I look.",
        ),
    ] {
        let log = Play::turns(vec![first, text("Done.")]).await.log().await;
        let mut summary = RunSummary::default();
        log.iter().for_each(|event| summary.push(event));
        assert_eq!(summary.answer, answer, "{:#?}", lines(&log));
        assert_eq!(messages_of(&log)[0].plain_text(), said);
    }
}

/// What has one meaning is not sent back to the model; the log says what was repaired.
#[tokio::test]
async fn calls_that_are_nearly_right_are_run_and_noted() {
    let nearly = [
        raw_call(
            0,
            "functions.Write_File",
            "```json\n{\"path\":\"/a.md\",\"content\":\"x\",}\n```",
        ),
        raw_call(
            1,
            "write_todos",
            r#"{"todos":"[{\"content\":\"Read\",\"status\":\"pending\"}]"}"#,
        ),
        raw_call(2, "ls", "null"),
    ]
    .concat();
    let play = Play::turns(vec![nearly, text("Done.")]).await;
    let log = play.log().await;
    let finished = log.iter().filter_map(|event| match &event.body {
        EventBody::ToolFinished {
            name,
            arguments,
            error,
            ..
        } => Some((name.as_str(), arguments.clone(), *error)),
        _ => None,
    });
    let mut finished: Vec<_> = finished.collect();
    finished.sort_by_key(|(name, ..)| *name);
    let todos = json!({"todos": [{"content": "Read", "status": "pending"}]});
    assert_eq!(
        finished,
        [
            ("ls", json!({}), false),
            (
                "write_file",
                json!({"path": "/a.md", "content": "x"}),
                false
            ),
            ("write_todos", todos, false),
        ]
    );
    let notices: Vec<String> = lines(&log)
        .into_iter()
        .filter(|line| line.contains(" notices "))
        .collect();
    assert_eq!(
        notices,
        [
            "main notices The model called \"functions.Write_File\"; the tool write_file was meant.",
            "main notices The model wrote invalid arguments for write_file, which were repaired.",
            "main notices The model wrote invalid arguments for write_todos, which were repaired.",
            "main notices The model wrote invalid arguments for ls, which were repaired.",
        ]
    );
    let calls = &play.requests()[1][2].tool_calls;
    assert_eq!(
        (calls[0].name.as_str(), calls[0].arguments.as_str()),
        ("write_file", r#"{"path":"/a.md","content":"x"}"#)
    );
}

/// A template that opens the reasoning in the prompt: what was shown stays shown, but is not the answer.
#[tokio::test]
async fn text_that_was_reasoning_is_not_the_answer() {
    let was_reasoning = vec![Line::Event(ModelEvent::TextWasReasoning)];
    let first = [
        text("They greet me. "),
        was_reasoning.clone(),
        text("I look."),
        call(0, "ls", &json!({})),
    ]
    .concat();
    let second = [text("Nothing there."), was_reasoning, text("Hello.")].concat();
    let play = Play::turns(vec![first, second.clone()]).await;
    let log = play.log().await;
    let texts = log.iter().filter_map(|event| match &event.body {
        EventBody::TextFinished {
            text,
            answer,
            reasoning,
            ..
        } => Some((text.as_str(), *answer, *reasoning)),
        _ => None,
    });
    assert_eq!(
        texts.collect::<Vec<_>>(),
        [
            ("They greet me. ", false, true),
            ("I look.", false, false),
            ("Nothing there.", false, true),
            ("Hello.", true, false),
        ]
    );
    // Neither the next step nor the next turn, nor a run that goes on after a restart gives it back as text.
    let said = |messages: &[Message]| -> Vec<String> {
        let answers = messages
            .iter()
            .filter(|message| message.role == Role::Assistant);
        answers.map(Message::plain_text).collect()
    };
    assert_eq!(said(&play.requests()[1]), ["I look."]);
    assert_eq!(said(&messages_of(&log)), ["I look.", "Hello."]);
    let mut again = Play::turns(vec![second]).await;
    let called = log
        .iter()
        .position(|event| matches!(event.body, EventBody::ToolFinished { .. }))
        .unwrap();
    again.before = log[..=called].to_vec();
    again.spec.ends_with_server = false;
    again.log().await;
    assert_eq!(said(&again.requests()[0]), ["I look."]);
}

/// Servers that do not count are not free.
#[tokio::test]
async fn uncounted_usage_is_estimated() {
    let said = [
        text("Plants live on light, water and air."),
        finish(FinishReason::Stop),
    ]
    .concat();
    let called = [
        text("I look at the files."),
        call(0, "ls", &json!({})),
        finish(FinishReason::ToolCalls),
    ]
    .concat();
    let log = Play::turns(vec![called, said]).await.log().await;
    let written: Vec<u64> = log
        .iter()
        .filter_map(|event| match &event.body {
            EventBody::ModelCalled { usage, .. } => Some(usage.output_tokens),
            _ => None,
        })
        .collect();
    assert_eq!(written, [5, 9]);
    let EventBody::RunFinished { usage, .. } = &log.last().unwrap().body else {
        unreachable!()
    };
    assert!(
        usage.output_tokens == 14 && usage.input_tokens > 14,
        "{usage:?}"
    );
}

#[tokio::test]
async fn a_failing_model_ends_the_run_and_keeps_the_text() {
    let error = ModelError::new(ProblemCode::ModelTimeout, "The model was silent.");
    let log = Play::turns(vec![[text("Half an"), vec![Line::Fail(error)]].concat()])
        .await
        .log()
        .await;
    assert_eq!(
        lines(&log),
        [
            r#"main answers "Half an""#,
            "main finished Failed: The model was silent."
        ]
    );
}

#[tokio::test]
async fn a_model_that_fails_in_the_middle_of_a_call() {
    let error = ModelError::new(ProblemCode::ModelProtocol, "Cut.");
    let mut turn = raw_call(0, "ls", "{\"pa");
    turn.push(Line::Fail(error));
    let log = Play::turns(vec![turn]).await.log().await;
    assert_eq!(
        lines(&log),
        [
            "main requests c1 ls",
            "main failed c1: The run failed before this finished.",
            "main finished Failed: Cut."
        ]
    );
}

#[tokio::test]
async fn an_empty_or_cut_off_answer_is_reported() {
    let log = Play::turns(vec![finish(FinishReason::Stop)])
        .await
        .log()
        .await;
    assert_eq!(
        lines(&log),
        [
            "main notices The model gave an empty answer.",
            "main finished Completed"
        ]
    );
    let cut = [text("Once upon"), finish(FinishReason::Length)].concat();
    let log = Play::turns(vec![cut]).await.log().await;
    assert!(
        lines(&log)[1].contains("reached its output token limit"),
        "{:?}",
        lines(&log)
    );
}

/// Templates for tools in words let a model say that it needs none.
#[tokio::test]
async fn a_model_that_only_declines_to_call_is_asked_for_its_answer() {
    let nothing = || finish(FinishReason::CallsNothing);
    let script = move |request: &llm::ChatRequest<'_>| match request.tools {
        [] => text("Here."),
        _ => nothing(),
    };
    let play = Play::new(Arc::new(script)).await;
    let whole = play.log().await;
    assert_eq!(
        lines(&whole),
        [r#"main answers "Here.""#, "main finished Completed"]
    );
    let requests = play.requests();
    assert!(
        requests.len() == 2 && requests[0] == requests[1],
        "it is asked the same"
    );
    let steps = whole
        .iter()
        .filter(|event| matches!(event.body, EventBody::StepStarted { .. }))
        .count();
    assert_eq!(steps, 1);
    for cut in 1..whole.len() {
        let mut play = Play::new(Arc::new(script)).await;
        play.before = whole[..cut].to_vec();
        play.spec.ends_with_server = false;
        let said = lines(&play.log().await);
        assert!(
            said.contains(&r#"main answers "Here.""#.to_owned()),
            "cut after {cut}: {said:?}"
        );
    }
    let log = Play::turns(vec![nothing(), nothing(), text("Too late.")])
        .await
        .log()
        .await;
    assert_eq!(
        lines(&log),
        [
            "main notices The model gave an empty answer.",
            "main finished Completed"
        ]
    );
}

#[tokio::test]
async fn a_retry_is_shown() {
    let retry = ModelEvent::Retrying {
        failed_attempts: 1,
        max_attempts: 3,
        wait_ms: 1500,
        reason: "The model server is busy.".into(),
    };
    let log = Play::turns(vec![[vec![Line::Event(retry)], text("Here.")].concat()])
        .await
        .log()
        .await;
    assert_eq!(lines(&log)[0], "main notices The model server is busy.");
    let shown = log.iter().any(|event| {
        matches!(&event.body, EventBody::Status { description, .. } if description == "Asking the model again in 2 s (attempt 2 of 3)…")
    });
    assert!(shown);
}

#[tokio::test]
async fn text_after_a_call_is_a_separate_item() {
    let turn = [text("Before."), call(0, "ls", &json!({})), text("After.")].concat();
    let log = Play::turns(vec![turn, text("End.")]).await.log().await;
    let said: Vec<_> = lines(&log)
        .into_iter()
        .filter(|line| line.contains("says") || line.contains("answers"))
        .collect();
    assert_eq!(
        said,
        [
            r#"main says "Before.""#,
            r#"main says "After.""#,
            r#"main answers "End.""#
        ]
    );
}

#[tokio::test]
async fn the_callers_own_tools_are_handed_over() {
    let calls = [
        call(0, "ls", &json!({})),
        call(1, "open_door", &json!({"door": 3})),
    ]
    .concat();
    let mut play = Play::turns(vec![calls]).await;
    play.spec.client_tools = vec![llm::ToolSpec {
        name: "open_door".into(),
        description: "Opens a door.".into(),
        parameters: json!({"type": "object"}).into(),
    }];
    let log = play.log().await;
    let all = lines(&log);
    assert_eq!(all.last().unwrap(), "main finished HandedOver");
    assert!(
        all.contains(&"main finished c1: The workspace is empty.".to_owned()),
        "ours has been run: {all:#?}"
    );
    assert!(
        all.contains(&r#"main hands over c2 {"door":3}"#.to_owned()),
        "{all:#?}"
    );
    let ids = |messages: Vec<Message>| -> Vec<String> {
        messages
            .into_iter()
            .flat_map(|message| message.tool_calls)
            .map(|call| call.id)
            .collect()
    };
    assert_eq!(
        ids(messages_of(&log)),
        ["call_0"],
        "a call without a result is of no use"
    );
    let named = messages_with_handed_over(&log, |call, by| format!("{by:?} {call}"));
    assert_eq!(
        named
            .iter()
            .filter(|message| message.role == Role::Tool)
            .count(),
        1
    );
    assert_eq!(
        ids(named),
        ["Us c1", "Caller c2"],
        "unless the caller brings it"
    );
}
