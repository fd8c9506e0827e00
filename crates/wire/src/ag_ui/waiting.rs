//! Pauses and resumes an AG-UI stream for approvals and questions: for AG-UI a waiting run has ended, and the answer
//! starts another one; our run keeps waiting.

use domain::{AgentPath, EventBody, Form, RunEvent};
use serde_json::{Value, json};
use sse::Frame;

use super::{
    encoder::{AgUiEncoder, ClientRun, SubAgents},
    event::{Event, Interrupt, PROTOCOL_VERSION, RunOutcome, Sink, Stamped, SubagentOutcome},
    ids::InterruptId,
    request::Version,
};
/// An unanswered approval or question that the client knows.
#[derive(Debug, Clone, PartialEq)]
pub struct Ask {
    /// Its id in the run.
    pub id: String,
    /// The call that waits.
    pub call: String,
    /// The kind of question.
    pub kind: AskKind,
    pub(super) agent: AgentPath,
    /// The client has sent the answer, which is not in the log yet.
    pub(super) is_being_answered: bool,
}

/// The kind of question.
#[derive(Debug, Clone, PartialEq)]
pub enum AskKind {
    /// Whether a call may run.
    Approval {
        /// The tool.
        name: String,
        /// The arguments it would run with.
        arguments: Value,
    },
    /// A question.
    Question {
        /// The question.
        text: String,
        /// Suggested answers.
        options: Vec<String>,
        /// The form to fill in, if the answer is not a single text.
        form: Option<Form>,
    },
}

/// The schema of a text answer.
fn answer_schema(options: &[String]) -> Value {
    json!({"type": "object", "required": ["answer"], "properties": {
        "answer": {"type": "string", "examples": options}}})
}

impl Ask {
    pub(super) fn new(event: &RunEvent, id: &str, call: &str, kind: AskKind) -> Self {
        let id = id.to_owned();
        let call = call.to_owned();
        let agent = event.agent.clone();
        Self {
            id,
            call,
            kind,
            agent,
            is_being_answered: false,
        }
    }

    /// The interrupt for the client.
    fn interrupt<'a>(&'a self, encoder: &'a AgUiEncoder, id: InterruptId) -> Interrupt<'a> {
        let (reason, message, response_schema, metadata) = match &self.kind {
            AskKind::Approval { name, arguments } => (
                "tool_call",
                format!("May {name} run?"),
                json!({"type": "object", "required": ["approved"], "properties": {
                    "approved": {"type": "boolean"},
                    "editedArgs": {"type": "object", "description": "Other arguments to run it with."},
                    "reason": {"type": "string", "description": "Why not, for the model."}}}),
                json!({"name": name, "arguments": arguments}),
            ),
            AskKind::Question {
                text,
                options,
                form,
            } => (
                "input_required",
                text.clone(),
                form.as_ref()
                    .map_or_else(|| answer_schema(options), Form::schema),
                json!({"options": options}),
            ),
        };
        Interrupt {
            id,
            reason,
            message,
            tool_call_id: encoder.id(&self.call, ""),
            response_schema,
            metadata,
            subagent_run_id: encoder.tag(&self.agent),
        }
    }
}

impl AgUiEncoder {
    /// The questions that the client knows to be open.
    #[must_use]
    pub fn asks(&self) -> &[Ask] {
        &self.asks
    }

    /// Whether the stream could end here as an interrupt: a question is open and nothing is being written.
    #[must_use]
    pub fn can_pause(&self) -> bool {
        self.asks.iter().any(|ask| !ask.is_being_answered)
            && self.texts.is_empty()
            && self.reasoning.is_empty()
            && self.calls.values().all(|call| !call.is_being_written())
    }

    /// The event after which the stream could first have ended for the open questions.
    #[must_use]
    pub fn paused_at(&self) -> Option<u64> {
        self.paused_at
    }

