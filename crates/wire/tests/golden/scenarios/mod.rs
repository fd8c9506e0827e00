//! Logs that every protocol must be able to show.

mod form;
mod hooks;
mod log;
mod research;

use domain::{
    AgentPath, EventBody, LocalizedText, MessageCode, OpenItems, Outcome, Problem, ProblemCode,
    Reply, RunEvent, Usage,
    event::{
        Author, Decision, Forked, InputMode, NoticeLevel, ReceivedInput, Remembered, Source, Todo,
        TodoStatus,
    },
    laws,
};
use serde_json::json;

use log::Log;

/// All scenarios by name. Each keeps the laws of the log.
pub(crate) fn all() -> Vec<(&'static str, Vec<RunEvent>)> {
    let scenarios = vec![
        ("plain", plain()),
        ("reasoning", reasoning()),
        ("tool", tool()),
        ("parallel_tools", parallel_tools()),
        ("failing_tool", failing_tool()),
        ("sub_agents", sub_agents()),
        ("approval", approval()),
        ("question", question()),
        ("form", form::log()),
        ("cancelled", cancelled()),
        ("upstream_error", upstream_error()),
        ("limited", limited()),
        ("empty_answer", empty_answer()),
        ("hostile_text", hostile_text()),
        ("huge_result", huge_result()),
        ("sources", sources()),
        ("handed_over", handed_over()),
        ("cancelled_at_work", cancelled_at_work()),
        ("restarted", restarted()),
        ("compacted", compacted()),
        ("forked", forked()),
        ("steered", steered()),
        ("research", research::log()),
        ("hooks", hooks::log()),
    ];
    for (name, log) in &scenarios {
        assert_eq!(laws::check(log), Ok(()), "{name}");
    }
    scenarios
}

fn plain() -> Vec<RunEvent> {
    let mut log = Log::new();
    log.text(&AgentPath::main(), "t1", &["Hel", "lo ", "there."], true);
    log.completed()
}

fn reasoning() -> Vec<RunEvent> {
    let mut log = Log::new();
    let item = || "r1".to_owned();
    log.main(EventBody::ReasoningStarted { item: item() });
    log.main(EventBody::ReasoningDelta {
        item: item(),
        delta: "The user greets".into(),
    });
    log.main(EventBody::ReasoningDelta {
        item: item(),
        delta: " me.".into(),
    });
    log.main(EventBody::ReasoningFinished {
        item: item(),
        text: "The user greets me.".into(),
        duration_ms: 20,
    });
    log.text(&AgentPath::main(), "t1", &["Hello."], true);
    log.completed()
}

/// Killed during a call that must not be repeated, and again while the model writes.
fn restarted() -> Vec<RunEvent> {
    let main = AgentPath::main();
    let arguments = json!({"to": "all"});
    let mut log = Log::new();
    log.request(&main, "c1", "send", &arguments);
    log.main(EventBody::ToolStarted {
        call: "c1".into(),
        name: "send".into(),
        arguments: arguments.clone(),
        repeatable: false,
    });
    log.restart();
    log.main(EventBody::ToolFinished {
        call: "c1".into(),
        name: "send".into(),
        arguments,
        result: "It is not known whether this was done.".into(),
        model_note: None,
        error: true,
        truncated: false,
        duration_ms: 0,
        stopped: false,
        in_doubt: true,
        file: None,
        files: Vec::new(),
    });
    let item = || "t1".to_owned();
    log.main(EventBody::TextStarted { item: item() });
    log.main(EventBody::TextDelta {
        item: item(),
        delta: "Perhaps it".into(),
    });
    log.restart();
    log.main(EventBody::TextFinished {
        item: item(),
        text: "Perhaps it".into(),
        answer: false,
        reasoning: false,
    });
    log.text(&main, "t2", &["Perhaps it ", "was sent."], true);
    log.completed()
}

