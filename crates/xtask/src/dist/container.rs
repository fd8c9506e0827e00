//! Emulates a container engine for the Dockerfile's last stage: runs its steps in a root folder, and the resulting
//! image as its user, in namespaces.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, bail};

use super::{
    dockerfile::{Stage, Step},
    machine::{Machine, Start},
    output,
    root::{Root, Variables},
};
use crate::command::run;

/// The default `PATH` of an image.
const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// A root folder in which all steps were run, and the command to run in it.
pub(super) struct Image {
    root: Root,
    variables: Variables,
    folder: String,
    user: String,
    volumes: Vec<String>,
    ports: Vec<u16>,
    health: Vec<String>,
    entrypoint: Vec<String>,
    arguments: Vec<String>,
}

/// Options of a container.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Options {
    /// Masks parts of `/proc`, as engines do by default.
    pub(super) masked: bool,
}

impl Image {
    /// Runs the steps. `program` replaces the result of the earlier stages.
    ///
    /// # Errors
    /// If a step fails.
    pub(super) fn build(
        stage: &Stage,
        program: &Path,
        work: &Path,
        name: &str,
    ) -> anyhow::Result<Self> {
        let mut image = Self {
            root: Root::new(&release(&stage.base)?, work, name)?,
            variables: vec![("PATH".into(), PATH.into())],
            folder: "/".into(),
            user: "0:0".into(),
            volumes: Vec::new(),
            ports: Vec::new(),
            health: Vec::new(),
            entrypoint: Vec::new(),
            arguments: Vec::new(),
        };
        let mut given: Variables = Vec::new();
        for step in &stage.steps {
            match step {
                Step::Argument(name, value) => given.push((name.clone(), value.clone())),
                Step::Run(line) => {
                    let known = [given.clone(), image.variables.clone()].concat();
                    image.root.shell(line, &known)?;
                }
                Step::Copy {
                    from: Some(_),
                    sources,
                    target,
                } if is_program(sources) => {
                    let target = image.root.path().join(target.trim_start_matches('/'));
                    fs::copy(program, &target)
                        .with_context(|| format!("cannot copy to {}", target.display()))?;
                }
                Step::Copy { sources, .. } => {
                    bail!(
                        "the last stage copies {}, not the program",
                        sources.join(", ")
                    )
                }
                Step::Variable(name, value) => image.variables.push((name.clone(), value.clone())),
                Step::Folder(folder) => image.folder.clone_from(folder),
                Step::User(user) => image.user.clone_from(user),
                Step::Volume(path) => image.volumes.push(path.clone()),
                Step::Port(port) => image.ports.push(*port),
                Step::Health(words) => image.health.clone_from(words),
                Step::Entrypoint(words) => image.entrypoint.clone_from(words),
                Step::Arguments(words) => image.arguments.clone_from(words),
            }
        }
        if image.user.starts_with("0:") || image.health.is_empty() || image.volumes.len() != 1 {
            bail!("the image needs a user that is not root, a HEALTHCHECK and one VOLUME");
        }
        Ok(image)
    }

    /// A new volume, initialized with the image's folder and its owner.
    ///
    /// # Errors
    /// If it cannot be created.
    pub(super) fn new_volume(&self, work: &Path, name: &str) -> anyhow::Result<PathBuf> {
        let volume = work.join(name);
        let from = self
            .root
            .path()
            .join(self.volumes[0].trim_start_matches('/'));
        run(Command::new("cp").arg("--archive").arg(&from).arg(&volume))?;
        Ok(volume)
    }

    /// The path of the volume in a container.
    pub(super) fn volume_path(&self) -> &str {
        &self.volumes[0]
    }

    /// The port exposed by the image.
    ///
    /// # Errors
    /// If it exposes none.
    pub(super) fn port(&self) -> anyhow::Result<u16> {
        self.ports
            .first()
            .copied()
            .context("the image has no EXPOSE")
    }

    /// The health check command.
    pub(super) fn health(&self) -> &[String] {
        &self.health
    }

    /// Starts the image's server.
    ///
    /// # Errors
    /// If it does not start.
    pub(super) fn start(&self, volume: &Path, options: Options) -> anyhow::Result<Machine> {
        self.run(volume, &self.arguments, options)
    }

    /// Runs the image's program with these arguments to completion.
    ///
    /// # Errors
    /// If it fails.
    pub(super) fn run_once(&self, volume: &Path, arguments: &[&str]) -> anyhow::Result<String> {
        let arguments: Vec<String> = arguments.iter().map(|&word| word.to_owned()).collect();
        output(&mut Machine::command(&self.how(
            volume,
            &arguments,
            Options::default(),
        )))
    }

    fn run(
        &self,
        volume: &Path,
        arguments: &[String],
        options: Options,
    ) -> anyhow::Result<Machine> {
        Machine::start(&self.how(volume, arguments, options))
    }

    fn how(&self, volume: &Path, arguments: &[String], options: Options) -> Start {
        let mut settings = vec![
            ("LOOPBACK".to_owned(), "1".to_owned()),
            ("READ_ONLY".to_owned(), "1".to_owned()),
            (
                "VOLUMES".to_owned(),
                format!("{} {}", volume.display(), self.volumes[0]),
            ),
        ];
        if options.masked {
            settings.push(("MASKED".into(), "1".into()));
        }
        Start {
            root: self.root.path().to_owned(),
            settings,
            words: [self.as_user(), self.entrypoint.clone(), arguments.to_vec()].concat(),
        }
    }

    /// The command prefix that switches to the image's user, without privileges, and with only its environment
    /// variables.
    pub(super) fn as_user(&self) -> Vec<String> {
        let (user, group) = self
            .user
            .split_once(':')
            .unwrap_or((&self.user, &self.user));
        let mut words: Vec<String> = vec!["setpriv".into()];
        words.extend([
            format!("--reuid={user}"),
            format!("--regid={group}"),
            "--clear-groups".into(),
        ]);
        words.extend(
            [
                "--bounding-set=-all",
                "--inh-caps=-all",
                "--no-new-privs",
                "--",
            ]
            .map(str::to_owned),
        );
        words.extend([
            "env".into(),
            "-i".into(),
            format!("--chdir={}", self.folder),
        ]);
        words.extend(
            self.variables
                .iter()
                .map(|(name, value)| format!("{name}={value}")),
        );
        words
    }
}

/// Whether the copied files are the result of the earlier stages.
fn is_program(sources: &[String]) -> bool {
    matches!(sources, [one] if one.ends_with("/glasshouse"))
}

/// `bookworm` of `debian:bookworm-slim`.
pub(super) fn release(base: &str) -> anyhow::Result<String> {
    let tag = base
        .strip_prefix("debian:")
        .with_context(|| format!("{base} is no Debian, which can be made here"))?;
    Ok(tag.trim_end_matches("-slim").to_owned())
}
