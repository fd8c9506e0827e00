//! Tools that run at the model's provider, shown as calls of the run; this server neither runs them nor sends their
//! results back.

use domain::{EventBody, event::ToolFile};
use llm::ServerTool;
use serde_json::Value;
use tokio::time::Instant;

use crate::{step::millis, turns::AgentContext};

/// Maximum number of calls shown per answer.
const MAX_CALLS: usize = 100;

/// The calls of one answer.
#[derive(Debug, Default)]
pub(crate) struct ServerCalls {
    open: Vec<Call>,
    count: usize,
    /// Pictures of the call that ends next.
    files: Vec<ToolFile>,
}

#[derive(Debug)]
struct Call {
    /// The provider's id.
    id: String,
    call: String,
    name: String,
    arguments: Value,
    since: Instant,
}

impl ServerCalls {
    /// Adds pictures of the call that ends next.
    pub(crate) fn add_files(&mut self, files: Vec<ToolFile>) {
        self.files.extend(files);
    }

    /// Emits an event of a provider tool. Returns the pictures of a call that has ended.
    pub(crate) async fn push(&mut self, agent: &AgentContext, news: ServerTool) -> Vec<ToolFile> {
        match news {
            ServerTool::Started { id, name, input } => {
                self.start(agent, id, name, input).await;
                Vec::new()
            }
            ServerTool::Finished { id, result, error } => {
                // If the provider had paused, the call may be from the previous answer.
                if !self.open.iter().any(|call| call.id == id) && self.open.is_empty() {
                    self.start(agent, id.clone(), "server_tool".to_owned(), Value::Null)
                        .await;
                }
                let at = self
                    .open
                    .iter()
                    .rposition(|call| call.id == id || id.is_empty());
                let files = std::mem::take(&mut self.files);
                if let Some(call) = at.map(|at| self.open.remove(at)) {
                    finish(agent, call, result, error, files.clone()).await;
                }
                files
            }
        }
    }

    async fn start(&mut self, agent: &AgentContext, id: String, name: String, arguments: Value) {
        self.count += 1;
        if self.count > MAX_CALLS {
            return;
        }
        let call = agent.journal.next_item('c');
        let requested = EventBody::ToolRequested {
            call: call.clone(),
            name: name.clone(),
            model_id: None,
            by_provider: true,
        };
        agent.emitter.emit(requested).await;
        let started = EventBody::ToolStarted {
            call: call.clone(),
            name: name.clone(),
            arguments: arguments.clone(),
            repeatable: true,
        };
        agent.emitter.emit(started).await;
        self.open.push(Call {
            id,
            call,
            name,
            arguments,
            since: Instant::now(),
        });
    }

    /// At the end of the answer, the results of calls still open are not known here.
    pub(crate) async fn end(&mut self, agent: &AgentContext) {
        for call in std::mem::take(&mut self.open) {
            finish(agent, call, String::new(), false, Vec::new()).await;
        }
    }
}

async fn finish(
    agent: &AgentContext,
    call: Call,
    result: String,
    error: bool,
    files: Vec<ToolFile>,
) {
    let Call {
        call,
        name,
        arguments,
        since,
        ..
    } = call;
    let finished = EventBody::ToolFinished {
        call,
        name,
        arguments,
        result,
        model_note: None,
        error,
        truncated: false,
        duration_ms: millis(since.elapsed()),
        stopped: false,
        in_doubt: false,
        file: None,
        files,
    };
    agent.emitter.emit(finished).await;
}
