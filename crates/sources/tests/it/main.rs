//! Sources against real servers, which `serve.py` starts. `GLASSHOUSE_TEST_SOURCES` names the file with their addresses:
//! `cargo xtask test` starts them, and without them only `faults` is tested here.
#![expect(clippy::unwrap_used, reason = "a test ends at the first surprise")]

mod faults;
mod feed;
mod git;
mod imap;
mod s3;
mod web_dav;

use std::{net::Ipv4Addr, sync::Arc};

use outbound::{Allowed, Lookup, Outbound};
use serde_json::Value;
use sources::{Source, SourceLimits, SourceProblem, SourceSettings, Surroundings};

/// What `serve.py` says about this server.
#[expect(
    clippy::disallowed_methods,
    reason = "tests are set up through the environment"
)]
fn server(kind: &str) -> Option<Value> {
    let Some(file) = std::env::var_os("GLASSHOUSE_TEST_SOURCES") else {
        let required = std::env::var_os("GLASSHOUSE_TEST_REQUIRE").is_some();
        assert!(
            !required,
            "GLASSHOUSE_TEST_SOURCES must name the servers.json of serve.py"
        );
        return None;
    };
    let servers: Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
    Some(servers[kind].clone())
}

/// A source that may ask this machine, which has all names. `settings` are as in the API.
fn source(settings: Value, secret: &str) -> Result<Source, SourceProblem> {
    let allowed = Allowed::parse(&["127.0.0.1".to_owned()]).unwrap();
    let lookup: Lookup = Arc::new(|_| Box::pin(async { Ok(vec![Ipv4Addr::LOCALHOST.into()]) }));
    let surroundings = Surroundings {
        outbound: Outbound::with_lookup(allowed, lookup),
        folders: Vec::new(),
        limits: SourceLimits {
            items: 2_000,
            item_bytes: 10_000,
        },
    };
    let settings: SourceSettings = serde_json::from_value(settings).unwrap();
    Source::new(settings, secret, surroundings)
}

/// The text of a value.
fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}
