//! Default locations of data.

use std::path::{Path, PathBuf};

use super::Environment;

/// The URL of the database in the data folder.
pub(super) fn sqlite_url(data_dir: &Path) -> anyhow::Result<String> {
    let absolute = std::path::absolute(data_dir.join("glasshouse.db"))?;
    let path = absolute.to_str().ok_or_else(|| {
        anyhow::anyhow!(
            "the data folder's path {} is not UTF-8: choose another",
            absolute.display()
        )
    })?;
    Ok(format!("sqlite://{path}"))
}

/// The user's data folder by the platform's convention.
pub(super) fn default_data_dir(environment: &Environment) -> Option<PathBuf> {
    let folder = |name: &str| {
        environment
            .get(name)
            .filter(|value| !value.is_empty())
            .map(PathBuf::from)
            .filter(|p| p.is_absolute())
    };
    if cfg!(target_os = "macos") {
        return folder("HOME").map(|home| home.join("Library/Application Support/Glasshouse"));
    }
    if cfg!(windows) {
        return folder("LOCALAPPDATA").map(|data| data.join("Glasshouse"));
    }
    let data =
        folder("XDG_DATA_HOME").or_else(|| folder("HOME").map(|home| home.join(".local/share")));
    data.map(|data| data.join("glasshouse"))
}
