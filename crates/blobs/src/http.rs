//! HTTP for the clients of object storages, by the program's one HTTP client: no second TLS library, no redirects.

use std::{error::Error, io, time::Duration};

use async_trait::async_trait;
use object_store::{
    ClientOptions,
    client::{
        HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse,
        HttpResponseBody, HttpService,
    },
};
use reqwest::{Body, Client, Request, redirect};

/// Time to connect.
const CONNECT: Duration = Duration::from_secs(5);
/// Time between two pieces of an answer.
const SILENCE: Duration = Duration::from_secs(20);
/// Time for a request with its answer.
const WHOLE: Duration = Duration::from_secs(300);

/// Makes clients. The options of `object_store` about connections have no effect.
#[derive(Debug)]
pub(crate) struct Connector;

#[derive(Debug)]
struct Service(Client);

impl HttpConnector for Connector {
    fn connect(&self, _: &ClientOptions) -> object_store::Result<HttpClient> {
        // Fails only if a provider is already installed, which is fine.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let settings = || {
            Client::builder()
                .tcp_nodelay(true)
                .connect_timeout(CONNECT)
                .read_timeout(SILENCE)
                .timeout(WHOLE)
                .redirect(redirect::Policy::none())
                .referer(false)
                .user_agent(concat!("glasshouse/", env!("CARGO_PKG_VERSION")))
        };
        // A machine without any certificates can still send plain HTTP requests.
        let client = settings()
            .build()
            .or_else(|_| settings().tls_certs_only([]).build());
        let client = client.map_err(|error| object_store::Error::Generic {
            store: "HTTP",
            source: Box::new(error),
        })?;
        Ok(HttpClient::new(Service(client)))
    }
}

#[async_trait]
impl HttpService for Service {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let (parts, body) = request.into_parts();
        let url = parts.uri.to_string().parse();
        let url = url.map_err(|error| HttpError::new(HttpErrorKind::Unknown, InvalidUrl(error)))?;
        let mut request = Request::new(parts.method, url);
        *request.headers_mut() = parts.headers;
        *request.body_mut() = Some(match body.as_bytes() {
            Some(bytes) => bytes.clone().into(),
            None => Body::wrap(body),
        });
        let answer = self.0.execute(request).await.map_err(failed)?;
        let (parts, body) = hyper::http::Response::<Body>::from(answer).into_parts();
        let body = HttpResponseBody::new(http_body_util::BodyExt::map_err(body, failed));
        Ok(HttpResponse::from_parts(parts, body))
    }
}

#[derive(Debug, thiserror::Error)]
#[error("invalid URL: {0}")]
struct InvalidUrl(<reqwest::Url as std::str::FromStr>::Err);

/// The kind of an error decides whether the request is sent again.
fn failed(error: reqwest::Error) -> HttpError {
    let kind = if error.is_timeout() {
        HttpErrorKind::Timeout
    } else if error.is_connect() {
        HttpErrorKind::Connect
    } else if error.is_decode() {
        HttpErrorKind::Decode
    } else {
        kind_of_cause(&error)
    };
    // A URL may have a signature in it.
    HttpError::new(kind, error.without_url())
}

fn kind_of_cause(error: &reqwest::Error) -> HttpErrorKind {
    let mut source = error.source();
    while let Some(cause) = source {
        if let Some(error) = cause.downcast_ref::<hyper::Error>() {
            if error.is_closed() || error.is_incomplete_message() || error.is_body_write_aborted() {
                return HttpErrorKind::Request;
            }
            if error.is_timeout() {
                return HttpErrorKind::Timeout;
            }
        }
        match cause.downcast_ref::<io::Error>().map(io::Error::kind) {
            Some(io::ErrorKind::TimedOut) => return HttpErrorKind::Timeout,
            Some(
                io::ErrorKind::ConnectionAborted
                | io::ErrorKind::ConnectionReset
                | io::ErrorKind::BrokenPipe
                | io::ErrorKind::UnexpectedEof,
            ) => return HttpErrorKind::Interrupted,
            _ => {}
        }
        source = cause.source();
    }
    HttpErrorKind::Unknown
}
