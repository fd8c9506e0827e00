//! The HTTP/1.1 server for the scripts, on loopback, which tracks open requests and disconnects.

use std::{
    io,
    net::SocketAddr,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::{Method, Response, body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::watch,
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{
    Reply,
    body::{OpenRequest, ScriptedBody},
    reply::Kind,
};

/// A request for a chat completion, or for embeddings, reranking or tokens if the server supports them.
#[derive(Debug, Clone)]
pub struct Request {
    /// Its number since the start, from 1.
    pub number: usize,
    /// Its path and query.
    pub path: String,
    /// Its headers.
    pub headers: hyper::HeaderMap,
    /// The raw body.
    pub bytes: Bytes,
    /// The body as JSON; `null` if it is not JSON.
    pub body: Value,
}

impl Request {
    /// The header of this name, if it is text.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }
}

/// How the server behaves.
#[derive(Clone)]
pub enum Behaviour {
    /// Chooses a response for each request.
    Answer(Arc<dyn Fn(&Request) -> Reply + Send + Sync>),
    /// Closes each connection right after accepting it.
    CloseAtAccept,
}

impl std::fmt::Debug for Behaviour {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Answer(_) => "Answer",
            Self::CloseAtAccept => "CloseAtAccept",
        })
    }
}

impl Behaviour {
    /// Chooses a response for each request.
    pub fn answer(choose: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> Self {
        Self::Answer(Arc::new(choose))
    }

    /// Always sends the same response.
    #[must_use]
    pub fn always(reply: Reply) -> Self {
        Self::answer(move |_| reply.clone())
    }

    /// Sends these responses in order, then repeats the last one.
    #[must_use]
    pub fn sequence(replies: Vec<Reply>) -> Self {
        let none = Reply::error(500, "The script is empty.");
        Self::answer(move |request| {
            replies
                .get(request.number - 1)
                .or(replies.last())
                .unwrap_or(&none)
                .clone()
        })
    }
}

/// Further options of the server.
#[derive(Debug, Clone)]
pub struct ServerOptions {
    /// The address to listen on; port 0 chooses a free one.
    pub listen: SocketAddr,
    /// The names listed by `GET /v1/models`, and by Bedrock's list.
    pub models: Vec<String>,
    /// The response of `GET /v1/models` instead of that list.
    pub models_reply: Option<Reply>,
    /// The behaviour of `POST /v1/embeddings`; without one, the route does not exist.
    pub embeddings: Option<Behaviour>,
    /// The behaviour of `POST /v1/rerank`.
    pub rerank: Option<Behaviour>,
    /// The behaviour of `POST /v1/completions`, which continues texts.
    pub completions: Option<Behaviour>,
    /// The behaviour of `POST /token`, which issues access tokens.
    pub tokens: Option<Behaviour>,
    /// Whether to store each request for [`ScriptedServer::requests`]; not for benchmarks.
    pub keep_requests: bool,
}

impl Default for ServerOptions {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from(([127, 0, 0, 1], 0)),
            models: vec!["scripted".to_owned()],
            models_reply: None,
            embeddings: None,
            rerank: None,
            completions: None,
            tokens: None,
            keep_requests: true,
        }
    }
}

/// A running server; dropping it closes it.
#[derive(Debug)]
pub struct ScriptedServer {
    address: SocketAddr,
    shared: Arc<Shared>,
    open: watch::Receiver<usize>,
    stop: CancellationToken,
    tasks: TaskTracker,
}

struct Shared {
    behaviour: Behaviour,
    options: ServerOptions,
    open: watch::Sender<usize>,
    received: Mutex<Vec<Request>>,
    count: AtomicUsize,
    connections: AtomicUsize,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared")
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}

impl ScriptedServer {
    /// Starts a server on a free port of the loopback address.
    ///
    /// # Errors
    /// If no port is available.
    pub async fn start(behaviour: Behaviour) -> io::Result<Self> {
        Self::start_with(behaviour, ServerOptions::default()).await
    }

    /// Starts a server.
    ///
    /// # Errors
    /// If the address is not available.
    pub async fn start_with(behaviour: Behaviour, options: ServerOptions) -> io::Result<Self> {
        let listener = TcpListener::bind(options.listen).await?;
        let address = listener.local_addr()?;
        let (sender, open) = watch::channel(0);
        let shared = Arc::new(Shared {
            behaviour,
            options,
            open: sender,
            received: Mutex::default(),
            count: AtomicUsize::new(0),
            connections: AtomicUsize::new(0),
        });
        let stop = CancellationToken::new();
        let tasks = TaskTracker::new();
        tasks.spawn(accept(
            listener,
            Arc::clone(&shared),
            stop.clone(),
            tasks.clone(),
        ));
        Ok(Self {
            address,
            shared,
            open,
            stop,
            tasks,
        })
    }

