//! Agents defined by an administrator, in the configuration file or in the settings.

mod warnings;

pub(crate) use warnings::AgentChecks;

use std::{
    collections::HashSet,
    sync::{Arc, PoisonError, RwLock},
};

use agent::{AgentDefinition, AgentSpec, Agents};
use domain::ProblemCode;
use store::{Store, StoreError};

use crate::{
    error::ApiError,
    gateway::{
        Gateway,
        models::{Models, ResolvedModel, did_you_mean, nearest},
        work_mode::research_of_model,
    },
    identity::{
        auth::Authority,
        groups::{KeyLimit, Permissions, Resource},
    },
    messages,
    platform::{
        built_in::{AGENT_PREFIX, BUILT_IN_AGENT},
        clock::Clock,
    },
};

/// The maximum number of agents created in the settings.
const MAX_AGENTS: usize = 100;

/// All defined agents, those of the configuration file first.
pub struct DefinedAgents {
    store: Store,
    known: RwLock<Arc<[KnownAgent]>>,
    from_file: Vec<KnownAgent>,
    /// Held while the list changes, so that an older list never replaces a newer one.
    changing: tokio::sync::Mutex<()>,
}

/// A defined agent.
#[derive(Debug, Clone)]
pub struct KnownAgent {
    /// Its definition.
    pub definition: Arc<AgentDefinition>,
    /// Whether it is defined in the configuration file, and so cannot be changed in the settings.
    pub from_file: bool,
    /// Whether an agent of the configuration file has the same name and is used instead.
    pub is_hidden: bool,
}

impl KnownAgent {
    /// Whether agents may call it by this name.
    fn is_callable(&self, name: &str) -> bool {
        self.is_enabled() && self.definition.name == name && self.definition.may_be_called
    }

    /// Whether it is enabled and not overridden by the configuration file.
    fn is_enabled(&self) -> bool {
        self.definition.enabled && !self.is_hidden
    }

    /// Whether it can be used with these permissions, including the model that it sets.
    fn is_for(&self, permit: &Permissions) -> bool {
        let AgentDefinition { name, model, .. } = &*self.definition;
        self.is_enabled()
            && permit.allows(Resource::Agent(name))
            && model
                .as_deref()
                .is_none_or(|model| permit.allows(Resource::Model(model)))
    }
}

