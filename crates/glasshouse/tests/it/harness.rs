//! Starts a server of our own for a test, and calls it.

use std::{net::SocketAddr, path::PathBuf, sync::Arc, time::Duration};

use agent::Agents;
use axum::Router;
use reqwest::{Client, Method, RequestBuilder, StatusCode, header};
use serde_json::{Value, json};
use server::{
    app::App,
    http::router,
    platform::{
        clock::Clock,
        config::{Config, Environment, Flags},
        listen::{ConnectionLimits, ListenOptions, serve},
        proxies::Proxies,
    },
};
use tokio::net::TcpListener;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::described;

pub(crate) const EMAIL: &str = "ada@example.org";
pub(crate) const PASSWORD: &str = "correct horse";
/// The key of servers that share a database and have data folders of their own.
pub(crate) const SECRET_KEY: &str = "qZ8mJ0c1Yt3rVb7nKx5wEo2uHs6pLd9fGa4iRy0zTkM=";

/// A server that runs until it is dropped or stopped.
pub(crate) struct Server {
    pub(crate) app: Arc<App>,
    pub(crate) clock: Clock,
    pub(crate) address: SocketAddr,
    pub(crate) client: Client,
    serving: TaskTracker,
    pub(crate) data_dir: PathBuf,
}

/// An answer read to its end.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: header::HeaderMap,
    pub(crate) text: String,
}

impl Answer {
    pub(crate) async fn of(request: RequestBuilder) -> Self {
        let (client, request) = request.build_split();
        let request = request.unwrap();
        let (method, url) = (request.method().clone(), request.url().clone());
        let response = client.execute(request).await.unwrap();
        let (status, headers) = (response.status(), response.headers().clone());
        let was_led_on = *response.url() != url;
        let text = response.text().await.unwrap();
        if !was_led_on {
            described::check(&method, &url, status.as_u16(), &headers, &text);
        }
        Self {
            status,
            headers,
            text,
        }
    }

    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|_| panic!("not JSON: {self:?}"))
    }

    /// Asserts the status and, for errors, that the body is one of ours; returns the code or nothing.
    #[track_caller]
    pub(crate) fn expect(&self, status: u16) -> String {
        assert_eq!(self.status.as_u16(), status, "{}", self.text);
        if status < 400 {
            return String::new();
        }
        let error = &self.json()["error"];
        assert!(
            error["message"]
                .as_str()
                .is_some_and(|message| message.len() > 10),
            "{}",
            self.text
        );
        error["code"].as_str().unwrap().to_owned()
    }

    pub(crate) fn cookie(&self) -> String {
        let line = self.headers[header::SET_COOKIE].to_str().unwrap();
        line.split(';').next().unwrap().to_owned()
    }
}

/// Most tests count what their model is asked.
pub(crate) const NOTHING_BESIDE_CHATS: [(&str, &str); 3] = [
    ("GLASSHOUSE_PIPELINES_ENABLE_TITLE_GENERATION", "false"),
    ("GLASSHOUSE_PIPELINES_ENABLE_TAGS_GENERATION", "false"),
    ("GLASSHOUSE_PIPELINES_ENABLE_FOLLOW_UP_GENERATION", "false"),
];

/// A new folder that no other test uses.
pub(crate) fn new_folder() -> PathBuf {
    let dir =
        PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(domain::RunId::generate().to_string());
    std::fs::create_dir_all(&dir).unwrap();
    dir
}

impl Server {
    pub(crate) async fn start() -> Self {
        Self::start_with(&[]).await
    }

