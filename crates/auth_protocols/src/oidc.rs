//! OpenID Connect: a provider's metadata and keys, the exchange of a code for claims about a user, and their groups.

mod claims;
mod groups;
mod jwt;
mod provider;

pub use claims::subject;
pub use groups::GroupsClaim;
pub use provider::{
    Claims, Code, MetadataCache, Provider, ProviderFault, ProviderMetadata, Settings,
};
