//! Finding the addresses of a name, and leaving out those where nobody is let. What is left is what is connected to: nobody
//! asks for the name a second time, so an answer that changes between check and connection changes nothing.

use std::{
    io,
    net::{IpAddr, SocketAddr},
    pin::Pin,
    sync::Arc,
};

use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use crate::{Allowed, Fault};

/// Most addresses of one name that are tried.
const MOST: usize = 16;

/// How the addresses of a name are found.
pub type Lookup = Arc<
    dyn Fn(String) -> Pin<Box<dyn Future<Output = io::Result<Vec<IpAddr>>> + Send>> + Send + Sync,
>;

/// As the system finds them.
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
        let (allowed, found) = (
            Arc::clone(&self.allowed),
            (self.lookup)(name.as_str().to_owned()),
        );
        Box::pin(async move {
            let found = found.await?;
            let some = !found.is_empty();
            // The connection's own port is put in place of 0.
            let kept = found
                .into_iter()
                .filter(|address| allowed.permits(*address))
                .take(MOST);
            let kept: Vec<SocketAddr> = kept.map(|address| SocketAddr::new(address, 0)).collect();
            match kept.is_empty() {
                true if some => Err(Fault::NotAllowed.into()),
                true => Err(Fault::Unreachable.into()),
                false => Ok(Box::new(kept.into_iter()) as Addrs),
            }
        })
    }
}
