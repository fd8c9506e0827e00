//! The protocols of signing in: OAuth 2 as a client, OpenID Connect, WebAuthn, and second-factor codes. What an account
//! is, where it is stored and which route is called, callers know.

pub mod messages;
pub mod oauth;
pub mod oidc;
pub mod second_factor;
pub mod webauthn;
