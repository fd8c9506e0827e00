//! One model call: its stream becomes events as it arrives, and an answer at the end.

mod extras;

use std::{borrow::Cow, mem, time::Duration};

use domain::{
    EventBody, Message, Problem, ProblemCode, ToolCall, Usage,
    event::{NoticeLevel, Source},
};
use llm::{ChatRequest, CodePrompt, FinishReason, ModelCall, ModelError, ModelEvent, ToolPrompt};
use serde_json::Value;
use tokio::time::{Instant, timeout_at};

use crate::{
    answer::{Answer, RequestedCall},
    answers::write_text,
    call_repair::meant_name,
    cited::{EndedText, Waiting},
    context::estimate_request,
    hooks::{holds_answers, keep_answer},
    made_pictures::with_pictures,
    messages,
    models::{OneModel, Tries},
    open_call::OpenCall,
    research::Citations,
    server_tools::ServerCalls,
    tool::Toolbox,
    tool_notices,
    turns::AgentContext,
    upstream_status::UpstreamStatus,
};

/// Maximum size of the conversation held for an agent, regardless of its model's window and usage.
const MAX_CONVERSATION_BYTES: u64 = 32 << 20;

/// Requirements on the text of an answer.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Shape<'a> {
    /// The number of the agent's step.
    pub(crate) step: u32,
    /// The JSON format of the text, as in chat completions.
    pub(crate) format: Option<&'a Value>,
    /// The number of sources that it may cite. Citations of other numbers are removed.
    pub(crate) cites: Option<usize>,
    /// These sources in the order of their numbers, if their quotes were checked. A text without citations gets those of
    /// the matching sources, and citations of quotes that do not confirm their sentence are reported.
    pub(crate) proofs: &'a [Source],
}

/// A model call that failed.
#[derive(Debug)]
pub(crate) struct CallFailed {
    pub(crate) problem: Problem,
    /// Part of the answer was shown.
    pub(crate) has_begun: bool,
}

/// Calls the agent's model, or a fallback of the run if its server fails before any output, and emits the output. A
/// failed call leaves its items open; the caller closes them when it handles the failure.
pub(crate) async fn call_model(
    agent: &AgentContext,
    messages: &[Message],
    tools: &Toolbox,
    shape: Shape<'_>,
) -> Result<Answer, CallFailed> {
    let _at_work = agent.run.begin_work().await;
    let _busy = agent.run.active_time.busy();
    let mut tries = Tries::of(agent);
    loop {
        match call_one(agent, tries.model(), messages, tools, shape).await {
            Ok(answer) => return Ok(answer),
            Err(failed) => {
                agent.report_lost_calls().await;
                tries.next(failed).await?;
            }
        }
    }
}

/// The prompt that describes tools in text, with the reason why code is not run if the agent has written code and no
/// longer may.
fn tool_prompt<'a>(
    agent: &'a AgentContext,
    messages: &[Message],
    tools: &Toolbox,
) -> Option<Cow<'a, ToolPrompt>> {
    let known = agent.run.deps.tool_prompt.as_ref()?;
    let why = agent.code.why_not_run(&agent.run, tools, messages);
    let Some((why, code)) = why.zip(known.code.as_ref()) else {
        return Some(Cow::Borrowed(known));
    };
    let code = CodePrompt {
        not_run: Some(why.to_owned()),
        ..code.clone()
    };
    Some(Cow::Owned(ToolPrompt {
        code: Some(code),
        ..known.clone()
    }))
}

