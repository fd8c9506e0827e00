//! Encodes a run's events as those of `POST /v1/responses`, and maintains the response object.

use std::collections::HashMap;

use domain::{
    EventBody, Problem, ProblemCode, RunEvent, RunId, StoredBlock,
    event::{ProviderData, seq_after_restart},
    message::arguments_text,
};
use serde::Serialize;
use serde_json::{Map, Value, json};
use sse::Frame;

use super::{
    echo,
    frame::{Numbers, Output, frame},
    ids::{item_id, own_call_id},
    item::{Item, Kind, shown_result},
    object::{End, object},
    tools::{CUSTOM_INPUT, FunctionName, function_names},
};
use crate::{
    cited::Sources, gateway::Used, openai::completion_encoder::outer_call_id, sealed::SealedBlock,
};

/// A caller's options.
#[derive(Debug, Clone)]
pub struct ResponseOptions {
    /// The request fields that every response repeats.
    pub echo: Map<String, Value>,
    /// The number of the last frame that the reader has.
    pub starting_after: Option<u64>,
    /// Give each frame its event's number as id, for readers of the log.
    pub with_ids: bool,
}

impl ResponseOptions {
    /// For observers of a run that was started elsewhere.
    #[must_use]
    pub fn watching() -> Self {
        Self {
            echo: echo::defaults(),
            starting_after: None,
            with_ids: true,
        }
    }
}

/// Encodes one run for one reader. Its response object is the same for all readers.
#[derive(Debug, Clone)]
pub struct ResponseEncoder {
    options: ResponseOptions,
    /// Tools that the caller runs, by the names given to the model.
    caller_tools: HashMap<String, FunctionName>,
    numbers: Numbers,
    /// The last event's number.
    last_seq: u64,
    /// Set by the first event, with the seconds since 1970.
    begun: Option<(RunId, i64)>,
    output: Vec<Item>,
    /// The index in `output` of each open item.
    open: HashMap<(Log, String), usize>,
    sources: Sources,
    /// Finished reasoning, in case its opaque data follows.
    thought: Option<String>,
    end: Option<End>,
}

/// The kinds of items in a log; their ids may coincide.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Log {
    Text,
    Reasoning,
    Call,
}

/// A delta: the most frequent events.
#[derive(Serialize)]
struct Delta<'a> {
    item_id: &'a str,
    output_index: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    content_index: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    summary_index: Option<u8>,
    delta: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    logprobs: Option<[u8; 0]>,
}

impl ResponseEncoder {
    /// An encoder for the beginning of the log; a resuming reader continues after its last frame.
    #[must_use]
    pub fn new(options: ResponseOptions) -> Self {
        Self {
            caller_tools: function_names(options.echo.get("tools")),
            numbers: Numbers::new(options.starting_after),
            options,
            last_seq: 0,
            begun: None,
            output: Vec::new(),
            open: HashMap::new(),
            sources: Sources::default(),
            thought: None,
            end: None,
        }
    }

    /// Applies an event that the reader already has, so that later events continue from it.
    pub fn prime(&mut self, event: &RunEvent) {
        self.with_output(event, false);
    }

    /// The frames for the next event: usually one or none.
    pub fn push(&mut self, event: &RunEvent) -> Vec<Frame> {
        self.with_output(event, true)
    }

    fn with_output(&mut self, event: &RunEvent, wanted: bool) -> Vec<Frame> {
        let mut numbers = self.numbers.clone();
        if self.last_seq > 0 && event.seq == seq_after_restart(self.last_seq) {
            numbers.skip(event.seq - self.last_seq - 1);
        }
        self.last_seq = event.seq;
        let mut out = match wanted {
            true => Output::of(event, &mut numbers),
            false => Output::none(event, &mut numbers),
        };
        self.read(event, &mut out);
        let frames = out.finish(self.options.with_ids);
        self.numbers = numbers;
        frames
    }

    /// The frame for a reader whose log became unreadable, though the run may continue. It repeats the previous number,
    /// so that a reader that resumes after it misses nothing.
    #[must_use]
    pub fn broken_off(&self, message: &str) -> Frame {
        let code = ProblemCode::Unavailable.as_str();
        frame(
            "error",
            self.numbers.last(),
            &json!({"code": code, "message": message, "param": null}),
        )
    }

