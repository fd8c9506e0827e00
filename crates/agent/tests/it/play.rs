//! Plays one run to its end against a scripted model and keeps what happened.

use std::sync::{Arc, Mutex};

use agent::{
    Agents, ApprovalDecision, ApprovalPolicy, DeferredTools, EarlierAgents, Emitter, FoundTools,
    Journal, Limits, ModelSettings, Models, PendingInput, PreparedRun, RunDeps, RunInput, RunSpec,
    StopSignals, Workspace, no_earlier_agent,
};
use domain::{EventBody, LocalizedText, Message, Origin, Role, RunEvent, RunId, RunTrace, laws};
use llm::{ChatModel, ChatRequest, Line, ScriptedModel};
use store::Store;
use tokio::sync::mpsc;

type Script = dyn Fn(&ChatRequest<'_>) -> Vec<Line> + Send + Sync;

/// A run about to be played.
pub(crate) struct Play {
    pub(crate) agents: Agents,
    pub(crate) limits: Limits,
    pub(crate) quota: Option<std::sync::Arc<dyn agent::Quota>>,
    pub(crate) approval_policy: ApprovalPolicy,
    pub(crate) hooks: Option<agent::Hooks>,
    pub(crate) settings: ModelSettings,
    pub(crate) model: ChatModel,
    pub(crate) fallbacks: Vec<agent::CallableModel>,
    pub(crate) workspace: Workspace,
    pub(crate) memory: Option<agent::Memory>,
    pub(crate) pending_input: PendingInput,
    pub(crate) stop: StopSignals,
    /// The conversation before the question.
    pub(crate) said_before: Vec<Message>,
    pub(crate) question: String,
    pub(crate) spec: RunSpec,
    /// Tools that others offer; those that need consent; what is missing.
    pub(crate) offered: (Vec<Arc<agent::Tool>>, Vec<String>, Vec<String>),
    /// The log of the run so far.
    pub(crate) before: Vec<RunEvent>,
    /// The logs of other runs of the chat, where sub-agents can be continued.
    pub(crate) earlier: Option<Vec<RunEvent>>,
    pub(crate) research: Option<agent::Research>,
    pub(crate) look_up: Option<agent::LookUp>,
    /// The log as far as it has come.
    so_far: Arc<Mutex<Vec<RunEvent>>>,
    requests: Arc<Mutex<Vec<Vec<Message>>>>,
}

/// Called with each event as it comes.
pub(crate) type Watch<'a> = &'a mut (dyn FnMut(&RunEvent, &Play) + Send);

impl Play {
    /// A run whose model answers as `script` says.
    pub(crate) async fn new(script: Arc<Script>) -> Self {
        let requests: Arc<Mutex<Vec<Vec<Message>>>> = Arc::default();
        let seen = Arc::clone(&requests);
        let play = move |request: &ChatRequest<'_>| {
            seen.lock().unwrap().push(request.messages.to_vec());
            script(request)
        };
        let mut play = Self::with_model(ChatModel::scripted(ScriptedModel::new(
            "test",
            Arc::new(play),
        )))
        .await;
        play.requests = requests;
        play
    }

    /// A run whose main agent's answers come from a list, one for each call.
    pub(crate) async fn turns(turns: Vec<Vec<Line>>) -> Self {
        let turns = Mutex::new(turns.into_iter());
        Self::new(Arc::new(move |_| {
            turns.lock().unwrap().next().unwrap_or_default()
        }))
        .await
    }

    /// A run with this model.
    pub(crate) async fn with_model(model: ChatModel) -> Self {
        let store = Store::open("sqlite::memory:").await.unwrap();
        Self {
            agents: Agents::built_in().unwrap(),
            limits: Limits::default(),
            quota: None,
            approval_policy: ApprovalPolicy::default(),
            hooks: None,
            settings: ModelSettings::default(),
            model,
            fallbacks: Vec::new(),
            workspace: Workspace::new(store, "test".into(), Arc::new(|| 7)),
            memory: None,
            pending_input: PendingInput::default(),
            stop: StopSignals::default(),
            said_before: Vec::new(),
            question: "Please.".into(),
            spec: RunSpec {
                ends_with_server: true,
                ..RunSpec::default()
            },
            offered: Default::default(),
            before: Vec::new(),
            earlier: None,
            research: None,
            look_up: None,
            so_far: Arc::default(),
            requests: Arc::default(),
        }
    }

    /// Runs it to the end and asks the laws of the log.
    pub(crate) async fn log(&self) -> Vec<RunEvent> {
        self.watched(&mut |_, _| {}).await
    }

    /// The same, with a look at each event as it comes.
    pub(crate) async fn watched(&self, watch: Watch<'_>) -> Vec<RunEvent> {
        let log = self.unchecked(watch).await;
        if let Err(law) = laws::check(&log) {
            panic!("{law}\n{}", lines(&log).join("\n"));
        }
        log
    }

    /// The same for a log that need not be whole.
    pub(crate) async fn unchecked(&self, watch: Watch<'_>) -> Vec<RunEvent> {
        let (emitter, events) = Emitter::channel(8);
        let run = self
            .before
            .first()
            .map_or_else(RunId::generate, |first| first.run);
        let model = agent::CallableModel {
            id: "test".into(),
            model: self.model.clone(),
            settings: self.settings.clone(),
        };
        let deps = RunDeps {
            models: Arc::new(Models::new(model, self.fallbacks.clone())),
            tool_prompt: None,
            code_retries: 5,
            workspace: self.workspace.clone(),
            memory: self.memory.clone(),
            today: None,
            quota: self.quota.clone(),
            approval_policy: self.approval_policy.clone(),
            hooks: self.hooks.clone(),
            earlier: self.earlier_agents(run),
            trace: RunTrace {
                run: RunId::generate(),
                origin: Origin::default(),
                is_exported: false,
            },
            caller: None,
        };
        let input = RunInput {
            chat: None,
            message: None,
            agents: self.agents.clone(),
            deferred_tools: self.deferred_tools(),
            history: self.history(),
            context_material: agent::ContextMaterial::default(),
            limits: self.limits,
            research: self.research.clone(),
            look_up: self.look_up.clone(),
            council: None,
            journal: self.journal(),
        };
        let prepared = PreparedRun {
            spec: self.spec.clone(),
            deps,
            input,
        };
        let work = agent::run(
            prepared,
            emitter,
            self.pending_input.clone(),
            self.stop.clone(),
        );
        tokio::join!(self.collect(run, events, watch), work).0
    }

    async fn collect(
        &self,
        run: RunId,
        mut events: mpsc::Receiver<agent::Emitted>,
        watch: Watch<'_>,
    ) -> Vec<RunEvent> {
        let mut log = self.before.clone();
        self.so_far.lock().unwrap().clone_from(&log);
        while let Some(emitted) = events.recv().await {
            let (agent, body) = (emitted.agent, emitted.body);
            log.push(RunEvent {
                run,
                seq: log.len() as u64 + 1,
                at: 0,
                agent,
                body,
            });
            self.so_far.lock().unwrap().extend(log.last().cloned());
            emitted.stored.map(|stored| stored.send(()));
            watch(&log[log.len() - 1], self);
        }
        log
    }

    fn deferred_tools(&self) -> Option<DeferredTools> {
        let (tools, needs_approval, missing) = self.offered.clone();
        let missing = missing.into_iter().map(LocalizedText::from).collect();
        Some(DeferredTools::new(async {
            FoundTools {
                tools,
                needs_approval,
                missing,
            }
        }))
    }

    fn earlier_agents(&self, run: RunId) -> Option<EarlierAgents> {
        let (others, own) = (self.earlier.clone()?, Arc::clone(&self.so_far));
        Some(EarlierAgents::new(run, move |handle| {
            let mut all = others.clone();
            all.extend(own.lock().unwrap().iter().cloned());
            all.retain(|event| {
                handle.is_of(event.run)
                    && (event.agent.id() == Some(handle.agent())
                        || matches!(event.body, EventBody::RunResumed { .. }))
            });
            let found = if all.is_empty() {
                Err(no_earlier_agent())
            } else {
                Ok(all)
            };
            Box::pin(std::future::ready(found))
        }))
    }

    fn history(&self) -> Vec<Message> {
        let said = Message::text(Role::User, self.question.clone());
        self.said_before.iter().cloned().chain([said]).collect()
    }

    fn journal(&self) -> Journal {
        let mut journal = Journal::default();
        self.before.iter().for_each(|event| journal.push(event));
        journal
    }

    /// The conversation sent with each model call.
    /// The log as far as it has come.
    pub(crate) fn log_so_far(&self) -> Vec<RunEvent> {
        self.so_far.lock().unwrap().clone()
    }

    pub(crate) fn requests(&self) -> Vec<Vec<Message>> {
        self.requests.lock().unwrap().clone()
    }

    /// Allows whatever asks.
    pub(crate) fn allow(&self, event: &RunEvent) {
        if let EventBody::ApprovalAsked { approval, .. } = &event.body {
            let answer = ApprovalDecision::only(domain::event::Decision::Allow);
            self.pending_input
                .answer_approval(approval, answer)
                .unwrap();
        }
    }
}

