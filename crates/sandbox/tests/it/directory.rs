//! A directory that others work in too: whole changes, only of what was seen, and nothing outside.

use std::{
    fs,
    os::unix::fs::{PermissionsExt, symlink},
};

use sandbox::{Directory, FolderError};
use tempfile::TempDir;

fn directory() -> (TempDir, Directory) {
    let folder = TempDir::new().unwrap();
    fs::create_dir(folder.path().join("sub")).unwrap();
    fs::write(folder.path().join("sub/a"), "one").unwrap();
    let directory = Directory::open(folder.path(), vec!["left".to_owned()]).unwrap();
    (folder, directory)
}

fn changed<T>(result: Result<T, FolderError>) -> bool {
    matches!(result, Err(FolderError::Changed(_)))
}

#[test]
fn a_file_is_replaced_whole_and_only_as_it_was_seen() {
    let (folder, directory) = directory();
    let path = folder.path().join("sub/a");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o750)).unwrap();
    let (bytes, seen) = directory.read("sub/a", 10).unwrap().unwrap();
    assert_eq!(bytes, b"one");
    let draft = directory.draft("sub/a", b"two", Some(seen)).unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"one", "nothing yet");
    assert_eq!(
        directory.list(10).unwrap().0.len(),
        1,
        "what is not kept yet is not listed"
    );
    draft.keep().unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"two");
    assert_eq!(
        fs::metadata(&path).unwrap().permissions().mode() & 0o777,
        0o750
    );
    assert!(
        changed(directory.draft("sub/a", b"three", Some(seen))),
        "it is not what was seen"
    );
    assert!(
        changed(directory.draft("sub/a", b"three", None)),
        "there is one"
    );
    assert!(changed(directory.remove("sub/a", seen)));
    assert!(changed(directory.rename("sub/a", "b", seen)));

    let (_, seen) = directory.read("sub/a", 10).unwrap().unwrap();
    let draft = directory.draft("sub/a", b"late", Some(seen)).unwrap();
    fs::write(&path, "an editor's").unwrap();
    assert!(changed(draft.keep()), "it changed after it was drafted");
    let draft = directory.draft("new/b", b"mine", None).unwrap();
    fs::write(folder.path().join("new/b"), "theirs").unwrap();
    assert!(changed(draft.keep()));
    assert_eq!(fs::read(folder.path().join("new/b")).unwrap(), b"theirs");
    let left: Vec<_> = fs::read_dir(folder.path().join("new")).unwrap().collect();
    assert_eq!(left.len(), 1, "a draft that is not kept is gone");

    let (_, seen) = directory.read("sub/a", 20).unwrap().unwrap();
    assert!(
        changed(directory.rename("sub/a", "new/b", seen)),
        "there is one"
    );
    directory.rename("sub/a", "deep/er/c", seen).unwrap();
    let (bytes, seen) = directory.read("deep/er/c", 20).unwrap().unwrap();
    assert_eq!(bytes, b"an editor's");
    directory.remove("deep/er/c", seen).unwrap();
    assert!(directory.read("deep/er/c", 20).unwrap().is_none());
}

#[test]
fn links_and_what_is_left_out_do_not_exist() {
    let (folder, directory) = directory();
    let outside = TempDir::new().unwrap();
    fs::write(outside.path().join("secret"), "secret").unwrap();
    symlink(outside.path(), folder.path().join("away")).unwrap();
    symlink(outside.path().join("secret"), folder.path().join("link")).unwrap();
    symlink(outside.path().join("new"), folder.path().join("dangling")).unwrap();
    fs::create_dir(folder.path().join("left")).unwrap();
    fs::write(folder.path().join("left/x"), "x").unwrap();
    for path in [
        "away/secret",
        "link",
        "dangling",
        "left/x",
        "LEFT/x",
        "sub",
        "..",
        "../x",
        "/etc/passwd",
        "sub/../x",
        "",
        "a\0",
    ] {
        assert!(
            matches!(directory.read(path, 10), Err(FolderError::Path(_))),
            "{path}"
        );
        assert!(
            matches!(
                directory.draft(path, b"bad", None),
                Err(FolderError::Path(_))
            ),
            "{path}"
        );
    }
    let (files, more) = directory.list(10).unwrap();
    let paths: Vec<&str> = files.iter().map(|(file, _)| &*file.path).collect();
    assert_eq!((paths, more), (vec!["sub/a"], false));
    assert_eq!(fs::read(outside.path().join("secret")).unwrap(), b"secret");
    assert!(!outside.path().join("new").exists());
    assert!(matches!(
        directory.read("sub/a", 2),
        Err(FolderError::TooLarge { limit_bytes: 2 })
    ));
}

#[test]
fn another_process_of_the_same_number_is_not_in_the_way() {
    let (folder, directory) = directory();
    // In another container that shares the directory: there every server has the same number, and counts from 0.
    for number in 0..100 {
        fs::write(
            folder
                .path()
                .join(format!(".glasshouse-draft-{}-{number}", std::process::id())),
            "x",
        )
        .unwrap();
    }
    directory
        .draft("new", b"mine", None)
        .unwrap()
        .keep()
        .unwrap();
    assert_eq!(fs::read(folder.path().join("new")).unwrap(), b"mine");
}
