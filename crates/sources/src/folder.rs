//! A folder of the server.

use std::{
    fs::File,
    io::{self, Read},
    path::{Path, PathBuf},
    time::UNIX_EPOCH,
};

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use crate::{Item, ItemMetadata, Listing, Readers, SourceLimits, SourceProblem, Surroundings};

/// Maximum depth of folders.
const MAX_DEPTH: usize = 64;

/// A folder of the server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[schemars(inline)]
pub struct FolderSettings {
    /// Its path: one of the folders that the administrator offers, or a folder in it.
    pub path: String,
}

/// Lists the files of the folder and of those in it. Hidden files and symbolic links are left out.
pub(crate) async fn list(
    settings: &FolderSettings,
    surroundings: &Surroundings,
) -> Result<Listing, SourceProblem> {
    let root = permitted(settings, surroundings)?;
    let limits = surroundings.limits;
    let listing = tokio::task::spawn_blocking(move || walk(&root, limits));
    listing
        .await
        .map_err(|error| SourceProblem::File(error.to_string()))?
}

/// Reads a file.
pub(crate) async fn read(
    settings: &FolderSettings,
    item: &Item,
    surroundings: &Surroundings,
) -> Result<Bytes, SourceProblem> {
    let root = permitted(settings, surroundings)?;
    let most = surroundings.limits.item_bytes as u64;
    let path = root.join(&item.id);
    let read = tokio::task::spawn_blocking(move || {
        // A link may have taken its place since it was listed.
        let path = path.canonicalize().map_err(|error| gone(&error))?;
        if !path.starts_with(&root) {
            return Err(SourceProblem::Gone);
        }
        // Others, such as pipes, could block.
        if !path.metadata().map_err(|error| gone(&error))?.is_file() {
            return Err(SourceProblem::Gone);
        }
        let file = File::open(&path).map_err(|error| gone(&error))?;
        let mut content = Vec::new();
        file.take(most.saturating_add(1))
            .read_to_end(&mut content)
            .map_err(|error| gone(&error))?;
        match content.len() as u64 > most {
            true => Err(SourceProblem::TooLarge),
            false => Ok(content),
        }
    });
    let read = read.await;
    read.map_err(|error| SourceProblem::File(error.to_string()))?
        .map(Bytes::from)
}

/// The folder with all links resolved, if it is in one that the administrator offers.
fn permitted(
    settings: &FolderSettings,
    surroundings: &Surroundings,
) -> Result<PathBuf, SourceProblem> {
    let path = Path::new(&settings.path).canonicalize();
    let is_offered = |path: &PathBuf| {
        let mut offered = surroundings.folders.iter();
        offered.any(|folder| folder.canonicalize().is_ok_and(|one| path.starts_with(one)))
    };
    // Do not reveal whether other folders exist.
    path.ok().filter(is_offered).ok_or(SourceProblem::NotFound)
}

fn walk(root: &Path, limits: SourceLimits) -> Result<Listing, SourceProblem> {
    let mut listing = Listing::default();
    let mut folders = vec![(root.to_owned(), 0)];
    while let Some((folder, depth)) = folders.pop() {
        if let Err(problem) = list_one(root, &folder, depth, limits, &mut folders, &mut listing) {
            if folder == root || problem == SourceProblem::TooMany {
                return Err(problem);
            }
            listing.add_problem(&relative_lossy(root, &folder), problem);
        }
    }
    Ok(listing)
}

fn list_one(
    root: &Path,
    folder: &Path,
    depth: usize,
    limits: SourceLimits,
    folders: &mut Vec<(PathBuf, usize)>,
    listing: &mut Listing,
) -> Result<(), SourceProblem> {
    for entry in std::fs::read_dir(folder).map_err(|error| file(&error))? {
        let entry = entry.map_err(|error| file(&error))?;
        if entry.file_name().as_encoded_bytes().starts_with(b".") {
            continue;
        }
        let found = entry.metadata().map_err(|error| file(&error))?;
        if found.is_dir() && depth < MAX_DEPTH {
            folders.push((entry.path(), depth + 1));
        } else if found.is_dir() {
            let problem = SourceProblem::File("it is nested too deeply".to_owned());
            listing.add_problem(&relative_lossy(root, &entry.path()), problem);
        } else if found.is_file() {
            let Some(name) = relative(root, &entry.path()) else {
                let problem = SourceProblem::File("its name is not UTF-8".to_owned());
                listing.add_problem(&relative_lossy(root, &entry.path()), problem);
                continue;
            };
            let modified = found.modified().ok();
            let modified = modified.and_then(|at| at.duration_since(UNIX_EPOCH).ok());
            let item = Item {
                id: name.clone(),
                name,
                version: format!(
                    "{}-{}",
                    modified.unwrap_or_default().as_nanos(),
                    found.len()
                ),
                size_bytes: Some(found.len()),
                modified_ms: modified.and_then(|at| i64::try_from(at.as_millis()).ok()),
                url: None,
                readers: Readers::All,
                metadata: ItemMetadata::default(),
            };
            listing.add(item, limits)?;
        }
    }
    Ok(())
}

