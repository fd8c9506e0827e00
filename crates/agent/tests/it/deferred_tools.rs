//! Tools that others offer: hostile schemas, names that are taken, consent, questions before and after a restart.

use std::{future::pending, sync::Arc};

use agent::{Question, Tool, ToolContext, ToolFailure, ToolKind};
use domain::{EventBody, Form, Reply, RunEvent, laws};
use llm::{
    ToolSpec,
    script::{call, text},
};
use serde_json::{Value, json};

use crate::play::{Play, lines};

/// As MCP servers' tools are: they may ask, and a call that was running is not made again unless that does no harm.
const ONCE: ToolKind = ToolKind {
    repeatable: false,
    waits: true,
    goes_on: false,
};
const REPEATABLE: ToolKind = ToolKind {
    repeatable: true,
    waits: true,
    goes_on: false,
};

fn spec(name: &str, parameters: Value) -> ToolSpec {
    ToolSpec {
        name: name.into(),
        description: "Does it.".into(),
        parameters: parameters.into(),
    }
}

fn tool_with(schema: Value) -> Result<Tool, ToolFailure> {
    Tool::from_outside(spec("a", schema), ONCE, |_, _| {
        std::future::ready(Ok(String::new()))
    })
}

#[test]
fn hostile_schemas_are_refused_or_harmless() {
    let doubled = |n: usize| json!({ "allOf": [{ "$ref": format!("#/$defs/{n}") }, { "$ref": format!("#/$defs/{n}") }] });
    let bomb: serde_json::Map<String, Value> =
        (0..40).map(|n| (n.to_string(), doubled(n + 1))).collect();
    for schema in [
        json!("object"),
        json!({ "type": "string" }),
        json!({ "type": "object", "properties": { "a": { "type": "numbre" } } }),
        json!({ "type": "object", "properties": { "a": { "$ref": "http://127.0.0.1:1/schema.json" } } }),
        json!({ "type": "object", "properties": { "a": { "$ref": "file:///etc/passwd" } } }),
        json!({ "type": "object", "properties": { "a": { "$ref": "#/$defs/0" } }, "$defs": bomb }),
    ] {
        let refused = tool_with(schema.clone()).unwrap_err();
        assert!(refused.0.starts_with("The schema "), "{schema}: {refused}");
    }
    for schema in [
        json!({}),
        json!({ "$ref": "#" }),
        json!({ "allOf": [{ "$ref": "#" }] }),
    ] {
        if let Ok(tool) = tool_with(schema.clone()) {
            let _ = tool.check(&json!({ "a": 1 }));
        }
    }
    let tool =
        tool_with(json!({ "properties": { "a": { "type": "string", "pattern": "^(a+)+$" } } }))
            .unwrap();
    assert!(
        tool.check(&json!({ "a": format!("{}!", "a".repeat(5_000)) }))
            .is_err()
    );
}

