//! OpenID Connect: a provider's metadata and keys, the exchange of a code for claims about a user, and their groups.

mod groups;
mod jwt;
mod provider;

pub use groups::GroupsClaim;
pub use provider::{
    Claims, Code, MetadataCache, Provider, ProviderFault, ProviderMetadata, Settings,
};
