//! A Python session: what it answers and what it keeps.

use std::time::{Duration, Instant};

use sandbox::{CellEnd, Error, Limits, Stream};

use crate::support::{cell, lost, marker, place, processes_with, raised, until, value};

#[tokio::test]
async fn variables_are_kept() {
    let place = place().await;
    let mut session = place.session(Limits::default()).await;
    assert_eq!(value(&mut session, "import math\nx = 20").await, "");
    assert_eq!(
        value(&mut session, "def f(y):\n    return x + y\nf(1)").await,
        "21"
    );
    assert_eq!(value(&mut session, "_ * 2").await, "42");
    assert_eq!(
        value(
            &mut session,
            "class A: pass\nimport pickle\ntype(pickle.loads(pickle.dumps(A())))"
        )
        .await,
        "<class '__main__.A'>"
    );
    assert_eq!(
        value(
            &mut session,
            "open('own.py', 'w').write('a = 5')\nimport own\nown.a"
        )
        .await,
        "5"
    );
    assert_eq!(value(&mut session, "").await, "");
    assert_eq!(value(&mut session, "math.floor(2.5); None").await, "");
    let listed: Vec<String> = place
        .folder
        .collect(10)
        .unwrap()
        .0
        .into_iter()
        .map(|file| file.path)
        .collect();
    assert_eq!(listed, ["own.py"]);
    let other = place.session(Limits::default()).await;
    let mut other = other;
    assert_eq!(raised(&mut other, "x").await.kind, "NameError");
}

#[tokio::test]
async fn output_is_passed_on_while_a_cell_runs() {
    let place = place().await;
    let mut session = place.session(Limits::default()).await;
    let mut passed = Vec::new();
    let began = Instant::now();
    let code = "import sys, time, os\nprint('ä')\ntime.sleep(0.5)\nprint('e', file=sys.stderr)\nprint('no newline', end='')\nos.system('echo below')\n1";
    let done = session
        .run(code, |stream, text| {
            passed.push((stream, text.to_owned(), began.elapsed()))
        })
        .await
        .unwrap();
    assert_eq!(passed[0].1, "ä\n");
    assert!(passed[0].2 + Duration::from_millis(300) < began.elapsed());
    assert!(
        passed
            .iter()
            .any(|(stream, text, _)| (*stream, text.as_str()) == (Stream::Stderr, "e\n"))
    );
    assert!(done.stdout.text.contains("no newline") && done.stdout.text.contains("below\n"));
    assert_eq!(done.end, CellEnd::Value(Some("1".into())));
    // Each cell has its own.
    assert_eq!(cell(&mut session, "print('b')").await.stdout.text, "b\n");
}

#[tokio::test]
async fn an_error_is_told_without_our_frames() {
    let place = place().await;
    let mut session = place.session(Limits::default()).await;
    let error = raised(
        &mut session,
        "def f():\n    raise ValueError('bad ' + 'x' * 5000)\nf()",
    )
    .await;
    assert_eq!(error.kind, "ValueError");
    assert!(error.message.starts_with("bad xx") && error.message.len() < 2_200);
    let begin = "Traceback (most recent call last):\n  File \"<cell 1>\", line 3, in <module>\n    f()\n  File \"<cell 1>\", line 2, in f\n";
    assert!(
        error.traceback.starts_with(begin) && !error.traceback.contains("session.py"),
        "{}",
        error.traceback
    );
    let error = raised(&mut session, "x = = 1").await;
    assert_eq!(error.kind, "SyntaxError");
    assert!(
        !error.traceback.contains("session.py"),
        "{}",
        error.traceback
    );
    assert_eq!(
        raised(&mut session, "import sys; sys.exit(3)").await.kind,
        "SystemExit"
    );
    assert_eq!(
        raised(&mut session, "def g(): g()\ng()").await.kind,
        "RecursionError"
    );
    assert_eq!(raised(&mut session, "input()").await.kind, "EOFError");
    let bad = "class Bad(Exception):\n    def __str__(self): raise KeyError(1)\nraise Bad()";
    assert_eq!(raised(&mut session, bad).await.kind, "Bad");
    let bad = "class Bad:\n    def __repr__(self): raise KeyError(1)\nBad()";
    assert_eq!(raised(&mut session, bad).await.kind, "KeyError");
    assert_eq!(
        raised(&mut session, "raise KeyboardInterrupt").await.kind,
        "KeyboardInterrupt"
    );
    let long = value(&mut session, "'x' * 1_000_000").await;
    assert!(long.len() < 20_100 && long.contains("characters left out"));
}

