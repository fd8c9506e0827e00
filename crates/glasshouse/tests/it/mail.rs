//! Mail over SMTP: what a server gets, and what people are told if it refuses.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use reqwest::Method;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    net::{TcpListener, TcpStream},
};
use tokio_util::task::TaskTracker;

use crate::{
    doors::BOB,
    harness::{Answer, EMAIL, Server},
};

/// Below a path, where links are most easily wrong.
const PUBLIC_URL: &str = "https://example.org/agents";
const TEST: &str = "/api/v1/settings/mail/test";

/// An SMTP server that keeps what it gets. It refuses recipients that begin with `refused`.
struct Smtp {
    address: String,
    got: Arc<Mutex<Vec<String>>>,
    _tasks: TaskTracker,
}

impl Smtp {
    async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let got: Arc<Mutex<Vec<String>>> = Arc::default();
        let all = got.clone();
        let tasks = TaskTracker::new();
        let connections = tasks.clone();
        tasks.spawn(async move {
            while let Ok((connection, _)) = listener.accept().await {
                connections.spawn(serve(connection, all.clone()));
            }
        });
        Self {
            address,
            got,
            _tasks: tasks,
        }
    }

    fn got(&self) -> String {
        self.got.lock().unwrap().join("\n")
    }

    /// The body of the mail with this number, from 1, once it is there.
    async fn mail(&self, number: usize) -> String {
        self.until(|got| got.matches("\n.\nQUIT").count() >= number)
            .await;
        let got = self.got();
        let until = got.match_indices("\n.\nQUIT").nth(number - 1).unwrap().0;
        decoded(&got[..until])
    }

    /// Stores its address as the mail server of a new server that has a `public_url`. Returns the administrator too.
    async fn with_public_server(&self) -> (Server, String) {
        let settings = [("GLASSHOUSE_PUBLIC_URL", PUBLIC_URL)];
        let server = Server::start_with(&settings).await;
        let ada = server.set_up().await;
        self.store(&server, &ada).await;
        (server, ada)
    }

    /// Stores its address as the mail server.
    async fn store(&self, server: &Server, ada: &str) -> Answer {
        let request = server.request(Method::PATCH, "/api/v1/settings", ada);
        let stored = Answer::of(request.json(&json!({"values": self.values()}))).await;
        stored.expect(200);
        stored
    }

    /// Waits until what it has got is as wanted.
    async fn until(&self, is_there: impl Fn(&str) -> bool) {
        for _ in 0..500 {
            if is_there(&self.got()) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        panic!("it is not there: {}", self.got());
    }

    fn values(&self) -> Value {
        json!({
            "mail.server": self.address, "mail.security": "none", "mail.user": "gh", "mail.password": "canary-9",
            "mail.from": "Glasshouse <ai@example.org>",
        })
    }
}

async fn serve(connection: TcpStream, got: Arc<Mutex<Vec<String>>>) {
    let mut connection = BufReader::new(connection);
    let mut answer = "220 ready\r\n".to_owned();
    let mut is_data = false;
    loop {
        connection.write_all(answer.as_bytes()).await.unwrap();
        answer.clear();
        let mut line = String::new();
        if connection.read_line(&mut line).await.unwrap_or_default() == 0 {
            return;
        }
        let line = line.trim_end();
        got.lock().unwrap().push(line.to_owned());
        let command = line.split(' ').next().unwrap_or_default();
        answer = match command {
            "." if is_data => "250 accepted",
            _ if is_data => "",
            "EHLO" => "250-me\r\n250 AUTH PLAIN",
            "AUTH" => "235 welcome",
            "RCPT" if line.contains("<refused") => "550 no such person",
            "DATA" => "354 go on",
            "QUIT" => "221 bye",
            _ => "250 ok",
        }
        .to_owned();
        is_data = is_data && command != "." || command == "DATA";
        if !answer.is_empty() {
            answer.push_str("\r\n");
        }
    }
}

