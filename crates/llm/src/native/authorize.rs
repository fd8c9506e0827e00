//! Puts on a request what proves who sends it, where that is more than a key in a header.

use std::{
    collections::HashMap,
    time::{Duration, SystemTime},
};

use aws_credential_types::Credentials;
use domain::{ProblemCode, Sentence};
use futures_util::FutureExt;
use reqwest::{RequestBuilder, header::AUTHORIZATION};
use tokio::{sync::Mutex, time::Instant};

use super::{
    aws::{AwsKey, signed},
    aws_chain,
    google::{ServiceAccount, Token, token_of_machine},
};
use crate::{
    HttpClient, ProviderKind, Secret,
    openai::{Fault, ServerSettings},
};

/// What has an end is not used so shortly before it.
const SPARE: Duration = Duration::from_secs(60);
/// A failure is remembered this long, so that one failure answers every call that waits.
const PAUSE: Duration = Duration::from_secs(3);

/// What a server's keys, or the machine without a key, gave access to.
#[derive(Debug, Default)]
pub(crate) struct Tokens {
    google: Kept<Secret>,
    aws: Kept<Credentials>,
}

/// What was got with keys, by their place. One call asks, the others wait for its answer.
#[derive(Debug)]
struct Kept<T>(Mutex<HashMap<usize, Got<T>>>);

#[derive(Debug)]
struct Got<T> {
    result: Result<T, String>,
    used_until: Instant,
}

impl<T> Default for Kept<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T: Clone> Kept<T> {
    async fn get_or(
        &self,
        place: usize,
        get: impl Future<Output = Result<(T, Duration), String>>,
    ) -> Result<T, String> {
        let mut kept = self.0.lock().await;
        if let Some(known) = kept
            .get(&place)
            .filter(|known| known.used_until > Instant::now())
        {
            return known.result.clone();
        }
        let (result, good_for) = match get.await {
            Ok((got, good_for)) => (Ok(got), good_for.saturating_sub(SPARE)),
            Err(why) => (Err(why), PAUSE),
        };
        kept.insert(
            place,
            Got {
                result: result.clone(),
                used_until: Instant::now() + good_for,
            },
        );
        result
    }
}

/// Signs a request or gives it a token, where its kind of provider wants that; `place` is that of the key.
pub(crate) async fn authorize(
    request: RequestBuilder,
    server: &ServerSettings,
    (key, place): (Option<&Secret>, usize),
    tokens: &Tokens,
    http: &HttpClient,
) -> Result<RequestBuilder, Fault> {
    let key = key.map(Secret::reveal).filter(|key| !key.is_empty());
    match server.kind {
        ProviderKind::Vertex => {
            let account = match key.map(ServiceAccount::read) {
                // It went into its header already.
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
            let token = tokens.google.get_or(place, get).await.map_err(no_token)?;
            Ok(request.header(AUTHORIZATION, format!("Bearer {}", token.reveal())))
        }
        ProviderKind::Bedrock => {
            let credentials = match AwsKey::read(key) {
                Some(AwsKey::Access(credentials)) => credentials,
                Some(AwsKey::Bearer) => return Ok(request),
                None => {
                    // Boxed, as the futures of AWS's library are too deep to be a part of each call's.
                    let get = aws_chain::credentials(&server.options, http).boxed();
                    tokens.aws.get_or(place, get).await.map_err(no_token)?
                }
            };
            sign(request, server, credentials)
        }
        _ => Ok(request),
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "what is signed says when, by the clock of the world"
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
        let what = (built.method().as_str(), built.url().as_str());
        signed(credentials, region, what, body, SystemTime::now())
    });
    Ok(
        request
            .headers(headers.ok_or_else(|| no_token("the request cannot be signed".to_owned()))?),
    )
}

fn no_token(why: String) -> Fault {
    Fault::new(
        ProblemCode::ModelUnauthorized,
        Sentence::Saying {
            words: Sentence::KeyRefused.into(),
            quote: why,
        },
    )
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn tokens_are_asked_for_once_and_again_before_they_end() {
        let (kept, asked) = (Kept::<u32>::default(), AtomicU32::new(0));
        let get = async || {
            let get = async {
                tokio::time::sleep(Duration::from_secs(1)).await;
                match asked.fetch_add(1, Relaxed) {
                    2 => Err("away".to_owned()),
                    time => Ok((time, Duration::from_secs(100))),
                }
            };
            kept.get_or(0, get).await
        };
        assert_eq!(tokio::join!(get(), get(), get()), (Ok(0), Ok(0), Ok(0)));
        tokio::time::advance(Duration::from_secs(39)).await;
        assert_eq!(get().await, Ok(0));
        tokio::time::advance(Duration::from_secs(2)).await;
        assert_eq!(get().await, Ok(1));
        tokio::time::advance(Duration::from_secs(41)).await;
        let away = Err("away".to_owned());
        assert_eq!(tokio::join!(get(), get()), (away.clone(), away));
        tokio::time::advance(PAUSE).await;
        assert_eq!(get().await, Ok(3));
    }
}
