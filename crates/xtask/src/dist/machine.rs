//! A container in namespaces, or a small machine with systemd as its first process.

use std::{
    fs,
    io::{BufRead, BufReader, Read},
    path::PathBuf,
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex, PoisonError},
    thread::{self, sleep},
    time::{Duration, Instant},
};

use anyhow::{Context, bail};
use serde_json::Value;

use super::{output, root::entering};

/// Maximum time to start, to stop, or to wait for output.
const PATIENCE: Duration = Duration::from_secs(60);
const LOOK_AGAIN: Duration = Duration::from_millis(50);

/// Process, mount, network, IPC and UTS namespaces.
const NAMESPACES: [&str; 5] = ["--mount", "--pid", "--net", "--ipc", "--uts"];

/// Joins cgroups before executing the program. It must not start any process, which would be taken for the first one.
const JOIN: &str =
    "for group in $GROUPS_TO_JOIN; do echo $$ > $group/cgroup.procs; done; exec \"$@\"";

/// What to run, and where.
pub(super) struct Start {
    /// Its root folder.
    pub(super) root: PathBuf,
    /// Variables for `enter.sh`.
    pub(super) settings: Vec<(String, String)>,
    /// The command of the first process.
    pub(super) words: Vec<String>,
}

/// Killed with all its processes when dropped.
pub(super) struct Machine {
    unshare: Child,
    first: u32,
    said: Arc<Mutex<String>>,
    groups: Vec<PathBuf>,
}

impl Machine {
    /// The command that starts it.
    pub(super) fn command(start: &Start) -> Command {
        let mut command = Command::new("unshare");
        command.args(NAMESPACES).args(["--fork", "--kill-child"]);
        command.args(entering(&start.root)).args(&start.words);
        command.envs(start.settings.iter().map(|(name, value)| (name, value)));
        command
    }

    /// Starts it.
    ///
    /// # Errors
    /// If there is no first process in time.
    pub(super) fn start(start: &Start) -> anyhow::Result<Self> {
        Self::spawn(Self::command(start), Vec::new())
    }

    /// Starts it with cgroups for systemd.
    ///
    /// # Errors
    /// If there is no first process in time.
    pub(super) fn start_systemd(start: &Start) -> anyhow::Result<Self> {
        let name = format!("glasshouse-check-{}", std::process::id());
        let all = PathBuf::from("/sys/fs/cgroup");
        let groups = match all.join("cgroup.controllers").exists() {
            true => vec![all.join(name)],
            false => vec![
                all.join("systemd").join(&name),
                all.join("unified").join(&name),
            ],
        };
        for group in &groups {
            fs::create_dir_all(group)
                .with_context(|| format!("cannot make {}", group.display()))?;
        }
        let listed: Vec<String> = groups
            .iter()
            .map(|group| group.display().to_string())
            .collect();
        let mut command = Command::new("/bin/sh");
        command
            .args(["-c", JOIN, "sh", "unshare"])
            .args(NAMESPACES)
            .args(["--cgroup", "--fork", "--kill-child"]);
        command.args(entering(&start.root)).args(&start.words);
        command.envs(start.settings.iter().map(|(name, value)| (name, value)));
        command
            .env("SYSTEMD", "1")
            .env("GROUPS_TO_JOIN", listed.join(" "));
        Self::spawn(command, groups)
    }

    fn spawn(mut command: Command, groups: Vec<PathBuf>) -> anyhow::Result<Self> {
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut unshare = command.spawn().context("cannot run unshare")?;
        let said = Arc::new(Mutex::new(String::new()));
        for from in [
            unshare.stdout.take().map(boxed),
            unshare.stderr.take().map(boxed),
        ]
        .into_iter()
        .flatten()
        {
            let said = Arc::clone(&said);
            thread::spawn(move || {
                for line in BufReader::new(from).lines().map_while(Result::ok) {
                    let mut said = said.lock().unwrap_or_else(PoisonError::into_inner);
                    said.push_str(&line);
                    said.push('\n');
                }
            });
        }
        let mut machine = Self {
            unshare,
            first: 0,
            said,
            groups,
        };
        let id = machine.unshare.id();
        machine.first = machine.until("the first process", || {
            let children = fs::read_to_string(format!("/proc/{id}/task/{id}/children")).ok()?;
            children.split_whitespace().next()?.parse().ok()
        })?;
        Ok(machine)
    }

    /// Waits for a line of output with these words, and returns it.
    ///
    /// # Errors
    /// If it ends before or does not print it, with all of its output.
    pub(super) fn says(&mut self, words: &str) -> anyhow::Result<String> {
        let said = Arc::clone(&self.said);
        self.until(words, || {
            let said = said.lock().unwrap_or_else(PoisonError::into_inner);
            said.lines()
                .find(|line| line.contains(words))
                .map(str::to_owned)
        })
    }

