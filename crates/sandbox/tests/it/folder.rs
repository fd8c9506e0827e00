//! Files in and out of a folder that is full of traps.

use std::{fs, os::unix::fs::MetadataExt};

use sandbox::{Ended, Folder, FolderError};

use crate::support::{Place, place, run};

/// A folder where a program has laid traps.
async fn trapped() -> Place {
    let place = place().await;
    let script = "ln -s /etc/passwd link; ln -s /etc etc; mkfifo pipe; mkdir -p sub/deep; echo plain > sub/deep/file
        ln -s ../../../../../etc/hostname sub/up; mkdir closed; echo x > closed/x; printf x > \"$(printf 'no\\377text')\"
        python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind(\"sock\")'";
    let outcome = run(place.sandbox.shell(&place.folder, script)).await;
    assert_eq!(outcome.ended, Ended::Exit(0), "{}", outcome.stderr.text);
    place
}

fn paths(folder: &Folder, limit: usize) -> (Vec<String>, bool) {
    let (files, more) = folder.collect(limit).unwrap();
    (files.into_iter().map(|file| file.path).collect(), more)
}

#[tokio::test]
async fn only_plain_files_come_out() {
    let place = trapped().await;
    assert_eq!(
        paths(&place.folder, 10),
        (vec!["closed/x".into(), "sub/deep/file".into()], false)
    );
    assert_eq!(place.folder.read("sub/deep/file", 6).unwrap(), b"plain\n");
    let file = place.folder.look("sub/deep/file").unwrap();
    assert!(file.size_bytes == 6 && file.changed_ms > 1_700_000_000_000);
    for path in ["link", "etc/hostname", "sub/up", "sub/deep/file/x"] {
        assert!(
            matches!(place.folder.read(path, 100), Err(FolderError::Path(_))),
            "{path}"
        );
    }
    for path in ["pipe", "sock", "missing", "sub", "sub/missing/x"] {
        assert!(
            matches!(place.folder.read(path, 100), Err(FolderError::Missing(_))),
            "{path}"
        );
    }
    for path in [
        "",
        "/etc/passwd",
        "..",
        "../work/link",
        "sub/../link",
        "sub//deep",
        "a\0b",
        &"x/".repeat(600),
    ] {
        assert!(
            matches!(place.folder.read(path, 100), Err(FolderError::Path(_))),
            "{path}"
        );
        assert!(
            matches!(place.folder.put(path, b""), Err(FolderError::Path(_))),
            "{path}"
        );
    }
    assert!(matches!(
        place.folder.read("sub/deep/file", 5),
        Err(FolderError::TooLarge { limit_bytes: 5 })
    ));
}

#[tokio::test]
async fn files_go_in_without_following_links() {
    let place = trapped().await;
    let outside = place.base.path().join("outside");
    fs::write(&outside, "untouched").unwrap();
    std::os::unix::fs::symlink(&outside, place.folder.path().join("trap")).unwrap();
    std::os::unix::fs::symlink(place.base.path(), place.folder.path().join("up")).unwrap();
    place.folder.put("trap", b"new").unwrap();
    assert_eq!(fs::read_to_string(&outside).unwrap(), "untouched");
    assert_eq!(place.folder.read("trap", 100).unwrap(), b"new");
    assert!(matches!(
        place.folder.put("up/outside", b"bad"),
        Err(FolderError::Path(_))
    ));
    assert!(matches!(
        place.folder.put("sub", b"bad"),
        Err(FolderError::Path(_))
    ));
    place.folder.put("pipe", b"no longer one").unwrap();
    place.folder.put("a/b/c", b"text").unwrap();
    // The program may change what was put there.
    let outcome = run(place.sandbox.shell(
        &place.folder,
        "echo more >> a/b/c && rm trap && touch a/b/d && cat a/b/c",
    ))
    .await;
    assert_eq!(
        (outcome.ended, outcome.stdout.text.as_str()),
        (Ended::Exit(0), "textmore\n")
    );
    place.folder.remove("a/b/c").unwrap();
    place.folder.remove("link").unwrap();
    assert!(fs::exists("/etc/passwd").unwrap());
    assert!(matches!(
        place.folder.remove("a/b"),
        Err(FolderError::Path(_))
    ));
    assert!(matches!(
        place.folder.remove("a/b/c"),
        Err(FolderError::Missing(_))
    ));
}

#[tokio::test]
async fn a_list_is_bounded() {
    let place = place().await;
    for number in 0..5 {
        place.folder.put(&format!("f{number}"), b"").unwrap();
    }
    assert!(!paths(&place.folder, 5).1);
    let (some, more) = paths(&place.folder, 3);
    assert_eq!((some.len(), more), (3, true));
    let outcome = run(place.sandbox.shell(
        &place.folder,
        "for i in $(seq 40); do mkdir d; cd d || exit; touch f; done",
    ))
    .await;
    assert_eq!(outcome.ended, Ended::Exit(0));
    assert!(paths(&place.folder, 1000).0.len() < 45);
}

#[tokio::test]
async fn the_folder_belongs_to_the_programs_user() {
    let place = place().await;
    let found = fs::metadata(place.folder.path()).unwrap();
    let user = rustix::process::geteuid();
    let expected = if user.is_root() { 65534 } else { user.as_raw() };
    assert_eq!((found.uid(), found.mode() & 0o777), (expected, 0o700));
    place.folder.put("a/b", b"").unwrap();
    for path in ["a", "a/b"] {
        assert_eq!(
            fs::metadata(place.folder.path().join(path)).unwrap().uid(),
            expected
        );
    }
    // The same folder again.
    place
        .sandbox
        .folder(place.folder.path())
        .unwrap()
        .read("a/b", 1)
        .unwrap();
    assert!(
        place
            .sandbox
            .folder(&place.folder.path().join("a/b"))
            .is_err(),
        "a file"
    );
}
