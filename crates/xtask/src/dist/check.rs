//! Tests the packages in their target systems: installs, uses, updates and removes them, and restores a backup.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, ensure};

use super::{
    container::{Image, Options, release},
    deb::{self, Compression, PROGRAM, Package, SETTINGS},
    dockerfile::{self, Stage},
    documented,
    machine::{Machine, Start},
    root::{self, Root},
    using::{Made, Server},
};
use crate::{
    command::{find_program, root as repository, run as run_command},
    parts::TemporaryFolder,
};

/// Services that would change kernel settings, which are this machine's.
const KEPT_OFF: &str = "systemctl mask systemd-sysctl.service systemd-modules-load.service sys-kernel-debug.mount \
                        sys-kernel-tracing.mount dev-hugepages.mount";

const DATA: &str = "/var/lib/glasshouse";

/// Tests all packages.
///
/// # Errors
/// If a check fails, with its description.
pub(super) fn run(shipped: &Package<'_>, archive: &Path) -> anyhow::Result<()> {
    root::needs()?;
    let work = TemporaryFolder::new("glasshouse-dist-check")?;
    let dockerfile = fs::read_to_string(repository().join("Dockerfile"))
        .context("cannot read the Dockerfile")?;
    let stages = dockerfile::parse(&dockerfile)?;
    let last = stages.last().context("the Dockerfile has no stage")?;
    image(last, shipped.program, work.path()).context("the image")?;
    println!("The image does what it should.");
    let release = release(&last.base)?;
    documented::try_archive(&release, archive, work.path()).context("the archive")?;
    println!("The archive does what it should.");
    package(&release, shipped, archive, work.path()).context("the package for Debian")?;
    println!("The package for Debian, and the archive as a service, do what they should.");
    Ok(())
}

fn image(stage: &Stage, program: &Path, work: &Path) -> anyhow::Result<()> {
    let image = Image::build(stage, program, work, "image")?;
    let volume = image.new_volume(work, "volume")?;
    let mut machine = image.start(&volume, Options::default())?;
    let ready = machine.says("Glasshouse is ready: ")?;
    let token = ready
        .split_once("/setup?token=")
        .context("it prints no link to set it up with")?
        .1
        .to_owned();
    machine
        .exec(&[image.as_user(), image.health().to_vec()].concat())
        .context("its HEALTHCHECK")?;
    let mut server = in_container(&mut machine, &image)?;
    let made = server.first_use(Some(&token))?;
    // The container is allowed whatever this machine allows.
    server
        .programs(&made)?
        .map_err(|why| anyhow::anyhow!("agents cannot run programs: {why}"))?;
    server.command(&["backup", &format!("{}/copy.gz", image.volume_path())])?;
    machine.stop()?;
    let seal = fs::read(volume.join("secret.key")).context("there is no key file in the volume")?;
    only_owner_reads(&volume.join("secret.key"))?;

    // An update is another image with the same volume, this time run with the default options of container engines.
    let newer = Image::build(stage, program, work, "newer-image")?;
    let mut machine = newer.start(&volume, Options { masked: true })?;
    let ready = machine.says("Glasshouse is ready: ")?;
    ensure!(
        !ready.contains("token"),
        "it asks to be set up again: {ready}"
    );
    let mut server = in_container(&mut machine, &newer)?;
    server.still_has(&made)?;
    ensure!(
        server.programs(&made)?.is_err(),
        "it says that programs work where /proc is covered"
    );
    machine.stop()?;
    ensure!(
        fs::read(volume.join("secret.key"))? == seal,
        "the key file has changed"
    );

    // The backup is restored into an empty volume.
    let other = newer.new_volume(work, "other-volume")?;
    run_command(Command::new("mv").arg(volume.join("copy.gz")).arg(&other))?;
    newer.run_once(
        &other,
        &["restore", &format!("{}/copy.gz", newer.volume_path())],
    )?;
    let mut machine = newer.start(&other, Options::default())?;
    machine.says("Glasshouse is ready: ")?;
    in_container(&mut machine, &newer)?.still_has(&made)?;
    machine.stop()?;
    ensure!(
        fs::read(other.join("secret.key"))? == seal,
        "the key file did not come back"
    );
    Ok(())
}

fn in_container<'a>(machine: &'a mut Machine, image: &Image) -> anyhow::Result<Server<'a>> {
    let program = [image.as_user(), vec!["glasshouse".to_owned()]].concat();
    Ok(Server {
        machine,
        port: image.port()?,
        program,
        flags: Vec::new(),
    })
}

