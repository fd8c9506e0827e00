//! One run from its first event to its last: the main agent's turns, and how stop signals, limits and faults end them.

use std::{
    collections::BTreeSet,
    panic::AssertUnwindSafe,
    sync::{Arc, Mutex},
};

use domain::{
    ChatId, EventBody, LeftOut, Message, MessageId, ModelParameters, Outcome, Problem, ProblemCode,
    Role, RunTrace, Sentence,
};
use futures_util::FutureExt;
use llm::{CallerInfo, ChatModel, ToolMode, ToolPrompt, ToolSpec};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use crate::{
    AgentStops, Agents, AnswerForm, ApprovalPolicy, CallableModel, ContextMaterial, Council,
    DeferredTools, EarlierAgents, Emitter, Hooks, Journal, Limits, LookUp, Memory, PendingInput,
    Prices, Quota, Research, Told, ToolChoice, Workspace,
    active_time::ActiveTime,
    addresses::Addresses,
    budget::Budget,
    hooks::{after_run, before_run},
    journal::{AgentJournal, STOPPED},
    look_up::look,
    models::Models,
    open_call::LostCalls,
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
    /// The parameters of its calls that neither caller nor agent sets.
    pub parameters: ModelParameters,
    /// Its context window, if known; the older part of a conversation that would fill it becomes a summary.
    pub context_tokens: Option<u64>,
    /// Its prices.
    pub prices: Option<Prices>,
}

/// The caller's options for the model calls of a run, in addition to the model's own settings.
#[derive(Debug, Clone, Default)]
pub struct CallWishes {
    /// The parameters of the main agent's calls, and of those of agents that use its model and set none.
    pub parameters: ModelParameters,
    /// The JSON format of the answer.
    pub answer_form: Option<Arc<AnswerForm>>,
    /// Additional fields of the requests to the model's server, sent unchanged.
    pub extra: Map<String, Value>,
}

/// The input of a run.
#[derive(Debug)]
pub struct RunRequest {
    /// The chat it belongs to, if any.
    pub chat: Option<ChatId>,
    /// The assistant message it fills, if any.
    pub message: Option<MessageId>,
    /// The main agent and those it may hand work to.
    pub agents: Agents,
    /// Tools of other servers, for the agents that may use them.
    pub deferred_tools: Option<DeferredTools>,
    /// Restrictions on the agents' tools, all of which have to allow a tool. If empty, they may use what they have.
    pub narrowed: Vec<ToolChoice>,
    /// Tools that the caller brings and runs itself: a call of one ends the run as handed over.
    pub client_tools: Vec<ToolSpec>,
    /// The model of all agents that have none of their own.
    pub model: ChatModel,
    /// Its id here.
    pub model_id: String,
    /// How to call it.
    pub settings: ModelSettings,
    /// How tools are described to models without native tool calling; `None` if those have no tools.
    pub tool_prompt: Option<ToolPrompt>,
    /// How often code may fail in a row before no more is run.
    pub code_retries: u32,
    /// The fallbacks if its server fails, in this order.
    pub fallbacks: Vec<CallableModel>,
    /// The caller's options.
    pub wishes: CallWishes,
    /// The conversation, ending with the person's message. Instructions are put before it.
    pub history: Vec<Message>,
    /// Additional input for the model.
    pub context_material: ContextMaterial,
    /// The date in the agents' instructions; `None` if they have none.
    pub today: Option<String>,
    /// The files.
    pub workspace: Workspace,
    /// The person's memories, and the text of them for the agents; `None` if they must not use them.
    pub memory: Option<(Memory, Told)>,
    /// Its limits.
    pub limits: Limits,
    /// Limits from outside the run; `None` if there are none.
    pub quota: Option<Arc<dyn Quota>>,
    /// Which calls need approval.
    pub approval_policy: ApprovalPolicy,
    /// The hooks that an administrator has configured; `None` if there are none.
    pub hooks: Option<Hooks>,
    /// The sub-agents that its own may continue; `None` if none can be continued.
    pub earlier: Option<EarlierAgents>,
    /// The settings of research; `None` if the agent works freely.
    pub research: Option<Research>,
    /// The retrieval before the first turn, if there is one. Research has its own.
    pub look_up: Option<LookUp>,
    /// The models that answer again before its model does; `None` if that answers at once.
    pub council: Option<Council>,
    /// Its record before a restart of the server; empty for a new run.
    pub journal: Journal,
    /// Whether it continues after a restart of the server. If not, the shutdown ends it.
    pub outlives_server: bool,
    /// The trace that its model calls belong to.
    pub trace: RunTrace,
    /// The person on whose behalf it runs, for trusted model servers. `None` if there is no such server.
    pub caller: Option<Arc<CallerInfo>>,
}

