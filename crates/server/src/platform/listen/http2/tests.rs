//! Clients that write frames by hand: several requests on a connection, an orderly end, and floods.

use std::{
    convert::Infallible,
    future,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use axum::{Router, body::Body, http::HeaderMap, routing::get};
use bytes::Bytes;
use futures_util::{StreamExt, stream};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex},
    sync::mpsc,
    task::JoinHandle,
};

use super::*;
use crate::platform::{
    listen::{
        Peer,
        connections::{ConnectionLimits, Connections},
        service,
    },
    proxies::Proxies,
};

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const GOAWAY: u8 = 7;
const CONTINUATION: u8 = 9;
const ACK: u8 = 1;
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;
const IDLE: Duration = Duration::from_secs(10);

#[derive(Debug)]
struct Frame {
    kind: u8,
    flags: u8,
    stream: u32,
    payload: Vec<u8>,
}

/// A client, and the server of its connection.
struct Client {
    socket: DuplexStream,
    served: JoinHandle<()>,
    stopping: CancellationToken,
    /// Requests for `/wait` that have begun, and that have ended.
    begun: Arc<AtomicUsize>,
    ended: Arc<AtomicUsize>,
    /// The parts of the response of `/stream`; closed by none.
    parts: mpsc::UnboundedSender<&'static str>,
}

/// Counts on drop.
struct Ends(Arc<AtomicUsize>);

