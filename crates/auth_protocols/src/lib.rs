//! Sign-in protocols: OAuth 2 as a client, OpenID Connect, WebAuthn and second-factor codes. Accounts, storage and
//! routes are up to the caller.

pub mod messages;
pub mod oauth;
pub mod oidc;
pub mod second_factor;
pub mod webauthn;
