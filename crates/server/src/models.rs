//! The models people can choose: from connected servers, from the environment, and the tour.

mod catalogue;

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError, RwLock},
    time::Duration,
};

use agent::{CallableModel, Prices};
use domain::{ConnectionId, ProblemCode};
use llm::{
    BaseUrl, ChatModel, HttpClient, ModelError, OpenAiSettings, Secret, ToolMode, Upstream,
    openai::list_models,
};
use serde_json::Value;
use store::{Connection, Payer, Store, StoreError};

pub use catalogue::{Catalogue, KnownConnection, Model, ModelSettings, TOUR};

use crate::{
    agents::AgentDefinition,
    config::{Config, EnvironmentConnection},
    error::ApiError,
    secret::Sealer,
};

const DEFAULT_MODEL: &str = "default_model";
const SETTINGS_PREFIX: &str = "model:";
/// Somebody waits at a form.
const LIST_TIMEOUT: Duration = Duration::from_secs(10);
/// The environment's connection has no row in the database, but an id that stays the same.
const ENVIRONMENT_ID: &str = "conn_00000000000000000000000000000000";

/// The model catalogue: kept in memory and built anew when something changes.
pub struct Models {
    store: Store,
    sealer: Arc<Sealer>,
    http: HttpClient,
    tour: ChatModel,
    first_token_timeout: Duration,
    idle_timeout: Duration,
    environment: Option<(ConnectionId, EnvironmentConnection)>,
    /// What servers said when last asked, where the database does not hold it.
    asked: Mutex<HashMap<ConnectionId, Asked>>,
    catalogue: RwLock<Arc<Catalogue>>,
    /// Held while the catalogue is built, so that an older view never replaces a newer one.
    building: tokio::sync::Mutex<()>,
}

#[derive(Debug, Clone, Default)]
struct Asked {
    /// Of the environment's server only.
    models: Vec<String>,
    problem: Option<String>,
}

/// A model that is ready to be called, how to call it, and for which agent.
#[derive(Debug, Clone)]
pub struct ResolvedModel {
    /// What a request named: the model's id, or the agent's.
    pub id: String,
    /// The model's own id here.
    pub model_id: String,
    /// The defined agent that works with it; the built-in one where nothing.
    pub agent: Option<Arc<AgentDefinition>>,
    /// The model.
    pub model: ChatModel,
    /// How it is told about tools.
    pub tool_mode: ToolMode,
    /// 0 to 2; the server's own where `None`.
    pub temperature: Option<f32>,
    /// How much it can read, where known.
    pub context_tokens: Option<u64>,
    /// What it costs, where known.
    pub prices: Option<Prices>,
    /// The models to ask where its server fails; these have none of their own.
    pub fallbacks: Vec<ResolvedModel>,
    /// On whose account it is called, beside that of the run's owner.
    pub payer: Payer,
}

/// The server of a model, for a caller who speaks its format.
#[derive(Debug)]
pub struct ModelServer {
    /// How to reach it.
    pub upstream: Upstream,
    /// Whether it is told who asks.
    pub trusted: bool,
    /// What the model costs, where known.
    pub prices: Option<Prices>,
}

impl ResolvedModel {
    /// The model as runs call it, alone.
    pub(crate) fn callable(&self) -> CallableModel {
        let settings = agent::ModelSettings {
            tool_mode: self.tool_mode,
            temperature: self.temperature,
            context_tokens: self.context_tokens,
            prices: self.prices,
        };
        CallableModel { model: self.model.clone(), settings }
    }

    /// Those that are asked where its server fails, in their order.
    pub(crate) fn callable_fallbacks(&self) -> Vec<CallableModel> {
        self.fallbacks.iter().map(Self::callable).collect()
    }
}

