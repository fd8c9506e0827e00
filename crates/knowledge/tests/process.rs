//! Files read by a process of its own: this test's program starts itself again.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test ends at the first surprise")]

use std::{os::unix::fs::PermissionsExt, path::PathBuf};

use knowledge::{Limits, ReadingProcess, Unreadable, become_reader};

#[ctor::ctor(unsafe)]
fn become_reader_first() {
    if let Some(code) = become_reader() {
        std::process::exit(i32::from(code != std::process::ExitCode::SUCCESS));
    }
}

fn process() -> ReadingProcess {
    ReadingProcess::new(std::env::current_exe().unwrap())
}

#[test]
fn a_document_comes_back_whole() {
    let text = format!("# Title\n{}", "слова 🦀 \"quoted\"\n".repeat(100_000));
    let limits = Limits::default();
    let document = process().read("a.md", text.as_bytes(), &limits).unwrap();
    assert_eq!(
        (document.text, document.title.as_deref()),
        (text, Some("Title"))
    );
    let refusal = |name: &str, bytes: &[u8], limits: &Limits| {
        process().read(name, bytes, limits).unwrap_err()
    };
    assert_eq!(
        refusal("a.png", b"\x89PNG\0", &limits),
        Unreadable::UnknownFormat
    );
    let small = Limits {
        file_bytes: 10,
        ..limits
    };
    assert_eq!(
        refusal("a.txt", b"01234567890", &small),
        Unreadable::TooLarge { limit_bytes: 10 }
    );
}

#[test]
fn a_file_that_takes_all_memory_or_time_ends_only_its_reader() {
    let limits = Limits {
        memory_bytes: 60_000_000,
        ..Limits::default()
    };
    let refusal = process()
        .read("a.txt", &b"words and ".repeat(5_000_000), &limits)
        .unwrap_err();
    assert_eq!(refusal, Unreadable::TooMuchMemory);
    let limits = Limits {
        seconds: 1,
        ..Limits::default()
    };
    let slow = format!("<p><b>{}</b></p>", "words ".repeat(20)).repeat(140_000);
    let refusal = process()
        .read("a.html", slow.as_bytes(), &limits)
        .unwrap_err();
    assert!(
        matches!(
            refusal,
            Unreadable::TooSlow { .. } | Unreadable::TooMuchMemory
        ),
        "{refusal}"
    );
    // One that no parser is needed to refuse.
    let refusal = process()
        .read(
            "a.html",
            "<div>".repeat(2_000_000).as_bytes(),
            &Limits::default(),
        )
        .unwrap_err();
    assert!(matches!(refusal, Unreadable::Damaged { .. }), "{refusal:?}");
}

#[test]
fn a_reader_that_never_ends_is_ended() {
    let nobody = ReadingProcess::new(PathBuf::from("/no/such/program"));
    assert!(matches!(
        nobody.read("a", b"x", &Limits::default()),
        Err(Unreadable::Fault { .. })
    ));
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("endless");
    std::fs::write(&program, "#!/bin/sh\nexec sleep 1000\n").unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let limits = Limits {
        seconds: 0,
        ..Limits::default()
    };
    let refusal = ReadingProcess::new(program)
        .read("a", &vec![0; 1_000_000], &limits)
        .unwrap_err();
    assert_eq!(refusal, Unreadable::TooSlow { limit_seconds: 0 });
}
