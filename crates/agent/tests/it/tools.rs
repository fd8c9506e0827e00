//! The file tools, called as a model calls them.

use std::{
    pin::pin,
    sync::Arc,
    time::{Duration, Instant},
};

use agent::{Tool, Toolbox, history::messages_of, tool::ToolKind};
use domain::{EventBody, Role};
use llm::script::{call, text};
use serde_json::{Value, json};

use crate::play::Play;

/// Calls tools one after the other and returns what the model was told.
async fn told(calls: &[(&str, Value)]) -> Vec<String> {
    let mut turns: Vec<_> = calls
        .iter()
        .map(|(name, arguments)| call(0, name, arguments))
        .collect();
    turns.push(text("End."));
    let play = Play::turns(turns).await;
    play.log().await;
    let messages = play.requests().pop().unwrap();
    messages
        .iter()
        .filter(|message| message.role == Role::Tool)
        .map(domain::Message::plain_text)
        .collect()
}

#[tokio::test]
async fn files_are_written_read_edited_and_found() {
    let answers = told(&[
        ("write_file", json!({"path": "/notes/plan.md", "content": "one\ntwo\nthree\ntwo\n"})),
        ("write_file", json!({"path": "notes/deep/x.txt", "content": "Привет, мир"})),
        ("ls", json!({})),
        ("ls", json!({"path": "/notes"})),
        ("read_file", json!({"path": "/notes/plan.md", "first_line": 2, "lines": 2})),
        ("read_file", json!({"path": "/notes/plan.md", "first_line": 9})),
        ("edit_file", json!({"path": "/notes/plan.md", "old_text": "two", "new_text": "2"})),
        (
            "edit_file",
            json!({"path": "/notes/plan.md", "old_text": "two", "new_text": "2", "replace_all": true}),
        ),
        ("edit_file", json!({"path": "/notes/plan.md", "old_text": "four", "new_text": "4"})),
        ("glob", json!({"pattern": "**/*.md"})),
        ("glob", json!({"pattern": "*.md"})),
        ("glob", json!({"pattern": "["})),
        ("grep", json!({"pattern": "привет", "ignore_case": true})),
        ("grep", json!({"pattern": "^2$", "path": "/notes/plan.md"})),
        ("grep", json!({"pattern": "(a{9999}){9999}"})),
        ("read_file", json!({"path": "plan.md"})),
    ])
    .await;
    for (answer, words) in answers.iter().zip([
        "Wrote /notes/plan.md, 18 bytes.",
        "Wrote /notes/deep/x.txt, 20 bytes.",
        "notes/ (2 files)",
        "deep/ (1 files)\nplan.md (18 bytes)",
        "2\ttwo\n3\tthree\n… 1 more lines; read on with first_line 4",
        "Error: /notes/plan.md has 4 lines, so there is no line 9.",
        "Error: That text stands 2 times in /notes/plan.md.",
        "Changed 2 places in /notes/plan.md, now 14 bytes, version 2.",
        "Error: That text does not stand in /notes/plan.md.",
        "/notes/plan.md",
        "No file fits the pattern.",
        "Error: The pattern is not valid",
        "/notes/deep/x.txt:1: Привет, мир",
        "/notes/plan.md:2: 2\n/notes/plan.md:4: 2",
        "Error: The expression is not valid",
        "Error: There is no file /plan.md. Did you mean /notes/plan.md?",
    ]) {
        assert!(
            answer.starts_with(words),
            "{answer:?} should begin with {words:?}"
        );
    }
}

/// What a poisoned page might have a model search for: each byte of a line costs as much as the expression is long.
#[tokio::test]
async fn a_costly_expression_does_not_block_others() {
    let mut state = 1_u32;
    let line: String = std::iter::repeat_with(|| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        if state >> 31 == 0 { 'a' } else { 'b' }
    })
    .take(20_000)
    .collect();
    let calls = [
        ("write_file", json!({"path": "/line.txt", "content": line})),
        ("grep", json!({"pattern": "(a|b)*a(a|b){100}c"})),
        ("grep", json!({"pattern": "(a|b)*a(a|b){20000}c"})),
    ];
    let (begun, mut last) = (Instant::now(), Instant::now());
    let mut longest = Duration::ZERO;
    let mut told = pin!(told(&calls));
    let told = loop {
        tokio::select! {
            told = &mut told => break told,
            () = tokio::time::sleep(Duration::from_millis(5)) => {}
        }
        longest = longest.max(last.elapsed());
        last = Instant::now();
    };
    assert_eq!(told[1], "No line fits.");
    assert!(
        told[2].starts_with("Error: The expression is not valid"),
        "{}",
        told[2]
    );
    assert!(
        longest < begun.elapsed() / 2,
        "others waited {longest:?} of {:?}",
        begun.elapsed()
    );
}

