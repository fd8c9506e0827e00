//! Thousands of sockets that only occupy connections, from one address and from many, while a signed-in user works.

use std::{
    net::{IpAddr, Ipv4Addr, SocketAddr},
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use anyhow::Context;
use memchr::memmem;
use serde_json::json;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpSocket, TcpStream},
    task::JoinSet,
    time::{Instant, sleep, timeout},
};

use crate::{
    client::Client,
    program::{Program, Setup, TEAM_EMAIL, TEAM_PASSWORD},
    table::{Aim, percentile, print},
    turns::row,
};

const SOCKETS: usize = 4096;
/// Number of source addresses of the sockets in the case of many.
const ADDRESSES: usize = 200;
/// Delay before a closed socket reconnects.
const COMES_BACK_AFTER: Duration = Duration::from_secs(2);
/// Pause of the user before the next click.
const THINKS: Duration = Duration::from_millis(20);

/// Other benchmarks set this higher, since all their clients have one address.
const DEFAULT: (&str, &str) = ("GLASSHOUSE_CONNECTIONS_PER_ADDRESS", "512");

/// What a socket does with its connection.
#[derive(Clone, Copy)]
enum Hostility {
    /// A body that is sent except for its last byte.
    HeldBody,
    /// One byte of a body every five seconds.
    SlowBody,
    /// Half a request header.
    HalfHead,
    /// Nothing.
    Idle,
    /// A WebSocket with half a frame.
    HalfFrame,
}

const ALL: [Hostility; 5] = [
    Hostility::HeldBody,
    Hostility::SlowBody,
    Hostility::HalfHead,
    Hostility::Idle,
    Hostility::HalfFrame,
];

/// Measures both cases, each with a separate server.
pub(crate) async fn measure(program: &Path, quick: bool) -> anyhow::Result<()> {
    // Each socket is also an open file in this process.
    rlimit::increase_nofile_limit(65_536)?;
    let sockets = if quick { SOCKETS / 8 } else { SOCKETS };
    let time = Duration::from_secs(if quick { 5 } else { 30 });
    for (title, first, addresses) in [
        (
            "4,096 hostile sockets from the address of somebody who works",
            Ipv4Addr::LOCALHOST,
            1,
        ),
        (
            "4,096 hostile sockets from 200 other addresses",
            Ipv4Addr::new(127, 0, 1, 1),
            ADDRESSES,
        ),
    ] {
        attack(program, title, first, addresses, sockets, time).await?;
    }
    Ok(())
}

async fn attack(
    program: &Path,
    title: &str,
    first: Ipv4Addr,
    addresses: usize,
    sockets: usize,
    time: Duration,
) -> anyhow::Result<()> {
    let setup = Setup {
        program,
        upstream: None,
        data_dir: None,
        environment: &[DEFAULT],
    };
    let program = Program::start_as_team(setup).await?;
    let cookie = sign_in(program.address).await?;
    let mut quiet = work(program.address, &cookie, time / 3).await?;
    let (before_mb, _) = program.process.memory_mb()?;
    let open = Arc::new(AtomicUsize::new(0));
    let mut attackers = JoinSet::new();
    for number in 0..sockets {
        let from = Ipv4Addr::from(first.to_bits() + u32::try_from(number % addresses)?);
        let kind = ALL[number / addresses % ALL.len()];
        attackers.spawn(hold(
            program.address,
            from.into(),
            kind,
            cookie.clone(),
            Arc::clone(&open),
        ));
        if number % 64 == 0 {
            sleep(Duration::from_millis(10)).await;
        }
    }
    sleep(Duration::from_secs(3)).await;
    let held = open.load(Ordering::Relaxed);
    let (during_mb, _) = program.process.memory_mb()?;
    let mut under_attack = work(program.address, &cookie, time).await?;
    let signed_in_ms = {
        let began = Instant::now();
        sign_in(program.address).await?;
        began.elapsed().as_secs_f64() * 1000.0
    };
    let held_after = open.load(Ordering::Relaxed);
    let (_, peak_mb) = program.process.memory_mb()?;
    attackers.shutdown().await;
    sleep(Duration::from_secs(5)).await;
    let (after_mb, _) = program.process.memory_mb()?;
    print(
        title,
        &[
            row(
                "hostile sockets that are open, at first",
                count(held),
                "",
                None,
            ),
            row(
                "hostile sockets that are open, in the end",
                count(held_after),
                "",
                None,
            ),
            row(
                "a call without them, p99",
                percentile(&mut quiet.calls, 0.99),
                "ms",
                None,
            ),
            row(
                "a call, median",
                percentile(&mut under_attack.calls, 0.5),
                "ms",
                None,
            ),
            row(
                "a call, p99",
                percentile(&mut under_attack.calls, 0.99),
                "ms",
                Some(Aim::AtMost(200.0)),
            ),
            row(
                "a call, the slowest",
                percentile(&mut under_attack.calls, 1.0),
                "ms",
                None,
            ),
            row("calls", count(under_attack.calls.len()), "", None),
            row(
                "calls that failed",
                count(under_attack.failed),
                "",
                Some(Aim::AtMost(0.0)),
            ),
            row("signing in", signed_in_ms, "ms", None),
            row("memory before", before_mb, "MB", None),
            row("memory with them", during_mb, "MB", None),
            row(
                "peak memory",
                peak_mb,
                "MB",
                Some(Aim::AtMost(before_mb + 200.0)),
            ),
            row("memory after them", after_mb, "MB", None),
        ],
    );
    Ok(())
}

