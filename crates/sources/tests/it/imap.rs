//! IMAP, as Dovecot serves it.

use std::{env, path::Path, process::Command};

use outbound::Fault;
use serde_json::{Value, json};
use sources::{Source, SourceProblem};

use crate::{server, source, text};

fn settings(server: &Value, user: &str) -> Value {
    json!({
        "kind": "imap",
        "host": "127.0.0.1",
        "port": server["port"],
        "security": "plain",
        "user": user,
    })
}

fn with(mut settings: Value, change: &Value) -> Value {
    let all = settings.as_object_mut().unwrap();
    all.extend(change.as_object().unwrap().clone());
    settings
}

fn password<'a>(server: &'a Value, user: &str) -> &'a str {
    text(&server["users"][user])
}

async fn read(source: &Source, title: &str) -> Result<Vec<u8>, SourceProblem> {
    let listing = source.list().await.unwrap();
    let mut found = listing
        .items
        .iter()
        .filter(|item| item.name.contains(title));
    let content = source.read(found.next().unwrap()).await;
    content.map(|content| content.to_vec())
}

#[tokio::test]
async fn messages_are_listed_and_read_and_nothing_changes() {
    let Some(server) = server("imap") else { return };
    // A password that must be quoted, and one that cannot be.
    for user in ["ann", "jürgen"] {
        let source = source(settings(&server, user), password(&server, user)).unwrap();
        let listing = source.list().await.unwrap();
        assert_eq!(listing.problems, []);
        let names: Vec<_> = listing.items.iter().map(|item| &*item.name).collect();
        assert_eq!(names.len(), 454, "450, and five of which one is deleted");
        for number in 0..450 {
            let start = format!("INBOX/2026-11-01 Message {number} ");
            assert!(names.iter().any(|name| name.starts_with(&start)), "{start}");
        }
        let first = read(&source, "Message 0 ").await.unwrap();
        assert!(first.ends_with(b"Subject: Message 0\r\n\r\nText 0\r\n"));
        let accents = read(&source, "Über").await.unwrap();
        assert!(accents.ends_with("séen\r\n".as_bytes()));
        let bytes = read(&source, "caf").await.unwrap();
        assert!(bytes.ends_with(b"\xff\xfe)\r\nA1 OK {5}\r\n"));
        let large = read(&source, "Large").await;
        assert_eq!(large, Err(SourceProblem::TooLarge));
        assert_eq!(read(&source, "untitled").await.unwrap(), b"\r\n");

        let again = source.list().await.unwrap();
        assert_eq!(again, listing);
        let folder = Path::new(text(&server["homes"])).join(user).join("Maildir");
        let mut seen = 0;
        for part in ["cur", "new"] {
            for entry in std::fs::read_dir(folder.join(part)).unwrap() {
                let name = entry.unwrap().file_name().into_string().unwrap();
                let flags = name.rsplit_once(",").map_or("", |(_, flags)| flags);
                seen += usize::from(flags.contains('S'));
            }
        }
        assert_eq!(seen, 1, "as before");
    }
}

#[tokio::test]
async fn folders_have_names_of_any_script() {
    let Some(server) = server("imap") else { return };
    let list = async |folders: &[&str]| {
        let settings = with(settings(&server, "ann"), &json!({ "folders": folders }));
        let source = source(settings, password(&server, "ann")).unwrap();
        let listing = source.list().await;
        listing.map(|listing| (source, listing))
    };
    let (source, listing) = list(&["Entwürfe/R&D", "No", "INBOX"]).await.unwrap();
    assert_eq!(listing.items.len(), 455);
    let draft = &listing.items[0];
    assert!(draft.name.starts_with("Entwürfe/R&D/"), "{}", draft.name);
    assert!(draft.name.ends_with(" Draft 1.eml"), "{}", draft.name);
    // Back and forth between folders.
    assert!(source.read(&listing.items[1]).await.is_ok());
    assert!(source.read(draft).await.unwrap().ends_with(b"draft\r\n"));
    assert_eq!(listing.problems.len(), 1);
    assert_eq!(listing.problems[0].name, "No");
    assert_eq!(listing.problems[0].problem, SourceProblem::NotFound);

    let mut gone = draft.clone();
    gone.id = gone.id.replace("/1", "/99");
    assert_eq!(source.read(&gone).await, Err(SourceProblem::Gone));
    assert!(source.read(draft).await.is_ok());
    assert_eq!(list(&["No"]).await.err(), Some(SourceProblem::NotFound));
}