    /// The base URL for clients, for example `http://127.0.0.1:4321/v1`.
    #[must_use]
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// The address it listens on.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The requests received so far.
    #[must_use]
    pub fn received(&self) -> Vec<Request> {
        self.shared
            .received
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// The bodies received so far.
    #[must_use]
    pub fn requests(&self) -> Vec<Value> {
        self.received()
            .into_iter()
            .map(|request| request.body)
            .collect()
    }

    /// Number of connections accepted so far.
    #[must_use]
    pub fn connections(&self) -> usize {
        self.shared.connections.load(Ordering::Relaxed)
    }

    /// Number of clients currently waiting for (the rest of) their response.
    #[must_use]
    pub fn open_requests(&self) -> usize {
        *self.open.borrow()
    }

    /// Waits until this many clients are waiting.
    pub async fn until_open_requests(&self, count: usize) {
        // The sender lives in `self`, so this cannot fail.
        let _ = self.open.clone().wait_for(|open| *open == count).await;
    }

    /// Closes the port and all connections.
    pub async fn shutdown(self) {
        self.stop.cancel();
        self.tasks.close();
        self.tasks.wait().await;
    }

    /// Serves until the process ends.
    pub async fn serve(self) {
        self.stop.cancelled().await;
    }
}

impl Drop for ScriptedServer {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

async fn accept(
    listener: TcpListener,
    shared: Arc<Shared>,
    stop: CancellationToken,
    tasks: TaskTracker,
) {
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = stop.cancelled() => return,
        };
        // A failed accept, for example because of too many open files, is transient.
        let Ok((stream, _)) = accepted else { continue };
        shared.connections.fetch_add(1, Ordering::Relaxed);
        if matches!(shared.behaviour, Behaviour::CloseAtAccept) {
            continue;
        }
        tasks.spawn(serve_connection(stream, Arc::clone(&shared), stop.clone()));
    }
}

async fn serve_connection(stream: TcpStream, shared: Arc<Shared>, stop: CancellationToken) {
    // Otherwise small writes wait for acknowledgements. If it cannot be set, they do.
    let _ = stream.set_nodelay(true);
    let service = service_fn(move |request| {
        let shared = Arc::clone(&shared);
        async move { shared.answer(request).await }
    });
    let connection = http1::Builder::new().serve_connection(TokioIo::new(stream), service);
    tokio::select! {
        // Disconnected clients and scripts that break the connection end here, as intended.
        _ = connection => {}
        () = stop.cancelled() => {}
    }
}

type Answer = Response<ScriptedBody>;

impl Shared {
    async fn answer(&self, request: hyper::Request<Incoming>) -> io::Result<Answer> {
        let path = request.uri().path();
        let answers = [
            "/chat/completions",
            "/messages",
            "/responses",
            "/converse-stream",
            ":streamGenerateContent",
        ];
        if request.method() == Method::POST && answers.iter().any(|call| path.ends_with(call)) {
            return self.chosen(request, &self.behaviour).await;
        }
        let others = [
            ("/embeddings", &self.options.embeddings),
            ("/rerank", &self.options.rerank),
            ("/completions", &self.options.completions),
            ("/token", &self.options.tokens),
        ];
        for (call, behaviour) in others {
            if let Some(behaviour) = behaviour.as_ref().filter(|_| path.ends_with(call)) {
                return self.chosen(request, behaviour).await;
            }
        }
        let given = || self.options.models_reply.clone();
        let reply = match *request.method() {
            Method::GET if path.ends_with("/models") => given().unwrap_or_else(|| self.models()),
            Method::GET if path.ends_with("/foundation-models") => {
                given().unwrap_or_else(|| Reply::json(&json!({"modelSummaries": []})))
            }
            Method::GET if path.ends_with("/inference-profiles") => {
                given().unwrap_or_else(|| self.profiles())
            }
            _ => Reply::error(404, "There is nothing here."),
        };
        self.play(&reply, OpenRequest::new(self.open.clone()))
    }

    async fn chosen(
        &self,
        request: hyper::Request<Incoming>,
        behaviour: &Behaviour,
    ) -> io::Result<Answer> {
        let open = OpenRequest::new(self.open.clone());
        let (parts, body) = request.into_parts();
        let bytes = body.collect().await.map_err(io::Error::other)?.to_bytes();
        let request = Request {
            number: self.count.fetch_add(1, Ordering::Relaxed) + 1,
            path: parts
                .uri
                .path_and_query()
                .map_or_else(String::new, ToString::to_string),
            headers: parts.headers,
            body: serde_json::from_slice(&bytes).unwrap_or_default(),
            bytes,
        };
        let reply = match behaviour {
            Behaviour::Answer(choose) => choose(&request),
            Behaviour::CloseAtAccept => Reply::close(),
        };
        if self.options.keep_requests {
            self.received
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push(request);
        }
        self.play(&reply, open)
    }

    fn play(&self, reply: &Reply, open: OpenRequest) -> io::Result<Answer> {
        let Kind::Answer {
            status, headers, ..
        } = &*reply.0
        else {
            return Err(io::Error::other("the script closes the connection here"));
        };
        let mut response = Response::builder().status(*status);
        for (name, value) in headers {
            response = response.header(name, value);
        }
        response
            .body(ScriptedBody::new(Arc::clone(&reply.0), open))
            .map_err(io::Error::other)
    }

    fn models(&self) -> Reply {
        let models = self.options.models.iter();
        let data: Vec<Value> = models
            .map(|id| json!({ "id": id, "object": "model" }))
            .collect();
        Reply::json(&json!({ "object": "list", "data": data }))
    }

    /// The models in the format of Bedrock's list.
    fn profiles(&self) -> Reply {
        let profile = |id: &String| json!({"inferenceProfileId": id, "inferenceProfileName": id, "status": "ACTIVE"});
        let profiles: Vec<Value> = self.options.models.iter().map(profile).collect();
        Reply::json(&json!({ "inferenceProfileSummaries": profiles }))
    }
}
