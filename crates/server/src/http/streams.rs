//! Streams a run's log to readers: server-sent events and WebSocket, in any format.

mod files;
mod heartbeat;
mod pausing;

use std::{convert::Infallible, time::Duration};

use axum::{
    body::Body,
    extract::ws::{CloseFrame, Message, WebSocket, close_code},
    http::{HeaderValue, header},
    response::Response,
};
use bytes::Bytes;
use domain::{EventBody, Problem, RunEvent, RunId};
use futures_util::stream;
use llm::IdleTimer;
use run_registry::{Logged, ReadError, Reader};
use schemars::JsonSchema;
use serde::Serialize;
use sse::{Frame, KEEP_ALIVE};
use store::StoreError;
use tokio::time::Instant;
use wire::{
    ag_ui::{AgUiEncoder, ClientRun},
    chat_stream::{ChatStreamEncoder, ChatStreamOptions},
    debug_events::DebugEvent,
    details::DetailsEncoder,
    markup::{MarkupEncoder, Writing},
    openai::{CompletionEncoder, CompletionOptions, ErrorObject},
    responses::{ResponseEncoder, ResponseOptions},
    tool_calls::ToolCallsEncoder,
    ui_message_stream::UiMessageEncoder,
};

pub(crate) use self::files::for_reader;
pub use self::{
    files::{Contents, RunFiles},
    heartbeat::{Heartbeat, send_only},
    pausing::{Pausing, pausing, whole},
};
use crate::error::ApiError;

/// After this much silence, a comment keeps the connection alive.
pub const KEEP_ALIVE_AFTER: Duration = Duration::from_secs(15);
/// How long an encoder may hold back output that the reader should see soon.
const HELD_BACK_FOR: Duration = Duration::from_millis(100);

/// The format of a log for a reader.
pub enum Format {
    /// The stored events.
    Native(Native),
    /// The frames of `POST /chat/stream`.
    Chat(Box<ChatStreamEncoder>),
    /// The chunks of `POST /v1/chat/completions`.
    OpenAi(Box<CompletionEncoder>),
    /// The events of `POST /v1/responses`.
    Responses(Box<ResponseEncoder>),
    /// Flat frames around tool calls.
    ToolCalls(Box<ToolCallsEncoder>),
    /// One text with collapsible steps.
    Markup(Box<MarkupEncoder>),
    /// One text with an element for each tool call.
    Details(Box<DetailsEncoder>),
    /// AG-UI's events, as one run.
    AgUi(Box<AgUiEncoder>),
    /// The parts of the AI SDK.
    UiMessages(Box<UiMessageEncoder>),
    /// Debug events.
    Debug {
        /// Includes messages and the requests to models, if they are still in memory.
        with_details: bool,
    },
}

/// The options in addition to the format's name.
#[derive(Debug, Clone, Copy, Default)]
pub struct FormatOptions {
    /// For the stored events.
    pub native: Native,
    /// For the chat format.
    pub chat: ChatStreamOptions,
    /// For the formats that are one text.
    pub writing: Writing,
    /// Whether the run is the reader's own, and not only shared with them.
    pub is_own: bool,
}

/// The stored events, with long results cut on request.
#[derive(Debug, Clone, Copy, Default)]
pub struct Native {
    /// Tool results longer than this many bytes are cut and marked; `GET /runs/{run}/calls/{call}` returns the complete
    /// result.
    pub preview_bytes: Option<usize>,
}

impl Format {
    /// The format for `?format=`.
    ///
    /// # Errors
    /// 400 if there is no format with this name.
    pub fn named(name: &str, options: FormatOptions) -> Result<Self, ApiError> {
        Ok(match name {
            "native" => Self::Native(options.native),
            "chat" => Self::Chat(Box::new(ChatStreamEncoder::new(options.chat))),
            "openai" => Self::OpenAi(Box::new(CompletionEncoder::new(
                CompletionOptions::watching(),
            ))),
            "responses" => {
                Self::Responses(Box::new(ResponseEncoder::new(ResponseOptions::watching())))
            }
            "tool_calls" => Self::ToolCalls(Box::default()),
            "markup" => Self::Markup(Box::new(MarkupEncoder::new(options.writing))),
            "details" => Self::Details(Box::new(DetailsEncoder::new(options.writing))),
            "ag_ui" => Self::AgUi(Box::new(AgUiEncoder::new(ClientRun::watching()))),
            "ui_message_stream" => Self::UiMessages(Box::default()),
            "debug" => Self::Debug {
                with_details: options.is_own,
            },
            other => {
                let other: String = other.chars().take(40).collect();
                return Err(ApiError::invalid(format!(
                    "There is no format “{other}”. There are: native, chat, openai, responses, tool_calls, \
                     markup, details, ag_ui, ui_message_stream, debug."
                )));
            }
        })
    }