    /// Why the run failed, if it did: a caller that does not stream gets that instead of half an answer.
    #[must_use]
    pub fn problem(&self) -> Option<&Problem> {
        self.end.as_ref()?.problem.as_ref()
    }

    /// The response object so far.
    #[must_use]
    pub fn response(&self) -> Value {
        object(
            self.begun,
            &self.options.echo,
            &self.output,
            self.end.as_ref(),
        )
    }

    fn read(&mut self, event: &RunEvent, out: &mut Output<'_>) {
        let run = event.run;
        // The work of sub-agents is part of the result of the call that started them.
        let main = event.agent.is_main();
        if main {
            self.close_thought(event, out);
        }
        match &event.body {
            EventBody::RunStarted { .. } => {
                self.begun = Some((run, event.at / 1000));
                for kind in ["response.created", "response.in_progress"] {
                    out.push(kind, || json!({"response": self.response()}));
                }
            }
            EventBody::TextStarted { item } if main => {
                let kind = Kind::Message {
                    text: String::new(),
                    annotations: Vec::new(),
                    phase: None,
                };
                self.open(
                    Log::Text,
                    item,
                    Item::new(item_id("msg", run, item), kind),
                    out,
                );
            }
            EventBody::TextDelta { item, delta } if main => self.add(Log::Text, item, delta, out),
            EventBody::TextFinished {
                item, text, answer, ..
            } if main => {
                self.rest(Log::Text, item, text, out);
                self.finish_text(item, *answer, out);
            }
            EventBody::ReasoningStarted { item } if main => {
                let kind = Kind::Reasoning {
                    text: String::new(),
                    encrypted: None,
                };
                self.open(
                    Log::Reasoning,
                    item,
                    Item::new(item_id("rs", run, item), kind),
                    out,
                );
            }
            EventBody::ReasoningDelta { item, delta } if main => {
                self.add(Log::Reasoning, item, delta, out)
            }
            EventBody::ReasoningFinished { item, text, .. } if main => {
                self.rest(Log::Reasoning, item, text, out);
                self.thought = Some(item.clone());
            }
            EventBody::ProviderData(data) if main => self.seal(run, event.seq, data, out),
            EventBody::ToolRequested {
                call,
                name,
                by_provider: false,
                ..
            } if main && self.caller_tools.contains_key(name) => {
                self.open(Log::Call, call, self.function_call(run, call, name), out);
            }
            EventBody::ToolArgumentsDelta { call, delta } if main && !self.is_custom(call) => {
                self.add(Log::Call, call, delta, out);
            }
            EventBody::ToolStarted {
                call,
                name,
                arguments,
                ..
            } if main => {
                self.start_ours(run, call, name, arguments, out);
            }
            EventBody::ToolFinished {
                call,
                name,
                arguments,
                result,
                error,
                ..
            } if main => {
                let result = shown_result(result);
                let result = if *error { Err(result) } else { Ok(result) };
                self.finish_ours(run, call, name, arguments, result, out);
            }
            EventBody::ToolHandedOver {
                call,
                name,
                arguments,
            } => {
                self.hand_over(run, call, name, arguments, out);
            }
            EventBody::SourcesFound { sources } => self.sources.add(sources),
            EventBody::RunFinished {
                outcome,
                problem,
                usage,
                cost_micro_usd,
            } => {
                let used = Used {
                    usage: *usage,
                    cost_micro_usd: *cost_micro_usd,
                };
                self.finish(
                    End::new(event.at / 1000, *outcome, problem.as_ref(), used),
                    out,
                );
            }
            EventBody::TextStarted { .. }
            | EventBody::TextDelta { .. }
            | EventBody::TextFinished { .. }
            | EventBody::ReasoningStarted { .. }
            | EventBody::ReasoningDelta { .. }
            | EventBody::ReasoningFinished { .. }
            | EventBody::StepStarted { .. }
            | EventBody::Status { .. }
            | EventBody::ToolRequested { .. }
            | EventBody::ToolArgumentsDelta { .. }
            | EventBody::ToolStarted { .. }
            | EventBody::ToolProgress { .. }
            | EventBody::ToolOutput { .. }
            | EventBody::ToolFinished { .. }
            | EventBody::ApprovalAsked { .. }
            | EventBody::ApprovalAnswered { .. }
            | EventBody::QuestionAsked { .. }
            | EventBody::QuestionAnswered { .. }
            | EventBody::PlanChanged { .. }
            | EventBody::FileChanged { .. }
            | EventBody::MemoryUpdateStarted { .. }
            | EventBody::MemoryUpdateCompleted { .. }
            | EventBody::HookStarted(_)
            | EventBody::HookFinished(_)
            | EventBody::AgentStarted { .. }
            | EventBody::AgentFinished { .. }
            | EventBody::ModelRequested { .. }
            | EventBody::ProviderData(_)
            | EventBody::ModelCalled { .. }
            | EventBody::ContextCompacted { .. }
            | EventBody::Notice { .. }
            | EventBody::RunResumed { .. }
            | EventBody::InputReceived(_)
            | EventBody::InputApplied { .. }
            | EventBody::InputRemoved { .. }
            | EventBody::RunForked { .. } => {}
        }
    }

