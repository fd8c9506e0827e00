//! Servers that fail in the middle of a listing: what they do not list must be a problem or an error, so that no document is
//! taken for deleted. These tests need no programs.

use std::pin::pin;

use outbound::Fault;
use serde_json::{Value, json};
use sources::{Item, ItemMetadata, Listing, Readers, SettingProblem, SourceProblem};
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::{TcpListener, TcpStream},
};

use crate::source;

/// Lists or reads with a server that answers a request to a path with what `answer` says: a status with headers, and a body.
/// Without an answer it closes the connection.
async fn with_server<T>(
    answer: impl Fn(&str) -> Option<(&'static str, String)>,
    client: impl AsyncFnOnce(String) -> T,
) -> T {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let serving = async {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            let mut stream = BufReader::new(stream);
            let mut first = String::new();
            stream.read_line(&mut first).await.unwrap();
            let mut length = 0;
            loop {
                let mut line = String::new();
                stream.read_line(&mut line).await.unwrap();
                let line = line.trim().to_ascii_lowercase();
                if let Some(number) = line.strip_prefix("content-length: ") {
                    length = number.parse().unwrap();
                }
                if line.is_empty() {
                    break;
                }
            }
            stream.read_exact(&mut vec![0; length]).await.unwrap();
            let path = first.split(' ').nth(1).unwrap();
            if let Some((head, body)) = answer(path) {
                let answer = format!(
                    "HTTP/1.1 {head}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
                    body.len()
                );
                stream.write_all(answer.as_bytes()).await.unwrap();
            }
        }
    };
    tokio::select! {
        done = client(url) => done,
        () = serving => unreachable!(),
    }
}

fn malformed(reason: &str) -> SourceProblem {
    SourceProblem::Malformed(reason.to_owned())
}

/// The names, and the problems by name.
fn parts(listing: Listing) -> (Vec<String>, Vec<(String, SourceProblem)>) {
    let names = listing.items.into_iter().map(|item| item.name).collect();
    let problems = listing.problems.into_iter();
    let problems = problems.map(|one| (one.name, one.problem)).collect();
    (names, problems)
}

fn item(id: &str) -> Item {
    Item {
        id: id.to_owned(),
        name: id.to_owned(),
        version: "1".to_owned(),
        size_bytes: None,
        modified_ms: None,
        url: None,
        readers: Readers::All,
        metadata: ItemMetadata::default(),
    }
}

/// A folder with a file in it, and these folders.
fn folder(path: &str, folders: &[&str]) -> Option<(&'static str, String)> {
    let collection = "<resourcetype><collection/></resourcetype>";
    let entry = |path: &str, property: &str| {
        format!(
            "<response><href>{path}</href><propstat><prop>{property}</prop></propstat></response>"
        )
    };
    let mut body =
        entry(path, collection) + &entry(&format!("{path}file.md"), "<getetag>1</getetag>");
    for folder in folders {
        body += &entry(&format!("{path}{folder}/"), collection);
    }
    let body = format!("<multistatus xmlns=\"DAV:\">{body}</multistatus>");
    Some(("207 Multi-Status", body))
}

