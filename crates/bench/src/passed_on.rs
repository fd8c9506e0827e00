//! A proxy that forwards calls to a real model server one at a time, each within the same limits, and counts tokens.

use std::{
    net::{Ipv4Addr, SocketAddr},
    sync::{Arc, Mutex, PoisonError},
};

use anyhow::Context;
use http_body_util::{BodyExt, Full};
use hyper::{
    Request, Response,
    body::{Bytes, Incoming},
    header,
    server::conn::http1,
    service::service_fn,
};
use hyper_util::{
    client::legacy::{Client as HttpClient, connect::HttpConnector},
    rt::{TokioExecutor, TokioIo},
};
use serde_json::{Value, json};
use tokio::{net::TcpListener, sync::Semaphore};
use tokio_util::task::TaskTracker;

use crate::client::Client;

/// Maximum length of one answer, tokens: a small model may not stop by itself.
const MAX_TOKENS: u64 = 800;
/// The same for all, for a fair comparison.
const TEMPERATURE: f64 = 0.2;
const SEED: u64 = 7;

/// Input and output tokens.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Tokens {
    pub(crate) input: usize,
    pub(crate) output: usize,
}

impl Tokens {
    pub(crate) fn since(self, before: Self) -> Self {
        Self {
            input: self.input - before.input,
            output: self.output - before.output,
        }
    }

    pub(crate) fn add(&mut self, other: Self) {
        self.input += other.input;
        self.output += other.output;
    }
}

/// One call.
struct Call {
    /// The request: all messages concatenated.
    asked: String,
    /// The raw response.
    said: Arc<Mutex<Vec<u8>>>,
}

/// The proxy; it runs until the process ends.
pub(crate) struct PassedOn {
    /// The model's name.
    pub(crate) name: String,
    upstream: SocketAddr,
    address: SocketAddr,
    shared: Arc<Shared>,
}

struct Shared {
    upstream: SocketAddr,
    client: HttpClient<HttpConnector, Full<Bytes>>,
    /// The real server drops a call when the next one arrives.
    turn: Arc<Semaphore>,
    calls: Mutex<Vec<Call>>,
}

impl PassedOn {
    /// Forwards to the server at this base URL, such as `http://127.0.0.1:8080/v1`.
    pub(crate) async fn start(base_url: &str) -> anyhow::Result<Self> {
        let upstream = base_url
            .trim_start_matches("http://")
            .trim_end_matches('/')
            .trim_end_matches("/v1");
        let upstream: SocketAddr = upstream
            .parse()
            .context("the model server has no plain address")?;
        let client = HttpClient::builder(TokioExecutor::new()).build(HttpConnector::new());
        let turn = Arc::new(Semaphore::new(1));
        let shared = Arc::new(Shared {
            upstream,
            client,
            turn,
            calls: Mutex::default(),
        });
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        TaskTracker::new().spawn(accept(listener, Arc::clone(&shared)));
        let (_, models) = Client::connect(upstream)
            .await?
            .call("GET", "/v1/models", "")
            .await?;
        let models: Value =
            serde_json::from_slice(&models).context("the model server names no models")?;
        let name = models["data"][0]["id"]
            .as_str()
            .context("the model server has no model")?
            .to_owned();
        Ok(Self {
            name,
            upstream,
            address,
            shared,
        })
    }

    pub(crate) fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// The tokens of all calls since the last query, as counted by the real server.
    pub(crate) async fn tokens(&self) -> anyhow::Result<Tokens> {
        let calls = std::mem::take(&mut *self.shared.calls());
        let mut tokens = Tokens::default();
        for Call { asked, said } in calls {
            let said = text_of(&said.lock().unwrap_or_else(PoisonError::into_inner));
            tokens.add(Tokens {
                input: self.count(&asked).await?,
                output: self.count(&said).await?,
            });
        }
        Ok(tokens)
    }

    /// Number of tokens of a text, as counted by the real server.
    pub(crate) async fn count(&self, text: &str) -> anyhow::Result<usize> {
        let mut client = Client::connect(self.upstream).await?;
        let body = json!({ "input": text }).to_string();
        let (_, answer) = client.call("POST", "/extras/tokenize/count", &body).await?;
        let count = serde_json::from_slice::<Value>(&answer)?["count"].as_u64();
        Ok(usize::try_from(
            count.context("the model server does not count tokens")?,
        )?)
    }
}

impl Shared {
    fn calls(&self) -> std::sync::MutexGuard<'_, Vec<Call>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    let connections = TaskTracker::new();
    loop {
        // A failed accept is transient.
        let Ok((stream, _)) = listener.accept().await else {
            continue;
        };
        let shared = Arc::clone(&shared);
        let service = service_fn(move |request| pass_on(Arc::clone(&shared), request));
        connections.spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
    }
}

