//! Signing in at a provider of OpenID Connect: whose account it is, and what is not believed.

mod left_out;

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
};

use axum::{
    Json, Router,
    extract::State,
    http::{HeaderMap, StatusCode},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use reqwest::{Client, Method, Url, redirect};
use ring::signature::{Ed25519KeyPair, KeyPair};
use serde_json::{Value, json};
use server::platform::secret::hash_token;
use tokio_util::sync::DropGuard;

use crate::harness::{Answer, EMAIL, PASSWORD, Server, serve_other};

const NOW_S: i64 = 1_800_000_000;

/// What the provider says, for a test to change.
struct Provider {
    about: Value,
    key: Ed25519KeyPair,
    /// What signs, where it is not the key that is shown.
    other_key: Option<Ed25519KeyPair>,
    /// Beside what every token has; null takes that away.
    claims: Value,
    user_info: Value,
    /// The challenge and the redirect address of the one code that is good.
    code: Option<(String, String)>,
    nonce: String,
    asked: usize,
}

type Shared = Arc<Mutex<Provider>>;

fn new_key() -> Ed25519KeyPair {
    let pkcs8 = Ed25519KeyPair::generate_pkcs8(&ring::rand::SystemRandom::new()).unwrap();
    Ed25519KeyPair::from_pkcs8(pkcs8.as_ref()).unwrap()
}

async fn about(State(provider): State<Shared>) -> Json<Value> {
    Json(provider.lock().unwrap().about.clone())
}

async fn keys(State(provider): State<Shared>) -> Json<Value> {
    let provider = provider.lock().unwrap();
    let x = URL_SAFE_NO_PAD.encode(provider.key.public_key().as_ref());
    Json(json!({"keys": [{"kty": "OKP", "crv": "Ed25519", "kid": "1", "x": x}]}))
}

async fn token(State(provider): State<Shared>, headers: HeaderMap, form: String) -> Response {
    let form: Url = format!("http://form/?{form}").parse().unwrap();
    let form: HashMap<_, _> = form.query_pairs().collect();
    let mut provider = provider.lock().unwrap();
    provider.asked += 1;
    assert_eq!(headers["authorization"], "Basic Z2g6c2VjcmV0");
    assert_eq!(form["grant_type"], "authorization_code");
    let Some((challenge, redirect)) = provider.code.take().filter(|_| form["code"] == "the-code")
    else {
        return (
            StatusCode::BAD_REQUEST,
            Json(json!({"error": "invalid_grant"})),
        )
            .into_response();
    };
    assert_eq!(
        URL_SAFE_NO_PAD.encode(hash_token(&form["code_verifier"])),
        challenge
    );
    assert_eq!(form["redirect_uri"], redirect);
    let issuer = provider.about["issuer"].clone();
    let mut claims = json!({
        "iss": issuer, "aud": "gh", "sub": "7", "nonce": provider.nonce, "iat": NOW_S, "exp": NOW_S + 300,
    });
    for (name, value) in provider.claims.as_object().unwrap() {
        claims[name] = value.clone();
    }
    claims
        .as_object_mut()
        .unwrap()
        .retain(|_, value| !value.is_null());
    let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let signed = format!(
        "{}.{}",
        part(&json!({"alg": "EdDSA", "kid": "1"})),
        part(&claims)
    );
    let key = provider.other_key.as_ref().unwrap_or(&provider.key);
    let signature = URL_SAFE_NO_PAD.encode(key.sign(signed.as_bytes()));
    let tokens = json!({"id_token": format!("{signed}.{signature}"), "access_token": "at", "token_type": "Bearer"});
    Json(tokens).into_response()
}

async fn user_info(
    State(provider): State<Shared>,
    headers: HeaderMap,
) -> (StatusCode, Json<Value>) {
    assert_eq!(headers["authorization"], "Bearer at");
    let info = provider.lock().unwrap().user_info.clone();
    (
        if info.is_null() {
            StatusCode::BAD_GATEWAY
        } else {
            StatusCode::OK
        },
        Json(info),
    )
}

struct World {
    server: Server,
    provider: Shared,
    /// Follows no redirects.
    browser: Client,
    _running: DropGuard,
}

/// A browser on its way to the provider: its cookie, and the address it was sent to.
struct Sent {
    cookie: String,
    url: Url,
}

impl Sent {
    fn query(&self, name: &str) -> String {
        self.url
            .query_pairs()
            .find(|(key, _)| key == name)
            .unwrap()
            .1
            .into_owned()
    }
}

impl World {
    /// A server that knows the provider from its environment.
    async fn start(settings: &[(&str, &str)]) -> Self {
        Self::start_with(settings, true).await
    }

    async fn start_with(settings: &[(&str, &str)], is_configured: bool) -> Self {
        let provider = Arc::new(Mutex::new(Provider {
            about: Value::Null,
            key: new_key(),
            other_key: None,
            claims: json!({"email": "bob@example.org", "email_verified": true, "name": "Bob"}),
            user_info: json!({}),
            code: None,
            nonce: String::new(),
            asked: 0,
        }));
        let routes = Router::new()
            .route("/realm/.well-known/openid-configuration", get(about))
            .route("/keys", get(keys))
            .route("/token", post(token))
            .route("/info", get(user_info))
            .with_state(provider.clone());
        let (address, running) = serve_other(routes).await;
        let own = format!("http://{address}");
        let issuer = format!("{own}/realm");
        provider.lock().unwrap().about = json!({
            "issuer": issuer, "authorization_endpoint": format!("{own}/auth?realm=1"),
            "token_endpoint": format!("{own}/token"), "jwks_uri": format!("{own}/keys"),
            "userinfo_endpoint": format!("{own}/info"),
        });
        let provider_settings = [
            ("GLASSHOUSE_OIDC_ISSUER", issuer.as_str()),
            ("GLASSHOUSE_OIDC_CLIENT_ID", "gh"),
            ("GLASSHOUSE_OIDC_CLIENT_SECRET", "secret"),
        ];
        let mut all = settings.to_vec();
        all.extend(provider_settings.iter().filter(|_| is_configured));
        let server = Server::start_with(&all).await;
        let browser = Client::builder()
            .no_proxy()
            .tls_certs_only([])
            .redirect(redirect::Policy::none());
        Self {
            server,
            provider,
            browser: browser.build().unwrap(),
            _running: running,
        }
    }

    async fn get(&self, path: &str, cookie: &str) -> Answer {
        Answer::of(
            self.browser
                .get(self.server.url(path))
                .header("cookie", cookie),
        )
        .await
    }

    async fn begin(&self) -> Sent {
        let answer = self.get("/oauth/login?next=/c/1", "").await;
        assert_eq!(answer.status, 303);
        let url: Url = answer.headers["location"]
            .to_str()
            .unwrap()
            .parse()
            .unwrap();
        let sent = Sent {
            cookie: answer.cookie(),
            url,
        };
        let mut provider = self.provider.lock().unwrap();
        provider.code = Some((sent.query("code_challenge"), sent.query("redirect_uri")));
        provider.nonce = sent.query("nonce");
        sent
    }

    async fn come_back(&self, sent: &Sent, words: &str) -> Answer {
        let state = sent.query("state");
        self.get(
            &format!("/oauth/login/callback?state={state}&{words}"),
            &sent.cookie,
        )
        .await
    }

    /// Signs in; where the browser is sent, and the session's cookie.
    async fn sign_in(&self) -> (String, String) {
        let sent = self.begin().await;
        ended(&self.come_back(&sent, "code=the-code").await)
    }

    /// What the page is told is wrong.
    async fn problem(&self) -> String {
        let (place, session) = self.sign_in().await;
        assert_eq!(session, "", "nobody is signed in");
        let (_, rest) = place
            .split_once("/login?problem=")
            .unwrap_or_else(|| panic!("sent to {place}"));
        rest.split('&').next().unwrap().to_owned()
    }

    async fn me(&self, session: &str) -> Value {
        self.server.get("/api/v1/me", session).await.json()["user"].clone()
    }

    fn says(&self, claims: Value) {
        self.provider.lock().unwrap().claims = claims;
    }
}

/// An administrator tests and sets the provider in the web app; people sign in at once, and not after it is changed.
#[tokio::test(flavor = "multi_thread")]
async fn the_provider_is_set_while_the_server_runs() {
    let world = World::start_with(&[], false).await;
    let ada = world.server.set_up().await;
    world.get("/oauth/login", "").await.expect(403);
    let issuer = world.provider.lock().unwrap().about["issuer"].clone();
    let values = |issuer: &Value| {
        let values =
            json!({"oidc.issuer": issuer, "oidc.client_id": "gh", "oidc.client_secret": "secret"});
        json!({ "values": values })
    };
    let test = "/api/v1/settings/sign-in-provider/test";
    let tested = world.server.post(test, &ada, &values(&issuer)).await;
    tested.expect(200);
    let authorize = world.provider.lock().unwrap().about["authorization_endpoint"].clone();
    assert_eq!(tested.json()["authorization_url"], authorize);
    let redirect = tested.json()["redirect_url"].as_str().unwrap().to_owned();
    assert!(redirect.ends_with("/oauth/login/callback"), "{redirect}");
    let elsewhere = json!(format!("{}/other", issuer.as_str().unwrap()));
    let failed = world.server.post(test, &ada, &values(&elsewhere)).await;
    failed.expect(422);
    assert!(failed.text.contains("no description of a provider"));
    world
        .server
        .post(test, &ada, &json!({"values": {}}))
        .await
        .expect(400);

    let change = async |issuer: &Value| {
        let request = world
            .server
            .request(Method::PATCH, "/api/v1/settings", &ada);
        let request = request.json(&values(issuer));
        Answer::of(request).await.expect(200);
    };
    change(&issuer).await;
    let sent = world.begin().await;
    assert_eq!(sent.query("redirect_uri"), redirect);
    let (place, session) = ended(&world.come_back(&sent, "code=the-code").await);
    assert_eq!(place, "/c/1");
    assert_eq!(world.me(&session).await["email"], "bob@example.org");
    change(&elsewhere).await;
    let answer = world.get("/oauth/login", "").await;
    let place = answer.headers["location"].to_str().unwrap();
    assert!(place.contains("problem=unreachable"), "{place}");
}

fn ended(answer: &Answer) -> (String, String) {
    assert_eq!(answer.status, 303, "{}", answer.text);
    let mut lines = answer
        .headers
        .get_all("set-cookie")
        .iter()
        .map(|line| line.to_str().unwrap());
    let session = lines
        .find(|line| line.starts_with("glasshouse_session="))
        .unwrap_or_default();
    let place = answer.headers["location"].to_str().unwrap().to_owned();
    (place, session.split(';').next().unwrap().to_owned())
}

#[tokio::test]
async fn who_comes_for_the_first_time_gets_an_account_and_the_same_again() {
    let world = World::start(&[]).await;
    assert_eq!(
        world.problem().await,
        "not_set_up",
        "nobody becomes the administrator by coming first"
    );
    let admin = world.server.set_up().await;
    let me = world.server.get("/api/v1/me", "").await.json();
    assert_eq!(me["oidc"], "OpenID Connect");

    let sent = world.begin().await;
    for (name, value) in [
        ("realm", "1"),
        ("client_id", "gh"),
        ("response_type", "code"),
        ("scope", "openid email profile"),
        ("code_challenge_method", "S256"),
        ("redirect_uri", &world.server.url("/oauth/login/callback")),
    ] {
        assert_eq!(sent.query(name), value);
    }
    let (place, session) = ended(&world.come_back(&sent, "code=the-code").await);
    assert_eq!(place, "/c/1");
    let bob = world.me(&session).await;
    assert_eq!(
        (&bob["email"], &bob["name"], &bob["role"]),
        (&json!("bob@example.org"), &json!("Bob"), &json!("user"))
    );
    // What the provider calls a person counts, not what may change or be given to another.
    world.says(json!({"email": "robert@example.org", "name": "Robert"}));
    let (_, again) = world.sign_in().await;
    assert_eq!(world.me(&again).await["id"], bob["id"]);
    // Such an account has no password that anybody could guess.
    for password in ["!", "", "correct horse"] {
        let body = json!({"email": "bob@example.org", "password": password});
        world
            .server
            .post("/api/v1/login", "", &body)
            .await
            .expect(401);
    }
    // Suspended is suspended.
    let path = format!("/api/v1/users/{}", bob["id"].as_str().unwrap());
    let change = world
        .server
        .request(Method::PATCH, &path, &admin)
        .json(&json!({"suspended": true}));
    Answer::of(change).await.expect(200);
    assert_eq!(world.problem().await, "suspended");
}

#[tokio::test]
async fn an_address_alone_gives_nobody_an_account_of_others() {
    let world = World::start(&[]).await;
    world.server.set_up().await;
    world.says(json!({"email": EMAIL, "email_verified": true}));
    assert_eq!(world.problem().await, "address_taken");
    world.says(json!({"name": "Bob"}));
    assert_eq!(world.problem().await, "no_address");

    let world = World::start(&[
        ("GLASSHOUSE_OIDC_LINK_BY_EMAIL", "true"),
        ("GLASSHOUSE_OIDC_CREATE_ACCOUNTS", "false"),
    ])
    .await;
    world.server.set_up().await;
    assert_eq!(world.problem().await, "no_account");
    for unproven in [
        json!(null),
        json!(false),
        json!("false"),
        json!("yes"),
        json!(1),
    ] {
        world.says(json!({"email": EMAIL, "email_verified": unproven}));
        assert_eq!(world.problem().await, "address_taken", "{unproven}");
    }
    world.says(json!({"email": "ADA@example.org", "email_verified": "true"}));
    let (_, session) = world.sign_in().await;
    assert_eq!(world.me(&session).await["email"], EMAIL);
}

// LibreChat#3098
#[tokio::test]
async fn a_user_name_may_take_the_place_of_a_missing_address() {
    let world = World::start(&[("GLASSHOUSE_OIDC_LINK_BY_EMAIL", "true")]).await;
    let admin = world.server.set_up().await;
    let names = [
        json!({"sub": "u1", "email": null, "upn": "carl@example.org", "preferred_username": "x@example.org"}),
        json!({"sub": "u2", "email": "", "preferred_username": "dora@example.org", "name": "Dora"}),
        json!({"sub": "u3", "upn": "no address", "preferred_username": "eve@example.org", "email_verified": true}),
    ];
    for (claims, email) in names.into_iter().zip(["carl", "dora", "eve"]) {
        world.says(claims.clone());
        let (_, session) = world.sign_in().await;
        let me = world.me(&session).await;
        assert_eq!(me["email"], format!("{email}@example.org"), "{claims}");
        let (_, again) = world.sign_in().await;
        assert_eq!(world.me(&again).await["id"], me["id"]);
    }
    // A user principal name is never verified, whatever `email_verified` says.
    for claims in [
        json!({"sub": "u4", "upn": EMAIL, "email_verified": true}),
        json!({"sub": "u4", "preferred_username": EMAIL, "email": null, "email_verified": "true"}),
    ] {
        world.says(claims.clone());
        assert_eq!(world.problem().await, "address_taken", "{claims}");
    }
    world.says(json!({"sub": "u5", "upn": "carl", "preferred_username": "carl"}));
    assert_eq!(world.problem().await, "no_address");
    // An address of the user info is not verified by the token, nor the other way round.
    world.says(json!({"sub": "u6", "email": null, "email_verified": true}));
    world.provider.lock().unwrap().user_info = json!({"sub": "u6", "email": EMAIL});
    assert_eq!(world.problem().await, "address_taken");
    world.says(json!({"sub": "u6", "email": EMAIL}));
    world.provider.lock().unwrap().user_info =
        json!({"sub": "u6", "email": "mine@example.org", "email_verified": true});
    assert_eq!(world.problem().await, "address_taken");
    let users = world.server.get("/api/v1/users", &admin).await.json();
    assert_eq!(users["users"].as_array().unwrap().len(), 4);
}

#[tokio::test]
async fn a_subject_may_be_a_number() {
    let world = World::start(&[]).await;
    world.server.set_up().await;
    let person =
        |sub: Value| world.says(json!({"sub": sub, "email": "bob@example.org", "name": "Bob"}));
    person(json!(9_007_199_254_740_993_u64));
    let (_, session) = world.sign_in().await;
    let bob = world.me(&session).await;
    assert_eq!(bob["email"], "bob@example.org");
    // Its decimal text is the same person, another number is not.
    person(json!("9007199254740993"));
    let (_, again) = world.sign_in().await;
    assert_eq!(world.me(&again).await["id"], bob["id"]);
    person(json!(9_007_199_254_740_992_u64));
    assert_eq!(world.problem().await, "address_taken");
    for strange in [json!(7.5), json!(1e30), json!(true), json!(["7"])] {
        person(strange.clone());
        assert_eq!(world.problem().await, "refused", "{strange}");
    }
}

#[tokio::test]
async fn groups_say_who_may_come_and_who_is_an_administrator() {
    let world = World::start(&[
        ("GLASSHOUSE_OIDC_GROUPS_CLAIM", "realm_access.roles"),
        ("GLASSHOUSE_OIDC_ADMIN_GROUPS", "heads"),
        ("GLASSHOUSE_OIDC_ALLOWED_GROUPS", "staff"),
    ])
    .await;
    let person = |subject: &str, groups: Value| {
        let email = format!("{subject}@example.org");
        world.says(json!({"sub": subject, "email": email, "realm_access": {"roles": groups}}));
    };
    for groups in [
        json!(["others"]),
        json!([]),
        json!("others"),
        json!({"staff": 1}),
        json!(null),
    ] {
        person("carl", groups);
        assert_eq!(world.problem().await, "not_allowed");
    }
    person("carl", json!(["staff"]));
    assert_eq!(world.problem().await, "not_set_up");
    // The provider vouches for the first administrator.
    person("ann", json!(["heads"]));
    let (_, session) = world.sign_in().await;
    assert_eq!(world.me(&session).await["role"], "admin");
    let me = world.server.get("/api/v1/me", "").await.json();
    assert_eq!(
        me["setup_needed"], false,
        "and nobody else can take the server"
    );
    let body = json!({"email": "eve@example.org", "name": "Eve", "password": "correct horse"});
    assert_eq!(
        world
            .server
            .post("/api/v1/setup", "", &body)
            .await
            .expect(409),
        "conflict"
    );
    person("carl", json!(["staff"]));
    let (_, session) = world.sign_in().await;
    assert_eq!(world.me(&session).await["role"], "user");
    person("carl", json!(["staff", "heads"]));
    let (_, session) = world.sign_in().await;
    assert_eq!(world.me(&session).await["role"], "admin");
    person("carl", json!("staff"));
    let (_, session) = world.sign_in().await;
    assert_eq!(world.me(&session).await["role"], "user");
    // Nobody would be left to let others in.
    person("ann", json!(["staff"]));
    let (_, session) = world.sign_in().await;
    assert_eq!(world.me(&session).await["role"], "admin");
}

#[tokio::test]
async fn groups_of_the_provider_put_people_into_groups_of_ours() {
    let world = World::start(&[]).await;
    let server = &world.server;
    let admin = server.set_up().await;
    let make = async |name: &str, there: Option<&str>| {
        let made = server
            .post(
                "/api/v1/groups",
                &admin,
                &json!({"name": name, "provider_name": there}),
            )
            .await;
        made.expect(200);
        made.json()["id"].as_str().unwrap().to_owned()
    };
    let (eng, ops, own) = (
        make("Engineers", Some("/eng")).await,
        make("Ops", Some("ops")).await,
        make("Own", None).await,
    );
    let groups = async || {
        let users = server.get("/api/v1/users", &admin).await.json();
        let users = users["users"].as_array().unwrap().clone();
        let bob = users
            .iter()
            .find(|user| user["email"] == "bob@example.org")
            .unwrap()
            .clone();
        let mut groups: Vec<String> = serde_json::from_value(bob["groups"].clone()).unwrap();
        groups.sort();
        groups
    };
    let says = |groups: Value| {
        world.says(json!({"email": "bob@example.org", "email_verified": true, "groups": groups}));
    };
    says(json!(["/eng", "others"]));
    world.sign_in().await;
    assert_eq!(groups().await, std::slice::from_ref(&eng));
    let body = json!({"users": ["bob@example.org"]});
    for group in [&ops, &own] {
        server
            .post(&format!("/api/v1/groups/{group}/members"), &admin, &body)
            .await
            .expect(204);
    }
    // What an administrator has said stays; the rest is as the provider says, each time.
    says(json!("ops"));
    world.sign_in().await;
    let mut expected = vec![ops.clone(), own.clone()];
    expected.sort();
    assert_eq!(groups().await, expected);
    for odd in [
        json!(null),
        json!({"eng": true}),
        json!([["/eng"]]),
        json!(7),
    ] {
        says(json!(["/eng"]));
        world.sign_in().await;
        assert!(groups().await.contains(&eng));
        says(odd);
        world.sign_in().await;
        assert_eq!(
            groups().await,
            expected,
            "what is not said, they are not in"
        );
    }
    let members = server
        .get(&format!("/api/v1/groups/{ops}/members"), &admin)
        .await
        .json();
    assert_eq!(
        (
            &members["members"][0]["by_hand"],
            &members["members"][0]["by_provider"]
        ),
        (&json!(true), &json!(false))
    );
}

#[tokio::test]
async fn only_a_token_for_us_of_now_and_of_this_sign_in_is_believed() {
    let world = World::start(&[]).await;
    world.server.set_up().await;
    for wrong in [
        json!({"iss": "https://evil.example"}),
        json!({"iss": null}),
        json!({"aud": "other"}),
        json!({"aud": ["other"]}),
        json!({"aud": ["gh", "other"]}),
        json!({"aud": null}),
        json!({"azp": "other"}),
        json!({"exp": NOW_S - 61}),
        json!({"exp": null}),
        json!({"exp": "never"}),
        json!({"iat": NOW_S + 61}),
        json!({"nbf": NOW_S + 61}),
        json!({"nonce": "another"}),
        json!({"nonce": null}),
        json!({"sub": null}),
        json!({"sub": ""}),
        json!({"sub": "x".repeat(256)}),
    ] {
        world.says(wrong.clone());
        assert_eq!(world.problem().await, "refused", "{wrong}");
    }
    world.says(json!({"email": "bob@example.org"}));
    world.provider.lock().unwrap().other_key = Some(new_key());
    assert_eq!(world.problem().await, "refused");
    world.provider.lock().unwrap().other_key = None;
    let audience = json!(["gh", "other"]);
    world
        .says(json!({"sub": 7, "aud": audience, "azp": "gh", "exp": NOW_S - 59, "email": "bob@example.org"}));
    let (_, session) = world.sign_in().await;
    assert_eq!(world.me(&session).await["name"], "bob@example.org");
}

#[tokio::test]
async fn only_the_browser_that_began_can_come_back() {
    let world = World::start(&[]).await;
    world.server.set_up().await;
    let (mine, theirs) = (world.begin().await, world.begin().await);
    let word = |answer: &Answer| {
        let (place, session) = ended(answer);
        assert_eq!(session, "");
        place
            .split_once("problem=")
            .unwrap()
            .1
            .split('&')
            .next()
            .unwrap()
            .to_owned()
    };
    // Somebody else's way back, in my browser: I would work in their account.
    let state = theirs.query("state");
    let path = format!("/oauth/login/callback?state={state}&code=the-code");
    assert_eq!(word(&world.get(&path, &mine.cookie).await), "unknown");
    assert_eq!(word(&world.get(&path, "").await), "unknown");
    assert_eq!(
        word(&world.get(&path, "glasshouse_sign_in=AAAA").await),
        "unknown"
    );
    for odd in [
        "",
        "state=a&state=b",
        "state=&code=the-code",
        "code=the-code",
    ] {
        assert_eq!(
            word(
                &world
                    .get(&format!("/oauth/login/callback?{odd}"), &mine.cookie)
                    .await
            ),
            "unknown",
            "{odd}"
        );
    }
    assert_eq!(
        word(&world.come_back(&theirs, "error=access_denied").await),
        "denied"
    );
    assert_eq!(
        word(&world.come_back(&theirs, "error=server_error").await),
        "refused"
    );
    assert_eq!(
        word(
            &world
                .come_back(&theirs, "iss=https://evil.example&code=the-code")
                .await
        ),
        "refused"
    );
    assert_eq!(word(&world.come_back(&theirs, "").await), "refused");
    assert_eq!(
        world.provider.lock().unwrap().asked,
        0,
        "none of them was worth a question"
    );
    assert_eq!(
        word(&world.come_back(&theirs, "code=another").await),
        "refused"
    );
    let sent = world.begin().await;
    world.server.clock.advance_ms(16 * 60 * 1000);
    assert_eq!(
        word(&world.come_back(&sent, "code=the-code").await),
        "unknown"
    );
}

#[tokio::test]
async fn what_the_token_leaves_out_is_asked_for() {
    let world = World::start(&[]).await;
    world.server.set_up().await;
    world.says(json!({"name": "Bob"}));
    let info = |info: Value| world.provider.lock().unwrap().user_info = info;
    info(json!({"sub": "8", "email": "eve@example.org"}));
    assert_eq!(
        world.problem().await,
        "no_address",
        "it is about somebody else"
    );
    info(json!({"sub": "7", "email": "bob@example.org", "name": "Eve", "nonce": "x"}));
    let (_, session) = world.sign_in().await;
    let bob = world.me(&session).await;
    assert_eq!(
        (&bob["email"], &bob["name"]),
        (&json!("bob@example.org"), &json!("Bob"))
    );
}

#[tokio::test]
async fn a_provider_that_is_down_or_another_than_it_should_be_signs_nobody_in() {
    let world = World::start(&[]).await;
    world.server.set_up().await;
    let right = world.provider.lock().unwrap().about.clone();
    let with = |name: &str, value: Value| {
        let mut about = right.clone();
        about[name] = value;
        about
    };
    for wrong in [
        json!({}),
        with("issuer", json!("https://evil.example")),
        with("token_endpoint", json!("http://169.254.169.254/token")),
        with("jwks_uri", Value::Null),
        with("authorization_endpoint", json!("javascript:alert(1)")),
        with("jwks_uri", json!("http://127.0.0.1:1/keys")),
    ] {
        world.provider.lock().unwrap().about = wrong.clone();
        let answer = world.get("/oauth/login?next=/c/1", "").await;
        let (place, _) = ended(&answer);
        assert_eq!(place, "/login?problem=unreachable&next=%2Fc%2F1", "{wrong}");
    }
    // It is asked again, not remembered as down.
    world.provider.lock().unwrap().about = right;
    world.sign_in().await;

    let none = Server::start().await;
    none.get("/oauth/login", "").await.expect(403);
    none.get("/oauth/login/callback", "").await.expect(403);
    assert!(
        none.get("/api/v1/me", "")
            .await
            .json()
            .get("oidc")
            .is_none()
    );
}

/// An account may have a second factor whichever way its person comes.
#[tokio::test]
async fn a_provider_does_not_go_around_the_second_step() {
    let world = World::start(&[("GLASSHOUSE_OIDC_LINK_BY_EMAIL", "true")]).await;
    let ada = world.server.set_up().await;
    world.says(json!({"email": EMAIL, "email_verified": true}));
    let (phone, _) = world.server.turn_on(&ada, PASSWORD).await;

    let sent = world.begin().await;
    let answer = world.come_back(&sent, "code=the-code").await;
    assert_eq!(
        ended(&answer),
        ("/login?step=code&next=%2Fc%2F1".to_owned(), String::new())
    );
    let mut lines = answer
        .headers
        .get_all("set-cookie")
        .iter()
        .map(|line| line.to_str().unwrap());
    let ticket = lines
        .find_map(|line| line.strip_prefix("glasshouse_second_step="))
        .unwrap();
    let ticket = format!(
        "glasshouse_second_step={}",
        ticket.split(';').next().unwrap()
    );
    assert_eq!(world.me(&ticket).await, Value::Null);
    let code = json!({ "code": phone.code(world.server.clock.now_ms()) });
    let entered = world
        .server
        .post("/api/v1/login/code", &ticket, &code)
        .await;
    entered.expect(200);
    assert_eq!(world.me(&entered.cookie()).await["email"], EMAIL);
}

#[tokio::test]
async fn a_server_below_a_path_is_come_back_to_there() {
    let url = ("GLASSHOUSE_PUBLIC_URL", "http://example.org/ai");
    let world = World::start(&[url]).await;
    world.server.set_up().await;
    let set_cookie = |answer: &Answer| answer.headers["set-cookie"].to_str().unwrap().to_owned();
    let begun = world.get("/ai/oauth/login?next=/c/1", "").await;
    assert!(set_cookie(&begun).contains("; Path=/ai/oauth/login; "));
    let sent = world.begin().await;
    assert_eq!(
        sent.query("redirect_uri"),
        "http://example.org/ai/oauth/login/callback"
    );
    let back = world.come_back(&sent, "code=the-code").await;
    let (place, session) = ended(&back);
    assert_eq!(place, "/ai/c/1");
    assert_eq!(world.me(&session).await["email"], "bob@example.org");
    let again = world.come_back(&sent, "code=the-code").await;
    assert_eq!(again.headers["location"], "/ai/login?problem=refused&next=");
}
