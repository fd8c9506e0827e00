//! Reads server-sent events leniently: ignores unknown fields, and normalizes the messages in them like those of
//! programs.

use std::{collections::VecDeque, io};

use futures_util::{StreamExt, TryStreamExt, stream, stream::BoxStream};
use rmcp::{model::RequestId, transport::streamable_http_client::SseError};
use serde_json::json;
use sse_stream::Sse;
use tokio::io::AsyncBufRead;
use tokio_util::io::StreamReader;

use crate::{
    connection::MESSAGE_LIMIT_BYTES,
    json::Outline,
    lenient::{is_answer, read, too_long},
    lines::{Line, Lines},
};

/// The events of a response. A response without an id belongs to the request `awaited`.
pub(crate) fn events(
    response: reqwest::Response,
    awaited: Option<RequestId>,
) -> BoxStream<'static, Result<Sse, SseError>> {
    let body = StreamReader::new(response.bytes_stream().map_err(io::Error::other).boxed());
    let events = Events {
        lines: Lines::new(body, b"\r\n"),
        begun: Event::default(),
        ready: VecDeque::new(),
        awaited,
    };
    let events = stream::unfold(Some(events), async |events| {
        let mut events = events?;
        match events.next().await? {
            Ok(event) => Some((Ok(event), Some(events))),
            Err(error) => Some((Err(SseError::Body(Box::new(error))), None)),
        }
    });
    events.boxed()
}

struct Events<R> {
    lines: Lines<R>,
    begun: Event,
    ready: VecDeque<Sse>,
    awaited: Option<RequestId>,
}

/// An incomplete event.
#[derive(Default)]
struct Event {
    name: Option<String>,
    data: Option<Vec<u8>>,
    id: Option<String>,
    retry: Option<u64>,
    /// Set if the data exceed the limit: their outline.
    flood: Option<Outline>,
}

impl<R: AsyncBufRead + Unpin> Events<R> {
    async fn next(&mut self) -> Option<io::Result<Sse>> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Some(Ok(event));
            }
            match self.lines.next().await {
                Ok(Some(Line::Whole(line))) if line.is_empty() => self.end_event(),
                Ok(Some(Line::Whole(line))) => self.begun.push(&line),
                Ok(Some(Line::TooLong(outline))) => self.begun.flood = Some(outline),
                Ok(None) if self.begun.is_empty() => return None,
                Ok(None) => self.end_event(),
                Err(error) => return Some(Err(error)),
            }
        }
    }

    fn end_event(&mut self) {
        if self.begun.is_empty() {
            return;
        }
        let Event {
            name,
            data,
            id,
            retry,
            flood,
        } = std::mem::take(&mut self.begun);
        let mut messages = match (flood, &data) {
            (Some(outline), _) => {
                let answered = outline.answers().or_else(|| self.awaited.clone());
                answered.iter().map(too_long).collect()
            }
            (None, Some(data)) if matches!(name.as_deref(), None | Some("" | "message")) => {
                read(data)
            }
            _ => Vec::new(),
        };
        for message in messages
            .iter_mut()
            .filter(|message| is_answer(message) && message.get("id").is_none())
        {
            message["id"] = json!(self.awaited);
        }
        let mut texts: Vec<Option<String>> = messages
            .iter()
            .map(|message| Some(message.to_string()))
            .collect();
        if texts.is_empty() {
            // Left to the message parser.
            texts.push(data.map(|data| String::from_utf8_lossy(&data).into_owned()));
        }
        let events = texts.into_iter().map(|data| Sse {
            event: name.clone(),
            data,
            id: None,
            retry: None,
        });
        self.ready.extend(events);
        if let Some(last) = self.ready.back_mut() {
            (last.id, last.retry) = (id, retry);
        }
    }
}

impl Event {
    fn is_empty(&self) -> bool {
        let Self {
            name,
            data,
            id,
            retry,
            flood,
        } = self;
        name.is_none() && data.is_none() && id.is_none() && retry.is_none() && flood.is_none()
    }

    fn push(&mut self, line: &[u8]) {
        let colon = line
            .iter()
            .position(|byte| *byte == b':')
            .unwrap_or(line.len());
        let (name, value) = line.split_at(colon);
        let value = value.strip_prefix(b":").unwrap_or(value);
        let value = value.strip_prefix(b" ").unwrap_or(value);
        let text = || String::from_utf8_lossy(value).into_owned();
        match name.strip_prefix("\u{FEFF}".as_bytes()).unwrap_or(name) {
            b"data" => self.push_data(value),
            b"event" => self.name = Some(text()),
            b"id" if !value.contains(&0) => self.id = Some(text()),
            b"retry" => self.retry = text().trim().parse().ok().or(self.retry),
            _ => {}
        }
    }

    fn push_data(&mut self, value: &[u8]) {
        if let Some(outline) = &mut self.flood {
            return outline.read(value);
        }
        let Some(data) = &mut self.data else {
            self.data = Some(value.to_vec());
            return;
        };
        data.push(b'\n');
        data.extend_from_slice(value);
        if data.len() > MESSAGE_LIMIT_BYTES {
            let mut outline = Outline::default();
            outline.read(data);
            (self.flood, self.data) = (Some(outline), None);
        }
    }
}
