//! The scripted model: plays lines that a function chose after reading the request. The tour and the agent's tests use
//! it.

use std::{collections::VecDeque, fmt, sync::Arc, time::Duration};

use domain::Usage;
use serde_json::Value;
use tokio::time::{Instant, sleep_until};

use crate::{ChatRequest, FinishReason, ModelError, ModelEvent};

/// One line of a script.
#[derive(Debug, Clone, PartialEq)]
pub enum Line {
    /// The model sends this event.
    Event(ModelEvent),
    /// The model is silent for a while.
    Pause {
        /// How long, milliseconds.
        ms: u64,
    },
    /// The call fails.
    Fail(ModelError),
}

type Play = dyn Fn(&ChatRequest<'_>) -> Vec<Line> + Send + Sync;

/// A model that needs no server. A script without [`ModelEvent::Finished`] gets a suitable one at its end.
#[derive(Clone)]
pub struct ScriptedModel {
    name: Arc<str>,
    play: Arc<Play>,
}

impl ScriptedModel {
    /// A model called `name` that answers each request with the lines `play` returns.
    pub fn new(name: impl Into<Arc<str>>, play: Arc<Play>) -> Self {
        Self {
            name: name.into(),
            play,
        }
    }

    /// The model's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn call(&self, request: &ChatRequest<'_>) -> ScriptedCall {
        let lines = (self.play)(request).into();
        ScriptedCall {
            lines,
            pause_until: None,
            called_tools: false,
        }
    }
}

impl fmt::Debug for ScriptedModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ScriptedModel").field(&self.name).finish()
    }
}

/// A script that is being played.
#[derive(Debug)]
pub(crate) struct ScriptedCall {
    lines: VecDeque<Line>,
    pause_until: Option<Instant>,
    called_tools: bool,
}

impl ScriptedCall {
    pub(crate) async fn next(&mut self) -> Result<ModelEvent, ModelError> {
        loop {
            // Kept outside the wait, so that a cancelled wait resumes.
            if let Some(deadline) = self.pause_until {
                sleep_until(deadline).await;
                self.pause_until = None;
            }
            match self.lines.pop_front() {
                Some(Line::Event(event)) => {
                    self.called_tools |= matches!(event, ModelEvent::ToolCallStarted { .. });
                    return Ok(event);
                }
                Some(Line::Pause { ms }) => {
                    self.pause_until = Some(Instant::now() + Duration::from_millis(ms));
                }
                Some(Line::Fail(error)) => return Err(error),
                None => {
                    let reason = if self.called_tools {
                        FinishReason::ToolCalls
                    } else {
                        FinishReason::Stop
                    };
                    return Ok(ModelEvent::Finished {
                        reason,
                        usage: None,
                    });
                }
            }
        }
    }
}

/// Text, one token per word.
#[must_use]
pub fn text(text: &str) -> Vec<Line> {
    words(text)
        .map(|word| Line::Event(ModelEvent::TextDelta(word.to_owned())))
        .collect()
}

/// Reasoning, one token per word.
#[must_use]
pub fn reasoning(text: &str) -> Vec<Line> {
    words(text)
        .map(|word| Line::Event(ModelEvent::ReasoningDelta(word.to_owned())))
        .collect()
}

/// A tool call number `index` of this answer, its arguments in fragments.
#[must_use]
pub fn call(index: usize, name: &str, arguments: &Value) -> Vec<Line> {
    raw_call(index, name, &arguments.to_string())
}

/// A tool call with the argument text `arguments`, valid JSON or not.
#[must_use]
pub fn raw_call(index: usize, name: &str, arguments: &str) -> Vec<Line> {
    let started = ModelEvent::ToolCallStarted {
        index,
        id: format!("call_{index}"),
        name: name.to_owned(),
    };
    let fragments = fragments(arguments, 12).map(|part| ModelEvent::ToolArgumentsDelta {
        index,
        delta: part.to_owned(),
    });
    std::iter::once(started)
        .chain(fragments)
        .map(Line::Event)
        .collect()
}

/// Several calls (or other scripts) mixed line by line, as servers send parallel calls.
#[must_use]
pub fn interleave(scripts: Vec<Vec<Line>>) -> Vec<Line> {
    let mut scripts: Vec<_> = scripts.into_iter().map(Vec::into_iter).collect();
    let mut mixed = Vec::new();
    loop {
        let before = mixed.len();
        mixed.extend(scripts.iter_mut().filter_map(Iterator::next));
        if mixed.len() == before {
            return mixed;
        }
    }
}

