//! Commands to runs on any server: applied at once if the run is live in this process, or if a set-aside run is
//! stopped; queued in the database if another server has the run.

use std::{
    collections::{BTreeMap, BTreeSet, HashSet},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};
use tokio_util::task::TaskTracker;

use agent::{AnswerError, ApprovalDecision, InputError, StandingApproval};
use bus::Bus;
use domain::{ChatId, EventBody, ProblemCode, Reply, RunId, UserId, event::ReceivedInput};
use run_registry::{LiveRun, Logged, Runs};
use serde::{Deserialize, Serialize};
use store::{Principal, Run, Store, StoreError};
use tokio::{
    runtime::Handle,
    sync::Notify,
    time::{Instant, sleep},
};

use crate::{
    error::ApiError,
    messages,
    platform::{clock::Clock, live_config::LiveConfig},
    runtime::{
        approvals::{AnswerApproval, not_taken, still_resting},
        hints,
    },
};

const ANSWER_LIMIT_BYTES: usize = 100_000;
/// How long a run of another server may take to end. If that server was killed, the next one that takes over the run
/// stops it.
const ENDS_WITHIN: Duration = Duration::from_secs(30);
/// How often its state is polled.
const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// A command to a run.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum Command {
    /// Stop it.
    Cancel,
    /// Write the report now, with what is known. Only research supports it.
    Finish,
    /// Stop one of its sub-agents; the rest of the run continues.
    StopAgent {
        /// Its id.
        agent: String,
    },
    /// A user's decision on a call.
    Approve {
        /// The id of the approval request.
        approval: String,
        /// The decision.
        decision: AnswerApproval,
    },
    /// A user's answer.
    Answer {
        /// The id of the question.
        question: String,
        /// The answer.
        reply: Reply,
    },
    /// A message of a user to the running agents.
    Input {
        /// The message.
        input: ReceivedInput,
    },
    /// Withdraws a message that no agent has read.
    RemoveInput {
        /// Its id.
        input_id: String,
        /// Its author; `None` for the owner of the run, who may withdraw all.
        by: Option<UserId>,
    },
    /// A user's standing approval.
    Allow {
        /// Which calls.
        allowed: StandingApproval,
    },
}

impl Command {
    /// A decision without a standing approval.
    pub(crate) fn approve(approval: &str, answer: ApprovalDecision) -> Self {
        Self::Approve {
            approval: approval.to_owned(),
            decision: AnswerApproval::once(answer),
        }
    }

    pub(crate) fn answer(question: &str, reply: Reply) -> Self {
        Self::Answer {
            question: question.to_owned(),
            reply,
        }
    }

    /// The request that has to be pending; `None` for commands that are always accepted.
    fn waits_for(&self) -> Option<&str> {
        match self {
            Self::Cancel
            | Self::Finish
            | Self::StopAgent { .. }
            | Self::Input { .. }
            | Self::RemoveInput { .. }
            | Self::Allow { .. } => None,
            Self::Approve { approval: id, .. } | Self::Answer { question: id, .. } => Some(id),
        }
    }

    fn check(&self) -> Result<(), ApiError> {
        match self {
            Self::Cancel
            | Self::Finish
            | Self::StopAgent { .. }
            | Self::RemoveInput { .. }
            | Self::Allow { .. }
            | Self::Answer {
                reply: Reply::Declined(_),
                ..
            } => Ok(()),
            Self::Approve { decision, .. } => {
                decision.reason.as_deref().map_or(Ok(()), check_length)
            }
            Self::Answer {
                reply: Reply::Words(words),
                ..
            } => check_length(words),
            Self::Input { input } => check_length(&input.content),
            Self::Answer {
                reply: Reply::Values(values),
                ..
            } => check_length(&serde_json::to_string(values).map_err(ApiError::internal)?),
        }
    }
}

/// 400 if a text is too long.
pub(crate) fn check_length(words: &str) -> Result<(), ApiError> {
    if words.len() > ANSWER_LIMIT_BYTES {
        return Err(ApiError::invalid(messages::Chats::LongAnswer {
            limit: ANSWER_LIMIT_BYTES as u64,
        }));
    }
    Ok(())
}

