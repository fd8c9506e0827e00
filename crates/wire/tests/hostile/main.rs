//! Runs every decoder of hostile input on random bytes, random JSON and changed valid input. The fuzzer in `fuzz/` runs
//! the same functions continuously.

#![expect(unreachable_pub, reason = "the fuzzer's library shows the targets")]
#![expect(clippy::expect_used, clippy::panic, reason = "a test may fail loudly")]

mod bytes;
mod seeds;
mod targets;

use proptest::test_runner::{Config, TestRunner};

use crate::targets::{TARGETS, ask};

/// Some hundred inputs for one target, so that the usual test run exercises it; `PROPTEST_CASES` sets the number.
fn hold(name: &str) {
    let seeds = seeds::of(name);
    assert!(!seeds.is_empty(), "{name} has no good input to begin with");
    seeds.iter().for_each(|seed| ask(name, seed.as_bytes()));
    let config = Config {
        failure_persistence: None,
        ..Config::default()
    };
    let held = TestRunner::new(config).run(&bytes::near(seeds), |bytes| {
        ask(name, &bytes);
        Ok(())
    });
    if let Err(fault) = held {
        panic!("{name}: {fault}");
    }
}

#[test]
fn streams_of_servers() {
    [
        "sse",
        "openai_chunk",
        "upstream_error",
        "usage_watch",
        "model_list",
        "embeddings",
        "rerank",
        "transcription",
        "group_list",
    ]
    .into_iter()
    .for_each(hold);
}

#[test]
fn answers_of_providers() {
    ["anthropic", "bedrock", "gemini", "openai_responses"]
        .into_iter()
        .for_each(hold);
}

#[test]
fn requests_of_openai_clients() {
    ["completion_request", "passing_request", "response_request"]
        .into_iter()
        .for_each(hold);
}

#[test]
fn schemas_of_tools() {
    hold("tool_schema");
}

#[test]
fn requests_of_anthropic_clients() {
    hold("messages_request");
}

#[test]
fn requests_of_agent_clients() {
    ["ag_ui_input", "ag_ui_interrupt"]
        .into_iter()
        .for_each(hold);
}

#[test]
fn requests_of_chat_clients() {
    [
        "chat_stream_request",
        "debug_chat_request",
        "ui_message_request",
    ]
    .into_iter()
    .for_each(hold);
}

#[test]
fn lines_of_a_log() {
    ["event_lines", "redact"].into_iter().for_each(hold);
}

#[test]
fn files_that_people_bring() {
    ["export_line", "chat_exports"].into_iter().for_each(hold);
}

/// A target that is missing in the lists above would not be tested.
#[test]
fn every_target_is_tested_and_has_its_fuzz_binary() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let manifest =
        std::fs::read_to_string(format!("{root}/fuzz/Cargo.toml")).expect("the fuzzer's manifest");
    let tests = include_str!("main.rs");
    for (name, _) in TARGETS {
        assert!(
            tests.contains(&format!("\"{name}\"")),
            "{name} is in no test"
        );
        assert!(
            manifest.contains(&format!("name = \"{name}\"")),
            "{name} has no binary in fuzz/Cargo.toml"
        );
        let binary =
            std::fs::read_to_string(format!("{root}/fuzz/targets/{name}.rs")).unwrap_or_default();
        assert!(
            binary.contains(&format!("ask(\"{name}\", bytes)")),
            "fuzz/targets/{name}.rs asks another"
        );
    }
    assert_eq!(manifest.matches("[[bin]]").count(), TARGETS.len());
}
