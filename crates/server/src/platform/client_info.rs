//! Where a request comes from: the address of whoever sent it, and what their browser calls itself.

use std::net::IpAddr;

use axum::http::{Extensions, HeaderMap, header};

use crate::{
    error::ApiError,
    platform::{listen::Peer, proxies::Proxies},
};

/// What browsers say is shorter; the rest would tell nothing.
const MAX_USER_AGENT_CHARS: usize = 300;

/// Where a request comes from. Extracts on every route.
#[derive(Debug, Clone)]
pub(crate) struct ClientInfo {
    /// The sender's, or what a trusted proxy says it is.
    pub(crate) address: IpAddr,
    /// The beginning of `User-Agent`.
    pub(crate) user_agent: Option<String>,
}

impl ClientInfo {
    /// Where a request with these comes from.
    ///
    /// # Errors
    /// 500 where the connection it came by is not known.
    pub(crate) fn of(
        proxies: &Proxies,
        extensions: &Extensions,
        headers: &HeaderMap,
    ) -> Result<Self, ApiError> {
        let peer = extensions.get::<Peer>();
        let Peer(peer) = peer.ok_or_else(|| ApiError::internal("a request without an address"))?;
        let address = proxies.client(peer.ip(), headers);
        let user_agent = headers
            .get(header::USER_AGENT)
            .and_then(|value| value.to_str().ok());
        let user_agent = user_agent.map(|text| text.chars().take(MAX_USER_AGENT_CHARS).collect());
        Ok(Self {
            address,
            user_agent,
        })
    }
}
