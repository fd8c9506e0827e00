//! `[[hooks]]`: hooks around runs, model calls, tool calls and answers. They can be set in the file only, not in the
//! environment or on the page, because a command that runs on this machine must come from the machine's administrator.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
    time::Duration,
};

use agent::{Hook, Pattern};
use axum::http::{HeaderName, HeaderValue};
use domain::event::HookEvent;
use llm::Secret;
use serde::Deserialize;

use super::{
    Environment,
    mcp_servers::{fill_in, filled_in, program_environment},
};

/// Maximum length of a name, characters.
const MAX_NAME_CHARS: usize = 64;
/// Minimum length of a secret, so that it cannot be guessed, characters.
const MIN_SECRET_CHARS: usize = 24;
/// Headers set by the server itself.
const OWN_HEADERS: [&str; 7] = [
    "accept-encoding",
    "content-length",
    "content-type",
    "idempotency-key",
    "webhook-id",
    "webhook-signature",
    "webhook-timestamp",
];

/// A validated hook.
#[derive(Debug, Clone)]
pub struct HookSettings {
    /// The hook as runs know it.
    pub hook: Hook,
    /// The transport.
    pub way: HookTransport,
    /// Time limit of a call, including retries.
    pub timeout: Duration,
}

/// The transport of a hook.
#[derive(Debug, Clone)]
pub enum HookTransport {
    /// An HTTP request.
    Url {
        /// `http` or `https`.
        url: reqwest::Url,
        /// Signs the requests.
        secret: Secret,
        /// Sent with every request.
        headers: Vec<(String, Secret)>,
    },
    /// A program that is started.
    Command {
        /// Its path.
        command: PathBuf,
        /// Its arguments.
        arguments: Vec<String>,
        /// Its complete environment.
        environment: Vec<(String, Secret)>,
        /// Its working directory; the server's if `None`.
        folder: Option<PathBuf>,
    },
}

/// How a failed call of a hook counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Fail {
    Open,
    Closed,
}

/// As written in the file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawHook {
    name: String,
    events: Vec<HookEvent>,
    fail: Fail,
    url: Option<String>,
    secret: Option<String>,
    headers: Option<BTreeMap<String, String>>,
    command: Option<PathBuf>,
    args: Option<Vec<String>>,
    env: Option<BTreeMap<String, String>>,
    folder: Option<PathBuf>,
    #[serde(default)]
    tools: Vec<Pattern>,
    #[serde(default)]
    agents: Vec<Pattern>,
    #[serde(default)]
    models: Vec<Pattern>,
    #[serde(default = "usual_timeout")]
    timeout_seconds: u64,
}

fn usual_timeout() -> u64 {
    10
}

pub(super) fn check(
    raw: Vec<RawHook>,
    environment: &Environment,
) -> anyhow::Result<Vec<HookSettings>> {
    let mut names = BTreeSet::new();
    let mut all = Vec::new();
    for raw in raw {
        let name = raw.name.clone();
        let hook = raw
            .check(environment)
            .map_err(|error| anyhow::anyhow!("hooks “{name}”: {error}"))?;
        anyhow::ensure!(
            names.insert(name.clone()),
            "hooks: there are two of the name “{name}”"
        );
        all.push(hook);
    }
    Ok(all)
}

impl RawHook {
    fn check(self, environment: &Environment) -> anyhow::Result<HookSettings> {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
        anyhow::ensure!(
            (1..=MAX_NAME_CHARS).contains(&self.name.len()) && self.name.chars().all(plain),
            "name must be 1 to {MAX_NAME_CHARS} letters, digits, “-”, “_” and “.”"
        );
        anyhow::ensure!(
            !self.events.is_empty(),
            "events is empty: say when it is called"
        );
        anyhow::ensure!(
            self.tools.is_empty() || self.events.iter().any(|event| event.is_of_tool()),
            "tools goes with the events before_tool and after_tool"
        );
        anyhow::ensure!(
            (1..=300).contains(&self.timeout_seconds),
            "timeout_seconds is {}, but must be 1 to 300",
            self.timeout_seconds
        );
        let hook = Hook {
            name: self.name.clone(),
            events: self.events.clone(),
            tools: self.tools.clone(),
            agents: self.agents.clone(),
            models: self.models.clone(),
            fail_closed: self.fail == Fail::Closed,
        };
        let timeout = Duration::from_secs(self.timeout_seconds);
        Ok(HookSettings {
            hook,
            timeout,
            way: self.way(environment)?,
        })
    }

    fn way(self, environment: &Environment) -> anyhow::Result<HookTransport> {
        match (self.command, self.url) {
            (Some(command), None) => {
                anyhow::ensure!(
                    self.headers.is_none() && self.secret.is_none(),
                    "headers and secret go with url, not with command"
                );
                for path in std::iter::once(&command).chain(&self.folder) {
                    anyhow::ensure!(
                        path.is_absolute(),
                        "“{}” must be a whole path from the root: nothing is searched for",
                        path.display()
                    );
                }
                let environment = program_environment(self.env.unwrap_or_default(), environment)?;
                let arguments = self.args.unwrap_or_default();
                let folder = self.folder;
                Ok(HookTransport::Command {
                    command,
                    arguments,
                    environment,
                    folder,
                })
            }
            (None, Some(url)) => {
                let alone = self.args.is_none() && self.env.is_none() && self.folder.is_none();
                anyhow::ensure!(alone, "args, env and folder go with command, not with url");
                let secret = self
                    .secret
                    .ok_or_else(|| anyhow::anyhow!("secret is missing: requests are signed"))?;
                let secret = fill_in("secret", &secret, environment)?;
                anyhow::ensure!(
                    secret.chars().count() >= MIN_SECRET_CHARS,
                    "secret must have at least {MIN_SECRET_CHARS} characters"
                );
                let headers = filled_in("headers", self.headers.unwrap_or_default(), environment)?;
                headers
                    .iter()
                    .try_for_each(|(name, value)| check_header(name, value))?;
                Ok(HookTransport::Url {
                    url: parse_url(&url)?,
                    secret: Secret::new(secret),
                    headers,
                })
            }
            _ => anyhow::bail!("give it either a url or a command"),
        }
    }
}

