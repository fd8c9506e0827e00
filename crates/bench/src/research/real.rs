//! Research with a real, small model: Glasshouse, and GPT Researcher with the same model, search and pages.

use std::path::{Path, PathBuf};

use anyhow::Context;
use scripted::web::{ClosedWeb, Fact};

use super::{KINDS, ask, gpt_researcher::Peer, on_the_web, score, score::Score};
use crate::{
    passed_on::PassedOn,
    program::{Program, Setup},
    table::print_grid,
};

/// Questions per kind; a small model takes minutes for one.
const OF_EACH: usize = 2;
const QUICK: usize = 1;
/// Limits per question for both: turns (Glasshouse only), queries, and sources per query or turn.
const TURNS: &str = "1";
pub(super) const QUERIES: &str = "2";
pub(super) const SOURCES: &str = "3";
/// Time limit per question, minutes.
pub(super) const MINUTES: &str = "10";

/// The prerequisites.
pub(crate) struct Real {
    /// The model's server.
    pub(crate) base_url: String,
    /// A Python that has GPT Researcher.
    pub(crate) gpt_researcher: Option<PathBuf>,
}

/// Prints the table.
pub(super) async fn measure(program: &Path, real: &Real, quick: bool) -> anyhow::Result<()> {
    let model = PassedOn::start(&real.base_url).await?;
    let most = if quick { QUICK } else { OF_EACH };
    let mut lines = ours(program, &model, most).await?;
    match &real.gpt_researcher {
        Some(python) => lines.extend(theirs(python, &model, most).await?),
        None => lines.push((
            "GPT Researcher".to_owned(),
            Err("it is not installed".to_owned()),
        )),
    }
    print_grid(
        "Research on the closed web, a real small model",
        &score::COLUMNS,
        &lines,
    );
    Ok(())
}

type Lines = Vec<(String, Result<Vec<String>, String>)>;

async fn ours(program: &Path, model: &PassedOn, most: usize) -> anyhow::Result<Lines> {
    let web = ClosedWeb::start().await?;
    let mut environment = on_the_web(web.origin());
    environment.extend([
        ("GLASSHOUSE_RESEARCH_TURNS", TURNS),
        ("GLASSHOUSE_RESEARCH_QUERIES", QUERIES),
        ("GLASSHOUSE_RESEARCH_SOURCES", SOURCES),
        ("GLASSHOUSE_RESEARCH_MINUTES", MINUTES),
        // Calls are queued.
        ("GLASSHOUSE_MODEL_TIMEOUTS_FIRST_TOKEN_SECONDS", "600"),
    ]);
    let upstream = Some(model.base_url());
    let program = Program::start(Setup {
        program,
        upstream,
        data_dir: None,
        environment: &environment,
    })?;
    let name = program.first_model().await?;
    let mut all = Score::default();
    let mut lines = Lines::new();
    for (kind, told) in KINDS {
        let mut score = Score::default();
        for fact in web
            .facts()
            .iter()
            .filter(|fact| fact.kind == kind)
            .take(most)
        {
            let answered = ask(&program, &name, fact)
                .await
                .with_context(|| fact.question.clone())?;
            tell("Glasshouse", fact, &answered.text);
            score.add(&web, fact, &answered, model.tokens().await?);
        }
        all.add_all(&score);
        lines.push((format!("Glasshouse, {told}"), Ok(score.cells())));
    }
    lines.push(("Glasshouse, all".to_owned(), Ok(all.cells())));
    lines.push(canary("Glasshouse", &web));
    Ok(lines)
}

async fn theirs(python: &Path, model: &PassedOn, most: usize) -> anyhow::Result<Lines> {
    let web = ClosedWeb::start().await?;
    let peer = Peer::start(python, model).await?;
    let mut all = Score::default();
    let mut lines = Lines::new();
    for (kind, told) in KINDS {
        let mut score = Score::default();
        let mut failed = None;
        for fact in web
            .facts()
            .iter()
            .filter(|fact| fact.kind == kind)
            .take(most)
        {
            match peer.ask(&web, fact).await {
                Ok(answered) => {
                    tell("GPT Researcher", fact, &answered.text);
                    score.add(&web, fact, &answered, model.tokens().await?);
                }
                Err(error) => failed = Some(format!("{error:#}")),
            }
        }
        all.add_all(&score);
        let cells = failed
            .filter(|_| score.is_empty())
            .map_or_else(|| Ok(score.cells()), Err);
        lines.push((format!("GPT Researcher, {told}"), cells));
    }
    lines.push(("GPT Researcher, all".to_owned(), Ok(all.cells())));
    lines.push(canary("GPT Researcher", &web));
    Ok(lines)
}

/// The row with the number of requests caused by injected instructions.
fn canary(who: &str, web: &ClosedWeb) -> (String, Result<Vec<String>, String>) {
    let visits = web.canary_visits().len();
    (
        format!("{who}, requests to planted addresses"),
        Ok(vec![visits.to_string()]),
    )
}

#[expect(clippy::print_stdout, reason = "a benchmark prints")]
fn tell(who: &str, fact: &Fact, text: &str) {
    let text: String = text
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
        .chars()
        .take(300)
        .collect();
    println!("{who}: {} ({})\n  {text}", fact.question, fact.answer);
}
