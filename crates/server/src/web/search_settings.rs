//! The search providers that administrators choose in the settings, if the configuration names none.

use std::sync::{Arc, PoisonError, RwLock};

use base64::{Engine, engine::general_purpose::STANDARD};
use domain::LocalizedText;
use llm::Secret;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::{Principal, StoreError};
use web_access::{Provider, SearchKind, WebHit};

use super::Web;
use crate::{
    error::ApiError,
    messages,
    platform::{
        config::{Missing, Search, search_service, usual_url},
        form_values::{filled, is_same_origin},
    },
    tools::mcp_servers::ListedMcpServer,
};

/// The name of the setting, and of the place of its keys.
const SETTING: &str = "web_search";
const MAX_TEXT_BYTES: usize = 4000;
const TEST_HITS: usize = 5;
/// Every search service finds something about it.
const TEST_QUERY: &str = "weather";

/// The kind of a search provider: a service (`searxng`, `brave`, `tavily`), a tool of an MCP server (`mcp`), or the
/// pages that this server has crawled (`own`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "SearchKind")]
#[serde(rename_all = "lowercase")]
pub(crate) enum SearchKindName {
    Searxng,
    Brave,
    Tavily,
    Mcp,
    Own,
}

/// A search provider to set.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct SearchProviderChange {
    pub(crate) kind: SearchKindName,
    /// The address of the service; optional for `brave` and `tavily`.
    #[serde(default)]
    pub(crate) url: Option<String>,
    /// The API key. It is encrypted and not shown again; absent, the stored key for the same address stays.
    #[serde(default)]
    pub(crate) api_key: Option<String>,
    /// With `mcp`: the name of the tool, such as `finder__search`.
    #[serde(default)]
    pub(crate) tool: Option<String>,
}

/// A search provider, without its key.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "SearchProvider")]
pub(crate) struct SearchProviderView {
    kind: SearchKindName,
    url: Option<String>,
    has_key: bool,
    tool: Option<String>,
    /// Why it is not used.
    problem: Option<LocalizedText>,
}

/// A search provider as it is stored.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Stored {
    kind: SearchKindName,
    url: Option<String>,
    /// Base64 of the encrypted key.
    sealed_key: Option<String>,
    tool: Option<String>,
}

/// The providers in use.
#[derive(Default)]
pub(super) struct SearchChoice {
    current: RwLock<Current>,
    changing: tokio::sync::Mutex<()>,
}

#[derive(Clone, Default)]
struct Current {
    /// Those of the settings; empty if the configuration names the providers.
    stored: Arc<[Stored]>,
    /// In the order in which they are tried.
    usable: Arc<[Search]>,
}

impl SearchChoice {
    /// `configured` are the providers of the configuration.
    pub(super) fn new(configured: &[Search]) -> Self {
        let current = Current {
            usable: configured.into(),
            ..Current::default()
        };
        Self {
            current: RwLock::new(current),
            changing: tokio::sync::Mutex::default(),
        }
    }
}

impl SearchKindName {
    fn service(self) -> Option<SearchKind> {
        match self {
            Self::Searxng => Some(SearchKind::Searxng),
            Self::Brave => Some(SearchKind::Brave),
            Self::Tavily => Some(SearchKind::Tavily),
            Self::Mcp | Self::Own => None,
        }
    }

    fn of(kind: SearchKind) -> Self {
        match kind {
            SearchKind::Searxng => Self::Searxng,
            SearchKind::Brave => Self::Brave,
            SearchKind::Tavily => Self::Tavily,
        }
    }
}

impl Web {
    /// Whether the configuration names the providers, so that they cannot be changed here.
    pub(crate) fn search_is_configured(&self) -> bool {
        !self.config.now().web.searches.is_empty()
    }

    /// The providers in use, in the order in which they are tried.
    pub(super) fn search_providers(&self) -> Arc<[Search]> {
        self.current().usable
    }

