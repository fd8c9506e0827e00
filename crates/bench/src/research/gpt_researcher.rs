//! GPT Researcher as published, with one process per question.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, Instant},
};

use anyhow::{Context, bail};
use scripted::{
    Behaviour, Reply, ScriptedServer, ServerOptions, vectors,
    web::{ClosedWeb, Fact},
};
use serde_json::Value;

use super::{
    Answered, Shown,
    real::{MINUTES, QUERIES, SOURCES},
};
use crate::{passed_on::PassedOn, peer::made_folder, process::Process};

/// What it needs besides the closed web.
pub(super) struct Peer {
    python: PathBuf,
    /// The model's URL and name.
    model: (String, String),
    /// Texts with the same words are similar, which is its only criterion for choosing passages.
    embeddings: ScriptedServer,
}

impl Peer {
    pub(super) async fn start(python: &Path, model: &PassedOn) -> anyhow::Result<Self> {
        let options = ServerOptions {
            embeddings: Some(Behaviour::answer(vectors::embeddings)),
            keep_requests: false,
            ..ServerOptions::default()
        };
        let nothing = Behaviour::answer(|_| Reply::error(500, "There is no model here."));
        let embeddings = ScriptedServer::start_with(nothing, options).await?;
        Ok(Self {
            python: python.to_owned(),
            model: (model.base_url(), model.name.clone()),
            embeddings,
        })
    }

    /// Its report.
    ///
    /// # Errors
    /// If it ends without one, or takes too long.
    pub(super) async fn ask(&self, web: &ClosedWeb, fact: &Fact) -> anyhow::Result<Answered> {
        let folder = made_folder("gpt-researcher")?;
        let said = self.run(web, fact, &folder).await;
        // It only contains files for debugging.
        let _ = fs::remove_dir_all(&folder);
        let said: Value = serde_json::from_str(&said?).context("it did not end with its report")?;
        let text = said["report"]
            .as_str()
            .context("there is no report")?
            .to_owned();
        let seconds = said["seconds"].as_f64().context("there is no time")?;
        let sources = addresses(&text, web.origin())
            .into_iter()
            .map(|url| Shown {
                url,
                quote_stands: None,
            })
            .collect();
        Ok(Answered {
            is_whole: true,
            text,
            sources,
            seconds,
        })
    }

    /// The last line of its output.
    async fn run(&self, web: &ClosedWeb, fact: &Fact, folder: &Path) -> anyhow::Result<String> {
        let output = folder.join("output.txt");
        let errors = folder.join("errors.txt");
        let mut command = Command::new(&self.python);
        command.arg("integrations/agents/gpt-researcher/research.py");
        let ((server, name), embeddings) = (&self.model, self.embeddings.base_url());
        command.args([server, &embeddings, name, QUERIES, SOURCES, &fact.question]);
        command
            .env("SEARX_URL", web.origin())
            .env("PYTHONDONTWRITEBYTECODE", "1");
        command
            .stdout(File::create(&output)?)
            .stderr(File::create(&errors)?);
        let mut process = Process::start(&mut command)?;
        let began = Instant::now();
        let most = Duration::from_secs(60 * MINUTES.parse::<u64>()?);
        while !process.has_ended() {
            if began.elapsed() > most {
                bail!("it took more than {MINUTES} minutes");
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        let said = fs::read_to_string(&output)?;
        match said.lines().last() {
            Some(line) if line.starts_with('{') => Ok(line.to_owned()),
            _ => {
                let errors = fs::read_to_string(&errors).unwrap_or_default();
                bail!(
                    "it ended with: {}",
                    errors.trim_end().lines().last().unwrap_or("nothing")
                )
            }
        }
    }
}

/// The distinct addresses of this web in a text.
fn addresses(text: &str, origin: &str) -> Vec<String> {
    let ends = |letter: char| letter.is_whitespace() || "<>()[]\"'`*,;|\\".contains(letter);
    let mut found: Vec<String> = Vec::new();
    for rest in text.split(origin).skip(1) {
        let path = rest
            .split(ends)
            .next()
            .unwrap_or_default()
            .trim_end_matches(['.', ':', '!', '?', '_']);
        let url = format!("{origin}{}", path.split('#').next().unwrap_or_default());
        if !found.contains(&url) {
            found.push(url);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_citations_are_the_addresses_of_the_web() {
        let text = "So ([in](http://a.example/one)). See http://a.example/two#x, <http://a.example/one> and http://b.example/.";
        assert_eq!(
            addresses(text, "http://a.example"),
            ["http://a.example/one", "http://a.example/two"]
        );
    }
}
