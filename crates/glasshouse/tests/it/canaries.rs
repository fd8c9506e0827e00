//! Secrets that must be seen nowhere: not in an answer, a log at its chattiest, the database or a copy of it, whatever goes
//! wrong.

use std::{
    fs,
    io::{BufRead, BufReader, Read},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::Duration,
};

use axum::{
    Json, Router,
    http::{HeaderMap, StatusCode},
    response::IntoResponse,
    routing::any,
};
use reqwest::Client;
use serde_json::{Value, json};

use crate::harness::{Answer, EMAIL, new_folder, plain_client, serve_other};

const PASSWORD: &str = "canary-password";
const CONFIGURED: [(&str, &str); 6] = [
    ("OPENAI_API_KEY", "canary-environment-key"),
    ("GLASSHOUSE_OIDC_CLIENT_SECRET", "canary-oidc-secret"),
    (
        "OTEL_EXPORTER_OTLP_HEADERS",
        "authorization=canary-collector-key",
    ),
    ("CANARY_MCP", "canary-mcp-header"),
    ("ANTHROPIC_API_KEY", "canary-anthropic-key"),
    ("CANARY_MODEL_HEADER", "canary-model-header"),
];

/// A server that does everything wrong: it repeats what it was sent, with a status that it is asked for.
async fn repeats(headers: HeaderMap, body: String) -> impl IntoResponse {
    let said = format!("{headers:?} {body}");
    (
        StatusCode::UNAUTHORIZED,
        Json(json!({"error": {"message": said, "code": said}, "error_description": said})),
    )
}

struct Canaries {
    child: Child,
    client: Client,
    url: String,
    dir: PathBuf,
    log: PathBuf,
    cookie: String,
    /// All that was answered, but for what shows a new secret on purpose.
    seen: Vec<String>,
    secrets: Vec<String>,
}

impl Canaries {
    async fn start(far: &str) -> Self {
        let dir = new_folder();
        let log = dir.join("log");
        let settings = format!(
            "[log]\nlevel = \"trace,sqlx=trace,hyper=trace,reqwest=trace\"\n[tracing]\nendpoint = \"{far}\"\n\
             [oidc]\nissuer = \"{far}\"\nclient_id = \"gh\"\n\
             [[mcp_servers]]\nname = \"far\"\nurl = \"{far}/mcp\"\nheaders = {{ X-Key = \"${{CANARY_MCP}}\" }}\n\
             [[connections]]\nname = \"far\"\nbase_url = \"{far}/gateway\"\n\
             headers = {{ X-Key = \"${{CANARY_MODEL_HEADER}}\" }}\n"
        );
        fs::write(dir.join("glasshouse.toml"), settings).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_glasshouse"));
        command
            .args(["--listen", "127.0.0.1:0", "--data-dir"])
            .arg(&dir)
            .env_clear();
        command
            .envs(CONFIGURED)
            .env("OPENAI_API_BASE_URL", format!("{far}/v1"));
        command.env("ANTHROPIC_BASE_URL", format!("{far}/anthropic"));
        command
            .env("GLASSHOUSE_PROGRAMS_ENABLED", "false")
            .stderr(fs::File::create(&log).unwrap());
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        let url = line
            .strip_prefix("Glasshouse is ready: ")
            .unwrap_or_else(|| panic!("{line}"));
        drop(llm::HttpClient::new().unwrap());
        let secret = |(_, value): (_, &str)| value.rsplit('=').next().unwrap().to_owned();
        Self {
            child,
            client: plain_client(),
            url: url.trim_end().to_owned(),
            dir,
            log,
            cookie: String::new(),
            seen: Vec::new(),
            secrets: CONFIGURED.into_iter().map(secret).collect(),
        }
    }

    fn keep(&mut self, secret: &str) {
        assert!(secret.len() > 8, "{secret} would be found by chance");
        self.secrets.push(secret.to_owned());
    }

