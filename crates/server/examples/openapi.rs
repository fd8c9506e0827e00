//! Prints the OpenAPI document, for `cargo xtask gen`.
#![expect(clippy::print_stdout, reason = "printing is what it is for")]

fn main() -> anyhow::Result<()> {
    println!("{}", server::http::openapi::document()?);
    Ok(())
}