    /// Closes the reasoning before this event, with its opaque data if the event carries it. A delta leaves it open: it
    /// never has more than one frame.
    fn close_thought(&mut self, event: &RunEvent, out: &mut Output<'_>) {
        let is_delta = matches!(
            event.body,
            EventBody::TextDelta { .. }
                | EventBody::ReasoningDelta { .. }
                | EventBody::ToolArgumentsDelta { .. }
        );
        let Some(name) = self.thought.take_if(|_| !is_delta) else {
            return;
        };
        if let EventBody::ProviderData(data) = &event.body
            && data.item.as_ref() == Some(&name)
            && data.at.is_none()
            && let Some((
                _,
                Item {
                    kind: Kind::Reasoning { text, encrypted },
                    ..
                },
            )) = self.opened(Log::Reasoning, &name)
        {
            let block = StoredBlock::Reasoning {
                text: text.clone(),
                data: Some(data.data.clone()),
            };
            *encrypted = Some(
                SealedBlock {
                    provider: data.provider.clone(),
                    block,
                }
                .seal(),
            );
        }
        self.close(Log::Reasoning, &name, "completed", out);
    }

    /// Opaque data of another part of the answer, or of none, as reasoning without text.
    fn seal(&mut self, run: RunId, seq: u64, data: &ProviderData, out: &mut Output<'_>) {
        let ProviderData {
            item,
            reasoning,
            at,
            provider,
            data,
        } = data;
        let provider = provider.clone();
        let block = match item {
            // It was sent with its reasoning.
            Some(name)
                if self
                    .output
                    .last()
                    .is_some_and(|last| last.id == item_id("rs", run, name)) =>
            {
                return;
            }
            Some(_) if at.is_some() => StoredBlock::Text {
                data: Some(data.clone()),
            },
            Some(call) if self.opened(Log::Call, call).is_some() => StoredBlock::Call {
                id: outer_call_id(run, call),
                data: Some(data.clone()),
            },
            Some(call) => StoredBlock::Call {
                id: own_call_id(run, call),
                data: Some(data.clone()),
            },
            None if *reasoning => StoredBlock::Reasoning {
                text: String::new(),
                data: Some(data.clone()),
            },
            None => StoredBlock::Other { data: data.clone() },
        };
        let encrypted = Some(SealedBlock { provider, block }.seal());
        let at = self.output.len();
        let id = item_id("rs", run, &format!("p{seq}"));
        let mut item = Item::new(
            id,
            Kind::Reasoning {
                text: String::new(),
                encrypted,
            },
        );
        out.push(
            "response.output_item.added",
            || json!({"output_index": at, "item": item.announced()}),
        );
        item.status = "completed";
        out.push(
            "response.output_item.done",
            || json!({"output_index": at, "item": item.to_json()}),
        );
        self.output.push(item);
    }

    fn open(&mut self, log: Log, name: &str, item: Item, out: &mut Output<'_>) {
        let at = self.output.len();
        out.push(
            "response.output_item.added",
            || json!({"output_index": at, "item": item.announced()}),
        );
        let place = || json!({"item_id": item.id, "output_index": at});
        match item.kind {
            Kind::Message { .. } => {
                out.push("response.content_part.added", || {
                    with(place(), "content_index", item.part())
                });
            }
            Kind::Reasoning { .. } => {
                let kind = "response.reasoning_summary_part.added";
                out.push(kind, || with(place(), "summary_index", item.part()));
            }
            Kind::ServerCall { .. } => out.push("response.mcp_call.in_progress", place),
            Kind::FunctionCall { .. } | Kind::CustomCall { .. } => {}
        }
        self.output.push(item);
        self.open.insert((log, name.to_owned()), at);
    }