/// Ignores the error that another answer was faster: the log shows the result.
pub(crate) fn or_answered(delivered: Result<(), ApiError>) -> Result<(), ApiError> {
    match delivered {
        Err(error) if error.problem().code == ProblemCode::Conflict => Ok(()),
        delivered => delivered,
    }
}

/// Sends commands to runs on any server, including approvals.
pub struct Commands {
    /// Runs of this server that cannot resume yet. Locked while one of them is resumed or ended.
    pub(crate) set_aside: tokio::sync::Mutex<BTreeSet<RunId>>,
    /// Runs to which commands from other servers are being delivered.
    pub(crate) delivering: Delivering,
    /// Notified when another server has left a command for a run of this one.
    pub(crate) hinted: Arc<Notify>,
    pub(crate) bus: Bus,
    pub(crate) clock: Clock,
    pub(crate) config: LiveConfig,
    pub(crate) runs: Runs,
    pub(crate) store: Store,
    pub(crate) tasks: TaskTracker,
}

impl Commands {
    /// Sends a command to a run on any server. Another server applies it within a second, at once with a bus; if it cannot, because another
    /// answer was faster, only the log shows it. Commands to a run that has ended are ignored.
    ///
    /// # Errors
    /// 409 if the run does not wait for this, 422 if the command is not valid, 503 if it cannot be accepted now.
    pub(crate) async fn tell(&self, run: RunId, command: Command) -> Result<(), ApiError> {
        command.check()?;
        if let Some(live) = self.runs.live(run) {
            return self.obey(&live, command).await;
        }
        if !self.may_go_unseen() {
            return self.tell_ended(run, &command).await;
        }
        let set_aside = self.set_aside.lock().await;
        // It may have resumed in the meantime.
        if let Some(live) = self.runs.live(run) {
            drop(set_aside);
            return self.obey(&live, command).await;
        }
        let stops = matches!(command, Command::Cancel) && set_aside.contains(&run);
        let keep_aside = stops.then_some(set_aside);
        let row = match self.store.run(run).await {
            Ok(row) if row.finished_at.is_none() => row,
            Ok(_) | Err(StoreError::NotFound) => return self.tell_ended(run, &command).await,
            Err(error) => return Err(error.into()),
        };
        let Some(mut set_aside) = keep_aside else {
            return self.leave_word(&row, &command).await;
        };
        self.runs.cancel_left_open(&row).await?;
        set_aside.remove(&run);
        Ok(())
    }

    /// A command to a run that has ended: what was left for the chat's next turn can still be withdrawn.
    async fn tell_ended(&self, run: RunId, command: &Command) -> Result<(), ApiError> {
        if let Command::RemoveInput { input_id, by } = command
            && self.store.unqueue_input(run, input_id, *by).await?
        {
            return Ok(());
        }
        without_recipient(command)
    }

    /// Whether a run would accept the command now.
    ///
    /// # Errors
    /// Those of [`Commands::tell`].
    pub(crate) async fn check(&self, run: RunId, command: &Command) -> Result<(), ApiError> {
        command.check()?;
        let Some(live) = self.runs.live(run) else {
            return self.check_log(&self.store.run(run).await?, command).await;
        };
        if let Some(ask) = command.waits_for() {
            live.wake_for(ask).await.map_err(still_resting)?;
        }
        let taken = match command {
            Command::Cancel
            | Command::Finish
            | Command::StopAgent { .. }
            | Command::Input { .. }
            | Command::RemoveInput { .. }
            | Command::Allow { .. } => Ok(()),
            Command::Approve { approval, decision } => live
                .pending_input
                .check_approval(approval, &decision.answer())
                .map(drop),
            Command::Answer { question, reply } => {
                live.pending_input.check_reply(question, reply.clone())
            }
        };
        taken.map_err(not_taken)
    }

    /// The same for a run that is not live here, judging by its log.
    async fn check_log(&self, run: &Run, command: &Command) -> Result<(), ApiError> {
        let Some(id) = command.waits_for() else {
            return Ok(());
        };
        match (self.runs.left_open(run).await?.0.asked(id), command) {
            (None, _) => without_recipient(command),
            (Some(EventBody::QuestionAsked { schema, .. }), Command::Answer { reply, .. }) => {
                let fits = reply.clone().fit(schema.as_ref());
                fits.map(drop).map_err(|fault| not_taken(fault.into()))
            }
            (Some(_), _) => Ok(()),
        }
    }

