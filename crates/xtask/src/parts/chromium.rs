//! The browser of the end-to-end tests: an installed one, or Debian's.

use std::path::PathBuf;

use anyhow::{Context, bail};

use crate::command::{find_program, variable};

const NAMES: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

/// Finds Chromium, or installs it.
pub(crate) fn install() -> anyhow::Result<PathBuf> {
    if let Some(named) = variable("CHROMIUM").map(PathBuf::from) {
        if !named.is_file() {
            bail!("CHROMIUM is {}, where there is no program", named.display());
        }
        return Ok(named);
    }
    if let Some(found) = find_program(&NAMES) {
        println!("Browser: {}.", found.display());
        return Ok(found);
    }
    println!("Browser: none is on the path.");
    super::apt_install(&["chromium", "fonts-noto-color-emoji"])
        .context("the journeys need Chromium, or its path in the variable CHROMIUM")?;
    find_program(&NAMES).context("Chromium was installed but is not on the path")
}
