//! Forks: new chats whose last answer shares the log of another run up to a step and continues differently from there.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use agent::RunSpec;
use domain::{AgentPath, ChatId, EventBody, MessageId, ProblemCode, Role, RunEvent, RunId};
use run_registry::Runs;
use store::{Chat, ChatMessage, ChatOrganization, FileState, Fork, Run, Segment, Store};

use crate::{
    error::ApiError,
    gateway::{Gateway, models::ResolvedModel},
    messages,
    platform::clock::Clock,
    runtime::{
        conversation::path_to, preparation::Preparation, recovery::Recovery,
        starting_run::StartingRun,
    },
};

/// Maximum size of the copied log, bytes of JSON.
const LOG_LIMIT_BYTES: usize = 200_000_000;
/// How much of the original title is kept in the fork's title, characters.
const TITLE_LIMIT_CHARS: usize = 180;
/// Size of one segment of the copied log, bytes.
const SEGMENT_BYTES: usize = 1_000_000;

/// Where to fork a run, and what to change.
pub struct ForkPoint {
    /// The last shared event: the one before the main agent's next model call.
    pub after: u64,
    /// The user's guidance for the model at that point.
    pub guidance: Option<String>,
    /// The model that continues.
    pub model: ResolvedModel,
    /// The title of the new chat.
    pub title: Option<String>,
}

/// The result of a fork.
pub struct Forked {
    /// The new chat.
    pub chat: ChatId,
    /// Its last answer, which continues.
    pub message: MessageId,
    /// The run that fills it.
    pub run: RunId,
}

/// Forks: new chats that share a run up to a step.
pub struct Forks {
    pub(crate) clock: Clock,
    pub(crate) gateway: Arc<Gateway>,
    pub(crate) preparation: Arc<Preparation>,
    pub(crate) recovery: Arc<Recovery>,
    pub(crate) runs: Runs,
    pub(crate) store: Store,
}

impl Forks {
    /// Forks a finished run of a chat. The fork continues at once, like a run after a restart: steps in the copied log
    /// are not repeated.
    ///
    /// # Errors
    /// 4xx with a message if the run cannot be forked there.
    pub async fn fork(&self, source: Run, point: ForkPoint) -> Result<Forked, ApiError> {
        let (Some(chat), Some(message)) = (source.chat, source.message) else {
            return Err(ApiError::conflict(messages::Chats::ForkWithoutChat));
        };
        if source.finished_at.is_none() {
            return Err(ApiError::conflict(messages::Chats::ForkWhileGoing));
        }
        self.gateway
            .check_limits(&point.model.authority.principal)
            .await?;
        let chat = self.store.chat(&source.principal, chat).await?;
        let messages = copied_messages(&self.store.messages(chat.id).await?, message)?;
        let past = self.past_to(source.id, point.after).await?;
        let workspace = chat.id.to_string();
        let files = files_then(self.store.file_states(&workspace).await?, &past)?;
        let spec = RunSpec {
            research: self.preparation.research_of(source.id).await?,
            ..RunSpec::default()
        };
        let mut start = StartingRun::new(spec, point.model.clone());
        // A directory keeps its current files: later changes to it are not undone.
        start.belongs_to(&chat);
        start.spec.memories = self
            .preparation
            .memories(source.principal.account, &start)
            .await?;
        let snapshot = ChatSnapshot {
            chat,
            messages,
            workspace,
            files,
        };
        let fork = self.new_fork(&source, snapshot, past, &point, start)?;
        self.store.fork(&fork.0).await?;
        self.runs.metrics().note(&fork.1);
        let forked = Forked {
            chat: fork.0.chat.id,
            message: fork.0.run.message.unwrap_or(message),
            run: fork.0.run.id,
        };
        let run = self.store.run(forked.run).await?;
        self.recovery
            .take_over(&run, false)
            .await
            .map_err(ApiError::internal)?;
        Ok(forked)
    }