    /// The open item of that id.
    fn opened(&mut self, log: Log, name: &str) -> Option<(usize, &mut Item)> {
        let at = *self.open.get(&(log, name.to_owned()))?;
        Some((at, self.output.get_mut(at)?))
    }

    fn add(&mut self, log: Log, name: &str, delta: &str, out: &mut Output<'_>) {
        let Some((output_index, item)) = self.opened(log, name).filter(|_| !delta.is_empty())
        else {
            return;
        };
        item.text().push_str(delta);
        let (kind, content_index, summary_index) = match item.kind {
            Kind::Message { .. } => ("response.output_text.delta", Some(0), None),
            Kind::Reasoning { .. } => ("response.reasoning_summary_text.delta", None, Some(0)),
            Kind::FunctionCall { .. } => ("response.function_call_arguments.delta", None, None),
            Kind::CustomCall { .. } => ("response.custom_tool_call_input.delta", None, None),
            Kind::ServerCall { .. } => ("response.mcp_call_arguments.delta", None, None),
        };
        let item_id = &*item.id;
        let logprobs = content_index.map(|_| []);
        out.push(kind, || Delta {
            item_id,
            output_index,
            content_index,
            summary_index,
            delta,
            logprobs,
        });
    }

    /// Adds the missing rest of the complete text.
    fn rest(&mut self, log: Log, name: &str, text: &str, out: &mut Output<'_>) {
        let sent = self
            .opened(log, name)
            .map_or(0, |(_, item)| item.text().len());
        self.add(log, name, text.get(sent..).unwrap_or_default(), out);
    }

    fn finish_text(&mut self, name: &str, answer: bool, out: &mut Output<'_>) {
        let sources = std::mem::take(&mut self.sources);
        if let Some((at, Item { id, kind, .. })) = self.opened(Log::Text, name)
            && let Kind::Message {
                text,
                annotations,
                phase,
            } = kind
        {
            *phase = Some(if answer { "final_answer" } else { "commentary" });
            *annotations = echo::citations(name, text, &sources);
            for (number, annotation) in annotations.iter().enumerate() {
                out.push("response.output_text.annotation.added", || {
                    json!({
                        "item_id": id, "output_index": at, "content_index": 0,
                        "annotation_index": number, "annotation": annotation,
                    })
                });
            }
        }
        self.sources = sources;
        self.close(Log::Text, name, "completed", out);
    }

    fn close(&mut self, log: Log, name: &str, status: &'static str, out: &mut Output<'_>) {
        let Some(at) = self.open.remove(&(log, name.to_owned())) else {
            return;
        };
        let Some(item) = self.output.get_mut(at) else {
            return;
        };
        item.status = status;
        let place = json!({"item_id": item.id, "output_index": at});
        match &item.kind {
            Kind::Message { text, .. } => {
                out.push("response.output_text.done", || {
                    json!({
                        "item_id": item.id, "output_index": at, "content_index": 0,
                        "text": text, "logprobs": [],
                    })
                });
                out.push("response.content_part.done", || {
                    with(place, "content_index", item.part())
                });
            }
            Kind::Reasoning { text, .. } => {
                out.push(
                    "response.reasoning_summary_text.done",
                    || json!({"item_id": item.id, "output_index": at, "summary_index": 0, "text": text}),
                );
                let kind = "response.reasoning_summary_part.done";
                out.push(kind, || with(place, "summary_index", item.part()));
            }
            // A call that will not be run is not marked complete.
            Kind::FunctionCall {
                name, arguments, ..
            } if status == "completed" => {
                out.push(
                    "response.function_call_arguments.done",
                    || json!({"item_id": item.id, "output_index": at, "name": name.name, "arguments": arguments}),
                );
            }
            Kind::CustomCall { input, .. } if status == "completed" => {
                out.push(
                    "response.custom_tool_call_input.done",
                    || json!({"item_id": item.id, "output_index": at, "input": input}),
                );
            }
            Kind::FunctionCall { .. } | Kind::CustomCall { .. } => {}
            Kind::ServerCall { result, .. } => {
                let failed = matches!(result, Some(Err(_)));
                let kind = if failed {
                    "response.mcp_call.failed"
                } else {
                    "response.mcp_call.completed"
                };
                out.push(kind, || place);
            }
        }
        out.push(
            "response.output_item.done",
            || json!({"output_index": at, "item": item.to_json()}),
        );
    }

