//! Runs the installed `git` in a temporary folder, without any configuration of this machine and with pinned addresses.

use std::{
    io,
    net::{IpAddr, SocketAddr},
    path::Path,
    process::Stdio,
    time::Duration,
};

use outbound::plain_host;
use reqwest::Url;
use tempfile::TempDir;
use tokio::{
    io::{AsyncRead, AsyncReadExt},
    process::{Child, Command},
};

use crate::{SourceProblem, problem::malformed};

/// Timeout of a command.
const TIMEOUT: Duration = Duration::from_secs(900);
/// How often the size of the folder is checked.
const CHECK_INTERVAL: Duration = Duration::from_millis(500);
/// Maximum size of a fetched repository, bytes.
const MAX_REPOSITORY_BYTES: u64 = 2 << 30;
/// Maximum length of an error message that is kept, bytes.
const MAX_MESSAGE_BYTES: usize = 500;
/// The first version that pins addresses. An older one would ignore the setting.
const OLDEST_VERSION: (u32, u32) = (2, 37);
const OLDEST: &str = "Git 2.37 or newer";

/// `git` with a bare repository in a folder that is removed when this is dropped.
pub(super) struct Program {
    folder: TempDir,
    config: Vec<(String, String)>,
    is_pinned: bool,
}

impl Program {
    /// Makes an empty repository whose `origin` is the URL. With `addresses`, only these are connected to, without a proxy.
    pub(super) async fn start(
        url: &Url,
        authorization: Option<&str>,
        addresses: Option<&[SocketAddr]>,
    ) -> Result<Self, SourceProblem> {
        let folder = tempfile::Builder::new()
            .prefix("glasshouse-git-")
            .tempdir()
            .map_err(|error| SourceProblem::File(error.kind().to_string()))?;
        let program = Self {
            folder,
            config: config(url, authorization, addresses),
            is_pinned: addresses.is_some(),
        };
        let version = program.run(&["version"], MAX_MESSAGE_BYTES).await?;
        if !is_new_enough(&String::from_utf8_lossy(&version)) {
            return Err(SourceProblem::NoProgram(OLDEST));
        }
        // Without a template there are no hooks.
        let arguments = ["init", "--quiet", "--bare", "--template="];
        program.run(&arguments, MAX_MESSAGE_BYTES).await?;
        Ok(program)
    }

    /// Fetches the newest commit of a reference, with the objects that pass the filter.
    pub(super) async fn fetch(
        &self,
        reference: &str,
        filter: &str,
        again: bool,
    ) -> Result<(), SourceProblem> {
        let filter = format!("--filter={filter}");
        let mut arguments = vec!["fetch", "--quiet", "--no-tags", "--depth=1", &filter];
        if again {
            arguments.push("--refetch");
        }
        arguments.extend(["origin", reference]);
        self.run(&arguments, MAX_MESSAGE_BYTES).await?;
        Ok(())
    }

    /// The content of an object. One that was not fetched is fetched now, or else was too large.
    pub(super) async fn read_object(
        &self,
        object: &str,
        limit: usize,
        may_fetch: bool,
    ) -> Result<Vec<u8>, SourceProblem> {
        let mut command = self.command(&["cat-file", "blob", object]);
        if !may_fetch {
            command.env("GIT_NO_LAZY_FETCH", "1");
        }
        let read = self.finish(command, limit).await;
        read.map_err(|problem| match problem {
            SourceProblem::Malformed(_) if !may_fetch => SourceProblem::TooLarge,
            problem => problem,
        })
    }