/// Schemas as servers wrote them, from public reports: each is taken, and checks what it means.
#[test]
fn schemas_of_any_draft_and_nearly_schemas_are_taken() {
    let of = |schema: Value| json!({"type": "object", "properties": {"a": schema}});
    for (schema, fits, does_not) in [
        // draft 4
        (
            of(json!({"type": "integer", "minimum": 0, "exclusiveMinimum": true})),
            json!({"a": 1}),
            json!({"a": 0}),
        ),
        (
            json!({"$schema": "http://json-schema.org/draft-04/schema#", "id": "http://x.example/a", "type": "object",
                "properties": {"a": {"$ref": "#/definitions/n"}}, "definitions": {"n": {"type": "integer"}}}),
            json!({"a": 1}),
            json!({"a": "1"}),
        ),
        // drafts 6 and 7
        (
            of(
                json!({"type": "array", "items": [{"type": "string"}, {"type": "number"}], "additionalItems": false}),
            ),
            json!({"a": ["x", 1]}),
            json!({"a": [1, "x"]}),
        ),
        (
            json!({"dependencies": {"a": ["b"]}}),
            json!({"a": 1, "b": 1}),
            json!({"a": 1}),
        ),
        // 2019-09 and 2020-12
        (
            json!({"$recursiveAnchor": true, "properties": {"a": {"$recursiveRef": "#"}}, "required": ["b"]}),
            json!({"b": 1, "a": {"b": 1}}),
            json!({"b": 1, "a": {}}),
        ),
        (
            of(json!({"prefixItems": [{"type": "string"}], "items": false})),
            json!({"a": ["x"]}),
            json!({"a": ["x", 1]}),
        ),
        // references by anchor, by id, and encoded
        (
            json!({"properties": {"a": {"$ref": "#n"}}, "$defs": {"x": {"$anchor": "n", "type": "integer"}}}),
            json!({"a": 1}),
            json!({"a": "1"}),
        ),
        (
            json!({"properties": {"a": {"$ref": "#/$defs/My%20Type"}}, "$defs": {"My Type": {"type": "integer"}}}),
            json!({"a": 1}),
            json!({"a": "1"}),
        ),
        // langchainjs#11430 and its kind: not checked, or as it is meant
        (
            of(json!({"type": "string", "pattern": "\\:"})),
            json!({"a": "x:y"}),
            json!({"a": 1}),
        ),
        (
            of(json!({"type": "string", "pattern": "(?<year>\\d{4})-\\k<year>"})),
            json!({"a": "2026-2026"}),
            json!({"a": 1}),
        ),
        (
            of(json!({"type": "string", "pattern": "[^]\\Z("})),
            json!({"a": "x"}),
            json!({"a": 1}),
        ),
        // claude-code#44364, LichtFeld-Studio#1430
        (
            json!({"type": "object", "required": null, "properties": {"a": {"type": "string"}}}),
            json!({}),
            json!({"a": 1}),
        ),
        (
            json!({"type": "object", "properties": null}),
            json!({}),
            json!([]),
        ),
        (
            json!({"type": "object", "properties": []}),
            json!({}),
            json!([]),
        ),
        (
            of(json!({"type": "string", "description": null})),
            json!({"a": "x"}),
            json!({"a": 1}),
        ),
        (
            of(json!({"type": "string", "enum": null})),
            json!({"a": "x"}),
            json!({"a": 1}),
        ),
        (of(json!({"type": "any"})), json!({"a": [1]}), json!([])),
        (
            of(json!({"type": "string", "required": true})),
            json!({"a": "x"}),
            json!({}),
        ),
        (
            json!({"type": ["object"], "properties": {"a": {"type": "string"}}}),
            json!({"a": "x"}),
            json!({"a": 1}),
        ),
        (json!({"type": ["object", "null"]}), json!({}), json!(null)),
        (
            of(json!({"type": "string", "nullable": true})),
            json!({"a": null}),
            json!({"a": 1}),
        ),
        (
            of(json!({"type": "int"})),
            json!({"a": 1}),
            json!({"a": "x"}),
        ),
    ] {
        let tool =
            tool_with(schema.clone()).unwrap_or_else(|failure| panic!("{schema}: {failure}"));
        assert_eq!(tool.check(&fits), Ok(()), "{schema}");
        assert!(tool.check(&does_not).is_err(), "{schema} takes {does_not}");
    }
    // What is wrong in another way is refused and said.
    for schema in [of(json!({"minimum": "1"})), json!({"required": [1]})] {
        assert!(tool_with(schema.clone()).is_err(), "{schema}");
    }
}

/// A tool that asks for two things, one after the other.
fn asking(kind: ToolKind) -> Arc<Tool> {
    let ask = |_: Value, context: ToolContext| async move {
        let form = json!({"properties": {"colour": {"type": "string", "enum": ["red", "blue"]}}});
        let question = |text: &str, form| Question {
            text: text.to_owned(),
            options: Vec::new(),
            form,
        };
        let colour = context
            .ask(
                question("Which colour?", Form::try_from(form).ok()),
                pending(),
            )
            .await;
        let size = context.ask(question("Which size?", None), pending()).await;
        let said = |reply: Option<Reply>| match reply {
            Some(Reply::Words(words)) => words,
            Some(Reply::Values(values)) => Value::Object(values).to_string(),
            other => format!("{other:?}"),
        };
        Ok(format!("{} {}", said(colour), said(size)))
    };
    Arc::new(Tool::from_outside(spec("shop__buy", json!({ "type": "object" })), kind, ask).unwrap())
}

async fn shopping(kind: ToolKind) -> Play {
    let script = |request: &llm::ChatRequest<'_>| match request.messages.len() {
        2 => call(0, "shop__buy", &json!({})),
        _ => text(&request.messages.last().unwrap().plain_text()),
    };
    let mut play = Play::new(Arc::new(script)).await;
    play.offered.0 = vec![asking(kind)];
    play.spec.ends_with_server = false;
    play
}

fn answer(event: &RunEvent, play: &Play) {
    if let EventBody::QuestionAsked { question, text, .. } = &event.body {
        let answer = if text.contains("colour") {
            "red"
        } else {
            "large"
        };
        play.pending_input
            .answer_question(question, answer.into())
            .unwrap();
    }
}

