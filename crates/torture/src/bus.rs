//! A Redis or Valkey between the servers that is killed and frozen again and again, and comes back empty.

use std::{
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use anyhow::Context;
use tokio::{
    net::{TcpListener, TcpStream},
    process::{Child, Command},
    time::{sleep, timeout},
};

use crate::{random::Random, victim::signal};

/// The longest that it works, and that it is gone or frozen.
const MAX_LIFE: Duration = Duration::from_secs(10);
const MAX_ABSENCE: Duration = Duration::from_secs(4);

pub(crate) struct Bus {
    program: PathBuf,
    port: u16,
    child: Child,
}

/// How often it was disturbed.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct BusFaults {
    pub(crate) kills: usize,
    pub(crate) freezes: usize,
}

impl Bus {
    pub(crate) async fn start(program: &Path) -> anyhow::Result<Self> {
        let free = TcpListener::bind("127.0.0.1:0").await?;
        let port = free.local_addr()?.port();
        drop(free);
        Ok(Self {
            program: program.to_owned(),
            port,
            child: spawn(program, port).await?,
        })
    }

    pub(crate) fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    /// Disturbs it for ever.
    pub(crate) async fn disturb(
        &mut self,
        mut random: Random,
        faults: &mut BusFaults,
    ) -> anyhow::Result<()> {
        loop {
            sleep(random.up_to(MAX_LIFE)).await;
            let absence = random.up_to(MAX_ABSENCE);
            if random.per_mille() < 500 {
                self.child.kill().await?;
                sleep(absence).await;
                self.child = spawn(&self.program, self.port).await?;
                faults.kills += 1;
            } else {
                signal(&self.child, "-STOP").await?;
                sleep(absence).await;
                signal(&self.child, "-CONT").await?;
                faults.freezes += 1;
            }
        }
    }

    /// Makes sure that it works, after [`Self::disturb`] was dropped in the middle.
    pub(crate) async fn come_back(&mut self) -> anyhow::Result<()> {
        if self.child.try_wait()?.is_some() {
            self.child = spawn(&self.program, self.port).await?;
            return Ok(());
        }
        signal(&self.child, "-CONT").await
    }
}

async fn spawn(program: &Path, port: u16) -> anyhow::Result<Child> {
    let mut command = Command::new(program);
    command
        .args(["--bind", "127.0.0.1", "--save", "", "--port"])
        .arg(port.to_string())
        .stdout(Stdio::null())
        .kill_on_drop(true);
    let child = command.spawn().context("cannot run the bus")?;
    let listening = async {
        while TcpStream::connect(("127.0.0.1", port)).await.is_err() {
            sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(Duration::from_secs(10), listening)
        .await
        .context("the bus does not listen")?;
    Ok(child)
}