    /// The log up to event `after`, and what is needed of the rest.
    async fn past_to(&self, run: RunId, after: u64) -> Result<PastLog, ApiError> {
        let mut past = PastLog::default();
        let mut reader = self.runs.read_stored(run);
        while let Some(events) = reader.next().await? {
            for logged in &events {
                past.push(&logged.event, after, logged.json.len())?;
            }
        }
        if past.is_boundary {
            Ok(past)
        } else {
            Err(past.no_boundary(after))
        }
    }

    fn new_fork(
        &self,
        source: &Run,
        snapshot: ChatSnapshot,
        past: PastLog,
        point: &ForkPoint,
        mut start: StartingRun,
    ) -> Result<(Fork, RunEvent), ApiError> {
        let ChatSnapshot {
            chat,
            mut messages,
            workspace,
            files,
        } = snapshot;
        let id = ChatId::generate();
        let message = MessageId::generate();
        let run = RunId::generate();
        let now = self.clock.now_ms();
        let model = &point.model;
        for message in &mut messages {
            message.chat = id;
        }
        messages.push(ChatMessage {
            id: message,
            chat: id,
            parent: messages.last().map(|asked| asked.id),
            role: Role::Assistant,
            content: Vec::new(),
            created_at: now,
            model: Some(model.id.clone()),
            run: Some(run),
            summary: None,
            schedule: None,
            author: None,
        });
        let title = point.title.clone().unwrap_or_else(|| {
            let title: String = chat.title.chars().take(TITLE_LIMIT_CHARS).collect();
            format!("{title} (fork)")
        });
        let chat = Chat {
            id,
            title,
            current: Some(message),
            created_at: now,
            updated_at: now,
            order: ChatOrganization::default(),
            ..chat
        };
        start.spec.workspace = id.to_string();
        let row = start.row(run, Some((id, message)), now)?;
        let body = EventBody::RunForked(domain::event::Forked {
            from: source.id,
            after: point.after,
            guidance: point.guidance.clone(),
        });
        let forked = RunEvent {
            run,
            seq: point.after + 1,
            at: now,
            agent: AgentPath::main(),
            body,
        };
        let mut events = past.events;
        events.push(forked.clone());
        let begin = EventBody::RunStarted {
            chat: Some(id),
            message: Some(message),
            model: model.model.name().to_owned(),
        };
        let log = segments(events, run, &begin)?;
        Ok((
            Fork {
                chat,
                messages,
                run: row,
                log,
                workspace,
                files,
            },
            forked,
        ))
    }
}

/// The original chat, with its messages and files as of the fork point.
struct ChatSnapshot {
    chat: Chat,
    messages: Vec<ChatMessage>,
    workspace: String,
    /// The path and version of each file.
    files: Vec<(String, u64)>,
}

/// A log up to the fork point, and what is needed of the rest.
#[derive(Default)]
struct PastLog {
    events: Vec<RunEvent>,
    size_bytes: usize,
    /// The number of the last event up to the fork point.
    last_seq: u64,
    /// The next event is a model call of the main agent.
    is_boundary: bool,
    /// The last possible fork point up to the requested one.
    nearest: Option<u64>,
    is_over: bool,
    /// The first version that each file got after the fork point.
    later: HashMap<String, u64>,
}

impl PastLog {
    fn push(&mut self, event: &RunEvent, after: u64, size_bytes: usize) -> Result<(), ApiError> {
        let is_call = event.agent.is_main() && matches!(event.body, EventBody::StepStarted { .. });
        if event.seq <= after {
            if is_call {
                self.nearest = Some(self.last_seq);
            }
            self.last_seq = event.seq;
            self.size_bytes += size_bytes;
            if self.size_bytes > LOG_LIMIT_BYTES {
                return Err(ApiError::new(
                    ProblemCode::TooLarge,
                    messages::Chats::ForkTooLong,
                ));
            }
            self.events.push(event.clone());
            return Ok(());
        }
        if !self.is_over {
            self.is_over = true;
            self.is_boundary = is_call && self.last_seq == after;
        }
        if let EventBody::FileChanged { path, version, .. } = &event.body {
            self.later.entry(path.clone()).or_insert(*version);
        }
        Ok(())
    }

