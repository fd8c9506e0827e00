//! Finds Python on the host: its path, and the parts of the host it needs.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use serde::Deserialize;
use tokio::{process::Command, time::timeout};

use crate::{Unavailable, spec::WORK};

/// A Python installation of the host.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct Python {
    pub(crate) executable: PathBuf,
    /// Its own folders, such as `/usr`, or a virtual environment and its base.
    pub(crate) folders: Vec<PathBuf>,
}

/// `python3` may be a script that locates the real one, so it is asked for its own path.
const QUESTION: &str = "import json, os, sys
folders = [sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix]
folders.append(os.path.dirname(os.path.dirname(os.path.realpath(sys.executable))))
assert sys.version_info >= (3, 8), 'it is older than 3.8'
print(json.dumps({'executable': sys.executable, 'folders': sorted(set(folders))}))";

/// Queries the host's Python, or the one at `path`.
pub(crate) async fn find(path: Option<&Path>) -> Result<Python, Unavailable> {
    let program = path.unwrap_or(Path::new("python3"));
    let said = |text: String| Unavailable::Python(format!("{}: {text}", program.display()));
    let mut command = Command::new(program);
    command
        .args(["-I", "-c", QUESTION])
        .stdin(std::process::Stdio::null())
        .kill_on_drop(true);
    let output = timeout(Duration::from_secs(20), command.output()).await;
    let output = output
        .map_err(|_| said("it does not answer".into()))?
        .map_err(|error| said(error.to_string()))?;
    if !output.status.success() {
        let text = String::from_utf8_lossy(&output.stderr);
        return Err(said(
            text.trim().lines().last().unwrap_or("it fails").to_owned(),
        ));
    }
    let python: Python =
        serde_json::from_slice(&output.stdout).map_err(|error| said(error.to_string()))?;
    match python.folders.iter().find(|folder| is_too_wide(folder)) {
        Some(folder) => Err(said(format!(
            "it belongs to {}, which cannot be shown to programs",
            folder.display()
        ))),
        None => Ok(python),
    }
}

/// Folders that contain more than a Python installation, such as `/`, `/root` and `/home/ann`, and those that are
/// generated in the sandbox. The system's `/usr` is shown anyway.
fn is_too_wide(folder: &Path) -> bool {
    let depth = folder.components().count();
    let home = folder.starts_with("/home") || folder.starts_with("/Users");
    let plain = folder.is_absolute() && folder.components().all(|part| part.as_os_str() != "..");
    let made_up = [WORK, "/proc", "/dev", "/etc"]
        .iter()
        .any(|path| folder.starts_with(path));
    folder != Path::new("/usr") && (made_up || !plain || depth < 3 || (home && depth < 4))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_home_is_not_shown_whole() {
        for (folder, wide) in [
            ("/", true),
            ("/root", true),
            ("/opt", true),
            ("/home/ann", true),
            ("python", true),
            ("/home/ann/../bob/x", true),
            ("/files/env/python", true),
            ("/dev/shm/env", true),
            ("/usr", false),
            ("/usr/local", false),
            ("/opt/python", false),
            ("/home/ann/env", false),
            ("/root/.pyenv/versions/3.11.7", false),
        ] {
            assert_eq!(is_too_wide(Path::new(folder)), wide, "{folder}");
        }
    }
}