/// A summary, and then an older part that was left out without one.
fn compacted() -> Vec<RunEvent> {
    let main = AgentPath::main();
    let compacted = |summary: &str, usage, cost_micro_usd| EventBody::ContextCompacted {
        summary: summary.into(),
        messages: 41,
        kept_messages: 6,
        kept_requests: 1,
        tokens_before: 48_000,
        tokens_after: 6_000,
        model: "m".into(),
        usage,
        cost_micro_usd,
        duration_ms: 900,
    };
    let mut log = Log::new();
    log.tool(&main, "c1", "ls", &json!({}), Ok("a.txt"));
    log.main(EventBody::StepStarted {
        step: 2,
        last: None,
    });
    let usage = Usage::of(40_000, 500);
    log.main(compacted(
        "The person wants a list of **all** files.",
        usage,
        Some(120),
    ));
    log.tool(&main, "c2", "ls", &json!({}), Ok("b.txt"));
    log.main(EventBody::StepStarted {
        step: 3,
        last: Some("The agent took 3 steps.".into()),
    });
    log.main(compacted("", Usage::default(), None));
    log.text(&main, "t1", &["Two files."], true);
    log.completed()
}

/// A step of another run, and its continuation in the fork.
fn forked() -> Vec<RunEvent> {
    let main = AgentPath::main();
    let arguments = json!({"path": "/a.md"});
    let mut log = Log::new();
    log.tool(&main, "c1", "read_file", &arguments, Ok("old"));
    log.main(EventBody::RunForked(Forked {
        from: "run_0192f0c1d2e3f4a5b6c7d8e9fa0b1c2e".parse().unwrap(),
        after: 7,
        guidance: Some("Be brief.".into()),
    }));
    log.main(EventBody::StepStarted {
        step: 2,
        last: None,
    });
    log.text(&main, "t2", &["It is ", "old."], true);
    log.completed()
}

/// One message to the run is read at the next step, one is withdrawn, and one of somebody else is left for the next turn.
fn steered() -> Vec<RunEvent> {
    let main = AgentPath::main();
    let received = |input_id: &str, mode, name: &str, content: &str| {
        EventBody::InputReceived(Box::new(ReceivedInput {
            input_id: input_id.into(),
            mode,
            agent: None,
            by: Author {
                id: "user_0192f0c1d2e3f4a5b6c7d8e9fa0b1c31".parse().unwrap(),
                name: name.into(),
                is_owner: name == "Ada",
            },
            content: content.into(),
        }))
    };
    let mut log = Log::new();
    log.main(received(
        "i1",
        InputMode::Steer,
        "Ada",
        "Only *text* files.",
    ));
    log.tool(&main, "c1", "ls", &json!({"path": "/"}), Ok("a.txt"));
    log.main(received("i2", InputMode::Interrupt, "Ada", "Stop."));
    log.main(EventBody::InputRemoved {
        input_id: "i2".into(),
    });
    log.main(received("i3", InputMode::Queue, "Bob", "And then?"));
    log.main(EventBody::InputApplied {
        input_id: "i1".into(),
        step: 2,
    });
    log.main(EventBody::StepStarted {
        step: 2,
        last: None,
    });
    log.text(&main, "t1", &["One text file."], true);
    log.completed()
}

fn tool() -> Vec<RunEvent> {
    let main = AgentPath::main();
    let mut log = Log::new();
    log.main(EventBody::status("Looking around"));
    log.text(&main, "t1", &["Let me ", "look."], false);
    log.tool(&main, "c1", "ls", &json!({"path": "/"}), Ok("a.txt\nb.txt"));
    log.main(file("/a.txt", 2, 9, Some((1, 1))));
    log.main(file("/plot.png", 1, 40_000, None));
    log.main(EventBody::FileChanged {
        path: "/a.txt".into(),
        version: 3,
        size_bytes: 0,
        deleted: true,
        added_lines: Some(0),
        removed_lines: Some(2),
    });
    let todo = Todo {
        content: "Look".into(),
        status: TodoStatus::Completed,
    };
    log.main(EventBody::PlanChanged { todos: vec![todo] });
    log.main(EventBody::Status {
        description: "Done".into(),
        done: true,
        hidden: true,
        sentence: None,
    });
    log.text(&main, "t2", &["Two files."], true);
    log.completed()
}

/// A written file; with line counts if it is text.
fn file(path: &str, version: u64, size_bytes: u64, lines: Option<(u64, u64)>) -> EventBody {
    let (added_lines, removed_lines) = lines.unzip();
    EventBody::FileChanged {
        path: path.into(),
        version,
        size_bytes,
        deleted: false,
        added_lines,
        removed_lines,
    }
}