/// The answer without its last end of an element.
fn cut_off(answer: Option<(&'static str, String)>) -> Option<(&'static str, String)> {
    let (head, mut body) = answer?;
    body.truncate(body.rfind("</").unwrap());
    Some((head, body))
}

async fn list_web_dav(
    answer: impl Fn(&str) -> Option<(&'static str, String)>,
) -> Result<Listing, SourceProblem> {
    with_server(answer, async |url| {
        let settings = json!({ "kind": "web_dav", "url": format!("{url}/dav") });
        source(settings, "").unwrap().list().await
    })
    .await
}

#[tokio::test]
async fn folders_that_cannot_be_listed_are_named() {
    let listing = list_web_dav(|path| match path {
        "/dav/" => folder(path, &["refused", "page", "cut", "loop", "good"]),
        "/dav/refused/" => Some(("403 No", String::new())),
        "/dav/page/" => Some(("200 OK", "<html></html>".to_owned())),
        "/dav/cut/" => cut_off(folder(path, &[])),
        path => folder(
            path,
            if path.contains("loop") {
                &["loop"]
            } else {
                &[]
            },
        ),
    });
    let (names, mut problems) = parts(listing.await.unwrap());
    problems.sort_by_key(|(name, _)| name.len());
    let loops = |count| vec!["loop"; count].join("/");
    // The root, the good one, and 64 that are in each other.
    assert_eq!(names.len(), 66);
    assert!(names.contains(&"good/file.md".to_owned()));
    let expected = [
        ("cut".to_owned(), malformed("no valid XML: it is cut off")),
        ("page".to_owned(), malformed("this is no WebDAV server")),
        ("refused".to_owned(), SourceProblem::Refused),
        (loops(65), malformed("it is nested too deeply")),
    ];
    assert_eq!(problems, expected);
}

/// As in Nextcloud, where a file can be shared with a person twice.
#[tokio::test]
async fn a_file_in_two_folders_is_one_document() {
    let root = "/cloud/remote.php/dav/files/ann/";
    let answer = |path: &str| {
        let folders: &[&str] = if path == root { &["A", "B"] } else { &[] };
        let (head, body) = folder(path, folders)?;
        let id = if path == root { 1 } else { 2 };
        let ids = format!("<fileid xmlns=\"http://owncloud.org/ns\">{id}</fileid><getetag>");
        Some((head, body.replace("<getetag>", &ids)))
    };
    let listing = with_server(answer, async |url| {
        let settings = json!({ "kind": "web_dav", "url": format!("{url}{root}") });
        let listing = source(settings, "").unwrap().list().await.unwrap();
        let urls = listing.items.into_iter().map(|item| (item.id, item.url));
        let url = |id| Some(format!("{url}/cloud/index.php/f/{id}"));
        let expected = ["1", "2"].map(|id| (id.to_owned(), url(id)));
        let mut urls: Vec<_> = urls.collect();
        urls.sort();
        (urls, expected)
    });
    let (urls, expected) = listing.await;
    assert_eq!(urls, expected);
}

#[tokio::test]
async fn a_web_dav_server_that_fails_is_an_error() {
    let down = list_web_dav(|path| match path {
        "/dav/" => folder(path, &["a", "b"]),
        _ => None,
    });
    let unreachable = SourceProblem::Unreachable(Fault::Unreachable);
    assert_eq!(down.await, Err(unreachable));
    for (head, expected) in [
        ("404 No", SourceProblem::NotFound),
        ("401 No", SourceProblem::Refused),
        ("405 No", SourceProblem::Status { status: 405 }),
        ("503 No\r\nRetry-After: 100", SourceProblem::Limited),
        ("200 OK", malformed("this is no WebDAV server")),
    ] {
        let listing = list_web_dav(|_| Some((head, String::new())));
        assert_eq!(listing.await, Err(expected), "{head}");
    }
    let endless = list_web_dav(|path| {
        let names: Vec<_> = (0..60).map(|n| n.to_string()).collect();
        let names: Vec<_> = names.iter().map(String::as_str).collect();
        folder(path, if path.len() < 10 { &names } else { &[] })
    });
    assert_eq!(endless.await, Err(SourceProblem::TooMany));
}

/// A page with one object.
fn page(next: Option<&str>) -> Option<(&'static str, String)> {
    let next = next.map_or_else(
        || "<IsTruncated>false</IsTruncated>".to_owned(),
        |next| {
            format!("<IsTruncated>true</IsTruncated><NextContinuationToken>{next}</NextContinuationToken>")
        },
    );
    let key = if next.contains("true") { "a" } else { "b" };
    let object = format!("<Contents><Key>{key}</Key><ETag>1</ETag></Contents>");
    let body = format!("<ListBucketResult>{next}{object}</ListBucketResult>");
    Some(("200 OK", body))
}

fn s3_error(head: &'static str, code: &str) -> Option<(&'static str, String)> {
    Some((head, format!("<Error><Code>{code}</Code></Error>")))
}

fn s3(url: &str) -> sources::Source {
    let settings = json!({ "kind": "s3", "endpoint": url, "bucket": "docs" });
    source(settings, "").unwrap()
}

#[tokio::test]
async fn a_page_that_fails_is_an_error() {
    let malformed_page = malformed("no valid XML: it is cut off");
    let second = |kind: &'static str| {
        move |path: &str| match path.contains("continuation-token=x%2By%3D%3D") {
            false => page(Some("x+y==")),
            true if kind == "same" => page(Some("x+y==")),
            true if kind == "cut" => cut_off(page(None)),
            true if kind == "status" => Some(("500 Oh", String::new())),
            true => page(None),
        }
    };
    for (kind, expected) in [
        ("good", Ok(2)),
        ("same", Err(malformed("its pages do not end"))),
        ("cut", Err(malformed_page)),
        ("status", Err(SourceProblem::Status { status: 500 })),
    ] {
        let listed = with_server(second(kind), async |url| s3(&url).list().await).await;
        assert_eq!(
            listed.map(|listing| listing.items.len()),
            expected,
            "{kind}"
        );
    }
}

#[tokio::test]
async fn errors_of_s3_are_explained() {
    let region = |region: &str| SourceProblem::Settings {
        field: "region",
        reason: SettingProblem::OtherRegion(region.to_owned()),
    };
    let redirect = "301 Moved\r\nx-amz-bucket-region: eu-west-1";
    for (head, code, expected) in [
        (redirect, "PermanentRedirect", region("eu-west-1")),
        (
            "400 Bad",
            "AuthorizationHeaderMalformed</Code><Region>us-east-2</Region><Code>",
            region("us-east-2"),
        ),
        ("404 No", "NoSuchBucket", SourceProblem::NotFound),
        ("403 No", "AccessDenied", SourceProblem::Refused),
        ("403 No", "SignatureDoesNotMatch", SourceProblem::Refused),
        (
            "403 No",
            "RequestTimeTooSkewed",
            malformed("the clock of one server is wrong"),
        ),
        (
            "400 Bad",
            "InvalidArgument",
            SourceProblem::Status { status: 400 },
        ),
    ] {
        let answer = |_: &str| s3_error(head, code);
        let listed = with_server(answer, async |url| s3(&url).list().await).await;
        assert_eq!(listed, Err(expected), "{code}");
    }
    for (head, code, expected) in [
        ("404 No", "NoSuchKey", SourceProblem::Gone),
        (
            "403 No",
            "InvalidObjectState",
            malformed("the object is archived"),
        ),
    ] {
        let answer = |_: &str| s3_error(head, code);
        let read = with_server(answer, async |url| s3(&url).read(&item("a")).await).await;
        assert_eq!(read, Err(expected), "{code}");
    }
    let large = |_: &str| Some(("200 OK", "x".repeat(10_001)));
    let read = with_server(large, async |url| s3(&url).read(&item("a")).await).await;
    assert_eq!(read, Err(SourceProblem::TooLarge));
}

/// Answers each command by its words; `TAG` stands for its tag. Without an answer the connection is closed.
async fn converse(stream: TcpStream, answer: &impl Fn(&str) -> Option<String>) {
    let mut stream = BufReader::new(stream);
    stream.write_all(b"* OK ready\r\n").await.unwrap();
    let mut line = String::new();
    while stream.read_line(&mut line).await.is_ok_and(|read| read > 0) {
        let (tag, command) = line.trim().split_once(' ').unwrap();
        let Some(answer) = answer(command) else {
            return;
        };
        let answer = answer.replace("TAG", tag);
        if stream.write_all(answer.as_bytes()).await.is_err() {
            return;
        }
        line.clear();
    }
}

async fn list_imap(answer: impl Fn(&str) -> Option<String>) -> Result<Listing, SourceProblem> {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let settings = json!({
        "kind": "imap", "host": "127.0.0.1", "port": port, "security": "plain", "user": "ann",
    });
    let source = source(settings, "word").unwrap();
    let serving = async {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            converse(stream, &answer).await;
        }
    };
    let mut listing = pin!(source.list());
    tokio::select! {
        done = &mut listing => done,
        () = serving => unreachable!(),
    }
}

