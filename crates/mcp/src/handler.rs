//! Handles messages that a server sends on its own: progress, questions for people, log lines, a changed list.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

#[expect(
    deprecated,
    reason = "servers of the protocol's versions so far send log lines"
)]
use rmcp::model::LoggingMessageNotificationParam;
use rmcp::{
    ClientHandler, RoleClient,
    model::{
        ClientCapabilities, ClientConfig, ElicitRequestParams, ElicitResult, ElicitationAction,
        ElicitationCapability, ErrorData, FormElicitationCapability, Implementation,
        ProgressNotificationParam, ProgressToken, ProtocolVersion, RequestId,
    },
    service::{InboundStreamOrigin, NotificationContext, RequestContext},
};
use serde_json::{Map, Value};
use tokio::sync::{Notify, mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use crate::words::{cut, line};

/// Maximum number of open questions per connection.
const MAX_OPEN_QUESTIONS: usize = 16;
const MESSAGE_LIMIT_CHARS: usize = 2_000;

/// A question of the server for the person whose call it is.
#[derive(Debug)]
pub struct Question {
    /// The message, at most 2,000 characters.
    pub message: String,
    /// The requested fields, a JSON schema of a flat object. Not validated.
    pub schema: Value,
    reply: oneshot::Sender<Reply>,
}

/// The person's answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Reply {
    /// The completed form.
    Accept(Map<String, Value>),
    /// Declined.
    Decline,
    /// The person could not be asked.
    Cancel,
}

impl Question {
    /// Sends the answer to the server.
    pub fn reply(self, reply: Reply) {
        // A server that is gone needs no answer.
        let _ = self.reply.send(reply);
    }

    /// Waits until the server withdraws the question.
    pub async fn withdrawn(&mut self) {
        self.reply.closed().await;
    }
}

/// An event for a call, from the handler.
#[derive(Debug)]
pub(crate) enum ForCall {
    Progress(String),
    Asks(Question),
}

/// A call without a result so far.
pub(crate) struct OpenCall {
    pub(crate) token: ProgressToken,
    /// Its owner: calls with the same asker may receive each other's questions.
    pub(crate) asker: String,
    pub(crate) events: mpsc::Sender<ForCall>,
}

/// The open calls of one connection. Cheap to clone.
#[derive(Clone, Default)]
pub(crate) struct OpenCalls {
    calls: Arc<Mutex<HashMap<RequestId, OpenCall>>>,
    /// The number of cancelled calls that the server may not know of.
    given_up: Arc<AtomicUsize>,
    /// Held while a call is sent and registered, so that its events do not come too early.
    pub(crate) entering: Arc<tokio::sync::Mutex<()>>,
}

/// A cancelled call, until the server has certainly been notified. Until then it may still ask questions for it.
pub(crate) struct GivenUp(OpenCalls);

impl Drop for GivenUp {
    fn drop(&mut self) {
        self.0.given_up.fetch_sub(1, Ordering::Relaxed);
    }
}

impl OpenCalls {
    pub(crate) fn enter(&self, id: RequestId, call: OpenCall) {
        self.lock().insert(id, call);
    }

    pub(crate) fn leave(&self, id: &RequestId) {
        self.lock().remove(id);
    }

    pub(crate) fn give_up(&self, id: &RequestId) -> GivenUp {
        let mut calls = self.lock();
        calls.remove(id);
        self.given_up.fetch_add(1, Ordering::Relaxed);
        GivenUp(self.clone())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }

    /// The recipient of a server's question. Over standard input and output a question names no call: then the
    /// recipient is known only while all calls have one asker, and none was just cancelled.
    fn to_ask(&self, origin: Option<&InboundStreamOrigin>) -> Option<mpsc::Sender<ForCall>> {
        let calls = self.lock();
        if let Some(InboundStreamOrigin::OutboundRequest(id)) = origin {
            return calls.get(id).map(|call| call.events.clone());
        }
        if self.given_up.load(Ordering::Relaxed) > 0 {
            return None;
        }
        let first = calls.values().next()?;
        let same = calls.values().all(|call| call.asker == first.asker);
        same.then(|| first.events.clone())
    }