/// The same lines with a pause of `ms` before each event.
#[must_use]
pub fn paced(lines: Vec<Line>, ms: u64) -> Vec<Line> {
    let with_pause = |line| match line {
        Line::Event(_) => vec![Line::Pause { ms }, line],
        Line::Pause { .. } | Line::Fail(_) => vec![line],
    };
    lines.into_iter().flat_map(with_pause).collect()
}

/// The end, without usage.
#[must_use]
pub fn finish(reason: FinishReason) -> Vec<Line> {
    vec![Line::Event(ModelEvent::Finished {
        reason,
        usage: None,
    })]
}

/// The end, with usage.
#[must_use]
pub fn finish_with(reason: FinishReason, usage: Usage) -> Vec<Line> {
    vec![Line::Event(ModelEvent::Finished {
        reason,
        usage: Some(usage),
    })]
}

/// Words with the white space after them.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive([' ', '\n'])
}

/// Pieces of about `size_chars` characters.
fn fragments(text: &str, size_chars: usize) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let end = rest
            .char_indices()
            .nth(size_chars)
            .map_or(rest.len(), |(at, _)| at);
        let (piece, after) = rest.split_at(end);
        rest = after;
        (!piece.is_empty()).then_some(piece)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ChatModel, ToolMode};
    use domain::ProblemCode;
    use serde_json::json;

    async fn played(lines: Vec<Line>) -> Vec<Result<ModelEvent, ModelError>> {
        let model = ScriptedModel::new("test", Arc::new(move |_| lines.clone()));
        let request = ChatRequest {
            messages: &[],
            tools: &[],
            tool_mode: ToolMode::Native,
            tool_prompt: None,
            parameters: domain::ModelParameters::unset(),
            answer_format: None,
            without_thinking: false,
            extra: None,
            trace: None,
            caller: None,
        };
        let mut call = ChatModel::scripted(model).call(&request);
        let mut events = Vec::new();
        while let Some(event) = call.next().await {
            events.push(event);
        }
        events
    }

    #[tokio::test]
    async fn an_unfinished_script_is_ended() {
        let text = ModelEvent::TextDelta("Hi".into());
        let stop = ModelEvent::Finished {
            reason: FinishReason::Stop,
            usage: None,
        };
        assert_eq!(played(super::text("Hi")).await, [Ok(text), Ok(stop)]);
        let last = played(call(0, "ls", &json!({"path": "/"}))).await.pop();
        let tools = ModelEvent::Finished {
            reason: FinishReason::ToolCalls,
            usage: None,
        };
        assert_eq!(last, Some(Ok(tools)));
    }

    #[tokio::test]
    async fn nothing_follows_a_failure() {
        let error = ModelError::new(ProblemCode::ModelFailed, "broken");
        let lines = [vec![Line::Fail(error.clone())], super::text("never")].concat();
        assert_eq!(played(lines).await, [Err(error)]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_cancelled_pause_resumes() {
        let lines = [vec![Line::Pause { ms: 100 }], super::text("x")].concat();
        let mut call = ScriptedCall {
            lines: lines.into(),
            pause_until: None,
            called_tools: false,
        };
        let started = Instant::now();
        for _ in 0..9 {
            let wait = tokio::time::timeout(Duration::from_millis(10), call.next());
            assert!(wait.await.is_err());
        }
        assert_eq!(call.next().await, Ok(ModelEvent::TextDelta("x".into())));
        assert_eq!(started.elapsed(), Duration::from_millis(100));
    }

    #[test]
    fn fragments_add_up() {
        let arguments = json!({"text": "héllo ✓ wörld, and more"});
        let lines = interleave(vec![call(0, "a", &arguments), call(1, "b", &arguments)]);
        for wanted in [0, 1] {
            let text: String = lines
                .iter()
                .filter_map(|line| match line {
                    Line::Event(ModelEvent::ToolArgumentsDelta { index, delta })
                        if *index == wanted =>
                    {
                        Some(delta.as_str())
                    }
                    _ => None,
                })
                .collect();
            assert_eq!(text, arguments.to_string());
        }
    }
}
