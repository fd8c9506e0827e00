//! The package for Debian and its derivatives: a folder laid out as installed, packed by `dpkg-deb`.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, bail};

use super::{LICENCES, install, output, pages};
use crate::command::{root, run};

/// The installed path of the program.
pub(super) const PROGRAM: &str = "/usr/bin/glasshouse";
/// The installed path of the settings, which belong to the administrator and are kept on updates.
pub(super) const SETTINGS: &str = "/etc/glasshouse/glasshouse.toml";
/// The installed path of the systemd unit.
pub(super) const UNIT: &str = "/usr/lib/systemd/system/glasshouse.service";
const PAGES: &str = "/usr/share/doc/glasshouse";

/// The maintainer scripts.
const SCRIPTS: [&str; 3] = ["postinst", "postrm", "prerm"];

/// The contents of a package.
#[derive(Debug, Clone, Copy)]
pub(super) struct Package<'a> {
    /// The program.
    pub(super) program: &'a Path,
    /// The licences of its components.
    pub(super) licences: &'a Path,
    /// The version in Cargo's form.
    pub(super) version: &'a str,
    pub(super) compression: Compression,
}

/// How hard a package is compressed.
#[derive(Debug, Clone, Copy)]
pub(super) enum Compression {
    /// For publication. Still fast rather than small: the program is most of the package, and hardly compressible.
    Published,
    /// For a check.
    None,
}

impl Compression {
    fn options(self) -> &'static [&'static str] {
        match self {
            Self::Published => &["-Zxz", "-z3"],
            Self::None => &["-Znone"],
        }
    }
}

/// Writes the package into `folder`. Returns its name.
///
/// # Errors
/// If there is no `dpkg-deb`, or it fails.
pub(super) fn make(package: &Package<'_>, work: &Path, folder: &Path) -> anyhow::Result<String> {
    let architecture = architecture(std::env::consts::ARCH)?;
    let staged = work.join("deb");
    if staged.exists() {
        fs::remove_dir_all(&staged)?;
    }
    for (from, to, mode) in files(package)? {
        install(&from, &staged.join(to.trim_start_matches('/')), mode)?;
    }
    let about = staged.join("DEBIAN");
    for script in SCRIPTS {
        install(
            &root().join("packaging/debian").join(script),
            &about.join(script),
            0o755,
        )?;
    }
    fs::write(about.join("conffiles"), format!("{SETTINGS}\n"))?;
    fs::write(about.join("md5sums"), sums(&staged)?)?;
    let program = fs::read(package.program)?;
    let control = control(
        package.version,
        architecture,
        &libraries(&program)?,
        kilobytes(&staged)?,
    );
    fs::write(about.join("control"), control)?;
    let name = format!(
        "glasshouse_{}_{architecture}.deb",
        debian_version(package.version)
    );
    let mut dpkg = Command::new("dpkg-deb");
    run(dpkg
        .arg("--root-owner-group")
        .args(package.compression.options())
        .arg("--build")
        .arg(&staged)
        .arg(folder.join(&name)))?;
    Ok(name)
}

/// Each file with its source, its destination and its mode.
fn files(package: &Package<'_>) -> anyhow::Result<Vec<(PathBuf, String, u32)>> {
    let mut files = vec![
        (package.program.to_owned(), PROGRAM.to_owned(), 0o755),
        (
            package.licences.to_owned(),
            format!("{PAGES}/{LICENCES}"),
            0o644,
        ),
        (
            root().join("packaging/glasshouse.service"),
            UNIT.to_owned(),
            0o644,
        ),
        (
            root().join("packaging/debian/glasshouse.toml"),
            SETTINGS.to_owned(),
            0o644,
        ),
        (
            root().join("packaging/debian/copyright"),
            format!("{PAGES}/copyright"),
            0o644,
        ),
    ];
    files.extend(
        pages()?
            .into_iter()
            .map(|page| (root().join(&page), format!("{PAGES}/{page}"), 0o644)),
    );
    Ok(files)
}

/// Debian's name of an architecture.
fn architecture(rust: &str) -> anyhow::Result<&'static str> {
    Ok(match rust {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        "riscv64" => "riscv64",
        other => bail!("what does Debian call {other}? Add it in {}", file!()),
    })
}

/// A pre-release must sort before the release: `1.0.0-rc.1` becomes `1.0.0~rc.1`.
fn debian_version(version: &str) -> String {
    version.replacen('-', "~", 1)
}

