//! One step of an agent in the journal: what people have written before it, its answer and its calls.

use std::convert::Infallible;

use domain::{AgentPath, EventBody, LocalizedText, ToolCall, event::HookEnd};

use super::{AgentJournal, CompactionRecord, Journal, StepRecord};
use crate::answer::{Answer, RequestedCall};

/// One step of an agent, with its record in the log.
pub(crate) struct Step<'a> {
    journal: &'a AgentJournal,
    number: u32,
    /// The complete answer of the model, or the calls made by our code, if the log has it.
    record: Option<&'a StepRecord>,
    is_replayed: bool,
}

impl AgentJournal {
    /// The step with this number, counted from 1.
    pub(crate) fn step(&self, number: u32) -> Step<'_> {
        let mut steps = self.run.steps(self.emitter.agent()).iter().rev();
        Step {
            journal: self,
            number,
            record: steps.find(|step| step.number == number && step.whole),
            is_replayed: false,
        }
    }
}

impl<'a> Step<'a> {
    pub(crate) fn number(&self) -> u32 {
        self.number
    }

    /// Whether the step's answer is in the log.
    pub(crate) fn is_answered(&self) -> bool {
        self.record.is_some()
    }

    /// Whether [`Step::answer`] has returned the recorded answer.
    pub(crate) fn is_replayed(&self) -> bool {
        self.is_replayed
    }

    /// Whether this step or a later one is in the log.
    pub(crate) fn is_begun(&self) -> bool {
        let mut steps = self.of_agent().iter();
        steps.any(|step| step.number >= self.number)
    }

    /// What people have written to the agent before this step, as recorded: inputs, and the guidance of a fork.
    pub(crate) fn said(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        self.said_before(self.number)
    }

    /// Whether a person has interrupted the step: it ends with what it has written so far, and is followed by another.
    pub(crate) fn was_interrupted(&self) -> bool {
        let is_over = self.record.is_some_and(|step| step.calls.is_empty());
        is_over
            && self
                .said_before(self.number.saturating_add(1))
                .next()
                .is_some()
    }

    fn said_before(&self, step: u32) -> impl Iterator<Item = &'a str> + use<'a> {
        let agent = self.journal.emitter.agent();
        let said = self.journal.run.said.iter();
        said.filter(move |(path, before, _)| path == agent && *before == step)
            .map(|(_, _, text)| text.as_str())
    }

    /// The compactions of the conversation in this step, including those in unanswered attempts.
    pub(crate) fn compactions(&self) -> impl Iterator<Item = &'a CompactionRecord> + use<'a> {
        let number = self.number;
        let tries = self.of_agent().iter();
        tries
            .filter(move |step| step.number == number)
            .flat_map(|step| &step.compactions)
    }

    /// Why an answered step was the agent's last, if it was; otherwise the result of `begin`, which emits the beginning
    /// of the step.
    pub(crate) async fn begin<E>(
        &self,
        begin: impl Future<Output = Result<Option<LocalizedText>, E>>,
    ) -> Result<Option<LocalizedText>, E> {
        match self.record {
            Some(step) => Ok(step.last.clone().map(LocalizedText::from)),
            None => begin.await,
        }
    }

    /// The recorded answer of the model, or the result of `ask`, which emits it. `kept` provides the text of a recorded
    /// answer that is not in the log because hooks were checking it.
    pub(crate) async fn answer<E>(
        &mut self,
        kept: impl Future<Output = Option<String>>,
        ask: impl Future<Output = Result<Answer, E>>,
    ) -> Result<Answer, E> {
        let Some(answer) = self.recorded_answer() else {
            return ask.await;
        };
        // If the model said nothing, it may have been about to be called again.
        let answer = match answer.is_empty() {
            false => Some(answer),
            true => kept.await.map(|text| Answer {
                text,
                held: true,
                ..answer
            }),
        };
        self.is_replayed = answer.is_some();
        match answer {
            Some(answer) => Ok(answer),
            None => ask.await,
        }
    }

    /// The recorded calls of the step, or those that `decide` emits after the beginning of the step.
    pub(crate) async fn calls(
        &self,
        decide: impl Future<Output = Vec<RequestedCall>>,
    ) -> Vec<RequestedCall> {
        let decide = async { Ok::<_, Infallible>(decide.await) };
        let Ok(calls) = self.try_calls(decide).await;
        calls
    }

    /// Like [`Step::calls`], for a `decide` that may fail.
    pub(crate) async fn try_calls<E>(
        &self,
        decide: impl Future<Output = Result<Vec<RequestedCall>, E>>,
    ) -> Result<Vec<RequestedCall>, E> {
        if let Some(answer) = self.recorded_answer() {
            return Ok(answer.calls);
        }
        self.emit_begin(None).await;
        decide.await
    }

    /// The recorded text of the step, or the one from `write`, which begins the step and emits it.
    pub(crate) async fn text<E>(
        &self,
        write: impl Future<Output = Result<String, E>>,
    ) -> Result<String, E> {
        let recorded = self.record.map(|step| &step.text);
        match recorded.filter(|text| !text.trim().is_empty()) {
            Some(text) => Ok(text.clone()),
            None => write.await,
        }
    }

    /// Why this step is the agent's last, if it is: as recorded when the step began, or else as decided by `decide`.
    pub(crate) fn last<Why: From<&'a str>>(
        &self,
        decide: impl FnOnce() -> Option<Why>,
    ) -> Option<Why> {
        let mut tries = self.of_agent().iter().rev();
        let begun = tries.find(|step| step.number == self.number);
        match begun.and_then(|step| step.last.as_deref()) {
            Some(why) => Some(why.into()),
            None if self.is_answered() => None,
            None => decide(),
        }
    }

    /// Emits the beginning of the step, unless its answer is in the log. `last` is the reason why it is the agent's
    /// last.
    pub(crate) async fn emit_begin(&self, last: Option<String>) {
        if self.is_answered() {
            return;
        }
        let step = self.number;
        self.journal
            .emit_and_part_calls(EventBody::StepStarted { step, last })
            .await;
    }

    /// The hook decision that rejected the recorded answer, if any.
    pub(crate) fn sent_back(&self) -> Option<&'a HookEnd> {
        let end = self.journal.sent_back(self.number);
        end.filter(|_| self.is_replayed)
    }

    fn recorded_answer(&self) -> Option<Answer> {
        self.record.map(|step| self.journal.run.answer(step))
    }

    fn of_agent(&self) -> &'a [StepRecord] {
        self.journal.run.steps(self.journal.emitter.agent())
    }
}

impl Journal {
    pub(super) fn steps(&self, agent: &AgentPath) -> &[StepRecord] {
        self.agents.get(agent).map_or(&[], |agent| &agent.steps)
    }

    fn answer(&self, step: &StepRecord) -> Answer {
        let calls = step.calls.iter().filter_map(|id| {
            let call = self.calls.get(id)?;
            // Logs of earlier versions lack the model's id. Any id works that is also used for the result.
            let model_id = call.model_id.as_ref().unwrap_or(id);
            let written = ToolCall {
                id: model_id.clone(),
                name: call.name.clone(),
                arguments: call.written.clone(),
            };
            Some((id.clone(), written))
        });
        let paused = step.calls.is_empty() && !step.answered && step.blocks.has_own();
        let blocks = step.blocks.clone();
        let answer = Answer::from_log(step.text.clone(), calls, step.input_tokens, blocks);
        Answer { paused, ..answer }
    }
}
