//! Time from the start of the process to ready on an existing database, and idle memory.

use std::{path::Path, time::Duration};

use crate::{
    program::{Program, Setup, new_folder},
    table::{Aim, percentile, print},
    turns::row,
};

/// What a start takes.
pub(crate) struct Figures {
    /// Of the first start, which creates the database.
    pub(crate) first_ms: f64,
    /// Median of later starts.
    pub(crate) ready_ms: f64,
    /// Memory after five seconds.
    pub(crate) rest_mb: f64,
    /// The part of it that is its own: not the code and constants of the program file.
    pub(crate) own_mb: f64,
}

/// Starts `program` several times.
pub(crate) async fn figures(program: &Path) -> anyhow::Result<Figures> {
    let data_dir = new_folder("start");
    let setup = || Setup {
        program,
        upstream: None,
        data_dir: Some(data_dir.clone()),
        environment: &[],
    };
    // The first start creates the database.
    let first = Program::start(setup())?.ready_after;
    let mut ready: Vec<f64> = Vec::new();
    for _ in 0..10 {
        ready.push(Program::start(setup())?.ready_after.as_secs_f64() * 1000.0);
    }
    let at_rest = Program::start(setup())?;
    tokio::time::sleep(Duration::from_secs(5)).await;
    let (rest_mb, _) = at_rest.process.memory_mb()?;
    let own_mb = at_rest.process.own_memory_mb()?;
    drop(at_rest);
    std::fs::remove_dir_all(&data_dir)?;
    Ok(Figures {
        first_ms: first.as_secs_f64() * 1000.0,
        ready_ms: percentile(&mut ready, 0.5),
        rest_mb,
        own_mb,
    })
}

pub(crate) async fn measure(program: &Path) -> anyhow::Result<()> {
    let figures = figures(program).await?;
    print(
        "Start",
        &[
            row(
                "first start, with a new database",
                figures.first_ms,
                "ms",
                None,
            ),
            row(
                "start to ready, median of 10",
                figures.ready_ms,
                "ms",
                Some(Aim::AtMost(50.0)),
            ),
            row(
                "memory at rest",
                figures.rest_mb,
                "MB",
                Some(Aim::AtMost(30.0)),
            ),
            row(
                "  without the program file's pages",
                figures.own_mb,
                "MB",
                None,
            ),
        ],
    );
    Ok(())
}