    fn no_boundary(&self, after: u64) -> ApiError {
        ApiError::invalid(match self.nearest {
            Some(nearest) => messages::Chats::ForkNearby { after, nearest },
            None => messages::Chats::NoForkThere { after },
        })
    }

    /// The last version of each file.
    fn versions(&self) -> HashMap<&str, u64> {
        let changed = self.events.iter().filter_map(|event| match &event.body {
            EventBody::FileChanged { path, version, .. } => Some((path.as_str(), *version)),
            _ => None,
        });
        changed.collect()
    }
}

/// The conversation up to the message that `answer` answers, with new ids.
fn copied_messages(
    messages: &[ChatMessage],
    answer: MessageId,
) -> Result<Vec<ChatMessage>, ApiError> {
    let gone = || ApiError::not_found(messages::Chats::MessageOfRunGone);
    let answer = messages
        .iter()
        .find(|message| message.id == answer)
        .ok_or_else(gone)?;
    let path = path_to(messages, answer.parent);
    if path.last().is_none_or(|asked| asked.role != Role::User) {
        return Err(ApiError::conflict(messages::Chats::ForkOfOtherProgram));
    }
    let mut copies: Vec<ChatMessage> = Vec::with_capacity(path.len() + 1);
    for message in path {
        let parent = copies.last().map(|before| before.id);
        copies.push(ChatMessage {
            id: MessageId::generate(),
            parent,
            ..message.clone()
        });
    }
    Ok(copies)
}

/// The version of each file at the end of `past`: from the log if it names the file, otherwise by time.
fn files_then(states: Vec<FileState>, past: &PastLog) -> Result<Vec<(String, u64)>, ApiError> {
    let at = past.events.last().map_or(0, |last| last.at);
    let mut known = past.versions();
    let mut by_path: BTreeMap<String, Vec<FileState>> = BTreeMap::new();
    for state in states {
        by_path.entry(state.path.clone()).or_default().push(state);
    }
    let mut files = Vec::with_capacity(by_path.len());
    for (path, states) in by_path {
        let at_least = known.remove(path.as_str()).unwrap_or(0);
        let below = past.later.get(&path).copied().unwrap_or(u64::MAX);
        let then = states.iter().rev().find(|state| {
            state.version < below && (state.version <= at_least || state.changed_at <= at)
        });
        match then {
            Some(then) if then.version >= at_least => files.push((path, then.version)),
            None if at_least == 0 && states.first().is_none_or(|first| first.version == 1) => {}
            _ => return Err(not_kept(&path)),
        }
    }
    match known.into_keys().next() {
        Some(path) => Err(not_kept(path)),
        None => Ok(files),
    }
}

fn not_kept(path: &str) -> ApiError {
    ApiError::conflict(messages::Chats::FileNotKept {
        path: path.to_owned(),
    })
}

/// The same events as the log of `run`, with `begin` as the first.
fn segments(
    events: Vec<RunEvent>,
    run: RunId,
    begin: &EventBody,
) -> Result<Vec<Segment>, ApiError> {
    let json = |mut event: RunEvent| {
        event.run = run;
        if event.seq == 1 {
            event.body = begin.clone();
        }
        Ok((
            event.seq,
            serde_json::to_string(&event).map_err(ApiError::internal)?,
        ))
    };
    let events: Vec<(u64, String)> = events
        .into_iter()
        .map(json)
        .collect::<Result<_, ApiError>>()?;
    Ok(Segment::cut(run, events, SEGMENT_BYTES))
}

#[cfg(test)]
mod tests {
    use domain::event::seq_after_restart;

    use super::*;

    fn state(path: &str, version: u64, changed_at: i64) -> FileState {
        FileState {
            path: path.to_owned(),
            version,
            changed_at,
        }
    }

