//! What hooks had decided before the server was stopped, read from the log.

use std::collections::HashMap;

use domain::{
    AgentPath, EventBody,
    event::{Decision, HookCall, HookEnd, HookEvent},
};

/// What a hook was called for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Place {
    pub(super) agent: AgentPath,
    pub(super) event: HookEvent,
    pub(super) call: Option<String>,
    pub(super) step: Option<u32>,
}

/// One call of a hook.
#[derive(Debug, Clone)]
pub(super) enum PastHook {
    /// It was on its way when the server stopped.
    InFlight(HookCall),
    Decided(HookEnd),
}

/// The calls of hooks by what they were for, each list in the order of the log.
#[derive(Debug, Default)]
pub(crate) struct PastHooks {
    calls: HashMap<Place, Vec<PastHook>>,
    /// The run had come further than its hooks before it.
    pub(super) is_under_way: bool,
}

impl PastHooks {
    pub(super) fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    pub(super) fn at(&self, place: &Place) -> &[PastHook] {
        self.calls.get(place).map_or(&[], Vec::as_slice)
    }

    /// Takes note of the log's next event.
    pub(crate) fn push(&mut self, agent: &AgentPath, body: &EventBody) {
        match body {
            EventBody::HookStarted(call) if !call.edited => {
                self.of(agent, call)
                    .push(PastHook::InFlight((**call).clone()));
            }
            EventBody::HookFinished(end) if !end.call.edited => {
                let calls = self.of(agent, &end.call);
                calls.retain(
                    |call| !matches!(call, PastHook::InFlight(call) if call.id == end.call.id),
                );
                if end.decision != Decision::Withdrawn {
                    calls.push(PastHook::Decided((**end).clone()));
                }
            }
            EventBody::StepStarted { .. } => self.is_under_way = true,
            // It is another run, for which nobody has asked its hooks.
            EventBody::RunForked { .. } => {
                self.is_under_way = false;
                self.calls
                    .retain(|place, _| place.event != HookEvent::BeforeRun);
            }
            _ => {}
        }
    }

    /// Why the agent was sent back from this step's answer, by which hook, where it was.
    pub(super) fn sent_back(&self, agent: &AgentPath, step: u32) -> Option<&HookEnd> {
        let place = Place {
            agent: agent.clone(),
            event: HookEvent::BeforeAnswer,
            call: None,
            step: Some(step),
        };
        self.at(&place).iter().find_map(|call| match call {
            PastHook::Decided(end) if end.decision == Decision::Deny => Some(end),
            PastHook::Decided(_) | PastHook::InFlight(_) => None,
        })
    }

    fn of(
        &mut self,
        agent: &AgentPath,
        HookCall {
            event, call, step, ..
        }: &HookCall,
    ) -> &mut Vec<PastHook> {
        let place = Place {
            agent: agent.clone(),
            event: *event,
            call: call.clone(),
            step: *step,
        };
        self.calls.entry(place).or_default()
    }
}
