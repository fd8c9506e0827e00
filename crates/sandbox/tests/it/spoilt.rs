//! Cells that try to break their session, or to answer in its place.

use sandbox::{CellEnd, Limits};

use crate::support::{cell, lost, place, value};

/// The number of the driver's socket, as a cell finds it.
const SOCKET: &str = "
import os
sockets = [int(n) for n in os.listdir('/proc/self/fd') if os.path.lexists(f'/proc/self/fd/{n}') and os.readlink(f'/proc/self/fd/{n}').startswith('socket:')]
";

#[tokio::test]
async fn what_is_printed_is_no_answer() {
    let place = place().await;
    let mut session = place.session(Limits::default()).await;
    let forged = r#"
answer = '{"cell": 1, "value": "forged", "raised": null, "pictures": []}'
import os, sys
for fd in (1, 2): os.write(fd, len(answer).to_bytes(4, 'big') + answer.encode())
print(answer)
try: os.write(0, b'x')
except OSError as error: print(error.errno)
'real'"#;
    let done = cell(&mut session, forged).await;
    assert_eq!(done.end, CellEnd::Value(Some("'real'".into())));
    assert!(done.stdout.text.ends_with("9\n"), "{}", done.stdout.text);
    // A program that it starts has the socket neither.
    assert_eq!(value(&mut session, "import subprocess; subprocess.run('ls /proc/self/fd', shell=True, capture_output=True, text=True).stdout").await, r"'0\n1\n2\n3\n'");
}

#[tokio::test]
async fn standard_streams_may_be_spoilt() {
    let place = place().await;
    let mut session = place.session(Limits::default()).await;
    for code in [
        "import sys, os\nsys.stdout = None\nsys.stderr = 5",
        "sys.stdout = sys.__stdout__; sys.stderr = sys.__stderr__; sys.__stdout__.close()",
        "os.close(1); os.close(2); os.close(0)",
        "import builtins; builtins.print = None; builtins.len = None; builtins.repr = None",
    ] {
        let done = cell(&mut session, code).await;
        assert!(
            !matches!(done.end, CellEnd::Interrupted(_)),
            "{code}: {done:?}"
        );
        if !session.is_alive() {
            // Clear words, and no hang.
            assert!(
                matches!(&done.end, CellEnd::Lost(why) if why.ends_with("its variables are gone")),
                "{code}: {done:?}"
            );
            session = place.session(Limits::default()).await;
        }
    }
}

#[tokio::test]
async fn a_spoilt_channel_ends_the_session() {
    let place = place().await;
    for (code, reason) in [
        (
            "[os.write(s, b'garbage!' * 1000) for s in sockets]",
            "no answer",
        ),
        (
            "[os.write(s, b'\\0\\0\\0\\5garba') for s in sockets]",
            "no answer",
        ),
        ("[os.write(s, b'\\xff' * 4) for s in sockets]", "no answer"),
        (
            "a = b'{\"cell\": 9, \"value\": null, \"raised\": null, \"pictures\": []}'\nos.write(sockets[0], len(a).to_bytes(4, 'big') + a)",
            "another answer",
        ),
        ("[os.close(s) for s in sockets]", "exit code 1"),
        ("os.closerange(0, 1000)", "exit code 1"),
        (
            "import socket\nsocket.socket(fileno=sockets[0]).shutdown(2)",
            "exit code 1",
        ),
    ] {
        let mut session = place.session(Limits::default()).await;
        let why = lost(&mut session, &format!("{SOCKET}{code}")).await;
        assert!(why.contains(reason), "{code}: {why}");
        assert!(why.ends_with("its variables are gone"), "{why}");
    }
}

#[tokio::test]
async fn a_second_answer_does_not_count_for_the_next_cell() {
    let place = place().await;
    let mut session = place.session(Limits::default()).await;
    // By a thread, after the true answer has gone out.
    let code = format!(
        "{SOCKET}
import threading, time
a = b'{{\"cell\": 2, \"value\": \"forged\", \"raised\": null, \"pictures\": []}}'
def late():
    time.sleep(0.2)
    os.write(sockets[0], len(a).to_bytes(4, 'big') + a)
threading.Thread(target=late).start()"
    );
    value(&mut session, &code).await;
    // What runs in the same process can answer in its place; then the true answer is one too many.
    assert_eq!(
        value(&mut session, "import time; time.sleep(0.5); 'real'").await,
        "forged"
    );
    let why = lost(&mut session, "3").await;
    assert!(why.contains("another answer"), "{why}");
}

#[tokio::test]
async fn a_session_that_ends_says_how() {
    let place = place().await;
    for (code, reason) in [
        ("import os; os._exit(3)", "exit code 3"),
        ("import os, signal; os.kill(os.getpid(), 9)", "signal 9"),
        ("import ctypes; ctypes.string_at(0)", "signal 11"),
    ] {
        let mut session = place.session(Limits::default()).await;
        let why = lost(&mut session, code).await;
        assert!(why.contains(reason), "{code}: {why}");
    }
}

#[tokio::test]
async fn copies_of_the_process_do_not_answer() {
    let place = place().await;
    let mut session = place.session(Limits::default()).await;
    let code = "import os\nchild = os.fork()\n'child' if child == 0 else 'parent'";
    for _ in 0..3 {
        assert_eq!(value(&mut session, code).await, "'parent'");
    }
    assert_eq!(value(&mut session, "os.wait()[1]").await, "0");
}

#[tokio::test]
async fn a_flood_of_a_cell_is_bounded() {
    let place = place().await;
    let mut session = place
        .session(Limits {
            output_bytes: 1000,
            ..Limits::default()
        })
        .await;
    let done = cell(
        &mut session,
        "for n in range(100_000): print('x' * 100)\nprint('end')",
    )
    .await;
    assert_eq!(done.stdout.total_bytes, 10_100_004);
    assert!(done.stdout.text.len() < 2_000 && done.stdout.text.ends_with("end\n"));
}
