//! Removes folders in which programs ran.

use std::{io::ErrorKind, path::Path};

/// Removes a folder with all its contents, including what a program has made unreadable. Does nothing if there is none.
///
/// # Errors
/// If something in it cannot be removed.
pub fn remove_folder(folder: &Path) -> std::io::Result<()> {
    match std::fs::remove_dir_all(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) if error.kind() == ErrorKind::PermissionDenied => {
            open_up(folder);
            std::fs::remove_dir_all(folder)
        }
        result => result,
    }
}

/// Restores the permissions of the subfolders of a folder in which no program runs.
fn open_up(folder: &Path) {
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            drop(std::fs::set_permissions(
                &folder,
                std::fs::Permissions::from_mode(0o700),
            ));
        }
        let entries = std::fs::read_dir(&folder).into_iter().flatten().flatten();
        // The type of the entry itself, even if it is a symbolic link.
        folders.extend(
            entries
                .filter(|it| it.file_type().is_ok_and(|kind| kind.is_dir()))
                .map(|it| it.path()),
        );
    }
}

#[cfg(test)]
mod tests {
    #[test]
    #[cfg(unix)]
    fn what_is_closed_to_everybody_is_removed_too() {
        use std::{fs, os::unix::fs::PermissionsExt};
        let folder = std::env::temp_dir().join(format!("glasshouse-clear-{}", std::process::id()));
        fs::create_dir_all(folder.join("a/b")).unwrap();
        fs::write(folder.join("a/b/c"), "x").unwrap();
        fs::set_permissions(folder.join("a/b"), fs::Permissions::from_mode(0o000)).unwrap();
        super::open_up(&folder);
        let mode = fs::metadata(folder.join("a/b"))
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o700);
        super::remove_folder(&folder).unwrap();
        assert!(!folder.exists());
        super::remove_folder(&folder).unwrap();
    }
}