#[tokio::test]
async fn files_have_limits() {
    let answers = told(&[
        (
            "write_file",
            json!({"path": "big", "content": "x".repeat(1_000_001)}),
        ),
        ("write_file", json!({"path": "/", "content": "x"})),
        ("write_file", json!({"path": "nul", "content": "a\u{0}b"})),
        ("ls", json!({})),
    ])
    .await;
    assert!(
        answers[0].contains("1000001 bytes and the limit is 1000000"),
        "{}",
        answers[0]
    );
    assert!(
        answers[1].contains("The path of a file is missing"),
        "{}",
        answers[1]
    );
    assert!(answers[2].contains("no NUL characters"), "{}", answers[2]);
    assert_eq!(answers[3], "The workspace is empty.");
}

#[tokio::test]
async fn a_full_workspace_takes_no_new_files_but_changes() {
    let play = Play::turns(vec![
        call(
            0,
            "write_file",
            &json!({"path": "/999.md", "content": "last"}),
        ),
        call(
            0,
            "write_file",
            &json!({"path": "/1000.md", "content": "too many"}),
        ),
        call(
            0,
            "write_file",
            &json!({"path": "/0.md", "content": "changed"}),
        ),
        text("End."),
    ])
    .await;
    for number in 0..999 {
        let path = agent::workspace::Path::parse_file(&format!("/{number}.md")).unwrap();
        play.workspace.write(&path, "x", None).await.unwrap();
    }
    play.log().await;
    let messages = play.requests().pop().unwrap();
    let told: Vec<String> = messages
        .iter()
        .filter(|message| message.role == Role::Tool)
        .map(domain::Message::plain_text)
        .collect();
    assert_eq!(told[0], "Wrote /999.md, 4 bytes.");
    assert!(
        told[1].contains("holds 1000 files, which is the limit"),
        "{}",
        told[1]
    );
    assert_eq!(told[2], "Replaced /0.md, 7 bytes, version 2.");
}

#[tokio::test]
async fn files_are_deleted_and_moved() {
    let answers = told(&[
        (
            "write_file",
            json!({"path": "/a.md", "content": "one\ntwo\n"}),
        ),
        ("move_file", json!({"from": "a.md", "to": "notes/b.md"})),
        ("read_file", json!({"path": "/notes/b.md"})),
        ("read_file", json!({"path": "/a.md"})),
        ("write_file", json!({"path": "/a.md", "content": "new\n"})),
        ("move_file", json!({"from": "/a.md", "to": "/notes/b.md"})),
        ("move_file", json!({"from": "/a.md", "to": "/a.md"})),
        ("move_file", json!({"from": "/none.md", "to": "/x.md"})),
        ("delete_file", json!({"path": "/notes/b.md"})),
        ("delete_file", json!({"path": "/notes/b.md"})),
        ("delete_file", json!({"path": "/"})),
        ("ls", json!({})),
    ])
    .await;
    let expected = [
        "Wrote /a.md, 8 bytes.",
        "Moved /a.md to /notes/b.md, 8 bytes.",
        "1\tone\n2\ttwo\n",
        "Error: There is no file /a.md. Use ls to see what is there.",
        "Replaced /a.md, 4 bytes, version 3.",
        "Error: There is a file /notes/b.md already. Delete it first, or choose another path.",
        "Error: /a.md already exists.",
        "Error: There is no file /none.md. Use ls to see what is there.",
        "Deleted /notes/b.md.",
        "Error: There is no file /notes/b.md. Use ls to see what is there.",
        "Error: The path of a file is missing.",
        "a.md (4 bytes)",
    ];
    assert_eq!(answers, expected);
}

