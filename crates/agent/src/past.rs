//! What a run had done before its server stopped, read from its log. The same loop runs again from the beginning and
//! takes from here what is finished, so nothing that was done is done twice.

mod call;

use std::{
    collections::{HashMap, HashSet},
    time::Duration,
};

use domain::{
    AgentPath, EventBody, OpenItems, Outcome, Problem, ProblemCode, Reply, RunEvent, ToolCall,
    Words, event::Forked, message::arguments_text, trace::parts_model_calls,
};

use crate::{
    answer::Answer,
    budget::Used,
    compaction::PastCompaction,
    hooks::PastHooks,
    parameters::PastNotices,
    provenance::Blocks,
    run::STOPPED,
    turns::trailing_number,
    workspace::{is_of_results, seems_picture},
};

pub(crate) use call::{PastApproval, PastCall, PastDecision, PastQuestion, PastResult};

/// What a call says that was not written to its end.
const NOT_WRITTEN: &str = "The server was restarted before this call was written to its end.";

/// A run's past. A new run has an empty one.
#[derive(Debug, Default)]
pub struct Past {
    agents: HashMap<AgentPath, PastAgent>,
    /// By their ids, which are unique within the run.
    calls: HashMap<String, PastCall>,
    /// What hooks had decided.
    pub(crate) hooks: PastHooks,
    open: OpenItems,
    used: Used,
    /// From the first event to the last, without the times the server was down or people were waited for.
    time_ms: u64,
    /// When the run goes on, by the server's clock.
    now_ms: i64,
    last_at: Option<i64>,
    restarts: u32,
    /// It was only put to rest, so its log has no break.
    rested: bool,
    /// What the person told the main agent, and the number of the step before which it was said.
    guidance: Vec<(u32, String)>,
    /// What notices have said.
    pub(crate) notices: PastNotices,
    /// The ids of the sources it has told of.
    sources: HashSet<String>,
    /// The log ends where the run was forked: nothing of its own has been done.
    is_fork: bool,
}

#[derive(Debug, Default)]
struct PastAgent {
    steps: Vec<PastStep>,
    /// The highest number of its items and of its sub-agents.
    items: usize,
    sub_agents: usize,
    /// How many of its events part model calls.
    model_calls: u32,
    end: Option<(Outcome, String)>,
    /// What the run's clock showed when it was started.
    began: Option<Duration>,
    used: Used,
    /// The pictures among the files that it has changed.
    pictures: Vec<String>,
}

/// One model call.
#[derive(Debug, Default)]
struct PastStep {
    number: u32,
    /// Why it was the agent's last, where it was.
    last: Option<String>,
    /// What was done to the conversation before the model was asked.
    compactions: Vec<PastCompaction>,
    blocks: Blocks,
    text: String,
    calls: Vec<String>,
    input_tokens: u64,
    whole: bool,
    /// Its text is the agent's answer.
    answered: bool,
    /// What the model has made.
    pictures: Vec<String>,
}

