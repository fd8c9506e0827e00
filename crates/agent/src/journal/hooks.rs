//! The recorded calls of hooks.

use std::collections::HashMap;

use domain::{
    AgentPath, EventBody,
    event::{Decision, HookCall, HookEnd, HookEvent},
};

use super::AgentJournal;

/// The point of a run at which a hook is called.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct HookPlace {
    pub(crate) agent: AgentPath,
    pub(crate) event: HookEvent,
    pub(crate) call: Option<String>,
    pub(crate) step: Option<u32>,
}

/// One call of a hook.
#[derive(Debug, Clone)]
enum HookRecord {
    /// Unfinished when the server stopped.
    InFlight(HookCall),
    Decided(HookEnd),
}

impl HookRecord {
    fn decided(&self) -> Option<&HookEnd> {
        match self {
            Self::Decided(end) => Some(end),
            Self::InFlight(_) => None,
        }
    }

    fn in_flight(&self) -> Option<&HookCall> {
        match self {
            Self::InFlight(call) => Some(call),
            Self::Decided(_) => None,
        }
    }
}

/// The calls of hooks by place, each list in log order.
#[derive(Debug, Default)]
pub(super) struct HookRecords {
    calls: HashMap<HookPlace, Vec<HookRecord>>,
    /// The run has passed its hooks before the run.
    is_under_way: bool,
}

impl HookRecords {
    /// Adds the log's next event.
    pub(super) fn push(&mut self, agent: &AgentPath, body: &EventBody) {
        match body {
            EventBody::HookStarted(call) if !call.edited => {
                self.of(agent, call)
                    .push(HookRecord::InFlight((**call).clone()));
            }
            EventBody::HookFinished(end) if !end.call.edited => {
                let calls = self.of(agent, &end.call);
                calls.retain(
                    |call| !matches!(call, HookRecord::InFlight(call) if call.id == end.call.id),
                );
                if end.decision != Decision::Withdrawn {
                    calls.push(HookRecord::Decided((**end).clone()));
                }
            }
            EventBody::StepStarted { .. } => self.is_under_way = true,
            // A fork is a separate run, whose hooks have not been called yet.
            EventBody::RunForked { .. } => {
                self.is_under_way = false;
                self.calls
                    .retain(|place, _| place.event != HookEvent::BeforeRun);
            }
            _ => {}
        }
    }

    fn of(
        &mut self,
        agent: &AgentPath,
        HookCall {
            event, call, step, ..
        }: &HookCall,
    ) -> &mut Vec<HookRecord> {
        let place = HookPlace {
            agent: agent.clone(),
            event: *event,
            call: call.clone(),
            step: *step,
        };
        self.calls.entry(place).or_default()
    }

    fn at(&self, place: &HookPlace) -> &[HookRecord] {
        self.calls.get(place).map_or(&[], Vec::as_slice)
    }
}

/// The recorded hooks of one place.
#[derive(Debug, Default)]
pub(crate) struct RecordedHooks<'a> {
    /// Their decisions, in log order.
    pub(crate) decided: Vec<&'a HookEnd>,
    /// The calls that were unfinished when the server stopped.
    pub(crate) in_flight: Vec<&'a HookCall>,
    /// The log continues after this place, so no further hooks are called.
    pub(crate) is_over: bool,
}

impl AgentJournal {
    /// Whether the log contains any hook call.
    pub(crate) fn has_hooks(&self) -> bool {
        !self.run.hooks.calls.is_empty()
    }

    /// The recorded hooks of a place. If their subject has changed, earlier decisions do not count.
    pub(crate) fn hooks(&self, place: &HookPlace, is_new: bool) -> RecordedHooks<'_> {
        let records = self.run.hooks.at(place);
        let decided = records.iter().filter_map(HookRecord::decided);
        RecordedHooks {
            decided: decided.filter(|_| !is_new).collect(),
            in_flight: records.iter().filter_map(HookRecord::in_flight).collect(),
            is_over: !is_new && self.is_over(place),
        }
    }

    /// Whether the log contains what follows the hooks of this place.
    fn is_over(&self, place: &HookPlace) -> bool {
        let call = place.call.as_deref();
        let call = call.and_then(|call| self.recorded_call(call));
        match (place.event, place.step, call) {
            (HookEvent::BeforeRun, ..) => self.run.hooks.is_under_way,
            (HookEvent::BeforeModel, Some(step), _) => self.step(step).is_answered(),
            (HookEvent::AfterModel, Some(step), _) => self.step(step.saturating_add(1)).is_begun(),
            // The approval applies to the call as changed by the hooks.
            (HookEvent::BeforeTool, _, Some(call)) => {
                call.approval.is_some() || call.started.is_some()
            }
            _ => false,
        }
    }

    /// Withdraws hook calls that were unfinished when the server stopped and will not be repeated.
    pub(crate) async fn withdraw_hooks(&self, calls: impl Iterator<Item = &HookCall>) {
        for call in calls {
            let end = HookEnd::withdrawn(call.clone());
            self.emitter
                .emit(EventBody::HookFinished(Box::new(end)))
                .await;
        }
    }

    /// The hook decision that rejected the agent's answer in this step, if any.
    pub(super) fn sent_back(&self, step: u32) -> Option<&HookEnd> {
        let place = HookPlace {
            agent: self.emitter.agent().clone(),
            event: HookEvent::BeforeAnswer,
            call: None,
            step: Some(step),
        };
        let records = self.run.hooks.at(&place).iter();
        let mut decided = records.filter_map(HookRecord::decided);
        decided.find(|end| end.decision == Decision::Deny)
    }
}
