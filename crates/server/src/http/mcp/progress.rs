//! Progress notifications for clients that asked for them: one line for each step of the run.

use std::time::Duration;

use domain::{
    EventBody, RunEvent,
    event::{INPUT_READ, RESUMED},
};
use rmcp::{
    Peer, RoleServer,
    model::{ProgressNotificationParam, ProgressToken},
    service::RequestContext,
};

use crate::platform::config::Config;

/// Maximum length of a line, characters.
const LINE_LIMIT_CHARS: usize = 300;
/// Timeout for sending one line; a slower client gets no more of them.
const PATIENCE: Duration = Duration::from_secs(5);

/// Sends progress to one client.
pub(super) struct Progress {
    peer: Peer<RoleServer>,
    /// `None` if the client did not ask for progress.
    token: Option<ProgressToken>,
    said: u32,
    line: String,
    /// Where a person answers pending approvals and questions.
    inbox: String,
}

impl Progress {
    pub(super) fn of(context: &RequestContext<RoleServer>, config: &Config) -> Self {
        let inbox = match &config.public_url {
            Some(url) => format!("at {}/inbox", url.base()),
            None => "in Glasshouse, under Inbox".to_owned(),
        };
        let token = context.meta.get_progress_token();
        Self {
            peer: context.peer.clone(),
            token,
            said: 0,
            line: String::new(),
            inbox,
        }
    }

    /// Sends a line for the event, if it has one.
    pub(super) async fn push(&mut self, event: &RunEvent) {
        if let Some(line) = line(event, &self.inbox) {
            self.line = short(&line);
            self.say().await;
        }
    }

    /// Repeats the last line, so that the client does not time out.
    pub(super) async fn still(&mut self) {
        self.say().await;
    }

    async fn say(&mut self) {
        let Some(token) = self.token.clone() else {
            return;
        };
        self.said += 1;
        let mut news = ProgressNotificationParam::new(token, f64::from(self.said));
        news.message = Some(self.line.clone());
        let sent = tokio::time::timeout(PATIENCE, self.peer.notify_progress(news)).await;
        if !matches!(sent, Ok(Ok(()))) {
            self.token = None;
        }
    }
}

fn line(event: &RunEvent, inbox: &str) -> Option<String> {
    match &event.body {
        EventBody::RunStarted { .. } => Some(format!("{} has begun.", event.run)),
        EventBody::RunResumed { .. } => Some(RESUMED.to_owned()),
        EventBody::InputApplied { .. } => Some(INPUT_READ.to_owned()),
        EventBody::Status {
            description,
            done: false,
            hidden: false,
            ..
        } => Some(description.clone()),
        EventBody::TextFinished {
            text,
            answer: false,
            ..
        } => Some(text.clone()),
        EventBody::ToolStarted { name, .. } => Some(format!("Runs {name}.")),
        EventBody::ToolProgress { message, .. } => Some(message.clone()),
        EventBody::ToolFinished {
            name, error: true, ..
        } => Some(format!("{name} has failed.")),
        EventBody::AgentStarted { name, task, .. } => {
            Some(format!("The helper {name} begins: {task}"))
        }
        EventBody::ApprovalAsked { name, .. } => Some(format!(
            "Waits for consent to run {name}. It can be given {inbox}."
        )),
        EventBody::QuestionAsked { text, .. } => Some(format!(
            "Waits for an answer, which can be given {inbox}: {text}"
        )),
        EventBody::Notice { message, .. } => Some(message.clone()),
        _ => None,
    }
}

fn short(line: &str) -> String {
    let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= LINE_LIMIT_CHARS {
        return line;
    }
    let mut short: String = line.chars().take(LINE_LIMIT_CHARS - 1).collect();
    short.push('…');
    short
}