/// An administrator tests the settings, stores them, and invites people by mail in a language.
#[tokio::test(flavor = "multi_thread")]
async fn invitations_are_sent_by_mail() {
    let smtp = Smtp::start().await;
    let (server, ada) = Server::start_signed_in().await;
    let invite = async |body: Value| server.post("/api/v1/invitations", &ada, &body).await;
    let bob = json!({"email": "bob@example.org", "send_mail": true, "language": "ru-RU"});
    invite(bob.clone()).await.expect(409);
    server.post(TEST, &ada, &json!({})).await.expect(400);

    let test = json!({"values": smtp.values(), "language": "de"});
    server.post(TEST, &ada, &test).await.expect(204);
    let got = smtp.got();
    assert!(got.contains(&format!("RCPT TO:<{EMAIL}>")), "{got}");
    assert!(got.contains("From: Glasshouse <ai@example.org>"), "{got}");
    assert!(got.contains("Glasshouse kann E-Mails versenden."), "{got}");
    // base64 of "\0gh\0canary-9".
    assert!(got.contains("AUTH PLAIN AGdoAGNhbmFyeS05"), "{got}");
    let pending = server.get("/api/v1/invitations", &ada).await.json();
    assert_eq!(pending["can_send_mail"], false);

    let stored = smtp.store(&server, &ada).await;
    assert!(!stored.text.contains("canary-9"));
    smtp.got.lock().unwrap().clear();
    let created = invite(bob).await;
    created.expect(200);
    assert_eq!(created.json()["mail"], json!({"problem": null}));
    let got = smtp.got();
    assert!(got.contains("RCPT TO:<bob@example.org>"), "{got}");
    // Cyrillic text is sent as base64 or quoted-printable; the link is only in the body.
    assert!(got.contains("Content-Transfer-Encoding: "), "{got}");
    let path = created.json()["path"].as_str().unwrap().to_owned();
    assert!(decoded(&got).contains(&path), "{got}");

    let refused = invite(json!({"email": "refused@example.org", "send_mail": true})).await;
    refused.expect(200);
    let problem = refused.json()["mail"]["problem"]["message"].clone();
    assert!(problem.as_str().unwrap().contains("550"), "{problem}");
    let pending = server.get("/api/v1/invitations", &ada).await.json();
    assert_eq!(pending["invitations"].as_array().unwrap().len(), 2);
    invite(json!({"send_mail": true})).await.expect(400);

    // The password was entered for this server and is not sent to another one.
    let other = Smtp::start().await;
    let elsewhere = other.address.replace("127.0.0.1", "localhost");
    let test = json!({"values": {"mail.server": elsewhere}});
    server.post(TEST, &ada, &test).await.expect(204);
    // Nor by way of no server at all; for the first server it is still known.
    let change = async |address: Value| {
        let request = server.request(Method::PATCH, "/api/v1/settings", &ada);
        let values = json!({"mail.server": address});
        let changed = Answer::of(request.json(&json!({ "values": values }))).await;
        changed.expect(200);
    };
    change(Value::Null).await;
    change(json!(elsewhere)).await;
    server.post(TEST, &ada, &json!({})).await.expect(204);
    assert!(!other.got().contains("AGdoAGNhbmFyeS05"), "{}", other.got());
    smtp.got.lock().unwrap().clear();
    change(json!(smtp.address)).await;
    server.post(TEST, &ada, &json!({})).await.expect(204);
    assert!(smtp.got().contains("AGdoAGNhbmFyeS05"), "{}", smtp.got());
}

async fn offers_links(server: &Server) -> bool {
    let me = server.get("/api/v1/me", "").await.json();
    me["password_reset_by_mail"].as_bool().unwrap()
}

async fn request_link(server: &Server, email: &str) -> Answer {
    let body = json!({"email": email, "language": "de"});
    server
        .post("/api/v1/password-reset/request", "", &body)
        .await
}

/// Requests a link for an account, for an unknown address and again at once, and chooses a password with it. The
/// responses do not tell which accounts exist.
#[tokio::test(flavor = "multi_thread")]
async fn forgotten_passwords_are_reset_by_mail() {
    let smtp = Smtp::start().await;
    let (server, ada) = smtp.with_public_server().await;
    let password = json!({"password": "forgotten words"});
    server.bob_by(&ada, password).await.expect(200);
    assert!(offers_links(&server).await);

    request_link(&server, "x").await.expect(400);
    for email in ["nobody@example.org", BOB, BOB] {
        let answer = request_link(&server, email).await;
        answer.expect(204);
        assert_eq!(answer.text, "");
    }
    let first = smtp.mail(1).await;
    assert!(first.contains("Der Link funktioniert einmal"), "{first}");
    // Five minutes later, a second mail replaces the link of the first one.
    server.clock.advance_ms(5 * 60_000);
    request_link(&server, BOB).await.expect(204);
    let second = smtp.mail(2).await;
    for (mail, status) in [(&first, 404), (&second, 204)] {
        let (_, token) = mail.split_once(&format!("{PUBLIC_URL}/reset#")).unwrap();
        let token = token.split_whitespace().next().unwrap();
        let body = json!({"token": token, "password": "a new password"});
        let reset = server.post("/api/v1/password-reset", "", &body).await;
        reset.expect(status);
    }
    server.enter(BOB, "a new password").await.expect(200);
    let got = smtp.got();
    let to: Vec<&str> = got
        .lines()
        .filter(|line| line.starts_with("RCPT"))
        .collect();
    assert_eq!(to, ["RCPT TO:<bob@example.org>"; 2]);

    let noted = server
        .get("/api/v1/audit?action=password.request", &ada)
        .await
        .json();
    let noted = noted["entries"].as_array().unwrap();
    assert_eq!(noted.len(), 2, "{noted:?}");
    assert_eq!(noted[0]["subject_name"], BOB);
    assert_eq!(noted[0]["actor"], Value::Null);
}

