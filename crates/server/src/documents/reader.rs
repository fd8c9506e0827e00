//! A client for external document readers: Apache Tika's server and docling-serve. Their answers are untrusted, and are read in
//! the process that reads files.

use std::time::Duration;

use base64::{Engine, engine::general_purpose::STANDARD};
use bytes::Bytes;
use domain::LocalizedText;
use knowledge::Converter;
use outbound::{Answer, Fault, Limits, Outbound, Request};
use provider::multipart::{self, Form, FormFile};
use reqwest::{
    Method, StatusCode, Url,
    header::{ACCEPT, AUTHORIZATION, CONTENT_DISPOSITION, CONTENT_TYPE, HeaderName},
};
use serde::Deserialize;
use tokio::time::{Instant, sleep_until, timeout_at};

use crate::{
    messages,
    platform::config::{ReaderKind, ReaderSettings},
};

/// Maximum size of an answer, bytes.
const ANSWER_BYTES: usize = 64 << 20;
/// Maximum size of an answer that says how far a conversion is.
const STATUS_BYTES: usize = 1 << 20;
/// How long a request for the state of a conversion waits for its end, seconds, and the shortest time between two of them.
const POLL_SECONDS: u64 = 10;
const POLL_PAUSE: Duration = Duration::from_millis(500);
/// Time for the question whether it is there.
const PROBE_TIME: Duration = Duration::from_secs(5);
/// Maximum length of the name of a version, characters.
const VERSION_CHARS: usize = 100;
/// Maximum length of the id of a conversion, and of what is logged of an error, characters.
const TASK_CHARS: usize = 100;
const ERROR_CHARS: usize = 500;
const API_KEY: HeaderName = HeaderName::from_static("x-api-key");

/// Why a file was not converted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ReaderError {
    /// It may be converted later.
    Later(messages::Knowledge),
    /// Trying again will probably not help.
    Failed(messages::Knowledge),
}

impl ReaderError {
    /// The reason for people.
    pub(super) fn words(self) -> LocalizedText {
        match self {
            Self::Later(words) | Self::Failed(words) => words.into(),
        }
    }
}

/// An external document reader.
pub(super) struct Reader {
    pub(super) settings: ReaderSettings,
    pub(super) outbound: Outbound,
}

/// The state of a conversion by docling-serve.
#[derive(Deserialize)]
struct Task {
    task_id: String,
    task_status: String,
    #[serde(default)]
    error_message: Option<String>,
}

impl Reader {
    pub(super) fn converter(&self) -> Converter {
        match self.settings.kind {
            ReaderKind::Tika => Converter::Tika,
            ReaderKind::Docling => Converter::Docling,
        }
    }

    /// Has a file converted. `ending` is that of its name; the name itself is not passed on.
    pub(super) async fn convert(&self, ending: &str, file: Bytes) -> Result<Bytes, ReaderError> {
        let until = Instant::now() + self.settings.deadline;
        let name = format!("file.{ending}");
        let convert = async {
            match self.settings.kind {
                ReaderKind::Tika => self.tika(&name, file, until).await,
                ReaderKind::Docling => self.docling(&name, &file, until).await,
            }
        };
        timeout_at(until, convert)
            .await
            .unwrap_or_else(|_| Err(self.slow()))
    }

    /// The name and version of the program.
    pub(super) async fn version(&self) -> Result<String, ReaderError> {
        let until = Instant::now() + PROBE_TIME;
        let request = self.request(Method::GET, &["version"], until, STATUS_BYTES);
        let answer = self.send(request).await?;
        let text = String::from_utf8_lossy(&answer.body);
        let version = match self.settings.kind {
            ReaderKind::Tika => text
                .trim()
                .starts_with("Apache Tika")
                .then(|| text.trim().to_owned()),
            ReaderKind::Docling => {
                serde_json::from_str(&text)
                    .ok()
                    .and_then(|it: serde_json::Value| {
                        let version = it.get("docling-serve")?.as_str()?;
                        Some(format!("docling-serve {version}"))
                    })
            }
        };
        let version = version.ok_or(ReaderError::Failed(messages::Knowledge::ReaderOther))?;
        Ok(version
            .chars()
            .filter(|it| !it.is_control())
            .take(VERSION_CHARS)
            .collect())
    }

    async fn tika(&self, name: &str, file: Bytes, until: Instant) -> Result<Bytes, ReaderError> {
        let request = self
            .request(Method::PUT, &["rmeta", "html"], until, ANSWER_BYTES)
            .header(
                CONTENT_DISPOSITION,
                &format!("attachment; filename=\"{}\"", plain(name)),
            )
            .header(ACCEPT, "application/json")
            .body("application/octet-stream", file);
        Ok(self.send(request).await?.body)
    }

