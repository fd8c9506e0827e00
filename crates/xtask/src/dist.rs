//! `cargo xtask dist`: builds the release packages. With `--check`, also tests them.

mod check;
mod components;
mod container;
mod deb;
mod dockerfile;
mod documented;
mod licences;
mod machine;
mod root;
mod sbom;
#[cfg(test)]
mod shipped;
mod using;

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, bail};

use crate::{
    command::{SHIPPED_FEATURES, cargo, debug_folder, find_program, root, run as run_command, web},
    parts::TemporaryFolder,
    test,
};

/// What to pack, and whether to test it.
#[derive(Debug, clap::Args)]
pub(crate) struct Choice {
    /// Pack this program; by default, one is built with the profile `dist`, which takes a while
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
    /// Also install the packages and run the Dockerfile's steps in small Debian systems, use and update them, and
    /// restore a backup. Needs root, debootstrap, curl and namespaces
    #[arg(long)]
    check: bool,
}

/// The version of all crates.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Pages outside of `docs/`.
const PAGES: [&str; 5] = [
    "README.md",
    "SECURITY.md",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "config.example.toml",
];

/// The file with third-party licences.
const LICENCES: &str = "THIRD-PARTY";

/// Builds the packages, and tests them if requested.
///
/// # Errors
/// If a package cannot be built, or does not work as expected.
pub(crate) fn run(choice: &Choice) -> anyhow::Result<()> {
    let built = match &choice.program {
        Some(program) => program.clone(),
        None => build()?,
    };
    pack(&built, deb::Compression::Published, choice.check)
}

/// Packs the debug build, and tests the packages.
///
/// # Errors
/// If a package cannot be built, or does not work as expected.
pub(crate) fn check_debug_build() -> anyhow::Result<()> {
    test::build()?;
    pack(
        &debug_folder()?.join("glasshouse"),
        deb::Compression::None,
        true,
    )
}

fn pack(built: &Path, compression: deb::Compression, check: bool) -> anyhow::Result<()> {
    let folder = debug_folder()?.join("../dist/packages");
    if folder.exists() {
        fs::remove_dir_all(&folder).context("cannot remove the packages made before")?;
    }
    fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let folder = folder.canonicalize()?;
    let work = TemporaryFolder::new("glasshouse-dist")?;
    let program = without_symbols(built, work.path())?;
    let licences = work.path().join(LICENCES);
    let parts = components::all()?;
    fs::write(&licences, licences::all(&parts)?)?;
    let package = deb::Package {
        program: &program,
        licences: &licences,
        version: VERSION,
        compression,
    };
    let archive = tarball(&package, work.path(), &folder)?;
    let mut made = vec![archive.clone()];
    if cfg!(target_os = "linux") {
        made.push(deb::make(&package, work.path(), &folder)?);
    }
    made.push(bill_of_materials(&parts, &folder)?);
    sums(&made, &folder)?;
    println!("In {}: {}, SHA256SUMS.", folder.display(), made.join(", "));
    if check {
        check::run(&package, &folder.join(&archive))?;
    }
    Ok(())
}

/// Writes the software bill of materials for vulnerability scanners. Returns the file's name.
fn bill_of_materials(parts: &BTreeSet<components::Part>, folder: &Path) -> anyhow::Result<String> {
    let read = |path: PathBuf| {
        fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))
    };
    let crates = read(root().join("Cargo.lock"))?;
    let packages = read(web().join("package-lock.json"))?;
    let file = format!("glasshouse-{VERSION}.cdx.json");
    fs::write(
        folder.join(&file),
        sbom::document(VERSION, parts, &crates, &packages)?,
    )?;
    Ok(file)
}

fn build() -> anyhow::Result<PathBuf> {
    run_command(&mut cargo(&[
        "build",
        "--locked",
        "--profile",
        "dist",
        "--bin",
        "glasshouse",
        "--features",
        SHIPPED_FEATURES,
    ]))?;
    Ok(debug_folder()?.join("../dist/glasshouse"))
}

