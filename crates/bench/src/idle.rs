//! Memory per reader of five thousand readers of one idle run.

use std::{path::Path, time::Duration};

use anyhow::Context;
use scripted::{Behaviour, Reply, ScriptedServer, ServerOptions, Step};

use crate::{
    client::Client,
    program::{Program, Setup},
    table::{Aim, print},
    turns::{request, row},
};

const READERS: u32 = 5000;

pub(crate) async fn measure(program: &Path, quick: bool) -> anyhow::Result<()> {
    let readers = if quick { READERS / 10 } else { READERS };
    let reply = Reply::stream(&[
        Step::Text {
            text: "Wait".into(),
            tokens_per_second: None,
        },
        Step::Silence,
    ]);
    let options = ServerOptions {
        keep_requests: false,
        ..ServerOptions::default()
    };
    let model = ScriptedServer::start_with(Behaviour::always(reply), options).await?;
    let program = Program::start(Setup {
        program,
        upstream: Some(model.base_url()),
        data_dir: None,
        environment: &[],
    })?;
    let mut writer = Client::connect(program.address).await?;
    let run = start_run(&mut writer, &program).await?;
    let (before_mb, _) = program.process.memory_mb()?;
    let mut clients = Vec::new();
    for _ in 0..readers {
        let mut client = Client::connect(program.address).await?;
        client
            .send("GET", &format!("/runs/{run}/events"), "")
            .await?;
        client.until(b"text_delta").await?;
        clients.push(client);
    }
    // Freed memory is returned after two seconds.
    tokio::time::sleep(Duration::from_secs(4)).await;
    let (after_mb, _) = program.process.memory_mb()?;
    print(
        "5,000 readers of one silent run",
        &[
            row("memory before", before_mb, "MB", None),
            row("memory with all readers", after_mb, "MB", None),
            row(
                "one reader",
                (after_mb - before_mb) * 1024.0 / f64::from(readers),
                "KB",
                Some(Aim::AtMost(15.0)),
            ),
        ],
    );
    Ok(())
}

/// Starts a run and waits for its first output. Returns its id.
async fn start_run(writer: &mut Client, program: &Program) -> anyhow::Result<String> {
    for _ in 0..200 {
        if let Ok(header) = writer.send("POST", "/chat/stream", &request()).await {
            writer.until(b"token").await?;
            let id = header
                .lines()
                .find_map(|line| line.strip_prefix("x-run-id: "));
            return Ok(id.context("no x-run-id")?.trim().to_owned());
        }
        // The list of models may not be available yet.
        tokio::time::sleep(Duration::from_millis(50)).await;
        *writer = Client::connect(program.address).await?;
    }
    anyhow::bail!("the program does not know the scripted model")
}
