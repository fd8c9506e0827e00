//! Uses a newly installed server like its first user, and later checks that all of it still exists.

use std::{thread::sleep, time::Duration};

use anyhow::{Context, bail, ensure};
use serde_json::{Value, json};

use super::machine::{Machine, Request};

const EMAIL: &str = "ada@example.org";
const PASSWORD: &str = "correct horse battery";

/// Number of attempts and interval for slow operations, for a total of a minute.
const TRIES: u32 = 600;
const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// A server, and how to run its command-line program.
pub(super) struct Server<'a> {
    /// The machine it runs in.
    pub(super) machine: &'a mut Machine,
    /// The port it listens on.
    pub(super) port: u16,
    /// The words before the name of a command: the user, and the program.
    pub(super) program: Vec<String>,
    /// The words after it: the location of the settings.
    pub(super) flags: Vec<String>,
}

/// What was created in a server.
pub(super) struct Made {
    key: String,
    run: String,
    log: Value,
}

impl Server<'_> {
    /// Runs a command of the program.
    ///
    /// # Errors
    /// If it fails.
    pub(super) fn command(&self, words: &[&str]) -> anyhow::Result<String> {
        let words = words.iter().map(|&word| word.to_owned());
        self.machine.exec(
            &self
                .program
                .iter()
                .cloned()
                .chain(words)
                .chain(self.flags.clone())
                .collect::<Vec<_>>(),
        )
    }

    fn ask(
        &self,
        method: &str,
        path: &str,
        key: Option<&str>,
        body: Option<Value>,
    ) -> anyhow::Result<Value> {
        let request = Request {
            method,
            path,
            port: self.port,
            key,
            body,
        };
        match self.machine.call(&request)? {
            (200..=299, answer) => Ok(answer),
            (status, answer) => bail!("{method} {path} is answered with {status}: {answer}"),
        }
    }

    /// Waits until it is ready.
    ///
    /// # Errors
    /// If it is not ready within a minute.
    pub(super) fn is_ready(&mut self) -> anyhow::Result<()> {
        let words: Vec<String> = self
            .program
            .iter()
            .cloned()
            .chain(["health".into()])
            .chain(self.flags.clone())
            .collect();
        let mut last = String::new();
        for _ in 0..TRIES {
            match self.machine.exec(&words) {
                Ok(_) => return Ok(()),
                Err(_) if self.machine.has_ended() => break,
                Err(error) => last = format!("{error:#}"),
            }
            sleep(LOOK_AGAIN);
        }
        bail!(
            "the server does not get ready: {last}\n{}",
            self.machine.log()
        )
    }

    /// Creates the first account, a key, and a run with the tour's model.
    ///
    /// # Errors
    /// If any of it fails.
    pub(super) fn first_use(&self, token: Option<&str>) -> anyhow::Result<Made> {
        let body = json!({ "email": EMAIL, "name": "Ada", "password": PASSWORD, "token": token });
        if token.is_some() {
            let mut without = body.clone();
            without["token"] = Value::Null;
            let refused = self.ask("POST", "/api/v1/setup", None, Some(without));
            ensure!(
                refused.is_err(),
                "whoever comes first became the administrator without the printed link"
            );
        }
        self.ask("POST", "/api/v1/setup", None, Some(body))?;
        let key = self
            .command(&["key", "create", "--user", EMAIL])?
            .trim()
            .to_owned();
        let run = self.tour(&key)?;
        let log = self.log(&run, &key)?;
        ensure!(
            log.to_string().contains("run_finished"),
            "the run has not finished: {log}"
        );
        Ok(Made { key, run, log })
    }

    /// A chat with the tour, which requests approval once. Returns the run.
    fn tour(&self, key: &str) -> anyhow::Result<String> {
        let chat = self.ask("POST", "/api/v1/chats", Some(key), Some(json!({})))?;
        let path = format!("/api/v1/chats/{}/messages", text(&chat, "id")?);
        let body = json!({ "parent": null, "content": "Show me around", "model": "tour" });
        let run = text(&self.ask("POST", &path, Some(key), Some(body))?, "run")?;
        for _ in 0..TRIES {
            match text(
                &self.ask("GET", &format!("/runs/{run}"), Some(key), None)?,
                "state",
            )?
            .as_str()
            {
                "finished" => return Ok(run),
                "waiting" => self.allow(&run, key)?,
                _ => sleep(LOOK_AGAIN),
            }
        }
        bail!("the tour does not end: {}", self.log(&run, key)?)
    }

    fn allow(&self, run: &str, key: &str) -> anyhow::Result<()> {
        let waiting = self.ask("GET", "/api/v1/inbox", Some(key), None)?;
        let Some(approval) = waiting["items"][0]["event"]["body"]["approval"].as_str() else {
            sleep(LOOK_AGAIN);
            return Ok(());
        };
        let path = format!("/runs/{run}/approvals/{approval}");
        self.ask(
            "POST",
            &path,
            Some(key),
            Some(json!({ "decision": "allow" })),
        )
        .map(drop)
    }

    fn log(&self, run: &str, key: &str) -> anyhow::Result<Value> {
        self.ask("GET", &format!("/runs/{run}/events"), Some(key), None)
    }

    /// Checks that the key is valid and the run's log is unchanged.
    ///
    /// # Errors
    /// If they are not.
    pub(super) fn still_has(&self, made: &Made) -> anyhow::Result<()> {
        let log = self.log(&made.run, &made.key)?;
        ensure!(
            log == made.log,
            "the run's log has changed:\n{}\n{log}",
            made.log
        );
        Ok(())
    }

    /// Whether agents can run programs, or the reason why not.
    ///
    /// # Errors
    /// If the server does not report it.
    pub(super) fn programs(&mut self, made: &Made) -> anyhow::Result<Result<(), String>> {
        for _ in 0..TRIES {
            let programs = self.ask("GET", "/api/v1/programs", Some(&made.key), None)?;
            match programs["available"].as_bool() {
                Some(true) => return Ok(Ok(())),
                Some(false) => return Ok(Err(programs["problem"].to_string())),
                None => sleep(LOOK_AGAIN),
            }
        }
        bail!("the server does not find out whether it can run programs")
    }
}

/// A string field of a response.
fn text(answer: &Value, name: &str) -> anyhow::Result<String> {
    Ok(answer[name]
        .as_str()
        .with_context(|| format!("there is no {name} in {answer}"))?
        .to_owned())
}