impl Past {
    /// Takes note of the log's next event.
    pub fn push(&mut self, event: &RunEvent) {
        let RunEvent {
            at, agent, body, ..
        } = event;
        self.open.push(agent, body);
        self.hooks.push(agent, body);
        self.notices.push(body);
        self.count_time(*at, body);
        self.is_fork = matches!(body, EventBody::RunForked { .. });
        if let Some(step) = self
            .agents
            .get_mut(agent)
            .and_then(|agent| agent.steps.last_mut())
        {
            step.blocks.push(body);
        }
        if parts_model_calls(body) {
            self.agent(agent).model_calls += 1;
        }
        match body {
            EventBody::ModelCalled {
                usage,
                cost_micro_usd,
                broken_off,
                ..
            } => {
                self.used.add(*usage, *cost_micro_usd);
                self.agent(agent).used.add(*usage, *cost_micro_usd);
                if !broken_off {
                    self.restarts = 0;
                    self.end_step(agent, usage.input_tokens);
                }
            }
            EventBody::StepStarted { step, last } => {
                let step = PastStep {
                    number: *step,
                    last: last.clone(),
                    ..PastStep::default()
                };
                self.agent(agent).steps.push(step);
            }
            EventBody::ContextCompacted {
                summary,
                kept_messages,
                usage,
                cost_micro_usd,
                ..
            } => {
                self.restarts = 0;
                self.used.add(*usage, *cost_micro_usd);
                self.agent(agent).used.add(*usage, *cost_micro_usd);
                let done = PastCompaction {
                    kept_messages: *kept_messages,
                    summary: summary.clone(),
                };
                if let Some(step) = self.agent(agent).steps.last_mut() {
                    step.compactions.push(done);
                }
            }
            EventBody::TextFinished {
                item,
                text,
                answer,
                reasoning,
            } => {
                self.number(agent, item);
                if let Some(step) = self.agent(agent).steps.last_mut() {
                    match reasoning {
                        true => step.text.clear(),
                        false => step.text.push_str(text),
                    }
                    step.whole |= answer;
                    step.answered |= answer;
                }
            }
            EventBody::ReasoningStarted { item } | EventBody::TextStarted { item } => {
                self.number(agent, item)
            }
            // The provider ran it; the message has it in the provider's data.
            EventBody::ToolRequested {
                call,
                by_provider: true,
                ..
            } => self.number(agent, call),
            EventBody::ToolRequested {
                call,
                name,
                model_id,
                ..
            } => {
                self.number(agent, call);
                let past = self.call(call);
                past.name.clone_from(name);
                past.model_id.clone_from(model_id);
                if let Some(step) = self.agent(agent).steps.last_mut() {
                    step.calls.push(call.clone());
                }
            }
            EventBody::AgentStarted { call, .. } => {
                self.call(call).sub_agent = Some(agent.clone());
                self.agent(agent).began = Some(self.time());
                if let Some(parent) = agent.parent() {
                    let number = trailing_number(agent.id().unwrap_or_default());
                    let parent = self.agent(&parent);
                    parent.sub_agents = parent.sub_agents.max(number);
                }
            }
            EventBody::AgentFinished { outcome, result } => {
                self.agent(agent).end = Some((*outcome, result.clone()));
            }
            EventBody::FileChanged { path, deleted, .. } => {
                let pictures = &mut self.agent(agent).pictures;
                pictures.retain(|known| known != path);
                let is_of_programs = !deleted && seems_picture(path) && !is_of_results(path);
                pictures.extend(is_of_programs.then(|| path.clone()));
            }
            EventBody::HookStarted(call) => self.number(agent, &call.id),
            EventBody::RunResumed {} => self.restarts += 1,
            EventBody::SourcesFound { sources } => {
                self.sources
                    .extend(sources.iter().map(|source| source.id.clone()));
            }
            EventBody::RunForked(Forked { guidance, .. }) => self.fork(guidance.as_deref()),
            body => {
                if let EventBody::ToolStarted { call, .. } = body {
                    self.begin_calls(agent, call);
                }
                self.push_to_call(agent, *at, body);
            }
        }
    }

    /// Where one of its calls runs, the step has all of them: no model has to have said so.
    fn begin_calls(&mut self, agent: &AgentPath, call: &String) {
        if let Some(step) = self.agent(agent).steps.last_mut() {
            step.whole |= step.calls.contains(call);
        }
    }

    /// What stands before was done by another run: this one has used nothing yet.
    fn fork(&mut self, guidance: Option<&str>) {
        (self.used, self.time_ms, self.restarts) = (Used::default(), 0, 0);
        let done = self.agents.get(&AgentPath::main());
        let done = done.and_then(|main| main.steps.iter().rev().find(|step| step.whole));
        let next = done.map_or(1, |step| step.number.saturating_add(1));
        self.guidance
            .extend(guidance.map(|text| (next, text.to_owned())));
    }

