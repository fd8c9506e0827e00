//! Other agent servers, as published, to measure for comparison.

use std::path::PathBuf;

use super::clients::install_python;
use crate::command::root;

/// Installs Agno. Returns its Python.
///
/// # Errors
/// If its packages cannot be installed.
pub(crate) fn agno() -> anyhow::Result<PathBuf> {
    install_python(&root().join("integrations/agents/agno"))
}

/// Installs GPT Researcher, 1.5 GB. Returns its Python.
///
/// # Errors
/// If its packages cannot be installed.
pub(crate) fn gpt_researcher() -> anyhow::Result<PathBuf> {
    install_python(&root().join("integrations/agents/gpt-researcher"))
}