/// A good server with three messages, except for what `change` says.
fn mail_server(command: &str, change: impl Fn(&str) -> Option<Option<String>>) -> Option<String> {
    if let Some(changed) = change(command) {
        return changed;
    }
    let message = |uid| {
        format!(
            "* {uid} FETCH (UID {uid} RFC822.SIZE 9 BODY[HEADER.FIELDS (DATE SUBJECT)] {{2}}\r\n\r\n)\r\n"
        )
    };
    let answer = match command {
        _ if command.starts_with("EXAMINE") => "* OK [UIDVALIDITY 7] valid\r\n".to_owned(),
        _ if command.starts_with("UID SEARCH") => "* SEARCH 3 1 2\r\n".to_owned(),
        _ if command.starts_with("UID FETCH") => [1, 2, 3].map(message).concat(),
        _ => String::new(),
    };
    Some(format!("{answer}TAG OK done\r\n"))
}

#[tokio::test]
async fn a_mail_server_that_fails_is_an_error() {
    let good = list_imap(|command| mail_server(command, |_| None)).await;
    let (names, problems) = parts(good.unwrap());
    let expected = [1, 2, 3].map(|uid| format!("INBOX/untitled {uid}.eml"));
    assert_eq!((names, problems), (expected.to_vec(), Vec::new()));

    let refuses = malformed("the server refuses to list the folder");
    let no_list = malformed("the server does not list the messages");
    let no_imap = malformed("the server's answer is no IMAP");
    let cut_off = SourceProblem::Unreachable(Fault::CutOff);
    for (command, answer, expected) in [
        ("LOGIN", Some("TAG NO wrong\r\n"), SourceProblem::Refused),
        (
            "LOGIN",
            Some("TAG NO [UNAVAILABLE] busy\r\n"),
            SourceProblem::Limited,
        ),
        ("LOGIN", None, cut_off.clone()),
        (
            "EXAMINE",
            Some("TAG NO missing\r\n"),
            SourceProblem::NotFound,
        ),
        (
            "EXAMINE",
            Some("TAG OK done\r\n"),
            malformed("a folder has no UIDVALIDITY"),
        ),
        // Neither is an empty folder.
        ("UID SEARCH", Some("TAG NO busy\r\n"), refuses.clone()),
        (
            "UID SEARCH",
            Some("TAG BAD what\r\n"),
            malformed("the server does not know a command"),
        ),
        ("UID SEARCH", None, cut_off.clone()),
        ("UID FETCH", Some("TAG NO busy\r\n"), refuses),
        ("UID FETCH", None, cut_off),
        (
            "UID SEARCH",
            Some("* X-SEARCH 1\r\nTAG OK done\r\n"),
            no_list.clone(),
        ),
        ("UID SEARCH", Some("TAG OK done\r\n"), no_list),
        ("UID FETCH", Some("<html>\r\n"), no_imap),
    ] {
        let listed = list_imap(|asked| {
            mail_server(asked, |asked| {
                let is_it = asked.starts_with(command);
                is_it.then(|| answer.map(str::to_owned))
            })
        });
        assert_eq!(listed.await, Err(expected), "{command} {answer:?}");
    }
}