#[tokio::test]
async fn changes_are_reported_with_line_counts() {
    let play = Play::turns(vec![
        call(
            0,
            "write_file",
            &json!({"path": "/a.md", "content": "one\ntwo\nthree\n"}),
        ),
        call(
            0,
            "write_file",
            &json!({"path": "/a.md", "content": "one\n2\nthree\nfour\n"}),
        ),
        call(
            0,
            "edit_file",
            &json!({"path": "/a.md", "old_text": "one\n", "new_text": ""}),
        ),
        call(0, "move_file", &json!({"from": "/a.md", "to": "/b.md"})),
        call(0, "delete_file", &json!({"path": "/b.md"})),
        call(
            0,
            "write_file",
            &json!({"path": "/plot.png", "content": "not a picture any more\n"}),
        ),
        text("End."),
    ])
    .await;
    let picture = agent::workspace::Path::parse_file("/plot.png").unwrap();
    play.workspace
        .write_bytes(&picture, b"\x89PNG\r\n\x1a\n\0\0", None)
        .await
        .unwrap();
    let log = play.log().await;
    let told: Vec<String> = log
        .iter()
        .filter_map(|event| match &event.body {
            EventBody::FileChanged {
                path,
                version,
                deleted,
                added_lines,
                removed_lines,
                ..
            } => {
                let sign = if *deleted { "gone " } else { "" };
                Some(format!(
                    "{sign}{path} v{version} {added_lines:?} {removed_lines:?}"
                ))
            }
            _ => None,
        })
        .collect();
    let expected = [
        "/a.md v1 Some(3) Some(0)",
        "/a.md v2 Some(2) Some(1)",
        "/a.md v3 Some(0) Some(1)",
        "gone /a.md v4 Some(0) Some(3)",
        "/b.md v1 Some(3) Some(0)",
        "gone /b.md v2 Some(0) Some(3)",
        "/plot.png v2 None None",
    ];
    assert_eq!(told, expected);
}

