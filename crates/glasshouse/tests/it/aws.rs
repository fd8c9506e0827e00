//! Bedrock without a key: the program finds credentials wherever AWS's own programs find them.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::Duration,
};

use axum::{
    Json, Router,
    extract::State,
    http::{HeaderMap, StatusCode},
    response::IntoResponse,
    routing::{get, post, put},
};
use serde_json::{Value, json};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio_util::sync::DropGuard;

use crate::harness::{new_folder, serve_other};

const END: &str = "2099-01-01T00:00:00Z";
const LIMIT: Duration = Duration::from_secs(60);

/// Bedrock, and the services that give credentials: of roles, of a container and of an instance.
struct Aws {
    url: String,
    /// The headers with which models were listed.
    listed: UnboundedReceiver<HeaderMap>,
    folder: PathBuf,
    _guard: DropGuard,
}

/// Gives a role to who proves who it is: with a signature of the right key, or with a token.
async fn assume(headers: HeaderMap, form: String) -> impl IntoResponse {
    let form = reqwest::Url::parse(&format!("http://sts/?{form}")).unwrap();
    let asked: HashMap<_, _> = form.query_pairs().collect();
    let action = &asked["Action"];
    let signed = headers
        .get("authorization")
        .map(|value| value.to_str().unwrap().to_owned());
    let by_key = signed.is_some_and(|signed| signed.contains("Credential=AKIASOURCESOURCE00/"));
    let id = match (
        &**action,
        by_key,
        asked.get("WebIdentityToken").map(|token| &**token),
    ) {
        ("AssumeRole", true, None) => "ASIAROLEROLEROLE00",
        ("AssumeRoleWithWebIdentity", false, Some("identity-token")) => "ASIAIDENTITYIDENT0",
        _ => return (StatusCode::FORBIDDEN, String::new()),
    };
    assert_eq!(asked["RoleArn"], "arn:aws:iam::123456789012:role/models");
    let answer = format!(
        "<{action}Response xmlns=\"https://sts.amazonaws.com/doc/2011-06-15/\"><{action}Result><Credentials>\
         <AccessKeyId>{id}</AccessKeyId><SecretAccessKey>s</SecretAccessKey><SessionToken>t-{id}</SessionToken>\
         <Expiration>{END}</Expiration></Credentials></{action}Result></{action}Response>"
    );
    (StatusCode::OK, answer)
}

async fn of_container(headers: HeaderMap) -> Result<Json<Value>, StatusCode> {
    let known = headers
        .get("authorization")
        .is_some_and(|token| token == "pod-token");
    let credentials = json!({"AccessKeyId": "ASIACONTAINER00000", "SecretAccessKey": "s", "Token": "t", "Expiration": END});
    known
        .then_some(Json(credentials))
        .ok_or(StatusCode::UNAUTHORIZED)
}

async fn of_instance(headers: HeaderMap) -> Result<Json<Value>, StatusCode> {
    let known = headers
        .get("x-aws-ec2-metadata-token")
        .is_some_and(|token| token == "session");
    let credentials = json!({
        "Code": "Success", "Type": "AWS-HMAC", "LastUpdated": "2026-01-01T00:00:00Z",
        "AccessKeyId": "ASIAINSTANCE000000", "SecretAccessKey": "s", "Token": "t", "Expiration": END,
    });
    known
        .then_some(Json(credentials))
        .ok_or(StatusCode::UNAUTHORIZED)
}

async fn list(State(listed): State<UnboundedSender<HeaderMap>>, headers: HeaderMap) -> Json<Value> {
    // Nobody waits for it once the test has seen enough.
    let _ = listed.send(headers);
    Json(json!({"inferenceProfileSummaries": []}))
}

impl Aws {
    async fn start() -> Self {
        let (sender, listed) = unbounded_channel();
        let role = "/latest/meta-data/iam/security-credentials/";
        let routes = Router::new()
            .route("/inference-profiles", get(list))
            .route("/sts/", post(assume))
            .route("/container", get(of_container))
            .route(
                "/latest/api/token",
                put(|| async { ([("x-aws-ec2-metadata-token-ttl-seconds", "600")], "session") }),
            )
            .route(role, get(|| async { "models" }))
            .route(&format!("{role}models"), get(of_instance))
            .with_state(sender);
        let (address, guard) = serve_other(routes).await;
        Self {
            url: format!("http://{address}"),
            listed,
            folder: new_folder(),
            _guard: guard,
        }
    }

    fn write(&self, name: &str, text: &str) -> String {
        let path = self.folder.join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    }