#[expect(clippy::cast_precision_loss, reason = "some thousands")]
fn count(of: usize) -> f64 {
    of as f64
}

async fn sign_in(address: SocketAddr) -> anyhow::Result<String> {
    let body = json!({"email": TEAM_EMAIL, "password": TEAM_PASSWORD}).to_string();
    let header = Client::connect(address)
        .await?
        .send("POST", "/api/v1/login", &body)
        .await?;
    let line = header
        .lines()
        .find_map(|line| line.strip_prefix("set-cookie: "))
        .context("no cookie")?;
    Ok(line.split(';').next().unwrap_or_default().to_owned())
}

/// The user's observations.
#[derive(Default)]
struct Seen {
    /// Duration of each call, milliseconds.
    calls: Vec<f64>,
    failed: usize,
}

/// Works for this time: half of the calls on a kept-alive connection, half on new ones.
async fn work(address: SocketAddr, cookie: &str, time: Duration) -> anyhow::Result<Seen> {
    let headers = format!("cookie: {cookie}\r\n");
    let connect = async || anyhow::Ok(Client::connect(address).await?.with_headers(&headers));
    let mut seen = Seen::default();
    let until = Instant::now() + time;
    let mut kept = connect().await?;
    while Instant::now() < until {
        for (method, path, body) in [
            ("GET", "/api/v1/me", ""),
            ("GET", "/api/v1/chats?limit=50", ""),
            ("POST", "/api/v1/chats", "{}"),
            ("GET", "/api/v1/inbox", ""),
        ] {
            for is_new in [false, true] {
                sleep(THINKS).await;
                let began = Instant::now();
                // Like a browser, retries on a new connection if the kept one was closed meanwhile.
                let answered = async {
                    if !is_new && kept.call(method, path, body).await.is_ok() {
                        return anyhow::Ok(());
                    }
                    let mut new = connect().await?;
                    new.call(method, path, body).await?;
                    kept = new;
                    Ok(())
                };
                if !matches!(timeout(Duration::from_secs(10), answered).await, Ok(Ok(()))) {
                    seen.failed += 1;
                }
                seen.calls.push(began.elapsed().as_secs_f64() * 1000.0);
            }
        }
    }
    Ok(seen)
}

/// Occupies a connection forever, reconnecting when it is lost.
async fn hold(
    to: SocketAddr,
    from: IpAddr,
    kind: Hostility,
    cookie: String,
    open: Arc<AtomicUsize>,
) {
    loop {
        if let Ok(stream) = connect(to, from).await {
            open.fetch_add(1, Ordering::Relaxed);
            let _ = stay(stream, kind, &cookie).await;
            open.fetch_sub(1, Ordering::Relaxed);
        }
        sleep(COMES_BACK_AFTER).await;
    }
}

async fn connect(to: SocketAddr, from: IpAddr) -> std::io::Result<TcpStream> {
    let socket = TcpSocket::new_v4()?;
    socket.bind(SocketAddr::new(from, 0))?;
    socket.connect(to).await
}

/// Behaves according to its kind until the server closes the connection.
async fn stay(mut stream: TcpStream, kind: Hostility, cookie: &str) -> std::io::Result<()> {
    const LOGIN: &str = "POST /api/v1/login HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length:";
    let half_frame = [0x82, 0xfe, 0x03, 0xe8, 1, 2, 3, 4, b'h'];
    match kind {
        Hostility::HeldBody => {
            let body = "x".repeat(59_999);
            stream
                .write_all(format!("{LOGIN} 60000\r\n\r\n{body}").as_bytes())
                .await?;
        }
        Hostility::SlowBody => {
            stream
                .write_all(format!("{LOGIN} 100\r\n\r\n").as_bytes())
                .await?
        }
        Hostility::HalfHead => {
            stream
                .write_all(b"GET / HTTP/1.1\r\nhost: 127.0.0.1\r\nx-a")
                .await?
        }
        Hostility::Idle => {}
        Hostility::HalfFrame => {
            let head = format!(
                "GET /ws HTTP/1.1\r\nhost: 127.0.0.1\r\ncookie: {cookie}\r\nconnection: upgrade\r\n\
                 upgrade: websocket\r\nsec-websocket-version: 13\r\n\
                 sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
            );
            stream.write_all(head.as_bytes()).await?;
            let mut answer = Vec::new();
            while memmem::find(&answer, b"\r\n\r\n").is_none() {
                if stream.read_buf(&mut answer).await? == 0 {
                    return Ok(());
                }
            }
            stream.write_all(&half_frame).await?;
        }
    }
    let mut buffer = [0; 1024];
    loop {
        match timeout(Duration::from_secs(5), stream.read(&mut buffer)).await {
            Ok(Ok(0) | Err(_)) => return Ok(()),
            Ok(Ok(_)) => {}
            Err(_) if matches!(kind, Hostility::SlowBody) => stream.write_all(b"x").await?,
            Err(_) => {}
        }
    }
}
