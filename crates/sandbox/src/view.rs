//! What of the host programs can see: single paths only, as its `/etc` has secrets.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::{
    python::Python,
    spec::{INSIDE_ID, View, WORK},
};

/// Links to below `/usr` on most systems, folders of their own on some.
const SYSTEM: [&str; 6] = ["/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];

/// Shown where they are there. Libraries, the choice of programs, fonts and TeX; none has secrets.
const SHOWN: [&str; 8] = [
    "/usr",
    "/etc/ld.so.cache",
    "/etc/alternatives",
    "/etc/fonts",
    "/etc/texmf",
    "/etc/mime.types",
    "/var/lib/texmf",
    "/var/cache/fontconfig",
];

/// Where the driver of sessions is in the sandbox.
pub(crate) const DRIVER: &str = "/run/session.py";

/// What a Python needs, and all other programs of the system.
pub(crate) fn make(python: &Python, hidden: &[PathBuf]) -> View {
    let mut view = View {
        files: made_up_files(),
        ..View::default()
    };
    for path in SYSTEM.map(Path::new) {
        match fs::read_link(path) {
            Ok(text) => view.links.push((text, path.to_path_buf())),
            Err(_) => show(&mut view, path),
        }
    }
    for path in SHOWN.map(Path::new) {
        show(&mut view, path);
    }
    for path in &python.folders {
        show(&mut view, path);
    }
    // The way it is written and the way it is meant.
    view.hidden = hidden
        .iter()
        .flat_map(|path| [Some(path.clone()), path.canonicalize().ok()])
        .flatten()
        .collect();
    view
}

fn show(view: &mut View, path: &Path) {
    let seen = view.shown.iter().any(|(_, shown)| path.starts_with(shown));
    if let Ok(source) = path.canonicalize()
        && !seen
    {
        view.shown.push((source, path.to_path_buf()));
    }
}

fn made_up_files() -> Vec<(PathBuf, String)> {
    let passwd =
        format!("root:x:0:0:root:/:/bin/sh\nuser:x:{INSIDE_ID}:{INSIDE_ID}:user:{WORK}:/bin/sh\n");
    [
        ("/etc/passwd", passwd),
        ("/etc/group", format!("root:x:0:\nuser:x:{INSIDE_ID}:\n")),
        ("/etc/hosts", "127.0.0.1 localhost sandbox\n".to_owned()),
        (
            "/etc/nsswitch.conf",
            "passwd: files\ngroup: files\nhosts: files\n".to_owned(),
        ),
        (DRIVER, include_str!("session/driver.py").to_owned()),
    ]
    .map(|(path, text)| (path.into(), text))
    .into()
}