/// A memory of the person that an agent has changed or, if `deleted`, removed.
fn memory(call: &str, name: &str, deleted: bool) -> EventBody {
    EventBody::MemoryUpdateCompleted {
        call: Some(call.into()),
        name: Some(name.into()),
        only_for: deleted.then(|| "main".into()),
        version: Some(2),
        deleted,
        added_lines: Some(1),
        removed_lines: Some(0),
        facts: None,
        error: None,
    }
}

fn memory_begins(call: &str, name: &str) -> EventBody {
    EventBody::MemoryUpdateStarted {
        call: Some(call.into()),
        name: Some(name.into()),
        chat: None,
    }
}

fn parallel_tools() -> Vec<RunEvent> {
    let main = AgentPath::main();
    let a = json!({"path": "/a"});
    let b = json!({"path": "/b"});
    let mut log = Log::new();
    log.request(&main, "c1", "read_file", &a);
    log.request(&main, "c2", "read_file", &b);
    log.start(&main, "c1", "read_file", &a);
    log.start(&main, "c2", "read_file", &b);
    log.main(EventBody::ToolProgress {
        call: "c1".into(),
        message: "Half of /a read".into(),
    });
    log.main(EventBody::ToolOutput {
        call: "c1".into(),
        text: "1 of 2\n2 of 2\n".into(),
    });
    log.main(memory_begins("c1", "likes"));
    log.main(memory_begins("c2", "old plans"));
    log.main(memory("c1", "likes", false));
    log.main(memory("c2", "old plans", true));
    log.finish(&main, "c2", "read_file", &b, Ok("B"));
    log.finish(&main, "c1", "read_file", &a, Ok("A"));
    log.text(&main, "t1", &["A and B."], true);
    log.completed()
}

/// The first call never starts, because its arguments are no JSON; the second one runs and fails.
fn failing_tool() -> Vec<RunEvent> {
    let main = AgentPath::main();
    let mut log = Log::new();
    let broken = json!("{\"path\":");
    log.request(&main, "c1", "read_file", &broken);
    log.finish(
        &main,
        "c1",
        "read_file",
        &broken,
        Err("The arguments are not JSON."),
    );
    log.tool(
        &main,
        "c2",
        "read_file",
        &json!({"path": "/x"}),
        Err("There is no file /x."),
    );
    log.text(&main, "t1", &["It is not there."], true);
    log.completed()
}

/// Two sub-agents at once, the second of which has one of its own.
fn sub_agents() -> Vec<RunEvent> {
    let main = AgentPath::main();
    let first = main.child(1);
    let second = main.child(2);
    let nested = second.child(1);
    let task = json!({"description": "look", "subagent_type": "general"});
    let mut log = Log::new();
    let started = |call: &str, name: &str| EventBody::AgentStarted {
        name: name.into(),
        call: call.into(),
        task: "look".into(),
        agent_type: None,
        continues: None,
    };
    let finished = |outcome| EventBody::AgentFinished {
        outcome,
        result: "seen".into(),
    };
    for call in ["c1", "c2"] {
        log.request(&main, call, "task", &task);
        log.start(&main, call, "task", &task);
    }
    log.add(&first, started("c1", "Reader"));
    log.add(&second, started("c2", "Writer"));
    log.tool(&first, "a1.c1", "ls", &json!({}), Ok(""));
    log.request(&second, "a2.c1", "task", &task);
    log.start(&second, "a2.c1", "task", &task);
    log.add(&nested, started("a2.c1", "Checker"));
    log.text(&nested, "a2.1.t1", &["All ", "well."], true);
    log.add(&nested, finished(Outcome::Completed));
    log.finish(&second, "a2.c1", "task", &task, Ok("All well."));
    log.text(&first, "a1.t1", &["Nothing."], true);
    log.add(&first, finished(Outcome::Completed));
    log.finish(&main, "c1", "task", &task, Ok("Nothing."));
    log.add(&second, finished(Outcome::Failed));
    log.finish(&main, "c2", "task", &task, Err("The sub-agent failed."));
    log.text(&main, "t1", &["One of two."], true);
    log.completed()
}

