//! What is left when nobody wants the answer any more: nothing.

use std::{
    os::unix::process::CommandExt,
    process::{Command, Stdio},
};

use crate::support::{marker, marker_of, options, place, place_with, processes_with, until};

#[tokio::test]
async fn dropping_a_run_kills_it() {
    let place = place().await;
    let marker = &marker(41);
    let script =
        format!("trap '' TERM INT HUP; setsid sleep {marker} & sleep {marker}; sleep {marker}");
    {
        let run = place.sandbox.shell(&place.folder, &script).run(|_, _| {});
        let mut run = std::pin::pin!(run);
        tokio::select! {
            outcome = &mut run => panic!("{outcome:?}"),
            () = until("it runs", || processes_with(marker) >= 3) => {}
        }
    }
    until("it is gone", || processes_with(marker) == 0).await;
}

/// Other tests in the same process would have helpers of their own.
#[test]
fn dropping_a_run_that_just_starts_leaves_nothing() {
    let mut alone = Command::new("/proc/self/exe");
    alone.args([
        "--exact",
        "killed::alone_dropping_a_run_that_just_starts",
        "--ignored",
    ]);
    let output = alone.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && text.contains("1 passed"),
        "{text}"
    );
}

#[tokio::test]
#[ignore = "run by dropping_a_run_that_just_starts_leaves_nothing"]
async fn alone_dropping_a_run_that_just_starts() {
    let place = place().await;
    let marker = &marker(42);
    for polls in 0..20 {
        let run = place
            .sandbox
            .shell(&place.folder, &format!("sleep {marker}"))
            .run(|_, _| {});
        let mut run = std::pin::pin!(run);
        tokio::select! {
            biased;
            outcome = &mut run => panic!("{outcome:?}"),
            () = tokio::time::sleep(std::time::Duration::from_millis(polls)) => {}
        }
    }
    until("all are gone", || processes_with(marker) == 0).await;
    until("the helpers are gone", || {
        children_named("glasshouse-sandbox") == 0
    })
    .await;
}

/// How many children of this process have this in their command line; ended ones that nobody waits for count as well.
fn children_named(word: &str) -> usize {
    let mut count = 0;
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let path = entry.path();
        let Ok(stat) = std::fs::read_to_string(path.join("stat")) else {
            continue;
        };
        let parent = stat
            .rsplit_once(')')
            .and_then(|(_, rest)| rest.split_whitespace().nth(1))
            .unwrap_or("");
        let line = std::fs::read(path.join("cmdline")).unwrap_or_default();
        let ended = stat.contains(") Z ");
        if parent == std::process::id().to_string()
            && (ended || String::from_utf8_lossy(&line).contains(word))
        {
            count += 1;
        }
    }
    count
}

/// Run in a process of its own by the test below, which kills that.
#[tokio::test]
#[ignore = "run by what_runs_ends_with_the_server"]
async fn a_server_with_something_that_runs() {
    let place = place_with(options()).await;
    let marker = marker_of(std::os::unix::process::parent_id(), 43);
    let run = place
        .sandbox
        .shell(&place.folder, &format!("exec sleep {marker}"));
    let run = run.run(|_, _| {});
    let code = format!("import subprocess; subprocess.run(['sleep', '{marker}'])");
    let mut session = place.session(sandbox::Limits::default()).await;
    let cell = session.run(&code, |_, _| {});
    let _ = tokio::join!(run, cell);
}

#[tokio::test]
async fn what_runs_ends_with_the_server() {
    let marker = &marker(43);
    let mut server = Command::new(std::env::current_exe().unwrap());
    server.args([
        "--exact",
        "killed::a_server_with_something_that_runs",
        "--ignored",
    ]);
    let mut server = server
        .stdout(Stdio::null())
        .process_group(0)
        .spawn()
        .unwrap();
    until("both run", || processes_with(marker) >= 2).await;
    server.kill().unwrap();
    server.wait().unwrap();
    until("both are gone", || processes_with(marker) == 0).await;
}
