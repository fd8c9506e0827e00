//! Speed of the built-in embedding model compared with Python on the same files. Both take turns, so that other load on
//! the machine affects both.

use std::{
    io::Write,
    path::Path,
    process::{Command, Stdio},
    time::Instant,
};

use anyhow::{Context, bail};
use embedder::{Embedder, Urgency};

use super::collections::Collection;
use crate::table::{Aim, Row, percentile, print};

/// Texts per turn, and number of turns.
const TEXTS: usize = 200;
const TURNS: usize = 3;
/// One-time initialization is not measured.
const WARM_UP: usize = 8;

const REFERENCE: &str = include_str!("reference.py");

pub(super) fn measure(
    embedder: &Embedder,
    folder: &Path,
    python: Option<&Path>,
    of: &Collection,
) -> anyhow::Result<()> {
    let texts: Vec<String> = of.passages().flatten().take(TEXTS).collect();
    embedder.embed(&texts[..WARM_UP.min(texts.len())], Urgency::Passage)?;
    let mut ours = Vec::new();
    let mut alone = Vec::new();
    let mut batches = Vec::new();
    for _ in 0..TURNS {
        let started = Instant::now();
        embedder.embed(&texts, Urgency::Passage)?;
        ours.push(f64::from(u32::try_from(texts.len())?) / started.elapsed().as_secs_f64());
        if let Some(python) = python {
            let (one, many) = reference(python, folder, &texts)?;
            alone.push(one);
            batches.push(many);
        }
    }
    let middle = |figures: &mut Vec<f64>| percentile(figures, 0.5);
    let ours = middle(&mut ours);
    let row = |what, figure, unit, aim| Row {
        what,
        figure,
        unit,
        aim,
    };
    let mut rows = vec![row("built-in model, on two threads", ours, "texts/s", None)];
    if python.is_some() {
        let alone = middle(&mut alone);
        let batches = middle(&mut batches);
        let best = alone.max(batches);
        rows.push(row("Python, one text at a time", alone, "texts/s", None));
        rows.push(row("Python, batches of 32", batches, "texts/s", None));
        rows.push(row(
            "times as fast as the better of them",
            ours / best,
            "",
            Some(Aim::AtLeast(1.5)),
        ));
    }
    print("Embedding, the middle of three turns", &rows);
    Ok(())
}

/// Texts per second in Python: one at a time, and in batches.
fn reference(python: &Path, folder: &Path, texts: &[String]) -> anyhow::Result<(f64, f64)> {
    let mut command = Command::new(python);
    command
        .args(["-c", REFERENCE])
        .arg(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    let mut running = command.spawn().context("the reference needs Python")?;
    // Dropped at the end of the statement, so that the program sees the end of its input.
    running
        .stdin
        .take()
        .context("no way in")?
        .write_all(&serde_json::to_vec(texts)?)?;
    let output = running.wait_with_output()?;
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let figures: Vec<f64> = printed
        .lines()
        .filter_map(|line| line.trim().parse().ok())
        .collect();
    let [one, many] = figures[..] else {
        bail!("the reference gave no two figures: {printed}")
    };
    Ok((one, many))
}
