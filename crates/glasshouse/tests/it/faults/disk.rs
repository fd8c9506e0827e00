//! The disk is full: writing is refused in words, reading goes on, and with room again everything does.

use std::{fs, path::PathBuf};

use scripted::{Behaviour, ScriptedServer};
use serde_json::json;
use tokio::process::Command;

use super::{Program, until, whole_log, words};
use crate::harness::new_folder;

const DISK_BYTES: u64 = 8_000_000;

/// The program with its data on a small disk of its own; nothing where this machine lets nobody mount one.
async fn on_a_small_disk(folder: &PathBuf, model_url: &str) -> Option<Program> {
    let mounting = r#"mount -t tmpfs -o "size=$1" tmpfs "$2" && shift 2 && exec "$@""#;
    let in_namespace = |rest: &[&str]| {
        let mut command = Command::new("unshare");
        command.args([
            "--user",
            "--map-root-user",
            "--mount",
            "sh",
            "-c",
            mounting,
            "sh",
        ]);
        command.arg(DISK_BYTES.to_string()).arg(folder).args(rest);
        command
    };
    let tried = in_namespace(&["true"]).output().await;
    if !tried.is_ok_and(|tried| tried.status.success()) {
        return None;
    }
    let plain = Program::command(folder, model_url);
    let mut command = in_namespace(&[]);
    command
        .arg(plain.as_std().get_program())
        .args(plain.as_std().get_args());
    for (name, value) in plain.as_std().get_envs() {
        command.env(name, value.unwrap());
    }
    Some(Program::spawn(command).await)
}

#[tokio::test]
async fn a_full_disk_refuses_writes_and_nothing_else() {
    let upstream = ScriptedServer::start(Behaviour::always(words(100, 50.0)))
        .await
        .unwrap();
    let folder = new_folder();
    let Some(server) = on_a_small_disk(&folder, &upstream.base_url()).await else {
        let required = std::env::vars_os().any(|(name, _)| name == "GLASSHOUSE_TEST_REQUIRE");
        assert!(!required, "the whole test run needs user namespaces");
        return;
    };
    let chat = format!("/api/v1/chats/{}", server.new_chat().await);
    let said = json!({"content": "Hi", "model": "scripted"});
    let begun = server.post(&format!("{chat}/messages"), &said).await.json();
    let run = begun["run"].as_str().unwrap();

    // Its disk, seen from here.
    let disk = PathBuf::from(format!(
        "/proc/{}/root{}",
        server.child.id().unwrap(),
        folder.display()
    ));
    let ballast = disk.join("ballast");
    let mut fill = fs::File::create(&ballast).unwrap();
    let full = loop {
        match std::io::Write::write_all(&mut fill, &[0; 4096]) {
            Ok(()) => {}
            Err(error) => break error,
        }
    };
    assert_eq!(full.kind(), std::io::ErrorKind::StorageFull);

    // What pages are left in the files that are there already is used up first.
    let big = json!({"content": "x".repeat(100_000), "model": "scripted"});
    let mut refusals = Vec::new();
    until("the disk is full", async || {
        let answer = server.post(&format!("{chat}/messages"), &big).await;
        let code = if answer.status == 200 {
            String::new()
        } else {
            answer.expect(507)
        };
        refusals.push(code);
        refusals.last().unwrap() == "storage_full"
    })
    .await;
    let taken = refusals.iter().filter(|code| code.is_empty()).count();
    let file = server
        .client
        .put(format!("{}{chat}/files/content?path=/a.txt", server.url));
    assert_eq!(
        crate::harness::Answer::of(file.body("x".repeat(200_000)))
            .await
            .expect(507),
        "storage_full"
    );
    server.get(&chat).await.expect(200);
    server.get("/api/v1/chats").await.expect(200);

    // An open file keeps its room.
    drop(fill);
    fs::remove_file(&ballast).unwrap();
    server
        .post(&format!("{chat}/messages"), &said)
        .await
        .expect(200);
    let log = server.log(run).await;
    assert!(
        format!("{:?}", log.last().unwrap().body).contains("Completed"),
        "{log:?}"
    );
    let messages = server.get(&chat).await.json()["messages"].clone();
    assert_eq!(
        messages.as_array().unwrap().len(),
        2 * (taken + 2),
        "all that was taken and nothing else"
    );
    for message in messages.as_array().unwrap() {
        if let Some(run) = message["run"].as_str() {
            whole_log(&server.get(&format!("/runs/{run}/events")).await.text);
        }
    }
    drop(server);
    fs::remove_dir_all(folder).unwrap();
}