async fn pass_on(
    shared: Arc<Shared>,
    request: Request<Incoming>,
) -> anyhow::Result<Response<impl hyper::body::Body<Data = Bytes, Error = hyper::Error>>> {
    let path = request
        .uri()
        .path_and_query()
        .map_or("/", |path| path.as_str())
        .to_owned();
    let method = request.method().clone();
    let body = request.into_body().collect().await?.to_bytes();
    let (body, asked) = bounded(&body);
    let turn = Arc::clone(&shared.turn).acquire_owned().await?;
    let said: Arc<Mutex<Vec<u8>>> = Arc::default();
    if let Some(asked) = asked {
        shared.calls().push(Call {
            asked,
            said: Arc::clone(&said),
        });
    }
    let onward = Request::builder()
        .method(method)
        .uri(format!("http://{}{path}", shared.upstream))
        .header(header::CONTENT_TYPE, "application/json")
        .body(Full::new(body))?;
    let answer = shared.client.request(onward).await?;
    Ok(answer.map(|body| {
        body.map_frame(move |frame| {
            // The next call may start once the last byte has been sent.
            let _ = &turn;
            if let Some(data) = frame.data_ref() {
                said.lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .extend_from_slice(data);
            }
            frame
        })
    }))
}

/// Limits a call, and returns the text of its request; other requests are unchanged.
fn bounded(body: &Bytes) -> (Bytes, Option<String>) {
    let Ok(mut call) = serde_json::from_slice::<Value>(body) else {
        return (body.clone(), None);
    };
    let words = |message: &Value| match &message["content"] {
        Value::String(text) => text.clone(),
        parts => parts
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|part| part["text"].as_str())
            .collect(),
    };
    let asked = match (call["messages"].as_array(), call["prompt"].as_str()) {
        (Some(messages), _) => messages.iter().map(words).collect::<Vec<_>>().join("\n"),
        (None, Some(text)) => text.to_owned(),
        (None, None) => return (body.clone(), None),
    };
    let most = call["max_tokens"]
        .as_u64()
        .unwrap_or(MAX_TOKENS)
        .min(MAX_TOKENS);
    (call["max_tokens"], call["temperature"], call["seed"]) =
        (json!(most), json!(TEMPERATURE), json!(SEED));
    (call.to_string().into(), Some(asked))
}

/// The text of a raw response, whole or streamed.
fn text_of(said: &[u8]) -> String {
    let content = |answer: &Value| -> String {
        let choice = &answer["choices"][0];
        let text = choice["delta"]["content"]
            .as_str()
            .or_else(|| choice["message"]["content"].as_str());
        text.or_else(|| choice["text"].as_str())
            .unwrap_or_default()
            .to_owned()
    };
    if let Ok(whole) = serde_json::from_slice::<Value>(said) {
        return content(&whole);
    }
    let said = String::from_utf8_lossy(said);
    let events = said.lines().filter_map(|line| line.strip_prefix("data: "));
    events
        .filter_map(|data| serde_json::from_str(data).ok())
        .map(|event: Value| content(&event))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_get_the_same_bounds_and_their_words_are_known() {
        let call = json!({"messages": [{"role": "system", "content": "One"}, {"role": "user", "content": [{"type": "text", "text": "two"}]}],
            "max_tokens": 9_000, "temperature": 2});
        let (bounded, asked) = bounded(&call.to_string().into());
        let bounded: Value = serde_json::from_slice(&bounded).unwrap();
        assert_eq!(
            (&bounded["max_tokens"], &bounded["temperature"]),
            (&json!(MAX_TOKENS), &json!(TEMPERATURE))
        );
        assert_eq!(asked.as_deref(), Some("One\ntwo"));
        let text = json!({"prompt": "What is", "max_tokens": 9});
        let (bounded, asked) = super::bounded(&text.to_string().into());
        let bounded: Value = serde_json::from_slice(&bounded).unwrap();
        assert_eq!(
            (&bounded["max_tokens"], asked.as_deref()),
            (&json!(9), Some("What is"))
        );
        assert_eq!(
            text_of(json!({"choices": [{"text": " it"}]}).to_string().as_bytes()),
            " it"
        );
        let whole = json!({"choices": [{"message": {"content": "three"}}]}).to_string();
        assert_eq!(text_of(whole.as_bytes()), "three");
        let event = |text: &str| {
            format!(
                "data: {}\n\n",
                json!({"choices": [{"delta": {"content": text}}]})
            )
        };
        let events = event("fo") + ": ping\n\n" + &event("ur") + "data: [DONE]\n\n";
        assert_eq!(text_of(events.as_bytes()), "four");
    }
}