    /// Queues the command for the server that has the run.
    pub(crate) async fn leave_word(&self, run: &Run, command: &Command) -> Result<(), ApiError> {
        self.check_log(run, command).await?;
        match command {
            Command::Finish if !self.store.is_shared() => {
                Ok(self.store.want_report(run.id).await?)
            }
            Command::Allow { .. } if !self.store.is_shared() => Ok(()),
            _ if !self.store.is_shared() => Err(still_set_aside()),
            command => {
                let command = serde_json::to_string(command).map_err(ApiError::internal)?;
                self.store.enqueue_command(run.id, &command).await?;
                hints::tell_command(&self.bus, run.id);
                Ok(())
            }
        }
    }

    /// Applies the queued commands for the runs of this server.
    ///
    /// # Errors
    /// If the database does not answer.
    pub(crate) async fn obey_commands(self: &Arc<Self>) -> Result<(), ApiError> {
        let mut delivered: BTreeMap<RunId, Vec<(i64, Command)>> = BTreeMap::new();
        for (number, run, command) in self.store.pending_commands().await? {
            let command = serde_json::from_str::<Command>(&command);
            let is_here = self.runs.live(run).is_some();
            let can_be_delivered =
                is_here || matches!(command, Ok(Command::Cancel)) && self.is_set_aside(run).await;
            match command {
                Ok(command) if can_be_delivered => {
                    delivered.entry(run).or_default().push((number, command))
                }
                _ if !can_be_delivered && self.store.run(run).await?.finished_at.is_none() => {
                    // It is being taken over or set aside right now.
                }
                command => {
                    if let Ok(Command::Input { input }) = command {
                        self.queue_late_input(run, input).await?;
                    }
                    self.store.forget_command(number).await?;
                }
            }
        }
        for (run, left) in delivered {
            let Some(delivering) = self.delivering.begin(run) else {
                continue;
            };
            let commands = Arc::clone(self);
            // In a task, so that waking a hibernated run does not delay others.
            self.tasks.spawn(async move {
                commands.deliver_all(run, left).await;
                drop(delivering);
            });
        }
        Ok(())
    }

    /// Queues a message for the chat's next turn that has reached its run after the end.
    async fn queue_late_input(&self, run: RunId, input: ReceivedInput) -> Result<(), ApiError> {
        let mut log = self.runs.read_stored(run);
        while let Some(events) = log.next().await.map_err(ApiError::of_log)? {
            let is_known = |logged: &Arc<Logged>| match &logged.event.body {
                EventBody::InputReceived(known) => known.input_id == input.input_id,
                _ => false,
            };
            if events.iter().any(is_known) {
                return Ok(());
            }
        }
        match self
            .store
            .queue_turn(run, &[input], self.clock.now_ms())
            .await
        {
            // Its chat was deleted, or it has none.
            Err(StoreError::NotFound) => Ok(()),
            queued => Ok(queued.map(|()| self.runs.queued_notice().notify_one())?),
        }
    }

    /// Applies the queued commands of a run in order, and deletes each one afterwards: if this server is killed in
    /// between, the next server applies it again, and the run ignores the repetition.
    async fn deliver_all(&self, run: RunId, commands: Vec<(i64, Command)>) {
        for (number, command) in commands {
            match self.tell(run, command).await {
                Err(error) if error.is_ours() => {
                    tracing::warn!(%run, %error, "failed to apply a command from another server; retrying later");
                    return;
                }
                Err(error) => {
                    // Another answer was faster, or the edited arguments are not valid: the run keeps waiting, which
                    // the user sees.
                    tracing::info!(%run, %error, "rejected a command from another server");
                }
                Ok(()) => {}
            }
            if let Err(error) = self.store.forget_command(number).await {
                tracing::warn!(%run, %error, "failed to delete an applied command; it may be applied again");
                return;
            }
        }
    }

