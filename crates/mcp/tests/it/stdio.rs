//! Misbehaving programs. `sh` plays them: it reads a line for each message and prints arbitrary lines.

use std::time::Duration;

use mcp::{Answer, CallError, CallEvent, Program, Reply, State, Transport};
use serde_json::{Map, json};

use crate::{Tried, end_of, line_in, new_folder, start};

/// Answers the handshake: responds to `initialize`, which is message 0, and reads the notification after it.
const SHAKE_HANDS: &str = r#"
    read -r line
    echo '{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"odd","version":"1"}}}'
    read -r line
"#;
/// Lists one tool, `a`; message 1.
const LIST_ONE: &str = r#"
    read -r line
    echo '{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"a","inputSchema":{"type":"object"}}]}}'
"#;

/// A response without a request.
const UNASKED: &str = r#"
    echo '{"jsonrpc":"2.0","id":99,"result":{}}'
"#;

fn sh(script: &str) -> Tried {
    let environment = vec![("PATH".to_owned(), "/usr/local/bin:/usr/bin:/bin".to_owned())];
    let arguments = vec!["-c".to_owned(), script.to_owned()];
    start(Transport::Stdio(Program {
        command: "sh".into(),
        arguments,
        environment,
        folder: None,
    }))
}

fn well_until(then: &str) -> Tried {
    sh(&format!("{SHAKE_HANDS}{LIST_ONE}{then}"))
}

#[tokio::test]
async fn a_missing_or_exiting_program() {
    let command = "no-such-program".to_owned();
    let none = Vec::new;
    let program = Program {
        command,
        arguments: none(),
        environment: Vec::new(),
        folder: None,
    };
    let problem = start(Transport::Stdio(program)).problem().await;
    assert!(
        problem.starts_with("The program no-such-program could not be started"),
        "{problem}"
    );
    let problem = sh("echo 'Cannot find the key.' >&2; sleep 0.3; exit 1")
        .problem()
        .await;
    assert_eq!(
        problem,
        "The server ended at once. It said: Cannot find the key."
    );
}

#[tokio::test]
async fn garbage_between_messages_does_no_harm() {
    let noise = r#"
        echo 'Listening…'; echo '{"jsonrpc":'; echo '[]'; echo 'null'
        head -c 9000000 /dev/zero | tr '\0' x; echo
    "#;
    let tried = sh(&format!(
        "{noise}{SHAKE_HANDS}{noise}{UNASKED}{LIST_ONE}sleep 60"
    ));
    assert_eq!(tried.names().await, ["a"]);
}

#[tokio::test]
async fn lists_without_an_end_and_with_bad_tools() {
    let page = r#"{"jsonrpc":"2.0","id":'$id',"result":{"tools":[{"name":"t'$id'","inputSchema":{}},{"name":5},{"name":"x"}],"nextCursor":"on'$id'"}}"#;
    let tried = sh(&format!(
        "{SHAKE_HANDS} id=1; while read -r line; do echo '{page}'; id=$((id+1)); done"
    ));
    assert_eq!(tried.names().await.len(), 50);
    let problems: Vec<String> = tried
        .server
        .status()
        .problems
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(
        (problems[0].as_str(), problems[1].as_str()),
        (
            "The tool “” cannot be used: its name is invalid.",
            "The tool “x” cannot be used: it has no schema."
        )
    );
    assert_eq!(
        problems.last().unwrap(),
        "Only 50 pages of its list of tools are read."
    );
}