    fn event(seq: u64, at: i64, body: EventBody) -> RunEvent {
        RunEvent {
            run: RunId::generate(),
            seq,
            at,
            agent: AgentPath::main(),
            body,
        }
    }

    fn changed(path: &str, version: u64) -> EventBody {
        EventBody::FileChanged {
            path: path.to_owned(),
            version,
            size_bytes: 1,
            deleted: false,
            added_lines: None,
            removed_lines: None,
        }
    }

    /// The past of a run that wrote `/a` twice, before and after the fork point, all in one millisecond.
    fn past() -> PastLog {
        let bodies = [
            EventBody::RunStarted {
                chat: None,
                message: None,
                model: "m".to_owned(),
            },
            EventBody::StepStarted {
                step: 1,
                last: None,
            },
            changed("/a", 2),
            EventBody::StepStarted {
                step: 2,
                last: None,
            },
            changed("/a", 3),
        ];
        let mut past = PastLog::default();
        for (body, seq) in bodies.into_iter().zip(1..) {
            past.push(&event(seq, 10, body), 3, 1).unwrap();
        }
        past
    }

    #[test]
    fn files_are_those_of_then_even_in_one_millisecond() {
        let past = past();
        assert!(past.is_boundary);
        let kept = vec![
            state("/a", 1, 5),
            state("/a", 2, 10),
            state("/a", 3, 10),
            state("/before", 4, 9),
            state("/before", 5, 11),
            state("/later", 1, 11),
        ];
        let then = files_then(kept, &past).unwrap();
        assert_eq!(then, [("/a".to_owned(), 2), ("/before".to_owned(), 4)]);
    }

    #[test]
    fn a_file_that_is_not_kept_as_it_was_is_named() {
        for kept in [
            vec![],
            vec![state("/a", 3, 10)],
            vec![state("/a", 2, 10), state("/old", 7, 11)],
        ] {
            let refused = files_then(kept.clone(), &past()).unwrap_err();
            assert!(
                refused.problem().message.contains(" is no longer stored"),
                "{kept:?}"
            );
        }
    }

    #[test]
    fn only_the_place_before_a_model_call_is_one() {
        for (after, fits) in [
            (1, true),
            (2, false),
            (3, true),
            (4, false),
            (5, false),
            (9, false),
        ] {
            let mut again = PastLog::default();
            for (body, seq) in [
                EventBody::RunStarted {
                    chat: None,
                    message: None,
                    model: "m".to_owned(),
                },
                EventBody::StepStarted {
                    step: 1,
                    last: None,
                },
                changed("/a", 2),
                EventBody::StepStarted {
                    step: 2,
                    last: None,
                },
                changed("/a", 3),
            ]
            .into_iter()
            .zip(1..)
            {
                again.push(&event(seq, 10, body), after, 1).unwrap();
            }
            assert_eq!(again.is_boundary, fits, "{after}");
        }
    }

    #[test]
    fn a_copy_keeps_the_numbers() {
        let far = seq_after_restart(2);
        let begin = EventBody::RunStarted {
            chat: None,
            message: None,
            model: "n".to_owned(),
        };
        let events = vec![
            event(
                1,
                1,
                EventBody::RunStarted {
                    chat: None,
                    message: None,
                    model: "m".to_owned(),
                },
            ),
            event(
                2,
                2,
                EventBody::StepStarted {
                    step: 1,
                    last: None,
                },
            ),
            event(far, 3, EventBody::RunResumed { released: false }),
        ];
        let run = RunId::generate();
        let copied = segments(events, run, &begin).unwrap();
        let ends: Vec<_> = copied
            .iter()
            .map(|segment| (segment.first_seq, segment.last_seq))
            .collect();
        assert_eq!(ends, [(1, 2), (far, far)]);
        assert!(
            copied[0].lines.starts_with(&format!("{{\"run\":\"{run}\"")),
            "{}",
            copied[0].lines
        );
        assert!(
            copied[0].lines.contains("\"model\":\"n\""),
            "{}",
            copied[0].lines
        );
    }
}
