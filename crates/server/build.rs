//! Builds the web app with npm, so that `cargo run --release` is all that is needed.
#![expect(clippy::disallowed_methods, reason = "cargo speaks to a build script through the environment")]

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

/// What the web app is made of; a change in any of them builds it again.
const SOURCES: [&str; 9] = [
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
    // Watched also where nothing is built here, so that files built by hand are embedded again.
    println!("cargo::rerun-if-changed={}", web.join("dist").display());
    if !wanted {
        return;
    }
    for source in SOURCES {
        println!("cargo::rerun-if-changed={}", web.join(source).display());
    }
    if let Err(problem) = build(&web) {
        println!("cargo::error={problem} Set GLASSHOUSE_BUILD_WEB=0 to build without the web app.");
    }
}

fn variable(name: &str) -> String {
    env::var(name).unwrap_or_default()
}

fn build(web: &Path) -> Result<(), String> {
    check_node()?;
    let lock = web.join("package-lock.json");
    let wanted = fs::read(&lock).map_err(|error| format!("Cannot read {}: {error}.", lock.display()))?;
    // A copy of the lock file the packages were installed from.
    let stamp = PathBuf::from(variable("OUT_DIR")).join("installed-package-lock.json");
    let installed = web.join("node_modules").is_dir() && fs::read(&stamp).is_ok_and(|have| have == wanted);
    if !installed {
        npm(web, &["ci", "--no-audit", "--no-fund"])?;
        fs::write(&stamp, wanted).map_err(|error| format!("Cannot write {}: {error}.", stamp.display()))?;
    }
    npm(web, &["run", "build"])
}

fn check_node() -> Result<(), String> {
    let (major, minor) = OLDEST_NODE;
    let needed = format!("The web app needs Node.js {major}.{minor} or newer to be built");
    let output = Command::new("node").arg("--version").output();
    let output = output.map_err(|error| format!("{needed}, but `node` cannot be run: {error}."))?;
    let version = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    let mut numbers =
        version.trim_start_matches('v').split('.').map_while(|number| number.parse::<u32>().ok());
    match (numbers.next(), numbers.next()) {
        (Some(a), Some(b)) if (a, b) >= OLDEST_NODE => Ok(()),
        _ => Err(format!("{needed}; this is {version}.")),
    }
}

fn npm(web: &Path, arguments: &[&str]) -> Result<(), String> {
    let program = if cfg!(windows) { "npm.cmd" } else { "npm" };
    let command = format!("npm {}", arguments.join(" "));
    let output = Command::new(program).args(arguments).current_dir(web).output();
    let output = output.map_err(|error| format!("`{command}` cannot be run: {error}."))?;
    if output.status.success() {
        return Ok(());
    }
    let said = [output.stdout, output.stderr].concat();
    // Cargo takes one line; the last ones say what went wrong.
    let lines: Vec<_> = String::from_utf8_lossy(&said).lines().map(str::to_owned).collect();
    Err(format!("`{command}` failed in web/: {}.", lines[lines.len().saturating_sub(15)..].join(" | ")))
}