    /// Runs a command. Returns its output, up to the limit.
    pub(super) async fn run(
        &self,
        arguments: &[&str],
        limit: usize,
    ) -> Result<Vec<u8>, SourceProblem> {
        self.finish(self.command(arguments), limit).await
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new("git");
        for (name, _) in std::env::vars_os() {
            let text = name.to_string_lossy().to_ascii_uppercase();
            let is_proxy = text.ends_with("_PROXY");
            // The administrator's certificates stay.
            let is_git = text.starts_with("GIT_") && !text.starts_with("GIT_SSL_CA");
            if is_git || is_proxy && self.is_pinned {
                command.env_remove(&name);
            }
        }
        command
            .args(arguments)
            .current_dir(self.folder.path())
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_DIR", self.folder.path())
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("GIT_ALLOW_PROTOCOL", "http:https")
            // No `.netrc` and no configuration.
            .env("HOME", self.folder.path())
            .env("XDG_CONFIG_HOME", self.folder.path())
            .env("LC_ALL", "C")
            .env("GIT_CONFIG_COUNT", self.config.len().to_string());
        // Other users see arguments, but not the environment.
        for (number, (key, value)) in self.config.iter().enumerate() {
            command.env(format!("GIT_CONFIG_KEY_{number}"), key);
            command.env(format!("GIT_CONFIG_VALUE_{number}"), value);
        }
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        #[cfg(unix)]
        command.process_group(0);
        command
    }

    async fn finish(&self, mut command: Command, limit: usize) -> Result<Vec<u8>, SourceProblem> {
        let child = command.spawn().map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => SourceProblem::NoProgram("git"),
            kind => SourceProblem::File(kind.to_string()),
        })?;
        let mut running = Running(child);
        let child = &mut running.0;
        let (Some(out), Some(err)) = (child.stdout.take(), child.stderr.take()) else {
            return Err(SourceProblem::File("git has no output".to_owned()));
        };
        let finishing = async {
            let (output, message) = tokio::try_join!(read_all(out, limit), read_end(err))?;
            let status = child.wait().await.map_err(|error| file(&error))?;
            if status.success() {
                return Ok(output);
            }
            tracing::debug!(message, "git failed");
            Err(malformed(&format!("git: {}", last_line(&message))))
        };
        tokio::select! {
            done = tokio::time::timeout(TIMEOUT, finishing) => {
                done.unwrap_or_else(|_| Err(malformed("git does not finish in time")))
            }
            () = self.until_too_large() => Err(malformed("the repository is larger than 2 GiB")),
        }
    }

    async fn until_too_large(&self) {
        loop {
            tokio::time::sleep(CHECK_INTERVAL).await;
            if size(self.folder.path()) > MAX_REPOSITORY_BYTES {
                return;
            }
        }
    }
}

/// A started command. Dropping it ends it with all that it has started, such as its helper for HTTP.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        #[cfg(unix)]
        if let Some(id) = self
            .0
            .id()
            .and_then(|id| rustix::process::Pid::from_raw(i32::try_from(id).ok()?))
        {
            // An error means that no process of the group is left.
            _ = rustix::process::kill_process_group(id, rustix::process::Signal::KILL);
        }
        _ = self.0.start_kill();
    }
}

fn config(
    url: &Url,
    authorization: Option<&str>,
    addresses: Option<&[SocketAddr]>,
) -> Vec<(String, String)> {
    let mut config = vec![
        ("remote.origin.url", url.to_string()),
        ("core.hooksPath", "/dev/null".to_owned()),
        ("core.askPass", String::new()),
        ("credential.helper", String::new()),
        ("http.followRedirects", "false".to_owned()),
        ("http.lowSpeedLimit", "1000".to_owned()),
        ("http.lowSpeedTime", "60".to_owned()),
        ("protocol.allow", "never".to_owned()),
        ("protocol.http.allow", "always".to_owned()),
        ("protocol.https.allow", "always".to_owned()),
        ("transfer.bundleURI", "false".to_owned()),
        ("fetch.unpackLimit", "1".to_owned()),
        ("fetch.recurseSubmodules", "false".to_owned()),
        ("gc.auto", "0".to_owned()),
        ("maintenance.auto", "false".to_owned()),
    ];
    if let Some(authorization) = authorization {
        let header = format!("Authorization: {authorization}");
        config.push(("http.extraHeader", header));
    }
    if let Some(addresses) = addresses {
        config.push(("http.proxy", String::new()));
        config.extend(pin(url, addresses).map(|pin| ("http.curloptResolve", pin)));
    }
    let owned = config.into_iter();
    owned.map(|(key, value)| (key.to_owned(), value)).collect()
}