#[tokio::test]
async fn a_cell_that_takes_too_long_is_interrupted() {
    let place = place().await;
    let mut session = place
        .session(Limits {
            wall_ms: 700,
            interrupt_grace_ms: 1_500,
            ..Limits::default()
        })
        .await;
    value(&mut session, "kept = 1").await;
    for code in [
        "import time; time.sleep(60)",
        "while True: pass",
        "import os; os.system('sleep 60; sleep 60')",
        "import subprocess; subprocess.run(['sleep', '60'])",
    ] {
        let done = cell(&mut session, code).await;
        let CellEnd::Interrupted(error) = done.end else {
            panic!("{code}: {:?}", done.end)
        };
        assert_eq!(error.kind, "KeyboardInterrupt", "{code}");
        assert!(
            !error.traceback.contains("session.py"),
            "{}",
            error.traceback
        );
        assert!(done.time_ms < 3_000);
        assert_eq!(value(&mut session, "kept").await, "1", "after {code}");
    }
    let stubborn = "
import time
while True:
    try: time.sleep(1)
    except KeyboardInterrupt: pass";
    let why = lost(&mut session, stubborn).await;
    assert!(why.contains("could not be interrupted"), "{why}");
    assert!(matches!(
        session.run("1", |_, _| {}).await,
        Err(Error::SessionEnded)
    ));
    let mut session = place
        .session(Limits {
            wall_ms: 500,
            interrupt_grace_ms: 300,
            ..Limits::default()
        })
        .await;
    let deaf = "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: pass";
    assert!(
        lost(&mut session, deaf)
            .await
            .contains("could not be interrupted")
    );
}

#[tokio::test]
async fn nothing_goes_on_between_cells() {
    let place = place().await;
    let mut session = place.session(Limits::default()).await;
    let code = "
import threading, subprocess, time
count = 0
def work():
    global count
    while True:
        count += 1
        time.sleep(0.001)
threading.Thread(target=work, daemon=True).start()
child = subprocess.Popen(['sh', '-c', 'while :; do echo x >> grown; sleep 0.01; done'])
time.sleep(0.2)";
    value(&mut session, code).await;
    let size = || place.folder.look("grown").unwrap().size_bytes;
    let before = size();
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(size(), before);
    value(&mut session, "time.sleep(0.3)").await;
    assert!(size() > before, "it goes on with the next cell");
}

#[tokio::test]
async fn processor_time_counts_for_each_cell() {
    let place = place().await;
    let mut session = place
        .session(Limits {
            cpu_seconds: 1,
            ..Limits::default()
        })
        .await;
    let half =
        "import time\nend = time.process_time() + 0.6\nwhile time.process_time() < end: pass";
    for _ in 0..3 {
        value(&mut session, half).await;
    }
    let why = lost(&mut session, "while True: pass").await;
    assert!(
        why.starts_with("it was ended: it used too much processor time"),
        "{why}"
    );
}

#[tokio::test]
async fn limits_of_the_folder_and_of_memory_hold() {
    let place = place().await;
    let limits = Limits {
        folder_bytes: 1024 * 1024,
        memory_bytes: 150 * 1024 * 1024,
        ..Limits::default()
    };
    let mut session = place.session(limits.clone()).await;
    assert_eq!(
        raised(&mut session, "big = bytearray(300_000_000)")
            .await
            .kind,
        "MemoryError"
    );
    let why = lost(&mut session, "open('big', 'wb').write(b'x' * 3_000_000)").await;
    assert!(why.contains("too much into its folder"), "{why}");
}

#[tokio::test]
async fn dropping_a_cell_or_a_session_kills_it() {
    let place = place().await;
    let marker = &marker(51);
    let code = format!("import subprocess; subprocess.run(['sleep', '{marker}'])");
    let mut session = place.session(Limits::default()).await;
    {
        let mut run = std::pin::pin!(session.run(&code, |_, _| {}));
        tokio::select! {
            done = &mut run => panic!("{done:?}"),
            () = until("it runs", || processes_with(marker) > 0) => {}
        }
    }
    assert!(!session.is_alive());
    until("it is gone", || processes_with(marker) == 0).await;
    assert!(matches!(
        session.run("1", |_, _| {}).await,
        Err(Error::SessionEnded)
    ));

    let mut session = place.session(Limits::default()).await;
    // It has to speak: one that is just being started, or becomes another program, may be stopped without a name.
    let child = format!("['sh', '-c', 'echo up; sleep {marker}; true']");
    let code = format!(
        "import subprocess\nchild = subprocess.Popen({child}, stdout=subprocess.PIPE)\nchild.stdout.readline()"
    );
    value(&mut session, &code).await;
    assert!(processes_with(marker) > 0);
    drop(session);
    until("it is gone", || processes_with(marker) == 0).await;
}
