//! A runner: it leases program calls of agents from the servers of a database, and executes them in the sandbox of its own
//! machine. It has no access to the database, and no key but its token.

mod cache;
mod call;
mod printer;
mod server;

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use anyhow::Context;
use data_encoding::HEXLOWER;
use redact::Secret;
use ring::rand::{SecureRandom, SystemRandom};
use runner_protocol::{About, Ask, BEAT_MS, Beat, MAX_SLOTS};
use sandbox::{Sandbox, Workdirs};
use tokio::time::{sleep, timeout};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use cache::Cache;
use call::Chat;
use server::Server;

/// The settings of a runner.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The address of the servers.
    pub server: String,
    /// Its token, which the servers have as `programs.runner_token`.
    pub token: Secret,
    /// Its name for administrators.
    pub name: String,
    /// Its folder, for the files of chats and the cache of contents. It is emptied.
    pub folder: PathBuf,
    /// The Python interpreter; `None` for `python3` on the `PATH`.
    pub python: Option<PathBuf>,
    /// How many calls it runs at a time.
    pub slots: usize,
    /// How long calls may take to end when it is stopped.
    pub drain: Duration,
    /// Maximum size of the cache of contents, bytes.
    pub cache_bytes: u64,
}

/// How long it waits before it asks again after an error.
const AFTER_ERROR: Duration = Duration::from_secs(2);
/// How long the results of killed programs may take.
const LAST_RESULTS: Duration = Duration::from_secs(5);

/// What the tasks of a runner share.
struct Runner {
    id: String,
    name: String,
    about: About,
    server: Server,
    chats: Workdirs<Chat>,
    cache: Arc<Cache>,
    /// The leases that it has; cancelled when they end.
    leases: Mutex<HashMap<String, CancellationToken>>,
    /// It takes no more calls.
    draining: CancellationToken,
    /// It kills what still runs.
    killing: CancellationToken,
}

/// Runs until `stop` returns, and then lets what is in progress end. Returns at once if there can be no sandbox.
///
/// # Errors
/// If the settings or this machine do not allow it, as a sentence.
pub async fn run(settings: Settings, stop: impl Future<Output = ()>) -> anyhow::Result<()> {
    anyhow::ensure!(
        (1..=MAX_SLOTS).contains(&settings.slots),
        "--slots must be 1 to {MAX_SLOTS}"
    );
    let _lock = claim(&settings.folder)?;
    let sandbox = Sandbox::find(sandbox::Options {
        python: settings.python.clone(),
        hidden: vec![settings.folder.canonicalize()?],
        ..sandbox::Options::default()
    })
    .await?;
    let about = About {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        slots: settings.slots,
        programs: sandbox.programs().clone(),
        accounting: sandbox.accounting(),
    };
    let runner = Arc::new(Runner {
        id: secret()?,
        name: settings.name.clone(),
        server: Server::new(&settings.server, settings.token.clone())?,
        chats: Workdirs::open(sandbox, settings.folder.join("chats"))?,
        cache: Arc::new(Cache::new(
            settings.folder.join("cache"),
            settings.cache_bytes,
        )?),
        about,
        leases: Mutex::default(),
        draining: CancellationToken::new(),
        killing: CancellationToken::new(),
    });
    let About {
        programs,
        slots,
        accounting,
        ..
    } = &runner.about;
    tracing::info!(name = runner.name, server = %runner.server.address(), slots, python = programs.python_version,
        modules = ?programs.python_modules, latex = ?programs.latex, limits = accounting, "runs programs of agents");
    let tasks = TaskTracker::new();
    let beating = tasks.spawn(beat(runner.clone()));
    let workers = TaskTracker::new();
    for _ in 0..settings.slots {
        workers.spawn(work(runner.clone()));
    }
    workers.close();
    stop.await;
    tracing::info!("takes no more calls");
    runner.draining.cancel();
    if timeout(settings.drain, workers.wait()).await.is_err() {
        tracing::warn!("killed the programs that did not end in time");
        runner.killing.cancel();
        // The results say so.
        drop(timeout(LAST_RESULTS, workers.wait()).await);
    }
    beating.abort();
    Ok(())
}

/// A new secret.
fn secret() -> anyhow::Result<String> {
    let mut bytes = [0; 32];
    let filled = SystemRandom::new().fill(&mut bytes);
    filled.map_err(|_| anyhow::anyhow!("the operating system gave no random bytes"))?;
    Ok(HEXLOWER.encode(&bytes))
}

/// Creates the folder of the runner, and keeps others out of it.
fn claim(folder: &Path) -> anyhow::Result<std::fs::File> {
    let shown = folder.display();
    std::fs::create_dir_all(folder).with_context(|| format!("cannot create the folder {shown}"))?;
    let lock = std::fs::File::create(folder.join("lock"))
        .with_context(|| format!("cannot write into the folder {shown}"))?;
    lock.try_lock()
        .with_context(|| format!("another runner uses the folder {shown}"))?;
    Ok(lock)
}

/// Tells the server that this runner is there, which renews its leases, until it is stopped.
async fn beat(runner: Arc<Runner>) {
    let mut is_connected = None;
    loop {
        let answer = runner.server.beat(&runner.news()).await;
        if is_connected != Some(answer.is_ok()) {
            is_connected = Some(answer.is_ok());
            match &answer {
                Ok(_) => tracing::info!("connected to the server"),
                Err(error) => tracing::warn!(%error, "not connected to the server"),
            }
        }
        if let Ok(reply) = answer {
            runner.end(&reply.ended);
        }
        runner.chats.sweep();
        sleep(Duration::from_millis(BEAT_MS)).await;
    }
}

/// Takes one call after the other.
async fn work(runner: Arc<Runner>) {
    while !runner.draining.is_cancelled() {
        let Ok(lease) = secret() else {
            sleep(AFTER_ERROR).await;
            continue;
        };
        if let Some(call) = next_call(&runner, &lease).await {
            let ended = CancellationToken::new();
            runner.leases().insert(lease.clone(), ended.clone());
            call::execute(&runner, &lease, call, &ended).await;
            runner.leases().remove(&lease);
        }
    }
}

/// Asks for a call until there is one, or the runner takes no more.
async fn next_call(runner: &Runner, lease: &str) -> Option<runner_protocol::Call> {
    let ask = |last| Ask {
        runner: runner.id.clone(),
        lease: lease.to_owned(),
        last,
    };
    let asking = async {
        loop {
            match runner.server.ask(&ask(false)).await {
                Ok(Some(call)) => return call,
                Ok(None) => {}
                Err(error) => {
                    tracing::debug!(%error, "got no call");
                    sleep(AFTER_ERROR).await;
                }
            }
        }
    };
    tokio::select! {
        call = asking => Some(call),
        // The answer that is not awaited any more may have been a call.
        () = runner.draining.cancelled() => runner.server.ask(&ask(true)).await.ok().flatten(),
    }
}

impl Runner {
    fn news(&self) -> Beat {
        Beat {
            runner: self.id.clone(),
            name: self.name.clone(),
            about: self.about.clone(),
            draining: self.draining.is_cancelled(),
            leases: self.leases().keys().cloned().collect(),
        }
    }

    fn leases(&self) -> std::sync::MutexGuard<'_, HashMap<String, CancellationToken>> {
        self.leases.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Kills the programs of these leases.
    fn end(&self, ended: &[String]) {
        let leases = self.leases();
        for lease in ended.iter().filter_map(|lease| leases.get(lease)) {
            lease.cancel();
        }
    }
}
