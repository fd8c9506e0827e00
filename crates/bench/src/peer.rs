//! Other programs that are measured for comparison.

use std::{
    fs::{self, File},
    net::{Ipv4Addr, SocketAddr, TcpListener},
    path::PathBuf,
    process::Command,
    time::{Duration, Instant},
};

use anyhow::{Context, bail};

use crate::{process::Process, program::new_folder};

/// Python needs this long to load the modules of large programs.
const START_TIMEOUT: Duration = Duration::from_secs(180);

/// Its process, and a folder for its files.
pub(crate) struct Peer {
    pub(crate) process: Process,
    folder: PathBuf,
}

impl Peer {
    /// Starts `command`; its output goes into a file of the folder.
    pub(crate) fn start(mut command: Command, folder: PathBuf) -> anyhow::Result<Self> {
        let file = File::create(folder.join("output.txt"))?;
        let process = Process::start(command.stdout(file.try_clone()?).stderr(file))?;
        Ok(Self { process, folder })
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.process.end();
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Retries until it succeeds.
///
/// # Errors
/// If the program exits or does not respond in time, with its last output.
pub(crate) async fn until<T>(
    peer: &mut Peer,
    attempt: impl AsyncFn() -> anyhow::Result<T>,
) -> anyhow::Result<()> {
    if let Err(error) = until_it_answers(&mut peer.process, attempt).await {
        let output = fs::read_to_string(peer.folder.join("output.txt")).unwrap_or_default();
        bail!(
            "{error:#}; it said last: {}",
            output.trim_end().lines().last().unwrap_or_default()
        );
    }
    Ok(())
}

/// Retries until it succeeds.
///
/// # Errors
/// If the process exits or does not respond in time.
pub(crate) async fn until_it_answers<T>(
    process: &mut Process,
    attempt: impl AsyncFn() -> anyhow::Result<T>,
) -> anyhow::Result<()> {
    let began = Instant::now();
    loop {
        let Err(error) = attempt().await else {
            return Ok(());
        };
        if process.has_ended() {
            bail!("it ended while starting");
        }
        if began.elapsed() > START_TIMEOUT {
            return Err(error.context("it did not start"));
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// A new folder for a peer.
pub(crate) fn made_folder(name: &str) -> anyhow::Result<PathBuf> {
    let folder = new_folder(name);
    fs::create_dir_all(&folder)?;
    Ok(folder)
}

/// An unused address.
pub(crate) fn free_address() -> anyhow::Result<SocketAddr> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
        .context("no free port")?
        .local_addr()?)
}
