//! Whether agents can run programs on this machine. Detected in the background during startup, since starting Python
//! takes a while.

use std::{path::Path, time::Duration};

use agent::{Agents, Programs};
use domain::LocalizedText;
use sandbox::{Options, Sandbox, Unavailable};
use tokio::sync::SetOnce;

use crate::{
    messages,
    platform::config::{Config, ProgramSettings},
};

/// How long runs from before a restart wait for the result.
const PATIENCE: Duration = Duration::from_secs(10);

/// The result of the detection, once it is known.
#[derive(Debug, Default)]
pub struct ProgramsHere(SetOnce<Found>);

#[derive(Debug)]
enum Found {
    /// Programs can run, and these are the agents with the tools for it.
    Here(Programs, Box<Agents>),
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
        // Only called once, so it is never set already.
        drop(self.0.set(found));
    }

    /// Waits for the result, for a limited time.
    pub(crate) async fn known(&self) {
        drop(tokio::time::timeout(PATIENCE, self.0.wait()).await);
    }

    /// The agents with tools that run programs; `None` if there are none, or not yet.
    pub(crate) fn agents(&self) -> Option<&Agents> {
        match self.0.get()? {
            Found::Here(_, agents) => Some(agents),
            Found::Not(_) => None,
        }
    }

    /// The available programs, if any.
    pub(crate) fn here(&self) -> Option<&Programs> {
        match self.0.get()? {
            Found::Here(programs, _) => Some(programs),
            Found::Not(_) => None,
        }
    }

    /// Why there are none, if known.
    pub(crate) fn why_not(&self) -> Option<&LocalizedText> {
        match self.0.get()? {
            Found::Here(..) => None,
            Found::Not(why) => Some(why),
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
    Ok(Found::Here(programs, Box::new(agents)))
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
