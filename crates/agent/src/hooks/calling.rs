//! Calls the hooks at one point of a run in sequence; each sees the changes of those before it.

use std::time::Duration;

use domain::{
    EventBody,
    event::{Decision, HookCall, HookEnd, HookEvent},
};
use serde_json::{Map, Value, json};
use tokio::time::Instant;

use super::{Hook, HookAnswer, HookRequest, Hooks};
use crate::{AnswerForm, journal::HookPlace, step::millis, tool::Tool, turns::AgentContext};

/// Maximum length of a result or an answer that a hook receives, bytes.
const MAX_TEXT_BYTES: usize = 1_000_000;

/// The point of the run at which hooks are called.
#[derive(Debug, Clone, Copy)]
pub(super) struct At<'a> {
    pub(super) event: HookEvent,
    /// The id and the tool name of the call concerned.
    pub(super) call: Option<(&'a str, &'a str)>,
    pub(super) step: Option<u32>,
    pub(super) edited: bool,
    /// The subject has changed since earlier hooks saw it, so their decisions do not count.
    pub(super) is_new: bool,
    pub(super) limit: Option<Duration>,
}

impl<'a> At<'a> {
    pub(super) fn run(event: HookEvent) -> Self {
        Self {
            event,
            call: None,
            step: None,
            edited: false,
            is_new: false,
            limit: None,
        }
    }

    pub(super) fn step(event: HookEvent, step: u32) -> Self {
        Self {
            step: Some(step),
            ..Self::run(event)
        }
    }

    pub(super) fn call(event: HookEvent, call: &'a str, tool: &'a str) -> Self {
        Self {
            call: Some((call, tool)),
            ..Self::run(event)
        }
    }

    fn place(&self, agent: &AgentContext) -> HookPlace {
        HookPlace {
            agent: agent.emitter.agent().clone(),
            event: self.event,
            call: self.call.map(|(call, _)| call.to_owned()),
            step: self.step,
        }
    }
}

/// The data under review, which hooks may change.
pub(super) enum Subject<'a> {
    /// Nothing that hooks may change.
    Fixed,
    Arguments {
        arguments: &'a mut Value,
        tool: &'a Tool,
    },
    Result {
        text: &'a mut String,
        error: bool,
    },
    Answer {
        text: &'a mut String,
        form: Option<&'a AnswerForm>,
    },
}

/// The outcome.
#[derive(Debug, Default)]
pub(super) struct Looked {
    pub(super) denied: Option<Denied>,
    /// Context for the model.
    pub(super) context: Vec<String>,
}

/// The denial by a hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Denied {
    pub(crate) hook: String,
    pub(crate) reason: String,
}

impl Denied {
    pub(super) fn by(end: &HookEnd) -> Self {
        let reason = match (&end.reason, &end.error) {
            (Some(reason), _) => reason.clone(),
            (None, Some(_)) => {
                "the hook could not be asked, and nothing goes on without it".to_owned()
            }
            (None, None) => "no reason was given".to_owned(),
        };
        Self {
            hook: end.call.hook.clone(),
            reason,
        }
    }
}

