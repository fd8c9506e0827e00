//! LaTeX for the tests of programs: an installed one, or Debian's.

use anyhow::Context;

use crate::command::find_program;

/// Finds LaTeX, or installs it.
pub(crate) fn install() -> anyhow::Result<()> {
    if let (Some(found), Some(_)) = (find_program(&["latexmk"]), find_program(&["pdflatex"])) {
        println!("LaTeX: {}.", found.display());
        return Ok(());
    }
    println!("LaTeX: none is on the path.");
    super::apt_install(&["texlive-latex-base", "latexmk"])
        .context("the tests of programs need LaTeX")
}