/// What all agents of a run share.
#[derive(Debug)]
pub(crate) struct RunContext {
    pub(crate) agents: Agents,
    /// The main agent's.
    pub(crate) models: Arc<Models>,
    pub(crate) wishes: CallWishes,
    pub(crate) tool_prompt: Option<ToolPrompt>,
    pub(crate) code_retries: u32,
    pub(crate) workspace: Workspace,
    pub(crate) memory: Option<Memory>,
    pub(crate) told: Told,
    pub(crate) today: Option<String>,
    pub(crate) limits: Limits,
    pub(crate) quota: Option<Arc<dyn Quota>>,
    pub(crate) budget: Arc<Budget>,
    pub(crate) active_time: ActiveTime,
    pub(crate) approval_policy: ApprovalPolicy,
    pub(crate) pending_input: PendingInput,
    pub(crate) hooks: Option<Hooks>,
    pub(crate) earlier: Option<EarlierAgents>,
    pub(crate) stops: AgentStops,
    pub(crate) trace: RunTrace,
    pub(crate) caller: Option<Arc<CallerInfo>>,
    /// The parameters that were left out of model calls, as noted in the log.
    pub(crate) left_out: Mutex<BTreeSet<LeftOut>>,
    /// A person wants the answer now, from the results so far.
    pub(crate) finish: CancellationToken,
    /// The addresses that people have named.
    pub(crate) said: Addresses,
    /// The tools that have had a notice.
    pub(crate) notified_tools: NotifiedTools,
    pub(crate) lost_calls: LostCalls,
}

/// The ways to end a run, or a part of it, from outside.
#[derive(Debug, Clone, Default)]
pub struct StopSignals {
    /// A person has cancelled it.
    pub cancel: CancellationToken,
    /// A person wants the research report now, from the results so far. Other runs ignore it.
    pub finish: CancellationToken,
    /// The server is going down.
    pub shutdown: CancellationToken,
    /// A person has stopped one of the sub-agents.
    pub agents: AgentStops,
}

/// How the run ended, with the problem if it did not complete.
struct End(Outcome, Option<Problem>);

