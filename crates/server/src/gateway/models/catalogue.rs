//! The model catalogue: every available model under a unique id. Immutable; rebuilt on every change.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use domain::{
    ConnectionId, ConnectionKeyId, ListedModel, LocalizedText, ModelParameters, Parameter,
};
use llm::{
    ProviderKind, ToolMode,
    openai::{Pool, Server},
    provider::Capabilities,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ModelPrice, kind::answers_in_chats, unsupported::add_unsupported};
use crate::{
    gateway::prices::PriceCatalogue,
    identity::groups::{Permissions, Resource},
    platform::{
        built_in::{AGENT_PREFIX, TOUR},
        config::ConnectionSource,
        model_aliases::Aliases,
    },
};

/// A known model server.
#[derive(Debug, Clone)]
pub struct KnownConnection {
    /// Its id.
    pub id: ConnectionId,
    /// The current server; its settings contain the name, address, weight and decrypted keys.
    pub server: Arc<Server>,
    /// Its keys; those that could be decrypted are the server's, in the same order.
    pub keys: Vec<KnownKey>,
    /// Where it is configured.
    pub source: ConnectionSource,
    /// Whether it is used.
    pub enabled: bool,
    /// Whether it is pooled with other connections that serve models of the same name.
    pub together: bool,
    /// The models it offered when it was last queried.
    pub models: Vec<ListedModel>,
    /// Why it does not work, as a sentence.
    pub problem: Option<LocalizedText>,
}

impl KnownConnection {
    /// Whether it can be changed in the settings.
    #[must_use]
    pub fn is_changeable(&self) -> bool {
        self.source == ConnectionSource::Settings
    }
}

/// A key of a model server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KnownKey {
    /// Its id; `None` if it comes from the environment or the configuration file.
    pub id: Option<ConnectionKeyId>,
    /// Its relative share of the requests.
    pub weight: u32,
    /// Whether it could be decrypted.
    pub is_open: bool,
}

/// An administrator's settings for a model.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ModelSettings {
    /// How tools are offered to it.
    pub tool_mode: ToolMode,
    /// The parameters for its calls, unless a chat or an agent sets them.
    #[serde(flatten)]
    pub parameters: ModelParameters,
    /// The parameters that it does not accept; `null` for those known from its servers and its name.
    pub unsupported_parameters: Option<Vec<Parameter>>,
    /// The context window, in tokens.
    pub context_tokens: Option<u64>,
    /// US dollars per million input tokens.
    pub input_usd_per_million: Option<f64>,
    /// US dollars per million output tokens.
    pub output_usd_per_million: Option<f64>,
    /// US dollars per million input tokens read from the provider's cache.
    pub cached_input_usd_per_million: Option<f64>,
    /// US dollars per million input tokens written to the provider's cache.
    pub cache_write_usd_per_million: Option<f64>,
    /// US dollars per million audio input tokens.
    pub audio_input_usd_per_million: Option<f64>,
    /// US dollars per million audio output tokens.
    pub audio_output_usd_per_million: Option<f64>,
    /// The ids of the models to fall back to if its server fails.
    pub fallbacks: Vec<String>,
}

/// A model.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "ModelBasics")]
pub struct Model {
    /// The unique id that requests use.
    pub id: String,
    /// Its name on its server.
    pub name: String,
    /// The connection that serves it; `null` for the tour.
    pub connection: Option<ConnectionId>,
    /// All connections that serve it, `connection` first.
    pub connections: Vec<ConnectionId>,
    /// Whether it is the scripted tour.
    pub tour: bool,
    /// What its servers report about it.
    pub listed: Listed,
    /// The administrator's settings.
    #[serde(flatten)]
    pub settings: ModelSettings,
    /// The [price](docs/models/prices.md) of a call; `null` if unknown.
    pub price: Option<ModelPrice>,
}

/// The properties of a model as its servers report them; for several servers, what they have in common.
#[derive(Debug, Clone, PartialEq, Default, Serialize, JsonSchema)]
#[schemars(rename = "ListedModel")]
pub struct Listed {
    /// Its display name.
    pub display_name: Option<String>,
    /// The context window, in tokens.
    pub context_tokens: Option<u64>,
    /// The maximum number of output tokens.
    pub max_output_tokens: Option<u64>,
    /// Its capabilities.
    pub abilities: Capabilities,
}

