//! A small local web server that records its requests. It runs until the tests end.

use std::{
    io::{Read, Write},
    net::TcpListener,
    sync::{Arc, Mutex},
    thread,
    time::Duration,
};

/// A recorded request as text.
pub(crate) struct Asked(String);

impl Asked {
    pub(crate) fn path(&self) -> &str {
        self.0.split(' ').nth(1).unwrap_or_default()
    }
}

pub(crate) struct Reply {
    status: u16,
    headers: Vec<String>,
    body: String,
    is_silent: bool,
}

impl Reply {
    pub(crate) fn with(mut self, header: &str) -> Self {
        self.headers.push(header.to_owned());
        self
    }

    pub(crate) fn closing(self) -> Self {
        self.with("connection: close")
    }
}

pub(crate) fn text(body: &str) -> Reply {
    Reply {
        status: 200,
        headers: Vec::new(),
        body: body.to_owned(),
        is_silent: false,
    }
}

pub(crate) fn redirect(status: u16, to: &str) -> Reply {
    Reply { status, ..text("") }.with(&format!("location: {to}"))
}

pub(crate) fn silent() -> Reply {
    Reply {
        is_silent: true,
        ..text("")
    }
}

pub(crate) struct Site {
    pub(crate) port: u16,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Site {
    pub(crate) fn start(answer: impl Fn(&Asked) -> Reply + Send + Sync + 'static) -> Self {
        Self::start_at("127.0.0.1", 0, answer)
    }

    pub(crate) fn start_at(
        address: &str,
        port: u16,
        answer: impl Fn(&Asked) -> Reply + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind((address, port)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let (asked, answer) = (Arc::<Mutex<Vec<String>>>::default(), Arc::new(answer));
        let noted = Arc::clone(&asked);
        thread::spawn(move || {
            for connection in listener.incoming() {
                let (noted, answer, mut connection) =
                    (Arc::clone(&noted), Arc::clone(&answer), connection.unwrap());
                thread::spawn(move || {
                    while let Some(request) = read(&mut connection) {
                        noted.lock().unwrap().push(request.clone());
                        let Reply {
                            status,
                            headers,
                            body,
                            is_silent,
                        } = answer(&Asked(request));
                        if is_silent {
                            thread::sleep(Duration::from_secs(5));
                        }
                        let headers: String = headers
                            .iter()
                            .map(|header| format!("{header}\r\n"))
                            .collect();
                        let length = body.len();
                        let reply = format!(
                            "HTTP/1.1 {status} X\r\n{headers}content-length: {length}\r\n\r\n{body}"
                        );
                        if connection.write_all(reply.as_bytes()).is_err()
                            || headers.contains("close")
                        {
                            return;
                        }
                    }
                });
            }
        });
        Self { port, asked }
    }

    /// The requests so far, complete.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

fn read(connection: &mut impl Read) -> Option<String> {
    let mut request = String::new();
    let mut chunk = [0; 4096];
    loop {
        if let Some((head, body)) = request.split_once("\r\n\r\n") {
            let length = head
                .lines()
                .find_map(|line| line.strip_prefix("content-length: "));
            if body.len() >= length.map_or(0, |length| length.parse().unwrap()) {
                return Some(request);
            }
        }
        let count = connection
            .read(&mut chunk)
            .ok()
            .filter(|count| *count > 0)?;
        request.push_str(std::str::from_utf8(&chunk[..count]).unwrap());
    }
}