/// The package's control file.
fn control(version: &str, architecture: &str, libraries: &str, kilobytes: u64) -> String {
    let version = debian_version(version);
    format!(
        "\
Package: glasshouse
Version: {version}
Architecture: {architecture}
Maintainer: The Glasshouse contributors <contributors@glasshouse.invalid>
Section: net
Priority: optional
Installed-Size: {kilobytes}
Depends: {libraries}, ca-certificates, passwd
Recommends: python3, tesseract-ocr
Suggests: postgresql, tesseract-ocr-all, python3-matplotlib, texlive-latex-base, latexmk
Description: agent server with glass walls
 Runs AI agents for a person or a team, and shows everything they do while
 they do it: the plan, each tool call, each sub-agent, what waits for somebody.
 Serves a web app, and the protocols of OpenAI, AG-UI and MCP to programs.
"
    )
}

/// The C library with the minimum version for the symbols the program uses, as `dpkg-shlibdeps` would determine.
fn libraries(program: &[u8]) -> anyhow::Result<String> {
    let (major, minor) =
        newest_glibc(program).context("the program does not name glibc's functions: is it one?")?;
    Ok(format!("libc6 (>= {major}.{minor}), libgcc-s1"))
}

fn newest_glibc(program: &[u8]) -> Option<(u32, u32)> {
    const NAME: &[u8] = b"GLIBC_";
    let named = program
        .windows(NAME.len())
        .enumerate()
        .filter(|(_, window)| *window == NAME);
    let version = |at: usize| {
        let rest = program.get(at + NAME.len()..)?;
        let length = rest
            .iter()
            .take(10)
            .take_while(|byte| byte.is_ascii_digit() || **byte == b'.')
            .count();
        let mut numbers = std::str::from_utf8(&rest[..length])
            .ok()?
            .split('.')
            .map_while(|n| n.parse().ok());
        Some((numbers.next()?, numbers.next()?))
    };
    named.filter_map(|(at, _)| version(at)).max()
}

fn sums(staged: &Path) -> anyhow::Result<String> {
    let find = "find usr -type f -print0 | sort -z | xargs -0 md5sum";
    output(Command::new("sh").args(["-c", find]).current_dir(staged))
}

fn kilobytes(staged: &Path) -> anyhow::Result<u64> {
    let said = output(
        Command::new("du")
            .args(["--summarize", "--apparent-size", "-k"])
            .arg(staged),
    )?;
    said.split_whitespace()
        .next()
        .and_then(|number| number.parse().ok())
        .context("du says no number")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_package_says_what_it_is() {
        let text = control(
            super::super::VERSION,
            "amd64",
            "libc6 (>= 2.34), libgcc-s1",
            31_000,
        );
        let field = |name: &str| {
            let line = text
                .lines()
                .find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
            line.unwrap_or_else(|| panic!("{name} is missing"))
                .to_owned()
        };
        let manifest = fs::read_to_string(root().join("Cargo.toml")).unwrap();
        let version = manifest.split_once("[workspace.package]").unwrap().1;
        let version = version
            .lines()
            .find_map(|line| line.strip_prefix("version = "))
            .unwrap();
        assert_eq!(
            format!("{:?}", field("Version").replacen('~', "-", 1)),
            version
        );
        assert_eq!(
            field("Depends"),
            "libc6 (>= 2.34), libgcc-s1, ca-certificates, passwd"
        );
        assert_eq!(
            (field("Package"), field("Architecture")),
            ("glasshouse".into(), "amd64".into())
        );
        assert!(text.ends_with('\n') && !text.contains("\n\n"), "{text}");
        let long = text
            .lines()
            .skip_while(|line| !line.starts_with("Description"))
            .skip(1);
        assert!(
            long.clone().count() > 0 && long.clone().all(|line| line.starts_with(' ')),
            "{text}"
        );
    }

    #[test]
    fn what_it_holds_is_there() {
        let any = root().join("Cargo.toml");
        let package = Package {
            program: &any,
            licences: &any,
            version: "1.0.0",
            compression: Compression::None,
        };
        for (from, to, _) in files(&package).unwrap() {
            assert!(from.is_file() && to.starts_with('/'), "{}", from.display());
        }
        for script in SCRIPTS {
            let path = root().join("packaging/debian").join(script);
            let check = Command::new("sh").arg("-n").arg(&path).status().unwrap();
            assert!(check.success(), "{script} is no program of sh");
        }
    }

    #[test]
    fn versions_before_a_release_sort_before_it() {
        assert_eq!(debian_version("1.0.0-rc.1"), "1.0.0~rc.1");
        assert_eq!(debian_version("0.1.0"), "0.1.0");
    }

    #[test]
    fn the_newest_function_counts() {
        assert_eq!(
            newest_glibc(b"\0GLIBC_2.2.5\0xGLIBC_2.34\0GLIBC_2.9\0GLIBC_PRIVATE\0"),
            Some((2, 34))
        );
        assert_eq!(newest_glibc(b"GLIBC_"), None);
        assert_eq!(
            libraries(b"GLIBC_2.36").unwrap(),
            "libc6 (>= 2.36), libgcc-s1"
        );
        assert!(libraries(b"a text").is_err());
    }
}
