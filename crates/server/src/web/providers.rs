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
        let providers = self.search_providers();
        providers.iter().any(|search| is_for(search, principal))
    }

    /// Whether reading pages is enabled.
    pub(crate) fn reads(&self) -> bool {
        self.config.now().web.fetch
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
        let providers = self.search_providers();
        let providers: Vec<Provider<'_>> = providers
            .iter()
            .filter(|search| is_for(search, principal))
            .map(|search| self.provider(search, principal))
            .collect();
        self.client.search(&providers, query, limit).await
    }

    pub(super) fn provider<'a>(
        &'a self,
        search: &'a Search,
        principal: &'a Principal,
    ) -> Provider<'a> {
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

/// Collections belong to accounts, not to the people of a front end.
fn is_for(search: &Search, principal: &Principal) -> bool {
    !(principal.is_front_end_person() && matches!(search, Search::Own))
}