/// Suspended accounts get no mail, nor do accounts without a password, which sign in through a provider.
#[tokio::test(flavor = "multi_thread")]
async fn accounts_that_cannot_sign_in_by_password_get_no_link() {
    let smtp = Smtp::start().await;
    let (server, ada) = smtp.with_public_server().await;
    let password = json!({"password": "forgotten words"});
    let bob = server.bob_by(&ada, password).await.json();
    let path = format!("/api/v1/users/{}", bob["id"].as_str().unwrap());
    let request = server.request(Method::PATCH, &path, &ada);
    let suspended = Answer::of(request.json(&json!({"suspended": true}))).await;
    suspended.expect(200);
    let new = store::NewUser {
        id: domain::UserId::generate(),
        email: "carol@example.org".into(),
        name: "Carol".into(),
        role: store::UserRole::User,
        password_hash: String::new(),
        created_at: server.clock.now_ms(),
    };
    server.app.store.create_user(&new).await.unwrap();
    for email in [BOB, "carol@example.org", EMAIL] {
        request_link(&server, email).await.expect(204);
    }
    // Only the administrator's mail is sent.
    smtp.mail(1).await;
    let noted = server
        .get("/api/v1/audit?action=password.request", &ada)
        .await
        .json();
    assert_eq!(noted["entries"].as_array().unwrap().len(), 1, "{noted}");
    assert_eq!(smtp.got().matches("RCPT").count(), 1, "{}", smtp.got());
}

/// Without `public_url`, a link would lead to the `Host` of the request, which an attacker chooses.
#[tokio::test(flavor = "multi_thread")]
async fn links_are_mailed_only_with_the_configured_address() {
    let smtp = Smtp::start().await;
    let (server, ada) = Server::start_signed_in().await;
    smtp.store(&server, &ada).await;
    assert!(!offers_links(&server).await);
    request_link(&server, EMAIL).await.expect(409);
}

/// If the mail server refuses a mail, the person can request another link at once.
#[tokio::test(flavor = "multi_thread")]
async fn a_link_that_was_not_mailed_can_be_requested_again() {
    const REFUSED: &str = "refused@example.org";
    let smtp = Smtp::start().await;
    let (server, ada) = smtp.with_public_server().await;
    let person =
        json!({"email": REFUSED, "name": "R", "password": "forgotten words", "role": "user"});
    let created = server.post("/api/v1/users", &ada, &person).await;
    created.expect(200);
    // The link is deleted a moment after the mail server has refused the mail.
    for wait_ms in [0, 100, 1_000, 3_000] {
        tokio::time::sleep(Duration::from_millis(wait_ms)).await;
        request_link(&server, REFUSED).await.expect(204);
        smtp.until(|got| got.contains("RCPT TO:<refused@example.org>"))
            .await;
        if smtp.got().matches("RCPT").count() == 2 {
            return;
        }
    }
    panic!("no second mail: {}", smtp.got());
}

/// The body of the last mail, whichever transfer encoding it has.
fn decoded(got: &str) -> String {
    use base64::{Engine, engine::general_purpose::STANDARD};
    let (_, mail) = got.rsplit_once("\nDATA\n").unwrap();
    let (head, body) = mail.split_once("\n\n").unwrap();
    let body = body.split("\n.").next().unwrap();
    if head.contains("Content-Transfer-Encoding: base64") {
        let text: String = body.split_whitespace().collect();
        return String::from_utf8(STANDARD.decode(text).unwrap()).unwrap();
    }
    body.replace("=\n", "").replace("=3D", "=")
}

/// A server that does not speak, or is not there, is an error with the reason, not a wait without end.
#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_does_not_answer_is_named() {
    let (server, ada) = Server::start_signed_in().await;
    for (values, status) in [
        (
            json!({"mail.server": "127.0.0.1:1", "mail.security": "none", "mail.from": "ai@example.org"}),
            422,
        ),
        (
            json!({"mail.server": "127.0.0.1:1", "mail.from": "not an address"}),
            400,
        ),
        (
            json!({"mail.server": "smtp://x", "mail.from": "ai@example.org"}),
            400,
        ),
        (
            json!({"mail.server": "x", "mail.security": "maybe", "mail.from": "ai@example.org"}),
            400,
        ),
    ] {
        let answer = server.post(TEST, &ada, &json!({"values": values})).await;
        answer.expect(status);
    }
}