    /// Waits until there is a result.
    ///
    /// # Errors
    /// If it ends before or a minute has passed, with all of its output.
    pub(super) fn until<T>(
        &mut self,
        what: &str,
        mut there: impl FnMut() -> Option<T>,
    ) -> anyhow::Result<T> {
        let give_up = Instant::now() + PATIENCE;
        loop {
            if let Some(found) = there() {
                return Ok(found);
            }
            let ended = self.unshare.try_wait()?;
            if ended.is_some() || Instant::now() > give_up {
                bail!(
                    "waited in vain for “{what}” (ended: {ended:?}); it said:\n{}",
                    self.log()
                );
            }
            sleep(LOOK_AGAIN);
        }
    }

    /// Whether its first process has ended.
    pub(super) fn has_ended(&mut self) -> bool {
        !matches!(self.unshare.try_wait(), Ok(None))
    }

    /// All of its output.
    pub(super) fn log(&self) -> String {
        self.said
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Runs a program in it as root. Returns its output.
    ///
    /// # Errors
    /// If it fails.
    pub(super) fn exec(&self, words: &[impl AsRef<str>]) -> anyhow::Result<String> {
        let mut command = Command::new("nsenter");
        command
            .arg(format!("--target={}", self.first))
            .args(NAMESPACES)
            .args(["--cgroup", "--root", "--wd", "--"]);
        command.args(words.iter().map(AsRef::as_ref)).env_clear();
        command
            .env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")
            .env("LC_ALL", "C")
            .env("DEBIAN_FRONTEND", "noninteractive");
        output(&mut command)
    }

    /// Sends a request to the server in it. Returns its status and its response, as a string if it is not JSON.
    ///
    /// # Errors
    /// If there is no response.
    pub(super) fn call(&self, request: &Request<'_>) -> anyhow::Result<(u16, Value)> {
        let mut curl = Command::new("nsenter");
        curl.arg(format!("--target={}", self.first)).args([
            "--net",
            "--",
            "curl",
            "--silent",
            "--show-error",
        ]);
        curl.args([
            "--max-time",
            "120",
            "--write-out",
            "\n%{http_code}",
            "--request",
            request.method,
        ]);
        if let Some(key) = request.key {
            curl.args(["--header", &format!("Authorization: Bearer {key}")]);
        }
        if let Some(body) = &request.body {
            curl.args([
                "--header",
                "Content-Type: application/json",
                "--data",
                &body.to_string(),
            ]);
        }
        let answer =
            output(curl.arg(format!("http://127.0.0.1:{}{}", request.port, request.path)))?;
        let (body, status) = answer.rsplit_once('\n').context("curl says no status")?;
        let text = || Value::String(body.to_owned());
        Ok((
            status.parse()?,
            serde_json::from_str(body).unwrap_or_else(|_| text()),
        ))
    }

    /// Terminates the first process like a container engine, and waits for its end.
    ///
    /// # Errors
    /// If it does not exit successfully within a minute.
    pub(super) fn stop(mut self) -> anyhow::Result<()> {
        output(Command::new("kill").args(["-s", "TERM", &self.first.to_string()]))?;
        let give_up = Instant::now() + PATIENCE;
        while Instant::now() < give_up {
            match self.unshare.try_wait()? {
                Some(status) if status.success() => return Ok(()),
                Some(status) => bail!(
                    "it ended badly when told to stop ({status}):\n{}",
                    self.log()
                ),
                None => sleep(LOOK_AGAIN),
            }
        }
        bail!("it did not stop:\n{}", self.log())
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        // All others end with the first process. `--kill-child` alone does not reach a process that has changed its
        // user.
        if self.first != 0 {
            let _ = Command::new("kill")
                .args(["-s", "KILL", &self.first.to_string()])
                .stderr(Stdio::null())
                .status();
        }
        let _ = self.unshare.kill();
        let _ = self.unshare.wait();
        for group in &self.groups {
            remove_groups(group);
        }
    }
}

/// Groups become empty shortly after their last process has ended.
fn remove_groups(group: &std::path::Path) {
    let find = "find \"$1\" -depth -type d -exec rmdir {} + 2> /dev/null";
    for _ in 0..20 {
        // Success is checked by whether the group still exists.
        let _ = Command::new("sh")
            .args(["-c", find, "sh"])
            .arg(group)
            .status();
        if !group.exists() {
            return;
        }
        sleep(LOOK_AGAIN);
    }
}

fn boxed(from: impl Read + Send + 'static) -> Box<dyn Read + Send> {
    Box::new(from)
}

/// A request to a server in a machine.
#[derive(Debug, Clone, Default)]
pub(super) struct Request<'a> {
    /// The method, such as `GET`.
    pub(super) method: &'a str,
    /// The path, after the port.
    pub(super) path: &'a str,
    /// The port on its loopback address.
    pub(super) port: u16,
    /// An API key.
    pub(super) key: Option<&'a str>,
    /// The JSON body.
    pub(super) body: Option<Value>,
}
