//! The search providers of an account: services, a tool of an MCP server, and crawled pages.

mod own;

use std::time::Duration;

use futures_util::{FutureExt, future::BoxFuture};
use store::Principal;
use web_access::{
    Provider, ProviderError, SearchProvider, Searched, WebHit, WebProblem, search_tool,
};

use super::Web;
use crate::{platform::config::Search, tools::mcp_servers::McpServers};
use own::OwnPages;

/// A tool of an MCP server.
struct McpTool<'a> {
    mcp_servers: &'a McpServers,
    /// Its name for models.
    name: &'a str,
}

impl SearchProvider for McpTool<'_> {
    fn name(&self) -> &str {
        self.name
    }

    fn search<'a>(
        &'a self,
        query: &'a str,
        limit: usize,
        time: Duration,
    ) -> BoxFuture<'a, Result<Vec<WebHit>, ProviderError>> {
        async move {
            let arguments = |schema: &_| search_tool::arguments(schema, query, limit);
            let answer = self.mcp_servers.ask(self.name, arguments, time).await;
            answer
                .map(|answer| search_tool::hits(&answer))
                .map_err(ProviderError::Failed)
        }
        .boxed()
    }
}

impl Web {
    /// Whether a provider is available for this account.
    pub(crate) fn searches(&self, principal: &Principal) -> bool {
        self.searching_for(principal).next().is_some()
    }

    /// The providers for this account. Collections belong to accounts, not to the users of a front end.
    fn searching_for(&self, principal: &Principal) -> impl Iterator<Item = &Search> {
        let is_person = principal.is_front_end_person();
        self.settings
            .searches
            .iter()
            .filter(move |search| !(is_person && matches!(search, Search::Own)))
    }

    /// Whether reading pages is enabled.
    pub(crate) fn reads(&self) -> bool {
        self.settings.fetch
    }

    /// The results of this account's first provider that finds any; see [`web_access::WebClient::search`].
    ///
    /// # Errors
    /// Why nothing was searched, or the providers' errors.
    pub(crate) async fn search(
        &self,
        principal: &Principal,
        query: &str,
        limit: usize,
    ) -> Result<Searched, WebProblem> {
        let providers: Vec<Provider<'_>> = self
            .searching_for(principal)
            .map(|search| self.provider(search, principal))
            .collect();
        self.client.search(&providers, query, limit).await
    }

    fn provider<'a>(&'a self, search: &'a Search, principal: &'a Principal) -> Provider<'a> {
        match search {
            Search::Service(settings) => Provider::Service(settings),
            Search::Own => Provider::Custom(Box::new(OwnPages {
                store: &self.store,
                documents: &self.documents,
                principal,
            })),
            Search::Tool(name) => Provider::Custom(Box::new(McpTool {
                mcp_servers: &self.mcp_servers,
                name,
            })),
        }
    }
}
