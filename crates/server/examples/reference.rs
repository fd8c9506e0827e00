//! Prints the OpenAPI document and the settings, for `cargo xtask gen`.
#![expect(clippy::print_stdout, reason = "printing is what it is for")]

use serde_json::json;
use server::{http::openapi, platform::config};

fn main() -> anyhow::Result<()> {
    let reference = json!({
        "openapi": openapi::document()?,
        "settings": config::default_settings()?,
    });
    println!("{reference}");
    Ok(())
}
