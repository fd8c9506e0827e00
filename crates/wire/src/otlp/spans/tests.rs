//! Handwritten logs and their expected spans.

use domain::{ProblemCode, RunId, Usage, event::Forked};
use serde_json::json;

use super::*;

struct Log(Vec<RunEvent>);

impl Log {
    fn new() -> Self {
        let mut log = Self(Vec::new());
        log.add(
            0,
            &AgentPath::main(),
            EventBody::RunStarted {
                chat: None,
                message: None,
                model: "m".into(),
            },
        );
        log
    }

    fn add(&mut self, at: i64, agent: &AgentPath, body: EventBody) {
        let run: RunId = "run_0192f0c1d2e3f4a5b6c7d8e9fa0b1c2d".parse().unwrap();
        let seq = self.0.len() as u64 + 1;
        self.0.push(RunEvent {
            run,
            seq,
            at,
            agent: agent.clone(),
            body,
        });
    }

    fn called(&mut self, at: i64, agent: &AgentPath, duration_ms: u64) {
        let usage = Usage::of(10, 2);
        let cost_micro_usd = Some(7);
        let first_token_ms = Some(3);
        let body = EventBody::ModelCalled {
            model: "m".into(),
            usage,
            cost_micro_usd,
            duration_ms,
            first_token_ms,
            broken_off: false,
        };
        self.add(at, agent, body);
    }

    fn call(&mut self, at: i64, ended_at: i64, agent: &AgentPath, call: &str, error: bool) {
        self.begin_call(at, agent, call);
        self.end_call(ended_at, agent, call, error);
    }

    fn begin_call(&mut self, at: i64, agent: &AgentPath, call: &str) {
        self.add(
            at - 5,
            agent,
            EventBody::ToolRequested {
                call: call.into(),
                name: "ls".into(),
                model_id: None,
                by_provider: false,
            },
        );
        let name = "ls".into();
        let arguments = json!({"path": "/"});
        self.add(
            at,
            agent,
            EventBody::ToolStarted {
                call: call.into(),
                name,
                arguments,
                repeatable: true,
            },
        );
    }

    fn end_call(&mut self, at: i64, agent: &AgentPath, call: &str, error: bool) {
        let name = "ls".into();
        let arguments = json!({"path": "/"});
        let result = "secret".into();
        let call = call.into();
        self.add(
            at,
            agent,
            EventBody::ToolFinished {
                call,
                name,
                arguments,
                result,
                model_note: None,
                error,
                truncated: false,
                duration_ms: 1,
                stopped: false,
                in_doubt: false,
                file: None,
                files: Vec::new(),
            },
        );
    }

    fn end(&mut self, at: i64, outcome: Outcome, problem: Option<Problem>) {
        let usage = Usage::of(20, 4);
        let body = EventBody::RunFinished {
            outcome,
            problem,
            usage,
            cost_micro_usd: None,
        };
        self.add(at, &AgentPath::main(), body);
    }
}

fn named<'s>(spans: &'s [Span], name: &str) -> &'s Span {
    spans
        .iter()
        .find(|span| span.name == name)
        .unwrap_or_else(|| panic!("no {name} in {spans:?}"))
}

fn value(span: &Span, key: &str) -> Option<Value> {
    let found = span
        .attributes
        .iter()
        .find(|attribute| attribute["key"] == key)?;
    Some(found["value"].clone())
}

/// A run with a sub-agent whose call fails.
fn with_sub_agent() -> Log {
    let (main, child) = (AgentPath::main(), AgentPath::main().child(1));
    let mut log = Log::new();
    log.add(
        10,
        &main,
        EventBody::StepStarted {
            step: 1,
            last: None,
        },
    );
    log.called(110, &main, 90);
    log.begin_call(120, &main, "c1");
    log.add(
        125,
        &child,
        EventBody::AgentStarted {
            name: "explore".into(),
            call: "c1".into(),
            task: "secret".into(),
            agent_type: None,
            continues: None,
        },
    );
    log.add(
        130,
        &child,
        EventBody::StepStarted {
            step: 1,
            last: None,
        },
    );
    log.called(150, &child, 500);
    log.call(160, 170, &child, "a1.c1", true);
    let result = "secret".to_owned();
    log.add(
        200,
        &child,
        EventBody::AgentFinished {
            outcome: Outcome::Completed,
            result,
        },
    );
    log.end_call(210, &main, "c1", false);
    log.end(300, Outcome::Completed, None);
    log
}

#[test]
fn spans_nest_with_the_times_of_the_log() {
    let spans = spans_of(&with_sub_agent().0, &Origin::default(), Content::Without);
    assert_eq!(spans.len(), 6);
    let run = named(&spans, "invoke_agent glasshouse");
    let helper = named(&spans, "invoke_agent explore");
    let outer = spans
        .iter()
        .find(|span| value(span, "gen_ai.tool.call.id") == Some(json!({"stringValue": "c1"})));
    let outer = outer.unwrap();
    assert_eq!(run.trace_id, "0192f0c1d2e3f4a5b6c7d8e9fa0b1c2d");
    assert!(
        spans
            .iter()
            .all(|span| span.trace_id == run.trace_id && span.span_id.len() == 16)
    );
    assert_eq!(
        (&*run.parent_span_id, &*run.start_time_unix_nano),
        ("", "0")
    );
    assert_eq!(run.end_time_unix_nano, "300000000");
    assert_eq!(
        (&outer.parent_span_id, &helper.parent_span_id),
        (&run.span_id, &outer.span_id)
    );
    assert_eq!(
        (&*outer.start_time_unix_nano, &*outer.end_time_unix_nano),
        ("120000000", "210000000")
    );
    let chats: Vec<_> = spans.iter().filter(|span| span.name == "chat m").collect();
    assert_eq!(
        (&chats[0].parent_span_id, &chats[1].parent_span_id),
        (&run.span_id, &helper.span_id)
    );
    assert_eq!(
        chats[0].start_time_unix_nano, "20000000",
        "the end less the time it took"
    );
    assert_eq!(
        chats[1].start_time_unix_nano, "130000000",
        "never before its step"
    );
    assert_eq!(
        value(chats[0], "gen_ai.usage.input_tokens"),
        Some(json!({"intValue": "10"}))
    );
    assert_eq!(
        (chats[0].kind, run.kind),
        (SpanKind::Client, SpanKind::Internal)
    );
    let inner = spans
        .iter()
        .find(|span| value(span, "error.type").is_some())
        .unwrap();
    assert_eq!(inner.parent_span_id, helper.span_id);
    assert_eq!(inner.status.as_ref().unwrap()["code"], 2);
    assert_eq!(run.status, None);
}