    /// Starts with these settings, by the names of their environment variables.
    pub(crate) async fn start_with(settings: &[(&str, &str)]) -> Self {
        let data_dir = new_folder();
        let mut environment = Environment::from([
            ("GLASSHOUSE_LISTEN".to_owned(), "127.0.0.1:0".to_owned()),
            (
                "GLASSHOUSE_DATABASE_URL".to_owned(),
                "sqlite::memory:".to_owned(),
            ),
            (
                "GLASSHOUSE_DATA_DIR".to_owned(),
                data_dir.to_str().unwrap().to_owned(),
            ),
            // Looking for a sandbox takes a moment, and few tests need it.
            ("GLASSHOUSE_PROGRAMS_ENABLED".to_owned(), "false".to_owned()),
            // Tests stop servers whose streams are still read.
            ("GLASSHOUSE_DRAIN_SECONDS".to_owned(), "3".to_owned()),
        ]);
        let settings = [&NOTHING_BESIDE_CHATS[..], settings].concat();
        environment.extend(
            settings
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned())),
        );
        let config = Config::from_parts(&Flags::default(), &environment).unwrap();
        let clock = Clock::movable(1_800_000_000_000);
        let app = App::open(
            config,
            clock.clone(),
            agent::tour::model(0),
            Agents::built_in().unwrap(),
        );
        let app = app.await.unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let options = ListenOptions::new(&app.config.now());
        let serving = TaskTracker::new();
        serving.spawn(serve(
            vec![listener],
            router(app.clone(), web_app::file),
            options,
            app.stopping.clone(),
        ));
        Self {
            app,
            clock,
            address,
            client: plain_client(),
            serving,
            data_dir,
        }
    }

    /// Starts, and makes the administrator; returns the session cookie too.
    pub(crate) async fn start_signed_in() -> (Self, String) {
        let server = Self::start().await;
        let cookie = server.set_up().await;
        (server, cookie)
    }

    /// Makes the administrator and returns the session cookie.
    pub(crate) async fn set_up(&self) -> String {
        let token = self.app.identity.setup_token.as_ref();
        let token = token.map(|token| token.reveal());
        let body = json!({ "email": EMAIL, "name": "Ada", "password": PASSWORD, "token": token });
        let answer = self.post("/api/v1/setup", "", &body).await;
        answer.expect(200);
        answer.cookie()
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// A request with a credential: a cookie (`name=value`), a bearer key (`gh_…`), or none (empty).
    pub(crate) fn request(&self, method: Method, path: &str, credential: &str) -> RequestBuilder {
        let request = self.client.request(method, self.url(path));
        match credential {
            "" => request,
            key if key.starts_with("gh_") => request.bearer_auth(key),
            cookie => request.header(header::COOKIE, cookie),
        }
    }

    pub(crate) async fn get(&self, path: &str, credential: &str) -> Answer {
        Answer::of(self.request(Method::GET, path, credential)).await
    }

    pub(crate) async fn post(&self, path: &str, credential: &str, body: &Value) -> Answer {
        Answer::of(self.request(Method::POST, path, credential).json(body)).await
    }

    pub(crate) async fn put(&self, path: &str, credential: &str, body: &Value) -> Answer {
        Answer::of(self.request(Method::PUT, path, credential).json(body)).await
    }

    pub(crate) async fn delete(&self, path: &str, credential: &str) -> Answer {
        Answer::of(self.request(Method::DELETE, path, credential)).await
    }

    /// Makes an account that is no administrator and returns a bearer key of it.
    pub(crate) async fn key_of_plain_user(&self, email: &str) -> String {
        let new = store::NewUser {
            id: domain::UserId::generate(),
            email: email.to_owned(),
            name: "Plain".to_owned(),
            role: store::UserRole::User,
            password_hash: "x".to_owned(),
            created_at: self.clock.now_ms(),
        };
        let user = self.app.store.create_user(&new).await.unwrap();
        let name = server::identity::api_key::KeyName::parse("test").unwrap();
        let created = server::identity::api_key::create_key(
            &self.app.store,
            user.id,
            name,
            self.clock.now_ms(),
        )
        .await;
        created.unwrap().1.reveal().to_owned()
    }

    /// Resolves once the server has ended all connections.
    pub(crate) async fn stopped(&self) {
        self.serving.close();
        self.serving.wait().await;
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.app.stopping.cancel();
        let _ = std::fs::remove_dir_all(&self.data_dir);
    }
}

pub(crate) fn plain_client() -> Client {
    // Anything that opened an App has set up TLS; certificates are not needed here.
    Client::builder()
        .no_proxy()
        .tls_certs_only([])
        .build()
        .unwrap()
}

/// Another web server on a port of its own, such as a model server. Ends with the token.
pub(crate) async fn serve_other(routes: Router) -> (SocketAddr, tokio_util::sync::DropGuard) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let stopping = CancellationToken::new();
    let options = ListenOptions {
        connections: ConnectionLimits {
            total: 100,
            per_address: 100,
            proxies: Proxies::default(),
        },
        header_timeout: Duration::from_secs(10),
        drain: Duration::ZERO,
    };
    TaskTracker::new().spawn(serve(vec![listener], routes, options, stopping.clone()));
    (address, stopping.drop_guard())
}
