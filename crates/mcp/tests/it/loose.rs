//! Slightly malformed messages: as a line of a program, as the body of an HTTP response, and as an event of a stream
//! that stays open, so that only the message itself ends the call.

use std::sync::Arc;

use mcp::{CallError, Program, Transport};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{Tried, end_of, new_folder, start, web::site};

const HANDSHAKE: &str = r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"odd","version":"1"}}}"#;
const LIST: &str =
    r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"a","inputSchema":{"type":"object"}}]}}"#;

#[derive(Debug, Clone, Copy)]
enum Over {
    Line,
    Body,
    Event,
}

const EVERY_WAY: [Over; 3] = [Over::Line, Over::Body, Over::Event];

/// The responses to `initialize`, `tools/list` and `tools/call`, which are the messages 0, 1 and 2.
type Said = [Vec<u8>; 3];

fn said(handshake: &str, list: &str, call: &[u8]) -> Said {
    [handshake.into(), list.into(), call.to_vec()]
}

fn calling(call: &[u8]) -> Said {
    said(HANDSHAKE, LIST, call)
}

/// A server with these responses.
async fn saying(over: Over, said: Said) -> Tried {
    match over {
        Over::Line => program(&said),
        Over::Body | Over::Event => web(over, said).await,
    }
}

fn program(said: &Said) -> Tried {
    static COUNT: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
    let count = COUNT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    let folder = new_folder(&format!("loose-{count}"));
    for (number, message) in said.iter().enumerate() {
        std::fs::write(
            folder.join(number.to_string()),
            [message.as_slice(), b"\n"].concat(),
        )
        .unwrap();
    }
    let script =
        "read -r line; cat 0; read -r line; read -r line; cat 1; read -r line; cat 2; sleep 60";
    let environment = vec![("PATH".to_owned(), "/usr/local/bin:/usr/bin:/bin".to_owned())];
    let arguments = vec!["-c".to_owned(), script.to_owned()];
    start(Transport::Stdio(Program {
        command: "sh".into(),
        arguments,
        environment,
        folder: Some(folder),
    }))
}

async fn web(over: Over, said: Said) -> Tried {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let tasks = TaskTracker::new();
    let said = Arc::new(said);
    let stopping = CancellationToken::new();
    let stopped = stopping.clone();
    let guard = stopping.drop_guard();
    let accepting = tasks.clone();
    tasks.spawn(async move {
        while let Some(Ok((stream, _))) = stopped.run_until_cancelled(listener.accept()).await {
            let said = Arc::clone(&said);
            let stopped = stopped.clone();
            accepting.spawn(async move {
                stopped
                    .run_until_cancelled(answer(stream, over, said))
                    .await
            });
        }
    });
    let mut tried = site(url);
    tried.also = Some(guard);
    tried
}

/// Answers one request. A stream of events stays open after its event.
async fn answer(mut stream: TcpStream, over: Over, said: Arc<Said>) {
    let request = request(&mut stream).await;
    let number = ["\"initialize\"", "tools/list", "tools/call"]
        .iter()
        .position(|name| request.contains(name));
    let Some(message) = number.and_then(|number| said.get(number)) else {
        let status = if request.starts_with("POST") {
            "202 Accepted"
        } else {
            "405 No"
        };
        let head = format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
        return stream.write_all(head.as_bytes()).await.unwrap();
    };
    if let Over::Body = over {
        let kind = "content-type: application/json\r\nconnection: close";
        let head = format!(
            "HTTP/1.1 200 OK\r\n{kind}\r\ncontent-length: {}\r\n\r\n",
            message.len()
        );
        return stream
            .write_all(&[head.as_bytes(), message].concat())
            .await
            .unwrap();
    }
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\nx-unknown: 1\nretry: soon\ndata: ";
    // The reader may disconnect during a flood.
    let _ = stream
        .write_all(&[head.as_bytes(), message, b"\n\n"].concat())
        .await;
    std::future::pending::<()>().await;
}

