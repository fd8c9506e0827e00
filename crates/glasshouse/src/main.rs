//! The `glasshouse` program.

use std::process::ExitCode;

use clap::Parser;
use server::cli::Cli;

/// Needs half the memory of the system allocator with thousands of streams, and returns it afterwards.
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

/// Returns freed memory to the system after two seconds, on a background thread.
#[expect(
    unsafe_code,
    reason = "the allocator reads its options from a symbol of this name"
)]
#[unsafe(export_name = "_rjem_malloc_conf")]
pub static ALLOCATOR_OPTIONS: &[u8; 63] =
    b"background_thread:true,dirty_decay_ms:2000,muzzy_decay_ms:2000\0";

fn main() -> ExitCode {
    // Before any thread is started: the sandbox starts this program again as its helper.
    if let Some(code) = sandbox::become_helper() {
        return code;
    }
    // It is also started again to read untrusted documents in a separate process.
    if let Some(code) = knowledge::become_reader() {
        return code;
    }
    #[cfg(target_os = "linux")]
    if let Some(code) = server::platform::init::become_init() {
        return code;
    }
    serve()
}

#[tokio::main]
async fn serve() -> ExitCode {
    match Cli::parse().run(web_app::file).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            use std::io::Write;
            // If standard error is closed, there is no one to report to.
            let _ = writeln!(std::io::stderr(), "glasshouse: {error:#}");
            ExitCode::FAILURE
        }
    }
}