    async fn obey(&self, live: &Arc<LiveRun>, command: Command) -> Result<(), ApiError> {
        match command {
            Command::Cancel => live.cancel.cancel(),
            Command::Finish => {
                // Stored before replying, so that the report is written even if this server is killed now.
                self.store.want_report(live.id).await?;
                live.finish.cancel();
                live.wake_waiting().await.map_err(still_resting)?;
            }
            Command::StopAgent { agent } => {
                live.wake_agent(&agent).await.map_err(still_resting)?;
                // A sub-agent that has ended needs no stop.
                let _ = live.agents.stop(&agent);
            }
            Command::Approve { approval, decision } => {
                self.decide(live, &approval, decision).await?
            }
            Command::Answer { question, reply } => {
                live.wake_for(&question).await.map_err(still_resting)?;
                live.pending_input
                    .answer_question(&question, reply)
                    .map_err(not_taken)?;
            }
            Command::Input { input } => {
                live.wake_for_input().await.map_err(still_resting)?;
                let inputs = live.inputs.clone();
                self.finish_task(async move { inputs.receive(input).await })
                    .await?;
            }
            Command::RemoveInput { input_id, by } => {
                live.wake_for_input().await.map_err(still_resting)?;
                let inputs = live.inputs.clone();
                self.finish_task(async move { inputs.remove(&input_id, by).await })
                    .await?;
            }
            Command::Allow { allowed } => self.allow_in(live, &allowed),
        }
        Ok(())
    }

    /// Completes the change of a run's inputs even if the caller has gone away: otherwise the log and the run would
    /// differ.
    async fn finish_task(
        &self,
        change: impl Future<Output = Result<(), InputError>> + Send + 'static,
    ) -> Result<(), ApiError> {
        let changed = self.tasks.spawn(change).await;
        changed.map_err(ApiError::internal)?.map_err(input_refused)
    }

    /// Stops a run on any server, and waits until its log is closed.
    ///
    /// # Errors
    /// 503 if it does not end in time, because the server that has it does not answer.
    pub(crate) async fn stop(&self, run: RunId) -> Result<(), ApiError> {
        self.tell(run, Command::Cancel).await?;
        self.ended(run).await
    }

    /// Stops the active runs of a chat on all servers, and waits until their logs are closed. Returns whether there
    /// were any.
    ///
    /// # Errors
    /// Those of [`Commands::stop`].
    pub(crate) async fn stop_in(&self, chat: ChatId) -> Result<bool, ApiError> {
        let going = self.going_in(chat).await?;
        for run in &going {
            self.tell(*run, Command::Cancel).await?;
        }
        for run in &going {
            self.ended(*run).await?;
        }
        Ok(!going.is_empty())
    }

    async fn ended(&self, run: RunId) -> Result<(), ApiError> {
        self.runs.ended(run).await;
        if !self.store.is_shared() {
            return Ok(());
        }
        let give_up = Instant::now() + ENDS_WITHIN;
        loop {
            match self.store.run(run).await {
                Ok(run) if run.finished_at.is_none() => {}
                Ok(_) | Err(StoreError::NotFound) => return Ok(()),
                Err(error) => return Err(error.into()),
            }
            if Instant::now() > give_up {
                return Err(still_going());
            }
            sleep(LOOK_AGAIN).await;
        }
    }

    /// The active runs of a chat on all servers.
    ///
    /// # Errors
    /// If the database does not answer.
    pub(crate) async fn going_in(&self, chat: ChatId) -> Result<Vec<RunId>, StoreError> {
        if self.may_go_unseen() {
            return self.store.unfinished_runs_in(chat).await;
        }
        Ok(self
            .runs
            .live_in(chat)
            .into_iter()
            .map(|live| live.id)
            .collect())
    }

    /// Whether a run on any server waits for a user.
    ///
    /// # Errors
    /// If the database does not answer.
    pub(crate) async fn is_waiting(&self, run: RunId) -> Result<bool, StoreError> {
        match self.runs.live(run) {
            Some(live) => Ok(live.is_waiting()),
            None => Ok(self
                .runs
                .left_open(&self.store.run(run).await?)
                .await?
                .0
                .is_waiting()),
        }
    }