async fn call_one(
    agent: &AgentContext,
    model: &OneModel,
    messages: &[Message],
    tools: &Toolbox,
    shape: Shape<'_>,
) -> Result<Answer, CallFailed> {
    let trace = agent.call_trace();
    let tool_prompt = tool_prompt(agent, messages, tools);
    let parameters = agent.parameters(model);
    let given = with_pictures(
        &agent.run.deps.workspace,
        messages,
        model.model().provider(),
    )
    .await;
    let request = ChatRequest {
        messages: &given,
        tools: tools.specs(),
        tool_mode: model.settings().tool_mode,
        tool_prompt: tool_prompt.as_deref(),
        parameters: &parameters,
        answer_format: shape.format,
        without_thinking: false,
        extra: Some(&agent.run.spec.extra),
        trace: Some(&trace),
        caller: agent.run.deps.caller.as_ref(),
    };
    let input_tokens = estimate_request(messages, tools.specs());
    if input_tokens > MAX_CONVERSATION_BYTES / 4 {
        // Handled as if the server had refused it: the older part is summarized and dropped.
        let limit = MAX_CONVERSATION_BYTES >> 20;
        let problem = Problem::new(
            ProblemCode::ModelContextFull,
            messages::Runs::ConversationTooLong { limit },
        );
        return Err(CallFailed::before(problem));
    }
    let open = OpenCall::begin(agent, model, input_tokens)
        .await
        .map_err(CallFailed::before)?;
    tool_notices::notify_losses(agent, model, tools.specs()).await;
    agent.tell_request(model.model().name(), &request).await;
    let mut call = model.model().call(&request).with_status();
    let mut step = Step::new(agent, model, tools, shape, open);
    while let Some(event) = step.next(&mut call).await {
        match event {
            Ok(ModelEvent::Finished { reason, usage }) => {
                return Ok(step.finish(reason, usage).await);
            }
            Ok(event) => step.push(event).await,
            Err(error) => return Err(step.failed(error.into()).await),
        }
    }
    Err(step
        .failed(Problem::new(
            ProblemCode::ModelProtocol,
            messages::Runs::AnswerWithoutEnd,
        ))
        .await)
}

/// The item that the model is writing, and its length so far; the emitter has the text.
enum Writing {
    Nothing,
    Text {
        item: String,
        bytes: usize,
        chars: usize,
    },
    Reasoning {
        item: String,
        bytes: usize,
        since: Instant,
    },
}

/// The kind of a finished text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TextIs {
    /// The answer, or its beginning: only the end of the answer follows.
    Answer,
    /// A remark between calls.
    Commentary,
    /// Reasoning, as the model has indicated afterwards.
    Reasoning,
}

struct Step<'a> {
    agent: &'a AgentContext,
    model: &'a OneModel,
    tools: &'a Toolbox,
    answer: Answer,
    writing: Writing,
    /// Text held back until its kind is known, if hooks check answers.
    held: Option<String>,
    number: u32,
    call: OpenCall<'a>,
    citations: Option<Citations>,
    /// The provider's citations, held until the end of the text they belong to.
    cited: Waiting,
    server_calls: ServerCalls,
    /// The items of finished texts that stay open until it is known whether a call follows, which makes them
    /// commentary, or not, which makes them the answer.
    undecided: Vec<String>,
    /// Length of all finished texts of the call, characters.
    ended_chars: usize,
    proofs: &'a [Source],
    upstream: UpstreamStatus,
}

impl<'a> Step<'a> {
    fn new(
        agent: &'a AgentContext,
        model: &'a OneModel,
        tools: &'a Toolbox,
        shape: Shape<'a>,
        call: OpenCall<'a>,
    ) -> Self {
        let citations = shape.cites.map(Citations::new);
        let proofs = shape.proofs;
        let held = (agent.answer_form().is_none() && holds_answers(agent)).then(String::new);
        let number = shape.step;
        Self {
            agent,
            model,
            tools,
            answer: Answer::default(),
            writing: Writing::Nothing,
            held,
            number,
            call,
            citations,
            cited: Waiting::default(),
            server_calls: ServerCalls::default(),
            undecided: Vec::new(),
            ended_chars: 0,
            proofs,
            upstream: UpstreamStatus::default(),
        }
    }

    /// The next event of the call. A status held back because it came too soon after another is shown meanwhile.
    async fn next(&mut self, call: &mut ModelCall) -> Option<Result<ModelEvent, ModelError>> {
        while let Some(due) = self.upstream.due() {
            match timeout_at(due, call.next()).await {
                Ok(event) => return event,
                Err(_) => self.upstream.show_held(self.agent).await,
            }
        }
        call.next().await
    }