/// Goes on from the first `cut` events; a question that was open is answered as soon as it can be.
async fn go_on(kind: ToolKind, whole: &[RunEvent], cut: usize) -> Vec<RunEvent> {
    let mut play = shopping(kind).await;
    play.before = whole[..cut].to_vec();
    let asks = play.pending_input.clone();
    let open: Vec<(String, String)> = whole[..cut]
        .iter()
        .filter_map(|event| match &event.body {
            EventBody::QuestionAsked { question, text, .. } => {
                Some((question.clone(), text.clone()))
            }
            _ => None,
        })
        .collect();
    let person = async move {
        for (question, text) in open {
            let answer = if text.contains("colour") {
                "red"
            } else {
                "large"
            };
            for _ in 0..200 {
                if asks.answer_question(&question, answer.into()).is_ok() {
                    break;
                }
                tokio::task::yield_now().await;
            }
        }
        pending::<()>().await;
    };
    let mut watch = |event: &RunEvent, play: &Play| answer(event, play);
    let run = play.unchecked(&mut watch);
    tokio::select! {
        log = run => log,
        () = person => unreachable!(),
    }
}

#[tokio::test]
async fn questions_are_asked_once_whenever_the_server_is_killed() {
    let whole = shopping(REPEATABLE)
        .await
        .watched(&mut |event, play| answer(event, play))
        .await;
    let said = lines(&whole);
    assert!(
        said.contains(&r#"main finished c1: {"colour":"red"} large"#.to_owned()),
        "{said:?}"
    );
    for cut in 1..whole.len() {
        let log = go_on(REPEATABLE, &whole, cut).await;
        laws::check(&log).unwrap_or_else(|law| panic!("cut after {cut}: {law}"));
        let said = lines(&log);
        let bought = said
            .iter()
            .filter(|line| line.ends_with(r#": {"colour":"red"} large"#))
            .count();
        assert_eq!(bought, 1, "cut after {cut}: {said:?}");
        let asked = said
            .iter()
            .filter(|line| line.starts_with("main asks \""))
            .count();
        assert_eq!(asked, 2, "cut after {cut}: {said:?}");
    }
}

#[tokio::test]
async fn a_call_that_must_not_be_repeated_is_in_doubt_and_its_question_withdrawn() {
    let whole = shopping(ONCE)
        .await
        .watched(&mut |event, play| answer(event, play))
        .await;
    let asked = whole
        .iter()
        .position(|event| matches!(event.body, EventBody::QuestionAsked { .. }))
        .unwrap();
    let log = go_on(ONCE, &whole, asked + 1).await;
    laws::check(&log).unwrap();
    let said = lines(&log);
    assert!(said.contains(&"main hears None".to_owned()), "{said:?}");
    assert!(
        said.iter()
            .any(|line| line.starts_with("main failed c1: The server stopped while this ran")),
        "{said:?}"
    );
    // The same where the tool is not there any more.
    let mut play = shopping(ONCE).await;
    play.offered.0.clear();
    play.before = whole[..=asked].to_vec();
    let log = play.unchecked(&mut |_, _| {}).await;
    laws::check(&log).unwrap();
    assert!(
        log.iter()
            .any(|event| matches!(event.body, EventBody::ToolFinished { in_doubt: true, .. }))
    );
}

#[tokio::test]
async fn names_approval_and_missing_tools() {
    let ours = Tool::from_outside(spec("ls", json!({})), ONCE, |_, _| {
        std::future::ready(Ok("theirs".to_owned()))
    });
    let theirs = Tool::from_outside(spec("x__do", json!({})), ONCE, |arguments, _| {
        std::future::ready(Ok(format!("did {arguments}")))
    });
    let mut play = Play::turns(vec![
        call(0, "ls", &json!({})),
        call(0, "x__do", &json!({ "a": 1 })),
        text("End."),
    ])
    .await;
    play.offered = (
        vec![Arc::new(ours.unwrap()), Arc::new(theirs.unwrap())],
        vec!["x__do".into()],
        vec!["The server y is not there.".into()],
    );
    let log = play.watched(&mut |event, play| play.allow(event)).await;
    let said = lines(&log);
    assert_eq!(said[0], "main notices The server y is not there.");
    assert!(!said.iter().any(|line| line.contains("theirs")), "{said:?}");
    assert!(said.contains(&"main asks to run c2".to_owned()), "{said:?}");
    assert!(
        said.contains(&"main finished c2: did {\"a\":1}".to_owned()),
        "{said:?}"
    );
}
