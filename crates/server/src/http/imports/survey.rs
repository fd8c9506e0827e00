//! Validates a whole chat before any of it is written, and enforces the limits of an import.

use std::collections::{HashMap, HashSet};

use agent::workspace::{BYTES_LIMIT, FILES_LIMIT, Path as FilePath, WORKSPACE_LIMIT_BYTES};
use base64::{Engine, engine::general_purpose::STANDARD};
use domain::{
    EventBody, LocalizedText, MessageId, Part, Role, RunEvent, RunId, Usage, laws::Checked,
};
use wire::export::{self, Line};

use super::report::Report;
use crate::messages;

/// Maximum number of messages per chat, and of bytes of their lines.
const MESSAGES: usize = 50_000;
const MESSAGES_BYTES: usize = 64_000_000;
/// Maximum number of runs per chat.
const RUNS: usize = 50_000;
/// Maximum number of bytes of the lines of a log, and of all logs of a chat.
const LOG_BYTES: usize = 200_000_000;
const LOGS_BYTES: usize = 1_000_000_000;
/// Maximum number of sub-agents per run, and of their nesting depth.
const AGENTS: usize = 10_000;
const DEPTH: usize = 16;
/// Maximum number of tokens, or of millionths of a dollar, per event.
const MAX_USED: u64 = 1_000_000_000_000;
/// Maximum number of answers that one is merged from.
const MADE_OF: usize = 32;
/// Maximum number of parts per message.
const PARTS: usize = 50;

/// The result of validating a chat, line by line.
pub(super) struct Survey {
    pub(super) chat: export::Chat,
    pub(super) messages: Vec<export::Message>,
    /// The runs that can be imported.
    pub(super) runs: HashMap<RunId, export::Run>,
    /// The files that can be imported, by their position among the chat's files, starting at 1.
    pub(super) files: HashSet<usize>,
    paths: HashSet<String>,
    files_seen: usize,
    ids: HashSet<MessageId>,
    /// All runs, including those that cannot be imported.
    named: HashSet<RunId>,
    log: Option<OpenLog>,
    messages_bytes: usize,
    logs_bytes: usize,
    files_bytes: u64,
    /// Why the chat cannot be imported at all.
    refused: Option<LocalizedText>,
}

/// The log whose lines are being read.
struct OpenLog {
    run: export::Run,
    checked: Checked,
    bytes: usize,
    agents: usize,
    broken: Option<LocalizedText>,
}

impl Survey {
    pub(super) fn new(chat: export::Chat) -> Self {
        Self {
            chat,
            messages: Vec::new(),
            runs: HashMap::new(),
            files: HashSet::new(),
            paths: HashSet::new(),
            files_seen: 0,
            ids: HashSet::new(),
            named: HashSet::new(),
            log: None,
            messages_bytes: 0,
            logs_bytes: 0,
            files_bytes: 0,
            refused: None,
        }
    }

    /// Whether the line belongs to this chat.
    pub(super) fn has(&self, line: &Line) -> bool {
        match line {
            Line::Message(message) => message.chat == self.chat.id,
            Line::Run(run) => run.chat == Some(self.chat.id),
            Line::Log(log) => self.named.contains(&log.run),
            Line::File(file) => file.workspace == self.chat.id.to_string(),
            _ => false,
        }
    }

    /// Whether the run belongs to this chat, even if it cannot be imported.
    pub(super) fn names(&self, run: RunId) -> bool {
        self.named.contains(&run)
    }

    /// Rejects the chat. The first reason is kept.
    pub(super) fn refuse(&mut self, why: impl Into<LocalizedText>) {
        self.refused.get_or_insert(why.into());
    }

    /// Validates a line of the chat.
    pub(super) fn push(&mut self, line: Line, size_bytes: usize, report: &mut Report) {
        if self.refused.is_some() {
            return;
        }
        match line {
            Line::Message(message) => self.message(message, size_bytes),
            Line::Run(run) => self.run(run, report),
            Line::Log(log) => self.log(&log, size_bytes),
            Line::File(file) => {
                if let Err(why) = self.file(&file) {
                    report.leave("file", &file.path, why);
                }
            }
            _ => {}
        }
    }

    /// Called after the last line. Returns the reason if the chat cannot be imported.
    pub(super) fn finish(&mut self, report: &mut Report) -> Option<LocalizedText> {
        self.end_log(report);
        if self
            .chat
            .current
            .is_some_and(|current| !self.ids.contains(&current))
        {
            self.chat.current = self.messages.last().map(|message| message.id);
        }
        self.refused.take()
    }

    fn message(&mut self, mut message: export::Message, size_bytes: usize) {
        self.messages_bytes += size_bytes;
        if self.messages.len() == MESSAGES || self.messages_bytes > MESSAGES_BYTES {
            return self.refuse(messages::Imports::TooManyMessages);
        }
        if !matches!(message.role, Role::User | Role::Assistant) {
            return self.refuse(messages::Imports::MessageOfOther);
        }
        if message
            .parent
            .is_some_and(|parent| !self.ids.contains(&parent))
        {
            return self.refuse(messages::Imports::MessageAstray);
        }
        if let Err(why) = check_parts(&message.content) {
            return self.refuse(why);
        }
        let (usage, cost) = message
            .summary
            .as_ref()
            .map(|summary| (summary.usage, summary.cost_micro_usd))
            .unwrap_or_default();
        if let Err(why) = check_used(usage, cost) {
            return self.refuse(why);
        }
        if !self.ids.insert(message.id) {
            return self.refuse(messages::Imports::MessageTwice);
        }
        // An answer can be an alternative to, and be merged from, earlier messages only.
        let is_answer = message.role == Role::Assistant;
        let is_before = |id: &MessageId| is_answer && *id != message.id && self.ids.contains(id);
        message.beside = message.beside.filter(is_before);
        message.made_of.retain(is_before);
        message.made_of.truncate(MADE_OF);
        self.messages.push(message);
    }