/// A copy without debug symbols, which make up most of a debug build.
fn without_symbols(built: &Path, work: &Path) -> anyhow::Result<PathBuf> {
    let program = work.join("glasshouse");
    fs::copy(built, &program).with_context(|| format!("cannot copy {}", built.display()))?;
    // On macOS it would break the signature, and the profile `dist` already strips symbols.
    if cfg!(target_os = "linux") && find_program(&["strip"]).is_some() {
        run_command(Command::new("strip").arg(&program))?;
    }
    run_command(Command::new("chmod").arg("0755").arg(&program))?;
    Ok(program)
}

/// Archives the program, its pages and, for Linux, its systemd unit, for systems without a package. Returns the
/// archive's name.
fn tarball(package: &deb::Package<'_>, work: &Path, folder: &Path) -> anyhow::Result<String> {
    let name = archive_name(std::env::consts::ARCH, std::env::consts::OS);
    let staged = work.join(&name);
    install(package.program, &staged.join("glasshouse"), 0o755)?;
    install(package.licences, &staged.join(LICENCES), 0o644)?;
    if cfg!(target_os = "linux") {
        install(
            &root().join("packaging/glasshouse.service"),
            &staged.join("glasshouse.service"),
            0o644,
        )?;
    }
    for page in pages()? {
        install(&root().join(&page), &staged.join(&page), 0o644)?;
    }
    let file = format!("{name}.tar.gz");
    let mut tar = Command::new("tar");
    tar.args(["--create", "--gzip", "--numeric-owner"]);
    // GNU tar, or that of macOS.
    tar.args(if cfg!(target_os = "linux") {
        ["--owner=0", "--group=0", "--sort=name"].as_slice()
    } else {
        ["--uid=0", "--gid=0"].as_slice()
    });
    run_command(
        tar.arg("--file")
            .arg(folder.join(&file))
            .arg("--directory")
            .arg(work)
            .arg(&name),
    )?;
    Ok(file)
}

/// The name of the archive without its extension, and of the folder in it.
fn archive_name(architecture: &str, system: &str) -> String {
    format!("glasshouse-{VERSION}-{architecture}-{system}")
}

/// The pages in every package, relative to the repository's folder.
fn pages() -> anyhow::Result<Vec<String>> {
    let mut pages = PAGES.map(str::to_owned).to_vec();
    for entry in fs::read_dir(root().join("docs")).context("cannot read docs/")? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if name.ends_with(".md") {
            pages.push(format!("docs/{name}"));
        }
    }
    pages.sort();
    Ok(pages)
}

/// Copies a file, creating missing folders.
fn install(from: &Path, to: &Path, mode: u32) -> anyhow::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let folder = to.parent().context("a file has no folder")?;
    fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    fs::copy(from, to).with_context(|| format!("cannot copy {}", from.display()))?;
    fs::set_permissions(to, fs::Permissions::from_mode(mode))?;
    Ok(())
}

/// Writes `SHA256SUMS`, for `sha256sum --check`.
fn sums(files: &[String], folder: &Path) -> anyhow::Result<()> {
    let mut sums = if find_program(&["sha256sum"]).is_some() {
        Command::new("sha256sum")
    } else {
        let mut shasum = Command::new("shasum");
        shasum.args(["--algorithm", "256"]);
        shasum
    };
    fs::write(
        folder.join("SHA256SUMS"),
        output(sums.args(files).current_dir(folder))?,
    )?;
    Ok(())
}

/// The output of a program.
fn output(command: &mut Command) -> anyhow::Result<String> {
    let shown = command.get_program().to_string_lossy().into_owned();
    let output = command
        .output()
        .with_context(|| format!("cannot run {shown}"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        bail!(
            "{shown} failed ({}): {said} {}",
            output.status,
            String::from_utf8_lossy(&output.stdout).trim()
        );
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