    /// Updates the encoder with an event that the reader already has.
    pub fn prime(&mut self, event: &RunEvent) {
        match self {
            Self::Native(_) | Self::Debug { .. } => {}
            Self::Chat(encoder) => encoder.prime(event),
            Self::OpenAi(encoder) => encoder.prime(event),
            Self::Responses(encoder) => encoder.prime(event),
            Self::ToolCalls(encoder) => encoder.prime(event),
            Self::Markup(encoder) => encoder.prime(event),
            Self::Details(encoder) => encoder.prime(event),
            Self::AgUi(encoder) => encoder.prime(event),
            Self::UiMessages(encoder) => encoder.prime(event),
        }
    }

    /// Whether readers of this format have no other access to the chat's files.
    fn is_for_outside(&self) -> bool {
        !matches!(self, Self::Native(_) | Self::Debug { .. })
    }

    /// Whether readers of this format need the content of pictures and HTML inline.
    #[must_use]
    pub fn contents(&self) -> Contents {
        match self {
            Self::Details(_) => Contents::Inline,
            Self::OpenAi(encoder) if encoder.shows_work() => Contents::Inline,
            _ => Contents::Linked,
        }
    }

    /// Encodes an event; `event` is the reader's version of it.
    fn write(&mut self, logged: &Logged, event: &RunEvent, out: &mut Vec<u8>) {
        let frames = match self {
            Self::Native(native) => return native.write(logged, out),
            Self::Chat(encoder) => encoder.push(event),
            Self::OpenAi(encoder) => encoder.push(event),
            Self::Responses(encoder) => encoder.push(event),
            Self::ToolCalls(encoder) => encoder.push(event),
            Self::Markup(encoder) => encoder.push(event),
            Self::Details(encoder) => encoder.push(event),
            Self::AgUi(encoder) => encoder.push(event),
            Self::UiMessages(encoder) => encoder.push(event),
            Self::Debug { with_details } => {
                let detail = logged.detail.as_deref().filter(|_| *with_details);
                DebugEvent::of(event, detail)
                    .map(debug_frame(event.seq))
                    .into_iter()
                    .collect()
            }
        };
        frames.iter().for_each(|frame| frame.write(out));
    }

    /// After how much silence the reader gets held-back output or, if there is none, a comment.
    fn after_silence(&self) -> Duration {
        match self {
            Self::OpenAi(encoder) if encoder.holds_back() => HELD_BACK_FOR,
            _ => KEEP_ALIVE_AFTER,
        }
    }

    fn sign_of_life(&mut self) -> Bytes {
        let held_back = match self {
            Self::OpenAi(encoder) => encoder.flush(),
            _ => None,
        };
        let Some(frame) = held_back else {
            return Bytes::from_static(KEEP_ALIVE.as_bytes());
        };
        let mut out = Vec::new();
        frame.write(&mut out);
        out.into()
    }

    /// The final frames of a stream that ends before its run does. If it can be read on elsewhere or later, only for formats
    /// whose clients would take the end for that of the run; if the log is damaged, always.
    fn broken_off(&self, error: ReadError) -> Option<Bytes> {
        let is_damaged = matches!(error, ReadError::Store(StoreError::Corrupt(_)));
        let goes_on = goes_on(&error);
        let error = ApiError::of_log(error);
        let message = match is_damaged {
            true => &error.problem().message,
            false => goes_on,
        };
        let frames = match self {
            Self::Responses(encoder) => vec![encoder.broken_off(message)],
            Self::AgUi(encoder) => encoder.fault(message),
            Self::UiMessages(encoder) => vec![encoder.fault(message)],
            Self::OpenAi(_) => {
                let Problem { code, message, .. } = error.problem();
                let data = ErrorObject::new(*code, message, None).to_json().to_string();
                vec![Frame {
                    id: None,
                    event: None,
                    data,
                }]
            }
            // Their clients read on after the last event that they have.
            _ if !is_damaged => return None,
            _ => vec![Frame {
                id: None,
                event: Some("problem"),
                data: error.body().to_string(),
            }],
        };
        let mut out = Vec::new();
        frames.iter().for_each(|frame| frame.write(&mut out));
        Some(out.into())
    }
}

/// What a client is told whose stream ends before its run does.
fn goes_on(error: &ReadError) -> &'static str {
    match error {
        ReadError::Stopping => "This server is stopping. The run goes on; come back to it.",
        ReadError::LostLease => {
            "This server has lost the connection to its database. The run goes on; come back to it."
        }
        ReadError::Store(_) => "The database did not answer. The run goes on; come back to it.",
    }
}

fn debug_frame(seq: u64) -> impl Fn(DebugEvent) -> Frame {
    // Plain data can always be serialized.
    move |event| Frame {
        id: Some(seq),
        event: None,
        data: serde_json::to_string(&event).unwrap_or_default(),
    }
}

/// An event of the log, as its stream has it.
#[derive(Serialize, JsonSchema)]
pub(super) struct StreamedEvent {
    #[serde(flatten)]
    event: RunEvent,
    /// `true` if the result is cut to the `preview` of the query.
    #[serde(skip_serializing_if = "Option::is_none")]
    preview: Option<bool>,
}

impl Native {
    fn write(self, logged: &Logged, out: &mut Vec<u8>) {
        match self.preview(&logged.event) {
            Some(data) => Frame {
                id: Some(logged.event.seq),
                event: None,
                data,
            }
            .write(out),
            None => {
                // The stored bytes are sent unchanged: the JSON has no line feeds.
                out.extend_from_slice(format!("id: {}\ndata: ", logged.event.seq).as_bytes());
                out.extend_from_slice(&logged.json);
                out.extend_from_slice(b"\n\n");
            }
        }
    }

