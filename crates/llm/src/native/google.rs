//! Access tokens of Google Cloud for Vertex AI, from a service account or a Google machine's metadata server.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base64::{
    Engine,
    prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD},
};
use reqwest::{Url, header::CONTENT_TYPE};
use ring::{
    rand::SystemRandom,
    signature::{RSA_PKCS1_SHA256, RsaKeyPair},
};
use serde::Deserialize;
use serde_json::json;

use crate::HttpClient;

/// The token endpoint of the metadata server of Google machines.
const METADATA_SERVER: &str =
    "http://metadata.google.internal/computeMetadata/v1/instance/service-accounts/default/token";
const SCOPE: &str = "https://www.googleapis.com/auth/cloud-platform";
const TOKEN_TIMEOUT: Duration = Duration::from_secs(10);

/// The fields we use of Google's service account file.
#[derive(Deserialize)]
pub(crate) struct ServiceAccount {
    client_email: String,
    private_key: String,
    #[serde(default = "google")]
    token_uri: String,
    private_key_id: Option<String>,
}

fn google() -> String {
    "https://oauth2.googleapis.com/token".to_owned()
}

/// A token and its remaining validity.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Token {
    pub(crate) access_token: String,
    pub(crate) expires_in: u64,
}

impl ServiceAccount {
    /// Reads a key of a connection; `None` if it is an API key.
    pub(crate) fn read(key: &str) -> Option<Self> {
        if key.trim_start().starts_with('{') {
            return serde_json::from_str(key).ok();
        }
        // Base64 on one line, as in environment variables.
        let bytes = BASE64_STANDARD.decode(key.trim()).ok()?;
        serde_json::from_slice(&bytes).ok()
    }

    /// Requests a token from Google.
    ///
    /// # Errors
    /// The reason why there is none.
    #[expect(
        clippy::disallowed_methods,
        reason = "what is signed says when, by the clock of the world"
    )]
    pub(crate) async fn token(&self, http: &HttpClient) -> Result<Token, String> {
        let url =
            Url::parse(&self.token_uri).map_err(|_| "`token_uri` is no address".to_owned())?;
        let assertion = self.assertion(SystemTime::now())?;
        // No character of it needs encoding.
        let form = format!(
            "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion={assertion}"
        );
        let client = http.for_url(&url).map_err(|error| error.to_string())?;
        let request = client
            .post(url)
            .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
            .body(form);
        read(request.timeout(TOKEN_TIMEOUT).send().await).await
    }

    /// The signed request for a token.
    fn assertion(&self, now: SystemTime) -> Result<String, String> {
        let seconds = now.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let header = json!({"alg": "RS256", "typ": "JWT", "kid": self.private_key_id});
        let claims = json!({
            "iss": self.client_email, "scope": SCOPE, "aud": self.token_uri, "iat": seconds, "exp": seconds + 3600,
        });
        let encode = |value: &serde_json::Value| BASE64_URL_SAFE_NO_PAD.encode(value.to_string());
        let signed = format!("{}.{}", encode(&header), encode(&claims));
        let key = self
            .key_pair()
            .ok_or("the private key of the service account cannot be read")?;
        let mut signature = vec![0; key.public().modulus_len()];
        key.sign(
            &RSA_PKCS1_SHA256,
            &SystemRandom::new(),
            signed.as_bytes(),
            &mut signature,
        )
        .map_err(|_| "the private key of the service account does not sign".to_owned())?;
        Ok(format!(
            "{signed}.{}",
            BASE64_URL_SAFE_NO_PAD.encode(signature)
        ))
    }

    fn key_pair(&self) -> Option<RsaKeyPair> {
        let body: String = self
            .private_key
            .lines()
            .filter(|line| !line.starts_with("-----"))
            .collect();
        RsaKeyPair::from_pkcs8(&BASE64_STANDARD.decode(body.trim()).ok()?).ok()
    }
}

/// The token of the machine's own service account.
///
/// # Errors
/// The reason why there is none.
pub(crate) async fn token_of_machine(http: &HttpClient) -> Result<Token, String> {
    let url = Url::parse(METADATA_SERVER).map_err(|error| error.to_string())?;
    let client = http.for_url(&url).map_err(|error| error.to_string())?;
    read(
        client
            .get(url)
            .header("metadata-flavor", "Google")
            .timeout(TOKEN_TIMEOUT)
            .send()
            .await,
    )
    .await
}

async fn read(answer: Result<reqwest::Response, reqwest::Error>) -> Result<Token, String> {
    let answer = answer.map_err(|_| "nobody answers who gives tokens".to_owned())?;
    let status = answer.status();
    let body = answer
        .bytes()
        .await
        .map_err(|_| "the answer with the token broke off".to_owned())?;
    if !status.is_success() {
        let said = String::from_utf8_lossy(&body[..body.len().min(300)]).into_owned();
        return Err(format!("no token was given ({}): {said}", status.as_u16()));
    }
    serde_json::from_slice(&body).map_err(|_| "the answer holds no token".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tells_a_service_account_from_a_key() {
        let file =
            json!({"type": "service_account", "client_email": "a@b", "private_key": "-----BEGIN"})
                .to_string();
        assert_eq!(ServiceAccount::read(&file).unwrap().token_uri, google());
        assert_eq!(
            ServiceAccount::read(&BASE64_STANDARD.encode(&file))
                .unwrap()
                .client_email,
            "a@b"
        );
        assert!(ServiceAccount::read("AIzaSyExample").is_none());
        let error = ServiceAccount::read(&file)
            .unwrap()
            .assertion(UNIX_EPOCH)
            .unwrap_err();
        assert!(error.contains("private key"), "{error}");
    }
}
