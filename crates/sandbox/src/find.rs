//! Sets up the sandbox and verifies it by running a probe program in it.

use std::{
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use serde::Deserialize;

use crate::{
    Collected, Ended, Error, Folder, Limits, Options, Programs, Unavailable,
    groups::Groups,
    python::{self, Python},
    spec::{View, WORK},
    view,
};

/// Runs untrusted programs. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Sandbox {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    python: Python,
    programs: Programs,
    view: View,
    helper: PathBuf,
    user: u32,
    groups: Result<Groups, String>,
}

/// The probe, which reports what is available inside and checks that nothing else is accessible.
const LOOK: &str = "import importlib.util as u, json, os, platform, shutil, sys
def there(name):
    try: return u.find_spec(name) is not None
    except Exception: return False
seen = [p for p in ['/etc/shadow', '/etc/ssh', '/sys', '/var/log'] if os.path.exists(p)]
seen += [p for p in sys.argv[1:] if os.path.isdir(p) and os.listdir(p)]
if os.getuid() == 0: seen.append('rights of root')
if len([p for p in os.listdir('/proc') if p.isdigit()]) > 2: seen.append('other processes')
if [l for l in open('/proc/net/dev').readlines()[2:] if l.split(':')[0].strip() != 'lo']: seen.append('the network')
try:
    open('/usr/glasshouse-probe', 'w')
    seen.append('a writable /usr')
except OSError: pass
open('probe', 'w').write('x')
modules = 'numpy pandas matplotlib scipy sympy PIL requests openpyxl sklearn'.split()
latex = 'tectonic latexmk lualatex xelatex pdflatex'.split()
print(json.dumps({'version': platform.python_version(), 'modules': [m for m in modules if there(m)],
    'latex': [l for l in latex if shutil.which(l)], 'shell': os.access('/bin/sh', os.X_OK), 'seen': seen}))";

#[derive(Deserialize)]
struct Look {
    version: String,
    modules: Vec<String>,
    latex: Vec<String>,
    shell: bool,
    seen: Vec<String>,
}

impl Sandbox {
    /// Finds Python, and runs a small program in the sandbox to verify that it works. Takes about a tenth of a second;
    /// to be called once, at server start.
    ///
    /// # Errors
    ///
    /// If there can be no sandbox; then nothing can be run.
    pub async fn find(options: Options) -> Result<Self, Unavailable> {
        if options.user == 0 {
            return Err(Unavailable::Kernel(
                "programs must not run as root, user 0".into(),
            ));
        }
        let python = python::find(options.python.as_deref()).await?;
        let inner = Inner {
            view: view::make(&python, &options.hidden),
            python,
            programs: Programs::default(),
            // The running program, even if its file is replaced meanwhile.
            helper: options.helper.unwrap_or_else(|| "/proc/self/exe".into()),
            user: options.user,
            groups: Groups::find(),
        };
        let sandbox = Self {
            inner: Arc::new(inner),
        };
        let programs = sandbox.look_around(&options.hidden).await?;
        let Some(mut inner) = Arc::into_inner(sandbox.inner) else {
            return Err(Unavailable::Broken("its trial goes on".into()));
        };
        inner.programs = programs;
        Ok(Self {
            inner: Arc::new(inner),
        })
    }

    /// The programs available in it.
    #[must_use]
    pub fn programs(&self) -> &Programs {
        &self.inner.programs
    }

    /// The folder at `path`, created if it does not exist. If the server runs as root, it is given to the programs'
    /// user; existing contents are unchanged.
    ///
    /// # Errors
    ///
    /// If it cannot be created or is not a folder.
    pub fn folder(&self, path: &Path) -> std::io::Result<Folder> {
        Folder::open(
            path,
            rustix::process::geteuid()
                .is_root()
                .then_some(self.inner.user),
        )
    }

    pub(crate) fn view(&self) -> &View {
        &self.inner.view
    }

    pub(crate) fn helper(&self) -> &Path {
        &self.inner.helper
    }

    /// How the memory and CPU time of programs are accounted, as a sentence for an administrator.
    #[must_use]
    pub fn accounting(&self) -> String {
        match &self.inner.groups {
            Ok(groups) => format!("the kernel limits each program by a control group in {groups}"),
            Err(why) => {
                format!(
                    "each program's helper adds up what its processes use; no control groups: {why}"
                )
            }
        }
    }