    /// The event with a truncated result, if the result is too long for this reader.
    fn preview(self, event: &RunEvent) -> Option<String> {
        let limit = self.preview_bytes?;
        let EventBody::ToolFinished { result, .. } = &event.body else {
            return None;
        };
        if result.len() <= limit {
            return None;
        }
        let mut end = limit;
        while !result.is_char_boundary(end) {
            end -= 1;
        }
        let mut event = event.clone();
        if let EventBody::ToolFinished { result, .. } = &mut event.body {
            result.truncate(end);
        }
        let preview = Some(true);
        serde_json::to_string(&StreamedEvent { event, preview }).ok()
    }
}

/// The state of a stream of server-sent events.
struct Sse {
    reader: Reader,
    format: Format,
    files: Option<RunFiles>,
    silence: IdleTimer,
    over: bool,
}

/// Streams a log to its end as server-sent events. Events that arrive together are one write. `files` adds links to the
/// run's files for external readers.
#[must_use]
pub fn sse(reader: Reader, format: Format, files: Option<RunFiles>) -> Response {
    let silence = IdleTimer::new(Instant::now() + format.after_silence());
    let files = files.filter(|_| format.is_for_outside());
    let started = Sse {
        reader,
        format,
        files,
        silence,
        over: false,
    };
    let body = stream::unfold(started, |mut sse| async move {
        let chunk = sse.next().await?;
        Some((Ok::<_, Infallible>(chunk), sse))
    });
    event_stream(Body::from_stream(body))
}

/// Adds the run's id as `x-run-id`.
#[must_use]
pub fn from_run(run: RunId, mut response: Response) -> Response {
    if let Ok(id) = HeaderValue::from_str(&run.to_string()) {
        response.headers_mut().insert("x-run-id", id);
    }
    response
}

/// A response with server-sent events.
#[must_use]
pub fn event_stream(body: Body) -> Response {
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("text/event-stream"),
    );
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

impl Sse {
    async fn write(&mut self, logged: &Logged, out: &mut Vec<u8>) {
        if let Some(event) = for_reader(self.files.as_mut(), &logged.event).await {
            self.format.write(logged, &event, out);
        }
    }

    async fn next(&mut self) -> Option<Bytes> {
        while !self.over {
            self.silence
                .set(Instant::now() + self.format.after_silence());
            let events = tokio::select! {
                biased;
                events = self.reader.next() => events,
                () = self.silence.expired() => return Some(self.format.sign_of_life()),
            };
            match events {
                Ok(Some(events)) => {
                    let mut out =
                        Vec::with_capacity(events.iter().map(|event| event.json.len() + 16).sum());
                    for logged in &events {
                        self.write(logged, &mut out).await;
                    }
                    // A format may encode some events to nothing.
                    if !out.is_empty() {
                        return Some(out.into());
                    }
                }
                Ok(None) => self.over = true,
                Err(error) => {
                    note_broken_off(&error);
                    self.over = true;
                    return self.format.broken_off(error);
                }
            }
        }
        None
    }
}

/// Logs why a stream ends before its run does, unless the server's own lines say so.
pub(super) fn note_broken_off(error: &ReadError) {
    match error {
        ReadError::Store(error) => tracing::warn!(%error, "failed to read the log of a stream"),
        error => tracing::debug!(%error, "ended a stream whose run goes on elsewhere"),
    }
}

/// Streams a log over a WebSocket, one stored event per text message, and closes it properly.
pub async fn web_socket(mut reader: Reader, native: Native, mut socket: WebSocket) {
    let mut heartbeat = Heartbeat::begin();
    loop {
        tokio::select! {
            events = reader.next() => match events {
                Ok(Some(events)) => {
                    for logged in events {
                        let json = native.preview(&logged.event);
                        let json = json.unwrap_or_else(|| String::from_utf8_lossy(&logged.json).into_owned());
                        if socket.send(Message::Text(json.into())).await.is_err() {
                            return;
                        }
                    }
                }
                // The client may have disconnected.
                Ok(None) => return drop(socket.send(Message::Close(None)).await),
                Err(error) => {
                    note_broken_off(&error);
                    let code = match error {
                        ReadError::Stopping | ReadError::LostLease => close_code::RESTART,
                        ReadError::Store(_) => close_code::ERROR,
                    };
                    let reason = ApiError::of_log(error).problem().message.clone().into();
                    let frame = CloseFrame { code, reason };
                    return drop(socket.send(Message::Close(Some(frame))).await);
                }
            },
            message = socket.recv() => match message {
                // Messages of readers have no meaning.
                Some(Ok(Message::Close(_)) | Err(_)) | None => return,
                Some(Ok(_)) => heartbeat.heard(),
            },
            is_alive = heartbeat.beat() => {
                if !is_alive || socket.send(Message::Ping(Bytes::new())).await.is_err() {
                    return;
                }
            }
        }
    }
}
