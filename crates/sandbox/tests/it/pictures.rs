//! Pictures of figures. The tests run the real matplotlib where `GLASSHOUSE_TEST_PYTHON` or the usual Python has it, as
//! in `cargo xtask test`; otherwise a small stand-in that they write into the folder, which has just the functions that
//! the driver calls.

use std::path::PathBuf;

use sandbox::{Limits, Options};

use crate::support::{Place, cell, options, place, place_with, value};

const STAND_IN: &str = "
import struct, zlib
_figures = {}
class Figure:
    def savefig(self, path, format):
        def part(kind, data): return struct.pack('>I', len(data)) + kind + data + struct.pack('>I', zlib.crc32(kind + data))
        with open(path, 'wb') as file:
            file.write(b'\\x89PNG\\r\\n\\x1a\\n' + part(b'IHDR', struct.pack('>IIBBBBB', 1, 1, 8, 0, 0, 0, 0)))
            file.write(part(b'IDAT', zlib.compress(b'\\0\\0')) + part(b'IEND', b''))
def figure(number=None): return _figures.setdefault(number or len(_figures) + 1, Figure())
def plot(*values): figure(1)
def get_fignums(): return sorted(_figures)
def close(which): _figures.clear()
def show(): pass
";

#[expect(
    clippy::disallowed_methods,
    reason = "tests have no configuration file"
)]
async fn place_with_matplotlib() -> Place {
    let python = std::env::var_os("GLASSHOUSE_TEST_PYTHON").map(PathBuf::from);
    let place = place_with(Options {
        python: python.or(options().python),
        ..options()
    })
    .await;
    if !place
        .sandbox
        .programs()
        .python_modules
        .iter()
        .any(|name| name == "matplotlib")
    {
        place.folder.put("matplotlib/__init__.py", b"").unwrap();
        place
            .folder
            .put("matplotlib/pyplot.py", STAND_IN.as_bytes())
            .unwrap();
    }
    place
}

#[tokio::test]
async fn open_figures_become_pictures() {
    let place = place_with_matplotlib().await;
    let mut session = place.session(Limits::default()).await;
    let done = cell(
        &mut session,
        "import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()\nplt.figure(2)\nNone",
    )
    .await;
    assert_eq!(
        done.pictures,
        ["figure-1-1.png", "figure-1-2.png"],
        "{done:?}"
    );
    assert_eq!(done.stderr.text, "");
    let png = place.folder.read("figure-1-1.png", 1_000_000).unwrap();
    assert!(png.starts_with(b"\x89PNG\r\n"));
    // They are closed, and nothing is written over.
    assert_eq!(
        cell(&mut session, "plt.get_fignums()").await.pictures,
        [""; 0]
    );
    place.folder.put("figure-3-1.png", b"mine").unwrap();
    assert_eq!(
        cell(&mut session, "plt.plot([1])").await.pictures,
        ["figure-3-1-2.png"]
    );
    assert_eq!(place.folder.read("figure-3-1.png", 10).unwrap(), b"mine");
}

#[tokio::test]
async fn pictures_that_are_none_are_not_passed_on() {
    let place = place().await;
    let mut session = place.session(Limits::default()).await;
    // A cell can say anything of pictures.
    let code = "
import sys, types, os
names = iter(['/etc/passwd', '../up.png', 'link.png', 'text.png', 'none.png', 'real.png'])
driver = sys._getframe(2).f_globals
driver['save_pictures'] = lambda cell: list(names)
os.symlink('/etc/passwd', 'link.png')
open('text.png', 'w').write('text')
open('real.png', 'wb').write(b'\\x89PNG\\r\\n')
1";
    assert_eq!(cell(&mut session, code).await.pictures, ["real.png"]);
    assert_eq!(value(&mut session, "2").await, "2");
}
