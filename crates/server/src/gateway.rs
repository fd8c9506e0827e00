//! Models and agents: connections to model servers, the catalogue, health, prices, usage and limits.

pub mod agents;
pub(crate) mod caller_info;
pub mod discovery;
pub mod models;
pub mod prices;
pub mod usage;
pub mod work_mode;

use std::sync::Arc;

use domain::UserId;
use store::{Store, UserRole};

use crate::{
    error::ApiError,
    gateway::{
        agents::DefinedAgents,
        models::{Models, ResolvedModel},
        usage::Usage,
    },
    identity::{
        auth::{Authority, Caller},
        groups::{Groups, Permissions},
    },
    platform::built_in::{AGENT_PREFIX, BUILT_IN_AGENT},
};

/// Resolves models and agents for a caller, within permissions and limits.
pub struct Gateway {
    pub(crate) defined_agents: Arc<DefinedAgents>,
    pub(crate) groups: Arc<Groups>,
    pub(crate) models: Arc<Models>,
    pub(crate) store: Store,
    pub(crate) usage: Arc<Usage>,
}

impl Gateway {
    /// The caller's current permissions. A key never has more than its owner, and a person named by a front end never
    /// has permissions reserved for administrators.
    #[must_use]
    pub fn permit_of(&self, caller: &Caller) -> Permissions {
        self.limited_by_key(self.permit_without_key_limit(caller))
    }

    /// [`Gateway::permit_of`] without the key's limit.
    pub(crate) fn permit_without_key_limit(&self, caller: &Caller) -> Permissions {
        let is_admin = caller.user.role == UserRole::Admin && caller.person.is_none();
        self.groups.permit(caller.authority(), is_admin)
    }

    /// The model with this id, or the default one, for a run on the caller's account. Waits for the first listing of
    /// the model servers.
    ///
    /// # Errors
    /// 403 if the key does not cover it, 404 if there is none, 503 if there is no default model or its server has not
    /// listed its models yet.
    pub async fn resolve_for(
        &self,
        caller: &Caller,
        id: Option<&str>,
    ) -> Result<ResolvedModel, ApiError> {
        self.models.first_look().await;
        match id {
            Some(id) => caller.check_model(self.models.catalogue().meant(id))?,
            // The default model has an id of its own, and an agent that represents it.
            None if caller
                .check_model(&format!("{}{}", AGENT_PREFIX, BUILT_IN_AGENT))
                .is_ok() => {}
            None => {
                let permit = self.permit_without_key_limit(caller);
                if let Some(default) = self.models.catalogue().default_for(&permit).model() {
                    caller.check_model(&default.id)?;
                }
            }
        }
        self.resolve(id, &self.permit_of(caller))
    }

    /// The model with this id, or the default one, for a run on an account that another user writes for.
    ///
    /// # Errors
    /// 403, 404 and 503 as for [`Gateway::resolve_for`].
    pub(crate) async fn resolve_for_account(
        &self,
        account: UserId,
        id: Option<&str>,
    ) -> Result<ResolvedModel, ApiError> {
        self.models.first_look().await;
        self.resolve(id, &self.permit(Authority::of_account(account)))
    }
}