    /// Begins a conversion, waits for its end and fetches its result. A single request would end after two minutes.
    async fn docling(&self, name: &str, file: &[u8], until: Instant) -> Result<Bytes, ReaderError> {
        let fields = [
            ("to_formats", "md"),
            // Says which page each item is on.
            ("to_formats", "json"),
            ("image_export_mode", "placeholder"),
            ("include_images", "false"),
        ];
        let Form { content_type, body } = multipart::encode(
            &fields,
            FormFile {
                field: "files",
                name,
                media_type: "application/octet-stream",
                content: file,
            },
        );
        let path = ["v1", "convert", "file", "async"];
        let request = self
            .request(Method::POST, &path, until, STATUS_BYTES)
            .body("multipart/form-data", body)
            .header(CONTENT_TYPE, &content_type);
        let mut task = read_task(&self.send(request).await?)?;
        let id = task.task_id.clone();
        let is_id = (1..=TASK_CHARS).contains(&id.chars().count())
            && id
                .chars()
                .all(|it| it.is_ascii_alphanumeric() || "-_".contains(it));
        if !is_id {
            return Err(ReaderError::Failed(messages::Knowledge::ReaderOther));
        }
        while matches!(task.task_status.as_str(), "pending" | "started") {
            let pause = Instant::now() + POLL_PAUSE;
            let mut request = self.request(
                Method::GET,
                &["v1", "status", "poll", &id],
                until,
                STATUS_BYTES,
            );
            request = request.with_query(&format!("wait={POLL_SECONDS}"));
            task = read_task(&self.send(request).await?)?;
            sleep_until(pause).await;
        }
        if task.task_status == "failure" {
            let error = task.error_message.unwrap_or_default();
            let error: String = error.chars().take(ERROR_CHARS).collect();
            tracing::warn!(error, "the document reader could not convert a file");
            return Err(ReaderError::Failed(messages::Knowledge::ReaderFailed));
        }
        let request = self.request(Method::GET, &["v1", "result", &id], until, ANSWER_BYTES);
        Ok(self.send(request).await?.body)
    }

    fn request(&self, method: Method, path: &[&str], until: Instant, body_bytes: usize) -> Request {
        let limits = Limits {
            time: until.saturating_duration_since(Instant::now()),
            body_bytes,
            hops: 0,
        };
        let request = Request::new(method, self.address(path), limits)
            .chosen(std::slice::from_ref(&self.settings.host));
        let Some(key) = &self.settings.key else {
            return request;
        };
        let key = key.reveal();
        match (self.settings.kind, key.contains(':')) {
            (ReaderKind::Docling, _) => request.header(API_KEY, key),
            (ReaderKind::Tika, false) => request.header(AUTHORIZATION, &format!("Bearer {key}")),
            (ReaderKind::Tika, true) => {
                request.header(AUTHORIZATION, &format!("Basic {}", STANDARD.encode(key)))
            }
        }
    }

    fn address(&self, path: &[&str]) -> Url {
        let mut url = self.settings.url.clone();
        // An http or https URL has segments.
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().extend(path);
        }
        url
    }

    async fn send(&self, request: Request) -> Result<Answer, ReaderError> {
        let answer = self
            .outbound
            .send(request)
            .await
            .map_err(|fault| match fault {
                Fault::Slow => self.slow(),
                Fault::TooLarge => ReaderError::Failed(messages::Knowledge::ReaderAnswerOver {
                    limit: (ANSWER_BYTES >> 20) as u64,
                }),
                Fault::Unreachable | Fault::CutOff => {
                    ReaderError::Later(messages::Knowledge::ReaderUnreachable)
                }
                _ => ReaderError::Failed(messages::Knowledge::ReaderUnreachable),
            })?;
        let status = answer.status;
        if status.is_success() {
            return Ok(answer);
        }
        let error = String::from_utf8_lossy(&answer.body);
        let error: String = error.chars().take(ERROR_CHARS).collect();
        tracing::warn!(%status, error, "the document reader refused a request");
        Err(match status {
            StatusCode::TOO_MANY_REQUESTS
            | StatusCode::BAD_GATEWAY
            | StatusCode::SERVICE_UNAVAILABLE
            | StatusCode::GATEWAY_TIMEOUT => ReaderError::Later(messages::Knowledge::ReaderBusy),
            status => ReaderError::Failed(messages::Knowledge::ReaderRefused {
                status: status.as_u16(),
            }),
        })
    }

    fn slow(&self) -> ReaderError {
        ReaderError::Failed(messages::Knowledge::ReaderSlow {
            seconds: self.settings.deadline.as_secs(),
        })
    }
}

fn read_task(answer: &Answer) -> Result<Task, ReaderError> {
    serde_json::from_slice(&answer.body)
        .map_err(|_| ReaderError::Failed(messages::Knowledge::ReaderOther))
}

/// A file name that a header can contain.
fn plain(name: &str) -> String {
    let is_plain = |char: &char| char.is_ascii_alphanumeric() || ".-_".contains(*char);
    name.chars().filter(is_plain).collect()
}