    /// The program with a connection to this Bedrock, in this environment.
    fn program(&self, profile: Option<&str>, variables: &[(&str, &str)]) -> Program {
        let data = new_folder();
        let profile = profile
            .map(|name| format!(", profile = \"{name}\""))
            .unwrap_or_default();
        let config = format!(
            "[[connections]]\nname = \"Bedrock\"\nkind = \"bedrock\"\nbase_url = \"{}\"\n\
             settings = {{ region = \"eu-central-1\"{profile} }}\n",
            self.url
        );
        std::fs::write(data.join("glasshouse.toml"), config).unwrap();
        let child = Command::new(env!("CARGO_BIN_EXE_glasshouse"))
            .env_clear()
            .envs(variables.iter().copied())
            .args(["serve", "--listen", "127.0.0.1:0", "--data-dir"])
            .arg(&data)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        Program { child, data }
    }

    /// The key id and the session token that the program in this environment signs with.
    async fn signed_with(
        &mut self,
        profile: Option<&str>,
        variables: &[(&str, &str)],
    ) -> (String, Option<String>) {
        let program = self.program(profile, variables);
        let headers = tokio::time::timeout(LIMIT, self.listed.recv())
            .await
            .unwrap()
            .unwrap();
        drop(program);
        while self.listed.try_recv().is_ok() {}
        let text = |name: &str| {
            headers
                .get(name)
                .map(|value| value.to_str().unwrap().to_owned())
        };
        let authorization = text("authorization").unwrap();
        let (id, scope) = authorization
            .split_once("Credential=")
            .unwrap()
            .1
            .split_once('/')
            .unwrap();
        assert!(
            scope.contains("/eu-central-1/bedrock/aws4_request"),
            "{authorization}"
        );
        (id.to_owned(), text("x-amz-security-token"))
    }
}

struct Program {
    child: Child,
    data: PathBuf,
}

impl Drop for Program {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        remove(&self.data);
    }
}

fn remove(folder: &Path) {
    std::fs::remove_dir_all(folder).unwrap();
}

#[tokio::test]
async fn bedrock_finds_the_credentials_of_the_machine() {
    let mut aws = Aws::start().await;
    let own = |id: &str, token: Option<&str>| (id.to_owned(), token.map(str::to_owned));
    let nowhere = ("AWS_EC2_METADATA_DISABLED", "true");

    let keys = [
        nowhere,
        ("AWS_ACCESS_KEY_ID", "AKIAENVIRONMENT000"),
        ("AWS_SECRET_ACCESS_KEY", "s/+"),
    ];
    assert_eq!(
        aws.signed_with(None, &keys).await,
        own("AKIAENVIRONMENT000", None)
    );
    let session = [&keys[..], &[("AWS_SESSION_TOKEN", "t")]].concat();
    assert_eq!(
        aws.signed_with(None, &session).await,
        own("AKIAENVIRONMENT000", Some("t"))
    );

    let credentials = aws.write(
        "credentials",
        "[source]\naws_access_key_id = AKIASOURCESOURCE00\naws_secret_access_key = s\n\
         [team]\naws_access_key_id = AKIATEAMTEAMTEAM00\naws_secret_access_key = s\n",
    );
    let config = aws.write(
        "config",
        "[profile role]\nrole_arn = arn:aws:iam::123456789012:role/models\nsource_profile = source\n",
    );
    let sts = format!("{}/sts", aws.url);
    let files = [
        nowhere,
        ("AWS_SHARED_CREDENTIALS_FILE", credentials.as_str()),
        ("AWS_CONFIG_FILE", config.as_str()),
        ("AWS_ENDPOINT_URL_STS", sts.as_str()),
    ];
    assert_eq!(
        aws.signed_with(Some("team"), &files).await,
        own("AKIATEAMTEAMTEAM00", None)
    );
    let role = own("ASIAROLEROLEROLE00", Some("t-ASIAROLEROLEROLE00"));
    assert_eq!(aws.signed_with(Some("role"), &files).await, role);
    let named = [&files[..], &[("AWS_PROFILE", "role")]].concat();
    assert_eq!(aws.signed_with(None, &named).await, role);

    let token = aws.write("token", "identity-token");
    let identity = [
        nowhere,
        ("AWS_ROLE_ARN", "arn:aws:iam::123456789012:role/models"),
        ("AWS_WEB_IDENTITY_TOKEN_FILE", token.as_str()),
        ("AWS_ENDPOINT_URL_STS", sts.as_str()),
    ];
    let found = aws.signed_with(None, &identity).await;
    assert_eq!(
        found,
        own("ASIAIDENTITYIDENT0", Some("t-ASIAIDENTITYIDENT0"))
    );

    let token = aws.write("pod", "pod-token");
    let container = format!("{}/container", aws.url);
    let container = [
        ("AWS_CONTAINER_CREDENTIALS_FULL_URI", container.as_str()),
        ("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", token.as_str()),
    ];
    assert_eq!(
        aws.signed_with(None, &container).await,
        own("ASIACONTAINER00000", Some("t"))
    );

    let instance = aws.url.clone();
    let instance = [("AWS_EC2_METADATA_SERVICE_ENDPOINT", instance.as_str())];
    assert_eq!(
        aws.signed_with(None, &instance).await,
        own("ASIAINSTANCE000000", Some("t"))
    );
    remove(&aws.folder);
}