    /// What it answers, which is seen.
    async fn call(&mut self, method: &str, path: &str, body: &Value) -> Answer {
        let answer = self.secret_call(method, path, body).await;
        let path = path.split('?').next().unwrap();
        self.seen.push(format!(
            "{method} {path}: {:?} {}",
            answer.headers, answer.text
        ));
        answer
    }

    /// What it answers, which shows a new secret on purpose.
    async fn secret_call(&self, method: &str, path: &str, body: &Value) -> Answer {
        let request = self
            .client
            .request(method.parse().unwrap(), format!("{}{path}", self.url));
        let request = if body.is_null() {
            request
        } else {
            request.json(body)
        };
        Answer::of(request.header("cookie", &self.cookie)).await
    }

    /// Where the secrets are found, in all files below a folder.
    fn in_files(&self, folder: &Path, found: &mut Vec<String>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                self.in_files(&path, found);
                continue;
            }
            let mut bytes = fs::read(&path).unwrap();
            if path.extension().is_some_and(|ending| ending == "gz") {
                let mut whole = Vec::new();
                flate2::read::GzDecoder::new(&bytes[..])
                    .read_to_end(&mut whole)
                    .unwrap();
                bytes = whole;
            }
            for secret in &self.secrets {
                if let Some(at) = bytes
                    .windows(secret.len())
                    .position(|part| part == secret.as_bytes())
                {
                    let around = &bytes[at.saturating_sub(200)..(at + 50).min(bytes.len())];
                    found.push(format!(
                        "{}: {}",
                        path.display(),
                        String::from_utf8_lossy(around)
                    ));
                }
            }
        }
    }
}

impl Drop for Canaries {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_secret_is_seen_whatever_goes_wrong() {
    let (address, _running) = serve_other(Router::new().fallback(any(repeats))).await;
    let far = format!("http://{address}");
    let mut it = Canaries::start(&far).await;
    let account = json!({"email": EMAIL, "name": "Ada", "password": PASSWORD});
    let answer = it.secret_call("POST", "/api/v1/setup", &account).await;
    answer.expect(200);
    it.cookie = answer.cookie();
    it.keep(PASSWORD);
    let token = it.cookie.split_once('=').unwrap().1.to_owned();
    it.keep(&token);

    for (path, body) in [
        (
            "/api/v1/login",
            json!({"email": EMAIL, "password": "canary-wrong-password"}),
        ),
        (
            "/api/v1/login",
            json!({"email": "nobody@example.org", "password": "canary-wrong-password"}),
        ),
        (
            "/api/v1/login",
            json!({"email": EMAIL, "password": ["canary-wrong-password"]}),
        ),
        (
            "/api/v1/setup",
            json!({"email": EMAIL, "name": "E", "password": "canary-wrong-password", "token": "canary-set-up-token"}),
        ),
        (
            "/api/v1/users",
            json!({"email": "odd", "name": "E", "password": "canary-wrong-password", "role": "user"}),
        ),
        (
            "/api/v1/connections",
            json!({"name": "Far", "base_url": format!("{far}/v1"), "api_key": "canary-far-key"}),
        ),
        (
            "/api/v1/connections",
            json!({"name": "Far", "base_url": "nonsense", "api_key": "canary-far-key"}),
        ),
        (
            "/api/v1/connections",
            json!({"name": "Far", "api_key": {"a": "canary-far-key"}}),
        ),
        (
            "/api/v1/connections/test",
            json!({"base_url": format!("{far}/v1"), "api_key": "canary-far-key"}),
        ),
        (
            "/api/v1/connections/test",
            json!({"base_url": "http://127.0.0.1:1/v1", "api_key": "canary-far-key"}),
        ),
        (
            "/v1/chat/completions",
            json!({"model": "gone", "messages": []}),
        ),
        (
            "/chat/stream",
            json!({"messages": [{"role": "user", "content": "Hi"}], "model": "gone"}),
        ),
    ] {
        it.call("POST", path, &body).await;
    }
    for secret in [
        "canary-wrong-password",
        "canary-set-up-token",
        "canary-far-key",
    ] {
        it.keep(secret);
    }
    let change = json!({"current": "canary-wrong-password", "new": "canary-new-password"});
    it.call("PUT", "/api/v1/me/password", &change)
        .await
        .expect(400);
    it.keep("canary-new-password");