    fn with_token(&self, token: &ProgressToken) -> Option<mpsc::Sender<ForCall>> {
        self.lock()
            .values()
            .find(|call| call.token == *token)
            .map(|call| call.events.clone())
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<RequestId, OpenCall>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Our side of one connection.
#[derive(Clone)]
pub(crate) struct Handler {
    pub(crate) server: String,
    pub(crate) calls: OpenCalls,
    /// The server reports a changed list of tools.
    pub(crate) changed: Arc<Notify>,
    /// Cancelled when the connection has ended.
    pub(crate) ended: CancellationToken,
    pub(crate) questions: Arc<tokio::sync::Semaphore>,
}

impl Handler {
    pub(crate) fn new(server: &str) -> Self {
        Self {
            server: server.to_owned(),
            calls: OpenCalls::default(),
            changed: Arc::default(),
            ended: CancellationToken::new(),
            questions: Arc::new(tokio::sync::Semaphore::new(MAX_OPEN_QUESTIONS)),
        }
    }

    async fn ask(
        &self,
        message: String,
        schema: Value,
        context: &RequestContext<RoleClient>,
    ) -> Reply {
        let Ok(_place) = self.questions.try_acquire() else {
            return Reply::Cancel;
        };
        drop(self.calls.entering.lock().await);
        let Some(call) = self
            .calls
            .to_ask(context.extensions.get::<InboundStreamOrigin>())
        else {
            tracing::warn!(
                server = self.server,
                "dropped a question of an MCP server: its recipient is ambiguous"
            );
            return Reply::Cancel;
        };
        let (reply, answered) = oneshot::channel();
        let question = Question {
            message: cut(message, MESSAGE_LIMIT_CHARS),
            schema,
            reply,
        };
        let asked = async {
            call.send(ForCall::Asks(question)).await.ok()?;
            answered.await.ok()
        };
        let reply = tokio::select! {
            reply = asked => reply,
            () = context.ct.cancelled() => None,
            () = self.ended.cancelled() => None,
        };
        reply.unwrap_or(Reply::Cancel)
    }
}

impl ClientHandler for Handler {
    fn get_info(&self) -> ClientConfig {
        let mut capabilities = ClientCapabilities::default();
        let forms = ElicitationCapability::new().with_form(FormElicitationCapability::default());
        capabilities.elicitation = Some(forms);
        ClientConfig::new(
            capabilities,
            Implementation::new("glasshouse", env!("CARGO_PKG_VERSION")),
        )
        // The last version with an `initialize` request, which is what we send.
        .with_protocol_version(ProtocolVersion::V_2025_11_25)
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let ElicitRequestParams::FormElicitationParams {
            message,
            requested_schema,
            ..
        } = request
        else {
            // Required by the protocol for a mode that we did not offer.
            let message =
                "Glasshouse shows forms, and sends nobody to an address that a server names.";
            return Err(ErrorData::invalid_params(message, None));
        };
        let schema = serde_json::to_value(requested_schema).unwrap_or_default();
        Ok(match self.ask(message, schema, &context).await {
            Reply::Accept(fields) => {
                ElicitResult::new(ElicitationAction::Accept).with_content(Value::Object(fields))
            }
            Reply::Decline => ElicitResult::new(ElicitationAction::Decline),
            Reply::Cancel => ElicitResult::new(ElicitationAction::Cancel),
        })
    }

    async fn on_progress(
        &self,
        params: ProgressNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        drop(self.calls.entering.lock().await);
        if let Some(call) = self.calls.with_token(&params.progress_token) {
            let said = params
                .message
                .as_deref()
                .map(|message| line(message, 300))
                .unwrap_or_default();
            let words = match params.total {
                Some(total) if said.is_empty() => format!("{} of {total}", params.progress),
                None if said.is_empty() => params.progress.to_string(),
                Some(total) => format!("{said} ({} of {total})", params.progress),
                None => said,
            };
            // Progress beyond the queue's capacity is dropped.
            let _ = call.try_send(ForCall::Progress(words));
        }
    }

    #[expect(
        deprecated,
        reason = "servers of the protocol's versions so far send log lines"
    )]
    async fn on_logging_message(
        &self,
        params: LoggingMessageNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        let said = params
            .data
            .as_str()
            .map_or_else(|| params.data.to_string(), str::to_owned);
        tracing::debug!(server = self.server, level = ?params.level, "{}", line(&said, 1_000));
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.changed.notify_one();
    }
}