/// Calls the hooks at this point until one denies; recorded decisions are used first. `about` is the input that
/// accompanies the subject.
pub(super) async fn look(
    agent: &AgentContext,
    at: At<'_>,
    subject: &mut Subject<'_>,
    about: &(dyn Fn() -> Map<String, Value> + Sync),
) -> Looked {
    let mut looked = Looked::default();
    let hooks = agent.run.deps.hooks.as_ref();
    if hooks.is_none() && !agent.journal.has_hooks() {
        return looked;
    }
    let place = at.place(agent);
    let recorded = agent.journal.hooks(&place, at.is_new);
    for end in &recorded.decided {
        if looked.take(end, subject) {
            return looked;
        }
    }
    if recorded.is_over {
        return looked;
    }
    let has_decided = |hook: &Hook| {
        let mut decided = recorded.decided.iter();
        decided.any(|end| end.call.hook == hook.name)
    };
    let mut fitting = hooks.map(|hooks| hooks.at(agent, at)).unwrap_or_default();
    fitting.retain(|hook| !has_decided(hook));
    let is_repeated =
        |call: &HookCall| !at.is_new && fitting.iter().any(|hook| hook.name == call.hook);
    let (repeated, withdrawn): (Vec<&HookCall>, Vec<&HookCall>) = recorded
        .in_flight
        .iter()
        .partition(|call| is_repeated(call));
    agent.journal.withdraw_hooks(withdrawn.into_iter()).await;
    let Some(hooks) = hooks.filter(|_| !fitting.is_empty()) else {
        return looked;
    };
    let _busy = agent.run.active_time.busy();
    let _at_work = agent.run.pending_input.at_work();
    for hook in fitting {
        let call = match repeated.iter().find(|call| call.hook == hook.name) {
            Some(call) => (*call).clone(),
            None => match start(agent, at, hook).await {
                Some(call) => call,
                None => return looked,
            },
        };
        let end = ask(agent, hooks, hook, call, at.limit, subject, about).await;
        agent
            .emitter
            .emit(EventBody::HookFinished(Box::new(end.clone())))
            .await;
        if looked.take(&end, &mut Subject::Fixed) {
            break;
        }
    }
    looked
}

/// Withdraws the hook calls at this point that were unfinished when the server stopped and are not repeated.
pub(super) async fn withdraw(agent: &AgentContext, at: At<'_>) {
    let place = at.place(agent);
    let recorded = agent.journal.hooks(&place, true);
    let in_flight = recorded.in_flight.into_iter();
    agent.journal.withdraw_hooks(in_flight).await;
}

impl Hooks {
    /// The hooks to call, in the order of declaration.
    pub(super) fn at(&self, agent: &AgentContext, at: At<'_>) -> Vec<&Hook> {
        let name = &agent.spec.known_as;
        let model = agent.models.chosen().id();
        let tool = at.call.map(|(_, tool)| tool);
        self.all
            .iter()
            .filter(|hook| hook.fits(at.event, tool, name, model))
            .collect()
    }
}

/// Emits that a hook is called. The event is stored first, so that after a crash the hook is called with the same id.
/// `None` if the run has ended and its log is closed.
async fn start(agent: &AgentContext, at: At<'_>, hook: &Hook) -> Option<HookCall> {
    let (call, tool) = at
        .call
        .map(|(call, tool)| (call.to_owned(), tool.to_owned()))
        .unzip();
    let call = HookCall {
        id: agent.journal.next_item('h'),
        hook: hook.name.clone(),
        event: at.event,
        call,
        tool,
        step: at.step,
        edited: at.edited,
    };
    let started = EventBody::HookStarted(Box::new(call.clone()));
    if at.event == HookEvent::AfterRun {
        return agent.emitter.try_emit_stored(started).await.then_some(call);
    }
    agent.emitter.emit_stored(started).await;
    Some(call)
}

async fn ask(
    agent: &AgentContext,
    hooks: &Hooks,
    hook: &Hook,
    call: HookCall,
    limit: Option<Duration>,
    subject: &mut Subject<'_>,
    about: &(dyn Fn() -> Map<String, Value> + Sync),
) -> HookEnd {
    let mut data = common(agent, &call);
    subject.tell(&mut data);
    for (key, value) in about() {
        match (data.get_mut(&key), value) {
            (Some(Value::Object(known)), Value::Object(more)) => known.extend(more),
            (_, value) => _ = data.insert(key, value),
        }
    }
    let began = Instant::now();
    let request = HookRequest {
        id: call.id.clone(),
        hook: hook.name.clone(),
        event: call.event,
        data,
        limit,
    };
    let answer = hooks.caller.call(request).await;
    let mut end = HookEnd {
        call,
        decision: Decision::Allow,
        reason: None,
        change: None,
        context: None,
        duration_ms: millis(began.elapsed()),
        error: None,
    };
    if let Err(error) = answer.and_then(|answer| apply(answer, subject, &mut end)) {
        end.error = Some(error);
        if hook.fail_closed {
            end.decision = Decision::Deny;
        }
    }
    end
}

