//! Open WebUI as published, in a separate Python environment, for the opt-in test.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, bail};

use crate::command::{find_program, parts_folder, run, variable};

const VERSION: &str = "0.12.4";
/// It requires one of these; its packages refuse newer ones.
const PYTHONS: [&str; 3] = ["python3.12", "python3.11", "python3"];
const FITS: &str = "import sys; sys.exit(not (3, 11) <= sys.version_info[:2] < (3, 13))";
/// Packages needed only by its own speech and embedding models: 3 GB. No Python satisfies these markers.
const LEFT_OUT: &str = "torch ; python_version < \"3\"\n\
    sentence-transformers ; python_version < \"3\"\n\
    accelerate ; python_version < \"3\"\n";

/// Installs it, once. Returns its program, or the one in `OPEN_WEBUI_BIN`.
pub(crate) fn install() -> anyhow::Result<PathBuf> {
    if let Some(named) = variable("OPEN_WEBUI_BIN").map(PathBuf::from) {
        if !named.is_file() {
            bail!(
                "OPEN_WEBUI_BIN is {}, where there is no program",
                named.display()
            );
        }
        return Ok(named);
    }
    let folder = parts_folder()?.join(format!("open-webui-{VERSION}"));
    let environment = folder.join("environment");
    let program = environment.join("bin/open-webui");
    let stamp = folder.join("installed");
    if stamp.is_file() && program.is_file() {
        println!("Open WebUI: {VERSION}, as installed before.");
        return Ok(program);
    }
    println!("Open WebUI: installing {VERSION}, 1.5 GB, without its speech and embedding models.");
    let python = python()?;
    fs::create_dir_all(&folder)?;
    let overrides = folder.join("overrides.txt");
    fs::write(&overrides, LEFT_OUT).context("cannot write which packages to leave out")?;
    let uv = install_uv(&python, &folder)?;
    run(Command::new(&uv)
        .args(["venv", "-q", "--clear", "-p"])
        .arg(&python)
        .arg(&environment))?;
    let mut pip = Command::new(&uv);
    pip.args(["pip", "install", "-q", "--python"])
        .arg(environment.join("bin/python"));
    run(pip
        .arg("--overrides")
        .arg(&overrides)
        .arg(format!("open-webui=={VERSION}")))?;
    fs::write(stamp, VERSION).context("cannot note that it is installed")?;
    Ok(program)
}

/// Unlike pip, uv can leave out dependencies of a package.
fn install_uv(python: &Path, folder: &Path) -> anyhow::Result<PathBuf> {
    let environment = folder.join("uv");
    run(Command::new(python)
        .args(["-m", "venv", "--clear"])
        .arg(&environment))
    .context("Open WebUI needs Python with venv")?;
    run(Command::new(environment.join("bin/python")).args(["-m", "pip", "install", "-q", "uv"]))?;
    Ok(environment.join("bin/uv"))
}

fn python() -> anyhow::Result<PathBuf> {
    let fitting = PYTHONS
        .iter()
        .filter_map(|name| find_program(&[name]))
        .find(|python| {
            let checked = Command::new(python).args(["-c", FITS]).output();
            checked.is_ok_and(|output| output.status.success())
        });
    fitting.context("Open WebUI needs Python 3.11 or 3.12")
}
