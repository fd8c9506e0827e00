//! One call of the `ask` tool: starts a run in a chat of the caller, reports its progress, and returns its result.

use agent::RunSpec;
use std::{collections::BTreeMap, sync::Arc, time::Duration};

use domain::{
    ChatId, EventBody, MessageId, Outcome, Part, RunEvent, RunId, RunSummary,
    event::{InputMode, ReceivedInput},
};
use rmcp::{
    RoleServer,
    model::{CallToolResult, ContentBlock},
    service::RequestContext,
};
use run_registry::{ReadError, note_ask};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::{Instant, MissedTickBehavior};

use super::{asks::Asking, files, progress::Progress};
use crate::{
    app::App, chat::turns::NewMessage, error::ApiError, gateway::work_mode::WorkMode,
    http::threads, identity::auth::Caller, runtime::commands::Command,
};

/// Maximum length of a chat's name, characters.
pub(super) const CHAT_LIMIT_CHARS: usize = 200;
/// Minimum interval between two reads of the log.
const GATHER: Duration = Duration::from_millis(100);
/// Clients time out a request without progress; most after a minute.
const PULSE: Duration = Duration::from_secs(15);
/// Maximum number of files that the result links to; its structured content has all of them.
const FILES_LINKED: usize = 20;

#[derive(Debug, Deserialize)]
struct Wanted {
    message: String,
    chat: Option<String>,
    model: Option<String>,
    #[serde(default)]
    mode: WorkMode,
}

/// Runs the agent until it has answered. Errors are tool results too, so that the calling model sees them. `note` gets
/// the chat.
pub(super) async fn answer(
    app: &Arc<App>,
    caller: &Caller,
    arguments: Value,
    context: &RequestContext<RoleServer>,
    note: impl FnOnce(ChatId) + Send,
) -> CallToolResult {
    match begin(app, caller, arguments).await {
        Ok(followed) => {
            note(followed.chat);
            follow(app, followed, context).await
        }
        Err(error) => refused(&error.problem().message),
    }
}

/// The run that a call waits for.
#[derive(Debug, Clone, Copy)]
struct Followed {
    chat: ChatId,
    run: RunId,
    /// Whether the call has started it, rather than added a message to it.
    is_own: bool,
}

async fn begin(app: &App, caller: &Caller, arguments: Value) -> Result<Followed, ApiError> {
    let wanted: Wanted = serde_json::from_value(arguments)
        .map_err(|error| ApiError::invalid(format!("The arguments do not fit: {error}.")))?;
    if wanted.message.trim().is_empty() {
        return Err(ApiError::invalid(
            "`message` is empty. Say what the agent is to do.",
        ));
    }
    let model = app
        .gateway
        .resolve_for(caller, wanted.model.as_deref())
        .await?;
    let chat = match &wanted.chat {
        Some(name) if name.is_empty() || name.chars().count() > CHAT_LIMIT_CHARS => {
            return Err(ApiError::invalid(format!(
                "`chat` has 1 to {CHAT_LIMIT_CHARS} characters."
            )));
        }
        Some(name) => threads::find_or_make(app, caller, name).await?,
        None => threads::make(app, caller, ChatId::generate()).await?,
    };
    if let Some(run) = app.commands.going_in(chat.id).await?.first() {
        let input = ReceivedInput {
            input_id: MessageId::generate().to_string(),
            mode: InputMode::Steer,
            agent: None,
            by: caller.as_author(true),
            content: wanted.message,
        };
        app.commands.tell(*run, Command::Input { input }).await?;
        return Ok(Followed {
            chat: chat.id,
            run: *run,
            is_own: false,
        });
    }
    let content = vec![Part::Text {
        text: wanted.message,
    }];
    let spec = RunSpec {
        research: wanted.mode.research(false),
        ..RunSpec::default()
    };
    let new = NewMessage {
        parent: chat.current,
        content,
        idempotency: None,
        schedule: None,
        author: None,
        queued: None,
        spec,
    };
    let id = chat.id;
    Ok(Followed {
        chat: id,
        run: app.turns.say(chat, new, model).await?.run,
        is_own: true,
    })
}

