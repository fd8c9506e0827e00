//! The web app's packages, reinstalled when its lock file has changed.

use std::fs;

use anyhow::Context;

use crate::command::{npm, parts_folder, run, web};

/// Installs the packages of `web/package-lock.json`.
pub(crate) fn install() -> anyhow::Result<()> {
    super::check_node()?;
    let lock =
        fs::read(web().join("package-lock.json")).context("cannot read web/package-lock.json")?;
    let stamp = parts_folder()?.join("installed-package-lock.json");
    if web().join("node_modules").is_dir()
        && fs::read(&stamp).is_ok_and(|installed| installed == lock)
    {
        println!("Node packages: as in web/package-lock.json.");
        return Ok(());
    }
    println!("Node packages: installing what web/package-lock.json lists.");
    run(&mut npm(&["ci", "--no-audit", "--no-fund"]))?;
    fs::write(stamp, lock).context("cannot note which packages are installed")
}
