//! The agent loop: call the model, run the tools it requests, and repeat until it answers.

use std::{borrow::Cow, sync::Arc};

use domain::{
    AgentPath, CallTrace, EventBody, LocalizedText, Message, Part, Problem, ProblemCode, Role,
    event::NoticeLevel, message::arguments_value,
};
use llm::ChatRequest;

use crate::{
    AgentLimits, AgentSpec, AnswerForm, Emitter, Models,
    addresses::Addresses,
    answer::{Answer, RequestedCall},
    answer_form::write_in_form,
    answers::{Ended, end_with, shown},
    budget::{Budget, limit_reached},
    call_repair::with_meant_arguments,
    calls::run_calls,
    code::Code,
    compaction::{do_again, make_room},
    context::{Gauge, estimate_request},
    hooks::{add_context, after_model, before_model, kept_answer},
    journal::{AgentJournal, Step},
    messages,
    offered::within,
    quota::{self, is_limit},
    run::{RunContext, joined, with_instructions},
    sent,
    step::{CallFailed, Shape, call_model},
    tool::Toolbox,
    tool_files::drop_old_media,
    tools::find_tools,
};

/// One agent of a run.
pub(crate) struct AgentContext {
    pub(crate) run: Arc<RunContext>,
    pub(crate) emitter: Emitter,
    pub(crate) spec: AgentSpec,
    /// Its own models, or its parent's.
    pub(crate) models: Arc<Models>,
    /// Its own budget if it has its own limits, or its parent's.
    pub(crate) budget: Arc<Budget>,
    /// The record of its work, and the ids of new items.
    pub(crate) journal: AgentJournal,
    /// The state of its code.
    pub(crate) code: Code,
    /// The addresses that it has found itself and may open without approval.
    pub(crate) found: Addresses,
}

/// Why an agent ended without finishing its answer.
#[derive(Debug)]
pub(crate) enum Stop {
    /// A limit was reached; `text` is the answer so far.
    Limited { problem: Problem, text: String },
    /// It failed.
    Failed(Problem),
    /// The caller has to run its own tools first.
    HandedOver,
}

impl Stop {
    /// How an agent ends because of a problem with a model call.
    pub(crate) fn because(problem: Problem) -> Self {
        if is_limit(&problem) {
            Self::Limited {
                problem,
                text: String::new(),
            }
        } else {
            Self::Failed(problem)
        }
    }
}

impl AgentContext {
    pub(crate) fn main(run: Arc<RunContext>, emitter: Emitter, journal: AgentJournal) -> Self {
        Self {
            spec: run.agents.main.clone(),
            models: Arc::clone(&run.deps.models),
            budget: Arc::clone(&run.budget),
            run,
            emitter,
            code: Code::after(journal.pictures()),
            journal,
            found: Addresses::default(),
        }
    }

    pub(crate) fn child(&self, path: AgentPath, spec: AgentSpec) -> Self {
        let journal = self.journal.for_agent(path.clone());
        let models = spec.models.as_ref().unwrap_or(&self.models);
        let budget = if spec.limits == AgentLimits::default() {
            Arc::clone(&self.budget)
        } else {
            let began = journal.began();
            let began = began.unwrap_or_else(|| self.run.active_time.spent());
            let of_agent = Budget::of_agent(&self.budget, spec.limits, began, journal.used());
            Arc::new(of_agent)
        };
        Self {
            run: Arc::clone(&self.run),
            emitter: self.emitter.for_agent(path),
            models: Arc::clone(models),
            spec,
            budget,
            code: Code::after(journal.pictures()),
            journal,
            found: Addresses::default(),
        }
    }

    /// The trace context for the server of the next model call.
    pub(crate) fn call_trace(&self) -> CallTrace {
        let next = self.journal.next_model_call();
        self.run.deps.trace.call(self.emitter.agent(), next)
    }

    /// Emits that a model is about to be called, with its input for debugging.
    pub(crate) async fn tell_request(&self, model: &str, request: &ChatRequest<'_>) {
        let messages = request.messages.len() as u64;
        let body = EventBody::ModelRequested {
            model: model.to_owned(),
            messages,
        };
        self.emitter
            .emit_with(
                body,
                serde_json::json!({"request": sent::request(model, request)}),
            )
            .await;
    }

    /// Its tools; those that start sub-agents only if nesting is still allowed.
    pub(crate) fn tools(&self) -> Toolbox {
        if self.emitter.agent().depth() < self.run.limits.depth {
            self.spec.tools.clone()
        } else {
            self.spec.tools.without(&["task"])
        }
    }