    fn push_to_call(&mut self, agent: &AgentPath, asked_at: i64, body: &EventBody) {
        match body {
            EventBody::ToolArgumentsDelta { call, delta } => {
                self.call(call).written.push_str(delta)
            }
            EventBody::ToolStarted {
                call, arguments, ..
            } => {
                self.call(call).started = Some(arguments.clone());
            }
            EventBody::ToolFinished {
                call,
                arguments,
                result,
                model_note,
                error,
                files,
                ..
            } => {
                self.restarts = 0;
                if let Some(step) = self.agent(agent).steps.last_mut()
                    && !step.calls.contains(call)
                {
                    // The provider ran it.
                    step.pictures
                        .extend(files.iter().map(|file| file.path.clone()));
                }
                let call = self.call(call);
                let (text, note, files) = (result.clone(), model_note.clone(), files.clone());
                call.finished = Some(PastResult {
                    text,
                    error: *error,
                    note,
                    files,
                });
                if call.written.is_empty() {
                    call.written = arguments_text(arguments);
                }
            }
            EventBody::MemoryUpdateStarted {
                call: Some(call), ..
            } => self.call(call).memory_begun = true,
            EventBody::MemoryUpdateCompleted {
                call: Some(call), ..
            } => {
                self.call(call).memory_changed = true;
            }
            EventBody::ToolHandedOver { call, .. } => self.call(call).handed_over = true,
            EventBody::ApprovalAsked { approval, call, .. } => {
                self.number(agent, approval);
                let asked = PastApproval {
                    id: approval.clone(),
                    asked_at,
                    answer: None,
                };
                self.call(call).approval = Some(asked);
            }
            EventBody::ApprovalAnswered {
                approval,
                decision,
                reason,
                edited,
                ..
            } => {
                let asked = self
                    .calls
                    .values_mut()
                    .filter_map(|call| call.approval.as_mut());
                if let Some(asked) = asked.into_iter().find(|asked| asked.id == *approval) {
                    let (decision, reason, edited) = (*decision, reason.clone(), *edited);
                    asked.answer = Some(PastDecision {
                        decision,
                        reason,
                        edited,
                    });
                }
            }
            EventBody::QuestionAsked {
                question,
                call,
                text,
                schema,
                ..
            } => {
                self.number(agent, question);
                let (text, form) = (text.clone(), schema.clone());
                let asked = PastQuestion {
                    id: question.clone(),
                    text,
                    form,
                    asked_at,
                    answer: None,
                };
                self.call(call).questions.push(asked);
            }
            EventBody::QuestionAnswered {
                question,
                answer,
                values,
                declined,
            } => {
                let mut asked = self.calls.values_mut().flat_map(|call| &mut call.questions);
                if let Some(asked) = asked.find(|asked| asked.id == *question) {
                    asked.answer = Some(Reply::of_log(answer.as_ref(), values.as_ref(), *declined));
                }
            }
            _ => {}
        }
    }

    /// Says when the run goes on, milliseconds since 1970-01-01 UTC by the server's clock.
    pub fn goes_on_at(&mut self, now_ms: i64) {
        self.now_ms = now_ms;
    }

    /// Says that it was put to rest with [`crate::Asks::rest`]: nobody needs to be told that it goes on.
    pub fn has_rested(&mut self) {
        self.rested = true;
    }

    /// What is left of `limit` for something that began at `since`.
    pub(crate) fn left_of(&self, since: i64, limit: Duration) -> Duration {
        let over = u64::try_from(self.now_ms.saturating_sub(since)).unwrap_or(0);
        limit.saturating_sub(Duration::from_millis(over))
    }

    /// How often the run went on after a restart since it last did something.
    #[must_use]
    pub fn restarts(&self) -> u32 {
        self.restarts
    }

    /// How much of the run's time is over.
    pub(crate) fn time(&self) -> Duration {
        Duration::from_millis(self.time_ms)
    }

    pub(crate) fn used(&self) -> Used {
        self.used
    }