    let front_end = json!({"name": "Front", "front_end": true, "signing_key": "canary-signing-key-of-a-front-end"});
    let made = it.secret_call("POST", "/api/v1/keys", &front_end).await;
    made.expect(200);
    let key = made.json()["secret"].as_str().unwrap().to_owned();
    it.keep(&key);
    it.keep("canary-signing-key-of-a-front-end");
    for credential in [key.as_str(), "gh_canary-of-nobody", "canary-of-nobody"] {
        let list = it
            .client
            .get(format!("{}/v1/models", it.url))
            .bearer_auth(credential);
        let answer = Answer::of(list.header("x-openwebui-user-jwt", "canary.of.nobody")).await;
        it.seen.push(answer.text);
    }
    it.keep("canary-of-nobody");
    let hook = it
        .secret_call(
            "POST",
            "/api/v1/webhooks",
            &json!({"url": format!("{far}/hook")}),
        )
        .await;
    if let Some(secret) = hook.json()["secret"].as_str() {
        it.keep(secret);
    }
    it.call("GET", "/oauth/login?next=/", &Value::Null).await;
    it.call(
        "GET",
        "/oauth/login/callback?code=canary-of-a-code&state=canary-of-a-state",
        &Value::Null,
    )
    .await;
    it.keep("canary-of-a-code");

    for path in [
        "/api/v1/me",
        "/api/v1/me/export",
        "/api/v1/users",
        "/api/v1/keys",
        "/api/v1/connections",
        "/api/v1/webhooks",
        "/api/v1/models",
        "/api/v1/mcp-servers",
        "/api/v1/me/sessions",
        "/api/v1/usage?by=key",
        "/metrics",
        "/health",
        "/v1/models",
    ] {
        it.call("GET", path, &Value::Null).await;
    }
    // Traces are sent, refused and given up beside all that.
    tokio::time::sleep(Duration::from_secs(1)).await;
    let copy = it.dir.join("copy.gz");
    let mut backup = Command::new(env!("CARGO_BIN_EXE_glasshouse"));
    backup
        .env_clear()
        .envs(CONFIGURED)
        .args(["backup", copy.to_str().unwrap(), "--data-dir"])
        .arg(&it.dir);
    assert!(backup.status().unwrap().success());

    let mut found = Vec::new();
    for text in &it.seen {
        found.extend(
            it.secrets
                .iter()
                .filter(|secret| text.contains(*secret))
                .map(|secret| format!("{secret}: {text}")),
        );
    }
    it.in_files(&it.dir.clone(), &mut found);
    assert!(
        fs::metadata(&it.log).unwrap().len() > 10_000,
        "the log is chatty"
    );
    assert!(found.is_empty(), "{}", found.join("\n"));
    let dir = it.dir.clone();
    drop(it);
    let _ = fs::remove_dir_all(dir);
}

/// The address of a database has a password in it.
#[test]
fn a_database_that_is_not_there_is_named_without_its_password() {
    let dir = new_folder();
    for url in [
        "postgres://gh:canary-of-a-database@127.0.0.1:1/gh",
        "mysql://gh:canary-of-a-database@127.0.0.1/gh",
    ] {
        for arguments in [
            &["serve"][..],
            &["key", "create", "--user", "a@b"],
            &["backup", "/nonexistent/a"],
        ] {
            let mut command = Command::new(env!("CARGO_BIN_EXE_glasshouse"));
            command.env_clear().env("GLASSHOUSE_DATABASE_URL", url).env(
                "GLASSHOUSE_LOG_LEVEL",
                "trace,sqlx=trace,hyper=trace,reqwest=trace",
            );
            let output = command
                .args(arguments)
                .arg("--data-dir")
                .arg(&dir)
                .output()
                .unwrap();
            let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
            assert!(
                !output.status.success() && !said.contains("canary"),
                "{arguments:?}: {said}"
            );
        }
    }
    fs::remove_dir_all(dir).unwrap();
}
