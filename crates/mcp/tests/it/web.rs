//! Misbehaving web servers.

use mcp::{Endpoint, Transport};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
    sync::mpsc,
};
use tokio_util::{
    sync::{CancellationToken, DropGuard},
    task::TaskTracker,
};

use crate::{Tried, start};

/// A web server with this response for every request; the received requests; and its guard.
async fn web(answer: String) -> (String, mpsc::UnboundedReceiver<String>, DropGuard) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let (asked, requests) = mpsc::unbounded_channel();
    let stopping = CancellationToken::new();
    let stopped = stopping.clone();
    TaskTracker::new().spawn(async move {
        let serve = async {
            while let Ok((mut stream, _)) = listener.accept().await {
                let mut request = vec![0; 64_000];
                let count = stream.read(&mut request).await.unwrap_or(0);
                let _ = asked.send(String::from_utf8_lossy(&request[..count]).into_owned());
                let _ = stream.write_all(answer.as_bytes()).await;
            }
        };
        tokio::select! {
            () = serve => {}
            () = stopped.cancelled() => {}
        }
    });
    (url, requests, stopping.drop_guard())
}

pub(crate) fn site(url: String) -> Tried {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = reqwest::Client::builder().no_proxy().tls_certs_only([]);
    let client = client
        .redirect(reqwest::redirect::Policy::none())
        .build()
        .unwrap();
    let headers = vec![("X-Key".to_owned(), "very-secret-key".to_owned())];
    start(Transport::Http(Endpoint {
        url,
        headers,
        client,
        bearer: None,
    }))
}

#[tokio::test]
async fn missing_servers_and_invalid_answers() {
    let problem = site("http://127.0.0.1:1/mcp".into()).problem().await;
    assert!(
        problem.starts_with("The server cannot be used: Connection refused"),
        "{problem}"
    );
    for answer in [
        "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 4\r\n\r\n<a/>",
        "HTTP/1.1 401 Unauthorized\r\ncontent-length: 0\r\n\r\n",
        "HTTP/1.1 400 Oh\r\ncontent-type: text/plain\r\ncontent-length: 15\r\n\r\nvery-secret-key",
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}",
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\ndata: nonsense\n\n",
        "nonsense",
    ] {
        let (url, _, _running) = web(answer.to_owned()).await;
        let problem = site(url).problem().await;
        assert!(problem.starts_with("The server "), "{answer}: {problem}");
        assert!(
            !problem.contains("very-secret") && !problem.contains("rmcp"),
            "{answer}: {problem}"
        );
    }
}

#[tokio::test]
async fn keys_do_not_follow_a_redirect() {
    let (target, mut there, _running) = web("HTTP/1.1 204 No Content\r\n\r\n".to_owned()).await;
    let redirect =
        format!("HTTP/1.1 307 Elsewhere\r\nlocation: {target}\r\ncontent-length: 0\r\n\r\n");
    let (url, mut here, _also_running) = web(redirect).await;
    site(url).problem().await;
    assert!(
        here.recv()
            .await
            .unwrap()
            .to_lowercase()
            .contains("x-key: very-secret-key")
    );
    assert!(there.try_recv().is_err(), "the redirect was followed");
}

#[tokio::test]
async fn an_endless_body_is_cut() {
    let head =
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n";
    let chunk = format!("{:x}\r\n{}\r\n", 1_000_000, "x".repeat(1_000_000));
    let (url, _, _running) = web(format!("{head}{}", chunk.repeat(9))).await;
    let problem = site(url).problem().await;
    assert!(problem.starts_with("The server "), "{problem}");
}