impl Drop for Ends {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

impl Client {
    async fn connect() -> Self {
        let (parts, received) = mpsc::unbounded_channel();
        let begun = Arc::new(AtomicUsize::new(0));
        let ended = Arc::new(AtomicUsize::new(0));
        let routes = routes(received, &begun, &ended);
        let limits = ConnectionLimits {
            total: 1,
            per_address: 1,
            proxies: Proxies::default(),
        };
        let slot = Connections::new(limits).admit([127, 0, 0, 1].into()).await;
        let (ours, socket) = duplex(8 << 20);
        let stopping = CancellationToken::new();
        let served = TaskTracker::new().spawn({
            let stopping = stopping.clone();
            async move {
                let activity = Arc::clone(&slot.activity);
                let peer = Peer(([127, 0, 0, 1], 1).into());
                let service = service(routes, peer, Arc::clone(&activity));
                // An error is an end, too.
                drop(serve(ours, service, &activity, IDLE, stopping).await);
            }
        });
        let mut client = Self {
            socket,
            served,
            stopping,
            begun,
            ended,
            parts,
        };
        client.write(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").await;
        client.send(SETTINGS, 0, 0, &[]).await;
        client
    }

    /// Writes, unless the server has closed the connection.
    async fn write(&mut self, bytes: &[u8]) {
        drop(self.socket.write_all(bytes).await);
    }

    async fn send(&mut self, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
        let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
        let head = [&length[1..], &[kind, flags], &stream.to_be_bytes()].concat();
        self.write(&[&head, payload].concat()).await;
    }

    async fn get(&mut self, stream: u32, path: &str) {
        let head = head(path);
        self.send(HEADERS, END_HEADERS | END_STREAM, stream, &head)
            .await;
    }

    async fn reset(&mut self, stream: u32) {
        self.send(RST_STREAM, 0, stream, &8_u32.to_be_bytes()).await;
    }

    async fn read(&mut self) -> Option<Frame> {
        let mut head = [0; 9];
        self.socket.read_exact(&mut head).await.ok()?;
        let [a, b, c, kind, flags, stream @ ..] = head;
        let mut payload = vec![0; u32::from_be_bytes([0, a, b, c]) as usize];
        self.socket.read_exact(&mut payload).await.ok()?;
        Some(Frame {
            kind,
            flags,
            stream: u32::from_be_bytes(stream),
            payload,
        })
    }

    /// The next frame that is not about the connection only; `None` at its end. Answers pings.
    async fn next(&mut self) -> Option<Frame> {
        loop {
            let frame = self.read().await?;
            match frame.kind {
                PING if frame.flags & ACK == 0 => self.send(PING, ACK, 0, &frame.payload).await,
                DATA | HEADERS | RST_STREAM | GOAWAY => return Some(frame),
                _ => {}
            }
        }
    }

    /// The payload of the next frame, which is this.
    async fn expect(&mut self, kind: u8, stream: u32) -> Vec<u8> {
        let frame = self.next().await.unwrap();
        assert_eq!((frame.kind, frame.stream), (kind, stream), "{frame:?}");
        frame.payload
    }

    /// Reads until the connection is closed, without answering; returns the kinds of frames.
    async fn drained(&mut self) -> Vec<u8> {
        let mut kinds = Vec::new();
        while let Some(frame) = self.read().await {
            kinds.push(frame.kind);
        }
        kinds
    }

    fn begun(&self) -> usize {
        self.begun.load(Ordering::SeqCst)
    }
}

/// A header block without compression.
fn head(path: &str) -> Vec<u8> {
    let authority = "ai.example.org";
    // The method GET, the scheme https, and literals for the path and the authority.
    let mut head = vec![0x82, 0x87, 0x04, u8::try_from(path.len()).unwrap()];
    head.extend(path.as_bytes());
    head.extend([0x01, u8::try_from(authority.len()).unwrap()]);
    head.extend(authority.as_bytes());
    head
}

fn routes(
    mut parts: mpsc::UnboundedReceiver<&'static str>,
    begun: &Arc<AtomicUsize>,
    ended: &Arc<AtomicUsize>,
) -> Router {
    let parts = stream::poll_fn(move |context| parts.poll_recv(context));
    let body = Arc::new(std::sync::Mutex::new(Some(Body::from_stream(
        parts.map(|part| Ok::<_, Infallible>(Bytes::from_static(part.as_bytes()))),
    ))));
    let (begun, ended) = (Arc::clone(begun), Arc::clone(ended));
    let wait = move || {
        begun.fetch_add(1, Ordering::SeqCst);
        let ends = Ends(Arc::clone(&ended));
        async move {
            future::pending::<()>().await;
            drop(ends);
        }
    };
    let host = |headers: HeaderMap| async move { headers["host"].to_str().unwrap().to_owned() };
    Router::new()
        .route("/host", get(host))
        .route(
            "/stream",
            get(async move || body.lock().unwrap().take().unwrap()),
        )
        .route("/wait", get(wait))
}

#[tokio::test(start_paused = true)]
async fn requests_share_a_connection_and_parts_are_sent_at_once() {
    let mut client = Client::connect().await;
    client.get(1, "/stream").await;
    client.expect(HEADERS, 1).await;
    client.get(3, "/host").await;
    client.expect(HEADERS, 3).await;
    assert_eq!(client.expect(DATA, 3).await, b"ai.example.org");
    for part in ["one ", "two"] {
        client.parts.send(part).unwrap();
        assert_eq!(client.expect(DATA, 1).await, part.as_bytes());
    }
    // A stream that is silent is no reason to close the connection.
    tokio::time::sleep(IDLE * 10).await;
    client.parts.send("three").unwrap();
    assert_eq!(client.expect(DATA, 1).await, b"three");
}

#[tokio::test(start_paused = true)]
async fn a_stream_is_not_reset_because_nobody_reads_its_body() {
    let mut client = Client::connect().await;
    client.send(HEADERS, END_HEADERS, 1, &head("/host")).await;
    client.expect(HEADERS, 1).await;
    client.expect(DATA, 1).await;
    client.send(DATA, END_STREAM, 1, b"late").await;
    client.get(3, "/host").await;
    client.expect(HEADERS, 3).await;
    client.expect(DATA, 3).await;
    // Unless it is long.
    client.send(HEADERS, END_HEADERS, 5, &head("/host")).await;
    client.expect(HEADERS, 5).await;
    client.expect(DATA, 5).await;
    for _ in 0..7 {
        client.send(DATA, 0, 5, &[b'a'; 10_000]).await;
    }
    client.expect(RST_STREAM, 5).await;
}

#[tokio::test(start_paused = true)]
async fn a_server_that_stops_lets_requests_end() {
    let mut client = Client::connect().await;
    client.get(1, "/stream").await;
    client.expect(HEADERS, 1).await;
    client.stopping.cancel();
    client.expect(GOAWAY, 0).await;
    // It is told the last request that counts when it has seen the first notice.
    client.expect(GOAWAY, 0).await;
    client.get(3, "/host").await;
    client.parts.send("the end").unwrap();
    assert_eq!(client.expect(DATA, 1).await, b"the end");
    client.parts = mpsc::unbounded_channel().0;
    let last = client.next().await.unwrap();
    assert_eq!((last.kind, last.stream, last.flags), (DATA, 1, END_STREAM));
    assert!(client.next().await.is_none());
    client.served.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_connection_without_requests_is_closed() {
    let mut client = Client::connect().await;
    client.get(1, "/host").await;
    client.expect(HEADERS, 1).await;
    client.expect(DATA, 1).await;
    client.expect(GOAWAY, 0).await;
    // This client does not even answer, and is left.
    assert_eq!(client.drained().await, [PING]);
    client.served.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn requests_end_when_they_are_reset() {
    let mut client = Client::connect().await;
    client.get(1, "/wait").await;
    client.get(3, "/host").await;
    client.expect(HEADERS, 3).await;
    client.expect(DATA, 3).await;
    client.reset(1).await;
    client.get(5, "/host").await;
    client.expect(HEADERS, 5).await;
    assert_eq!(
        (client.begun(), client.ended.load(Ordering::SeqCst)),
        (1, 1)
    );
}

#[tokio::test(start_paused = true)]
async fn rapid_resets_end_the_connection() {
    let mut client = Client::connect().await;
    for number in 0..10_000 {
        client.get(number * 2 + 1, "/wait").await;
        client.reset(number * 2 + 1).await;
    }
    assert!(client.drained().await.contains(&GOAWAY));
    client.served.await.unwrap();
    let begun = client.begun.load(Ordering::SeqCst);
    assert!(begun <= 101, "{begun} requests have begun");
}

#[tokio::test(start_paused = true)]
async fn resets_of_requests_that_have_begun_end_the_connection() {
    let mut client = Client::connect().await;
    for number in 0..10_000 {
        if client.served.is_finished() {
            break;
        }
        client.get(number * 2 + 1, "/wait").await;
        // Until it has begun, or the connection is closed.
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
        client.reset(number * 2 + 1).await;
    }
    client.drained().await;
    client.served.await.unwrap();
    let begun = client.begun.load(Ordering::SeqCst);
    assert!((100..=110).contains(&begun), "{begun} requests have begun");
    assert_eq!(client.ended.load(Ordering::SeqCst), begun);
}

#[tokio::test(start_paused = true)]
async fn only_so_many_requests_are_served_at_a_time() {
    let mut client = Client::connect().await;
    // The limit counts once the client has seen it.
    while client.read().await.unwrap().kind != SETTINGS {}
    client.send(SETTINGS, ACK, 0, &[]).await;
    for number in 0..1000 {
        client.get(number * 2 + 1, "/wait").await;
    }
    let frames = client.drained().await;
    assert!(frames.contains(&GOAWAY));
    client.served.await.unwrap();
    let begun = client.begun.load(Ordering::SeqCst);
    assert!(begun <= MAX_STREAMS as usize, "{begun} requests have begun");
    assert_eq!(client.ended.load(Ordering::SeqCst), begun);
}

#[tokio::test(start_paused = true)]
async fn a_header_without_end_is_refused() {
    let mut client = Client::connect().await;
    client.send(HEADERS, END_STREAM, 1, &head("/wait")).await;
    let value = [&[0x00, 1, b'a', 0x7f, 0x80, 0x3f][..], &[b'a'; 8191]].concat();
    for _ in 0..1000 {
        client.send(CONTINUATION, 0, 1, &value).await;
    }
    let frames = client.drained().await;
    assert!(frames.contains(&GOAWAY) || frames.contains(&RST_STREAM));
    client.served.await.unwrap();
    assert_eq!(client.begun.load(Ordering::SeqCst), 0);
}