    /// Maximum number of model calls.
    pub(crate) fn steps(&self) -> u32 {
        let limit = self.run.limits.steps;
        self.spec.limits.steps.map_or(limit, |own| own.min(limit))
    }

    /// Whether its time limit may be reached before its parent's.
    pub(crate) fn has_own_time(&self) -> bool {
        self.spec.limits.time.is_some() && !self.emitter.agent().is_main()
    }

    /// The JSON format required of its answer. It is set by the caller, whom only the main agent answers.
    pub(crate) fn answer_form(&self) -> Option<&AnswerForm> {
        self.run
            .spec
            .answer_form
            .as_deref()
            .filter(|_| self.emitter.agent().is_main())
    }

    /// The agent's instructions with the configured system prompt. A model without an agent gets only the caller's
    /// instructions.
    fn own_instructions(&self) -> Cow<'_, str> {
        let own = &self.spec.instructions;
        match self.parameters(self.models.chosen()).system_prompt {
            Some(prompt) if !own.is_empty() => joined(&[own, &prompt]).into(),
            _ => own.into(),
        }
    }

    /// The instructions before the conversation.
    fn instructions(&self) -> Cow<'_, str> {
        let own = self.own_instructions();
        match self.answer_form() {
            None => own,
            Some(form) => joined(&[&own, &form.instructions()]).into(),
        }
    }

    /// The instructions followed by the conversation. Memories are added to the latest request rather than the
    /// instructions, so that changing them does not invalidate the prefix cached by providers.
    fn messages(&self, history: Vec<Message>, before: &Before) -> Vec<Message> {
        let today = self
            .run
            .deps
            .today
            .as_ref()
            .map(|date| format!("Today is {date}."))
            .unwrap_or_default();
        let instructions = joined(&[&self.instructions(), &before.instructions, &today]);
        let mut messages = with_instructions(&instructions, history);
        // An agent without memory tools does not see the memories either.
        let knows = self
            .spec
            .tools
            .get("memory_read")
            .and(self.run.spec.memories.as_ref())
            .and_then(|memories| memories.to(&self.spec.known_as));
        let request = messages
            .iter_mut()
            .rfind(|message| message.role == Role::User);
        if let Some((request, text)) = request.zip(knows) {
            request.content.insert(0, Part::Text { text });
        }
        messages
    }

    /// What people have written to the agent before this step. Inputs that it has not read yet are read now, unless
    /// the step is in the log.
    pub(crate) async fn said_before(&self, step: &Step<'_>) -> Vec<Message> {
        let mut said: Vec<String> = step.said().map(str::to_owned).collect();
        if !step.is_answered() {
            let inputs = &self.run.inputs;
            said.extend(
                inputs
                    .read(&self.emitter, &self.run.stops, step.number())
                    .await,
            );
        }
        for text in &said {
            self.run.said.learn(text);
        }
        let as_message = |text| Message::text(Role::User, text);
        said.into_iter().map(as_message).collect()
    }

    /// Sets the status line.
    pub(crate) async fn status(&self, words: impl Into<LocalizedText>) {
        self.emitter.emit(EventBody::status(words)).await;
    }

    /// Clears the status line.
    pub(crate) async fn clear_status(&self) {
        self.emitter.hide_status().await;
    }

    pub(crate) async fn notice(&self, level: NoticeLevel, words: impl Into<LocalizedText>) {
        self.emitter.emit(EventBody::notice(level, words)).await;
    }
}

/// The result of the work before an agent's first turn.
#[derive(Debug, Default)]
pub(crate) struct Before {
    /// Number of steps taken.
    pub(crate) steps: u32,
    /// Additional instructions for the model.
    pub(crate) instructions: String,
    /// The number of sources found, which the answer cites by number; `None` if it cites none.
    pub(crate) cites: Option<usize>,
}