impl From<ListedModel> for Listed {
    fn from(model: ListedModel) -> Self {
        let ListedModel {
            id: _,
            display_name,
            context_tokens,
            max_output_tokens,
            abilities,
        } = model;
        Self {
            display_name,
            context_tokens,
            max_output_tokens,
            abilities,
        }
    }
}

impl Model {
    /// The context window: the administrator's setting, or else what its servers report.
    #[must_use]
    pub fn context_tokens(&self) -> Option<u64> {
        self.settings.context_tokens.or(self.listed.context_tokens)
    }

    /// The model as its users see it: the system prompt is visible to administrators only.
    #[must_use]
    pub fn without_system_prompt(&self) -> Self {
        let mut shown = self.clone();
        shown.settings.parameters.system_prompt = None;
        shown
    }
}

/// The model for a request that names none.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Default<'a> {
    /// This model.
    Model(&'a Model),
    /// The model of this id was chosen, but it does not exist (any more).
    Missing(&'a str),
    /// There is no model that the caller may use.
    None,
}

impl<'a> Default<'a> {
    /// The model, if there is one.
    #[must_use]
    pub fn model(self) -> Option<&'a Model> {
        match self {
            Self::Model(model) => Some(model),
            Self::Missing(_) | Self::None => None,
        }
    }
}

/// A snapshot of all connections and models.
#[derive(Debug, Clone)]
pub struct Catalogue {
    /// All model servers.
    pub connections: Vec<KnownConnection>,
    /// All models, the tour last.
    pub models: Vec<Model>,
    /// The model that an administrator chose for requests that name none, whether or not it exists now.
    chosen_default: Option<String>,
    /// The servers of each model, by its id.
    pools: HashMap<String, Arc<Pool>>,
    /// Model aliases.
    aliases: Aliases,
}

impl Catalogue {
    /// Builds the catalogue; `settings` are by model id.
    #[must_use]
    pub fn new(
        connections: Vec<KnownConnection>,
        mut settings: HashMap<String, ModelSettings>,
        chosen_default: Option<&str>,
        prices: &PriceCatalogue,
    ) -> Self {
        let mut taken = HashSet::from([TOUR.to_owned()]);
        let mut models: Vec<Model> = Vec::new();
        let mut listed: Vec<ListedModel> = Vec::new();
        // The indices of models that several connections of one kind may serve together.
        let mut shared: HashMap<(ProviderKind, &str), usize> = HashMap::new();
        for connection in connections.iter().filter(|connection| connection.enabled) {
            let server = &connection.server.settings;
            for offered in &connection.models {
                let key = (server.kind, offered.id.as_str());
                if let Some(at) = shared.get(&key).copied().filter(|_| connection.together)
                    && let (Some(model), Some(listed)) = (models.get_mut(at), listed.get_mut(at))
                {
                    // A server may list a model twice.
                    if !model.connections.contains(&connection.id) {
                        model.connections.push(connection.id);
                        *listed = listed.in_common(offered);
                    }
                    continue;
                }
                if connection.together {
                    shared.insert(key, models.len());
                }
                let id = free_id(&mut taken, &server.name, &offered.id);
                let settings = settings.remove(&id).unwrap_or_default();
                let price = ModelPrice::of(&settings, prices.find(server, &offered.id));
                models.push(Model {
                    name: offered.id.clone(),
                    connection: Some(connection.id),
                    connections: vec![connection.id],
                    tour: false,
                    listed: Listed::default(),
                    settings,
                    price,
                    id,
                });
                listed.push(offered.clone());
            }
        }
        for (model, listed) in models.iter_mut().zip(listed) {
            model.listed = listed.into();
            let abilities = &mut model.listed.abilities;
            abilities.chat = abilities.chat.or_else(|| answers_in_chats(&model.name));
            let server = connections
                .iter()
                .find(|connection| Some(connection.id) == model.connection);
            if let Some(KnownConnection { server, .. }) = server {
                add_unsupported(&mut model.listed.abilities, &server.settings, &model.name);
            }
        }
        let settings = settings.remove(TOUR).unwrap_or_default();
        models.push(Model {
            id: TOUR.to_owned(),
            name: "Tour".to_owned(),
            connection: None,
            connections: Vec::new(),
            tour: true,
            listed: Listed::default(),
            price: ModelPrice::of(&settings, None),
            settings,
        });
        let pools = pools(&connections, &models);
        let chosen_default = chosen_default.map(str::to_owned);
        Self {
            connections,
            models,
            chosen_default,
            pools,
            aliases: Aliases::default(),
        }
    }