fn parse_url(text: &str) -> anyhow::Result<reqwest::Url> {
    let url: Option<reqwest::Url> = text.parse().ok();
    let url = url.filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
    let url =
        url.ok_or_else(|| anyhow::anyhow!("url is no address such as https://example.org/hook"))?;
    anyhow::ensure!(
        url.username().is_empty() && url.password().is_none(),
        "url has a user or a password in it: send them in headers"
    );
    Ok(url)
}

fn check_header(name: &str, value: &Secret) -> anyhow::Result<()> {
    anyhow::ensure!(
        HeaderName::try_from(name).is_ok(),
        "headers has “{name}”, which is no name of a header"
    );
    anyhow::ensure!(
        !OWN_HEADERS.contains(&name.to_ascii_lowercase().as_str()),
        "headers has “{name}”, which is set already"
    );
    anyhow::ensure!(
        HeaderValue::try_from(value.reveal()).is_ok(),
        "headers.{name} has a value that cannot be sent"
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_text(text: &str) -> Result<Vec<HookSettings>, String> {
        #[derive(Deserialize)]
        struct File {
            hooks: Vec<RawHook>,
        }
        let file: File = toml::from_str(text).map_err(|error| error.to_string())?;
        let environment =
            Environment::from([("KEY".to_owned(), "0123456789abcdef01234567".to_owned())]);
        check(file.hooks, &environment).map_err(|error| error.to_string())
    }

    #[test]
    fn both_ways_are_read() {
        let read = check_text(
            r#"
            [[hooks]]
            name = "policy"
            events = ["before_tool", "after_answer"]
            url = "https://policy.example.org/hook"
            secret = "${KEY}"
            tools = ["files__*"]
            fail = "closed"

            [[hooks]]
            name = "note"
            events = ["after_run"]
            command = "/usr/local/bin/note"
            args = ["--quiet"]
            fail = "open"
            timeout_seconds = 3
            "#,
        )
        .unwrap();
        assert!(read[0].hook.fail_closed && !read[1].hook.fail_closed);
        assert_eq!(
            (read[0].timeout.as_secs(), read[1].timeout.as_secs()),
            (10, 3)
        );
        assert!(
            !format!("{read:?}").contains("0123456789abcdef"),
            "secrets are not printed"
        );
    }

    #[test]
    fn what_is_wrong_is_named() {
        let hook = |rest: &str| format!("[[hooks]]\nname = \"h\"\n{rest}");
        let url = "url = \"https://a.example\"\nsecret = \"0123456789abcdef01234567\"\n";
        for (text, words) in [
            (hook(&format!("events = [\"before_tool\"]\n{url}")), "fail"),
            (
                hook(&format!("events = [\"sometimes\"]\nfail = \"open\"\n{url}")),
                "sometimes",
            ),
            (
                hook(&format!("events = []\nfail = \"open\"\n{url}")),
                "events is empty",
            ),
            (
                hook(&format!(
                    "events = [\"after_run\"]\nfail = \"open\"\ntools = [\"ls\"]\n{url}"
                )),
                "tools goes with",
            ),
            (
                hook("events = [\"after_run\"]\nfail = \"open\"\n"),
                "either a url or a command",
            ),
            (
                hook("events = [\"after_run\"]\nfail = \"open\"\nurl = \"https://a.example\"\n"),
                "secret is missing",
            ),
            (
                hook(
                    "events = [\"after_run\"]\nfail = \"open\"\nurl = \"https://a.example\"\nsecret = \"short\"\n",
                ),
                "at least 24",
            ),
            (
                hook("events = [\"after_run\"]\nfail = \"open\"\ncommand = \"note\"\n"),
                "whole path",
            ),
            (
                hook(
                    "events = [\"after_run\"]\nfail = \"open\"\ncommand = \"/n\"\nsecret = \"x\"\n",
                ),
                "go with url",
            ),
            (
                hook(&format!(
                    "events = [\"after_run\"]\nfail = \"open\"\ntimeout_seconds = 0\n{url}"
                )),
                "1 to 300",
            ),
            (
                hook(&format!(
                    "events = [\"after_run\"]\nfail = \"open\"\n{url}headers = {{ Webhook-Id = \"1\" }}\n"
                )),
                "set already",
            ),
        ] {
            let error = check_text(&text).unwrap_err();
            assert!(error.contains(words), "{error:?} should say {words:?}");
        }
        let twice = hook(&format!("events = [\"after_run\"]\nfail = \"open\"\n{url}")).repeat(2);
        assert!(check_text(&twice).unwrap_err().contains("two of the name"));
    }
}