fn approval() -> Vec<RunEvent> {
    let main = AgentPath::main();
    let asked = json!({"to": "all"});
    let edited = json!({"to": "me"});
    let mut log = Log::new();
    log.request(&main, "c1", "send", &asked);
    log.main(EventBody::ApprovalAsked {
        approval: "p1".into(),
        call: "c1".into(),
        name: "send".into(),
        arguments: asked,
        may_remember: true,
        new_address: false,
        argument_info: Vec::new(),
        expires_in_ms: Some(3_600_000),
    });
    log.main(EventBody::ApprovalAnswered {
        approval: "p1".into(),
        decision: Decision::Allow,
        reason: None,
        edited: true,
        remembered: Some(Remembered::Chat),
    });
    log.start(&main, "c1", "send", &edited);
    log.finish(&main, "c1", "send", &edited, Ok("Sent."));
    log.text(&main, "t1", &["Sent to you."], true);
    log.completed()
}

fn question() -> Vec<RunEvent> {
    let main = AgentPath::main();
    let arguments = json!({"question": "Which one?"});
    let mut log = Log::new();
    log.request(&main, "c1", "ask_user", &arguments);
    log.main(EventBody::QuestionAsked {
        question: "q1".into(),
        call: "c1".into(),
        text: "Which one?".into(),
        options: vec!["a".into(), "b".into()],
        schema: None,
        expires_in_ms: Some(3_600_000),
    });
    log.main(Reply::answered("q1".into(), Some("b".into())));
    log.finish(&main, "c1", "ask_user", &arguments, Ok("b"));
    log.text(&main, "t1", &["Then b."], true);
    log.completed()
}

fn cancelled() -> Vec<RunEvent> {
    let mut log = Log::new();
    log.text(&AgentPath::main(), "t1", &["Once upon ", "a"], true);
    log.end(Outcome::Cancelled, None)
}

/// Stopped while a sub-agent writes, a tool runs and another one waits for approval: all of them are closed.
fn cancelled_at_work() -> Vec<RunEvent> {
    let main = AgentPath::main();
    let child = main.child(1);
    let task = json!({"description": "look"});
    let send = json!({"to": "all"});
    let mut log = Log::new();
    log.request(&main, "c1", "task", &task);
    log.request(&main, "c2", "send", &send);
    log.start(&main, "c1", "task", &task);
    let name = "send".to_owned();
    let arguments = send;
    log.main(EventBody::ApprovalAsked {
        approval: "p1".into(),
        call: "c2".into(),
        name,
        arguments,
        may_remember: false,
        new_address: false,
        argument_info: Vec::new(),
        expires_in_ms: None,
    });
    log.add(
        &child,
        EventBody::AgentStarted {
            name: "Reader".into(),
            call: "c1".into(),
            task: "look".into(),
            agent_type: None,
            continues: None,
        },
    );
    log.request(&child, "a1.c1", "read_file", &json!({"path": "/a"}));
    log.start(&child, "a1.c1", "read_file", &json!({"path": "/a"}));
    log.add(
        &child,
        EventBody::TextStarted {
            item: "a1.t1".into(),
        },
    );
    log.add(
        &child,
        EventBody::TextDelta {
            item: "a1.t1".into(),
            delta: "So f".into(),
        },
    );
    let mut open = OpenItems::default();
    log.0
        .iter()
        .for_each(|event| open.push(&event.agent, &event.body));
    for (agent, body) in open.close(&main, Outcome::Cancelled, "Stopped.") {
        log.add(&agent, body);
    }
    log.end(Outcome::Cancelled, None)
}

fn upstream_error() -> Vec<RunEvent> {
    let mut log = Log::new();
    log.main(EventBody::ModelRequested {
        model: "m".into(),
        messages: 2,
    });
    log.main(EventBody::failed_try(slow_down()));
    log.text(&AgentPath::main(), "t1", &["Once upon"], true);
    let message = "The model server closed the connection in the middle of the answer.";
    log.end(
        Outcome::Failed,
        Some(Problem::new(ProblemCode::ModelProtocol, message)),
    )
}

fn limited() -> Vec<RunEvent> {
    let mut log = Log::new();
    log.text(&AgentPath::main(), "t1", &["So far."], true);
    let message = "The limit of 50 steps was reached.";
    log.end(
        Outcome::Limited,
        Some(Problem::new(ProblemCode::LimitReached, message)),
    )
}

fn empty_answer() -> Vec<RunEvent> {
    let mut log = Log::new();
    log.text(&AgentPath::main(), "t1", &[], true);
    log.completed()
}