/// A path in the root with `/` on every system.
fn relative(root: &Path, path: &Path) -> Option<String> {
    let parts = path.strip_prefix(root).ok()?.components();
    let parts: Option<Vec<_>> = parts.map(|part| part.as_os_str().to_str()).collect();
    Some(parts?.join("/"))
}

/// The same for people, who need not know where the root is.
fn relative_lossy(root: &Path, path: &Path) -> String {
    let path = path.strip_prefix(root).unwrap_or(path);
    path.to_string_lossy().into_owned()
}

fn file(error: &io::Error) -> SourceProblem {
    SourceProblem::File(error.kind().to_string())
}

fn gone(error: &io::Error) -> SourceProblem {
    match error.kind() {
        io::ErrorKind::NotFound => SourceProblem::Gone,
        _ => file(error),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use outbound::{Allowed, Outbound};

    use super::*;
    use crate::{Source, SourceLimits, SourceSettings};

    fn source(path: &Path, offered: &Path, limits: SourceLimits) -> Source {
        let surroundings = Surroundings {
            outbound: Outbound::new(Allowed::default()),
            folders: vec![offered.to_owned()],
            limits,
        };
        let path = path.to_str().unwrap().to_owned();
        Source::new(
            SourceSettings::Folder(FolderSettings { path }),
            "",
            surroundings,
        )
        .unwrap()
    }

    #[tokio::test]
    async fn files_of_all_folders_are_listed_and_read() {
        let home = tempfile::tempdir().unwrap();
        let offered = home.path().join("offered");
        fs::create_dir_all(offered.join("a/b")).unwrap();
        fs::write(offered.join("a/b/deep.md"), "deep").unwrap();
        fs::write(offered.join("Überblick.txt"), "over").unwrap();
        fs::write(offered.join(".hidden"), "h").unwrap();
        fs::write(home.path().join("secret"), "s").unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink(home.path().join("secret"), offered.join("link.md")).unwrap();

        let limits = SourceLimits {
            items: 2,
            item_bytes: 4,
        };
        let source = self::source(&offered, &offered, limits);
        let listing = source.list().await.unwrap();
        let names: Vec<_> = listing.items.iter().map(|item| &*item.name).collect();
        assert_eq!(names, ["a/b/deep.md", "Überblick.txt"]);
        assert!(listing.problems.is_empty());
        assert_eq!(source.read(&listing.items[0]).await.unwrap(), "deep");

        // Behind its back: grown, replaced by a link, deleted.
        fs::write(offered.join("a/b/deep.md"), "deeper").unwrap();
        let again = source.list().await.unwrap();
        assert_ne!(again.items[0].version, listing.items[0].version);
        let too_large = source.read(&again.items[0]).await;
        assert_eq!(too_large, Err(SourceProblem::TooLarge));
        #[cfg(unix)]
        {
            fs::remove_file(offered.join("a/b/deep.md")).unwrap();
            let target = home.path().join("secret");
            std::os::unix::fs::symlink(target, offered.join("a/b/deep.md")).unwrap();
            let link = source.read(&again.items[0]).await;
            assert_eq!(link, Err(SourceProblem::Gone));
        }
        let _ = fs::remove_file(offered.join("a/b/deep.md"));
        fs::create_dir(offered.join("a/b/deep.md")).unwrap();
        let folder = source.read(&again.items[0]).await;
        assert_eq!(folder, Err(SourceProblem::Gone));
        fs::remove_dir_all(offered.join("a")).unwrap();
        let gone = source.read(&again.items[0]).await;
        assert_eq!(gone, Err(SourceProblem::Gone));
    }

    #[tokio::test]
    async fn folders_that_are_too_deep_are_a_problem() {
        let home = tempfile::tempdir().unwrap();
        let deep = vec!["a"; MAX_DEPTH + 1].join("/");
        fs::create_dir_all(home.path().join(&deep)).unwrap();
        fs::write(home.path().join(&deep).join("lost.md"), "").unwrap();
        let limits = SourceLimits {
            items: 1,
            item_bytes: 1,
        };
        let listing = source(home.path(), home.path(), limits).list().await;
        let listing = listing.unwrap();
        assert_eq!(listing.items, []);
        assert_eq!(listing.problems.len(), 1);
        assert!(listing.problems[0].name == deep);
    }

    #[tokio::test]
    async fn only_offered_folders_are_read() {
        let home = tempfile::tempdir().unwrap();
        let offered = home.path().join("offered");
        fs::create_dir_all(offered.join("inner")).unwrap();
        let limits = SourceLimits {
            items: 1,
            item_bytes: 4,
        };
        for (path, is_offered) in [
            (offered.join("inner"), true),
            (offered.join("inner/.."), true),
            (offered.join(".."), false),
            (home.path().to_owned(), false),
            (home.path().join("offered2"), false),
        ] {
            let listed = source(&path, &offered, limits).list().await;
            let expected = if is_offered {
                Ok(Listing::default())
            } else {
                Err(SourceProblem::NotFound)
            };
            assert_eq!(listed, expected, "{}", path.display());
        }
        fs::write(offered.join("1"), "").unwrap();
        fs::write(offered.join("2"), "").unwrap();
        let many = source(&offered, &offered, limits).list().await;
        assert_eq!(many, Err(SourceProblem::TooMany));
    }
}