    /// This catalogue with model aliases.
    #[must_use]
    pub fn with_aliases(self, aliases: Aliases) -> Self {
        Self { aliases, ..self }
    }

    /// Model aliases.
    #[must_use]
    pub fn aliases(&self) -> &Aliases {
        &self.aliases
    }

    /// Resolves a name: the model of that name if there is one, or else the alias's target.
    #[must_use]
    pub fn meant<'a>(&'a self, name: &'a str) -> &'a str {
        match self.model(name) {
            Some(_) => name,
            None => self.aliases.target(name).unwrap_or(name),
        }
    }

    /// The servers of the model with this id; `None` for the tour.
    #[must_use]
    pub fn pool(&self, id: &str) -> Option<&Arc<Pool>> {
        self.pools.get(id)
    }

    /// The model for requests that name none: the chosen one, or the first that answers in chats and that the caller may use if none was chosen
    /// or the caller may not use it. A chosen model that is missing is never replaced, and the tour is used only if it
    /// was chosen.
    #[must_use]
    pub fn default_for(&self, permit: &Permissions) -> Default<'_> {
        let allowed = |model: &&Model| permit.allows(Resource::Model(&model.id));
        if let Some(id) = &self.chosen_default {
            match self.model(id) {
                None => return Default::Missing(id),
                Some(chosen) if allowed(&chosen) => return Default::Model(chosen),
                Some(_) => {}
            }
        }
        let answers = |model: &&Model| !model.tour && model.listed.abilities.chat != Some(false);
        let first = self.models.iter().filter(answers).find(allowed);
        first.map_or(Default::None, Default::Model)
    }

    /// The model with this id.
    #[must_use]
    pub fn model(&self, id: &str) -> Option<&Model> {
        self.models.iter().find(|model| model.id == id)
    }

    /// Whether the caller's identity is sent to any enabled server.
    #[must_use]
    pub fn trusts_any(&self) -> bool {
        self.connections
            .iter()
            .any(|known| known.enabled && known.server.settings.trusted)
    }

    /// The connection with this id.
    #[must_use]
    pub fn connection(&self, id: ConnectionId) -> Option<&KnownConnection> {
        self.connections
            .iter()
            .find(|connection| connection.id == id)
    }
}

fn pools(connections: &[KnownConnection], models: &[Model]) -> HashMap<String, Arc<Pool>> {
    let server_of = |id: &ConnectionId| {
        let known = connections.iter().find(|connection| connection.id == *id);
        known.map(|known| Arc::clone(&known.server))
    };
    let pool = |model: &Model| {
        let pool = Pool::new(model.connections.iter().filter_map(server_of).collect())?;
        Some((model.id.clone(), Arc::new(pool)))
    };
    models.iter().filter_map(pool).collect()
}

/// The model's own name; if it is taken, with the connection's name as a prefix, and then with a number. The agent
/// prefix is reserved: agents of another Glasshouse always get the connection's name as a prefix.
fn free_id(taken: &mut HashSet<String>, connection: &str, name: &str) -> String {
    let prefixed = format!("{connection}/{name}");
    let numbered = (2..).map(|number| format!("{prefixed}-{number}"));
    let own = Some(name.to_owned()).filter(|name| !name.starts_with(AGENT_PREFIX));
    let mut ids = own.into_iter().chain([prefixed.clone()]).chain(numbered);
    // The numbers never run out.
    let id = ids.find(|id| !taken.contains(id)).unwrap_or_default();
    taken.insert(id.clone());
    id
}

#[cfg(test)]
mod tests;
