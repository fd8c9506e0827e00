//! The available models: from connected servers, from the configuration file and the environment, and the tour.

mod catalogue;
mod configured;
mod connection_changes;
mod connection_settings;
mod connection_test;
mod health;
mod kind;
mod nearest;
mod price;
mod shared_pauses;
mod unsupported;

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock},
};

use agent::{AgentDefinition, CallableModel, Prices};
use domain::{ConnectionId, ListedModel, LocalizedText, ModelParameters, ProblemCode};
use llm::{
    ChatModel, HttpClient, OpenAiSettings, ToolMode, UpstreamRoute,
    openai::{AttemptCounts, Server, ServerSettings},
};
use serde_json::Value;
use store::{Connection, Store, StoreError};
use tokio::sync::watch;

pub use catalogue::{Catalogue, Default, KnownConnection, KnownKey, Listed, Model, ModelSettings};
pub use connection_changes::{Change, NewConnection};
pub use connection_settings::ConnectionRequest;
pub use connection_test::{ConnectionTest, KeyTest, ModelTest};
pub(crate) use nearest::nearest;
pub use price::{ListEntry, ModelPrice, PriceSource};
use shared_pauses::SharedPauses;

use crate::{
    error::ApiError,
    gateway::prices::PriceCatalogue,
    identity::{
        auth::Authority,
        groups::{Permissions, Resource},
    },
    messages,
    platform::{
        config::{ConfiguredConnection, ConnectionSource},
        live_config::LiveConfig,
        model_aliases::Aliases,
        secret::Sealer,
    },
};

const DEFAULT_MODEL: &str = "default_model";
const SETTINGS_PREFIX: &str = "model:";
const ALIASES: &str = "model_aliases";
/// The model catalogue: kept in memory and rebuilt on every change.
pub struct Models {
    store: Store,
    sealer: Arc<Sealer>,
    http: HttpClient,
    tour: ChatModel,
    config: LiveConfig,
    /// Connections of the configuration file and the environment.
    configured: Vec<ConfiguredConnection>,
    /// Model aliases of the configuration file.
    configured_aliases: Aliases,
    /// The last answers of servers, unless the database holds them.
    asked: Mutex<HashMap<ConnectionId, Asked>>,
    /// The servers by connection. Their health state survives a rebuild of the catalogue.
    servers: Mutex<HashMap<ConnectionId, Arc<Server>>>,
    counts: Arc<AttemptCounts>,
    shared_pauses: Mutex<SharedPauses>,
    catalogue: RwLock<Arc<Catalogue>>,
    prices: PriceCatalogue,
    /// Held while the catalogue is built, so that an older view never replaces a newer one.
    building: tokio::sync::Mutex<()>,
    /// Whether all configured servers were queried for their models at least once; `true` if there are none.
    first_look: watch::Sender<bool>,
}

#[derive(Debug, Clone, Default)]
struct Asked {
    /// Only set for configured servers.
    models: Vec<ListedModel>,
    problem: Option<(ProblemCode, LocalizedText)>,
}

/// A model that is ready to be called, with its settings and the agent that uses it.
#[derive(Debug, Clone)]
pub struct ResolvedModel {
    /// The id in the request: the model's or the agent's.
    pub id: String,
    /// The model's own id on this server.
    pub model_id: String,
    /// The defined agent that uses it; `None` for the built-in one.
    pub agent: Option<Arc<AgentDefinition>>,
    /// The model.
    pub model: ChatModel,
    /// How tools are offered to it.
    pub tool_mode: ToolMode,
    /// The parameters for its calls.
    pub parameters: ModelParameters,
    /// The context window, if known.
    pub context_tokens: Option<u64>,
    /// Its prices, if known.
    pub prices: Option<Prices>,
    /// The models to fall back to if its server fails; these have no fallbacks of their own.
    pub fallbacks: Vec<ResolvedModel>,
    /// On whose behalf it is called.
    pub authority: Authority,
}

/// The server of a model, for requests that are forwarded in its format.
#[derive(Debug)]
pub struct ModelServer {
    /// How to reach it.
    pub upstream: UpstreamRoute,
    /// Whether the caller's identity is sent to any of its servers.
    pub trusted: bool,
    /// The model's prices, if known.
    pub prices: Option<Prices>,
}

impl ResolvedModel {
    /// The model as runs call it, without its fallbacks.
    pub(crate) fn callable(&self) -> CallableModel {
        let settings = agent::ModelSettings {
            tool_mode: self.tool_mode,
            parameters: self.parameters.clone(),
            context_tokens: self.context_tokens,
            prices: self.prices,
        };
        CallableModel {
            id: self.model_id.clone(),
            model: self.model.clone(),
            settings,
        }
    }