    /// The providers as administrators see them.
    pub(crate) fn listed_search_providers(&self) -> Vec<SearchProviderView> {
        if self.search_is_configured() {
            return self.config.now().web.searches.iter().map(view).collect();
        }
        let stored = self.current().stored;
        let views = stored.iter().map(|stored| SearchProviderView {
            kind: stored.kind,
            url: stored.url.clone(),
            has_key: stored.sealed_key.is_some(),
            tool: stored.tool.clone(),
            problem: self
                .checked(stored)
                .err()
                .map(|error| error.problem().clone().words()),
        });
        views.collect()
    }

    /// Reads the stored providers again.
    ///
    /// # Errors
    /// If the database fails.
    pub(crate) async fn reload_search_providers(&self) -> Result<(), StoreError> {
        if self.search_is_configured() {
            return Ok(());
        }
        let stored = self.store.setting(SETTING).await?;
        // A value that a later version wrote is ignored rather than fatal.
        let stored = stored.and_then(|value| serde_json::from_value(value).ok());
        let stored: Vec<Stored> = stored.unwrap_or_default();
        let usable = stored
            .iter()
            .filter_map(|stored| self.search_of(stored).ok());
        let usable = usable.collect();
        let stored = stored.into();
        let mut current = self
            .chosen
            .current
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        *current = Current { stored, usable };
        Ok(())
    }

    /// Replaces the providers.
    ///
    /// # Errors
    /// 400 if one is invalid or named twice, 409 if the configuration names the providers.
    pub(crate) async fn set_search_providers(
        &self,
        providers: Vec<SearchProviderChange>,
    ) -> Result<(), ApiError> {
        if self.search_is_configured() {
            return Err(ApiError::conflict(messages::Settings::SearchConfigured));
        }
        let _changing = self.chosen.changing.lock().await;
        self.reload_search_providers().await?;
        let mut stored: Vec<Stored> = Vec::new();
        for provider in providers {
            if stored.iter().any(|other| other.kind == provider.kind) {
                return Err(ApiError::invalid(messages::Settings::SearchTwice));
            }
            let new = self.stored(provider)?;
            self.checked(&new)?;
            stored.push(new);
        }
        let value = serde_json::to_value(&stored).map_err(ApiError::internal)?;
        self.store.put_setting(SETTING, &value).await?;
        Ok(self.reload_search_providers().await?)
    }

    /// The first results of a provider that need not be stored.
    ///
    /// # Errors
    /// 400 if it is invalid, 422 with the reason if it does not work.
    pub(crate) async fn test_search_provider(
        &self,
        provider: SearchProviderChange,
        principal: &Principal,
    ) -> Result<Vec<WebHit>, ApiError> {
        let search = self.checked(&self.stored(provider)?)?;
        let provider: Provider<'_> = self.provider(&search, principal);
        let found = self.client.search(&[provider], TEST_QUERY, TEST_HITS).await;
        found.map(|found| found.hits).map_err(|problem| {
            ApiError::invalid(problem.sentence())
                .with_status(axum::http::StatusCode::UNPROCESSABLE_ENTITY)
        })
    }