async fn follow(
    app: &Arc<App>,
    followed: Followed,
    context: &RequestContext<RoleServer>,
) -> CallToolResult {
    let Followed { chat, run, .. } = followed;
    let mut waiting = Vec::new();
    let mut reader = app.runs.read(run, 0).gathering(GATHER);
    let mut progress = Progress::of(context, &app.config.now());
    let mut asking = Asking::of(context);
    let mut so_far = SoFar {
        chat,
        run,
        summary: RunSummary::default(),
        files: BTreeMap::new(),
    };
    let mut pulse = tokio::time::interval_at(Instant::now() + PULSE, PULSE);
    pulse.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            biased;
            () = context.ct.cancelled() => return left(app, followed).await,
            events = reader.next() => match events {
                Ok(Some(events)) => for logged in events {
                    so_far.push(&logged.event);
                    note_ask(&mut waiting, &logged);
                    progress.push(&logged.event).await;
                },
                Ok(None) => return so_far.result(),
                Err(ReadError::Stopping | ReadError::LostLease) => return goes_on(chat),
                Err(error) => return refused(&ApiError::from(error).problem().message),
            },
            answered = asking.answered() => if let Some(unfit) = answered.bring(app, run, &waiting).await {
                asking.ask_again(unfit);
            },
            _ = pulse.tick() => progress.still().await,
        }
        asking.turn_to(&waiting).await;
    }
}

/// The client cancelled the call, which stops the run that it has started, or the server is stopping, and then the run
/// continues afterwards.
async fn left(app: &App, followed: Followed) -> CallToolResult {
    let Followed { chat, run, is_own } = followed;
    if !is_own {
        return refused(&format!("The run goes on, in {chat}."));
    }
    if app.stopping.is_cancelled() {
        return goes_on(chat);
    }
    match app.commands.stop(run).await {
        Ok(()) => refused("The run was stopped."),
        Err(error) => refused(&error.problem().message),
    }
}

fn goes_on(chat: ChatId) -> CallToolResult {
    refused(&format!(
        "Glasshouse is being stopped. The run goes on afterwards, in {chat}."
    ))
}

fn refused(message: &str) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(message)])
}

/// The state of the run so far.
struct SoFar {
    chat: ChatId,
    run: RunId,
    summary: RunSummary,
    /// The size of each file that it has written, by path.
    files: BTreeMap<String, u64>,
}

impl SoFar {
    fn push(&mut self, event: &RunEvent) {
        self.summary.push(event);
        match &event.body {
            EventBody::FileChanged {
                path,
                deleted: true,
                ..
            } => _ = self.files.remove(path),
            EventBody::FileChanged {
                path, size_bytes, ..
            } => {
                self.files.insert(path.clone(), *size_bytes);
            }
            _ => {}
        }
    }

    fn result(self) -> CallToolResult {
        let Self {
            chat,
            run,
            summary,
            files,
        } = self;
        let outcome = summary.outcome.unwrap_or(Outcome::Failed);
        let problem = summary.problem.map(|problem| problem.message);
        let mut text = summary.answer.clone();
        if let Some(problem) = &problem {
            text = format!("{text}\n\n{problem}").trim_start().to_owned();
        }
        let links = files
            .iter()
            .take(FILES_LINKED)
            .map(|(path, size)| files::resource(chat, path, *size));
        let content =
            std::iter::once(ContentBlock::text(text)).chain(links.map(ContentBlock::resource_link));
        let content = content.collect();
        let mut result = match outcome {
            Outcome::Completed | Outcome::Limited | Outcome::HandedOver => {
                CallToolResult::success(content)
            }
            Outcome::Cancelled | Outcome::Failed => CallToolResult::error(content),
        };
        let file = |(path, size): (&String, &u64)| json!({"path": path, "uri": files::uri(chat, path), "size_bytes": size});
        let mut structure = json!({
            "answer": summary.answer,
            "run": run,
            "chat": chat,
            "outcome": outcome,
            "usage": summary.usage,
            "files": files.iter().map(file).collect::<Vec<_>>(),
        });
        if let Some(problem) = problem {
            structure["problem"] = problem.into();
        }
        result.structured_content = Some(structure);
        result
    }
}
