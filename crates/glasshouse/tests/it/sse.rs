//! Reads server-sent events as a client does.

use reqwest::Response;
use serde_json::Value;

use crate::described;

/// An open stream of events.
pub(crate) struct Events {
    response: Response,
    buffer: Vec<u8>,
}

/// One event: its number and its name, if it has them, and its data as it was sent.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Event {
    pub(crate) id: Option<u64>,
    pub(crate) name: Option<String>,
    pub(crate) data: String,
}

impl Event {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.data).unwrap()
    }
}

impl Events {
    #[track_caller]
    pub(crate) fn of(response: Response) -> Self {
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Self {
            response,
            buffer: Vec::new(),
        }
    }

    /// The next event; nothing at the end of the stream.
    pub(crate) async fn next(&mut self) -> Option<Event> {
        loop {
            if let Some(end) = self.buffer.windows(2).position(|bytes| bytes == b"\n\n") {
                let event = String::from_utf8(self.buffer.drain(..end + 2).collect()).unwrap();
                if event.starts_with(':') {
                    continue;
                }
                let field = |name: &str| {
                    event
                        .lines()
                        .find_map(|line| line.strip_prefix(name).map(str::to_owned))
                };
                let id = field("id: ").map(|id| id.parse().unwrap());
                let data = field("data: ").unwrap();
                let name = field("event: ");
                // What ends a stream that cannot go on is no event of the log.
                if name.as_deref() != Some("problem") {
                    described::check_event(self.response.url(), &data);
                }
                return Some(Event { id, name, data });
            }
            let chunk = self.response.chunk().await.unwrap()?;
            self.buffer.extend_from_slice(&chunk);
        }
    }

    /// All events to the end.
    pub(crate) async fn rest(mut self) -> Vec<Event> {
        let mut all = Vec::new();
        while let Some(event) = self.next().await {
            all.push(event);
        }
        all
    }

    /// Skips to the first event whose data fits.
    pub(crate) async fn until(&mut self, fits: impl Fn(&Value) -> bool) -> Value {
        while let Some(event) = self.next().await {
            let json = event.json();
            if fits(&json) {
                return json;
            }
        }
        panic!("the stream ended first");
    }
}