#[tokio::test]
async fn only_new_messages_are_listed_if_that_is_set() {
    let Some(server) = server("imap") else { return };
    // All have just arrived.
    let settings = with(settings(&server, "ann"), &json!({ "since_days": 2 }));
    let source = source(settings, password(&server, "ann")).unwrap();
    assert_eq!(source.list().await.unwrap().items.len(), 454);
}

#[tokio::test]
async fn what_is_refused_is_an_error() {
    let Some(server) = server("imap") else { return };
    let list = async |change: Value, secret: &str| {
        let settings = with(settings(&server, "ann"), &change);
        let listing = source(settings, secret)?.list().await;
        listing.map(|listing| listing.items.len())
    };
    let secret = password(&server, "ann");
    let unreachable = || Err(SourceProblem::Unreachable(Fault::Unreachable));
    for (change, secret, expected) in [
        (json!({}), "wrong", Err(SourceProblem::Refused)),
        (json!({}), "wröng", Err(SourceProblem::Refused)),
        (
            json!({ "user": "nobody" }),
            secret,
            Err(SourceProblem::Refused),
        ),
        // The certificate is of no authority that this machine trusts.
        (
            json!({ "security": "tls", "port": server["tls_port"] }),
            secret,
            unreachable(),
        ),
        (json!({ "security": "start_tls" }), secret, unreachable()),
        (json!({ "security": "tls" }), secret, unreachable()),
    ] {
        assert_eq!(list(change.clone(), secret).await, expected, "{change}");
    }
}

/// In a process of its own, since the authorities of a process are fixed.
#[test]
fn certificates_of_trusted_authorities_are_accepted() {
    let Some(server) = server("imap") else { return };
    let tests = env::current_exe().unwrap();
    let child = Command::new(tests)
        .args(["--exact", "imap::over_tls", "--include-ignored"])
        .env("SSL_CERT_FILE", text(&server["authority"]))
        .output()
        .unwrap();
    let output = String::from_utf8_lossy(&child.stdout).into_owned();
    assert!(output.contains("1 passed"), "{output}");
}

#[tokio::test]
#[ignore = "run by certificates_of_trusted_authorities_are_accepted"]
async fn over_tls() {
    let Some(server) = server("imap") else { return };
    for (security, port, host, is_right) in [
        ("tls", "tls_port", "mail.test", true),
        ("tls", "tls_port", "127.0.0.1", true),
        ("start_tls", "port", "mail.test", true),
        ("tls", "tls_port", "other.test", false),
        ("start_tls", "port", "other.test", false),
    ] {
        let change = json!({ "security": security, "port": server[port], "host": host });
        let settings = with(settings(&server, "ann"), &change);
        let source = source(settings, password(&server, "ann")).unwrap();
        let listed = source.list().await.map(|listing| listing.items.len());
        let unreachable = Err(SourceProblem::Unreachable(Fault::Unreachable));
        let expected = if is_right { Ok(454) } else { unreachable };
        assert_eq!(listed, expected, "{security} {host}");
    }
}

/// With `XOAUTH2`, as Gmail and Microsoft 365 want it.
#[tokio::test]
async fn access_tokens_are_passwords() {
    let Some(server) = server("imap") else { return };
    let mailbox = |user: &str| {
        let tokens = format!("{}/token", text(&server["tokens"]));
        with(
            settings(&server, user),
            &json!({ "sign_in": "microsoft", "tenant": "contoso.com", "client_id": "1", "token_url": tokens }),
        )
    };
    let list = async |user: &str, token: &str| {
        let secret = json!({ "refresh_token": token }).to_string();
        let source = source(mailbox(user), &secret).unwrap();
        let listed = source.list().await;
        // The connection that was kept is used, or a new one opened.
        if let Ok(listing) = &listed {
            let first = listing
                .items
                .iter()
                .find(|item| item.name.contains("Message 0 "));
            assert!(source.read(first.unwrap()).await.is_ok());
        }
        listed.map(|listing| listing.items.len())
    };
    assert_eq!(list("ann", "refresh-ann").await, Ok(454));
    assert_eq!(list("jürgen", "refresh-jürgen").await, Ok(454));
    // The token of another user, one that the mail server does not know, and none.
    for token in ["refresh-jürgen", "refresh-", "expired"] {
        assert_eq!(
            list("ann", token).await,
            Err(SourceProblem::Refused),
            "{token}"
        );
    }
}