/// The log as short lines, deltas and bookkeeping left out.
pub(crate) fn lines(log: &[RunEvent]) -> Vec<String> {
    log.iter()
        .filter_map(|event| line(event).map(|line| format!("{:?} {line}", event.agent)))
        .collect()
}

fn line(event: &RunEvent) -> Option<String> {
    Some(match &event.body {
        EventBody::TextFinished { text, answer, .. } => {
            format!("{} {text:?}", if *answer { "answers" } else { "says" })
        }
        EventBody::ReasoningFinished { text, .. } => format!("thinks {text:?}"),
        EventBody::ToolRequested { call, name, .. } => format!("requests {call} {name}"),
        EventBody::ToolStarted {
            call, arguments, ..
        } => format!("runs {call} {arguments}"),
        EventBody::ToolFinished {
            call,
            result,
            error,
            ..
        } => {
            format!(
                "{} {call}: {result}",
                if *error { "failed" } else { "finished" }
            )
        }
        EventBody::ToolHandedOver {
            call, arguments, ..
        } => format!("hands over {call} {arguments}"),
        EventBody::ApprovalAsked { call, .. } => format!("asks to run {call}"),
        EventBody::ApprovalAnswered {
            decision, edited, ..
        } => {
            format!("is told {decision:?} edited={edited}")
        }
        EventBody::QuestionAsked {
            text,
            schema: Some(form),
            ..
        } => {
            format!(
                "asks {text:?} with a form: {}",
                form.words().replace('\n', "; ")
            )
        }
        EventBody::QuestionAsked { text, options, .. } => format!("asks {text:?} {options:?}"),
        EventBody::QuestionAnswered {
            values: Some(values),
            ..
        } => {
            format!("hears {}", serde_json::json!(values))
        }
        EventBody::QuestionAnswered { declined: true, .. } => {
            "hears that there is no answer".to_owned()
        }
        EventBody::QuestionAnswered { answer, .. } => format!("hears {answer:?}"),
        EventBody::PlanChanged { todos } => format!("plans {} tasks", todos.len()),
        EventBody::FileChanged { path, version, .. } => format!("changed {path} v{version}"),
        EventBody::MemoryUpdateCompleted {
            call,
            name,
            version,
            ..
        } => {
            format!("{call:?} remembers {name:?} {version:?}")
        }
        EventBody::AgentStarted { name, call, .. } => format!("starts {name:?} for {call}"),
        EventBody::AgentFinished { outcome, result } => format!("ends {outcome:?}: {result}"),
        EventBody::Notice { message, .. } => format!("notices {message}"),
        EventBody::RunFinished {
            outcome, problem, ..
        } => match problem {
            Some(problem) => format!("finished {outcome:?}: {}", problem.message),
            None => format!("finished {outcome:?}"),
        },
        _ => return None,
    })
}
