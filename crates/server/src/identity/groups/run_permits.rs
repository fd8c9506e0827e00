//! Permissions of the agents of a run, checked again before each call: its owner may leave a group during the run.

use std::sync::Arc;

use domain::{Problem, ProblemCode};

use super::{Groups, KeyLimit, Permissions, Resource};
use agent::agent_definition::is_built_in;

use crate::{identity::auth::Authority, messages};

/// The authority and the directory of a run.
pub struct RunPermits {
    groups: Arc<Groups>,
    authority: Arc<Authority>,
    key_limit: Option<Arc<KeyLimit>>,
    directory: Option<String>,
}

impl RunPermits {
    /// The permissions of a run with this authority, whose files are in this directory.
    #[must_use]
    pub fn new(
        groups: Arc<Groups>,
        authority: Authority,
        key_limit: Option<Arc<KeyLimit>>,
        directory: Option<String>,
    ) -> Self {
        Self {
            groups,
            authority: Arc::new(authority),
            key_limit,
            directory,
        }
    }

    /// The current permissions.
    #[must_use]
    pub fn now(&self) -> Permissions {
        self.groups
            .permit_of(Arc::clone(&self.authority))
            .limited_to(self.key_limit.clone())
    }

    /// Checks that an agent may continue with a model.
    ///
    /// # Errors
    /// `Forbidden` with a message.
    pub fn check(&self, agent: &str, model: &str) -> Result<(), Problem> {
        let permit = self.now();
        let not_yours = if !permit.allows(Resource::Model(model)) {
            messages::Limits::ModelNotYours {
                name: model.to_owned(),
            }
        } else if !allows_agent(&permit, agent) {
            messages::Limits::AgentNotYours {
                name: agent.to_owned(),
            }
        } else if let Some(directory) = self.lost_directory(&permit) {
            messages::Limits::WorkspaceNotYours {
                name: directory.to_owned(),
            }
        } else {
            return Ok(());
        };
        Err(Problem::new(ProblemCode::Forbidden, not_yours))
    }

    /// Whether an agent may use this tool now.
    #[must_use]
    pub fn allows_tool(&self, name: &str) -> bool {
        let permit = self.now();
        permit.allows(Resource::Tool(name)) && self.lost_directory(&permit).is_none()
    }

    /// Whether work may be delegated to this agent now.
    #[must_use]
    pub fn allows_agent(&self, name: &str) -> bool {
        allows_agent(&self.now(), name)
    }

    fn lost_directory(&self, permit: &Permissions) -> Option<&str> {
        self.directory
            .as_deref()
            .filter(|name| !permit.allows(Resource::Workspace(name)))
    }
}

/// The built-in agents are available to everybody.
fn allows_agent(permit: &Permissions, name: &str) -> bool {
    is_built_in(name) || permit.allows(Resource::Agent(name))
}