/// Runs the agent on `history` until it answers. Returns the answer.
pub(crate) async fn take_turns(
    agent: Arc<AgentContext>,
    history: Vec<Message>,
    before: Before,
) -> Result<String, Stop> {
    let tools = agent.tools();
    let mut messages = agent.messages(history, &before);
    // An answer in a JSON format has its own brackets.
    let shape = Shape {
        cites: before.cites.filter(|_| agent.answer_form().is_none()),
        ..Shape::default()
    };
    let share = agent.run.limits.context_share;
    let limit = agent.models.max_tools();
    let at_first = within(&tools, limit, &messages);
    tell_of_search(&agent, &tools, &at_first).await;
    let mut gauge = Gauge::new(agent.models.chosen().settings(), share, at_first.specs());
    drop(at_first);
    let mut sent_back = 0;
    for step in before.steps + 1..=before.steps.saturating_add(agent.steps()) {
        let mut record = agent.journal.step(step);
        messages.extend(agent.said_before(&record).await);
        let begin = async {
            let input_tokens =
                estimate_request(&messages, within(&tools, limit, &messages).specs());
            begin_step(&agent, step, before.steps, input_tokens).await
        };
        let last = record.begin(begin).await?;
        let last = last_of_steps(&agent, step - before.steps).or(last);
        before_model(&agent, step, &mut messages).await?;
        do_again(record.compactions(), &mut messages);
        // The last step has no tools, so that the agent answers with what it has.
        let offered = if last.is_some() {
            Toolbox::default()
        } else {
            agent.code.left_of(&agent.run, &tools)
        };
        let offered = within(&offered, limit, &messages);
        let shape = Shape { step, ..shape };
        let ask = ask(
            &agent,
            &mut messages,
            &offered,
            last.is_some(),
            shape,
            &mut gauge,
        );
        let answer = record.answer(kept_answer(&agent, step), ask).await?;
        let answer = with_meant_arguments(&agent, &offered, answer, &record).await;
        gauge.learn(
            estimate_request(&messages, offered.specs()),
            answer.input_tokens,
        );
        let context = after_model(&agent, &record, &answer).await?;
        if answer.paused && last.is_none() {
            messages.push(answer.into_message());
            add_context(&mut messages, &context);
            continue;
        }
        if record.was_interrupted() && record.sent_back().is_none() {
            messages.push(answer.into_message());
            add_context(&mut messages, &context);
            continue;
        }
        if answer.calls.is_empty() {
            check_length(&agent, step, &answer).await?;
            let text = if let Some(form) = agent.answer_form() {
                write_in_form(&agent, form, step, messages, answer).await?
            } else {
                warn_of_empty(&agent, &answer).await;
                let may_go_on = last.is_none() && sent_back < MAX_SENT_BACK;
                match end_with(&agent, &record, answer, may_go_on).await? {
                    Ended::With(text) => text,
                    Ended::NotYet { said, reason } => {
                        sent_back += 1;
                        messages.extend([said.into_message(), Message::text(Role::User, reason)]);
                        add_context(&mut messages, &context);
                        continue;
                    }
                }
            };
            return match last {
                Some(why) => Err(out_of_budget(&agent, limit_reached(why), text).await),
                None => Ok(text),
            };
        }
        let results = run_calls(&agent, &offered, &answer.calls).await;
        if hand_over(&agent, &offered, &answer.calls).await {
            return Err(Stop::HandedOver);
        }
        messages.push(answer.into_message());
        messages.extend(results);
        drop_old_media(&mut messages);
        add_context(&mut messages, &context);
    }
    let problem = limit_reached(out_of_steps(&agent));
    Err(out_of_budget(&agent, problem, String::new()).await)
}

/// Notifies people, once per run, that not all tools are offered at first.
async fn tell_of_search(agent: &AgentContext, tools: &Toolbox, offered: &Toolbox) {
    if offered.specs().len() < tools.specs().len()
        && agent.run.notified_tools.note(find_tools::NAME)
    {
        let listed = offered.specs().len() as u64;
        let all = tools.specs().len() as u64;
        agent
            .notice(
                NoticeLevel::Info,
                messages::Runs::ToolsBySearch { listed, all },
            )
            .await;
    }
}

/// Emits the beginning of a step, except for steps before the first turn. Returns why it is the agent's last, if it is.
async fn begin_step(
    agent: &AgentContext,
    step: u32,
    steps_before: u32,
    input_tokens: u64,
) -> Result<Option<LocalizedText>, Stop> {
    check_budget(agent).await?;
    let last = last_of_steps(agent, step - steps_before).or_else(|| {
        let spent = agent.run.active_time.spent();
        let nearly_spent = || {
            agent
                .budget
                .nearly_spent(spent)
                .or_else(|| quota::nearly_spent(agent, input_tokens))
        };
        (step > steps_before + 1).then(nearly_spent).flatten()
    });
    let why = last.as_ref().map(ToString::to_string);
    agent
        .journal
        .emit_and_part_calls(EventBody::StepStarted { step, last: why })
        .await;
    agent.status(messages::Runs::Thinking).await;
    Ok(last)
}

