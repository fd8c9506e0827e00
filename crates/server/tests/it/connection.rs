//! Connections: slow clients are cut off, their number is bounded, stopping lets open requests end.

use std::time::Duration;

use axum::Router;
use server::listen::{ListenOptions, serve};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    time::timeout,
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::harness::Server;

const SOON: Duration = Duration::from_secs(10);

#[tokio::test]
async fn a_header_that_never_ends_is_cut_off() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mut stream = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
    let options = ListenOptions {
        connection_limit: 1,
        header_timeout: Duration::from_millis(300),
        drain: Duration::ZERO,
    };
    let stopping = CancellationToken::new();
    TaskTracker::new().spawn(serve(vec![listener], Router::new(), options, stopping.clone()));
    stream.write_all(b"GET / HTTP/1.1\r\nho").await.unwrap();
    let mut answer = Vec::new();
    timeout(SOON, stream.read_to_end(&mut answer)).await.unwrap().unwrap();
    assert!(answer.is_empty() || answer.starts_with(b"HTTP/1.1 408"), "{}", String::from_utf8_lossy(&answer));
    stopping.cancel();
}

#[tokio::test]
async fn a_connection_beyond_the_limit_waits_its_turn() {
    let server = Server::start_with(&[("GLASSHOUSE_CONNECTION_LIMIT", "1")]).await;
    let first = TcpStream::connect(server.address).await.unwrap();
    let mut second = TcpStream::connect(server.address).await.unwrap();
    second.write_all(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n").await.unwrap();
    let mut byte = [0];
    assert!(timeout(Duration::from_millis(100), second.read(&mut byte)).await.is_err());
    drop(first);
    let mut answer = String::new();
    timeout(SOON, second.read_to_string(&mut answer)).await.unwrap().unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
}

#[tokio::test]
async fn stopping_lets_an_open_request_end_and_takes_no_new_one() {
    let server = Server::start().await;
    let body = r#"{"email":"","password":""}"#;
    let head =
        format!("POST /api/v1/login HTTP/1.1\r\nhost: localhost\r\ncontent-length: {}\r\n\r\n", body.len());
    let mut open = TcpStream::connect(server.address).await.unwrap();
    open.write_all(head.as_bytes()).await.unwrap();
    let mut idle = TcpStream::connect(server.address).await.unwrap();
    idle.write_all(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n").await.unwrap();
    let mut first = [0; 12];
    idle.read_exact(&mut first).await.unwrap();
    // `open` was accepted before `idle`, which has been answered.
    server.app.stopping.cancel();
    let mut rest = Vec::new();
    timeout(SOON, idle.read_to_end(&mut rest)).await.unwrap().unwrap();

    open.write_all(body.as_bytes()).await.unwrap();
    let mut answer = String::new();
    timeout(SOON, open.read_to_string(&mut answer)).await.unwrap().unwrap();
    assert!(answer.starts_with("HTTP/1.1 401"), "{answer}");
    timeout(SOON, server.stopped()).await.unwrap();
    assert!(TcpStream::connect(server.address).await.is_err());
}

#[tokio::test]
async fn stopping_does_not_wait_for_ever() {
    let server = Server::start_with(&[("GLASSHOUSE_DRAIN_SECONDS", "1")]).await;
    let mut open = TcpStream::connect(server.address).await.unwrap();
    let head = "POST /api/v1/login HTTP/1.1\r\nhost: localhost\r\ncontent-length: 10\r\n\r\n";
    open.write_all(head.as_bytes()).await.unwrap();
    server.get("/healthz", "").await.expect(200);
    server.app.stopping.cancel();
    timeout(SOON, server.stopped()).await.unwrap();
}
