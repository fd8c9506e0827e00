//! Messages for people that this crate raises, each with a stable code for translation. Their English texts exist only
//! here.

use domain::{CodedMessage, LocalizedText};
use schemars::JsonSchema;
use serde::Serialize;

/// Why an OAuth sign-in to a server is not possible.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema, thiserror::Error)]
#[serde(tag = "code", content = "params", rename_all = "snake_case")]
#[expect(missing_docs, reason = "their texts say it")]
pub enum OAuth {
    #[error("A sign-in address cannot be used. {why}")]
    SignInAddressUnusable { why: LocalizedText },
    #[error("It has no address.")]
    SignInNoAddress,
    #[error("It does not require a sign-in.")]
    SignInNotNeeded,
    #[error("Its sign-in metadata cannot be read.")]
    SignInUnreadable,
    #[error("It says that its tokens are for another server.")]
    SignInTokensElsewhere,
    #[error("It does not name an authorization server.")]
    #[serde(rename = "sign_in_nobody_named")]
    SignInNoServerNamed,
    #[error("Its authorization server does not say how to sign in.")]
    SignInNoWay,
    #[error("Its authorization server does not say where to sign in.")]
    SignInNoPlace,
    #[error("Its authorization server names a different issuer than expected.")]
    SignInOtherName,
    #[error("Its authorization server does not support PKCE with S256.")]
    SignInUnprotected,
    #[error(
        "Its authorization server does not let clients register themselves. An administrator must create a client \
         there and set its id in oauth.client_id."
    )]
    SignInNotRegistered,
    #[error("Its authorization server refused to register this client: HTTP {status}.")]
    SignInRefusesUs { status: u16 },
}

impl CodedMessage for OAuth {}

#[cfg(test)]
mod tests {
    use schemars::SchemaGenerator;

    use super::*;

    #[test]
    fn a_renamed_variant_keeps_its_code() {
        let text = LocalizedText::from(OAuth::SignInNoServerNamed);
        assert_eq!(text.code(), Some("sign_in_nobody_named"));
        let schema = OAuth::json_schema(&mut SchemaGenerator::default());
        let schema = schema.as_value().to_string();
        assert!(schema.contains("\"sign_in_nobody_named\""), "{schema}");
    }
}
