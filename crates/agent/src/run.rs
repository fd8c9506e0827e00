//! One run from its first event to its last: the main agent's turns, and how it ends on stop signals, limits and
//! faults.

use std::{
    collections::BTreeSet,
    panic::AssertUnwindSafe,
    sync::{Arc, Mutex},
};

use domain::{
    ChatId, EventBody, LeftOut, Message, MessageId, ModelParameters, Outcome, Problem, ProblemCode,
    Role, RunTrace,
};
use futures_util::FutureExt;
use llm::{CallerInfo, ToolMode, ToolPrompt};
use tokio_util::sync::CancellationToken;

use crate::{
    AgentStops, Agents, ApprovalPolicy, ContextMaterial, Council, DeferredTools, EarlierAgents,
    Emitter, Hooks, Journal, Limits, LookUp, Memory, Models, PendingInput, Prices, Quota, Research,
    RunInputs, RunSpec, Workspace,
    active_time::ActiveTime,
    addresses::Addresses,
    budget::Budget,
    hooks::{after_run, before_run},
    journal::{AgentJournal, STOPPED},
    look_up::look,
    messages,
    open_call::LostCalls,
    pending_input::AtWork,
    research::Task,
    sent,
    tool_notices::NotifiedTools,
    turns::{AgentContext, Before, Stop, take_turns},
};

/// How to call a model.
#[derive(Debug, Clone, Default)]
pub struct ModelSettings {
    /// How tools are described to it.
    pub tool_mode: ToolMode,
    /// The parameters of its calls that neither the caller nor the agent sets.
    pub parameters: ModelParameters,
    /// Its context window, if known. The older part of a conversation is summarized before it fills the window.
    pub context_tokens: Option<u64>,
    /// Its prices.
    pub prices: Option<Prices>,
}

/// What the process provides to a run and its agents.
#[derive(Debug)]
pub struct RunDeps {
    /// The main agent's model, which agents without their own also use, and its fallbacks.
    pub models: Arc<Models>,
    /// How tools are described to models without native tool calling; `None` if those get no tools.
    pub tool_prompt: Option<ToolPrompt>,
    /// How often code may fail in a row before no more is run.
    pub code_retries: u32,
    /// The files.
    pub workspace: Workspace,
    /// The person's memories; `None` if the agents must not use them.
    pub memory: Option<Memory>,
    /// The date in the agents' instructions; `None` to omit it.
    pub today: Option<String>,
    /// Limits set outside of the run; `None` if there are none.
    pub quota: Option<Arc<dyn Quota>>,
    /// The policy for calls that require approval.
    pub approval_policy: ApprovalPolicy,
    /// The hooks that an administrator has configured; `None` if there are none.
    pub hooks: Option<Hooks>,
    /// Earlier sub-agents that this run's agents may continue; `None` if there are none.
    pub earlier: Option<EarlierAgents>,
    /// The trace that its model calls belong to.
    pub trace: RunTrace,
    /// The person on whose behalf it runs, for trusted model servers. `None` if there is no such server.
    pub caller: Option<Arc<CallerInfo>>,
}

/// The input of a run.
#[derive(Debug)]
pub struct RunInput {
    /// The chat it belongs to, if any.
    pub chat: Option<ChatId>,
    /// The assistant message it fills, if any.
    pub message: Option<MessageId>,
    /// The main agent and the sub-agents it may delegate to.
    pub agents: Agents,
    /// Tools of other servers, for the agents that may use them.
    pub deferred_tools: Option<DeferredTools>,
    /// The conversation, ending with the person's message. Instructions are prepended.
    pub history: Vec<Message>,
    /// Additional input for the model.
    pub context_material: ContextMaterial,
    /// Its limits.
    pub limits: Limits,
    /// The settings of research; `None` if the agent works freely.
    pub research: Option<Research>,
    /// The retrieval before the first turn, if any. Research has its own.
    pub look_up: Option<LookUp>,
    /// The models that answer again before the run's model does; `None` to answer directly.
    pub council: Option<Council>,
    /// The record of the run before a server restart; empty for a new run.
    pub journal: Journal,
}

/// A run ready to start.
#[derive(Debug)]
pub struct PreparedRun {
    /// What the caller requests.
    pub spec: RunSpec,
    /// What the process provides.
    pub deps: RunDeps,
    /// The input.
    pub input: RunInput,
}

/// The state shared by all agents of a run.
#[derive(Debug)]
pub(crate) struct RunContext {
    pub(crate) spec: RunSpec,
    pub(crate) deps: RunDeps,
    pub(crate) agents: Agents,
    pub(crate) limits: Limits,
    pub(crate) budget: Arc<Budget>,
    pub(crate) active_time: ActiveTime,
    pub(crate) pending_input: PendingInput,
    pub(crate) stops: AgentStops,
    pub(crate) inputs: RunInputs,
    /// The parameters that were left out of model calls, as logged.
    pub(crate) left_out: Mutex<BTreeSet<LeftOut>>,
    /// A person wants the answer now, from the results so far.
    pub(crate) finish: CancellationToken,
    /// The addresses that people have named.
    pub(crate) said: Addresses,
    /// The tools for which a notice was emitted.
    pub(crate) notified_tools: NotifiedTools,
    pub(crate) lost_calls: LostCalls,
    /// The run is being handed over to another server: no model call and no tool call begins any more.
    hand_over: CancellationToken,
}

