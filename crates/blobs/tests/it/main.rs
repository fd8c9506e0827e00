//! Object storages over HTTP: S3 as moto serves it, which checks signatures with the code of Amazon's own client, and servers
//! that fail. `GLASSHOUSE_TEST_SOURCES` names the file with the address of moto, as for the tests of sources.
#![expect(clippy::unwrap_used, reason = "a test ends at the first surprise")]

use blobs::{Blobs, Key, Problem, Settings};
use bytes::Bytes;
use serde_json::Value;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
    task::JoinHandle,
};

/// The bucket for these tests, with the credentials of one who may write there.
#[expect(
    clippy::disallowed_methods,
    reason = "tests are set up through the environment"
)]
fn s3() -> Option<Settings> {
    let Some(file) = std::env::var_os("GLASSHOUSE_TEST_SOURCES") else {
        let required = std::env::var_os("GLASSHOUSE_TEST_REQUIRE").is_some();
        assert!(
            !required,
            "GLASSHOUSE_TEST_SOURCES must name the servers.json of serve.py"
        );
        return None;
    };
    let servers: Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
    let text = |name: &str| servers["objects"][name].as_str().unwrap().to_owned();
    Some(Settings {
        url: "s3://objects/some-folder/deep".to_owned(),
        endpoint: text("endpoint"),
        region: "eu-central-1".to_owned(),
        access_key: text("access_key_id"),
        secret_key: text("secret"),
        path_style: true,
        environment: Default::default(),
    })
}

#[tokio::test]
async fn s3_stores_reads_lists_and_deletes() {
    let Some(settings) = s3() else { return };
    let blobs = Blobs::new(&settings).unwrap();
    blobs.probe().await.unwrap();
    let contents = [vec![7; 3_000_000], Vec::new(), b"small".to_vec()];
    let mut keys: Vec<Key> = contents.iter().map(|content| Key::of(content)).collect();
    for (key, content) in keys.iter().zip(&contents) {
        blobs.put(key, content.clone().into()).await.unwrap();
        assert_eq!(blobs.get(key).await.unwrap(), content);
    }
    assert_eq!(blobs.get_range(&keys[2], 1..3).await.unwrap(), "ma");
    assert!(blobs.get_range(&keys[2], 3..9).await.is_err());
    let mut listed = blobs.keys().await.unwrap();
    listed.sort();
    keys.sort();
    assert_eq!(listed, keys);
    for key in &keys {
        blobs.delete(key).await.unwrap();
        blobs.delete(key).await.unwrap();
        let missing = blobs.get(key).await.unwrap_err();
        assert!(matches!(missing, Problem::Missing(_)), "{missing}");
    }
}

#[tokio::test]
async fn s3_takes_credentials_of_the_environment() {
    let Some(mut settings) = s3() else { return };
    settings.environment = [
        ("AWS_ACCESS_KEY_ID", settings.access_key),
        ("AWS_SECRET_ACCESS_KEY", settings.secret_key),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .into();
    settings.access_key = String::new();
    settings.secret_key = String::new();
    Blobs::new(&settings).unwrap().probe().await.unwrap();
}

#[tokio::test]
async fn s3_refuses_wrong_credentials_and_buckets() {
    let Some(settings) = s3() else { return };
    let wrong_secret = Settings {
        secret_key: "wrong".to_owned(),
        ..settings.clone()
    };
    let wrong_id = Settings {
        access_key: "AKIAIOSFODNN7EXAMPLE".to_owned(),
        ..settings.clone()
    };
    let wrong_bucket = Settings {
        url: "s3://nothing".to_owned(),
        ..settings
    };
    for settings in [wrong_secret, wrong_id, wrong_bucket] {
        let problem = Blobs::new(&settings).unwrap().probe().await.unwrap_err();
        assert!(matches!(problem, Problem::Refused(_)), "{problem}");
    }
}

/// A server that gives every request the same answer.
async fn server(answer: &'static str) -> (Settings, JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let settings = Settings {
        url: "s3://bucket".to_owned(),
        endpoint: format!("http://{}", listener.local_addr().unwrap()),
        access_key: "id".to_owned(),
        secret_key: "canary".to_owned(),
        path_style: true,
        ..Settings::default()
    };
    #[expect(clippy::disallowed_methods, reason = "the test owns it")]
    let serving = tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut request = Vec::new();
            let is_whole = |request: &[u8]| request.windows(4).any(|it| it == b"\r\n\r\n");
            while !is_whole(&request) && stream.read_buf(&mut request).await.unwrap_or(0) > 0 {}
            _ = stream.write_all(answer.as_bytes()).await;
            _ = stream.shutdown().await;
        }
    });
    (settings, serving)
}

#[tokio::test]
async fn answers_are_told_apart() {
    let full =
        "HTTP/1.1 507 Insufficient Storage\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
    let quota = "HTTP/1.1 400 Bad Request\r\ncontent-length: 40\r\nconnection: close\r\n\r\n\
                 <Error><Code>QuotaExceeded</Code></Error>";
    let refused = "HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
    let moved = "HTTP/1.1 301 Moved\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
    let broken =
        "HTTP/1.1 500 Internal Server Error\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
    let cut_off = "HTTP/1.1 200 OK\r\ncontent-length: 100\r\nconnection: close\r\n\r\nshort";
    let no_http = "SSH-2.0-OpenSSH_9.6\r\n";
    type IsExpected = fn(&Problem) -> bool;
    let cases: [(&str, IsExpected); 7] = [
        (full, |it| matches!(it, Problem::Full(_))),
        (quota, |it| matches!(it, Problem::Full(_))),
        (refused, |it| matches!(it, Problem::Refused(_))),
        (moved, |it| matches!(it, Problem::Unavailable(_))),
        (broken, |it| matches!(it, Problem::Unavailable(_))),
        (cut_off, |it| matches!(it, Problem::Unavailable(_))),
        (no_http, |it| matches!(it, Problem::Unavailable(_))),
    ];
    let checks = cases.map(|(answer, is_expected)| async move {
        let (settings, serving) = server(answer).await;
        let blobs = Blobs::new(&settings).unwrap();
        let key = Key::of(b"content");
        let put = blobs.put(&key, Bytes::from_static(b"content")).await;
        let got = blobs.get(&key).await;
        serving.abort();
        let is_cut_off = answer.ends_with("short");
        // An answer to a PUT needs no body.
        let problems = [put.err().filter(|_| !is_cut_off), got.err()];
        for problem in problems.into_iter().flatten() {
            assert!(is_expected(&problem), "{answer}: {problem:?}");
            assert!(!problem.to_string().contains("canary"), "{problem}");
        }
        assert!(blobs.get(&key).await.is_err());
    });
    futures_util::future::join_all(checks).await;
}

#[tokio::test]
async fn what_is_not_there_is_unavailable() {
    let (settings, serving) = server("").await;
    serving.abort();
    _ = serving.await;
    let problem = Blobs::new(&settings).unwrap().probe().await.unwrap_err();
    assert!(matches!(problem, Problem::Unavailable(_)), "{problem}");
    assert!(
        problem.may_pass() && problem.to_string().contains("s3://bucket"),
        "{problem}"
    );
}
