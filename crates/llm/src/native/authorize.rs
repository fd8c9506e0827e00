//! Puts on a request what proves who sends it, where that is more than a key in a header.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
    time::{Duration, SystemTime},
};

use domain::{ProblemCode, Sentence};
use reqwest::{RequestBuilder, header::AUTHORIZATION};
use tokio::time::Instant;

use super::{
    aws::{AwsKey, signed},
    google::{ServiceAccount, Token, token_of_machine},
};
use crate::{
    HttpClient, ProviderKind, Secret,
    openai::{Fault, ServerSettings},
};

/// A token is not used so shortly before its end.
const SPARE: Duration = Duration::from_secs(60);

/// The tokens of a server's keys, by their place.
#[derive(Debug, Default)]
pub(crate) struct Tokens(Mutex<HashMap<usize, (String, Instant)>>);

impl Tokens {
    fn get(&self, key: usize) -> Option<String> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(&key).filter(|(_, until)| *until > Instant::now()).map(|(token, _)| token.clone())
    }

    fn put(&self, key: usize, Token { access_token, expires_in }: Token) -> String {
        let until = Instant::now() + Duration::from_secs(expires_in).saturating_sub(SPARE);
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.insert(key, (access_token.clone(), until));
        access_token
    }
}

/// Signs a request or gives it a token, where its kind of provider wants that; `place` is that of the key.
#[expect(clippy::disallowed_methods, reason = "what is signed says when, by the clock of the world")]
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
            let account = key.map(ServiceAccount::read);
            let token = match (tokens.get(place), &account) {
                // It went into its header already.
                (_, Some(None)) => return Ok(request),
                (Some(token), _) => Ok(token),
                (None, Some(Some(account))) => {
                    account.token(http).await.map(|token| tokens.put(place, token))
                }
                (None, None) => token_of_machine(http).await.map(|token| tokens.put(place, token)),
            };
            Ok(request.header(AUTHORIZATION, format!("Bearer {}", token.map_err(no_token)?)))
        }
        ProviderKind::Bedrock => match AwsKey::read(key) {
            Some(AwsKey::Access(credentials)) => {
                let region = server.options.region.as_deref().unwrap_or("us-east-1");
                let built = request.try_clone().and_then(|request| request.build().ok());
                let headers = built.and_then(|built| {
                    let body = built.body().and_then(|body| body.as_bytes()).unwrap_or_default();
                    let what = (built.method().as_str(), built.url().as_str());
                    signed(credentials, region, what, body, SystemTime::now())
                });
                Ok(request
                    .headers(headers.ok_or_else(|| no_token("the request cannot be signed".to_owned()))?))
            }
            Some(AwsKey::Bearer) | None => Ok(request),
        },
        _ => Ok(request),
    }
}

fn no_token(why: String) -> Fault {
    Fault::new(
        ProblemCode::ModelUnauthorized,
        Sentence::Saying { words: Sentence::KeyRefused.into(), quote: why },
    )
}
