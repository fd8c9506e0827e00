//! Resolves names and drops forbidden addresses. The connection uses the resulting addresses without another lookup, so
//! DNS rebinding has no effect.

use std::{
    io,
    net::{IpAddr, SocketAddr},
    pin::Pin,
    sync::Arc,
};

use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use crate::{Allowed, Fault};

/// Maximum number of addresses tried for one name.
const MAX_ADDRESSES: usize = 16;

/// A resolver.
pub type Lookup = Arc<
    dyn Fn(String) -> Pin<Box<dyn Future<Output = io::Result<Vec<IpAddr>>> + Send>> + Send + Sync,
>;

/// The system's resolver.
#[must_use]
pub fn system_lookup() -> Lookup {
    Arc::new(|name| {
        Box::pin(async move {
            let found = tokio::net::lookup_host((name, 0)).await?;
            Ok(found.map(|address| address.ip()).collect())
        })
    })
}

pub(crate) struct Guard {
    allowed: Arc<Allowed>,
    lookup: Lookup,
}

impl Guard {
    pub(crate) fn new(allowed: Allowed, lookup: Lookup) -> Self {
        Self {
            allowed: Arc::new(allowed),
            lookup,
        }
    }
}

impl Resolve for Guard {
    fn resolve(&self, name: Name) -> Resolving {
        let allowed = Arc::clone(&self.allowed);
        let found = (self.lookup)(name.as_str().to_owned());
        Box::pin(async move {
            let found = found.await?;
            // The connection replaces port 0 by its own.
            let kept = permitted(found, &allowed)?.into_iter();
            let kept: Vec<SocketAddr> = kept.map(|address| SocketAddr::new(address, 0)).collect();
            Ok(Box::new(kept.into_iter()) as Addrs)
        })
    }
}

/// The addresses of a name that may be reached.
pub(crate) fn permitted(found: Vec<IpAddr>, allowed: &Allowed) -> Result<Vec<IpAddr>, Fault> {
    let some = !found.is_empty();
    let kept = found
        .into_iter()
        .filter(|address| allowed.permits(*address))
        .take(MAX_ADDRESSES);
    let kept: Vec<IpAddr> = kept.collect();
    match kept.is_empty() {
        true if some => Err(Fault::NotAllowed),
        true => Err(Fault::Unreachable),
        false => Ok(kept),
    }
}
