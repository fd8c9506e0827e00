//! Runs a local Chromium for one page and kills it afterwards. It has no network access: its proxy does not exist and
//! no name resolves, so it gets only what [`super::parts`] hands it.

use std::{io, path::Path, process::Stdio, time::Duration};

use futures_util::{StreamExt, stream::FuturesUnordered};
use serde_json::json;
use tempfile::TempDir;
use tokio::{
    process::{Child, Command},
    time::{Instant, sleep_until, timeout},
};

use super::{
    Trouble,
    appetite::too_much,
    devtools::DevTools,
    parts::{Answer, Parts},
};
use crate::{WebClient, fetch::Body, messages};

/// A loaded page without requests for this long counts as finished.
const QUIET: Duration = Duration::from_millis(500);
/// Additional time for a page that is still busy at its deadline, so that its content is complete.
const SETTLING: Duration = Duration::from_secs(1);
/// Time limit for reading the page's content.
const READING: Duration = Duration::from_secs(2);
/// The user that runs the browser if we are root, as which Chromium's sandbox does not work: nobody.
const UNPRIVILEGED_USER: u32 = 65_534;
/// Chromium uses file descriptors 3 and 4 for its pipes; it inherits no others.
const WITH_PIPES: &str = "exec \"$0\" \"$@\" 3<&0 4>&1 0</dev/null 1>/dev/null";
const FLAGS: [&str; 22] = [
    "--headless",
    "--remote-debugging-pipe",
    // No network access.
    "--proxy-server=http://nowhere.invalid:1",
    "--proxy-bypass-list=<-loopback>",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-domain-reliability",
    "--disable-sync",
    "--disable-features=MediaRouter,OptimizationHints",
    // Features that pages do not need.
    "--block-new-web-contents",
    "--disable-extensions",
    "--disable-breakpad",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--js-flags=--max-old-space-size=512",
    "--mute-audio",
    "--no-first-run",
    "--no-default-browser-check",
    "--password-store=basic",
];

/// A running browser. Dropping it kills all its processes and deletes its profile.
struct Browser {
    child: Child,
    profile: TempDir,
}

impl WebClient {
    /// The HTML of a page after its scripts have run.
    pub(super) async fn browse(
        &self,
        program: &Path,
        time: Duration,
        body: &Body,
        html: &[u8],
    ) -> Result<String, Trouble> {
        let until = Instant::now() + time.saturating_sub(SETTLING + READING);
        let (browser, mut tools) = start(program).map_err(|error| {
            tracing::warn!(%error, program = %program.display(), "failed to start the browser");
            Trouble::new(messages::Web::BrowserNotStarted)
        })?;
        let parts = Parts::new(self, time, &body.url, html);
        let shown = tokio::select! {
            shown = show(&mut tools, &parts, until, self.settings().page_bytes) => shown,
            () = too_much(browser.child.id(), browser.profile.path()) => {
                tracing::warn!(url = %body.url, "killed the browser: a page exceeded the memory or disk limit");
                return Err(Trouble::new(messages::Web::ScriptsTooLarge));
            }
        };
        shown.map_err(|error| {
            // Without user namespaces its sandbox cannot be created, and it exits at once.
            tracing::warn!(%error, program = %program.display(), "the browser failed to render a page");
            if error.kind() == io::ErrorKind::TimedOut {
                Trouble::slow()
            } else {
                Trouble::new(messages::Web::BrowserFailed)
            }
        })
    }
}

fn start(program: &Path) -> io::Result<(Browser, DevTools)> {
    let profile = tempfile::Builder::new()
        .prefix("glasshouse-browser-")
        .tempdir()?;
    let folder = profile.path().to_owned();
    let mut command = Command::new("/bin/sh");
    command.args(["-c", WITH_PIPES]).arg(program).args(FLAGS);
    command.arg(format!("--user-data-dir={}", folder.display()));
    command
        .env_clear()
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .env("LANG", "C.UTF-8");
    command
        .env("HOME", &folder)
        .env("TMPDIR", &folder)
        .current_dir(&folder);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    command.kill_on_drop(true).process_group(0);
    // Files created by root belong to root.
    if std::os::unix::fs::MetadataExt::uid(&std::fs::metadata(&folder)?) == 0 {
        std::os::unix::fs::chown(&folder, Some(UNPRIVILEGED_USER), Some(UNPRIVILEGED_USER))?;
        command.uid(UNPRIVILEGED_USER).gid(UNPRIVILEGED_USER);
    }
    let mut child = command.spawn()?;
    let missing = || io::Error::other("a pipe is missing");
    let input = child.stdin.take();
    let output = child.stdout.take();
    let tools = DevTools::new(input.ok_or_else(missing)?, output.ok_or_else(missing)?);
    Ok((Browser { child, profile }, tools))
}

