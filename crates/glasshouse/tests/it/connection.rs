//! Connections: slow clients are cut off, their number is bounded, stopping lets open requests end.

use std::time::Duration;

use axum::Router;
use server::platform::{
    listen::{ConnectionLimits, ListenOptions, serve},
    proxies::Proxies,
};
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
    let mut stream = TcpStream::connect(listener.local_addr().unwrap())
        .await
        .unwrap();
    let options = ListenOptions {
        connections: ConnectionLimits {
            total: 1,
            per_address: 1,
            proxies: Proxies::default(),
        },
        header_timeout: Duration::from_millis(300),
        drain: Duration::ZERO,
    };
    let stopping = CancellationToken::new();
    TaskTracker::new().spawn(serve(
        vec![listener],
        Router::new(),
        options,
        stopping.clone(),
    ));
    stream.write_all(b"GET / HTTP/1.1\r\nho").await.unwrap();
    let mut answer = Vec::new();
    timeout(SOON, stream.read_to_end(&mut answer))
        .await
        .unwrap()
        .unwrap();
    assert!(
        answer.is_empty() || answer.starts_with(b"HTTP/1.1 408"),
        "{}",
        String::from_utf8_lossy(&answer)
    );
    stopping.cancel();
}

const ASKS: &[u8] = b"GET /healthz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";

/// Asks on a connection of its own; the answer once it is there.
async fn ask(server: &Server) -> String {
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    stream.write_all(ASKS).await.unwrap();
    let mut answer = String::new();
    timeout(SOON, stream.read_to_string(&mut answer))
        .await
        .unwrap()
        .unwrap();
    answer
}

/// Whether the server has closed it.
async fn is_closed(stream: &mut TcpStream) -> bool {
    matches!(
        timeout(SOON, stream.read(&mut [0])).await,
        Ok(Ok(0) | Err(_))
    )
}

/// A request of somebody who is signed in, of which the server waits for the body.
async fn at_work(server: &Server, cookie: &str) -> TcpStream {
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    let head = format!(
        "POST /api/v1/keys HTTP/1.1\r\nhost: localhost\r\ncookie: {cookie}\r\ncontent-length: 10\r\n\
         expect: 100-continue\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    stream.read_exact(&mut [0; 25]).await.unwrap();
    stream
}

/// A WebSocket of somebody who is signed in.
async fn web_socket(server: &Server, cookie: &str) -> TcpStream {
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    let head = format!(
        "GET /ws HTTP/1.1\r\nhost: localhost\r\ncookie: {cookie}\r\nconnection: upgrade\r\nupgrade: websocket\r\n\
         sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    while !answer.ends_with(b"\r\n\r\n") {
        answer.push(timeout(SOON, stream.read_u8()).await.unwrap().unwrap());
    }
    assert!(
        answer.starts_with(b"HTTP/1.1 101"),
        "{}",
        String::from_utf8_lossy(&answer)
    );
    stream
}

#[tokio::test]
async fn an_idle_connection_makes_room_where_the_server_is_full() {
    let server = Server::start_with(&[("GLASSHOUSE_CONNECTION_LIMIT", "2")]).await;
    let mut first = TcpStream::connect(server.address).await.unwrap();
    let mut half = TcpStream::connect(server.address).await.unwrap();
    half.write_all(
        b"POST /api/v1/login HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100\r\n\r\n{",
    )
    .await
    .unwrap();
    for _ in 0..3 {
        assert!(ask(&server).await.starts_with("HTTP/1.1 200"));
    }
    assert!(is_closed(&mut first).await);
}

/// Both a request at work and a WebSocket keep their places.
#[tokio::test]
async fn a_connection_beyond_the_limit_waits_while_all_are_at_work() {
    let server = Server::start_with(&[("GLASSHOUSE_CONNECTION_LIMIT", "2")]).await;
    let cookie = server.set_up().await;
    let socket = web_socket(&server, &cookie).await;
    let first = at_work(&server, &cookie).await;
    let mut third = TcpStream::connect(server.address).await.unwrap();
    third.write_all(ASKS).await.unwrap();
    assert!(
        timeout(Duration::from_millis(300), third.read(&mut [0]))
            .await
            .is_err()
    );
    drop(first);
    let mut answer = String::new();
    timeout(SOON, third.read_to_string(&mut answer))
        .await
        .unwrap()
        .unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    drop(socket);
}

#[tokio::test]
async fn an_address_holds_so_many_idle_connections() {
    let server = Server::start_with(&[("GLASSHOUSE_CONNECTIONS_PER_ADDRESS", "5")]).await;
    let cookie = server.set_up().await;
    let mut working = at_work(&server, &cookie).await;
    let mut idle = Vec::new();
    for _ in 0..20 {
        idle.push(TcpStream::connect(server.address).await.unwrap());
    }
    assert!(ask(&server).await.starts_with("HTTP/1.1 200"));
    for stream in &mut idle[..15] {
        assert!(is_closed(stream).await);
    }
    let last = idle.last_mut().unwrap();
    last.write_all(ASKS).await.unwrap();
    let mut answer = String::new();
    timeout(SOON, last.read_to_string(&mut answer))
        .await
        .unwrap()
        .unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    working.write_all(b"{\"name\":1}").await.unwrap();
    timeout(SOON, working.read_exact(&mut [0; 12]))
        .await
        .unwrap()
        .unwrap();
}

/// The clock runs on by itself while everybody waits, so that this takes no time.
#[tokio::test]
async fn a_web_socket_that_says_nothing_is_closed() {
    let (server, cookie) = Server::start_signed_in().await;
    // A frame with a mask that announces 1000 bytes and has four.
    let half_frame = [&[0x82, 0xfe, 0x03, 0xe8, 1, 2, 3, 4][..], b"half"].concat();
    // The first frame of a message that never goes on.
    let half_message = [&[0x01, 0x84, 0, 0, 0, 0][..], b"half"].concat();
    for said in [&b""[..], &half_frame, &half_message] {
        let mut socket = web_socket(&server, &cookie).await;
        socket.write_all(said).await.unwrap();
        tokio::time::pause();
        let (mut heard, mut buffer) = (0, [0; 64]);
        // Two pings of two bytes come before the end, or the half of a message is refused.
        while let Ok(bytes @ 1..) = socket.read(&mut buffer).await {
            heard += bytes;
            assert!(heard < 100, "it goes on: {said:?}");
        }
        tokio::time::resume();
    }
}

#[tokio::test]
async fn stopping_lets_an_open_request_end_and_takes_no_new_one() {
    let server = Server::start().await;
    let body = r#"{"email":"","password":""}"#;
    let head = format!(
        "POST /api/v1/login HTTP/1.1\r\nhost: localhost\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    let mut open = TcpStream::connect(server.address).await.unwrap();
    open.write_all(head.as_bytes()).await.unwrap();
    let mut idle = TcpStream::connect(server.address).await.unwrap();
    idle.write_all(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n")
        .await
        .unwrap();
    let mut first = [0; 12];
    idle.read_exact(&mut first).await.unwrap();
    // `open` was accepted before `idle`, which has been answered.
    server.app.stopping.cancel();
    let mut rest = Vec::new();
    timeout(SOON, idle.read_to_end(&mut rest))
        .await
        .unwrap()
        .unwrap();

    open.write_all(body.as_bytes()).await.unwrap();
    let mut answer = String::new();
    timeout(SOON, open.read_to_string(&mut answer))
        .await
        .unwrap()
        .unwrap();
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