#[tokio::test]
async fn an_invalid_cursor_ends_the_list() {
    // java-sdk#628, csharp-sdk#1072, codebase-memory-mcp#1247
    for (mark, pages) in [
        (r#""""#, 1),
        ("null", 1),
        (r#""same""#, 2),
        (r#""p'$((id%3))'""#, 4),
    ] {
        let page = format!(
            r#"{{"jsonrpc":"2.0","id":'$id',"result":{{"tools":[{{"name":"t'$id'","inputSchema":{{}}}}],"nextCursor":{mark}}}}}"#
        );
        let tried = sh(&format!(
            "{SHAKE_HANDS} id=1; while read -r line; do echo '{page}'; id=$((id+1)); done"
        ));
        assert_eq!(tried.names().await.len(), pages, "{mark}");
        assert_eq!(tried.server.status().problems, [], "{mark}");
    }
}

#[tokio::test]
async fn a_server_without_pagination_is_read_once() {
    for (mark, tools, names) in [
        ("same", r#"[{"name":"a","inputSchema":{}}]"#, vec!["a"]),
        ("on'$id'", r#"[{"name":"a","inputSchema":{}}]"#, vec!["a"]),
        ("same", "null", vec![]),
    ] {
        let page = format!(
            r#"{{"jsonrpc":"2.0","id":'$id',"result":{{"tools":{tools},"nextCursor":"{mark}"}}}}"#
        );
        let tried = sh(&format!(
            "{SHAKE_HANDS} id=1; while read -r line; do echo '{page}'; id=$((id+1)); done"
        ));
        assert_eq!(tried.names().await, names, "{mark}");
        assert_eq!(tried.server.status().problems, [], "{mark}");
    }
}

#[tokio::test]
async fn a_minimal_handshake_is_accepted() {
    for said in [
        r#""capabilities":{"tools":{}}"#,
        r#""capabilities":null,"serverInfo":null"#,
        r#""serverInfo":{"name":"odd"},"instructions":null"#,
        r#""capabilities":{},"serverInfo":{"version":"1"}"#,
    ] {
        let tried = sh(&format!(
            r#"read -r line
            echo '{{"jsonrpc":"2.0","id":0,"result":{{"protocolVersion":"2025-06-18",{said}}}}}'
            read -r line
            {LIST_ONE} sleep 60"#
        ));
        assert_eq!(tried.names().await, ["a"], "{said}");
    }
}

#[tokio::test]
async fn an_invalid_list() {
    let answer = |body: &str| {
        sh(&format!(
            "{SHAKE_HANDS} read -r line; echo '{body}'; sleep 60"
        ))
    };
    let tried = answer(r#"{"jsonrpc":"2.0","id":1,"result":{"tools":"many"}}"#);
    assert_eq!(
        tried.problem().await,
        "The server sent an invalid list of tools."
    );
    let tried = answer(r#"{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"not today"}}"#);
    assert_eq!(
        tried.problem().await,
        "The server does not list its tools: not today."
    );
}

#[tokio::test]
async fn results_of_all_kinds() {
    let failed = Err(CallError::Failed(Answer::of("no")));
    for (answer, expected) in [
        (
            r#""result":{"content":[{"type":"text","text":"yes"}]}"#,
            Ok("yes".to_owned()),
        ),
        (
            r#""result":{"content":[{"type":"hologram"}]}"#,
            Ok("[Something that cannot be shown: “hologram”]".to_owned()),
        ),
        (
            r#""result":{"content":[{"type":"text","text":"no"}],"isError":true}"#,
            failed,
        ),
        (
            r#""result":{"strange":1}"#,
            Ok(r#"{"strange":1}"#.to_owned()),
        ),
        (r#""result":null"#, Err(CallError::NoResult)),
        (
            r#""error":{"code":-32602,"message":"bad"}"#,
            Err(CallError::Refused("bad".into())),
        ),
    ] {
        let message = format!("{{\"jsonrpc\":\"2.0\",\"id\":2,{answer}}}");
        let tried = well_until(&format!("read -r line; echo '{message}'; sleep 60"));
        tried.names().await;
        assert_eq!(
            end_of(&mut tried.call("me").await).await,
            expected,
            "{answer}"
        );
    }
}

#[tokio::test]
async fn dying_in_the_middle_of_a_call() {
    let tried = well_until("read -r line; exit 1");
    tried.names().await;
    assert_eq!(
        end_of(&mut tried.call("me").await).await,
        Err(CallError::Lost)
    );
    assert_eq!(tried.names().await, ["a"], "it is started again");
}

#[tokio::test]
async fn silence_cancels_a_call() {
    let folder = new_folder("silence");
    let received = folder.join("told");
    let tried = well_until(&format!(
        "read -r line; read -r line; echo \"$line\" > {}; sleep 60",
        received.display()
    ));
    tried.names().await;
    assert_eq!(
        end_of(&mut tried.call("me").await).await,
        Err(CallError::TimedOut(1))
    );
    let line = line_in(&received).await;
    std::fs::remove_dir_all(folder).unwrap();
    assert!(
        line.contains("notifications/cancelled") && line.contains("\"requestId\":2"),
        "{line}"
    );
}

#[tokio::test]
async fn a_server_that_knows_no_pings_is_there_all_the_same() {
    let folder = new_folder("pings");
    let pinged = folder.join("pinged");
    let tried = well_until(&format!(
        r#"while read -r line; do
            id=$(echo "$line" | sed 's/.*"id":\([0-9]*\).*/\1/')
            case "$line" in
            *'"ping"'*)
                echo '{{"jsonrpc":"2.0","id":'$id',"error":{{"code":-32601,"message":"Method not found"}}}}'
                echo "$line" > {} ;;
            *tools/call*)
                test -f {} && echo '{{"jsonrpc":"2.0","id":'$id',"result":{{"content":[{{"type":"text","text":"here"}}]}}}}' ;;
            esac
        done"#,
        pinged.display(),
        pinged.display()
    ));
    tried.names().await;
    assert_eq!(
        end_of(&mut tried.call("me").await).await,
        Err(CallError::TimedOut(1))
    );
    assert!(line_in(&pinged).await.contains("ping"));
    assert_eq!(
        end_of(&mut tried.call("me").await).await,
        Ok("here".to_owned())
    );
    std::fs::remove_dir_all(folder).unwrap();
}

#[tokio::test]
async fn progress_keeps_a_call_alive_and_floods_are_harmless() {
    let progress = r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":'$token',"progress":'$n',"total":5000,"message":"on"}}"#;
    // The token is the number after its name.
    let token =
        r#"read -r line; token=$(echo "$line" | sed 's/.*"progressToken":\([0-9]*\).*/\1/')"#;
    let slowly = format!("for n in 1 2 3 4; do sleep 0.7; echo '{progress}'; done");
    let flood = format!("n=5; while [ $n -lt 3000 ]; do echo '{progress}'; n=$((n+1)); done");
    let done = r#"echo '{"jsonrpc":"2.0","id":2,"result":{"content":[]}}'; sleep 60"#;
    let tried = well_until(&format!("{token}; {slowly}; {flood}; {done}"));
    tried.names().await;
    let mut call = tried.call("me").await;
    let mut events = Vec::new();
    let result = loop {
        match call.next().await {
            CallEvent::Progress(words) => events.push(words),
            CallEvent::Ended(result) => break result.map(|answer| answer.text()),
            CallEvent::Asks(question) => panic!("{question:?}"),
        }
    };
    assert_eq!(result, Ok(String::new()));
    assert_eq!(events[0], "on (1 of 5000)");
}

/// Asks something while call 2 is open.
const ASK: &str = r#"echo '{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{"message":"Sure?","requestedSchema":{"type":"object","properties":{"sure":{"type":"boolean"}}}}}'"#;
/// Returns the line it reads as the result of call 2.
const TELL: &str = r#"
    read -r line
    case "$line" in *'"accept"'*) said=accept;; *'"cancel"'*) said=cancel;; *) said=other;; esac
    echo '{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"'$said'"}]}}'
    sleep 60
"#;

#[tokio::test]
async fn a_question_reaches_its_caller_without_using_up_time() {
    let tried = well_until(&format!("read -r line; {ASK}; {TELL}"));
    tried.names().await;
    let mut call = tried.call("me").await;
    let CallEvent::Asks(question) = call.next().await else {
        panic!("it should ask")
    };
    assert_eq!(question.message, "Sure?");
    assert_eq!(question.schema["properties"]["sure"]["type"], "boolean");
    // Longer than a call may be silent.
    tokio::time::sleep(Duration::from_millis(1_800)).await;
    question.reply(Reply::Accept(Map::from_iter([(
        "sure".to_owned(),
        json!(true),
    )])));
    assert_eq!(end_of(&mut call).await, Ok("accept".to_owned()));
}

#[tokio::test]
async fn an_ambiguous_question_is_dropped() {
    let tried = well_until(&format!("read -r line; read -r line; {ASK}; {TELL}"));
    tried.names().await;
    let mut mine = tried.call("me").await;
    let theirs = tried.call("them").await;
    assert_eq!(end_of(&mut mine).await, Ok("cancel".to_owned()));
    drop(theirs);
}

/// Its call was cancelled, and the program has not noticed: no other call receives the question.
#[tokio::test]
async fn a_question_of_a_cancelled_call_is_dropped() {
    // The first call, its cancellation, the second call and a ping; the latter two in any order.
    let stopped = format!(
        r#"
        read -r line; read -r line; read -r line; read -r line; {ASK}; read -r line
        case "$line" in *'"accept"'*) said=accept;; *'"cancel"'*) said=cancel;; *) said=other;; esac
        for id in 3 4; do
            echo '{{"jsonrpc":"2.0","id":'$id',"result":{{"content":[{{"type":"text","text":"'$said'"}}]}}}}'
        done
        read -r line; {ASK}; read -r line
        case "$line" in *'"decline"'*) said=declined;; *) said=other;; esac
        echo '{{"jsonrpc":"2.0","id":5,"result":{{"content":[{{"type":"text","text":"'$said'"}}]}}}}'
        sleep 60
        "#
    );
    let tried = well_until(&stopped);
    tried.names().await;
    drop(tried.call("me").await);
    let mut theirs = tried.call("them").await;
    assert_eq!(end_of(&mut theirs).await, Ok("cancel".to_owned()));
    // Now it knows, and may ask questions for others again.
    let mut next = tried.call("them").await;
    let CallEvent::Asks(question) = next.next().await else {
        panic!("it should ask")
    };
    question.reply(Reply::Decline);
    assert_eq!(end_of(&mut next).await, Ok("declined".to_owned()));
}