#[test]
fn a_summary_is_a_model_call_of_its_step() {
    let main = AgentPath::main();
    let mut log = Log::new();
    log.add(
        10,
        &main,
        EventBody::StepStarted {
            step: 1,
            last: None,
        },
    );
    let compacted = EventBody::ContextCompacted {
        summary: "secret".into(),
        messages: 4,
        kept_messages: 1,
        kept_requests: 1,
        tokens_before: 900,
        tokens_after: 100,
        model: "small".into(),
        usage: Usage::of(800, 50),
        cost_micro_usd: Some(3),
        duration_ms: 40,
    };
    log.add(60, &main, compacted);
    log.called(110, &main, 30);
    log.end(300, Outcome::Completed, None);
    let spans = spans_of(&log.0, &Origin::default(), Content::Without);
    let summary = named(&spans, "chat small");
    let answer = named(&spans, "chat m");
    assert_eq!(
        (&*summary.start_time_unix_nano, &*summary.end_time_unix_nano),
        ("20000000", "60000000")
    );
    assert_eq!(
        value(summary, "gen_ai.usage.input_tokens"),
        Some(json!({"intValue": "800"}))
    );
    assert_eq!(summary.parent_span_id, answer.parent_span_id);
    assert_ne!(summary.span_id, answer.span_id);
    assert!(!format!("{spans:?}").contains("secret"));
}

#[test]
fn content_is_included_on_request_only() {
    let log = with_sub_agent().0;
    let text =
        |content| serde_json::to_string(&spans_of(&log, &Origin::default(), content)).unwrap();
    assert!(!text(Content::Without).contains("secret"));
    for key in [
        "gen_ai.tool.call.arguments",
        "gen_ai.tool.call.result",
        "gen_ai.output.messages",
    ] {
        assert!(text(Content::With).contains(key), "{key}");
    }
}

#[test]
fn document_002_named_secrets_are_in_no_trace() {
    for case in include_str!("../../../../redact/src/cases.txt").lines() {
        let (found, secret) = case.split_once('\t').unwrap();
        let main = AgentPath::main();
        let mut log = Log::new();
        log.begin_call(10, &main, "c1");
        log.end_call(20, &main, "c1", false);
        if let Some(EventBody::ToolFinished {
            arguments, result, ..
        }) = log.0.last_mut().map(|event| &mut event.body)
        {
            (*arguments, *result) = (json!({"command": found}), found.to_owned());
        }
        log.end(30, Outcome::Completed, None);
        let spans =
            serde_json::to_string(&spans_of(&log.0, &Origin::default(), Content::With)).unwrap();
        assert!(
            spans.contains("[redacted]") && !spans.contains(secret),
            "{spans}"
        );
    }
}

#[test]
fn a_model_that_never_answered_is_a_failed_call() {
    let main = AgentPath::main();
    let mut log = Log::new();
    log.add(
        10,
        &main,
        EventBody::StepStarted {
            step: 1,
            last: None,
        },
    );
    assert_eq!(
        spans_of(&log.0, &Origin::default(), Content::Without),
        [],
        "it is not over"
    );
    log.end(
        50,
        Outcome::Failed,
        Some(Problem::new(ProblemCode::ModelUnreachable, "Nobody there.")),
    );
    let spans = spans_of(&log.0, &Origin::default(), Content::Without);
    let chat = named(&spans, "chat m");
    assert_eq!(
        (&*chat.start_time_unix_nano, &*chat.end_time_unix_nano),
        ("10000000", "50000000")
    );
    for span in [chat, named(&spans, "invoke_agent glasshouse")] {
        assert_eq!(
            value(span, "error.type"),
            Some(json!({"stringValue": "model_unreachable"}))
        );
    }
}

#[test]
fn copied_events_of_a_fork_are_in_another_trace() {
    let main = AgentPath::main();
    let mut log = Log::new();
    log.add(
        10,
        &main,
        EventBody::StepStarted {
            step: 1,
            last: None,
        },
    );
    log.called(20, &main, 5);
    log.call(30, 40, &main, "c1", false);
    let from = "run_0192f0c1d2e3f4a5b6c7d8e9fa0b1c2e".parse().unwrap();
    log.add(
        1000,
        &main,
        EventBody::RunForked(Forked {
            from,
            after: 6,
            guidance: None,
        }),
    );
    log.add(
        1010,
        &main,
        EventBody::StepStarted {
            step: 2,
            last: None,
        },
    );
    log.called(1100, &main, 80);
    log.end(1200, Outcome::Completed, None);
    let spans = spans_of(&log.0, &Origin::default(), Content::Without);
    let names: Vec<_> = spans.iter().map(|span| span.name.as_str()).collect();
    assert_eq!(names, ["chat m", "invoke_agent glasshouse"]);
    assert_eq!(spans[1].start_time_unix_nano, "1000000000");
}