impl RunContext {
    /// Marks a part of the run as working until the result is dropped: what it does is not in the log before its end.
    /// Waits for ever if the run is being handed over, as the next server does this work.
    pub(crate) async fn begin_work(&self) -> AtWork {
        match self.hand_over.is_cancelled() {
            true => self.pending_input.hold_back().await,
            false => self.pending_input.at_work(),
        }
    }
}

/// Signals that end a run, or a part of it, from outside.
#[derive(Debug, Clone, Default)]
pub struct StopSignals {
    /// A person has cancelled it.
    pub cancel: CancellationToken,
    /// A person wants the research report now, from the results so far. Other runs ignore it.
    pub finish: CancellationToken,
    /// The server is stopping: model calls and tool calls in progress may end, but no more begin. The run is dropped with
    /// `shutdown` as soon as [`PendingInput::rest`] allows it.
    pub hand_over: CancellationToken,
    /// The run is dropped. Its log stays open, if it outlives the server.
    pub shutdown: CancellationToken,
    /// A person has stopped one of the sub-agents.
    pub agents: AgentStops,
    /// What people write to it while it goes.
    pub inputs: RunInputs,
}

/// How the run ended, with the problem if it did not complete.
struct End(Outcome, Option<Problem>);

/// Runs the main agent until it has answered, is cancelled, reaches a limit or fails, and emits the whole log from
/// `RunStarted` to `RunFinished`. Items that are open on an early end are closed with their text so far: dropping the
/// work suffices to stop every model call, tool and sub-agent at once.
pub async fn run(
    prepared: PreparedRun,
    emitter: Emitter,
    pending_input: PendingInput,
    stop: StopSignals,
) {
    let PreparedRun {
        spec,
        deps,
        mut input,
    } = prepared;
    let mut journal = std::mem::take(&mut input.journal);
    journal
        .begin(&emitter, begin(&mut input, &deps, &emitter))
        .await;
    let research = input
        .research
        .take()
        .map(|research| research.about(&input.history));
    // Research reads inputs between its steps, whose work our code continues.
    let can_interrupt = spec.outlives_server() && research.is_none();
    stop.inputs.open(&emitter, &journal, can_interrupt);
    // Research has only its own tools.
    if let Some(deferred_tools) = input.deferred_tools.take().filter(|_| research.is_none()) {
        tokio::select! {
            () = stop.cancel.cancelled() => {}
            () = stop.shutdown.cancelled() => {}
            () = deferred_tools.join(&mut input.agents, &emitter) => {}
        }
    }
    let limits = input.limits.within(input.agents.main.limits);
    let agents = equipped(
        input.agents,
        &spec,
        &deps,
        research.as_ref(),
        &input.context_material.instructions,
    );
    let mut history = input.history;
    let said = Addresses::said_in(&history);
    let numbers = input.context_material.numbers;
    input.context_material.tell(&mut history);
    let budget = Arc::new(Budget::new(limits, journal.used()));
    let active_time = ActiveTime::new(journal.time());
    let journal = AgentJournal::main(
        journal,
        emitter.clone(),
        pending_input.clone(),
        limits.waiting,
    );
    let context = Arc::new(RunContext {
        spec,
        deps,
        agents,
        limits,
        budget,
        active_time,
        pending_input,
        stops: stop.agents.clone(),
        inputs: stop.inputs.clone(),
        left_out: Mutex::default(),
        finish: stop.finish.clone(),
        said,
        notified_tools: NotifiedTools::default(),
        lost_calls: LostCalls::default(),
        hand_over: stop.hand_over.clone(),
    });
    let main = AgentContext::main(Arc::clone(&context), emitter.clone(), journal);
    let main = Arc::new(main);
    main.learn_of_history(&history);
    let work = async {
        before_run(&main, &mut history).await?;
        match &research {
            Some(research) => {
                Arc::clone(research)
                    .carry_out(Arc::clone(&main), history)
                    .await
            }
            None => {
                let allowed = &main.run.spec.tool_restrictions;
                let look_up = input.look_up.map(|look_up| look_up.narrowed(allowed));
                answer(Arc::clone(&main), input.council, look_up, numbers, history).await
            }
        }
    };
    let work = AssertUnwindSafe(work.boxed()).catch_unwind();
    let mut is_interrupted = false;
    let end = tokio::select! {
        // A stopped or hibernated run does nothing more.
        biased;
        () = stop.cancel.cancelled() => Some(End(Outcome::Cancelled, None)),
        () = stop.shutdown.cancelled() => (!context.spec.outlives_server()).then(interrupted),
        () = context.active_time.reaches(limits.time) => Some(time_is_up(&context.budget)),
        () = stop.inputs.interruption() => {
            is_interrupted = true;
            None
        }
        result = work => Some(result.map_or_else(|_| fault(), end_of)),
    };
    main.report_lost_calls().await;
    if is_interrupted {
        return stop.inputs.end_step(&emitter, &stop.agents).await;
    }
    // Without an end event, the log stays open for the next server.
    let Some(end) = end else { return };
    finish(&main, research, end).await;
}