    /// Whether the event has to wait for the open questions. Only items that were being written continue, so that the
    /// stream can end soon even if other agents keep working.
    pub(super) fn must_wait(&self, event: &RunEvent) -> bool {
        if self.asks.is_empty() {
            return false;
        }
        match &event.body {
            EventBody::TextDelta { item, .. } | EventBody::TextFinished { item, .. } => {
                !self.texts.contains_key(item)
            }
            EventBody::ReasoningDelta { item, .. } | EventBody::ReasoningFinished { item, .. } => {
                !self.reasoning.contains_key(item)
            }
            EventBody::ToolArgumentsDelta { call, .. }
            | EventBody::ToolStarted { call, .. }
            | EventBody::ApprovalAsked { call, .. }
            | EventBody::QuestionAsked { call, .. } => !self.calls.contains_key(call),
            EventBody::ApprovalAnswered { approval: id, .. }
            | EventBody::QuestionAnswered { question: id, .. } => {
                !self.asks.iter().any(|ask| ask.id == *id)
            }
            EventBody::ModelCalled { .. } | EventBody::RunFinished { .. } => false,
            EventBody::RunStarted { .. }
            | EventBody::StepStarted { .. }
            | EventBody::ModelRequested { .. }
            | EventBody::ProviderData(_)
            | EventBody::Status { .. }
            | EventBody::TextStarted { .. }
            | EventBody::ReasoningStarted { .. }
            | EventBody::ToolRequested { .. }
            | EventBody::ToolProgress { .. }
            | EventBody::ToolOutput { .. }
            | EventBody::ToolFinished { .. }
            | EventBody::ToolHandedOver { .. }
            | EventBody::PlanChanged { .. }
            | EventBody::FileChanged { .. }
            | EventBody::MemoryUpdateStarted { .. }
            | EventBody::MemoryUpdateCompleted { .. }
            | EventBody::HookStarted(_)
            | EventBody::HookFinished(_)
            | EventBody::SourcesFound { .. }
            | EventBody::AgentStarted { .. }
            | EventBody::AgentFinished { .. }
            | EventBody::ContextCompacted { .. }
            | EventBody::Notice { .. }
            | EventBody::RunResumed { .. }
            | EventBody::InputReceived(_)
            | EventBody::InputApplied { .. }
            | EventBody::InputRemoved { .. }
            | EventBody::RunForked { .. } => true,
        }
    }

    /// Ends the client's run as interrupted by the open questions. No events may be pushed afterwards; the run
    /// continues with [`AgUiEncoder::resume`].
    pub fn pause(&mut self) -> Vec<Frame> {
        let mut frames = Vec::new();
        let open: Vec<String> = self
            .calls
            .iter()
            .filter(|(_, call)| call.is_open())
            .map(|(id, _)| id.clone())
            .collect();
        for call in open {
            // The model has written nothing, which means an empty object.
            self.end_arguments(&call, Some(&json!({})), &mut frames);
        }
        self.finish_steps(None, &mut frames);
        if self.client_run.version == Version::V1 {
            for agent in self.agents.iter().rev() {
                let own = self.asks.iter().filter(|ask| ask.agent == agent.path);
                let interrupt_ids = own.filter_map(|ask| self.interrupt_id(ask)).collect();
                let outcome = Some(SubagentOutcome::Suspended { interrupt_ids });
                self.put(
                    &agent.path,
                    &Event::SubagentFinished {
                        result: None,
                        outcome,
                    },
                    &mut frames,
                );
            }
        }
        let interrupts = self
            .asks
            .iter()
            .filter_map(|ask| Some(ask.interrupt(self, self.interrupt_id(ask)?)))
            .collect();
        let finished = Event::RunFinished {
            thread_id: &self.client_run.thread_id,
            run_id: &self.client_run.run_id,
            outcome: Some(RunOutcome::Interrupt { interrupts }),
            result: None,
            usage: self.usage(),
        };
        self.put(&AgentPath::main(), &finished, &mut frames);
        frames
    }

    /// Starts the client's next run, which continues where the last one ended. `answered` are the questions that the
    /// client has answered.
    pub fn resume(&mut self, client_run: ClientRun, answered: &[String]) -> Vec<Frame> {
        self.pause();
        for (name, value) in client_run
            .state
            .iter()
            .filter(|(name, _)| !super::encoder::OWN_STATE.contains(&name.as_str()))
        {
            self.client_run.state.insert(name.clone(), value.clone());
        }
        let state = std::mem::take(&mut self.client_run.state);
        self.client_run = ClientRun {
            state,
            ..client_run
        };
        self.usage.clear();
        for ask in &mut self.asks {
            ask.is_being_answered = answered.contains(&ask.id);
        }
        let mut frames = Vec::new();
        self.start_run(&mut frames);
        for agent in &self.agents {
            self.put_agent(agent, &mut frames);
        }
        frames
    }

    pub(super) fn start_run(&self, sink: &mut impl Sink) {
        let ClientRun {
            thread_id,
            run_id,
            state,
            ..
        } = &self.client_run;
        let main = AgentPath::main();
        self.put(
            &main,
            &Event::RunStarted {
                thread_id,
                run_id,
                protocol_version: PROTOCOL_VERSION,
            },
            sink,
        );
        self.put(&main, &Event::StateSnapshot { snapshot: state }, sink);
    }

    pub(super) fn put(&self, agent: &AgentPath, event: &Event<'_>, sink: &mut impl Sink) {
        let is_of_all = matches!(event, Event::StateDelta { .. } | Event::Custom { .. });
        if self.client_run.sub_agents == SubAgents::Hidden && !agent.is_main() && !is_of_all {
            return;
        }
        sink.put(Stamped {
            event,
            timestamp: self.at,
            subagent_run_id: self.tag(agent),
        });
    }

    /// With an open question, the run is known.
    fn interrupt_id(&self, ask: &Ask) -> Option<InterruptId> {
        Some(InterruptId {
            run: self.run?,
            ask: ask.id.clone(),
            seq: self.seq,
        })
    }
}