    fn current(&self) -> Current {
        let current = self.chosen.current.read();
        current.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The stored form, with the known key if the change has none and the key would go where it went before.
    fn stored(&self, provider: SearchProviderChange) -> Result<Stored, ApiError> {
        let SearchProviderChange {
            kind,
            url,
            api_key,
            tool,
        } = provider;
        for (field, text) in [("url", &url), ("api_key", &api_key), ("tool", &tool)] {
            if text
                .as_ref()
                .is_some_and(|text| text.len() > MAX_TEXT_BYTES)
            {
                let limit = MAX_TEXT_BYTES as u64;
                let message = messages::Settings::LongAddress { limit };
                return Err(ApiError::invalid(message).with_field(Some(field)));
            }
        }
        let service = kind.service();
        let filled = |text: Option<String>| text.as_deref().and_then(filled);
        let url = filled(url).filter(|_| service.is_some());
        let sealed_key = match filled(api_key).filter(|_| service.is_some()) {
            Some(key) => {
                let sealed = self.sealer.seal(SETTING, &Secret::new(key));
                Some(STANDARD.encode(sealed.map_err(ApiError::internal)?))
            }
            None => {
                let usual = service.map_or("", usual_url);
                let address =
                    |url: &Option<String>| url.clone().unwrap_or_else(|| usual.to_owned());
                let before = self.current().stored;
                let before = before.iter().find(|stored| {
                    stored.kind == kind && is_same_origin(&address(&stored.url), &address(&url))
                });
                before.and_then(|stored| stored.sealed_key.clone())
            }
        };
        Ok(Stored {
            kind,
            url,
            sealed_key,
            tool: filled(tool).filter(|_| kind == SearchKindName::Mcp),
        })
    }

    /// The provider, if it can be used now: a tool needs a server that everyone uses alike.
    fn checked(&self, stored: &Stored) -> Result<Search, ApiError> {
        let search = self.search_of(stored)?;
        let is_there = match &search {
            Search::Tool(tool) => self.mcp_servers.list().iter().any(|it| has_tool(it, tool)),
            Search::Service(_) | Search::Own => true,
        };
        if !is_there {
            let message = messages::Settings::BadSearchTool;
            return Err(ApiError::invalid(message).with_field(Some("tool")));
        }
        Ok(search)
    }

    /// The provider that these settings describe. The server of a tool may come and go.
    fn search_of(&self, stored: &Stored) -> Result<Search, ApiError> {
        let Some(kind) = stored.kind.service() else {
            return Ok(match stored.kind {
                SearchKindName::Own => Search::Own,
                _ => Search::Tool(stored.tool.clone().unwrap_or_default()),
            });
        };
        let key = stored
            .sealed_key
            .as_deref()
            .map(|sealed| self.unseal(sealed));
        let url = stored.url.as_deref().unwrap_or_else(|| usual_url(kind));
        let service = search_service(kind, url, key.transpose()?);
        service.map(Search::Service).map_err(|missing| {
            let (field, message) = match missing {
                Missing::Url => ("url", messages::Settings::SearchUrlMissing),
                Missing::Address => ("url", messages::Settings::BadSearchUrl),
                Missing::Key => ("api_key", messages::Settings::SearchKeyMissing),
            };
            ApiError::invalid(message).with_field(Some(field))
        })
    }

    fn unseal(&self, sealed: &str) -> Result<Secret, ApiError> {
        let sealed = STANDARD.decode(sealed).map_err(ApiError::internal)?;
        let key = self.sealer.unseal(SETTING, &sealed);
        key.map_err(|_| {
            ApiError::invalid(messages::Settings::KeyUnreadable).with_field(Some("api_key"))
        })
    }
}

fn view(search: &Search) -> SearchProviderView {
    let (kind, url, has_key, tool) = match search {
        Search::Service(service) => (
            SearchKindName::of(service.kind),
            Some(service.url.to_string()),
            service.key.is_some(),
            None,
        ),
        Search::Own => (SearchKindName::Own, None, false, None),
        Search::Tool(tool) => (SearchKindName::Mcp, None, false, Some(tool.clone())),
    };
    SearchProviderView {
        kind,
        url,
        has_key,
        tool,
        problem: None,
    }
}

/// Whether a tool of this name may belong to this server, and everyone uses the server alike.
fn has_tool(listed: &ListedMcpServer, tool: &str) -> bool {
    let own = tool
        .strip_prefix(&listed.server.name)
        .and_then(|rest| rest.strip_prefix("__"));
    own.is_some_and(|own| !own.is_empty()) && listed.enabled && !listed.server.is_personal()
}
