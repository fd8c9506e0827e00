//! The AWS credentials of a machine or container, found as AWS's own programs find them: in the environment, a profile,
//! a web identity, and the roles of a container or an instance.

use std::time::{Duration, SystemTime};

use aws_config::{BehaviorVersion, Region};
use aws_credential_types::{Credentials, provider::ProvideCredentials};
use aws_smithy_runtime_api::client::{
    http::{
        HttpConnector, HttpConnectorFuture, HttpConnectorSettings, SharedHttpClient,
        SharedHttpConnector, http_client_fn,
    },
    orchestrator::{HttpRequest, HttpResponse},
    result::ConnectorError,
};
use reqwest::{Method, Url};

use crate::{HttpClient, ProviderOptions};

/// How long credentials without an expiry are cached, as the files they come from may change.
const CREDENTIALS_TTL: Duration = Duration::from_secs(5 * 60);
/// Timeout for credential services where AWS's library sets none.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Looks for credentials; returns them with their remaining validity.
///
/// # Errors
/// The reason why there are none.
#[expect(
    clippy::disallowed_methods,
    reason = "AWS says by the clock of the world when credentials end"
)]
pub(crate) async fn credentials(
    options: &ProviderOptions,
    http: &HttpClient,
) -> Result<(Credentials, Duration), String> {
    let mut loader =
        aws_config::defaults(BehaviorVersion::latest()).http_client(client(http.clone()));
    if let Some(region) = &options.region {
        loader = loader.region(Region::new(region.clone()));
    }
    if let Some(profile) = &options.profile {
        loader = loader.profile_name(profile);
    }
    let chain = loader.load().await.credentials_provider();
    let found = chain
        .ok_or_else(no_credentials)?
        .provide_credentials()
        .await
        .map_err(|error| {
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                "no AWS credentials"
            );
            no_credentials()
        })?;
    let left = found
        .expiry()
        .map(|end| end.duration_since(SystemTime::now()).unwrap_or_default());
    Ok((found, left.unwrap_or(CREDENTIALS_TTL)))
}

fn no_credentials() -> String {
    "this machine has no AWS credentials that can be used".to_owned()
}

/// Our HTTP connections, for AWS's library.
fn client(http: HttpClient) -> SharedHttpClient {
    http_client_fn(move |settings, _| {
        SharedHttpConnector::new(Connector {
            http: http.clone(),
            timeout: timeout(settings),
        })
    })
}

fn timeout(settings: &HttpConnectorSettings) -> Duration {
    let both = settings.connect_timeout().zip(settings.read_timeout());
    both.map_or(TIMEOUT, |(connect, read)| (connect + read).min(TIMEOUT))
}

#[derive(Debug)]
struct Connector {
    http: HttpClient,
    timeout: Duration,
}

impl HttpConnector for Connector {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        let http = self.http.clone();
        let timeout = self.timeout;
        HttpConnectorFuture::new(async move { send(request, &http, timeout).await })
    }
}

async fn send(
    request: HttpRequest,
    http: &HttpClient,
    timeout: Duration,
) -> Result<HttpResponse, ConnectorError> {
    let invalid = |error: Box<dyn std::error::Error + Send + Sync>| ConnectorError::user(error);
    let url = Url::parse(request.uri()).map_err(|error| invalid(error.into()))?;
    let method: Method = request
        .method()
        .parse()
        .map_err(|_| invalid("unknown method".into()))?;
    let client = http.for_url(&url).map_err(|error| invalid(error.into()))?;
    let mut sent = client.request(method, url).timeout(timeout);
    for (name, value) in request.headers() {
        sent = sent.header(name, value);
    }
    let body = request
        .body()
        .bytes()
        .ok_or_else(|| invalid("a body that is streamed".into()))?
        .to_vec();
    let answer = sent.body(body).send().await.map_err(failed)?;
    let status = answer.status().as_u16();
    let headers = answer.headers().clone();
    let body = answer.bytes().await.map_err(failed)?;
    let status = status
        .try_into()
        .map_err(|_| invalid("unknown status".into()))?;
    let mut read = HttpResponse::new(status, body.to_vec().into());
    for (name, value) in &headers {
        if let Ok(value) = value.to_str() {
            read.headers_mut()
                .append(name.as_str().to_owned(), value.to_owned());
        }
    }
    Ok(read)
}

fn failed(error: reqwest::Error) -> ConnectorError {
    match error.is_timeout() {
        true => ConnectorError::timeout(error.into()),
        false => ConnectorError::io(error.into()),
    }
}