/// Applies the hook's answer to the subject and then to `end`, which is unchanged on error.
fn apply(answer: HookAnswer, subject: &mut Subject<'_>, end: &mut HookEnd) -> Result<(), String> {
    let decision = answer.decision();
    let (reason, context, change) = answer.into_parts();
    let change = change.filter(|_| decision == Decision::Allow);
    if let Some(change) = &change {
        subject.change(change)?;
    }
    end.decision = decision;
    end.reason = reason;
    end.context = context;
    end.change = change;
    Ok(())
}

/// The input common to all hooks.
fn common(agent: &AgentContext, call: &HookCall) -> Map<String, Value> {
    let path = agent.emitter.agent();
    let mut who = json!({"name": agent.spec.known_as, "depth": path.depth()});
    if let Some(id) = path.id() {
        who["id"] = id.into();
    }
    let mut data = Map::new();
    data.insert("agent".to_owned(), who);
    data.insert("model".to_owned(), agent.models.chosen().id().into());
    if let Some(step) = call.step {
        data.insert("step".to_owned(), step.into());
    }
    if let (Some(id), Some(name)) = (&call.call, &call.tool) {
        let mut tool = json!({"call": id, "name": name});
        if call.edited {
            tool["edited"] = true.into();
        }
        data.insert("tool".to_owned(), tool);
    }
    data
}

impl Looked {
    /// Applies the decision of a hook. Returns whether it denied.
    fn take(&mut self, end: &HookEnd, subject: &mut Subject<'_>) -> bool {
        if let Some(change) = &end.change {
            // The tool or the required format accepted it before the restart.
            let _ = subject.change(change);
        }
        let hook = &end.call.hook;
        self.context.extend(
            end.context
                .as_ref()
                .map(|text| format!("[Context from the hook “{hook}”]\n{text}")),
        );
        if end.decision == Decision::Deny {
            self.denied = Some(Denied::by(end));
        }
        self.denied.is_some()
    }
}

impl Subject<'_> {
    fn tell(&self, data: &mut Map<String, Value>) {
        match self {
            Self::Fixed => {}
            Self::Arguments { arguments, .. } => {
                if let Some(Value::Object(tool)) = data.get_mut("tool") {
                    tool.insert("arguments".to_owned(), (**arguments).clone());
                }
            }
            Self::Result { text, error } => {
                if let Some(Value::Object(tool)) = data.get_mut("tool") {
                    tool.insert("result".to_owned(), shown(text).into());
                    tool.insert("error".to_owned(), (*error).into());
                }
            }
            Self::Answer { text, .. } => _ = data.insert("answer".to_owned(), shown(text).into()),
        }
    }

    /// Replaces the subject with the hook's value.
    fn change(&mut self, change: &Value) -> Result<(), String> {
        match (self, change) {
            (Self::Arguments { arguments, tool }, change) => {
                tool.check(change)
                    .map_err(|faults| format!("its arguments do not fit: {faults}"))?;
                change.clone_into(arguments);
            }
            (Self::Result { text, .. }, Value::String(new)) => new.clone_into(text),
            (Self::Answer { text, form }, Value::String(new)) => {
                if let Some(form) = form {
                    form.check(new).map_err(|fault| {
                        format!("its answer is not in the form asked for: {fault}")
                    })?;
                }
                new.clone_into(text);
            }
            (Self::Fixed, _) | (Self::Result { .. } | Self::Answer { .. }, _) => {}
        }
        Ok(())
    }
}

fn shown(text: &str) -> &str {
    &text[..text.floor_char_boundary(MAX_TEXT_BYTES)]
}
