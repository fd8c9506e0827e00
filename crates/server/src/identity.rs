//! Who people and programs are and what they may do: accounts, sessions, sign-in, groups, permissions, keys and the audit log.

pub mod api_key;
pub(crate) mod audit;
pub mod auth;
pub mod groups;
pub(crate) mod oauth;
pub(crate) mod oidc;
pub(crate) mod provisioning;
pub(crate) mod webauthn;
