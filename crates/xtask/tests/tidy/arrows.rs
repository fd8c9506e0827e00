//! Which crate may depend on which: `glasshouse → server → run_registry → agent → llm, store → domain`, with `provider` below `llm` and `wire`.

use crate::{expect_none, repository::files_named};

/// Each crate with those of ours it may use. A new arrow is a decision: say why in `docs/decisions/`.
const ARROWS: &[(&str, &[&str])] = &[
    (
        "agent",
        &[
            "domain",
            "folding",
            "json_repair",
            "llm",
            "runner_protocol",
            "sandbox",
            "store",
        ],
    ),
    ("auth_protocols", &["domain", "outbound", "redact"]),
    (
        "bench",
        &[
            "domain",
            "embedder",
            "knowledge",
            "provider",
            "scripted",
            "sse",
            "wire",
        ],
    ),
    ("blobs", &[]),
    ("bolt", &[]),
    ("bus", &[]),
    ("domain", &[]),
    ("embedder", &[]),
    ("folding", &[]),
    (
        "glasshouse",
        // Its tests, which are those of the whole program, use the rest.
        &[
            "agent",
            "bolt",
            "domain",
            "embedder",
            "knowledge",
            "llm",
            "run_registry",
            "sandbox",
            "server",
            "sse",
            "store",
            "web_app",
        ],
    ),
    ("json_repair", &[]),
    ("knowledge", &["folding"]),
    ("llm", &["domain", "provider", "redact", "sse"]),
    ("mcp", &["json_repair"]),
    ("outbound", &[]),
    ("provider", &["domain", "json_repair", "sse"]),
    ("redact", &[]),
    ("run_registry", &["agent", "bus", "domain", "store"]),
    ("runner", &["redact", "runner_protocol", "sandbox"]),
    ("runner_protocol", &["sandbox"]),
    ("sandbox", &[]),
    ("scripted", &["domain", "provider", "sse"]),
    (
        "server",
        &[
            "agent",
            "auth_protocols",
            "blobs",
            "bolt",
            "bus",
            "domain",
            "embedder",
            "folding",
            "knowledge",
            "llm",
            "mcp",
            "outbound",
            "provider",
            "redact",
            "run_registry",
            "runner",
            "runner_protocol",
            "sandbox",
            "sources",
            "sse",
            "store",
            "web_access",
            "wire",
        ],
    ),
    ("sources", &["outbound"]),
    ("sse", &[]),
    ("store", &["blobs", "domain", "folding"]),
    ("torture", &["agent", "domain", "llm", "scripted", "server"]),
    ("web_access", &["domain", "knowledge", "outbound", "redact"]),
    ("web_app", &[]),
    ("wire", &["domain", "provider", "redact", "sse"]),
    ("xtask", &[]),
];

/// Tests may use these too, in every crate.
const FOR_TESTS: [&str; 1] = ["scripted"];

#[test]
fn crates_depend_only_downwards() {
    // The fuzzer is a workspace of its own that nothing may use.
    let mut manifests = files_named(&["/Cargo.toml"]);
    manifests.retain(|file| file.path.starts_with("crates/"));
    let names: Vec<&str> = manifests
        .iter()
        .map(|file| crate_name(&file.path))
        .collect();
    let mut faults: Vec<String> = ARROWS
        .iter()
        .filter(|(name, _)| !names.contains(name))
        .map(|(name, _)| {
            format!(
                "crates/{name} is gone: take it out of ARROWS in {}",
                file!()
            )
        })
        .collect();
    faults.extend(
        manifests
            .iter()
            .flat_map(|file| check(crate_name(&file.path), &file.text)),
    );
    expect_none(faults);
}

fn crate_name(path: &str) -> &str {
    path.split('/').nth(1).unwrap_or(path)
}

fn check(name: &str, manifest: &str) -> Vec<String> {
    let Some((_, allowed)) = ARROWS.iter().find(|(listed, _)| *listed == name) else {
        return vec![format!(
            "crates/{name} is new: list what it may use in ARROWS in {}",
            file!()
        )];
    };
    let ours = |dependency: &str| ARROWS.iter().any(|(listed, _)| *listed == dependency);
    let mut faults = Vec::new();
    let mut section = "";
    for line in manifest.lines().map(str::trim) {
        if let Some(title) = line.strip_prefix('[') {
            section = title.trim_end_matches(']');
            // `[dependencies.store]`
            if let Some((_, dependency)) = section.split_once("dependencies.") {
                faults.push(format!(
                    "crates/{name}: write {dependency} as one line below [dependencies]"
                ));
            }
            continue;
        }
        let dependency = line.split(['.', ' ', '=']).next().unwrap_or("");
        let may_use = match section {
            "dependencies" | "build-dependencies" => allowed.contains(&dependency),
            "dev-dependencies" => allowed.contains(&dependency) || FOR_TESTS.contains(&dependency),
            _ => true,
        };
        if ours(dependency) && !may_use {
            faults.push(format!(
                "crates/{name} must not use {dependency} in [{section}]: move the code to the crate that may, \
                 or have the value passed in"
            ));
        }
    }
    faults
}

#[test]
fn a_forbidden_arrow_is_seen() {
    let faults = |name, manifest| check(name, manifest).len();
    assert_eq!(
        faults(
            "store",
            "[dependencies]\ndomain.workspace = true\nsqlx = \"1\""
        ),
        0
    );
    assert_eq!(faults("store", "[dependencies]\nwire.workspace = true"), 1);
    assert_eq!(
        faults("domain", "[dependencies]\nstore = { path = \"../store\" }"),
        1
    );
    assert_eq!(
        faults("llm", "[dev-dependencies]\nscripted.workspace = true"),
        0
    );
    assert_eq!(
        faults("llm", "[dependencies]\nscripted.workspace = true"),
        1
    );
    assert_eq!(
        faults("agent", "[dependencies.server]\npath = \"../server\""),
        1
    );
    assert_eq!(faults("extras", ""), 1);
}
