//! Uses a server that was just installed as its first person would, and looks later whether all of that is still there.

use std::{thread::sleep, time::Duration};

use anyhow::{Context, bail, ensure};
use serde_json::{Value, json};

use super::machine::{Machine, Request};

const EMAIL: &str = "ada@example.org";
const PASSWORD: &str = "correct horse battery";

/// How often, and after how long, what takes a while is looked at: for a minute.
const TRIES: u32 = 600;
const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// A server, and how its program is run beside it.
pub(super) struct Server<'a> {
    /// Where it runs.
    pub(super) machine: &'a mut Machine,
    /// Where it listens.
    pub(super) port: u16,
    /// What comes before the name of a command: as whom, and the program.
    pub(super) program: Vec<String>,
    /// What comes behind it: where the settings are.
    pub(super) flags: Vec<String>,
}

/// What was made in a server.
pub(super) struct Made {
    key: String,
    run: String,
    log: Value,
}

impl Server<'_> {
    /// Runs a command of the program.
    ///
    /// # Errors
    /// Where it fails.
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
    /// Where it does not get ready within a minute.
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

    /// Makes the first account, a key, and a run with the model that plays the tour.
    ///
    /// # Errors
    /// Where anything of that does not work.
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

    /// A chat with the tour, which waits for consent once; returns the run.
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

    /// Looks whether the key is known and the run's log is what it was.
    ///
    /// # Errors
    /// Where they are not.
    pub(super) fn still_has(&self, made: &Made) -> anyhow::Result<()> {
        let log = self.log(&made.run, &made.key)?;
        ensure!(
            log == made.log,
            "the run's log has changed:\n{}\n{log}",
            made.log
        );
        Ok(())
    }

    /// Whether agents can run programs, and if not, why.
    ///
    /// # Errors
    /// Where the server does not find out.
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

/// A text of an answer.
fn text(answer: &Value, name: &str) -> anyhow::Result<String> {
    Ok(answer[name]
        .as_str()
        .with_context(|| format!("there is no {name} in {answer}"))?
        .to_owned())
}