fn package(
    release: &str,
    shipped: &Package<'_>,
    archive: &Path,
    work: &Path,
) -> anyhow::Result<()> {
    let root = Root::new(release, work, "machine")?;
    let newer = format!("{}+newer", shipped.version);
    let shipped = Package {
        compression: Compression::None,
        ..*shipped
    };
    let old = pack(&shipped, work)?;
    let new = pack(
        &Package {
            version: &newer,
            ..shipped
        },
        work,
    )?;
    for file in [&old, &new] {
        run_command(Command::new("cp").arg(file).arg(root.path().join("root")))?;
    }
    let name = |file: &Path| {
        format!(
            "/root/{}",
            file.file_name().unwrap_or_default().to_string_lossy()
        )
    };
    let install = format!(
        "apt-get install -y --no-install-recommends systemd dbus python3 {}",
        name(&old)
    );
    root.shell(
        &format!("apt-get update && {install} && {KEPT_OFF}"),
        &Vec::new(),
    )?;
    if find_program(&["systemd-analyze"]).is_some() {
        let mut verify = Command::new("systemd-analyze");
        run_command(
            verify
                .arg(format!("--root={}", root.path().display()))
                .args(["verify", "glasshouse.service"]),
        )?;
    }

    let words = [
        "env",
        "-i",
        "container=glasshouse",
        "/lib/systemd/systemd",
        "--system",
    ]
    .map(str::to_owned);
    let start = Start {
        root: root.path().to_owned(),
        settings: vec![("LOOPBACK".into(), "1".into())],
        words: words.to_vec(),
    };
    let mut machine = Machine::start_systemd(&start)?;
    // It was enabled on installation, so it starts with the machine.
    let mut server = as_service(&mut machine);
    server.is_ready()?;
    let made = server.first_use(None)?;
    server
        .programs(&made)?
        .map_err(|why| anyhow::anyhow!("agents of the service cannot run programs: {why}"))?;
    let data = root.path().join(DATA.trim_start_matches('/'));
    let seal =
        fs::read(data.join("secret.key")).context("there is no key file in the data folder")?;
    only_owner_reads(&data.join("secret.key"))?;

    // An update keeps data, keys and the administrator's settings, and restarts the service.
    let settings = root.path().join(SETTINGS.trim_start_matches('/'));
    let written = format!(
        "{}\n[log]\nlevel = \"debug\"\n",
        fs::read_to_string(&settings)?
    );
    fs::write(&settings, &written)?;
    let before = main_process(&server)?;
    server.machine.exec(&["dpkg", "--install", &name(&new)])?;
    server.is_ready()?;
    ensure!(
        main_process(&server)? != before,
        "the service was not started again"
    );
    ensure!(
        fs::read_to_string(&settings)? == written,
        "the settings were overwritten"
    );
    ensure!(
        fs::read(data.join("secret.key"))? == seal,
        "the key file has changed"
    );
    server.still_has(&made)?;

    copy_and_bring_back(&mut server, &made)?;
    remove(&server, &data)?;

    // The machine is as good as new without what a removed package leaves.
    let leftovers = format!("rm -r {DATA} {DATA}-before /etc/glasshouse; userdel glasshouse");
    server.machine.exec(&["sh", "-c", &leftovers])?;
    documented::download(archive, &root)?;
    server.machine.exec(&documented::install_as_service()?)?;
    server.is_ready()?;
    let made = server.first_use(None)?;
    server.programs(&made)?.map_err(|why| {
        anyhow::anyhow!("agents of the archive's service cannot run programs: {why}")
    })
}

fn pack(package: &Package<'_>, work: &Path) -> anyhow::Result<PathBuf> {
    Ok(work.join(deb::make(package, work, work)?))
}

fn as_service(machine: &mut Machine) -> Server<'_> {
    let as_user = [
        "setpriv",
        "--reuid=glasshouse",
        "--regid=glasshouse",
        "--init-groups",
        "--",
        PROGRAM,
    ];
    let program = as_user.map(str::to_owned).to_vec();
    Server {
        machine,
        port: 8000,
        program,
        flags: vec!["--config".into(), SETTINGS.into()],
    }
}

fn main_process(server: &Server<'_>) -> anyhow::Result<String> {
    server.machine.exec(&[
        "systemctl",
        "show",
        "--property=MainPID",
        "--value",
        "glasshouse",
    ])
}

fn copy_and_bring_back(server: &mut Server<'_>, made: &Made) -> anyhow::Result<()> {
    server.command(&["backup", "/var/tmp/copy.gz"])?;
    server.machine.exec(&["systemctl", "stop", "glasshouse"])?;
    server
        .machine
        .exec(&["mv", DATA, &format!("{DATA}-before")])?;
    server.machine.exec(&[
        "install",
        "-d",
        "-o",
        "glasshouse",
        "-g",
        "glasshouse",
        "-m",
        "0700",
        DATA,
    ])?;
    server.command(&["restore", "/var/tmp/copy.gz"])?;
    server.machine.exec(&["systemctl", "start", "glasshouse"])?;
    server.is_ready()?;
    server.still_has(made)
}

fn remove(server: &Server<'_>, data: &Path) -> anyhow::Result<()> {
    server.machine.exec(&["dpkg", "--purge", "glasshouse"])?;
    let state = server
        .machine
        .exec(&["systemctl", "is-active", "glasshouse"]);
    ensure!(state.is_err(), "the service runs on without its package");
    ensure!(
        data.join("glasshouse.db").is_file(),
        "the data went with the package"
    );
    Ok(())
}

fn only_owner_reads(file: &Path) -> anyhow::Result<()> {
    use std::os::unix::fs::MetadataExt;
    let metadata = fs::metadata(file).with_context(|| format!("there is no {}", file.display()))?;
    ensure!(
        metadata.uid() != 0,
        "{} belongs to root, so the server runs as root",
        file.display()
    );
    ensure!(
        metadata.mode() & 0o077 == 0,
        "others may read {}",
        file.display()
    );
    Ok(())
}
