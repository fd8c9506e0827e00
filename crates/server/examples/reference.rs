//! Prints the OpenAPI document, the settings and the codes of messages, for `cargo xtask gen`.
#![expect(clippy::print_stdout, reason = "printing is what it is for")]

use serde_json::json;
use server::{http::openapi, messages, platform::config};

fn main() -> anyhow::Result<()> {
    let reference = json!({
        "openapi": openapi::document()?,
        "settings": config::default_settings()?,
        "messages": messages::codes()?,
    });
    println!("{reference}");
    Ok(())
}
