//! Runs a single program to completion.

use std::{
    fs::File,
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant},
};

use tokio::time::sleep;

use crate::{
    Ended, Error, Folder, Limit, Limits, Outcome, Sandbox, Stream,
    running::Running,
    spec::{Report, Spec},
    streams::Streams,
};

/// A program to run, created by [`Sandbox::command`] and [`Sandbox::shell`].
#[derive(Debug, Clone)]
pub struct Command {
    sandbox: Sandbox,
    folder: Arc<PathBuf>,
    program: String,
    args: Vec<String>,
    environment: Vec<(String, String)>,
    limits: Limits,
}

impl Sandbox {
    /// A program with `folder` as its working directory, which besides `/tmp` is the only writable place. `program` is
    /// a path in the sandbox, or a name that is searched for in its `PATH`.
    #[must_use]
    pub fn command(&self, folder: &Folder, program: &str) -> Command {
        Command {
            sandbox: self.clone(),
            folder: folder.shared_path(),
            program: program.to_owned(),
            args: Vec::new(),
            environment: self.environment(),
            limits: Limits::default(),
        }
    }

    /// A script for `/bin/sh`.
    #[must_use]
    pub fn shell(&self, folder: &Folder, script: &str) -> Command {
        self.command(folder, "/bin/sh").arg("-c").arg(script)
    }
}

impl Command {
    /// Adds an argument.
    #[must_use]
    pub fn arg(mut self, arg: impl Into<String>) -> Self {
        self.args.push(arg.into());
        self
    }

    /// Sets an environment variable. The server's environment is not inherited.
    #[must_use]
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.environment.retain(|(known, _)| known != name);
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Sets the resource limits.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Runs it with empty input. Output is passed to `on_output` as it arrives. When this returns, no process of the
    /// program is left; when dropped, everything is killed.
    ///
    /// # Errors
    ///
    /// [`Error::TooLong`], or [`Error::Start`], also if the program does not exist.
    pub async fn run(
        self,
        mut on_output: impl FnMut(Stream, &str) + Send,
    ) -> Result<Outcome, Error> {
        let nothing = File::open("/dev/null").map_err(|error| Error::Start(error.to_string()))?;
        let spec = Spec {
            view: self.sandbox.view().clone(),
            folder: self.folder.to_path_buf(),
            program: self.program,
            args: self.args,
            environment: self.environment,
            limits: self.limits,
            session: false,
            user: self.sandbox.user(),
        };
        let (mut running, stdout, stderr) =
            Running::start(&self.sandbox, &spec, nothing.into()).await?;
        let began = Instant::now();
        let mut streams = Streams::new(stdout, stderr, spec.limits.output_bytes);
        let ended = wait(&mut running, &mut streams, &spec.limits, &mut on_output).await;
        let time_ms = crate::millis(began.elapsed());
        running.end().await;
        streams.drain(&mut on_output).await;
        let (stdout, stderr) = streams.take(&mut on_output);
        Ok(Outcome {
            ended,
            stdout,
            stderr,
            time_ms,
        })
    }
}

async fn wait(
    running: &mut Running,
    streams: &mut Streams,
    limits: &Limits,
    on_output: &mut (impl FnMut(Stream, &str) + Send),
) -> Ended {
    let output = async {
        streams.pump(on_output).await;
        // The program may continue after closing its outputs.
        std::future::pending().await
    };
    let end = async {
        loop {
            match running.report().await {
                Some(Report::Ended(ended)) => return ended,
                Some(_) => {}
                // The helper was killed, most likely by the kernel when out of memory.
                None => return Ended::Signal(libc::SIGKILL),
            }
        }
    };
    tokio::select! {
        ended = end => ended,
        () = sleep(Duration::from_millis(limits.wall_ms)) => Ended::Limit(Limit::Wall),
        never = output => never,
    }
}