impl Models {
    /// Reads what is stored. The environment's server is not asked yet.
    ///
    /// # Errors
    /// Where the database does not answer.
    pub async fn open(
        config: &Config,
        store: Store,
        sealer: Arc<Sealer>,
        http: HttpClient,
        tour: ChatModel,
    ) -> anyhow::Result<Self> {
        let environment = match config.environment_connection.clone() {
            Some(connection) => Some((ENVIRONMENT_ID.parse()?, connection)),
            None => None,
        };
        let models = Self {
            store,
            sealer,
            http,
            tour,
            first_token_timeout: config.first_token_timeout,
            idle_timeout: config.idle_timeout,
            environment,
            asked: Mutex::default(),
            catalogue: RwLock::new(Arc::new(Catalogue::new(Vec::new(), HashMap::new(), None))),
            building: tokio::sync::Mutex::default(),
        };
        models.rebuild().await?;
        Ok(models)
    }

    /// What there is now.
    #[must_use]
    pub fn catalogue(&self) -> Arc<Catalogue> {
        self.catalogue.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The model with this id, or the default one, ready to be called.
    ///
    /// # Errors
    /// 404 where there is no such model.
    pub fn resolve(&self, id: Option<&str>) -> Result<ResolvedModel, ApiError> {
        let catalogue = self.catalogue();
        let id = id.unwrap_or(&catalogue.default_model);
        let known = catalogue.model(id).ok_or_else(|| model_not_found(id))?;
        let fallbacks = known.settings.fallbacks.iter().filter_map(|id| {
            // One that is no longer there cannot be asked.
            self.ready(&catalogue, catalogue.model(id)?).ok()
        });
        Ok(ResolvedModel { fallbacks: fallbacks.collect(), ..self.ready(&catalogue, known)? })
    }

    /// A model ready to be called, without others that are asked in its place.
    fn ready(&self, catalogue: &Catalogue, known: &Model) -> Result<ResolvedModel, ApiError> {
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
            temperature: settings.temperature,
            context_tokens: settings.context_tokens,
            prices: prices(settings),
            fallbacks: Vec::new(),
            payer: Payer::default(),
        })
    }

    /// The server of the model with this id, for a caller who speaks its format; `call` is the address there, such as
    /// `embeddings`. Nothing for the tour, which has no server.
    ///
    /// # Errors
    /// 404 where there is no such model.
    pub fn upstream(&self, id: &str, call: &str) -> Result<Option<ModelServer>, ApiError> {
        let catalogue = self.catalogue();
        let known = catalogue.model(id).ok_or_else(|| model_not_found(id))?;
        let Some(connection) = known.connection else { return Ok(None) };
        let trusted = catalogue.connection(connection).is_some_and(|connection| connection.trusted);
        let upstream = Upstream::new(self.reach(&catalogue, known)?, &self.http, call);
        Ok(Some(ModelServer { upstream, trusted, prices: prices(&known.settings) }))
    }

    /// How to reach a model on its server.
    fn reach(&self, catalogue: &Catalogue, known: &Model) -> Result<OpenAiSettings, ApiError> {
        let connection = known.connection.and_then(|id| catalogue.connection(id));
        let connection = connection.ok_or_else(|| model_not_found(&known.id))?;
        let (base_url, api_key) = (connection.base_url.clone(), connection.api_key.clone());
        Ok(OpenAiSettings {
            first_token_timeout: self.first_token_timeout,
            idle_timeout: self.idle_timeout,
            ..OpenAiSettings::new(base_url, api_key, &*known.name)
        })
    }

    /// Stores what an administrator set for a model.
    ///
    /// # Errors
    /// 404 where there is no such model.
    pub async fn put_settings(&self, id: &str, settings: &ModelSettings) -> Result<Model, ApiError> {
        self.catalogue().model(id).ok_or_else(|| model_not_found(id))?;
        let value = serde_json::to_value(settings).map_err(ApiError::internal)?;
        self.store.put_setting(&format!("{SETTINGS_PREFIX}{id}"), &value).await?;
        self.rebuild().await?;
        self.catalogue().model(id).cloned().ok_or_else(|| model_not_found(id))
    }

    /// Chooses the model that is used where none is named.
    ///
    /// # Errors
    /// 404 where there is no such model.
    pub async fn set_default(&self, id: &str) -> Result<(), ApiError> {
        self.catalogue().model(id).ok_or_else(|| model_not_found(id))?;
        self.store.put_setting(DEFAULT_MODEL, &Value::from(id)).await?;
        Ok(self.rebuild().await?)
    }

    /// Asks a server which models it offers.
    ///
    /// # Errors
    /// What is wrong with it, in words.
    pub async fn ask(&self, base_url: &BaseUrl, api_key: Option<&Secret>) -> Result<Vec<String>, ModelError> {
        list_models(base_url, api_key, &self.http, LIST_TIMEOUT).await
    }

    /// Adds a server that offered `models` just now.
    ///
    /// # Errors
    /// Where the database does not answer.
    pub async fn connect(
        &self,
        name: String,
        base_url: &BaseUrl,
        api_key: Option<&Secret>,
        models: Vec<String>,
        trusted: bool,
        created_at: i64,
    ) -> Result<KnownConnection, ApiError> {
        let id = ConnectionId::generate();
        let sealed_key = match api_key {
            Some(key) => Some(self.sealer.seal(&id.to_string(), key).map_err(ApiError::internal)?),
            None => None,
        };
        let base_url = base_url.to_string();
        let row = Connection { id, name, base_url, sealed_key, models, trusted, created_at };
        self.store.create_connection(&row).await?;
        self.rebuild().await?;
        self.connection(id)
    }

    /// Asks a known server again which models it offers. A failure is told in the connection's `problem`, and
    /// the models known before stay.
    ///
    /// # Errors
    /// 404 where there is no such connection.
    pub async fn refresh(&self, id: ConnectionId) -> Result<KnownConnection, ApiError> {
        let known = self.connection(id)?;
        let answer = self.ask(&known.base_url, known.api_key.as_ref()).await;
        if let (Ok(models), false) = (&answer, known.from_environment) {
            self.store.set_connection_models(id, models).await?;
        }
        self.remember(id, answer);
        self.rebuild().await?;
        self.connection(id)
    }

    /// Says whether a server is told who asks.
    ///
    /// # Errors
    /// 404 where there is no such connection, 409 where it comes from the environment.
    pub async fn set_trusted(&self, id: ConnectionId, trusted: bool) -> Result<KnownConnection, ApiError> {
        if self.connection(id)?.from_environment {
            return Err(ApiError::conflict(
                "This connection comes from the environment. Add it here to say that it may know who asks.",
            ));
        }
        self.store.set_connection_trusted(id, trusted).await?;
        self.rebuild().await?;
        self.connection(id)
    }

    /// Forgets a server and its key.
    ///
    /// # Errors
    /// 404 where there is no such connection, 409 where it comes from the environment.
    pub async fn disconnect(&self, id: ConnectionId) -> Result<(), ApiError> {
        if self.connection(id)?.from_environment {
            return Err(ApiError::conflict(
                "This connection comes from the environment. Unset OPENAI_API_BASE_URL and OPENAI_API_KEY and \
                 start the server again to be rid of it.",
            ));
        }
        self.store.delete_connection(id).await?;
        self.asked().remove(&id);
        Ok(self.rebuild().await?)
    }

    /// Whether the environment's server has not said yet which models it offers.
    #[must_use]
    pub fn environment_is_awaited(&self) -> bool {
        self.environment
            .as_ref()
            .is_some_and(|(id, _)| self.asked().get(id).is_none_or(|asked| asked.models.is_empty()))
    }

    /// Asks the environment's server, if there is one, which models it offers.
    ///
    /// # Errors
    /// Where it did not answer with a list of models.
    pub async fn ask_environment(&self) -> Result<(), ApiError> {
        let Some((id, _)) = &self.environment else { return Ok(()) };
        match self.refresh(*id).await?.problem {
            None => Ok(()),
            Some(problem) => Err(ApiError::new(ProblemCode::ModelUnreachable, problem)),
        }
    }

    fn connection(&self, id: ConnectionId) -> Result<KnownConnection, ApiError> {
        let catalogue = self.catalogue();
        let known = catalogue.connection(id).cloned();
        known.ok_or_else(|| ApiError::not_found("There is no such connection. It may have been deleted."))
    }

    fn asked(&self) -> std::sync::MutexGuard<'_, HashMap<ConnectionId, Asked>> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn remember(&self, id: ConnectionId, answer: Result<Vec<String>, ModelError>) {
        let mut asked = self.asked();
        let entry = asked.entry(id).or_default();
        match answer {
            Ok(models) => *entry = Asked { models, problem: None },
            Err(error) => entry.problem = Some(error.to_string()),
        }
    }

    /// Reads everything again, also what other servers on the same database have changed.
    pub(crate) async fn rebuild(&self) -> Result<(), StoreError> {
        let _building = self.building.lock().await;
        let rows = self.store.connections().await?;
        let stored = self.store.settings(SETTINGS_PREFIX).await?;
        let default = self.store.setting(DEFAULT_MODEL).await?;
        let settings = stored
            .into_iter()
            .filter_map(|(name, value)| {
                // Settings a later version wrote are better ignored than fatal.
                Some((name.strip_prefix(SETTINGS_PREFIX)?.to_owned(), serde_json::from_value(value).ok()?))
            })
            .collect();
        let known = rows.into_iter().filter_map(|row| self.open_connection(row));
        let connections = known.chain(self.environment_connection()).collect();
        let new = Catalogue::new(connections, settings, default.as_ref().and_then(Value::as_str));
        *self.catalogue.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(new);
        Ok(())
    }

    fn open_connection(&self, row: Connection) -> Option<KnownConnection> {
        let base_url = match BaseUrl::parse(&row.base_url) {
            Ok(base_url) => base_url,
            Err(error) => {
                tracing::error!(connection = %row.id, %error, "a stored connection is left out");
                return None;
            }
        };
        let mut problem = self.asked().get(&row.id).and_then(|asked| asked.problem.clone());
        let key = row.sealed_key.map(|sealed| self.sealer.unseal(&row.id.to_string(), &sealed));
        let api_key = key.and_then(|key| key.map_err(|error| problem = Some(error.to_string())).ok());
        Some(KnownConnection {
            id: row.id,
            name: row.name,
            base_url,
            api_key,
            from_environment: false,
            trusted: row.trusted,
            models: row.models,
            problem,
        })
    }

    fn environment_connection(&self) -> Option<KnownConnection> {
        let (id, connection) = self.environment.as_ref()?;
        let Asked { models, problem } = self.asked().get(id).cloned().unwrap_or_default();
        Some(KnownConnection {
            id: *id,
            name: "Environment".to_owned(),
            base_url: connection.base_url.clone(),
            api_key: connection.api_key.clone(),
            from_environment: true,
            trusted: false,
            models,
            problem,
        })
    }
}

/// A price that is not set counts as nothing where the other one is.
fn prices(settings: &ModelSettings) -> Option<Prices> {
    let (input, output) = (settings.input_usd_per_million, settings.output_usd_per_million);
    (input.is_some() || output.is_some()).then(|| Prices {
        input_usd_per_million: input.unwrap_or(0.0),
        output_usd_per_million: output.unwrap_or(0.0),
    })
}

fn model_not_found(id: &str) -> ApiError {
    let id: String = id.chars().take(100).collect();
    ApiError::new(
        ProblemCode::ModelNotFound,
        format!("There is no model “{id}”. GET /api/v1/models lists them."),
    )
}