    /// One of our own calls appears with its validated arguments, when it starts.
    fn start_ours(
        &mut self,
        run: RunId,
        call: &str,
        name: &str,
        arguments: &Value,
        out: &mut Output<'_>,
    ) {
        if self.opened(Log::Call, call).is_some() {
            return;
        }
        let name = name.to_owned();
        let arguments = arguments_text(arguments);
        let kind = Kind::ServerCall {
            name,
            arguments: String::new(),
            result: None,
        };
        self.open(
            Log::Call,
            call,
            Item::new(item_id("mcp", run, call), kind),
            out,
        );
        self.add(Log::Call, call, &arguments, out);
        if let Some((at, item)) = self.opened(Log::Call, call) {
            out.push(
                "response.mcp_call_arguments.done",
                || json!({"item_id": item.id, "output_index": at, "arguments": arguments}),
            );
        }
    }

    fn finish_ours(
        &mut self,
        run: RunId,
        call: &str,
        name: &str,
        arguments: &Value,
        finished: Result<String, String>,
        out: &mut Output<'_>,
    ) {
        if self.opened(Log::Call, call).is_none() {
            self.start_ours(run, call, name, arguments, out);
        }
        let status = match self.opened(Log::Call, call) {
            Some((
                _,
                Item {
                    kind: Kind::ServerCall { result, .. },
                    ..
                },
            )) => {
                let status = if finished.is_ok() {
                    "completed"
                } else {
                    "failed"
                };
                *result = Some(finished);
                status
            }
            // The run ended before the caller's tool could be handed over.
            _ => "incomplete",
        };
        self.close(Log::Call, call, status, out);
    }

    fn hand_over(
        &mut self,
        run: RunId,
        call: &str,
        name: &str,
        arguments: &Value,
        out: &mut Output<'_>,
    ) {
        if self.opened(Log::Call, call).is_none() {
            self.open(Log::Call, call, self.function_call(run, call, name), out);
        }
        // The sent part is as the model wrote it, and stays so.
        if self
            .opened(Log::Call, call)
            .is_some_and(|(_, item)| item.text().trim().is_empty())
        {
            let input = arguments[CUSTOM_INPUT]
                .as_str()
                .filter(|_| self.is_custom(call))
                .map(str::to_owned);
            self.add(
                Log::Call,
                call,
                &input.unwrap_or_else(|| arguments_text(arguments)),
                out,
            );
        }
        self.close(Log::Call, call, "completed", out);
    }

    /// Whether the open call is of a custom tool. Its text is known once its arguments are complete.
    fn is_custom(&self, call: &str) -> bool {
        let at = self.open.get(&(Log::Call, call.to_owned()));
        let item = at.and_then(|at| self.output.get(*at));
        item.is_some_and(|item| matches!(item.kind, Kind::CustomCall { .. }))
    }

    fn function_call(&self, run: RunId, call: &str, name: &str) -> Item {
        let known = self.caller_tools.get(name).cloned();
        let name = known.unwrap_or_else(|| FunctionName::plain(name));
        let call_id = outer_call_id(run, call);
        if name.is_custom {
            return Item::new(
                item_id("ctc", run, call),
                Kind::CustomCall {
                    call_id,
                    name,
                    input: String::new(),
                },
            );
        }
        Item::new(
            item_id("fc", run, call),
            Kind::FunctionCall {
                call_id,
                name,
                arguments: String::new(),
            },
        )
    }

    fn finish(&mut self, end: End, out: &mut Output<'_>) {
        let kind = end.event();
        self.end = Some(end);
        out.push(kind, || json!({"response": self.response()}));
    }
}

fn with(mut place: Value, index: &str, part: Value) -> Value {
    place[index] = json!(0);
    place["part"] = part;
    place
}
