//! Builds the web app with npm, so that `cargo run --release` is all that is needed.
#![expect(
    clippy::disallowed_methods,
    reason = "cargo speaks to a build script through the environment"
)]

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

/// What the web app is made of; a change in any of them builds it again.
const SOURCES: [&str; 10] = [
    "../docs",
    "src",
    "public",
    "build",
    "index.html",
    "package.json",
    "package-lock.json",
    "vite.config.ts",
    "svelte.config.js",
    "tsconfig.json",
];

/// The oldest Node.js that the web tools run on.
const OLDEST_NODE: (u32, u32) = (20, 19);

fn main() {
    println!("cargo::rerun-if-env-changed=GLASSHOUSE_BUILD_WEB");
    let web = PathBuf::from(variable("CARGO_MANIFEST_DIR")).join("../../web");
    let wanted = match env::var("GLASSHOUSE_BUILD_WEB").as_deref() {
        Ok("0") => false,
        Ok(_) => true,
        Err(_) => variable("PROFILE") == "release",
    };
    // Where it is missing when the program is compiled, a debug build could not read from it later.
    if let Err(problem) = fs::create_dir_all(web.join("dist")) {
        println!("cargo::error=Cannot make web/dist: {problem}.");
    }
    if !wanted {
        // Debug builds read the files when asked for: a new web app needs no new program.
        if variable("PROFILE") == "release" {
            println!("cargo::rerun-if-changed={}", web.join("dist").display());
        }
        return;
    }
    // A path that is not there would make cargo run this each time.
    for source in SOURCES
        .iter()
        .map(|source| web.join(source))
        .filter(|source| source.exists())
    {
        println!("cargo::rerun-if-changed={}", source.display());
    }
    if let Err(problem) = build(&web) {
        // Cargo takes one line at a time.
        problem
            .lines()
            .for_each(|line| println!("cargo::error={line}"));
        println!("cargo::error=Set GLASSHOUSE_BUILD_WEB=0 to build without the web app.");
    }
}

fn variable(name: &str) -> String {
    env::var(name).unwrap_or_default()
}

fn build(web: &Path) -> Result<(), String> {
    check_node()?;
    if !is_installed(web) {
        npm(web, &["ci", "--no-audit", "--no-fund"])?;
    }
    npm(web, &["run", "build"])
}

/// Whether the packages were installed after the lock file last changed, by us or by hand: npm writes a copy
/// of it when it has finished.
fn is_installed(web: &Path) -> bool {
    let changed =
        |file: &str| fs::metadata(web.join(file)).and_then(|metadata| metadata.modified());
    match (
        changed("package-lock.json"),
        changed("node_modules/.package-lock.json"),
    ) {
        (Ok(wanted), Ok(installed)) => installed >= wanted,
        _ => false,
    }
}

fn check_node() -> Result<(), String> {
    let (major, minor) = OLDEST_NODE;
    let needed = format!("The web app needs Node.js {major}.{minor} or newer to be built");
    let output = Command::new("node").arg("--version").output();
    let output = output.map_err(|error| format!("{needed}, but `node` cannot be run: {error}."))?;
    let version = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    let mut numbers = version
        .trim_start_matches('v')
        .split('.')
        .map_while(|number| number.parse::<u32>().ok());
    match (numbers.next(), numbers.next()) {
        (Some(a), Some(b)) if (a, b) >= OLDEST_NODE => Ok(()),
        _ => Err(format!("{needed}; this is {version}.")),
    }
}

fn npm(web: &Path, arguments: &[&str]) -> Result<(), String> {
    let program = if cfg!(windows) { "npm.cmd" } else { "npm" };
    let command = format!("npm {}", arguments.join(" "));
    let output = Command::new(program)
        .args(arguments)
        .current_dir(web)
        .env("NO_COLOR", "1")
        .output();
    let output = output.map_err(|error| format!("`{command}` cannot be run: {error}."))?;
    if output.status.success() {
        return Ok(());
    }
    let said = [output.stdout, output.stderr].concat();
    let lines: Vec<_> = String::from_utf8_lossy(&said)
        .lines()
        .map(str::to_owned)
        .collect();
    let last = &lines[lines.len().saturating_sub(40)..];
    Err(format!(
        "`{command}` failed in web/:\n{}\n",
        last.join("\n")
    ))
}