/// The addresses of a host in the form of curl; `None` for a host that is an address.
fn pin(url: &Url, addresses: &[SocketAddr]) -> Option<String> {
    let host = plain_host(url)?;
    if host.parse::<IpAddr>().is_ok() {
        return None;
    }
    let port = url.port_or_known_default()?;
    let addresses = addresses.iter().map(|address| match address.ip() {
        IpAddr::V4(address) => address.to_string(),
        IpAddr::V6(address) => format!("[{address}]"),
    });
    let addresses: Vec<_> = addresses.collect();
    Some(format!("{host}:{port}:{}", addresses.join(",")))
}

/// Reads `git version 2.47.3`, which may have more words.
fn is_new_enough(version: &str) -> bool {
    let number = version.trim().strip_prefix("git version ").unwrap_or("");
    let mut parts = number.split('.').map_while(|part| part.parse().ok());
    matches!((parts.next(), parts.next()), (Some(major), Some(minor)) if (major, minor) >= OLDEST_VERSION)
}

async fn read_all(out: impl AsyncRead + Unpin, limit: usize) -> Result<Vec<u8>, SourceProblem> {
    let mut output = Vec::new();
    let most = (limit as u64).saturating_add(1);
    let read = out.take(most).read_to_end(&mut output).await;
    read.map_err(|error| file(&error))?;
    if output.len() > limit {
        return Err(SourceProblem::TooLarge);
    }
    Ok(output)
}

/// Reads everything, and keeps the end.
async fn read_end(mut err: impl AsyncRead + Unpin) -> Result<String, SourceProblem> {
    let mut end = Vec::new();
    let mut part = [0; 4096];
    loop {
        let read = err.read(&mut part).await.map_err(|error| file(&error))?;
        let Some(read) = part.get(..read).filter(|read| !read.is_empty()) else {
            return Ok(String::from_utf8_lossy(&end).into_owned());
        };
        end.extend_from_slice(read);
        end.drain(..end.len().saturating_sub(MAX_MESSAGE_BYTES));
    }
}

fn last_line(message: &str) -> &str {
    let lines = message.lines().rev();
    let mut lines = lines.filter(|line| !line.trim().is_empty());
    lines.next().unwrap_or("it fails without a message")
}

/// The size of all files in a folder.
fn size(folder: &Path) -> u64 {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return 0;
    };
    let sizes = entries.flatten().map(|entry| match entry.metadata() {
        Ok(found) if found.is_dir() => size(&entry.path()),
        Ok(found) => found.len(),
        Err(_) => 0,
    });
    sizes.sum()
}

fn file(error: &io::Error) -> SourceProblem {
    SourceProblem::File(error.kind().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_pinned() {
        let addresses = ["1.1.1.1:443", "[2606:4700::1]:443"].map(|one| one.parse().unwrap());
        for (url, expected) in [
            (
                "https://git.example.com/r.git",
                Some("git.example.com:443:1.1.1.1,[2606:4700::1]"),
            ),
            (
                "http://git.example.com:8080/r",
                Some("git.example.com:8080:1.1.1.1,[2606:4700::1]"),
            ),
            ("https://1.1.1.1/r", None),
            ("https://[2606:4700::1]/r", None),
        ] {
            let pin = pin(&url.parse().unwrap(), &addresses);
            assert_eq!(pin.as_deref(), expected);
        }
    }

    #[test]
    fn versions() {
        for (version, expected) in [
            ("git version 2.47.3\n", true),
            ("git version 2.37.0 (Apple Git-136)", true),
            ("git version 3.0", true),
            ("git version 2.36.9", false),
            ("git version 1.99", false),
            ("", false),
        ] {
            assert_eq!(is_new_enough(version), expected, "{version}");
        }
    }
}