impl DefinedAgents {
    /// Loads the stored agents.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn open(from_file: &[AgentDefinition], store: Store) -> Result<Self, StoreError> {
        let from_file = from_file.iter().map(|definition| KnownAgent {
            definition: Arc::new(definition.clone()),
            from_file: true,
            is_hidden: false,
        });
        let agents = Self {
            store,
            known: RwLock::new(Arc::new([])),
            from_file: from_file.collect(),
            changing: tokio::sync::Mutex::default(),
        };
        agents.read().await?;
        Ok(agents)
    }

    /// All defined agents.
    #[must_use]
    pub fn list(&self) -> Arc<[KnownAgent]> {
        Arc::clone(&self.known.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// The agents that can be used with these permissions.
    #[must_use]
    pub fn usable(&self, permit: &Permissions) -> Vec<Arc<AgentDefinition>> {
        let list = self.list();
        let usable = list.iter().filter(|agent| agent.is_for(permit));
        usable.map(|agent| Arc::clone(&agent.definition)).collect()
    }

    /// The agent of this name, if it can be used with these permissions.
    #[must_use]
    pub fn find(&self, name: &str, permit: &Permissions) -> Option<Arc<AgentDefinition>> {
        let list = self.list();
        let found = list
            .iter()
            .find(|agent| agent.definition.name == name && agent.is_for(permit))?;
        Some(Arc::clone(&found.definition))
    }

    /// Stores a new agent.
    ///
    /// # Errors
    /// 400 if the definition is invalid, 409 if its name is taken or there are too many.
    pub async fn create(
        &self,
        definition: AgentDefinition,
        clock: &Clock,
    ) -> Result<KnownAgent, ApiError> {
        definition.check().map_err(ApiError::invalid)?;
        let _changing = self.changing.lock().await;
        let name = &definition.name;
        if self
            .list()
            .iter()
            .any(|known| known.definition.name == *name)
        {
            return Err(ApiError::conflict(messages::Settings::AgentNameTaken {
                name: name.to_owned(),
            }));
        }
        if self.list().len() >= MAX_AGENTS + self.from_file.len() {
            return Err(ApiError::conflict(messages::Settings::TooManyAgents {
                count: MAX_AGENTS as u64,
            }));
        }
        let value = serde_json::to_value(&definition).map_err(ApiError::internal)?;
        self.store
            .create_agent(name, &value, clock.now_ms())
            .await?;
        self.read().await?;
        self.known(name)
    }

    /// Replaces an agent.
    ///
    /// # Errors
    /// 400 if the definition is invalid, 404 if there is none of this name, 409 if it is defined in the configuration
    /// file.
    pub async fn replace(&self, definition: AgentDefinition) -> Result<KnownAgent, ApiError> {
        definition.check().map_err(ApiError::invalid)?;
        let _changing = self.changing.lock().await;
        self.changeable(&definition.name)?;
        let value = serde_json::to_value(&definition).map_err(ApiError::internal)?;
        self.store.replace_agent(&definition.name, &value).await?;
        self.read().await?;
        self.known(&definition.name)
    }

    /// Deletes an agent.
    ///
    /// # Errors
    /// 404 if there is none of this name, 409 if it is defined in the configuration file.
    pub async fn delete(&self, name: &str) -> Result<(), ApiError> {
        let _changing = self.changing.lock().await;
        self.changeable(name)?;
        self.store.delete_agent(name).await?;
        Ok(self.read().await?)
    }

    /// The agents of a run: the built-in ones and the defined ones that may be called. `main` replaces the main agent.
    pub(crate) fn join(
        &self,
        built_in: &Agents,
        main: Option<&AgentDefinition>,
        models: &Models,
        permit: &Permissions,
    ) -> Agents {
        let mut defined = self.usable(permit);
        defined.retain(|definition| definition.may_be_called);
        if main.is_none() && defined.is_empty() {
            return built_in.clone();
        }
        let tools = &built_in.main.tools;
        let mut agents = built_in.clone();
        for definition in defined {
            let model = definition
                .model
                .as_deref()
                .map(|model| models.resolve(Some(model), permit))
                .transpose();
            match model {
                Ok(model) => {
                    let models = model.map(|model| {
                        agent::Models::new(model.callable(), model.callable_fallbacks())
                    });
                    agents
                        .sub_agents
                        .push(definition.spec(tools, models).as_sub_agent());
                }
                // The settings show a warning where it can be fixed.
                Err(_) => tracing::debug!(
                    agent = definition.name,
                    "agent not offered: its model is not available"
                ),
            }
        }
        if let Some(main) = main {
            // The run supplies the model.
            agents.main = AgentSpec {
                name: "main".to_owned(),
                ..main.spec(tools, None)
            };
        }
        agents.introduced()
    }

    /// An agent that was just stored.
    fn known(&self, name: &str) -> Result<KnownAgent, ApiError> {
        let list = self.list();
        let found = list
            .iter()
            .rev()
            .find(|known| known.definition.name == name)
            .cloned();
        found.ok_or_else(|| not_there(name))
    }

    /// Refuses agents of the configuration file. A stored agent of the same name can still be changed and deleted.
    fn changeable(&self, name: &str) -> Result<(), ApiError> {
        if self.known(name)?.from_file {
            return Err(ApiError::conflict(messages::Settings::AgentOfFile {
                name: name.to_owned(),
            }));
        }
        Ok(())
    }

    /// Reloads the stored agents, which another server may have changed.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn look_again(&self) -> Result<(), StoreError> {
        let _changing = self.changing.lock().await;
        self.read().await
    }

    async fn read(&self) -> Result<(), StoreError> {
        let stored = self
            .store
            .agents()
            .await?
            .into_iter()
            .filter_map(|(name, definition)| {
                // An agent that a later version wrote is skipped, not fatal.
                let definition: AgentDefinition = serde_json::from_value(definition)
                    .inspect_err(
                        |error| tracing::error!(name, %error, "skipping invalid stored agent"),
                    )
                    .ok()?;
                let is_hidden = self
                    .from_file
                    .iter()
                    .any(|known| known.definition.name == name);
                Some(KnownAgent {
                    definition: Arc::new(definition),
                    from_file: false,
                    is_hidden,
                })
            });
        let known: Arc<[KnownAgent]> = self.from_file.iter().cloned().chain(stored).collect();
        *self.known.write().unwrap_or_else(PoisonError::into_inner) = known;
        Ok(())
    }
}