/// Why this step is the agent's last by its number, if it is.
fn last_of_steps(agent: &AgentContext, step: u32) -> Option<LocalizedText> {
    (step > 1 && step == agent.steps()).then(|| out_of_steps(agent))
}

/// Calls the model, after making room in its context if there is little, and again if its server reports that there was
/// too little. Without tools, the model is told to answer. If it only says that it needs no tools, it is called again
/// without them.
async fn ask(
    agent: &AgentContext,
    messages: &mut Vec<Message>,
    tools: &Toolbox,
    is_last: bool,
    shape: Shape<'_>,
    gauge: &mut Gauge,
) -> Result<Answer, Stop> {
    make_room(agent, messages, gauge).await?;
    let mut refusals = 0;
    let no_tools = Toolbox::default();
    let mut offered = tools;
    loop {
        let length = messages.len();
        if is_last {
            messages.push(Message::text(Role::User, LAST_STEP));
        }
        let answer = call_model(agent, messages, offered, shape).await;
        messages.truncate(length);
        let CallFailed { problem, has_begun } = match answer {
            Ok(answer) if answer.calls_nothing && !offered.specs().is_empty() => {
                check_budget(agent).await?;
                offered = &no_tools;
                continue;
            }
            Ok(answer) => return Ok(answer),
            Err(failed) => failed,
        };
        if is_limit(&problem) {
            return Err(out_of_budget(agent, problem, String::new()).await);
        }
        if problem.code != ProblemCode::ModelContextFull || has_begun || refusals == MAX_REFUSALS {
            return Err(Stop::Failed(problem));
        }
        refusals += 1;
        gauge.was_refused(messages);
        if !make_room(agent, messages, gauge).await? {
            return Err(Stop::Failed(problem));
        }
    }
}

/// Maximum number of times that hooks may reject an answer.
const MAX_SENT_BACK: u32 = 3;

/// Maximum number of times per step that a conversation is shortened after a server rejects it as too long.
const MAX_REFUSALS: u32 = 3;

/// Hands over the calls of the caller's own tools, after ours have run. Returns whether there were any.
async fn hand_over(agent: &AgentContext, tools: &Toolbox, calls: &[RequestedCall]) -> bool {
    let mut handed_over = false;
    for RequestedCall {
        id: call, written, ..
    } in calls
        .iter()
        .filter(|call| tools.is_client(&call.written.name))
    {
        handed_over = true;
        let handed_over = EventBody::ToolHandedOver {
            call: call.clone(),
            name: written.name.clone(),
            arguments: arguments_value(&written.arguments),
        };
        agent.journal.once(handed_over).await;
    }
    handed_over
}

pub(crate) const LAST_STEP: &str = "You have reached a limit of this run. You have no tools any more: give your best \
    answer from what you know now, and say what is left undone.";

async fn warn_of_empty(agent: &AgentContext, answer: &Answer) {
    if answer.text.trim().is_empty() {
        agent
            .notice(NoticeLevel::Warning, messages::Runs::EmptyAnswer)
            .await;
    }
}

/// An answer cut off by the caller's limit is incomplete.
async fn check_length(agent: &AgentContext, step: u32, answer: &Answer) -> Result<(), Stop> {
    let limit = agent.parameters(agent.models.chosen()).max_output_tokens;
    let Some(limit) = limit.filter(|_| answer.cut) else {
        return Ok(());
    };
    let problem = limit_reached(messages::Runs::LimitAnswer { count: limit });
    Err(Stop::Limited {
        problem,
        text: shown(agent, step, answer).await?,
    })
}

pub(crate) async fn check_budget(agent: &AgentContext) -> Result<(), Stop> {
    match agent.budget.check() {
        Ok(()) => Ok(()),
        Err(problem) => {
            agent
                .notice(NoticeLevel::Warning, problem.clone().words())
                .await;
            Err(Stop::Limited {
                problem,
                text: String::new(),
            })
        }
    }
}

fn out_of_steps(agent: &AgentContext) -> LocalizedText {
    messages::Runs::LimitSteps {
        count: agent.steps(),
    }
    .into()
}

async fn out_of_budget(agent: &AgentContext, problem: Problem, text: String) -> Stop {
    agent
        .notice(NoticeLevel::Warning, problem.clone().words())
        .await;
    Stop::Limited { problem, text }
}
