//! A call of a server's tool: its progress, its result, and its cancellation on the server.

use std::{pin::Pin, time::Duration};

use rmcp::{
    RoleClient,
    model::{CallToolRequest, CallToolRequestParams, ClientRequest, PingRequest, ServerResult},
    service::{PeerRequestOptions, RequestHandle, ServiceError},
};
use serde_json::{Map, Value};
use tokio::{
    sync::mpsc,
    time::{Instant, Sleep, sleep, timeout},
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{
    connection::{Link, plain},
    faults,
    handler::{ForCall, OpenCall, OpenCalls, Question},
    lenient::UNREADABLE,
    result::{self, Answer},
    words::line,
};

/// Capacity of the queue of events.
const EVENT_CAPACITY: usize = 32;
/// Timeout for the cancellation notice to the server.
const CANCEL_TIMEOUT: Duration = Duration::from_secs(5);

/// Why a call has no result, as a sentence for the model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// The tool reports an error, in its own words.
    #[error("{}", .0.text())]
    Failed(Answer),
    /// The server did not run the tool.
    #[error("The server refused the call: {0}")]
    Refused(String),
    /// The server was silent for too long.
    #[error("The server was silent for {0} seconds, so the call was given up.")]
    TimedOut(u64),
    /// The server is not there.
    #[error("The server {0} is not connected now. Go on without it.")]
    NotConnected(String),
    /// The server does not, or no longer, accept the person's sign-in. Nothing was done.
    #[error(
        "The server wants the person to sign in first: in Glasshouse, Settings → Tool permissions and sign-ins. Tell them so, and go on without it."
    )]
    SignInWanted,
    /// The connection broke during the call.
    #[error(
        "The connection to the server was lost during the call, so it is not known whether it was done. Find out before \
         you call it again."
    )]
    Lost,
    /// The answer cannot be read.
    #[error(
        "The server's answer cannot be read: {0}. It is not known whether the call was done: find out before you call it \
         again."
    )]
    Unreadable(String),
    /// The answer is no result.
    #[error("The server answered with something that is no result.")]
    NoResult,
}

/// An event of a running call.
#[derive(Debug)]
pub enum CallEvent {
    /// Progress, as a line for people.
    Progress(String),
    /// The server asks the person a question and waits. The time until [`Call::next`] is called again is not counted.
    Asks(Question),
    /// It has ended.
    Ended(Result<Answer, CallError>),
}

/// A call that was sent. Dropping it before its end cancels it on the server.
pub struct Call {
    handle: Option<RequestHandle<RoleClient>>,
    events: mpsc::Receiver<ForCall>,
    calls: OpenCalls,
    silence: Duration,
    timer: Pin<Box<Sleep>>,
    /// Whether a question was just returned.
    asked: bool,
    tasks: TaskTracker,
    /// Cancelled when the connection has ended.
    ended: CancellationToken,
}

impl Call {
    /// Sends the call. `asker` identifies its owner: see [`crate::Server::call`].
    pub(crate) async fn send(
        link: &Link,
        tool: &str,
        arguments: Map<String, Value>,
        asker: String,
        silence: Duration,
        tasks: TaskTracker,
    ) -> Result<Self, CallError> {
        let params = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        let request = CallToolRequest::new(params);
        let calls = link.handler.calls.clone();
        let (sender, events) = mpsc::channel(EVENT_CAPACITY);
        let entering = calls.entering.lock().await;
        let sent = link.peer.send_request_with_option(
            ClientRequest::CallToolRequest(request),
            PeerRequestOptions::no_options(),
        );
        let handle = sent.await.map_err(|error| lost(&error))?;
        let token = handle.progress_token.clone();
        calls.enter(
            handle.id.clone(),
            OpenCall {
                token,
                asker,
                events: sender,
            },
        );
        drop(entering);
        let handle = Some(handle);
        let timer = Box::pin(sleep(silence));
        let ended = link.handler.ended.clone();
        Ok(Self {
            handle,
            events,
            calls,
            silence,
            timer,
            asked: false,
            tasks,
            ended,
        })
    }

    /// Waits for the next event. There are none after [`CallEvent::Ended`].
    pub async fn next(&mut self) -> CallEvent {
        if std::mem::take(&mut self.asked) {
            self.timer.as_mut().reset(Instant::now() + self.silence);
        }
        let Some(handle) = &mut self.handle else {
            return CallEvent::Ended(Err(CallError::NoResult));
        };
        let ended = tokio::select! {
            biased;
            Some(events) = self.events.recv() => {
                self.timer.as_mut().reset(Instant::now() + self.silence);
                return match events {
                    ForCall::Progress(words) => CallEvent::Progress(words),
                    ForCall::Asks(question) => {
                        self.asked = true;
                        CallEvent::Asks(question)
                    }
                };
            }
            answer = &mut handle.rx => self.read(answer.unwrap_or(Err(ServiceError::TransportClosed))),
            () = &mut self.timer => {
                self.give_up("It took too long.");
                Err(CallError::TimedOut(self.silence.as_secs()))
            }
        };
        CallEvent::Ended(ended)
    }

    fn read(&mut self, answer: Result<ServerResult, ServiceError>) -> Result<Answer, CallError> {
        if let Some(handle) = self.handle.take() {
            self.calls.leave(&handle.id);
        }
        match answer {
            Ok(result) => result::read(&plain(result)),
            Err(ServiceError::McpError(error)) if error.code == UNREADABLE => {
                Err(CallError::Unreadable(error.message.into_owned()))
            }
            Err(ServiceError::McpError(error)) => {
                Err(CallError::Refused(line(&error.message, 2_000)))
            }
            Err(ServiceError::UnexpectedResponse) => Err(CallError::NoResult),
            Err(error) => Err(lost(&error)),
        }
    }

    /// Cancels the call on the server.
    fn give_up(&mut self, reason: &str) {
        let Some(handle) = self.handle.take() else {
            return;
        };
        let given_up = self.calls.give_up(&handle.id);
        let reason = Some(reason.to_owned());
        let ended = self.ended.clone();
        let tell = async move {
            let peer = handle.peer.clone();
            let _ = timeout(CANCEL_TIMEOUT, handle.cancel(reason)).await;
            // A server that answers this has read the cancellation.
            let _ = peer
                .send_request(ClientRequest::PingRequest(PingRequest::default()))
                .await;
            drop(given_up);
        };
        // If the program is just ending, so is the connection.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            self.tasks.spawn_on(
                async move { ended.run_until_cancelled(tell).await },
                &runtime,
            );
        }
    }
}

fn lost(error: &ServiceError) -> CallError {
    if faults::is_sign_in(error) {
        CallError::SignInWanted
    } else {
        CallError::Lost
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        self.give_up("The run was stopped.");
    }
}
