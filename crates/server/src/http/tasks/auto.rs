//! `POST /tasks/auto/completions`: completes a text, whole or streamed.

use std::{convert::Infallible, sync::Arc};

use agent::pipelines::{
    Pipeline, Said, continuation, continued_so_far, read_completion, text_to_continue,
};
use axum::{body::Body, extract::State, response::Response};
use domain::RunId;
use futures_util::{Stream, StreamExt, stream};
use provider::openai::ChunkEncoder;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use wire::{
    gateway::Used,
    openai::{ErrorObject, usage::priced_usage_value},
};

use super::{Task, TaskRequest};
use crate::{
    app::App,
    error::ApiError,
    http::{extract::Json, streams::event_stream},
    identity::auth::Caller,
    messages,
    pipelines::cannot_continue,
};

/// `POST /tasks/auto/completions`. Cancelled if the client disconnects.
pub(crate) async fn complete(
    State(app): State<Arc<App>>,
    caller: Caller,
    Json(request): Json<TaskRequest>,
) -> Result<Response, ApiError> {
    let task = Task::begin(app, caller, &request, Pipeline::Autocomplete).await?;
    if !task.set.enabled {
        return Err(ApiError::invalid(messages::Settings::AutocompletionIsOff));
    }
    let written = request.prompt().unwrap_or_default();
    if written.trim().is_empty() {
        let problem = "`prompt` has to be the text that goes on.";
        return Err(ApiError::invalid(problem).with_field(Some("prompt")));
    }
    let most = task.set.common.input_max_length;
    if usize::try_from(most).is_ok_and(|most| written.chars().count() > most) {
        return Err(ApiError::invalid(messages::Settings::TooLongToComplete {
            limit: most as u64,
        }));
    }
    let said = request.said_before();
    let kind = request.kind.unwrap_or_else(|| "General".to_owned());
    let going_on = GoingOn {
        task,
        said,
        written,
        kind,
    };
    if request.stream {
        return streamed(going_on).await;
    }
    let (text, used) = going_on.ask(None).await?;
    Ok(going_on.task.answer(&json!({"text": text}), used))
}

/// Called with the text so far.
type Reader<'a> = &'a mut (dyn FnMut(&str) + Send);

/// A text to complete.
struct GoingOn {
    task: Task,
    said: Vec<Said>,
    written: String,
    kind: String,
}

impl GoingOn {
    async fn ask(&self, reader: Option<Reader<'_>>) -> Result<(String, Used), ApiError> {
        if let Some(answer) = self.continued(reader).await? {
            return Ok(answer);
        }
        let read = |text: &str| read_completion(text, &self.written).map_err(|fault| (fault, None));
        let (text, used) = self
            .task
            .ask(
                &self.said,
                Some(&self.written),
                &self.kind,
                read,
                String::clone,
            )
            .await?;
        Ok((text.unwrap_or_default(), used))
    }