#[tokio::test]
async fn messages_that_are_not_shown_are_named() {
    let shown = "* 1 FETCH (UID 1 RFC822.SIZE 9 BODY[HEADER.FIELDS (DATE SUBJECT)] NIL)\r\n\
                 * 9 FETCH (FLAGS (\\Seen))\r\n* NAMESPACE NIL\r\n\
                 * 3 FETCH (UID 3 INTERNALDATE NIL)\r\nTAG OK done\r\n";
    // The second one was deleted meanwhile, the third one is still there.
    let listing = list_imap(|command| {
        mail_server(command, |command| match command {
            "UID SEARCH UNDELETED UID 2:3" => {
                Some(Some("* SEARCH 3\r\nTAG OK done\r\n".to_owned()))
            }
            _ if command.starts_with("UID FETCH 1:3 ") => Some(Some(shown.to_owned())),
            _ => None,
        })
    });
    let (names, problems) = parts(listing.await.unwrap());
    assert_eq!(names, ["INBOX/untitled 1.eml"]);
    let problem = malformed("the server does not show the message");
    assert_eq!(problems, [("INBOX/7/3".to_owned(), problem)]);
}

#[test]
fn settings_are_as_in_the_api() {
    let kinds = [
        "folder",
        "s3",
        "web_dav",
        "git",
        "imap",
        "feed",
        "site",
        "confluence",
        "notion",
        "google_drive",
        "share_point",
    ];
    let schema = serde_json::to_value(schemars::schema_for!(sources::SourceSettings)).unwrap();
    let variants = schema["oneOf"].as_array().unwrap();
    let named: Vec<&Value> = variants
        .iter()
        .map(|variant| &variant["properties"]["kind"]["const"])
        .collect();
    assert_eq!(named, kinds);
}
