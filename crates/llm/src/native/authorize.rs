//! Signs requests or adds access tokens, for providers whose key alone does not authorize a request.

use std::{
    collections::HashMap,
    time::{Duration, SystemTime},
};

use aws_credential_types::Credentials;
use domain::ProblemCode;
use futures_util::FutureExt;
use reqwest::{RequestBuilder, header::AUTHORIZATION};
use tokio::{sync::Mutex, time::Instant};

use super::{
    aws::{AwsKey, signed},
    aws_chain,
    google::{ServiceAccount, Token, token_of_machine},
};
use crate::{
    HttpClient, ProviderKind, Secret, messages,
    openai::{Fault, ServerSettings},
};

/// Credentials are renewed this long before they expire.
const EXPIRY_MARGIN: Duration = Duration::from_secs(60);
/// A failure is remembered this long, so that it answers all waiting calls.
const FAILURE_TTL: Duration = Duration::from_secs(3);

/// The credentials obtained with a server's keys, or by a machine without a key.
#[derive(Debug, Default)]
pub(crate) struct Tokens {
    google: TokenCache<Secret>,
    aws: TokenCache<Credentials>,
}

/// Credentials by the index of their key. One call fetches them, the others wait for it.
#[derive(Debug)]
struct TokenCache<T>(Mutex<HashMap<usize, CachedToken<T>>>);

#[derive(Debug)]
struct CachedToken<T> {
    result: Result<T, String>,
    used_until: Instant,
}

impl<T> Default for TokenCache<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T: Clone> TokenCache<T> {
    async fn get_or_fetch(
        &self,
        key_index: usize,
        get: impl Future<Output = Result<(T, Duration), String>>,
    ) -> Result<T, String> {
        let mut cached = self.0.lock().await;
        if let Some(known) = cached
            .get(&key_index)
            .filter(|known| known.used_until > Instant::now())
        {
            return known.result.clone();
        }
        let (result, good_for) = match get.await {
            Ok((got, good_for)) => (Ok(got), good_for.saturating_sub(EXPIRY_MARGIN)),
            Err(why) => (Err(why), FAILURE_TTL),
        };
        cached.insert(
            key_index,
            CachedToken {
                result: result.clone(),
                used_until: Instant::now() + good_for,
            },
        );
        result
    }
}

/// Signs a request or adds a token, if its kind of provider requires that; `key_index` is the index of the key.
pub(crate) async fn authorize(
    request: RequestBuilder,
    server: &ServerSettings,
    key: Option<&Secret>,
    key_index: usize,
    tokens: &Tokens,
    http: &HttpClient,
) -> Result<RequestBuilder, Fault> {
    let key = key.map(Secret::reveal).filter(|key| !key.is_empty());
    match server.kind {
        ProviderKind::Vertex => {
            let account = match key.map(ServiceAccount::read) {
                // The key is already in its header.
                Some(None) => return Ok(request),
                Some(account) => account,
                None => None,
            };
            let get = async {
                let Token {
                    access_token,
                    expires_in,
                } = match account {
                    Some(account) => account.token(http).await?,
                    None => token_of_machine(http).await?,
                };
                Ok((Secret::new(access_token), Duration::from_secs(expires_in)))
            };
            let token = tokens
                .google
                .get_or_fetch(key_index, get)
                .await
                .map_err(no_token)?;
            Ok(request.header(AUTHORIZATION, format!("Bearer {}", token.reveal())))
        }
        ProviderKind::Bedrock => {
            let credentials = match AwsKey::read(key) {
                Some(AwsKey::Access(credentials)) => credentials,
                Some(AwsKey::Bearer) => return Ok(request),
                None => {
                    // Boxed, as the futures of AWS's library are too large to be part of each call's.
                    let get = aws_chain::credentials(&server.options, http).boxed();
                    tokens
                        .aws
                        .get_or_fetch(key_index, get)
                        .await
                        .map_err(no_token)?
                }
            };
            sign(request, server, credentials)
        }
        _ => Ok(request),
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "a signature contains the wall-clock time"
)]
fn sign(
    request: RequestBuilder,
    server: &ServerSettings,
    credentials: Credentials,
) -> Result<RequestBuilder, Fault> {
    let region = server.options.region.as_deref().unwrap_or("us-east-1");
    let built = request.try_clone().and_then(|request| request.build().ok());
    let headers = built.and_then(|built| {
        let body = built
            .body()
            .and_then(|body| body.as_bytes())
            .unwrap_or_default();
        signed(
            credentials,
            region,
            built.method().as_str(),
            built.url().as_str(),
            body,
            SystemTime::now(),
        )
    });
    Ok(
        request
            .headers(headers.ok_or_else(|| no_token("the request cannot be signed".to_owned()))?),
    )
}

fn no_token(why: String) -> Fault {
    Fault::new(
        ProblemCode::ModelUnauthorized,
        messages::Models::Saying {
            words: messages::Models::KeyRefused.into(),
            quote: why,
        },
    )
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn tokens_are_fetched_once_and_renewed_before_expiry() {
        let cached = TokenCache::<u32>::default();
        let asked = AtomicU32::new(0);
        let get = async || {
            let get = async {
                tokio::time::sleep(Duration::from_secs(1)).await;
                match asked.fetch_add(1, Relaxed) {
                    2 => Err("away".to_owned()),
                    time => Ok((time, Duration::from_secs(100))),
                }
            };
            cached.get_or_fetch(0, get).await
        };
        assert_eq!(tokio::join!(get(), get(), get()), (Ok(0), Ok(0), Ok(0)));
        tokio::time::advance(Duration::from_secs(39)).await;
        assert_eq!(get().await, Ok(0));
        tokio::time::advance(Duration::from_secs(2)).await;
        assert_eq!(get().await, Ok(1));
        tokio::time::advance(Duration::from_secs(41)).await;
        let away = Err("away".to_owned());
        assert_eq!(tokio::join!(get(), get()), (away.clone(), away));
        tokio::time::advance(FAILURE_TTL).await;
        assert_eq!(get().await, Ok(3));
    }
}
