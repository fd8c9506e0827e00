//! What is no such server, or breaks off, is said to be so.

use std::{future::Future, time::Duration};

use bolt::{Access, Address, Client, Fault};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

const TIME: Duration = Duration::from_secs(30);
/// The answer to a greeting: version 5.4.
const CHOSEN: [u8; 4] = [0, 0, 4, 5];
/// `SUCCESS {}`.
const SUCCESS: [u8; 7] = [0, 3, 0xB1, 0x70, 0xA0, 0, 0];

/// What a client gets of a server that does this with its one connection.
async fn asked<F: Future<Output = ()>>(scheme: &str, serve: impl FnOnce(TcpStream) -> F) -> Fault {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address =
        Address::parse(&format!("{scheme}://{}", listener.local_addr().unwrap())).unwrap();
    let access = Access {
        user: "u".into(),
        password: "p".into(),
        database: String::new(),
    };
    let client = Client::new(address, access);
    let serving = async {
        let (stream, _) = listener.accept().await.unwrap();
        serve(stream).await;
    };
    let (answer, ()) = tokio::join!(client.run("RETURN 1", &[], TIME), serving);
    answer.unwrap_err()
}

async fn say(stream: &mut TcpStream, bytes: &[u8]) {
    // A client that has heard enough may be gone.
    let _ = stream.write_all(bytes).await;
}

async fn greet(stream: &mut TcpStream, more: &[u8]) {
    stream.read_exact(&mut [0; 20]).await.unwrap();
    say(stream, &CHOSEN).await;
    say(stream, more).await;
    // What was not read would take along what was said.
    let _ = stream.shutdown().await;
    let _ = tokio::io::copy(stream, &mut tokio::io::sink()).await;
}

#[tokio::test]
async fn servers_of_something_else_are_told_apart() {
    let web =
        async |mut stream: TcpStream| say(&mut stream, b"HTTP/1.1 400 Bad Request\r\n\r\n").await;
    assert_eq!(asked("bolt", web).await, Fault::NotBolt);
    assert_eq!(
        asked("bolt", async |stream| drop(stream)).await,
        Fault::NotBolt
    );
    let old = async |mut stream: TcpStream| say(&mut stream, &[0, 0, 0, 3]).await;
    assert_eq!(asked("bolt", old).await, Fault::NotBolt);
    let plain = async |mut stream: TcpStream| say(&mut stream, b"no TLS here").await;
    assert_eq!(asked("bolt+s", plain).await, Fault::Unreachable);
}

#[tokio::test]
async fn broken_answers_are_no_answers() {
    let breaks_off = async |mut stream: TcpStream| greet(&mut stream, &SUCCESS[..3]).await;
    assert_eq!(asked("bolt", breaks_off).await, Fault::Unreachable);
    let no_values =
        async |mut stream: TcpStream| greet(&mut stream, &[0, 2, 0xFF, 0xFF, 0, 0]).await;
    assert_eq!(asked("bolt", no_values).await, Fault::NotBolt);
    let two_let_in = [&SUCCESS[..], &SUCCESS].concat();
    let no_row = [&two_let_in[..], &SUCCESS, &[0, 3, 0xB1, 0x71, 1, 0, 0]].concat();
    let no_row = async |mut stream: TcpStream| greet(&mut stream, &no_row).await;
    assert_eq!(asked("bolt", no_row).await, Fault::NotBolt);
}

#[tokio::test]
async fn endless_answers_are_cut() {
    let endless = async |mut stream: TcpStream| {
        say(&mut stream, &CHOSEN).await;
        let chunk = [&[0xFF, 0xFF][..], &[0; 0xFFFF]].concat();
        while stream.write_all(&chunk).await.is_ok() {}
    };
    assert_eq!(asked("bolt", endless).await, Fault::TooLarge);
}