/// Runs the main agent until it has answered, is cancelled, meets a limit or fails, and emits the whole log,
/// `RunStarted` to `RunFinished`. Items that are open when it ends early are closed with their text so far: dropping
/// the work is all it takes to stop every model call, tool and sub-agent at once.
pub async fn run(
    request: RunRequest,
    emitter: Emitter,
    pending_input: PendingInput,
    stop: StopSignals,
) {
    let RunRequest {
        chat,
        message,
        mut agents,
        deferred_tools,
        narrowed,
        client_tools,
        model,
        ..
    } = request;
    let RunRequest {
        model_id,
        settings,
        tool_prompt,
        code_retries,
        fallbacks,
        wishes,
        mut history,
        mut context_material,
        today,
        workspace,
        memory,
        limits,
        quota,
        approval_policy,
        hooks,
        earlier,
        research,
        look_up,
        council,
        mut journal,
        trace,
        caller,
        ..
    } = request;
    // It has only its own tools.
    let deferred_tools = deferred_tools.filter(|_| research.is_none());
    let research = research.map(|research| research.about(&history));
    let limits = limits.within(agents.main.limits);
    let outlives_server = request.outlives_server;
    let sources = std::mem::take(&mut context_material.sources);
    let start = async {
        let started = EventBody::RunStarted {
            chat,
            message,
            model: model.name().to_owned(),
        };
        match sent::said(&history) {
            Some(said) => emitter.emit_with(started, said).await,
            None => emitter.emit(started).await,
        }
        if !sources.is_empty() {
            emitter.emit(EventBody::SourcesFound { sources }).await;
        }
    };
    journal.begin(&emitter, start).await;
    if let Some(deferred_tools) = deferred_tools {
        tokio::select! {
            () = stop.cancel.cancelled() => {}
            () = stop.shutdown.cancelled() => {}
            () = deferred_tools.join(&mut agents, &emitter) => {}
        }
    }
    let (memory, told) =
        memory.map_or_else(Default::default, |(memory, told)| (Some(memory), told));
    if memory.is_none() {
        agents = agents.without_memory();
    }
    if let Some(research) = &research {
        agents = research.agents(agents, &narrowed);
    } else if !narrowed.is_empty() {
        agents = agents.narrowed(&narrowed);
    }
    if !client_tools.is_empty() && research.is_none() {
        agents.main.tools = agents.main.tools.with_client_tools(&client_tools);
    }
    let said = Addresses::said_in(&history);
    let instructions = &mut agents.main.instructions;
    *instructions = joined(&[instructions, &context_material.instructions]);
    let numbers = context_material.numbers;
    context_material.tell(&mut history);
    let budget = Arc::new(Budget::new(limits, journal.used()));
    let models = Arc::new(Models::new(
        CallableModel {
            id: model_id,
            model,
            settings,
        },
        fallbacks,
    ));
    let active_time = ActiveTime::new(journal.time());
    let journal = AgentJournal::main(
        journal,
        emitter.clone(),
        pending_input.clone(),
        limits.waiting,
    );
    let context = Arc::new(RunContext {
        agents,
        models,
        wishes,
        tool_prompt,
        code_retries,
        workspace,
        memory,
        told,
        today,
        limits,
        quota,
        budget,
        active_time,
        approval_policy,
        pending_input,
        hooks,
        earlier,
        stops: stop.agents.clone(),
        trace,
        caller,
        left_out: Mutex::default(),
        finish: stop.finish.clone(),
        said,
        notified_tools: NotifiedTools::default(),
        lost_calls: LostCalls::default(),
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
                let look_up = look_up.map(|look_up| (look_up.narrowed(&narrowed), numbers));
                answer(Arc::clone(&main), council, look_up, history).await
            }
        }
    };
    let work = AssertUnwindSafe(work.boxed()).catch_unwind();
    let end = tokio::select! {
        // A run that is stopped or hibernated does nothing more.
        biased;
        () = stop.cancel.cancelled() => Some(End(Outcome::Cancelled, None)),
        () = stop.shutdown.cancelled() => (!outlives_server).then(interrupted),
        () = context.active_time.reaches(limits.time) => Some(time_is_up(&context.budget)),
        result = work => Some(result.map_or_else(|_| fault(), end_of)),
    };
    main.report_lost_calls().await;
    // Without an end the log stays open for the next server.
    let Some(end) = end else { return };
    finish(&main, research, end).await;
}

/// Runs the mixture of agents and the retrieval, if there are any, then answers.
async fn answer(
    agent: Arc<AgentContext>,
    council: Option<Council>,
    look_up: Option<(LookUp, usize)>,
    history: Vec<Message>,
) -> Result<String, Stop> {
    let history = match council {
        Some(council) => council.hold(&agent, history).await,
        None => history,
    };
    let (history, before) = match look_up {
        Some((look_up, numbers)) => look(&agent, look_up, history, numbers).await,
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
            Sentence::Interrupted,
        )),
    )
}

/// The panic itself was reported by the panic hook; the person gets a sentence.
fn fault() -> End {
    End(
        Outcome::Failed,
        Some(Problem::new(ProblemCode::Internal, Sentence::FaultOfServer)),
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