    /// The principal's runs that have not ended and are not live in this process.
    ///
    /// # Errors
    /// If the database does not answer.
    pub(crate) async fn going_unseen(&self, principal: &Principal) -> Result<Vec<Run>, StoreError> {
        if !self.may_go_unseen() {
            return Ok(Vec::new());
        }
        let mut runs = self.store.unfinished_runs_of(principal.account).await?;
        runs.retain(|run| {
            run.principal.is_same_individual(principal) && self.runs.live(run.id).is_none()
        });
        Ok(runs)
    }

    /// Whether runs may be active that are not live in this process.
    pub(crate) fn may_go_unseen(&self) -> bool {
        self.store.is_shared()
            || !self
                .set_aside
                .try_lock()
                .is_ok_and(|set_aside| set_aside.is_empty())
    }

    /// Whether it may be a run of this server that cannot resume yet.
    pub(super) fn may_have_aside(&self, run: RunId) -> bool {
        self.set_aside
            .try_lock()
            .map_or(true, |set_aside| set_aside.contains(&run))
    }

    /// Whether it is a run of this server that cannot resume yet.
    async fn is_set_aside(&self, run: RunId) -> bool {
        self.set_aside.lock().await.contains(&run)
    }
}

/// The runs whose queued commands are being applied.
#[derive(Debug, Clone, Default)]
pub(crate) struct Delivering(Arc<Mutex<HashSet<RunId>>>);

/// One such run, until dropped.
struct DeliveringRun(Delivering, RunId);

impl Delivering {
    /// `None` if the run's commands are being applied already.
    fn begin(&self, run: RunId) -> Option<DeliveringRun> {
        let is_first = self.lock().insert(run);
        is_first.then(|| DeliveringRun(self.clone(), run))
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashSet<RunId>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for DeliveringRun {
    fn drop(&mut self) {
        self.0.lock().remove(&self.1);
    }
}

/// Stops a run on any server when dropped.
pub struct StopsWhenDropped(Option<(Arc<Commands>, RunId)>);

impl StopsWhenDropped {
    /// For this run.
    #[must_use]
    pub fn new(commands: &Arc<Commands>, run: RunId) -> Self {
        Self(Some((Arc::clone(commands), run)))
    }

    /// Lets the run continue.
    pub fn disarm(mut self) {
        self.0 = None;
    }
}

impl Drop for StopsWhenDropped {
    fn drop(&mut self) {
        let Some((commands, run)) = self.0.take() else {
            return;
        };
        match (commands.runs.live(run), Handle::try_current()) {
            (Some(live), _) => live.cancel.cancel(),
            (None, Ok(runtime)) if commands.may_go_unseen() => {
                let tasks = commands.tasks.clone();
                let stop = async move {
                    if let Err(error) = commands.tell(run, Command::Cancel).await {
                        tracing::warn!(%run, %error, "failed to stop a run whose reader has disconnected");
                    }
                };
                drop(tasks.spawn_on(stop, &runtime));
            }
            (None, _) => {}
        }
    }
}

/// The result if no active run takes the command: an error only if something had to be pending.
fn without_recipient(command: &Command) -> Result<(), ApiError> {
    match command {
        Command::Input { .. } | Command::RemoveInput { .. } => {
            Err(input_refused(InputError::Ended))
        }
        command if command.waits_for().is_some() => Err(not_taken(AnswerError::NotWaiting)),
        _ => Ok(()),
    }
}

/// The error if a run did not accept an input or its removal, for the caller.
fn input_refused(error: InputError) -> ApiError {
    use agent::messages::Inputs;
    match error {
        InputError::Ended => ApiError::conflict(Inputs::RunHasEnded),
        InputError::NotWorking => ApiError::new(ProblemCode::Unavailable, Inputs::RunNotWorking),
        InputError::TooMany { count } => ApiError::conflict(Inputs::TooManyInputs { count }),
        InputError::Unknown => ApiError::not_found(Inputs::NoSuchInput),
        InputError::Read => ApiError::conflict(Inputs::InputWasRead),
    }
}

fn still_set_aside() -> ApiError {
    let message = messages::Chats::RunSetAside;
    ApiError::new(ProblemCode::Unavailable, message)
}

fn still_going() -> ApiError {
    let message = messages::Chats::RunElsewhere;
    ApiError::new(ProblemCode::Unavailable, message)
}
