//! The origin of a request: the client's address and user agent.

use std::net::IpAddr;

use axum::http::{Extensions, HeaderMap, header};

use crate::{
    error::ApiError,
    platform::{listen::Peer, proxies::Proxies},
};

/// Maximum length of a stored user agent; those of browsers are shorter.
const MAX_USER_AGENT_CHARS: usize = 300;

/// The origin of a request. An extractor for every route.
#[derive(Debug, Clone)]
pub(crate) struct ClientInfo {
    /// The peer's address, or the one that a trusted proxy reports.
    pub(crate) address: IpAddr,
    /// The beginning of `User-Agent`.
    pub(crate) user_agent: Option<String>,
}

impl ClientInfo {
    /// The origin of a request with these extensions and headers.
    ///
    /// # Errors
    /// 500 if the peer's address is unknown.
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
