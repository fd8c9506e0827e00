//! Collections of documents, questions and judgments, taken from packages.

use std::{fs, path::PathBuf, process::Command};

use anyhow::Context;

use crate::command::{parts_folder, run};

/// Tasks for agents, one of which is to serve a bank's customers with 698 documents. Licence: MIT.
const INSPECT_EVALS: &str = "inspect-evals==0.26.0";
const BANKING: &str = "inspect_evals/tau2/data/domains/banking_knowledge";

/// Installs tau2's banking documents. Returns their folder.
///
/// # Errors
/// If the package cannot be installed.
pub(crate) fn banking() -> anyhow::Result<PathBuf> {
    let folder = parts_folder()?.join(INSPECT_EVALS);
    let banking = folder.join(BANKING);
    if banking.join("documents.json.gz").is_file() {
        return Ok(banking);
    }
    println!("Documents of a bank: installing {INSPECT_EVALS}.");
    fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    // Only its files are needed, not its dependencies.
    let mut install = Command::new("python3");
    install
        .args(["-m", "pip", "install", "-q", "--no-deps", "--target"])
        .arg(&folder)
        .arg(INSPECT_EVALS);
    run(&mut install).context("the documents need Python 3 with pip")?;
    Ok(banking)
}

/// Unpacks Debian's package of Perl's manual next to the others, without installing it. Returns the folder of its
/// pages.
///
/// # Errors
/// If the system does not use Debian packages, or the package cannot be downloaded.
pub(crate) fn manual() -> anyhow::Result<PathBuf> {
    let folder = parts_folder()?.join("perl-doc");
    if !folder.is_dir() {
        println!("Perl's manual: fetching perl-doc.");
        let partial = folder.with_extension("partial");
        fs::create_dir_all(&partial)
            .with_context(|| format!("cannot make {}", partial.display()))?;
        run(Command::new("apt-get")
            .args(["download", "-q", "perl-doc"])
            .current_dir(&partial))
        .context("Perl's manual comes from Debian's packages")?;
        let packages = fs::read_dir(&partial)?.filter_map(|entry| Some(entry.ok()?.path()));
        let package = packages
            .into_iter()
            .find(|path| path.extension().is_some_and(|it| it == "deb"));
        let package = package.context("no package came")?;
        run(Command::new("dpkg-deb")
            .arg("-x")
            .arg(package)
            .arg(&partial))?;
        fs::rename(&partial, &folder).context("cannot keep the manual")?;
    }
    let versions = fs::read_dir(folder.join("usr/share/perl")).context("no pages in perl-doc")?;
    let mut pages = versions.filter_map(|entry| Some(entry.ok()?.path().join("pod")));
    pages
        .find(|path| path.is_dir())
        .context("no pages in perl-doc")
}