    async fn failed(&mut self, problem: Problem) -> CallFailed {
        self.think_again().await;
        CallFailed {
            problem,
            has_begun: self.call.has_begun(),
        }
    }

    /// Replaces the status of a server that is no longer called with our own.
    async fn think_again(&mut self) {
        if self.upstream.forget() {
            self.agent.status(messages::Runs::Thinking).await;
        }
    }

    async fn push(&mut self, event: ModelEvent) {
        self.call.count(&event);
        match event {
            ModelEvent::TextDelta(delta) => self.write_text(delta).await,
            ModelEvent::ReasoningDelta(delta) => self.write_reasoning(delta).await,
            ModelEvent::TextWasReasoning => self.take_for_reasoning().await,
            ModelEvent::ToolCallStarted { index, id, name } => {
                self.start_call(index, id, name).await
            }
            ModelEvent::ToolArgumentsDelta { index, delta } => {
                self.write_arguments(index, delta).await
            }
            ModelEvent::ProviderData { part, data } => self.add_data(part, data).await,
            ModelEvent::Citations(citations) => self.cite(citations),
            ModelEvent::ServerTool(news) => self.add_server_tool(news).await,
            ModelEvent::Status {
                description,
                done,
                hidden,
            } => {
                self.upstream
                    .push(self.agent, description, done, hidden)
                    .await;
            }
            ModelEvent::Retrying {
                failed_attempts,
                max_attempts,
                wait_ms,
                reason,
            } => {
                let seconds = wait_ms.div_ceil(1000);
                self.upstream.forget();
                self.agent.emitter.emit(EventBody::failed_try(reason)).await;
                self.agent
                    .status(messages::Runs::AskingAgain {
                        seconds,
                        attempt: failed_attempts + 1,
                        attempts: max_attempts,
                    })
                    .await;
            }
            ModelEvent::ToolsRefused { tools } => tool_notices::notify(self.agent, &tools).await,
            ModelEvent::FailedOver { words } => {
                self.agent.emitter.emit(EventBody::failed_try(words)).await;
                self.think_again().await;
            }
            ModelEvent::ParameterLeftOut(left_out) => self.agent.tell_left_out(left_out).await,
            ModelEvent::Finished { .. } => {}
        }
    }

    async fn write_text(&mut self, delta: String) {
        let delta = match &mut self.citations {
            Some(citations) => citations.pass(&delta),
            None => delta,
        };
        if delta.is_empty() {
            return;
        }
        if self.agent.answer_form().is_some() {
            // The text must not be taken for the answer, which is shown once it is in its format.
            self.answer.text.push_str(&delta);
            return self.write_reasoning(delta).await;
        }
        if let Some(held) = &mut self.held {
            held.push_str(&delta);
            return self.close().await;
        }
        self.begin_text().await;
        // The server may have sent a status since the text began.
        if self.upstream.forget() {
            self.agent.clear_status().await;
        }
        if let Writing::Text { item, bytes, chars } = &mut self.writing {
            *bytes += delta.len();
            *chars += delta.chars().count();
            self.agent
                .emitter
                .emit(EventBody::TextDelta {
                    item: item.clone(),
                    delta,
                })
                .await;
        }
    }

    /// Opens a text, unless one is open.
    async fn begin_text(&mut self) {
        if matches!(self.writing, Writing::Text { .. }) {
            return;
        }
        self.close().await;
        self.agent.clear_status().await;
        let item = self.agent.journal.next_item('t');
        let started = EventBody::TextStarted { item: item.clone() };
        self.answer.blocks.push(&started);
        self.agent.emitter.emit(started).await;
        self.writing = Writing::Text {
            item,
            bytes: 0,
            chars: 0,
        };
    }

