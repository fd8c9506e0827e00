//! The program is the first process of a container, where what others leave behind is its own to bury.

use std::{fs, path::Path};

use scripted::{Behaviour, ScriptedServer};
use tokio::process::Command;

use super::{Program, until, words};
use crate::harness::new_folder;

/// The program in a process namespace of its own; nothing where this machine lets nobody make one.
async fn as_first_process(folder: &Path, model_url: &str) -> Option<Program> {
    let alone = |rest: &[&str]| {
        let mut command = Command::new("unshare");
        command.args([
            "--user",
            "--map-root-user",
            "--pid",
            "--fork",
            "--kill-child",
            "--mount-proc",
            "--",
        ]);
        command.args(rest);
        command
    };
    if !alone(&["true"])
        .output()
        .await
        .is_ok_and(|tried| tried.status.success())
    {
        return None;
    }
    let plain = Program::command(folder, model_url);
    let mut command = alone(&[]);
    command
        .arg(plain.as_std().get_program())
        .args(plain.as_std().get_args());
    for (name, value) in plain.as_std().get_envs() {
        command.env(name, value.unwrap());
    }
    Some(Program::spawn(command).await)
}

/// The children of a process, and what state each is in.
fn children(parent: u32) -> Vec<(u32, String)> {
    let pids =
        fs::read_to_string(format!("/proc/{parent}/task/{parent}/children")).unwrap_or_default();
    let state = |pid: &str| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        stat.rsplit(')')
            .next()
            .and_then(|rest| rest.split_whitespace().next())
            .unwrap_or_default()
            .to_owned()
    };
    pids.split_whitespace()
        .map(|pid| (pid.parse().unwrap(), state(pid)))
        .collect()
}

#[tokio::test]
async fn as_the_first_process_it_leaves_no_zombies_and_stops_when_told() {
    let upstream = ScriptedServer::start(Behaviour::always(words(5, 50.0)))
        .await
        .unwrap();
    let folder = new_folder();
    let left = folder.join("left");
    // A server of tools that ends at once, and leaves a process that is in no group of its own.
    let leaves = format!(
        "setsid sh -c 'sleep 0.2; echo x >> {}' & exit 1",
        left.display()
    );
    let settings = format!(
        "[[mcp_servers]]\nname = \"leaves\"\ncommand = \"/bin/sh\"\nargs = [\"-c\", {leaves:?}]\n[mcp_servers.env]\nPATH = \"/usr/bin:/bin\"\n"
    );
    fs::write(folder.join("glasshouse.toml"), settings).unwrap();
    let Some(mut server) = as_first_process(&folder, &upstream.base_url()).await else {
        let required = std::env::vars_os().any(|(name, _)| name == "GLASSHOUSE_TEST_REQUIRE");
        assert!(!required, "the whole test run needs user namespaces");
        return;
    };
    let (first, _) = children(server.child.id().unwrap())[0].clone();
    until("something is left behind", async || left.exists()).await;
    let zombies = || {
        children(first)
            .into_iter()
            .filter(|(_, state)| state == "Z")
            .count()
    };
    until("nothing of it is left", async || zombies() == 0).await;

    let told = std::process::Command::new("kill")
        .args(["-TERM", &first.to_string()])
        .status();
    assert!(told.unwrap().success());
    assert!(
        server.child.wait().await.unwrap().success(),
        "the server's own end is that of all"
    );
    fs::remove_dir_all(folder).unwrap();
}