    pub(crate) fn groups(&self) -> Option<&Groups> {
        self.inner.groups.as_ref().ok()
    }

    pub(crate) fn user(&self) -> u32 {
        self.inner.user
    }

    /// Python's path in the sandbox, which is the same as on the host.
    pub(crate) fn python(&self) -> String {
        self.inner.python.executable.display().to_string()
    }

    /// The complete environment of programs.
    pub(crate) fn environment(&self) -> Vec<(String, String)> {
        let own = self
            .inner
            .python
            .executable
            .parent()
            .unwrap_or(Path::new("/usr/bin"));
        let path = format!("{}:/usr/local/bin:/usr/bin:/bin", own.display());
        [
            ("PATH", path.as_str()),
            ("HOME", WORK),
            ("USER", "user"),
            ("TMPDIR", "/tmp"),
            ("LANG", "C.UTF-8"),
            ("TZ", "UTC"),
            ("TERM", "dumb"),
            ("PYTHONDONTWRITEBYTECODE", "1"),
            ("PYTHONUNBUFFERED", "1"),
            ("MPLBACKEND", "Agg"),
            ("MPLCONFIGDIR", "/tmp/matplotlib"),
            ("XDG_CACHE_HOME", "/tmp/cache"),
            ("TEXMFVAR", "/tmp/texmf"),
            // Each thread of these reserves memory, which on a machine with many cores exceeds the limit.
            ("OPENBLAS_NUM_THREADS", "2"),
            ("OMP_NUM_THREADS", "2"),
            ("MALLOC_ARENA_MAX", "2"),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into()
    }

    async fn look_around(&self, hidden: &[PathBuf]) -> Result<Programs, Unavailable> {
        let disk =
            |error: std::io::Error| Unavailable::Broken(format!("no folder for a trial: {error}"));
        let path = trial_folder().map_err(disk)?;
        let looked = self.look_from(&path, hidden).await;
        // It is useless, and in a place that is cleaned anyway.
        let _ = std::fs::remove_dir_all(&path);
        looked
    }

    async fn look_from(&self, path: &Path, hidden: &[PathBuf]) -> Result<Programs, Unavailable> {
        let broken = |text: String| Unavailable::Broken(text);
        let folder = self
            .folder(path)
            .map_err(|error| broken(error.to_string()))?;
        let mut command = self
            .command(&folder, &self.python())
            .arg("-I")
            .arg("-c")
            .arg(LOOK);
        for path in hidden {
            command = command.arg(path.display().to_string());
        }
        let wall_ms = crate::millis(Duration::from_secs(30));
        let run = command
            .limits(Limits {
                wall_ms,
                ..Limits::default()
            })
            .run(|_, _| {});
        let outcome = run.await.map_err(|error| match error {
            Error::Start(why) => Unavailable::Kernel(why),
            error => broken(error.to_string()),
        })?;
        if outcome.ended != Ended::Exit(0) {
            return Err(broken(format!(
                "{}; {}",
                outcome.ended,
                last_line(&outcome.stderr)
            )));
        }
        let look: Look = serde_json::from_str(&outcome.stdout.text)
            .map_err(|error| broken(error.to_string()))?;
        if !look.seen.is_empty() {
            return Err(broken(format!(
                "programs in it see {}",
                look.seen.join(", ")
            )));
        }
        if folder.read("probe", 1).ok().as_deref() != Some(b"x") {
            return Err(broken("what a program wrote did not arrive".into()));
        }
        let Look {
            version,
            modules,
            latex,
            shell,
            ..
        } = look;
        Ok(Programs {
            python_version: version,
            python_modules: modules,
            shell,
            latex,
        })
    }
}

/// A newly created folder, which cannot have been prepared by others.
fn trial_folder() -> std::io::Result<PathBuf> {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let base = std::env::temp_dir();
    let process = std::process::id();
    let mut tries = 0;
    loop {
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = base.join(format!("glasshouse-sandbox-{process}-{number}"));
        match std::fs::create_dir(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists && tries < 100 => {
                tries += 1
            }
            made => return made.map(|()| path),
        }
    }
}

fn last_line(collected: &Collected) -> &str {
    collected
        .text
        .trim()
        .lines()
        .last()
        .unwrap_or("it said nothing")
}
