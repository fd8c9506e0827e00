//! Time from the start of the process to ready on an existing database, and idle memory.

use std::{path::Path, time::Duration};

use crate::{
    program::{Program, Setup, new_folder},
    table::{Aim, percentile, print},
    turns::row,
};

pub(crate) async fn measure(program: &Path) -> anyhow::Result<()> {
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
    drop(at_rest);
    std::fs::remove_dir_all(&data_dir)?;
    print(
        "Start",
        &[
            row(
                "first start, with a new database",
                first.as_secs_f64() * 1000.0,
                "ms",
                None,
            ),
            row(
                "start to ready, median of 10",
                percentile(&mut ready, 0.5),
                "ms",
                Some(Aim::AtMost(100.0)),
            ),
            row("memory at rest", rest_mb, "MB", Some(Aim::AtMost(30.0))),
        ],
    );
    Ok(())
}