    async fn write_reasoning(&mut self, delta: String) {
        if delta.is_empty() {
            return;
        }
        if !matches!(self.writing, Writing::Reasoning { .. }) {
            self.close().await;
            let item = self.agent.journal.next_item('r');
            self.agent
                .emitter
                .emit(EventBody::ReasoningStarted { item: item.clone() })
                .await;
            self.writing = Writing::Reasoning {
                item,
                bytes: 0,
                since: Instant::now(),
            };
        }
        if let Writing::Reasoning { item, bytes, .. } = &mut self.writing {
            *bytes += delta.len();
            self.agent
                .emitter
                .emit(EventBody::ReasoningDelta {
                    item: item.clone(),
                    delta,
                })
                .await;
        }
    }

    /// Reclassifies all text so far as reasoning. Text already shown stays, marked in the log; text held back is shown
    /// as reasoning.
    async fn take_for_reasoning(&mut self) {
        let is_open = matches!(self.writing, Writing::Text { .. }) || !self.undecided.is_empty();
        if self.agent.answer_form().is_none() && !self.answer.text.is_empty() && !is_open {
            // The texts are already finished, so an empty one marks them.
            self.begin_text().await;
        }
        self.cited.clear();
        self.settle(TextIs::Reasoning).await;
        self.ended_chars = 0;
        self.answer.text.clear();
        if let Some(held) = self.held.as_mut().map(mem::take) {
            self.write_reasoning(held).await;
        }
    }

    async fn start_call(&mut self, index: usize, id: String, written: String) {
        self.settle(TextIs::Commentary).await;
        self.show_held().await;
        let call = self.agent.journal.next_item('c');
        let name = meant_name(self.tools, written.clone());
        let model_id = Some(id.clone()).filter(|id| *id != call);
        let requested = EventBody::ToolRequested {
            call: call.clone(),
            name: name.clone(),
            model_id,
            by_provider: false,
        };
        self.answer.blocks.push(&requested);
        self.agent.emitter.emit(requested).await;
        if name != written {
            let notice = messages::Runs::ToolNameRepaired {
                written,
                tool: name.clone(),
            };
            self.agent.notice(NoticeLevel::Info, notice).await;
        }
        let written = ToolCall {
            id,
            name,
            arguments: String::new(),
        };
        self.answer.calls.push(RequestedCall {
            id: call,
            written,
            index,
        });
    }

    async fn write_arguments(&mut self, index: usize, delta: String) {
        // The client has checked that the call was started.
        if let Some(call) = self
            .answer
            .calls
            .iter_mut()
            .find(|call| call.index == index)
        {
            call.written.arguments.push_str(&delta);
            let call = call.id.clone();
            self.agent
                .emitter
                .emit(EventBody::ToolArgumentsDelta { call, delta })
                .await;
        }
    }

    /// Shows the text held back: a call follows, so it is not the answer.
    async fn show_held(&mut self) {
        let Some(held) = self
            .held
            .as_mut()
            .filter(|held| !held.is_empty())
            .map(mem::take)
        else {
            return;
        };
        write_text(self.agent, &held, false).await;
        self.answer.text.push_str(&held);
    }

    /// Calls `read` with the text so far whose kind is not known yet; `None` if there is none.
    fn with_text<T>(&self, read: impl FnOnce(&str) -> T) -> Option<T> {
        let emitter = &self.agent.emitter;
        let written = match &self.writing {
            Writing::Text { item, .. } => Some(item),
            _ => None,
        };
        match (&self.undecided[..], written, &self.held) {
            ([], Some(item), _) => Some(emitter.with_written(item, read)),
            ([], None, Some(held)) if !held.is_empty() => Some(read(held)),
            ([], None, _) => None,
            (ended, written, _) => {
                let texts = ended
                    .iter()
                    .chain(written)
                    .map(|item| emitter.with_written(item, str::to_owned));
                Some(read(&texts.collect::<String>()))
            }
        }
    }

