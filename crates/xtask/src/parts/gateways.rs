//! Other gateways, as published, to measure for comparison.

use std::path::PathBuf;

use super::clients::{install_node, install_python};
use crate::command::root;

/// Installs LiteLLM's proxy. Returns its program.
///
/// # Errors
/// If its packages cannot be installed.
pub(crate) fn litellm() -> anyhow::Result<PathBuf> {
    let python = install_python(&root().join("integrations/gateways/litellm"))?;
    Ok(python.with_file_name("litellm"))
}

/// Installs Portkey's gateway with the oldest supported `@hono/node-server`, since with newer ones it answers streams
/// with an error. Returns its script for Node.
///
/// # Errors
/// If Node is too old or its packages cannot be installed.
pub(crate) fn portkey() -> anyhow::Result<PathBuf> {
    super::check_node()?;
    let folder = root().join("integrations/gateways/portkey");
    install_node(&folder)?;
    Ok(folder.join("node_modules/@portkey-ai/gateway/build/start-server.js"))
}
