//! How tokens of Google are requested: with a signed assertion of a service account, or a refresh token.

use base64::{
    Engine,
    prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD},
};
use ring::{
    rand::SystemRandom,
    signature::{RSA_PKCS1_SHA256, RsaKeyPair},
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    SettingProblem, SourceProblem,
    api::{self, Grant},
    problem::invalid,
};

pub(crate) const TOKEN_URL: &str = "https://oauth2.googleapis.com/token";
pub(super) const SCOPE: &str = "https://www.googleapis.com/auth/drive.readonly";
/// How long an assertion is valid, seconds.
const VALID_S: i64 = 3_600;

#[derive(Deserialize)]
#[serde(untagged)]
enum Secret {
    ServiceAccount {
        client_email: String,
        private_key: String,
        private_key_id: Option<String>,
        token_uri: Option<String>,
    },
    Person {
        client_id: String,
        client_secret: String,
        refresh_token: String,
    },
}

/// What an assertion says.
struct Signer {
    key: RsaKeyPair,
    key_id: Option<String>,
    email: String,
    /// The address that the assertion is for: Google's, also if requests go through a proxy.
    audience: String,
    scope: &'static str,
    subject: Option<String>,
}

/// `subject` is the person that a service account acts for.
///
/// # Errors
/// `Refused` if the secret is neither; `Settings` if only a service account can act for a person.
pub(crate) fn grant(
    secret: &str,
    scope: &'static str,
    subject: Option<&str>,
) -> Result<Grant, SourceProblem> {
    let subject = subject
        .map(|subject| api::filled("subject", subject))
        .transpose()?;
    match serde_json::from_str(secret).map_err(|_| SourceProblem::Refused)? {
        Secret::ServiceAccount {
            client_email,
            private_key,
            private_key_id,
            token_uri,
        } => {
            let signer = Signer {
                key: key_pair(&private_key).ok_or(SourceProblem::Refused)?,
                key_id: private_key_id,
                email: client_email,
                audience: token_uri.unwrap_or_else(|| TOKEN_URL.to_owned()),
                scope,
                subject: subject.map(ToOwned::to_owned),
            };
            Ok(Box::new(move || {
                let assertion = signer.assertion(api::now_s())?;
                let kind = "urn:ietf:params:oauth:grant-type:jwt-bearer".to_owned();
                Ok(vec![("grant_type", kind), ("assertion", assertion)])
            }))
        }
        Secret::Person { .. } if subject.is_some() => {
            Err(invalid("subject", SettingProblem::OnlyServiceAccounts))
        }
        Secret::Person {
            client_id,
            client_secret,
            refresh_token,
        } => Ok(Box::new(move || {
            Ok(vec![
                ("grant_type", "refresh_token".to_owned()),
                ("client_id", client_id.clone()),
                ("client_secret", client_secret.clone()),
                ("refresh_token", refresh_token.clone()),
            ])
        })),
    }
}

impl Signer {
    fn assertion(&self, now_s: i64) -> Result<String, SourceProblem> {
        let mut header = json!({ "alg": "RS256", "typ": "JWT" });
        if let Some(id) = &self.key_id {
            header["kid"] = json!(id);
        }
        let mut claims = json!({
            "iss": self.email, "scope": self.scope, "aud": self.audience, "iat": now_s, "exp": now_s + VALID_S,
        });
        if let Some(subject) = &self.subject {
            claims["sub"] = json!(subject);
        }
        let encode = |value: &Value| BASE64_URL_SAFE_NO_PAD.encode(value.to_string());
        let signed = format!("{}.{}", encode(&header), encode(&claims));
        let mut signature = vec![0; self.key.public().modulus_len()];
        let random = SystemRandom::new();
        let key = &self.key;
        key.sign(
            &RSA_PKCS1_SHA256,
            &random,
            signed.as_bytes(),
            &mut signature,
        )
        .map_err(|_| SourceProblem::Refused)?;
        let signature = BASE64_URL_SAFE_NO_PAD.encode(signature);
        Ok(format!("{signed}.{signature}"))
    }
}

fn key_pair(pem: &str) -> Option<RsaKeyPair> {
    let lines = pem.lines().filter(|line| !line.starts_with("-----"));
    let der = BASE64_STANDARD.decode(lines.collect::<String>()).ok()?;
    RsaKeyPair::from_pkcs8(&der).ok()
}
