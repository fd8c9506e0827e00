//! Access tokens of Google Cloud: issued for assertions signed by the service account, and required by Vertex AI.

use base64::{
    Engine,
    prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD},
};
use ring::signature::{RSA_PKCS1_2048_8192_SHA256, RsaKeyPair, UnparsedPublicKey};
use serde_json::{Value, json};

use super::text_of;
use crate::{Behaviour, Reply, Request};

/// Generated for tests; it gives access to nothing.
const PRIVATE_KEY: &str = include_str!("service_account.pem");
const EMAIL: &str = "tests@scripted.iam.gserviceaccount.com";
const TOKEN: &str = "ya29.scripted";
const GRANT: &str = "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=";

/// The credentials file of the service account, whose tokens are issued by this server, the one from [`super::start`].
#[must_use]
pub fn service_account(server: &str) -> String {
    json!({
        "type": "service_account", "project_id": "scripted", "private_key_id": "1", "private_key": PRIVATE_KEY,
        "client_email": EMAIL, "token_uri": format!("{server}/token"),
    })
    .to_string()
}

/// Issues a token to the authenticated service account.
#[must_use]
pub fn tokens() -> Behaviour {
    Behaviour::answer(|request| {
        match std::str::from_utf8(&request.bytes)
            .ok()
            .and_then(|form| form.strip_prefix(GRANT))
        {
            Some(assertion) if is_valid(assertion) => Reply::json(
                &json!({"access_token": TOKEN, "expires_in": 3599, "token_type": "Bearer"}),
            ),
            _ => {
                let refused = json!({"error": "invalid_grant", "error_description": "Invalid JWT Signature."});
                Reply::status(
                    400,
                    &[("content-type", "application/json")],
                    &refused.to_string(),
                )
            }
        }
    })
}

/// Whether the assertion has the required claims and is signed.
fn is_valid(assertion: &str) -> bool {
    let decoded = |part: &str| BASE64_URL_SAFE_NO_PAD.decode(part).ok();
    let body: String = PRIVATE_KEY
        .lines()
        .filter(|line| !line.starts_with("-----"))
        .collect();
    let key = BASE64_STANDARD
        .decode(body)
        .ok()
        .and_then(|key| RsaKeyPair::from_pkcs8(&key).ok());
    let (Some((signed, signature)), Some(key)) = (assertion.rsplit_once('.'), key) else {
        return false;
    };
    let public = UnparsedPublicKey::new(&RSA_PKCS1_2048_8192_SHA256, key.public().as_ref());
    let is_signed =
        decoded(signature).is_some_and(|it| public.verify(signed.as_bytes(), &it).is_ok());
    let claims = signed
        .split_once('.')
        .and_then(|(_, claims)| decoded(claims));
    let claims: Value = claims
        .and_then(|it| serde_json::from_slice(&it).ok())
        .unwrap_or_default();
    is_signed
        && text_of(&claims, "iss") == EMAIL
        && text_of(&claims, "aud").ends_with("/token")
        && text_of(&claims, "scope") == "https://www.googleapis.com/auth/cloud-platform"
        && claims["exp"].as_u64() > claims["iat"].as_u64()
}

/// Verifies that the request has the token, and the URL of a model of the project.
pub(super) fn check(request: &Request) -> Result<(), String> {
    if request
        .header("authorization")
        .and_then(|it| it.strip_prefix("Bearer "))
        != Some(TOKEN)
        || request.header("x-goog-api-key").is_some()
    {
        return Err(
            "Request had invalid authentication credentials. Expected OAuth 2 access token."
                .to_owned(),
        );
    }
    let model = request
        .path
        .strip_prefix("/v1/projects/scripted/locations/europe-west4/publishers/google/models/");
    match model.and_then(|it| it.strip_suffix(":streamGenerateContent?alt=sse")) {
        Some(model) if !model.contains('/') => Ok(()),
        _ => Err(format!("Permission denied on resource {}.", request.path)),
    }
}