    fn run(&mut self, run: export::Run, report: &mut Report) {
        self.end_log(report);
        if self.named.len() == RUNS {
            return self.refuse(messages::Imports::TooManyRuns);
        }
        if !self.named.insert(run.id) {
            return self.refuse(messages::Imports::RunTwice);
        }
        let is_stray = run
            .message
            .is_some_and(|message| !self.ids.contains(&message));
        let (usage, cost) = run
            .summary
            .as_ref()
            .map(|summary| (summary.usage, summary.cost_micro_usd))
            .unwrap_or_default();
        let strange = check_used(usage, cost).err();
        let broken = is_stray
            .then(|| messages::Imports::StrayRun.into())
            .or(strange);
        self.log = Some(OpenLog {
            run,
            checked: Checked::default(),
            bytes: 0,
            agents: 0,
            broken,
        });
    }

    fn log(&mut self, log: &export::Log, size_bytes: usize) {
        self.logs_bytes += size_bytes;
        if self.logs_bytes > LOGS_BYTES {
            return self.refuse(messages::Imports::LongLogs);
        }
        match &mut self.log {
            Some(open) if open.run.id == log.run => open.push(log, size_bytes),
            _ => self.refuse(messages::Imports::LogAstray),
        }
    }

    fn end_log(&mut self, report: &mut Report) {
        let Some(OpenLog {
            run,
            checked,
            broken,
            ..
        }) = self.log.take()
        else {
            return;
        };
        let is_over = run.finished_at.is_some() && run.summary.is_some() && checked.is_over();
        let why = broken.or_else(|| (!is_over).then(|| messages::Imports::NotEnded.into()));
        match why {
            None => _ = self.runs.insert(run.id, run),
            Some(why) => report.leave("run", &self.chat.title, why),
        }
    }

    fn file(&mut self, file: &export::File) -> Result<(), LocalizedText> {
        self.files_seen += 1;
        let (path, content) = read_file(file)?;
        let size_bytes = content.len() as u64;
        if self.files.len() == FILES_LIMIT || self.files_bytes + size_bytes > WORKSPACE_LIMIT_BYTES
        {
            return Err(messages::Imports::NoRoomInChat.into());
        }
        if !self.paths.insert(path.to_string()) {
            return Err(messages::Imports::ComesTwice.into());
        }
        self.files_bytes += size_bytes;
        self.files.insert(self.files_seen);
        Ok(())
    }
}

impl OpenLog {
    fn push(&mut self, log: &export::Log, size_bytes: usize) {
        self.bytes += size_bytes;
        if self.bytes > LOG_BYTES {
            self.broken.get_or_insert(messages::Imports::LongLog.into());
        }
        for event in &log.events {
            if self.broken.is_none()
                && let Err(why) = self.event(event)
            {
                self.broken = Some(why);
            }
        }
    }

    fn event(&mut self, event: &RunEvent) -> Result<(), LocalizedText> {
        if event.run != self.run.id {
            return Err(messages::Imports::OtherLog.into());
        }
        self.agents += usize::from(matches!(event.body, EventBody::AgentStarted { .. }));
        if self.agents > AGENTS || event.agent.depth() > DEPTH {
            return Err(messages::Imports::TooManySubAgents.into());
        }
        let (usage, cost) = match &event.body {
            EventBody::ModelCalled {
                usage,
                cost_micro_usd,
                ..
            }
            | EventBody::ContextCompacted {
                usage,
                cost_micro_usd,
                ..
            }
            | EventBody::RunFinished {
                usage,
                cost_micro_usd,
                ..
            } => (*usage, *cost_micro_usd),
            _ => (Usage::default(), None),
        };
        check_used(usage, cost)?;
        self.checked.push(event).map_err(|law| {
            messages::Imports::StrangeLog {
                why: law.to_string(),
            }
            .into()
        })
    }
}

/// Decodes a file's path and content, if they are valid.
pub(super) fn read_file(file: &export::File) -> Result<(FilePath, Vec<u8>), LocalizedText> {
    let path = FilePath::parse_file(&file.path)
        .map_err(|problem| LocalizedText::from(problem.to_string()))?;
    // Checked before decoding: four characters encode three bytes.
    if file.base64.len() / 4 * 3 > BYTES_LIMIT + 3 {
        return Err(messages::Imports::MoreThanBytes {
            limit: BYTES_LIMIT as u64,
        }
        .into());
    }
    let content = STANDARD
        .decode(&file.base64)
        .map_err(|_| messages::Imports::Damaged)?;
    if content.len() > BYTES_LIMIT {
        return Err(messages::Imports::MoreThanBytes {
            limit: BYTES_LIMIT as u64,
        }
        .into());
    }
    Ok((path, content))
}

/// Rejects implausible amounts, as they are summed up later.
fn check_used(usage: Usage, cost: Option<u64>) -> Result<(), LocalizedText> {
    if [usage.input_tokens, usage.output_tokens, cost.unwrap_or(0)]
        .into_iter()
        .any(|figure| figure > MAX_USED)
    {
        return Err(messages::Imports::UsedTooMuch.into());
    }
    Ok(())
}

/// Rejects parts that a message must not contain.
fn check_parts(parts: &[Part]) -> Result<(), LocalizedText> {
    if parts.len() > PARTS {
        return Err(messages::Imports::MorePartsThan {
            count: PARTS as u64,
        }
        .into());
    }
    if parts.iter().any(Part::is_foreign) {
        return Err(messages::Imports::PictureElsewhere.into());
    }
    Ok(())
}