/// Emits the first events.
async fn begin(input: &mut RunInput, deps: &RunDeps, emitter: &Emitter) {
    let started = EventBody::RunStarted {
        chat: input.chat,
        message: input.message,
        model: deps.models.chosen().model().name().to_owned(),
    };
    match sent::said(&input.history) {
        Some(said) => emitter.emit_with(started, said).await,
        None => emitter.emit(started).await,
    }
    let sources = std::mem::take(&mut input.context_material.sources);
    if !sources.is_empty() {
        emitter.emit(EventBody::SourcesFound { sources }).await;
    }
}

/// The agents with the tools and instructions they have in this run.
fn equipped(
    mut agents: Agents,
    spec: &RunSpec,
    deps: &RunDeps,
    research: Option<&Arc<Task>>,
    instructions: &str,
) -> Agents {
    if deps.memory.is_none() {
        agents = agents.without_memory();
    }
    if let Some(research) = research {
        agents = research.agents(agents, &spec.tool_restrictions);
    } else if !spec.tool_restrictions.is_empty() {
        agents = agents.narrowed(&spec.tool_restrictions);
    }
    if !spec.client_tools.is_empty() && research.is_none() {
        agents.main.tools = agents.main.tools.with_client_tools(&spec.client_tools);
    }
    let own = &mut agents.main.instructions;
    *own = joined(&[own, instructions]);
    agents
}

/// Runs the mixture of agents and the retrieval, if any, then answers. `numbers` is the number of sources numbered so
/// far.
async fn answer(
    agent: Arc<AgentContext>,
    council: Option<Council>,
    look_up: Option<LookUp>,
    numbers: usize,
    history: Vec<Message>,
) -> Result<String, Stop> {
    let history = match council {
        Some(council) => council.hold(&agent, history).await,
        None => history,
    };
    let (history, before) = match look_up {
        Some(look_up) => look(&agent, look_up, history, numbers).await,
        None => (history, Before::default()),
    };
    take_turns(agent, history, before).await
}

fn end_of(result: Result<String, Stop>) -> End {
    match result {
        Ok(_) => End(Outcome::Completed, None),
        Err(Stop::Limited { problem, .. }) => End(Outcome::Limited, Some(problem)),
        Err(Stop::Failed(problem)) => End(Outcome::Failed, Some(problem)),
        Err(Stop::HandedOver) => End(Outcome::HandedOver, None),
    }
}

fn time_is_up(budget: &Budget) -> End {
    End(Outcome::Limited, Some(budget.end_of_time().1))
}

fn interrupted() -> End {
    End(
        Outcome::Failed,
        Some(Problem::new(
            ProblemCode::Interrupted,
            messages::Runs::Interrupted,
        )),
    )
}

/// The panic hook has reported the panic; the person gets a message.
fn fault() -> End {
    End(
        Outcome::Failed,
        Some(Problem::new(
            ProblemCode::Internal,
            messages::Runs::FaultOfServer,
        )),
    )
}

/// Closes open items and ends the log. Research that ends before its report gives the results so far as the answer.
async fn finish(main: &AgentContext, research: Option<Arc<Task>>, End(outcome, problem): End) {
    let reason = match outcome {
        Outcome::Completed | Outcome::HandedOver => "The run ended before this finished.",
        Outcome::Cancelled => STOPPED,
        Outcome::Failed => "The run failed before this finished.",
        Outcome::Limited => "The run reached a limit before this finished.",
    };
    let emitter = &main.emitter;
    emitter.close_work(outcome, reason).await;
    let has_answer = main.journal.has_answered();
    if let Some(research) = research.filter(|_| !has_answer) {
        research.tell_known(main).await;
    }
    after_run(main, outcome, problem.as_ref()).await;
    emitter.hide_status().await;
    main.run.inputs.close().await;
    let used = main.run.budget.used();
    emitter
        .emit(EventBody::RunFinished {
            outcome,
            problem,
            usage: used.usage,
            cost_micro_usd: used.cost_micro_usd,
        })
        .await;
}

/// The non-empty parts of the prompt.
pub(crate) fn joined(parts: &[&str]) -> String {
    parts
        .iter()
        .copied()
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join("\n\n")
}

/// The instructions, if any, as the first message.
pub(crate) fn with_instructions(instructions: &str, history: Vec<Message>) -> Vec<Message> {
    if instructions.is_empty() {
        return history;
    }
    let mut messages = Vec::with_capacity(history.len() + 1);
    messages.push(Message::text(Role::System, instructions));
    messages.extend(history);
    messages
}