/// The head and the body of a request.
async fn request(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| {
                let (name, value) = line.split_once(':')?;
                name.eq_ignore_ascii_case("content-length")
                    .then(|| value.trim().parse::<usize>().unwrap())
            });
            if body.len() >= length.unwrap_or(0) {
                return text;
            }
        }
        if stream.read_buf(&mut bytes).await.unwrap_or(0) == 0 {
            return text;
        }
    }
}

async fn check(said: Said, expected: Result<&str, CallError>) {
    for over in EVERY_WAY {
        let tried = saying(over, said.clone()).await;
        assert_eq!(tried.names().await, ["a"], "{over:?}");
        let ended = end_of(&mut tried.call("me").await).await;
        let message = String::from_utf8_lossy(&said[2]).into_owned();
        assert_eq!(
            ended,
            expected.clone().map(str::to_owned),
            "{over:?}: {message}"
        );
    }
}

fn text(text: &[u8]) -> Vec<u8> {
    let before = r#"{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":""#;
    let after = r#""}]}}"#;
    [before.as_bytes(), text, after.as_bytes()].concat()
}

#[tokio::test]
async fn an_invalid_character_is_replaced() {
    for (written, read) in [
        (br"a\ud800b".as_slice(), "a\u{FFFD}b"),
        (br"a\udc00b", "a\u{FFFD}b"),
        (
            br"a\ud800\ud83d\ude00b\\ud800",
            "a\u{FFFD}\u{1F600}b\\ud800",
        ),
        (br"a\u0000b", "a\u{FFFD}b"),
        (b"a\0b", "a\u{FFFD}b"),
        (b"a\xffb\xc3", "a\u{FFFD}b\u{FFFD}"),
        (b"a\tb\x1b", "a\tb\u{1b}"),
        (br"\d\\", "\\d\\"),
    ] {
        check(calling(&text(written)), Ok(read)).await;
    }
}

