//! Agent servers of others, as they are published, to measure beside ours.

use std::path::PathBuf;

use super::clients::install_python;
use crate::command::root;

/// Installs Agno; returns the Python that has it.
///
/// # Errors
/// Where its packages cannot be installed.
pub(crate) fn agno() -> anyhow::Result<PathBuf> {
    install_python(&root().join("integrations/agents/agno"))
}

/// Installs GPT Researcher, 1.5 GB; returns the Python that has it.
///
/// # Errors
/// Where its packages cannot be installed.
pub(crate) fn gpt_researcher() -> anyhow::Result<PathBuf> {
    install_python(&root().join("integrations/agents/gpt-researcher"))
}