    /// What the agent has used with its sub-agents.
    pub(crate) fn used_under(&self, agent: &AgentPath) -> Used {
        let mut all = Used::default();
        for (_, PastAgent { used, .. }) in
            self.agents.iter().filter(|(path, _)| path.is_under(agent))
        {
            all.add_all(used);
        }
        all
    }

    /// What the run's clock showed when the agent was started, where it was.
    pub(crate) fn began(&self, agent: &AgentPath) -> Option<Duration> {
        self.agents.get(agent)?.began
    }

    /// Whether the log has begun.
    pub(crate) fn has_begun(&self) -> bool {
        self.last_at.is_some()
    }

    /// What to write to the log before going on, and what is open after that.
    pub(crate) fn go_on(&mut self) -> (Vec<(AgentPath, EventBody)>, OpenItems) {
        let mut open = std::mem::take(&mut self.open);
        if self.is_fork {
            return (Vec::new(), open);
        }
        let whole = self
            .agents
            .values()
            .flat_map(|agent| &agent.steps)
            .filter(|step| step.whole);
        let kept: HashSet<String> = whole.flat_map(|step| step.calls.iter().cloned()).collect();
        let mut events = Vec::new();
        if !self.rested {
            events.push((AgentPath::main(), EventBody::RunResumed {}));
        }
        events.extend(open.close_unwritten(&kept, NOT_WRITTEN));
        (events, open)
    }

    /// The events that end the log as it stands, with these words as the reason.
    pub fn end(&mut self, words: impl Into<Words>) -> Vec<(AgentPath, EventBody)> {
        let problem = Problem::new(ProblemCode::Interrupted, words);
        self.finish(Outcome::Failed, &problem.message.clone(), Some(problem))
    }

    /// The events that end its log where a person has stopped it.
    pub fn stop(&mut self) -> Vec<(AgentPath, EventBody)> {
        self.finish(Outcome::Cancelled, STOPPED, None)
    }

    fn finish(
        &mut self,
        outcome: Outcome,
        reason: &str,
        problem: Option<Problem>,
    ) -> Vec<(AgentPath, EventBody)> {
        let mut events = self.open.close(&AgentPath::main(), outcome, reason);
        let Used {
            usage,
            cost_micro_usd,
            ..
        } = self.used;
        let end = EventBody::RunFinished {
            outcome,
            problem,
            usage,
            cost_micro_usd,
        };
        events.push((AgentPath::main(), end));
        events
    }

    /// What was done to the agent's conversation in this step to make room, also where the model did not answer then.
    pub(crate) fn compactions(&self, agent: &AgentPath, step: u32) -> Vec<PastCompaction> {
        let steps = self.agents.get(agent).map_or(&[][..], |agent| &agent.steps);
        let tries = steps.iter().filter(|past| past.number == step);
        tries.flat_map(|past| &past.compactions).cloned().collect()
    }

    /// What the model said in this step, where it had said all, and why it was the agent's last, where it was.
    pub(crate) fn answer(&self, agent: &AgentPath, step: u32) -> Option<(Answer, Option<String>)> {
        let steps = &self.agents.get(agent)?.steps;
        let step = steps
            .iter()
            .rev()
            .find(|past| past.number == step && past.whole)?;
        let calls = step.calls.iter().filter_map(|id| {
            let PastCall {
                name,
                written,
                model_id,
                ..
            } = self.calls.get(id)?;
            // Logs of earlier versions have no id of the model: any does that the result has, too.
            let model_id = model_id.as_ref().unwrap_or(id).clone();
            Some((
                id.clone(),
                ToolCall {
                    id: model_id,
                    name: name.clone(),
                    arguments: written.clone(),
                },
            ))
        });
        let paused = step.calls.is_empty() && !step.answered && step.blocks.has_own();
        let answer = Answer::from_log(
            step.text.clone(),
            calls,
            step.input_tokens,
            step.blocks.clone(),
        );
        Some((Answer { paused, ..answer }, step.last.clone()))
    }