#[tokio::test]
async fn a_changed_list_is_reloaded() {
    let changed = r#"
        sleep 0.2; echo '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}'
        read -r line; echo '{"jsonrpc":"2.0","id":2,"result":{"tools":[{"name":"b","inputSchema":{}}]}}'
        sleep 60
    "#;
    let tried = well_until(changed);
    for tries in 0.. {
        if tried.names().await == ["b"] {
            break;
        }
        assert!(tries < 500, "the list stayed as it was");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// As reported by the kernel.
fn state_of(pid: &str) -> String {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat
        .rsplit(')')
        .next()
        .and_then(|rest| rest.split_whitespace().next());
    state.unwrap_or("gone").to_owned()
}

/// A process that has exited and was not waited for is a zombie.
fn is_over(state: &str) -> bool {
    ["gone", "Z", "X"].contains(&state)
}

#[tokio::test]
async fn stopping_kills_the_program_and_all_that_it_started() {
    let folder = new_folder("kill");
    let file = folder.join("pids");
    // Neither exits by itself when its input is closed.
    let stubborn = format!(
        "trap '' TERM HUP; sleep 300 & echo $$ $! > {}; sleep 300; sleep 300",
        file.display()
    );
    let tried = well_until(&stubborn);
    tried.names().await;
    let pids = line_in(&file).await;
    tried.stopping.cancel();
    tried.tasks.close();
    tokio::time::timeout(Duration::from_secs(8), tried.tasks.wait())
        .await
        .unwrap();
    for pid in pids.split_whitespace() {
        let mut state = state_of(pid);
        // A killed process ends when it is scheduled.
        for _ in 0..250 {
            if !is_over(&state) {
                tokio::time::sleep(Duration::from_millis(20)).await;
                state = state_of(pid);
            }
        }
        assert!(is_over(&state), "{pid} is {state}");
    }
    std::fs::remove_dir_all(folder).unwrap();
    assert_ne!(tried.server.status().state, State::Down);
}