    /// The fallbacks if its server fails, in order.
    pub(crate) fn callable_fallbacks(&self) -> Vec<CallableModel> {
        self.fallbacks.iter().map(Self::callable).collect()
    }
}

impl Models {
    /// Loads the stored connections and settings. The configured servers are not queried yet.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn open(
        live: &LiveConfig,
        store: Store,
        sealer: Arc<Sealer>,
        http: HttpClient,
        tour: ChatModel,
    ) -> anyhow::Result<Self> {
        let config = live.now();
        let prices = PriceCatalogue::new(&config.data_dir);
        let nothing = Catalogue::new(Vec::new(), HashMap::new(), None, &prices);
        let models = Self {
            store,
            sealer,
            http,
            tour,
            config: live.clone(),
            first_look: watch::Sender::new(config.connections.is_empty()),
            configured: config.connections.clone(),
            configured_aliases: config.model_aliases.clone(),
            asked: Mutex::default(),
            servers: Mutex::default(),
            counts: Arc::default(),
            shared_pauses: Mutex::default(),
            catalogue: RwLock::new(Arc::new(nothing)),
            prices,
            building: tokio::sync::Mutex::default(),
        };
        models.rebuild().await?;
        Ok(models)
    }

    /// The current catalogue.
    #[must_use]
    pub fn catalogue(&self) -> Arc<Catalogue> {
        self.catalogue
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// The model with this id, or the default one, ready to be called with these permissions.
    ///
    /// # Errors
    /// 404 if there is no such model, or the caller may not use it. 503 if there is no default model, or a configured
    /// server has not listed its models yet.
    pub fn resolve(
        &self,
        id: Option<&str>,
        permit: &Permissions,
    ) -> Result<ResolvedModel, ApiError> {
        let catalogue = self.catalogue();
        let known = match id {
            Some(id) => self.permitted(&catalogue, id, permit)?,
            None => self.default_model(&catalogue, permit)?,
        };
        let authority = permit.authority();
        let fallbacks = known
            .settings
            .fallbacks
            .iter()
            .filter(|id| permit.allows(Resource::Model(id)));
        let fallbacks = fallbacks.filter_map(|id| {
            // A fallback that no longer exists is skipped.
            self.ready(&catalogue, catalogue.model(id)?, authority).ok()
        });
        Ok(ResolvedModel {
            fallbacks: fallbacks.collect(),
            ..self.ready(&catalogue, known, authority)?
        })
    }

    /// The model with this id. A model that the caller may not use is reported like one that does not exist.
    fn permitted<'a>(
        &self,
        catalogue: &'a Catalogue,
        id: &str,
        permit: &Permissions,
    ) -> Result<&'a Model, ApiError> {
        let meant = catalogue.meant(id);
        let known = catalogue
            .model(meant)
            .filter(|_| permit.allows(Resource::Model(meant)));
        known.ok_or_else(|| self.missing(id, permit))
    }

    /// 404 with suggestions of similar names, or 503 while configured servers have not listed their models.
    fn missing(&self, id: &str, permit: &Permissions) -> ApiError {
        match self.configured_are_awaited() {
            true => unavailable(messages::Settings::ModelsAwaited),
            false => self.not_found(id, permit, no_model_of_name(id).into()),
        }
    }

    /// 404 with the text `words` for a model that does not exist, or is no longer on its server, and with the most
    /// similar names of usable models.
    #[must_use]
    pub fn not_found(&self, id: &str, permit: &Permissions, words: LocalizedText) -> ApiError {
        let catalogue = self.catalogue();
        let usable = catalogue.models.iter().map(|model| model.id.as_str());
        let others = usable.filter(|other| *other != id && permit.allows(Resource::Model(other)));
        ApiError::new(
            ProblemCode::ModelNotFound,
            did_you_mean(words, &nearest(id, others)),
        )
    }

    fn default_model<'a>(
        &self,
        catalogue: &'a Catalogue,
        permit: &Permissions,
    ) -> Result<&'a Model, ApiError> {
        let why = match catalogue.default_for(permit) {
            Default::Model(model) => return Ok(model),
            _ if self.configured_are_awaited() => messages::Settings::ModelsAwaited,
            Default::Missing(name) => messages::Settings::DefaultModelGone {
                name: name.to_owned(),
            },
            Default::None => messages::Settings::NoDefaultModel,
        };
        Err(unavailable(why))
    }

    /// A model ready to be called, without fallbacks.
    fn ready(
        &self,
        catalogue: &Catalogue,
        known: &Model,
        authority: &Authority,
    ) -> Result<ResolvedModel, ApiError> {
        let model = match known.connection {
            None => self.tour.clone(),
            Some(_) => ChatModel::openai(self.reach(catalogue, known)?, &self.http),
        };
        let settings = &known.settings;
        Ok(ResolvedModel {
            id: known.id.clone(),
            model_id: known.id.clone(),
            agent: None,
            model,
            tool_mode: settings.tool_mode,
            parameters: settings.parameters.clone(),
            context_tokens: known.context_tokens(),
            prices: known.price.as_ref().map(ModelPrice::prices),
            fallbacks: Vec::new(),
            authority: authority.clone(),
        })
    }

    /// The server of the model with this id, for requests that are forwarded in its format; `call` is the path there,
    /// such as `embeddings`. `None` for the tour, which has no server.
    ///
    /// # Errors
    /// 404 if there is no such model, or the caller may not use it.
    pub fn upstream(
        &self,
        id: &str,
        call: &str,
        permit: &Permissions,
    ) -> Result<Option<ModelServer>, ApiError> {
        let catalogue = self.catalogue();
        self.server_of(&catalogue, self.permitted(&catalogue, id, permit)?, call)
    }

    /// [`Models::upstream`] for a model that the settings name: it works for every user, independent of who may choose
    /// it for chats.
    ///
    /// # Errors
    /// 404 if there is no such model.
    pub fn upstream_for_all(&self, id: &str, call: &str) -> Result<Option<ModelServer>, ApiError> {
        let catalogue = self.catalogue();
        let known = catalogue
            .model(id)
            .ok_or_else(|| match self.configured_are_awaited() {
                true => unavailable(messages::Settings::ModelsAwaited),
                false => model_not_found(id),
            })?;
        self.server_of(&catalogue, known, call)
    }

    fn server_of(
        &self,
        catalogue: &Catalogue,
        known: &Model,
        call: &str,
    ) -> Result<Option<ModelServer>, ApiError> {
        if known.connection.is_none() {
            return Ok(None);
        }
        let is_trusted = |id| {
            catalogue
                .connection(id)
                .is_some_and(|known| known.server.settings.trusted)
        };
        let trusted = known.connections.iter().copied().any(is_trusted);
        let upstream = UpstreamRoute::new(self.reach(catalogue, known)?, &self.http, call);
        Ok(Some(ModelServer {
            upstream,
            trusted,
            prices: known.price.as_ref().map(ModelPrice::prices),
        }))
    }

    /// The connection settings for a model on its servers.
    fn reach(&self, catalogue: &Catalogue, known: &Model) -> Result<OpenAiSettings, ApiError> {
        let pool = catalogue
            .pool(&known.id)
            .ok_or_else(|| model_not_found(&known.id))?;
        let config = self.config.now();
        Ok(OpenAiSettings {
            first_token_timeout: config.first_token_timeout,
            idle_timeout: config.idle_timeout,
            unsupported: known.unsupported_parameters().to_vec(),
            ..OpenAiSettings::of_pool(Arc::clone(pool), &*known.name)
        })
    }

    /// Stores an administrator's settings for a model.
    ///
    /// # Errors
    /// 404 if there is no such model.
    pub async fn put_settings(
        &self,
        id: &str,
        settings: &ModelSettings,
    ) -> Result<Model, ApiError> {
        self.catalogue()
            .model(id)
            .ok_or_else(|| model_not_found(id))?;
        let value = serde_json::to_value(settings).map_err(ApiError::internal)?;
        self.store
            .put_setting(&format!("{SETTINGS_PREFIX}{id}"), &value)
            .await?;
        self.rebuild().await?;
        self.catalogue()
            .model(id)
            .cloned()
            .ok_or_else(|| model_not_found(id))
    }

    /// Sets the model for requests that name none.
    ///
    /// # Errors
    /// 404 if there is no such model.
    pub async fn set_default(&self, id: &str) -> Result<(), ApiError> {
        self.catalogue()
            .model(id)
            .ok_or_else(|| model_not_found(id))?;
        self.store
            .put_setting(DEFAULT_MODEL, &Value::from(id))
            .await?;
        Ok(self.rebuild().await?)
    }

    /// Sets the model aliases, which override those of the configuration file.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn put_aliases(&self, aliases: &Aliases) -> Result<(), ApiError> {
        let value = serde_json::to_value(aliases).map_err(ApiError::internal)?;
        self.store.put_setting(ALIASES, &value).await?;
        Ok(self.rebuild().await?)
    }

    /// The aliases set with [`Models::put_aliases`].
    ///
    /// # Errors
    /// If the database fails.
    pub async fn set_aliases(&self) -> Result<Aliases, StoreError> {
        let set = self.store.setting(ALIASES).await?;
        Ok(set
            .and_then(|set| serde_json::from_value(set).ok())
            .unwrap_or_default())
    }

    fn asked(&self) -> MutexGuard<'_, HashMap<ConnectionId, Asked>> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reloads everything, including changes by other servers on the same database.
    pub(crate) async fn rebuild(&self) -> Result<(), StoreError> {
        let _building = self.building.lock().await;
        let rows = self.store.connections().await?;
        let stored = self.store.settings(SETTINGS_PREFIX).await?;
        let default = self.store.setting(DEFAULT_MODEL).await?;
        let settings = stored
            .into_iter()
            .filter_map(|(name, value)| {
                // Settings that a later version wrote are ignored, not fatal.
                Some((
                    name.strip_prefix(SETTINGS_PREFIX)?.to_owned(),
                    serde_json::from_value(value).ok()?,
                ))
            })
            .collect();
        let known = rows.into_iter().filter_map(|row| self.open_connection(row));
        let trust = self.store.settings(configured::TRUST).await?;
        let connections = known.chain(self.configured_connections(&trust)).collect();
        let default = default.as_ref().and_then(Value::as_str);
        let aliases = self.configured_aliases.under(&self.set_aliases().await?);
        let new =
            Catalogue::new(connections, settings, default, &self.prices).with_aliases(aliases);
        *self
            .catalogue
            .write()
            .unwrap_or_else(PoisonError::into_inner) = Arc::new(new);
        Ok(())
    }

    fn open_connection(&self, row: Connection) -> Option<KnownConnection> {
        let mut problem = self
            .asked()
            .get(&row.id)
            .and_then(|asked| Some(asked.problem.clone()?.1));
        let mut open = Vec::new();
        let mut keys = Vec::new();
        for key in &row.keys {
            let unsealed = self.sealer.unseal(&row.id.to_string(), &key.sealed);
            keys.push(KnownKey {
                id: Some(key.id),
                weight: key.weight,
                is_open: unsealed.is_ok(),
            });
            match unsealed {
                Ok(secret) => open.push((secret, key.weight)),
                Err(error) => problem = Some(error.to_string().into()),
            }
        }
        let settings = match self.stored_settings(&row) {
            Ok((settings, unreadable)) => {
                problem = unreadable.or(problem);
                ServerSettings {
                    keys: open,
                    ..settings
                }
            }
            Err(error) => {
                tracing::error!(connection = %row.id, %error, "skipping invalid stored connection");
                return None;
            }
        };
        Some(KnownConnection {
            id: row.id,
            server: self.server(row.id, settings),
            keys,
            source: ConnectionSource::Settings,
            enabled: row.enabled,
            together: row.together,
            models: row.models,
            problem,
        })
    }

    /// The server of a connection: the existing one, unless its settings have changed.
    fn server(&self, id: ConnectionId, settings: ServerSettings) -> Arc<Server> {
        let mut servers = self.servers.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = servers.get(&id).filter(|known| known.settings == settings) {
            return Arc::clone(known);
        }
        let server = Arc::new(Server::new(settings, Arc::clone(&self.counts)));
        servers.insert(id, Arc::clone(&server));
        server
    }

    /// Counts of all attempts to call model servers, by outcome.
    #[must_use]
    pub fn attempts(&self) -> &AttemptCounts {
        &self.counts
    }
}

fn unavailable(why: messages::Settings) -> ApiError {
    ApiError::new(ProblemCode::ModelUnavailable, why)
}

fn model_not_found(id: &str) -> ApiError {
    ApiError::new(ProblemCode::ModelNotFound, no_model_of_name(id))
}

fn no_model_of_name(id: &str) -> messages::Settings {
    messages::Settings::NoModelOfName {
        name: id.chars().take(100).collect(),
    }
}

/// `words`, with suggestions of names.
pub(crate) fn did_you_mean(words: LocalizedText, names: &[&str]) -> LocalizedText {
    let quoted: Vec<String> = names.iter().map(|name| format!("“{name}”")).collect();
    match quoted.as_slice() {
        [] => words,
        names => messages::Settings::DidYouMean {
            words,
            names: names.join(", "),
        }
        .into(),
    }
}
