//! Readers that hardly read: they cost no memory, hold nobody up, and still get everything.

use std::time::Duration;

use reqwest::Method;
use scripted::{Behaviour, Finish, Reply, ScriptedServer, Step};
use serde_json::json;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpSocket, TcpStream},
    time::{sleep, timeout},
};

use super::{PATIENCE, whole_log};
use crate::{harness::Server, openai::connect};

const SLOW: usize = 60;
const WORDS: usize = 400_000;

/// The memory that this process has allocated now. Its resident memory also has what was needed for a moment and is free
/// again, which depends on how busy the machine is.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[expect(unsafe_code, reason = "a function of the C library")]
fn allocated_bytes() -> usize {
    // SAFETY: it takes nothing, and its locks are its own.
    let info = unsafe { libc::mallinfo2() };
    info.uordblks + info.hblkhd
}

/// A connection whose kernel takes little on its own, and a request for the run's events.
async fn slow_reader(server: &Server, cookie: &str, run: &str) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4096).unwrap();
    let mut stream = socket.connect(server.address).await.unwrap();
    let ask = format!(
        "GET /runs/{run}/events HTTP/1.1\r\nhost: {}\r\ncookie: {cookie}\r\nconnection: close\r\n\r\n",
        server.address
    );
    stream.write_all(ask.as_bytes()).await.unwrap();
    stream
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slow_reader_costs_nobody_anything() {
    let text = Step::Text {
        text: "wörd ".repeat(WORDS),
        tokens_per_second: None,
    };
    let reply = Reply::stream(&[
        // So that all slow readers are there from the start: the log of a finished run has the text in one event, which
        // each reader that is at it holds.
        Step::Pause { ms: 2000 },
        text,
        Step::Finish {
            reason: Finish::Stop,
        },
    ]);
    let upstream = ScriptedServer::start(Behaviour::always(reply))
        .await
        .unwrap();
    let (server, cookie) = Server::start_signed_in().await;
    connect(&server, &cookie, "Up", &upstream.base_url()).await;
    let play = async || {
        let chat = server
            .post("/api/v1/chats", &cookie, &json!({}))
            .await
            .json();
        let path = format!("/api/v1/chats/{}/messages", chat["id"].as_str().unwrap());
        let said = json!({"content": "Hi", "model": "scripted"});
        server.post(&path, &cookie, &said).await.json()["run"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    let fast = async |run: &str| {
        let request = server.request(Method::GET, &format!("/runs/{run}/events"), &cookie);
        timeout(PATIENCE, async {
            request.send().await.unwrap().text().await.unwrap()
        })
        .await
        .unwrap()
    };
    // What a run costs without slow readers.
    fast(&play().await).await;
    let before = allocated_bytes();

    let run = play().await;
    let mut slow = Vec::new();
    for _ in 0..SLOW {
        slow.push(slow_reader(&server, &cookie, &run).await);
    }
    let trickle = async {
        let mut got = vec![Vec::new(); SLOW];
        loop {
            for (stream, got) in slow.iter_mut().zip(&mut got) {
                got.push(stream.read_u8().await.unwrap());
            }
            if got[0].len() == 20 {
                return got;
            }
            sleep(Duration::from_millis(100)).await;
        }
    };
    let (whole, got) = tokio::join!(fast(&run), trickle);
    assert!(whole.len() > 2 * WORDS, "{}", whole.len());
    whole_log(&whole);
    let cost = allocated_bytes().saturating_sub(before);
    // A copy for each of them would be four times as much.
    let most = SLOW * whole.len() / 4;
    assert!(
        cost < most,
        "{SLOW} slow readers cost {cost} bytes, more than {most}"
    );

    for (mut stream, mut got) in slow.into_iter().zip(got).take(3) {
        timeout(PATIENCE, stream.read_to_end(&mut got))
            .await
            .unwrap()
            .unwrap();
        let text = String::from_utf8_lossy(&got);
        let data = |text: &str| -> Vec<String> {
            text.lines()
                .filter(|line| line.starts_with("data: "))
                .map(str::to_owned)
                .collect()
        };
        let (_, body) = text.split_once("\r\n\r\n").unwrap();
        // Chunks of HTTP lie between the frames.
        let body: String = unchunked(body);
        assert!(
            data(&body) == data(&whole),
            "the slow one got something else"
        );
    }
}

/// A body without the lengths of its chunks.
fn unchunked(mut body: &str) -> String {
    let mut whole = Vec::new();
    while let Some((size, rest)) = body.split_once("\r\n") {
        let size = usize::from_str_radix(size, 16).unwrap();
        whole.extend_from_slice(&rest.as_bytes()[..size]);
        body = rest.get(size + 2..).unwrap_or_default();
    }
    String::from_utf8(whole).unwrap()
}