    /// Why this step was the agent's last, where it was begun as such.
    pub(crate) fn last_of(&self, agent: &AgentPath, step: u32) -> Option<&str> {
        let steps = &self.agents.get(agent)?.steps;
        steps
            .iter()
            .rev()
            .find(|past| past.number == step)?
            .last
            .as_deref()
    }

    /// Whether the agent had come to this step.
    pub(crate) fn has_begun_step(&self, agent: &AgentPath, step: u32) -> bool {
        self.agents
            .get(agent)
            .is_some_and(|agent| agent.steps.iter().any(|past| past.number >= step))
    }

    /// Whether the main agent had written an answer to its end.
    pub(crate) fn has_answered(&self) -> bool {
        let steps = self
            .agents
            .get(&AgentPath::main())
            .map_or(&[][..], |main| &main.steps);
        steps
            .iter()
            .any(|step| step.whole && step.calls.is_empty() && !step.text.is_empty())
    }

    /// The ids of the sources that the log has.
    pub(crate) fn source_ids(&self) -> impl Iterator<Item = &str> {
        self.sources.iter().map(String::as_str)
    }

    /// Whether the log has a source of this id.
    pub(crate) fn knows_source(&self, id: &str) -> bool {
        self.sources.contains(id)
    }

    /// What the person told the agent before this step.
    pub(crate) fn guidance(&self, agent: &AgentPath, step: u32) -> impl Iterator<Item = &str> {
        let said = if agent.is_main() {
            self.guidance.as_slice()
        } else {
            &[]
        };
        said.iter()
            .filter(move |(before, _)| *before == step)
            .map(|(_, text)| text.as_str())
    }

    /// What became of a call.
    pub(crate) fn of_call(&self, call: &str) -> Option<&PastCall> {
        self.calls.get(call)
    }

    /// How the agent ended.
    pub(crate) fn end_of(&self, agent: &AgentPath) -> Option<(Outcome, String)> {
        self.agents.get(agent)?.end.clone()
    }

    /// The highest number of the agent's items, and of its sub-agents.
    pub(crate) fn numbers(&self, agent: &AgentPath) -> (usize, usize) {
        self.agents
            .get(agent)
            .map(|agent| (agent.items, agent.sub_agents))
            .unwrap_or_default()
    }

    /// The pictures that the agent's programs and its model have made.
    pub(crate) fn pictures(&self, agent: &AgentPath) -> Vec<String> {
        let Some(agent) = self.agents.get(agent) else {
            return Vec::new();
        };
        let made = agent
            .steps
            .iter()
            .filter(|step| step.whole)
            .flat_map(|step| &step.pictures);
        agent.pictures.iter().chain(made).cloned().collect()
    }

    /// How many of the agent's events part its model calls.
    pub(crate) fn model_calls(&self, agent: &AgentPath) -> u32 {
        self.agents.get(agent).map_or(0, |agent| agent.model_calls)
    }

    fn agent(&mut self, agent: &AgentPath) -> &mut PastAgent {
        self.agents.entry(agent.clone()).or_default()
    }

    fn call(&mut self, call: &str) -> &mut PastCall {
        self.calls.entry(call.to_owned()).or_default()
    }

    fn end_step(&mut self, agent: &AgentPath, input_tokens: u64) {
        if let Some(step) = self.agent(agent).steps.last_mut() {
            step.whole = true;
            step.input_tokens = input_tokens;
        }
    }

    fn number(&mut self, agent: &AgentPath, id: &str) {
        let number = trailing_number(id);
        let agent = self.agent(agent);
        agent.items = agent.items.max(number);
    }

    fn count_time(&mut self, at: i64, body: &EventBody) {
        // What lies before these is the time the server was down, or a person thought.
        let does_not_count = matches!(
            body,
            EventBody::RunResumed {}
                | EventBody::RunForked { .. }
                | EventBody::ApprovalAnswered { .. }
                | EventBody::QuestionAnswered { .. }
        );
        if let Some(last) = self.last_at
            && !does_not_count
        {
            self.time_ms += u64::try_from(at.saturating_sub(last)).unwrap_or(0);
        }
        self.last_at = Some(at);
    }
}