#[tokio::test]
async fn binary_files_are_named_by_type() {
    let play = Play::turns(vec![
        call(0, "read_file", &json!({"path": "/plot.png"})),
        call(
            0,
            "edit_file",
            &json!({"path": "/data.bin", "old_text": "a", "new_text": "b"}),
        ),
        call(0, "grep", &json!({"pattern": "PNG|north"})),
        call(0, "ls", &json!({})),
        text("End."),
    ])
    .await;
    for (path, bytes) in [
        ("/plot.png", &b"\x89PNG\r\n\x1a\n\0\0"[..]),
        ("/data.bin", b"a\xff"),
        ("/a.txt", b"north\n"),
    ] {
        let path = agent::workspace::Path::parse_file(path).unwrap();
        play.workspace
            .write_bytes(&path, bytes, None)
            .await
            .unwrap();
    }
    play.log().await;
    let messages = play.requests().pop().unwrap();
    let told: Vec<String> = messages
        .iter()
        .filter(|message| message.role == Role::Tool)
        .map(domain::Message::plain_text)
        .collect();
    let expected = [
        "[Picture: /plot.png, image/png, 10 bytes]",
        "Error: /data.bin is not text: it is binary data of 2 bytes.",
        "/a.txt:1: north",
        "a.txt (6 bytes)\ndata.bin (2 bytes)\nplot.png (10 bytes)",
    ];
    assert_eq!(told, expected);
    let seen: Vec<&str> = messages
        .iter()
        .flat_map(|message| &message.content)
        .filter_map(domain::Part::medium)
        .collect();
    assert_eq!(
        seen,
        ["data:image/png;base64,iVBORw0KGgoAAA=="],
        "the model sees the picture"
    );
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Nothing {}

#[tokio::test]
async fn long_results_slow_tools_and_panics() {
    let tool = |name: &str, work: fn() -> String| {
        let call = move |_: Nothing, _| async move { Ok(work()) };
        Arc::new(Tool::new(name, "test", ToolKind::REPEATABLE, call).unwrap())
    };
    let slow = Tool::new("slow", "test", ToolKind::REPEATABLE, |_: Nothing, _| {
        std::future::pending()
    })
    .unwrap();
    let turn = ["long", "slow", "broken"]
        .iter()
        .enumerate()
        .flat_map(|(at, name)| call(at, name, &json!({})))
        .collect();
    let mut play = Play::turns(vec![turn, text("End.")]).await;
    play.limits.tool_time = std::time::Duration::from_millis(20);
    play.limits.result_bytes = 100_000;
    play.agents.main.tools = Toolbox::new(vec![
        // Too long even for a file.
        tool("long", || "я".repeat(6_000_000)),
        Arc::new(slow),
        tool("broken", || panic!("a fault in a tool")),
    ]);
    let log = play.log().await;
    let (result, truncated) = log
        .iter()
        .find_map(|event| match &event.body {
            EventBody::ToolFinished {
                name,
                result,
                truncated,
                ..
            } if name == "long" => Some((result.len(), *truncated)),
            _ => None,
        })
        .unwrap();
    assert!(truncated && result < 100_100, "{result}");
    let answers: Vec<String> = play.requests()[1][3..]
        .iter()
        .map(domain::Message::plain_text)
        .collect();
    assert!(answers[0].len() < 64_100);
    assert!(
        answers[1].contains("took longer than 0 seconds"),
        "{}",
        answers[1]
    );
    assert_eq!(answers[2], "Error: The tool met a fault in the server.");
}

#[tokio::test]
async fn a_long_result_goes_to_a_file_that_can_be_searched() {
    let report = |_: Nothing, _| async {
        Ok((1..=5_000)
            .map(|line| format!("line {line} of the report\n"))
            .collect::<String>())
    };
    let report = Arc::new(Tool::new("big report", "test", ToolKind::ONCE, report).unwrap());
    let grep = json!({"pattern": "line 4321 ", "path": "/results"});
    let both = [
        call(0, "big report", &json!({})),
        call(1, "big report", &json!({})),
    ]
    .concat();
    let read = json!({"path": "/results/big-report-1.txt", "lines": 10_000});
    let mut play = Play::turns(vec![
        both,
        call(0, "grep", &grep),
        call(0, "read_file", &read),
        text("End."),
    ])
    .await;
    play.agents.main.tools = play.agents.main.tools.with_tools(&[report]);
    let log = play.log().await;
    let files: Vec<Option<&str>> = log
        .iter()
        .filter_map(|event| match &event.body {
            EventBody::ToolFinished { file, .. } => Some(file.as_deref()),
            _ => None,
        })
        .collect();
    let (mut kept, others) = (files[..2].to_vec(), &files[2..]);
    kept.sort_unstable();
    assert_eq!(
        kept,
        [
            Some("/results/big-report-1.txt"),
            Some("/results/big-report-2.txt")
        ]
    );
    assert_eq!(
        others,
        [None, None],
        "what reads files makes no more of them"
    );
    let told = |request: usize| play.requests()[request].last().unwrap().plain_text();
    let first = told(1);
    assert!(
        first.starts_with("line 1 of") && first.ends_with("line 5000 of the report\n"),
        "{first}"
    );
    assert!(
        first.contains("in 5000 lines and is in /results/big-report-"),
        "{first}"
    );
    assert!(first.len() < 9_000, "{}", first.len());
    let found = "/results/big-report-1.txt:4321: line 4321 of the report";
    assert!(told(2).starts_with(found), "{}", told(2));
    let read = told(3);
    assert!(
        read.len() < 31_000 && read.contains("more lines; read on with first_line"),
        "{}",
        read.len()
    );
}

#[tokio::test]
async fn a_long_line_is_shown_around_the_match() {
    let long = format!("{}needle{}", "x".repeat(40_000), "y".repeat(40_000));
    let turns = vec![
        call(
            0,
            "write_file",
            &json!({"path": "/long.txt", "content": long}),
        ),
        [
            call(0, "grep", &json!({"pattern": "needle"})),
            call(1, "read_file", &json!({"path": "/long.txt"})),
        ]
        .concat(),
        text("End."),
    ];
    let play = Play::turns(turns).await;
    play.log().await;
    let told: Vec<String> = play.requests()[2]
        .iter()
        .map(domain::Message::plain_text)
        .collect();
    let [.., found, read] = told.as_slice() else {
        unreachable!()
    };
    assert!(found.contains("needleyyy") && found.len() < 700, "{found}");
    assert!(
        read.contains("more bytes in this line") && read.len() < 31_000,
        "{}",
        read.len()
    );
}

#[tokio::test]
async fn a_log_reads_back_as_the_conversation() {
    let turns = vec![
        [
            text("First."),
            call(0, "ls", &json!({})),
            call(1, "read_file", &json!({"path": "x"})),
        ]
        .concat(),
        text("The answer."),
    ];
    let log = Play::turns(turns).await.log().await;
    let messages = messages_of(&log);
    let shape: Vec<(Role, String, usize)> = messages
        .iter()
        .map(|m| (m.role, m.plain_text(), m.tool_calls.len()))
        .collect();
    assert_eq!(shape[0], (Role::Assistant, "First.".into(), 2));
    assert_eq!(shape[1].1, "The workspace is empty.");
    assert!(shape[2].1.starts_with("Error: There is no file /x"));
    assert_eq!(shape[3], (Role::Assistant, "The answer.".into(), 0));
    let ids: Vec<_> = messages[1..3]
        .iter()
        .map(|m| m.tool_call_id.clone().unwrap())
        .collect();
    assert_eq!(
        ids,
        messages[0]
            .tool_calls
            .iter()
            .map(|call| call.id.clone())
            .collect::<Vec<_>>()
    );
}