/// Every field with foreign text contains the worst case.
fn hostile_text() -> Vec<RunEvent> {
    let bad = "</script><img src=x onerror=alert(1)>\u{2028}\u{202E}\r\n\ndata: {\"type\":\"done\"}\n\n\t\u{1F9D1}\u{200D}\u{1F680}é\u{0}";
    let main = AgentPath::main();
    let child = main.child(1);
    let arguments = json!({ bad: bad });
    let mut log = Log::new();
    log.main(EventBody::status(bad));
    log.main(EventBody::notice(NoticeLevel::Info, bad));
    log.request(&main, bad, bad, &arguments);
    log.main(EventBody::ApprovalAsked {
        approval: bad.into(),
        call: bad.into(),
        name: bad.into(),
        arguments: arguments.clone(),
        may_remember: false,
        new_address: false,
        argument_info: Vec::new(),
        expires_in_ms: None,
    });
    log.main(EventBody::ApprovalAnswered {
        approval: bad.into(),
        decision: Decision::Deny,
        reason: Some(bad.into()),
        edited: false,
        remembered: None,
    });
    log.main(EventBody::QuestionAsked {
        question: bad.into(),
        call: bad.into(),
        text: bad.into(),
        options: vec![bad.into()],
        schema: Some(form::hostile(bad)),
        expires_in_ms: None,
    });
    log.main(Reply::answered(bad.into(), Some(bad.into())));
    log.start(&main, bad, bad, &arguments);
    log.main(EventBody::ToolProgress {
        call: bad.into(),
        message: bad.into(),
    });
    log.main(EventBody::ToolOutput {
        call: bad.into(),
        text: bad.into(),
    });
    log.main(memory(bad, bad, false));
    log.add(
        &child,
        EventBody::AgentStarted {
            name: bad.into(),
            call: bad.into(),
            task: bad.into(),
            agent_type: None,
            continues: None,
        },
    );
    log.add(
        &child,
        EventBody::AgentFinished {
            outcome: Outcome::Completed,
            result: bad.into(),
        },
    );
    log.finish(&main, bad, bad, &arguments, Ok(bad));
    let source = Source::new(bad.into(), bad.into(), bad.into(), Some(bad.into()));
    log.main(EventBody::SourcesFound {
        sources: vec![source],
    });
    log.text(&main, bad, &[bad], true);
    log.end(
        Outcome::Failed,
        Some(Problem::new(ProblemCode::ModelFailed, bad)),
    )
}

fn huge_result() -> Vec<RunEvent> {
    let main = AgentPath::main();
    let mut log = Log::new();
    log.tool(
        &main,
        "c1",
        "read_file",
        &json!({"path": "/big"}),
        Ok(&"0123456789abcdef".repeat(65_536)),
    );
    log.text(&main, "t1", &["It is big."], true);
    log.completed()
}

fn sources() -> Vec<RunEvent> {
    let mut log = Log::new();
    let source = |id: &str, quote: Option<&str>| {
        Source::new(
            id.into(),
            "A page".into(),
            "https://example.com/".into(),
            quote.map(str::to_owned),
        )
    };
    log.main(EventBody::SourcesFound {
        sources: vec![source("1", Some("so it is")), source("2", None)],
    });
    log.text(&AgentPath::main(), "t1", &["So it is [1]."], true);
    log.completed()
}

/// One tool of ours and two of the caller's in one answer; the caller continues from here.
fn handed_over() -> Vec<RunEvent> {
    let main = AgentPath::main();
    let paris = json!({"city": "Paris"});
    let rome = json!({"city": "Rome"});
    let mut log = Log::new();
    log.text(&main, "t1", &["Let me ", "ask you."], false);
    log.request(&main, "c1", "weather", &paris);
    log.request(&main, "c2", "ls", &json!({"path": "/"}));
    log.request(&main, "c3", "weather", &rome);
    log.start(&main, "c2", "ls", &json!({"path": "/"}));
    log.finish(&main, "c2", "ls", &json!({"path": "/"}), Ok("a.txt"));
    for (call, arguments) in [("c1", paris), ("c3", rome)] {
        let call = call.to_owned();
        let name = "weather".to_owned();
        log.main(EventBody::ToolHandedOver {
            call,
            name,
            arguments,
        });
    }
    log.end(Outcome::HandedOver, None)
}

/// As the model client reports it.
fn slow_down() -> LocalizedText {
    LocalizedText {
        message: "The model server asks to slow down. Wait a little and try again.".to_owned(),
        sentence: Some(Box::new(MessageCode {
            code: "slow_down".into(),
            params: None,
        })),
    }
}