impl Drop for Browser {
    fn drop(&mut self) {
        #[cfg(target_os = "linux")]
        if let Some(id) = self
            .child
            .id()
            .and_then(|id| rustix::process::Pid::from_raw(i32::try_from(id).ok()?))
        {
            // An error means that no process of the group is left.
            _ = rustix::process::kill_process_group(id, rustix::process::Signal::KILL);
        }
        _ = self.child.start_kill();
    }
}

/// Opens the page, serves its requests until it is idle or its time is over, and reads its HTML.
async fn show(
    tools: &mut DevTools,
    parts: &Parts<'_>,
    until: Instant,
    max_bytes: u64,
) -> io::Result<String> {
    let page = tools
        .call("", "Target.createTarget", json!({ "url": "about:blank" }))
        .await?;
    let target = json!({ "targetId": page["targetId"], "flatten": true });
    let attached = tools.call("", "Target.attachToTarget", target).await?;
    let session = attached["sessionId"]
        .as_str()
        .unwrap_or_default()
        .to_owned();
    tools
        .call(
            "",
            "Browser.setDownloadBehavior",
            json!({ "behavior": "deny" }),
        )
        .await?;
    tools.call(&session, "Page.enable", json!({})).await?;
    tools.call(&session, "Inspector.enable", json!({})).await?;
    tools
        .call(
            &session,
            "Fetch.enable",
            json!({ "patterns": [{ "urlPattern": "*" }] }),
        )
        .await?;
    tools
        .send(&session, "Page.navigate", json!({ "url": parts.url() }))
        .await?;
    let is_quiet = answer_until_quiet(tools, &session, parts, until).await?;
    if !is_quiet {
        // A script that never ends would block the commands that follow.
        tools
            .send(&session, "Runtime.terminateExecution", json!({}))
            .await?;
        answer_until_quiet(tools, &session, parts, Instant::now() + SETTLING).await?;
    }
    let max_chars = usize::try_from(max_bytes).unwrap_or(usize::MAX);
    let read = json!({
        "expression": format!("document.documentElement.outerHTML.slice(0, {max_chars})"), "returnByValue": true,
    });
    let slow = |_| io::Error::from(io::ErrorKind::TimedOut);
    let read = timeout(READING, tools.call(&session, "Runtime.evaluate", read))
        .await
        .map_err(slow)??;
    let html = read["result"]["value"]
        .as_str()
        .ok_or_else(|| io::Error::other("the page shows nothing"))?;
    Ok(html.to_owned())
}

/// Serves requests; whether the page became idle before its deadline.
async fn answer_until_quiet(
    tools: &mut DevTools,
    session: &str,
    parts: &Parts<'_>,
    until: Instant,
) -> io::Result<bool> {
    let mut open: FuturesUnordered<_> = FuturesUnordered::new();
    let mut has_loaded = false;
    let mut last = Instant::now();
    loop {
        let is_still = has_loaded && open.is_empty();
        let wake = if is_still {
            (last + QUIET).min(until)
        } else {
            until
        };
        tokio::select! {
            () = sleep_until(wake) => return Ok(is_still && wake < until),
            Some((method, parameters)) = open.next() => {
                tools.send(session, method, parameters).await?;
                last = Instant::now();
            }
            message = tools.receive() => {
                let message = message?;
                let method = message["method"].as_str();
                let parameters = &message["params"];
                match method.unwrap_or_default() {
                    "Fetch.requestPaused" => match parts.answer(parameters) {
                        Answer::Now(method, parameters) => _ = tools.send(session, method, parameters).await?,
                        Answer::Later { id, url } => open.push(parts.fetch(id, url)),
                    },
                    "Page.loadEventFired" => has_loaded = true,
                    "Page.javascriptDialogOpening" => {
                        let no = json!({ "accept": false });
                        tools.send(session, "Page.handleJavaScriptDialog", no).await?;
                    }
                    "Inspector.targetCrashed" => return Err(io::Error::other("the page has crashed")),
                    _ => continue,
                }
                last = Instant::now();
            }
        }
    }
}
