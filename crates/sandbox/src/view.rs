//! The parts of the host visible to programs: individual paths only, since `/etc` contains secrets.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::{
    python::Python,
    spec::{INSIDE_ID, View, WORK},
};

/// Links into `/usr` on most systems, separate folders on some.
const SYSTEM: [&str; 6] = ["/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];

/// Mounted if they exist: libraries, alternatives, fonts and TeX; none contains secrets.
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

/// The path of the session driver in the sandbox.
pub(crate) const DRIVER: &str = "/run/session.py";

/// What Python needs, and all other programs of the system.
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
    // The path as given, and its canonical form.
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
