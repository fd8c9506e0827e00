//! What the agents of a run may use, asked anew before each call: its owner may leave a group while it goes on.

use std::sync::Arc;

use domain::{Problem, ProblemCode, UserId};
use store::Payer;

use super::{Groups, Permit, Thing};
use crate::agents;

/// On whose account a run works, and where.
pub struct RunPermits {
    groups: Arc<Groups>,
    owner: UserId,
    payer: Payer,
    directory: Option<String>,
}

impl RunPermits {
    /// Of a run on this account, whose files are in this directory.
    #[must_use]
    pub fn new(groups: Arc<Groups>, owner: UserId, payer: Payer, directory: Option<String>) -> Self {
        Self { groups, owner, payer, directory }
    }

    /// What may be used now.
    #[must_use]
    pub fn now(&self) -> Permit {
        self.groups.permit_of(self.owner, &self.payer)
    }

    /// Whether an agent may go on with a model.
    ///
    /// # Errors
    /// `Forbidden` in words.
    pub fn check(&self, agent: &str, model: &str) -> Result<(), Problem> {
        let permit = self.now();
        let taken = if !permit.allows(Thing::Model(model)) {
            format!("the model {model}")
        } else if !allows_agent(&permit, agent) {
            format!("the agent {agent}")
        } else if let Some(directory) = self.lost_directory(&permit) {
            format!("the workspace {directory}")
        } else {
            return Ok(());
        };
        Err(Problem::new(ProblemCode::Forbidden, not_yours(&taken)))
    }

    /// Whether an agent may use this tool now.
    #[must_use]
    pub fn allows_tool(&self, name: &str) -> bool {
        let permit = self.now();
        permit.allows(Thing::Tool(name)) && self.lost_directory(&permit).is_none()
    }

    /// Whether work may be handed to this agent now.
    #[must_use]
    pub fn allows_agent(&self, name: &str) -> bool {
        allows_agent(&self.now(), name)
    }

    fn lost_directory(&self, permit: &Permit) -> Option<&str> {
        self.directory.as_deref().filter(|name| !permit.allows(Thing::Workspace(name)))
    }
}

/// The built-in ones are everybody's.
fn allows_agent(permit: &Permit, name: &str) -> bool {
    agents::is_built_in(name) || permit.allows(Thing::Agent(name))
}

/// Why a run does not go on.
fn not_yours(what: &str) -> String {
    format!("You may not use {what} any more: an administrator has changed what is for whom.")
}
