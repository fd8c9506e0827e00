//! Whether agents can run programs on this machine. Detected in the background during startup, since starting Python
//! takes a while.

use std::{path::Path, sync::Arc, time::Duration};

use agent::{Agents, Programs};
use domain::LocalizedText;
use sandbox::{Options, Sandbox, Unavailable};
use tokio::sync::watch;

use crate::{
    messages,
    platform::config::{Config, ProgramSettings},
};

/// How long runs from before a restart wait for the result.
const PATIENCE: Duration = Duration::from_secs(10);

/// The result of the detection, once it is known. What runners have can change later.
#[derive(Debug)]
pub struct ProgramsHere(watch::Sender<Option<Found>>);

impl Default for ProgramsHere {
    fn default() -> Self {
        Self(watch::Sender::new(None))
    }
}

#[derive(Debug, Clone)]
enum Found {
    /// Programs can run, and these are the agents with the tools for it.
    Here(Programs, Arc<Agents>),
    /// Programs cannot run, for this reason.
    Not(LocalizedText),
}

impl ProgramsHere {
    /// Removes idle directories.
    pub(crate) fn sweep(&self) {
        if let Some(programs) = self.here() {
            programs.sweep();
        }
    }

    /// Runs the detection. `agents` are those without the tools. Programs never see the data directory, except for the
    /// directories created in it for them.
    pub(crate) async fn find(&self, config: &Config, agents: &Agents) {
        let settings = config.programs.as_ref();
        let found = match settings {
            None => Found::Not(messages::Tools::ProgramsOff.into()),
            Some(settings) => open(settings, &config.data_dir, agents)
                .await
                .unwrap_or_else(Found::Not),
        };
        match &found {
            Found::Here(programs, _) => {
                let sandbox::Programs {
                    python_version,
                    python_modules,
                    shell,
                    latex,
                } = programs.found();
                let limits = programs.accounting();
                tracing::info!(%python_version, ?python_modules, shell, ?latex, %limits, "agents can run programs");
            }
            Found::Not(why) if settings.is_some() => {
                tracing::warn!("agents cannot run programs. {why}")
            }
            Found::Not(_) => {}
        }
        self.0.send_replace(Some(found));
    }

    /// Programs run, and these are the agents with the tools for it.
    pub(crate) fn set_available(&self, programs: Programs, agents: Agents) {
        let found = Found::Here(programs, Arc::new(agents));
        self.0.send_replace(Some(found));
    }

    /// Programs cannot run, for this reason.
    pub(crate) fn set_unavailable(&self, why: impl Into<LocalizedText>) {
        self.0.send_replace(Some(Found::Not(why.into())));
    }

    /// Waits for the result, for a limited time.
    pub(crate) async fn known(&self) {
        let mut known = self.0.subscribe();
        let known = known.wait_for(Option::is_some);
        drop(tokio::time::timeout(PATIENCE, known).await);
    }

    /// The agents with tools that run programs; `None` if there are none, or not yet.
    pub(crate) fn agents(&self) -> Option<Arc<Agents>> {
        match &*self.0.borrow() {
            Some(Found::Here(_, agents)) => Some(Arc::clone(agents)),
            Some(Found::Not(_)) | None => None,
        }
    }

    /// The available programs, if any.
    pub(crate) fn here(&self) -> Option<Programs> {
        match &*self.0.borrow() {
            Some(Found::Here(programs, _)) => Some(programs.clone()),
            Some(Found::Not(_)) | None => None,
        }
    }

    /// Why there are none, if known.
    pub(crate) fn why_not(&self) -> Option<LocalizedText> {
        match &*self.0.borrow() {
            Some(Found::Not(why)) => Some(why.clone()),
            Some(Found::Here(..)) | None => None,
        }
    }
}

async fn open(
    settings: &ProgramSettings,
    data_dir: &Path,
    agents: &Agents,
) -> Result<Found, LocalizedText> {
    let hidden = std::path::absolute(data_dir).map_err(|error| no_folder(&error))?;
    let options = Options {
        python: settings.python.clone(),
        hidden: vec![hidden.clone()],
        ..Options::default()
    };
    let sandbox = Sandbox::find(options).await.map_err(why_not)?;
    let programs = Programs::open(sandbox, hidden.join("programs"), settings.limits.clone());
    let programs = programs.map_err(|error| no_folder(&error))?;
    let agents = programs.equip(agents).map_err(|failure| failure.0)?;
    Ok(Found::Here(programs, Arc::new(agents)))
}

fn no_folder(error: &std::io::Error) -> messages::Tools {
    messages::Tools::ProgramsNoFolder {
        why: error.to_string(),
    }
}

fn why_not(unavailable: Unavailable) -> messages::Tools {
    match unavailable {
        Unavailable::NotLinux => messages::Tools::ProgramsNotLinux,
        Unavailable::Python(why) => messages::Tools::ProgramsNoPython { why },
        Unavailable::Kernel(why) => messages::Tools::ProgramsKernel { why },
        Unavailable::Broken(why) => messages::Tools::ProgramsBroken { why },
    }
}