    /// Uses the model's raw text completion, which is faster than a chat request. `None` if an administrator has set a
    /// prompt, or the model's server does not support it.
    async fn continued(
        &self,
        mut reader: Option<Reader<'_>>,
    ) -> Result<Option<(String, Used)>, ApiError> {
        let Task {
            app, model, set, ..
        } = &self.task;
        let Some(continuing) = app
            .pipelines
            .continuing_model(model)
            .filter(|_| set.is_default)
        else {
            return Ok(None);
        };
        let read = |text: &str| continuation(text, &self.written);
        let text = text_to_continue(&self.said, &self.written);
        let reads_along = reader.is_some();
        let mut is_heard = false;
        let heard = |said: &str| {
            is_heard = true;
            if let Some(reader) = &mut reader {
                reader(said);
            }
        };
        let job = self.task.job(continuing);
        let answered = app
            .pipelines
            .continue_pipeline(&job, text, reads_along, heard, read)
            .await;
        match answered {
            Ok(answered) => Ok(Some((answered.read.unwrap_or_default(), answered.used))),
            // A failure in the middle does not mean that it is unsupported.
            Err(error) if cannot_continue(&error) && !is_heard => {
                app.pipelines.note_cannot_continue(&model.model_id);
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }
}

/// The progress of a completion.
enum News {
    /// The text so far, which is final.
    SoFar(String),
    End(Result<(String, Used), ApiError>),
}

/// The chunks of a chat completion whose contents add up to the JSON. An error before the first one is an error
/// response.
async fn streamed(going_on: GoingOn) -> Result<Response, ApiError> {
    let at = going_on.task.app.clock.now_ms();
    let id = format!("chatcmpl-{}", RunId::generate());
    let mut writer = Writer::new(ChunkEncoder::new(&id, at / 1000, &going_on.task.named));
    let mut news = Box::pin(news(going_on));
    match news.next().await {
        Some(News::End(Err(error))) => Err(error),
        Some(first) => {
            let body = stream::iter([first])
                .chain(news)
                .map(move |news| Ok::<_, Infallible>(writer.write(news)));
            Ok(event_stream(Body::from_stream(body)))
        }
        None => Err(ApiError::internal(
            "a completion has neither come nor failed",
        )),
    }
}

/// Runs the completion while the stream is polled.
fn news(going_on: GoingOn) -> impl Stream<Item = News> + Send {
    let (sender, mut receiver) = mpsc::unbounded_channel();
    let asking = async move {
        let mut shown = 0;
        let mut heard = |said: &str| {
            let so_far = continued_so_far(said, &going_on.written);
            if so_far.len() > shown {
                shown = so_far.len();
                // Fails only if the stream was dropped; then this is not polled again.
                let _ = sender.send(News::SoFar(so_far));
            }
        };
        let end = going_on.ask(Some(&mut heard)).await;
        let _ = sender.send(News::End(end));
    };
    // All output goes through the channel, which keeps the order.
    let asking = stream::once(asking).filter_map(async |()| None);
    stream::select(
        asking,
        stream::poll_fn(move |context| receiver.poll_recv(context)),
    )
}

/// Encodes the events of the stream.
struct Writer {
    chunks: ChunkEncoder,
    /// The text sent so far.
    sent: String,
    is_begun: bool,
}

impl Writer {
    fn new(chunks: ChunkEncoder) -> Self {
        Self {
            chunks,
            sent: String::new(),
            is_begun: false,
        }
    }

    fn write(&mut self, news: News) -> Vec<u8> {
        let mut out = Vec::new();
        match news {
            News::SoFar(text) => self.more(&text, "", &mut out),
            News::End(Ok((text, used))) => {
                self.more(&text, "\"}", &mut out);
                sse::write_data(&self.chunks.finish("stop"), &mut out);
                let usage = priced_usage_value(used.usage, used.cost_micro_usd);
                sse::write_data(&self.chunks.usage_with(&usage), &mut out);
                sse::write_data("[DONE]", &mut out);
            }
            News::End(Err(error)) => {
                let problem = error.problem();
                let object = ErrorObject::new(problem.code, &problem.message, None).to_json();
                sse::write_data(&object.to_string(), &mut out);
                sse::write_data("[DONE]", &mut out);
            }
        }
        out
    }

    /// Encodes the new part of the text as a part of the JSON string, and `end`.
    fn more(&mut self, text: &str, end: &str, out: &mut Vec<u8>) {
        let mut content = String::new();
        if !std::mem::replace(&mut self.is_begun, true) {
            sse::write_data(&self.chunks.role(), out);
            content.push_str("{\"text\":\"");
        }
        if let Some(new) = text.strip_prefix(self.sent.as_str()) {
            let quoted = Value::from(new).to_string();
            content.push_str(&quoted[1..quoted.len() - 1]);
            self.sent.push_str(new);
        }
        content.push_str(end);
        sse::write_data(&self.chunks.content(&content), out);
    }
}