fn not_there(name: &str) -> ApiError {
    let name: String = name.chars().take(100).collect();
    ApiError::not_found(messages::Settings::NoSuchAgent {
        name: name.to_owned(),
    })
}

impl Gateway {
    /// The current permissions of this authority.
    #[must_use]
    pub fn permit(&self, authority: Authority) -> Permissions {
        self.limited_by_key(self.groups.permit_of(authority))
    }

    /// These permissions, with models and agents reduced to the key's limit.
    #[must_use]
    pub fn limited_by_key(&self, permit: Permissions) -> Permissions {
        let key_limit = self.key_limit(&permit);
        permit.limited_to(key_limit)
    }

    /// The limit of the key behind permissions that are not limited yet; `None` if the key is not limited.
    #[must_use]
    pub fn key_limit(&self, permit: &Permissions) -> Option<Arc<KeyLimit>> {
        let names = permit.authority().key_models.as_ref()?;
        let catalogue = self.models.catalogue();
        let list = self.defined_agents.list();
        let mut models: HashSet<String> = names.iter().cloned().collect();
        for name in names
            .iter()
            .filter_map(|name| name.strip_prefix(AGENT_PREFIX))
        {
            let defined = list.iter().find(|known| known.definition.name == name);
            let model = defined.and_then(|known| known.definition.model.as_deref());
            // An agent without a model of its own, the built-in agent and research use the default model.
            let default = || {
                catalogue
                    .default_for(permit)
                    .model()
                    .map(|model| model.id.as_str())
            };
            models.extend(model.or_else(default).map(str::to_owned));
        }
        Some(Arc::new(KeyLimit {
            names: names.iter().cloned().collect(),
            models,
        }))
    }

    /// Resolves an id to a model, to the built-in agent with the default model, or to a defined agent, as
    /// `glasshouse/<name>`. `None` resolves to the default model.
    ///
    /// # Errors
    /// 404 if nothing has this id.
    pub fn resolve(
        &self,
        id: Option<&str>,
        permit: &Permissions,
    ) -> Result<ResolvedModel, ApiError> {
        let catalogue = self.models.catalogue();
        let Some(name) = id
            .map(|id| catalogue.meant(id))
            .and_then(|id| id.strip_prefix(AGENT_PREFIX))
        else {
            return self.models.resolve(id, permit);
        };
        match self.defined_agents.find(name, permit) {
            Some(agent) => self.resolve_agent(agent, None, permit),
            None if name == BUILT_IN_AGENT => self.models.resolve(None, permit),
            None if research_of_model(&format!("{AGENT_PREFIX}{name}")).is_some() => {
                let id = format!("{AGENT_PREFIX}{name}");
                Ok(ResolvedModel {
                    id,
                    ..self.models.resolve(None, permit)?
                })
            }
            None if catalogue.model(&format!("{AGENT_PREFIX}{name}")).is_some() => {
                self.models.resolve(id, permit)
            }
            None => {
                let usable = self.defined_agents.usable(permit);
                let known = usable
                    .iter()
                    .map(|agent| agent.name.as_str())
                    .chain([BUILT_IN_AGENT]);
                let near: Vec<String> = nearest(name, known)
                    .iter()
                    .map(|name| format!("{AGENT_PREFIX}{name}"))
                    .collect();
                let near: Vec<&str> = near.iter().map(String::as_str).collect();
                let gone = messages::Settings::AgentChosenGone {
                    name: name.chars().take(100).collect(),
                };
                Err(ApiError::new(
                    ProblemCode::ModelNotFound,
                    did_you_mean(gone.into(), &near),
                ))
            }
        }
    }

    /// A defined agent with its own model, or else `model`, or else the default one.
    ///
    /// # Errors
    /// 404 if the model does not exist.
    pub fn resolve_agent(
        &self,
        agent: Arc<AgentDefinition>,
        model: Option<&str>,
        permit: &Permissions,
    ) -> Result<ResolvedModel, ApiError> {
        let resolved = match &agent.model {
            None => self.models.resolve(model, permit)?,
            Some(own) => self.models.resolve(Some(own), permit).map_err(|_| {
                let message = messages::Settings::ModelOfAgentGone {
                    agent: agent.name.clone(),
                    model: own.to_owned(),
                };
                ApiError::new(ProblemCode::ModelNotFound, message)
            })?,
        };
        Ok(ResolvedModel {
            id: format!("{AGENT_PREFIX}{}", agent.name),
            agent: Some(agent),
            ..resolved
        })
    }
}