#[tokio::test]
async fn junk_around_a_message_does_no_harm() {
    let whole = text(b"yes");
    check(
        calling(&[b"\xef\xbb\xbf ", whole.as_slice(), b"\0\0 "].concat()),
        Ok("yes"),
    )
    .await;
    check(
        calling(
            br#"{"jsonrpc":"2.0","id":2,"result":{"structuredContent":{"a":NaN,"b":-Infinity}}}"#,
        ),
        Ok(r#"{"a":null,"b":null}"#),
    )
    .await;
}

#[tokio::test]
async fn a_minimal_error_fails_its_call_at_once() {
    for (error, message) in [
        (r#"{"message":"no key"}"#, "no key"),
        (
            r#"{"code":"-32000","message":"no key","data":null}"#,
            "no key",
        ),
        (r#"{"code":"E_KEY","message":"no key"}"#, "no key"),
        (r#"{"code":null,"message":"no key"}"#, "no key"),
        (r#"{"code":1e99,"message":"no key"}"#, "no key"),
        (r#"{"code":99999999999,"message":"no key"}"#, "no key"),
        (r#"{"code":-1}"#, r#"{"code":-1}"#),
        (
            r#"{"code":-1,"message":null,"data":"no key"}"#,
            r#"{"code":-1,"data":"no key"}"#,
        ),
        (
            r#"{"code":-1,"message":{"why":"no key"}}"#,
            r#"{"code":-1,"message":{"why":"no key"}}"#,
        ),
        (r#""no key""#, "no key"),
        ("[]", "[]"),
    ] {
        let call = format!(r#"{{"jsonrpc":"2.0","id":2,"error":{error}}}"#);
        check(
            calling(call.as_bytes()),
            Err(CallError::Refused(message.to_owned())),
        )
        .await;
    }
}

#[tokio::test]
async fn an_envelope_that_is_nearly_right() {
    for call in [
        r#"{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"yes"}]},"error":null}"#,
        r#"{"id":2,"result":{"content":[{"type":"text","text":"yes"}]}}"#,
        r#"{"jsonrpc":2.0,"id":"2","method":null,"result":{"content":[{"type":"text","text":"yes"}]}}"#,
        r#"{"jsonrpc":"2.0","id":2.0,"method":"tools/call","result":{"content":[{"type":"text","text":"yes"}]}}"#,
        r#"[{"jsonrpc":"2.0","method":"notifications/x","id":null},{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"yes"}]}}]"#,
    ] {
        check(calling(call.as_bytes()), Ok("yes")).await;
    }
}

#[tokio::test]
async fn an_unreadable_answer_fails_its_call_at_once() {
    let unreadable = |why: &str| Err(CallError::Unreadable(why.to_owned()));
    for call in [
        r#"{"jsonrpc":"2.0","id":2,"result":{"content":[}}"#,
        r#"{"result":{"content":[oops],"id":7,"method":1},"jsonrpc":"2.0","id":2}"#,
        r#"{"jsonrpc":"2.0","id":"2","result":{"content":[{"type":"text","text":"and then"#,
    ] {
        check(calling(call.as_bytes()), unreadable("it is not valid JSON")).await;
    }
    let none = "it has neither a result nor an error";
    check(calling(br#"{"jsonrpc":"2.0","id":2}"#), unreadable(none)).await;
    check(
        calling(br#"{"jsonrpc":"2.0","id":2,"error":null}"#),
        unreadable(none),
    )
    .await;
    let flood = text(&vec![b'x'; 9_000_000]);
    check(
        calling(&flood),
        unreadable("it is longer than 8000000 bytes"),
    )
    .await;
}

#[tokio::test]
async fn contents_that_are_no_list_of_blocks() {
    for (result, answer) in [
        (r#"{"content":{}}"#, ""),
        (r#"{"content":null}"#, ""),
        (r#"{"content":null,"isError":false}"#, ""),
        (r#"{}"#, ""),
        (r#"{"_meta":null,"isError":null}"#, ""),
        (r#"{"content":"yes"}"#, "yes"),
        (r#"{"content":["yes",null]}"#, "yes"),
        (r#"{"content":{"type":"text","text":"yes"}}"#, "yes"),
        (r#"{"content":{"rows":1}}"#, r#"{"rows":1}"#),
        (r#"{"content":[{"text":"yes"}]}"#, "yes"),
        (r#"{"content":[{"type":"text","text":5}]}"#, "5"),
        (
            r#"{"content":[{"type":"text","text":"yes","annotations":null,"_meta":null}],"structuredContent":null,"_meta":null,"isError":null}"#,
            "yes",
        ),
        (
            r#"{"content":[{"type":"text","text":"yes","annotations":{"audience":null,"priority":null}}]}"#,
            "yes",
        ),
        (
            r#"{"content":[{"type":"resource_link","uri":"x:1","name":"n","title":null,"icons":null,"size":null}]}"#,
            "[A resource: x:1 (n)]",
        ),
        (r#"{"rows":1,"_meta":null}"#, r#"{"rows":1}"#),
        (r#""yes""#, "yes"),
        (r#"[{"type":"text","text":"yes"}]"#, "yes"),
    ] {
        let call = format!(r#"{{"jsonrpc":"2.0","id":2,"result":{result}}}"#);
        check(calling(call.as_bytes()), Ok(answer)).await;
    }
}

#[tokio::test]
async fn null_fields_are_ignored() {
    let answer = text(b"yes");
    let handshake = r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{"listChanged":null},"logging":null,"experimental":[],"prompts":true},"serverInfo":{"name":"odd","version":null,"title":null,"icons":null,"websiteUrl":null},"instructions":null,"_meta":null},"error":null}"#;
    let list = r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"a","title":null,"description":null,"inputSchema":{"type":"object","properties":null,"required":null},"outputSchema":null,"annotations":null,"icons":null,"execution":null,"_meta":null}],"nextCursor":null,"_meta":null}}"#;
    check(said(handshake, list, &answer), Ok("yes")).await;
    let list = r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"a","inputSchema":{"type":"object"},"annotations":{"title":null,"readOnlyHint":null},"icons":[{"src":"x:1","mimeType":null,"sizes":null}],"execution":{"taskSupport":null}}]}}"#;
    check(said(HANDSHAKE, list, &answer), Ok("yes")).await;
}