    /// Closes the current item. A text stays open until it is known whether it is the answer.
    async fn close(&mut self) {
        match mem::replace(&mut self.writing, Writing::Nothing) {
            Writing::Nothing => {}
            Writing::Text { item, chars, .. } => {
                let text = EndedText {
                    item: &item,
                    before: self.ended_chars,
                    chars,
                };
                self.tell_cited(Some(text)).await;
                self.ended_chars += chars;
                let held = self
                    .citations
                    .as_mut()
                    .map(Citations::rest)
                    .unwrap_or_default();
                if !held.is_empty() {
                    let item = item.clone();
                    let delta = held;
                    self.agent
                        .emitter
                        .emit(EventBody::TextDelta { item, delta })
                        .await;
                }
                self.undecided.push(item);
            }
            Writing::Reasoning { item, since, .. } => {
                let id = item.clone();
                let duration_ms = millis(since.elapsed());
                let answer = &mut self.answer;
                let finish = |text| {
                    noted(
                        answer,
                        EventBody::ReasoningFinished {
                            item: id,
                            text,
                            duration_ms,
                        },
                    )
                };
                self.agent.emitter.finish_written(&item, finish).await;
            }
        }
    }

    /// Closes the current item, and sets the kind of all open texts.
    async fn settle(&mut self, text_is: TextIs) {
        self.close().await;
        let answer = text_is == TextIs::Answer;
        let reasoning = text_is == TextIs::Reasoning;
        for item in mem::take(&mut self.undecided) {
            let id = item.clone();
            let said = &mut self.answer;
            let finish = |text: String| {
                match reasoning {
                    true => said.text.clear(),
                    false => said.text.push_str(&text),
                }
                noted(
                    said,
                    EventBody::TextFinished {
                        item: id,
                        text,
                        answer,
                        reasoning,
                    },
                )
            };
            self.agent.emitter.finish_written(&item, finish).await;
        }
    }

    /// Stores an answer before the log records that the model has given it. Text with calls is shown.
    async fn settle_held(&mut self) {
        if !self.answer.calls.is_empty() {
            return self.show_held().await;
        }
        let Some(held) = &mut self.held else { return };
        held.push_str(
            &self
                .citations
                .as_mut()
                .map(Citations::rest)
                .unwrap_or_default(),
        );
        self.answer.text.push_str(held);
        self.answer.held = !self.answer.text.is_empty();
        if self.answer.held {
            keep_answer(self.agent, self.number, &self.answer.text).await;
        }
    }

    async fn finish(mut self, reason: FinishReason, counted: Option<Usage>) -> Answer {
        let is_answer = self.answer.calls.is_empty() && reason != FinishReason::Paused;
        if is_answer {
            self.show_pictures().await;
            self.cite_nearest().await;
            self.tell_unconfirmed().await;
        }
        self.settle(if is_answer {
            TextIs::Answer
        } else {
            TextIs::Commentary
        })
        .await;
        if !is_answer {
            self.show_held().await;
        }
        self.settle_held().await;
        self.tell_cited(None).await;
        self.server_calls.end(self.agent).await;
        if self.upstream.forget() {
            self.agent.clear_status().await;
        }
        let called = self.call.end(counted);
        self.answer.input_tokens = called.usage.input_tokens;
        called.report(self.agent).await;
        let notice = match reason {
            FinishReason::Length => Some(messages::Runs::AnswerCut),
            FinishReason::ContentFilter => Some(messages::Runs::AnswerFiltered),
            FinishReason::Stop
            | FinishReason::ToolCalls
            | FinishReason::CallsNothing
            | FinishReason::Paused => None,
        };
        if let Some(notice) = notice {
            self.agent.notice(NoticeLevel::Warning, notice).await;
        }
        self.answer.cut = reason == FinishReason::Length;
        self.answer.paused = reason == FinishReason::Paused && self.answer.calls.is_empty();
        self.answer.calls_nothing = reason == FinishReason::CallsNothing;
        self.answer
    }
}

/// Adds an event to the answer from which its message is built.
fn noted(answer: &mut Answer, body: EventBody) -> EventBody {
    answer.blocks.push(&body);
    body
}

pub(crate) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
