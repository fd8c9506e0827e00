//! The `glasshouse` program.

use std::process::ExitCode;

use clap::Parser;
use server::cli::Cli;

/// Half the memory of the system's allocator with thousands of streams, and it is given back afterwards.
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

/// Freed memory goes back to the system after two seconds, by a thread of its own.
#[expect(
    unsafe_code,
    reason = "the allocator reads its options from a symbol of this name"
)]
#[unsafe(export_name = "_rjem_malloc_conf")]
pub static ALLOCATOR_OPTIONS: &[u8; 63] =
    b"background_thread:true,dirty_decay_ms:2000,muzzy_decay_ms:2000\0";

fn main() -> ExitCode {
    // Before there are threads: the sandbox starts this program again as its helper.
    if let Some(code) = sandbox::become_helper() {
        return code;
    }
    // It also reads documents of others in a process of its own.
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
    match Cli::parse().run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            use std::io::Write;
            // Where standard error is gone, nobody is there to be told.
            let _ = writeln!(std::io::stderr(), "glasshouse: {error:#}");
            ExitCode::FAILURE
        }
    }
}
