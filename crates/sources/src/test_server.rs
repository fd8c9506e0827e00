//! A small HTTP server for tests, which records its requests. It runs until the tests end.

use std::{
    io::{Read, Write},
    net::TcpListener,
    sync::{Arc, Mutex},
    thread,
};

use outbound::{Allowed, Outbound};
use serde_json::Value;

use crate::{SourceLimits, Surroundings};

/// A recorded request.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    head: String,
    pub(crate) body: String,
}

impl Asked {
    pub(crate) fn method(&self) -> &str {
        self.head.split(' ').next().unwrap()
    }

    /// The path with its query.
    pub(crate) fn target(&self) -> &str {
        self.head.split(' ').nth(1).unwrap()
    }

    pub(crate) fn path(&self) -> &str {
        self.target().split('?').next().unwrap()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.head.lines().filter_map(|line| line.split_once(": "));
        headers
            .find(|(key, _)| key.eq_ignore_ascii_case(name))
            .map(|(_, value)| value)
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }
}

pub(crate) struct Reply {
    status: u16,
    headers: Vec<String>,
    body: Vec<u8>,
}

impl Reply {
    pub(crate) fn header(mut self, header: &str) -> Self {
        self.headers.push(header.to_owned());
        self
    }

    pub(crate) fn status(mut self, status: u16) -> Self {
        self.status = status;
        self
    }
}

pub(crate) fn json(body: &Value) -> Reply {
    bytes(body.to_string().as_bytes()).header("content-type: application/json")
}

pub(crate) fn bytes(body: &[u8]) -> Reply {
    let headers = Vec::new();
    let body = body.to_vec();
    Reply {
        status: 200,
        headers,
        body,
    }
}

pub(crate) fn status(status: u16) -> Reply {
    let reply = json(&serde_json::json!({ "error": { "code": "x", "message": "y" } }));
    Reply { status, ..reply }
}

pub(crate) struct Server {
    pub(crate) address: String,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl Server {
    pub(crate) fn start(answer: impl Fn(&Asked) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let asked = Arc::<Mutex<Vec<Asked>>>::default();
        let answer = Arc::new(answer);
        let noted = Arc::clone(&asked);
        thread::spawn(move || {
            for connection in listener.incoming() {
                let noted = Arc::clone(&noted);
                let answer = Arc::clone(&answer);
                let mut connection = connection.unwrap();
                thread::spawn(move || {
                    while let Some(request) = read(&mut connection) {
                        noted.lock().unwrap().push(request.clone());
                        let reply = answer(&request);
                        let mut head = format!("HTTP/1.1 {} X\r\n", reply.status);
                        for header in &reply.headers {
                            head += &format!("{header}\r\n");
                        }
                        head += &format!("content-length: {}\r\n\r\n", reply.body.len());
                        let whole = [head.as_bytes(), &reply.body].concat();
                        if connection.write_all(&whole).is_err() {
                            return;
                        }
                    }
                });
            }
        });
        Self { address, asked }
    }

    /// The requests so far.
    pub(crate) fn requests(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }

    /// Methods and targets of the requests so far.
    pub(crate) fn targets(&self) -> Vec<String> {
        let requests = self.requests();
        let targets = requests.iter();
        targets
            .map(|asked| format!("{} {}", asked.method(), asked.target()))
            .collect()
    }
}

fn read(connection: &mut impl Read) -> Option<Asked> {
    let mut request = Vec::new();
    let mut chunk = [0; 4096];
    loop {
        let text = String::from_utf8_lossy(&request);
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let asked = Asked {
                head: head.to_owned(),
                body: body.to_owned(),
            };
            let length = asked.header("content-length");
            if body.len() >= length.map_or(0, |length| length.parse().unwrap()) {
                return Some(asked);
            }
        }
        let count = connection.read(&mut chunk).ok();
        let count = count.filter(|count| *count > 0)?;
        request.extend_from_slice(&chunk[..count]);
    }
}

/// Surroundings that may reach this machine.
pub(crate) fn surroundings(items: usize, item_bytes: usize) -> Surroundings {
    let allowed = Allowed::parse(&["127.0.0.1".to_owned()]).unwrap();
    Surroundings {
        outbound: Outbound::new(allowed),
        folders: Vec::new(),
        limits: SourceLimits { items, item_bytes },
    }
}
