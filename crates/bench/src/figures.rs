//! The seven figures that tell early whether something has become slower or larger, and two counts that do not depend on
//! the machine: each beside the one that is committed.

use std::{path::Path, time::Duration};

use anyhow::Context;
use serde_json::Value;

use crate::{
    client::Client,
    gateway,
    program::{Counter, Program, Setup},
    start,
    table::print_grid,
    turns,
};

/// Time after the load until memory is measured again: caches have given back what they hold.
const AFTER_LOAD: Duration = Duration::from_secs(15);
/// Runs of the two processes whose counts are subtracted, so that their start does not count.
const FEW: usize = 2;
/// How many more runs the second one does. The allocator counts in batches for each thread.
const MORE_ALLOCATING: usize = 200;
/// Under Valgrind a run takes a second.
const MORE_COUNTING_INSTRUCTIONS: usize = 20;

/// A figure: the key in the file of committed figures, its name, and its value or why there is none.
struct Figure {
    key: &'static str,
    name: &'static str,
    value: anyhow::Result<f64>,
}

/// Measures `program` and prints the table. `committed` is a JSON file with an object for each `profile`.
pub(crate) async fn measure(program: &Path, committed: &Path, quick: bool) -> anyhow::Result<()> {
    let profile = program
        .parent()
        .and_then(Path::file_name)
        .and_then(|name| name.to_str())
        .unwrap_or_default();
    let text = std::fs::read_to_string(committed)
        .with_context(|| format!("cannot read {}", committed.display()))?;
    let committed: Value = serde_json::from_str(&text)?;
    let mut figures = Vec::new();
    let mut add = |key, name, value| figures.push(Figure { key, name, value });

    let started = start::figures(program).await?;
    add("ready_ms", "start to ready, ms", Ok(started.ready_ms));
    add("idle_mb", "memory at rest, MB", Ok(started.rest_mb));

    let model = turns::model().await?;
    let busy = Program::start(setup(program, Some(model.base_url())))?;
    turns::until_model_known(&busy).await?;
    let load = turns::load(&busy, quick).await?;
    add("alone_ms", "one run alone, ms", Ok(load.alone_ms));
    add("runs_per_s", "100 runs at once, runs/s", Ok(load.rate));
    add(
        "first_p99_ms",
        "  first event, p99, ms",
        Ok(load.first_p99_ms),
    );
    add(
        "peak_mb",
        "  peak memory, MB",
        Ok(busy.process.memory_mb()?.1),
    );
    tokio::time::sleep(AFTER_LOAD).await;
    add(
        "after_load_mb",
        "  memory after it, MB",
        Ok(busy.process.memory_mb()?.0),
    );
    drop(busy);

    let forwarded = gateway::figures(program, quick).await?;
    add(
        "stream_share",
        "forwarded streams, share of a raw copy's rate",
        Ok(forwarded.stream_share),
    );
    add(
        "whole_added_ms",
        "forwarded answer, added p50, ms",
        Ok(forwarded.whole_added_ms),
    );

    for (key, name, counter) in [
        ("allocations", "allocations of a run", Counter::Allocations),
        (
            "instructions",
            "instructions of a run, million",
            Counter::Instructions,
        ),
    ] {
        let each = counted(program, model.base_url(), counter).await;
        let each = each.map(|count| match counter {
            Counter::Allocations => count,
            Counter::Instructions => count / 1e6,
        });
        add(key, name, each);
    }
    show(profile, &committed[profile], figures);
    Ok(())
}

fn setup(program: &Path, upstream: Option<String>) -> Setup<'_> {
    Setup {
        program,
        upstream,
        data_dir: None,
        // Otherwise it looks for Python and LaTeX for a while.
        environment: &[("GLASSHOUSE_PROGRAMS_ENABLED", "false")],
    }
}

/// What `counter` counts in the program for one run of ten tool turns.
async fn counted(program: &Path, upstream: String, counter: Counter) -> anyhow::Result<f64> {
    let more = match counter {
        Counter::Allocations => MORE_ALLOCATING,
        Counter::Instructions => MORE_COUNTING_INSTRUCTIONS,
    };
    let mut counts = [0.0; 2];
    for (count, runs) in counts.iter_mut().zip([FEW, FEW + more]) {
        let program = Program::start_counting(setup(program, Some(upstream.clone())), counter)?;
        turns::until_model_known(&program).await?;
        let mut client = Client::connect(program.address).await?;
        for _ in 0..runs {
            client
                .stream("/chat/stream", &turns::request(), b"done")
                .await?;
        }
        *count = program.count(counter)?;
    }
    #[expect(clippy::cast_precision_loss, reason = "a few")]
    let more = more as f64;
    Ok((counts[1] - counts[0]) / more)
}

fn show(profile: &str, committed: &Value, figures: Vec<Figure>) {
    let lines: Vec<_> = figures
        .into_iter()
        .map(|Figure { key, name, value }| {
            let cells = value.map_err(|error| format!("{error:#}")).map(|now| {
                let before = committed[key].as_f64();
                let change = before.map(|before| (now / before - 1.0) * 100.0);
                vec![
                    format!("{now:.2}"),
                    before.map_or_else(String::new, |before| format!("{before:.2}")),
                    change.map_or_else(String::new, |change| format!("{change:+.1} %")),
                ]
            });
            (name.to_owned(), cells)
        })
        .collect();
    print_grid(
        &format!("Figures of the {profile} build"),
        &["now", "committed", "change"],
        &lines,
    );
}
