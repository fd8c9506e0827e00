//! Builds the journal from the events of a run's log.

use domain::{
    AgentPath, EventBody, Reply, RunEvent, Usage,
    event::{Forked, ReceivedInput},
    message::arguments_text,
    trace::parts_model_calls,
};

use super::{
    AgentRecord, ApprovalRecord, CallRecord, CallResult, CompactionRecord, DecisionRecord, Journal,
    QuestionRecord, StepRecord, trailing_number,
};
use crate::{
    budget::Used,
    workspace::{is_of_results, seems_picture},
};

impl Journal {
    /// Adds the log's next event.
    pub fn push(&mut self, event: &RunEvent) {
        let RunEvent {
            at, agent, body, ..
        } = event;
        self.open.push(agent, body);
        self.hooks.push(agent, body);
        self.count_time(*at, body);
        self.is_fork = matches!(body, EventBody::RunForked { .. });
        if let Some(step) = self.last_step(agent) {
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
                self.spend(agent, *usage, *cost_micro_usd);
                if !broken_off {
                    self.restarts = 0;
                    self.end_step(agent, usage.input_tokens);
                }
            }
            EventBody::StepStarted { step, last } => {
                let step = StepRecord {
                    number: *step,
                    last: last.clone(),
                    ..StepRecord::default()
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
                self.spend(agent, *usage, *cost_micro_usd);
                let done = CompactionRecord {
                    kept_messages: *kept_messages,
                    summary: summary.clone(),
                };
                if let Some(step) = self.last_step(agent) {
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
                if let Some(step) = self.last_step(agent) {
                    if *reasoning {
                        step.text.clear();
                    } else {
                        step.text.push_str(text);
                    }
                    step.whole |= answer;
                    step.answered |= answer;
                }
            }
            EventBody::ReasoningStarted { item } | EventBody::TextStarted { item } => {
                self.number(agent, item)
            }
            // A call run by the provider is part of the message's provider data.
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
                let record = self.call(call);
                record.name.clone_from(name);
                record.model_id.clone_from(model_id);
                if let Some(step) = self.last_step(agent) {
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
            EventBody::RunResumed { released } => self.restarts += u32::from(!released),
            EventBody::Notice {
                message,
                failed_try: false,
                ..
            } => _ = self.notices.insert(message.clone()),
            EventBody::SourcesFound { sources } => {
                self.sources
                    .extend(sources.iter().map(|source| source.id.clone()));
            }
            EventBody::RunForked(Forked { guidance, .. }) => self.fork(guidance.as_deref()),
            EventBody::InputReceived(input) => {
                self.received.insert(input.input_id.clone());
                self.unread.push((**input).clone());
            }
            EventBody::InputApplied { input_id, step } => self.apply(agent, input_id, *step),
            EventBody::InputRemoved { input_id } => drop(self.take_unread(input_id)),
            body => {
                if let EventBody::ToolStarted { call, .. } = body {
                    self.begin_calls(agent, call);
                }
                self.push_to_call(agent, *at, body);
            }
        }
    }

    /// Once one of its calls has started, the step has all of them, even if the log has no end of a model call.
    fn begin_calls(&mut self, agent: &AgentPath, call: &String) {
        if let Some(step) = self.last_step(agent) {
            step.whole |= step.calls.contains(call);
        }
    }

    /// The events so far belong to the run that was forked, so this one has no usage yet.
    fn fork(&mut self, guidance: Option<&str>) {
        self.used = Used::default();
        self.time_ms = 0;
        self.restarts = 0;
        let mut steps = self.steps(&AgentPath::main()).iter().rev();
        let done = steps.find(|step| step.whole);
        let next = done.map_or(1, |step| step.number.saturating_add(1));
        self.said
            .extend(guidance.map(|text| (AgentPath::main(), next, text.to_owned())));
        self.unread.clear();
    }

    fn apply(&mut self, agent: &AgentPath, input_id: &str, step: u32) {
        let Some(input) = self.take_unread(input_id) else {
            return;
        };
        self.said
            .push((agent.clone(), step, input.text_for_model()));
        // Before a step that follows an interrupted one: what that has written stays.
        if let Some(last) = self.last_step(agent)
            && last.number < step
        {
            last.whole = true;
        }
    }

    fn take_unread(&mut self, input_id: &str) -> Option<ReceivedInput> {
        let mut unread = self.unread.iter();
        let at = unread.position(|input| input.input_id == input_id)?;
        Some(self.unread.remove(at))
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
                if let Some(step) = self.last_step(agent)
                    && !step.calls.contains(call)
                {
                    // The provider ran it.
                    step.pictures
                        .extend(files.iter().map(|file| file.path.clone()));
                }
                let call = self.call(call);
                call.finished = Some(CallResult {
                    text: result.clone(),
                    error: *error,
                    note: model_note.clone(),
                    files: files.clone(),
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
                let asked = ApprovalRecord {
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
                let mut asked = self
                    .calls
                    .values_mut()
                    .filter_map(|call| call.approval.as_mut());
                if let Some(asked) = asked.find(|asked| asked.id == *approval) {
                    asked.answer = Some(DecisionRecord {
                        decision: *decision,
                        reason: reason.clone(),
                        edited: *edited,
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
                let asked = QuestionRecord {
                    id: question.clone(),
                    text: text.clone(),
                    form: schema.clone(),
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

    fn agent(&mut self, agent: &AgentPath) -> &mut AgentRecord {
        self.agents.entry(agent.clone()).or_default()
    }

    fn last_step(&mut self, agent: &AgentPath) -> Option<&mut StepRecord> {
        self.agents.get_mut(agent)?.steps.last_mut()
    }

    fn call(&mut self, call: &str) -> &mut CallRecord {
        self.calls.entry(call.to_owned()).or_default()
    }

    fn spend(&mut self, agent: &AgentPath, usage: Usage, cost_micro_usd: Option<u64>) {
        self.used.add(usage, cost_micro_usd);
        self.agent(agent).used.add(usage, cost_micro_usd);
    }

    fn end_step(&mut self, agent: &AgentPath, input_tokens: u64) {
        if let Some(step) = self.last_step(agent) {
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
        // Before these events the server was down or the run waited for a person.
        let does_not_count = matches!(
            body,
            EventBody::RunResumed { .. }
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
