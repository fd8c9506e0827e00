//! Trace context of a run: W3C headers, the request's id, and the ids of the run's own spans.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::{AgentPath, EventBody, Person, RequestId, RunId};

/// Length of `00-{trace}-{span}-{flags}`.
const PARENT_BYTES: usize = 55;
/// Longer headers of a later version are ignored.
const PARENT_LIMIT_BYTES: usize = 256;
/// W3C's minimum size to pass on; longer states are dropped.
const STATE_LIMIT_BYTES: usize = 512;
const STATE_MEMBERS: usize = 32;
/// Maximum length of an id of a request that a caller may give, bytes.
const REQUEST_ID_LIMIT_BYTES: usize = 128;

/// W3C's `traceparent`: the parent span in another program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TraceParent {
    trace: String,
    span: String,
    flags: u8,
}

/// Not a `traceparent`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a traceparent")]
pub struct InvalidTraceParent;

impl TraceParent {
    /// The root span of a new trace, with the digits of a request's id.
    #[must_use]
    pub fn new(request: RequestId) -> Self {
        let trace = request.to_string().trim_start_matches("req_").to_owned();
        let span = trace[16..].to_owned();
        Self {
            trace,
            span,
            flags: 1,
        }
    }

    /// 32 hexadecimal digits.
    #[must_use]
    pub fn trace_id(&self) -> &str {
        &self.trace
    }

    /// 16 hexadecimal digits.
    #[must_use]
    pub fn span_id(&self) -> &str {
        &self.span
    }

    /// Whether the trace is recorded by its origin.
    #[must_use]
    pub fn is_sampled(&self) -> bool {
        self.flags & 1 == 1
    }
}

impl FromStr for TraceParent {
    type Err = InvalidTraceParent;

    fn from_str(text: &str) -> Result<Self, InvalidTraceParent> {
        let hex = |text: &str| {
            text.bytes()
                .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
        };
        let some = |text: &str| hex(text) && text.bytes().any(|byte| byte != b'0');
        if !text.is_ascii() || text.len() < PARENT_BYTES || text.len() > PARENT_LIMIT_BYTES {
            return Err(InvalidTraceParent);
        }
        let (head, more) = text.split_at(PARENT_BYTES);
        let parts: Vec<&str> = head.split('-').collect();
        let [version, trace, span, flags] = parts[..] else {
            return Err(InvalidTraceParent);
        };
        let lengths = [version.len(), trace.len(), span.len(), flags.len()];
        // A later version may append further fields.
        let ends = more.is_empty() || (version != "00" && more.starts_with('-'));
        if lengths != [2, 32, 16, 2]
            || !hex(version)
            || version == "ff"
            || !ends
            || !some(trace)
            || !some(span)
        {
            return Err(InvalidTraceParent);
        }
        let flags = Some(flags)
            .filter(|flags| hex(flags))
            .and_then(|flags| u8::from_str_radix(flags, 16).ok());
        // Only the two defined bits are passed on: sampled, and random id.
        let flags = flags.ok_or(InvalidTraceParent)? & 3;
        Ok(Self {
            trace: trace.to_owned(),
            span: span.to_owned(),
            flags,
        })
    }
}

impl fmt::Display for TraceParent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "00-{}-{}-{:02x}", self.trace, self.span, self.flags)
    }
}

impl TryFrom<String> for TraceParent {
    type Error = InvalidTraceParent;

    fn try_from(text: String) -> Result<Self, InvalidTraceParent> {
        text.parse()
    }
}

impl From<TraceParent> for String {
    fn from(parent: TraceParent) -> Self {
        parent.to_string()
    }
}

/// The request that something originates from.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// Its id; `None` if no request asked for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<String>,
    /// The caller's span, if given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<TraceParent>,
    /// W3C's `tracestate`, passed on unchanged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// The user, if a front end sent it for one of its users.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub person: Option<Person>,
}

/// A caller's request id, if it is valid in headers and logs.
#[must_use]
pub fn checked_request_id(id: &str) -> Option<String> {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.:+/=@".contains(&byte);
    let is_fit = !id.is_empty() && id.len() <= REQUEST_ID_LIMIT_BYTES && id.bytes().all(fits);
    is_fit.then(|| id.to_owned())
}

/// A `tracestate` that may be passed on.
#[must_use]
pub fn checked_trace_state(state: &str) -> Option<String> {
    let is_fit = !state.is_empty()
        && state.len() <= STATE_LIMIT_BYTES
        && state.split(',').count() <= STATE_MEMBERS
        && state
            .bytes()
            .all(|byte| matches!(byte, b' '..=b'~' | b'\t'));
    is_fit.then(|| state.to_owned())
}

/// The trace of one run, for its model calls.
#[derive(Debug, Clone)]
pub struct RunTrace {
    /// The run.
    pub run: RunId,
    /// The origin of the run.
    pub origin: Origin,
    /// Whether the run's own spans are exported. If not, the caller's context is passed on unchanged.
    pub is_exported: bool,
}

/// The trace context of a model call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CallTrace {
    /// The call, as the parent of the server's spans.
    pub parent: Option<TraceParent>,
    /// The caller's state, unchanged.
    pub state: Option<String>,
    /// The id of the originating request.
    pub request: Option<String>,
}

impl RunTrace {
    /// The trace context of an agent's model call number `number`.
    #[must_use]
    pub fn call(&self, agent: &AgentPath, number: u32) -> CallTrace {
        let Origin {
            request,
            parent,
            state,
            ..
        } = self.origin.clone();
        let own = || TraceParent {
            trace: trace_id(self.run, &self.origin),
            span: span_id(self.run, &chat_key(agent, number)),
            flags: parent.as_ref().map_or(1, |parent| parent.flags),
        };
        let parent = if self.is_exported {
            Some(own())
        } else {
            parent
        };
        CallTrace {
            parent,
            state,
            request,
        }
    }
}

/// The trace id of a run: its caller's, or one with the digits of its own id.
#[must_use]
pub fn trace_id(run: RunId, origin: &Origin) -> String {
    match &origin.parent {
        Some(parent) => parent.trace.clone(),
        None => run.to_string().trim_start_matches("run_").to_owned(),
    }
}

/// The id of a span of a run. Deterministic: 64 bits of FNV-1a, never all zero.
#[must_use]
pub fn span_id(run: RunId, key: &str) -> String {
    const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0100_0000_01b3;
    let run = run.to_string();
    let bytes = run.bytes().chain(std::iter::once(b' ')).chain(key.bytes());
    let hash = bytes.fold(OFFSET, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(PRIME)
    });
    format!("{:016x}", hash.max(1))
}

/// The key of the span of an agent's model call. Its number counts the agent's events with [`parts_model_calls`] before
/// the call.
#[must_use]
pub fn chat_key(agent: &AgentPath, number: u32) -> String {
    format!("chat {} {number}", agent.id().unwrap_or("main"))
}

/// Whether the agent's next model request after this event is a separate call. Counted in the same way by the agent and
/// by readers of the log, so that both number the calls alike.
#[must_use]
pub fn parts_model_calls(body: &EventBody) -> bool {
    matches!(
        body,
        EventBody::StepStarted { .. }
            | EventBody::ModelCalled { .. }
            | EventBody::ContextCompacted { .. }
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";

    #[test]
    fn traceparents_are_parsed_as_specified() {
        let good = format!("00-{TRACE}-00f067aa0ba902b7-01");
        let parent: TraceParent = good.parse().unwrap();
        assert_eq!(
            (parent.trace_id(), parent.span_id()),
            (TRACE, "00f067aa0ba902b7")
        );
        assert!(parent.is_sampled());
        assert_eq!(parent.to_string(), good);
        let unsampled: TraceParent = format!("00-{TRACE}-00f067aa0ba902b7-fe").parse().unwrap();
        assert!(!unsampled.is_sampled() && unsampled.to_string().ends_with("-02"));
        let later: TraceParent = format!("cc-{TRACE}-00f067aa0ba902b7-01-what")
            .parse()
            .unwrap();
        assert_eq!(later.to_string(), good);
        for bad in [
            String::new(),
            format!("ff-{TRACE}-00f067aa0ba902b7-01"),
            format!("00-{TRACE}-00f067aa0ba902b7-01-what"),
            format!("cc-{TRACE}-00f067aa0ba902b7-01what"),
            format!("00-{}-00f067aa0ba902b7-01", TRACE.to_uppercase()),
            format!("00-{}-00f067aa0ba902b7-01", "0".repeat(32)),
            format!("00-{TRACE}-0000000000000000-01"),
            format!("00-{TRACE}-00f067aa0ba902b7-0+"),
            format!("00-{TRACE}-00f067aa0ba902b7"),
            format!("00-{TRACE}0-0f067aa0ba902b7-01"),
            format!("cc-{TRACE}-00f067aa0ba902b7-01-{}", "x".repeat(300)),
            format!("00-{TRACE}-00f067aa0ba902é-01"),
        ] {
            assert_eq!(bad.parse::<TraceParent>(), Err(InvalidTraceParent), "{bad}");
        }
    }

    #[test]
    fn ids_and_states_are_bounded() {
        assert_eq!(
            checked_request_id("req_1-a.b:c").as_deref(),
            Some("req_1-a.b:c")
        );
        for bad in ["", "a b", "a\u{7}", "é", "a\"b", &"x".repeat(129)] {
            assert_eq!(checked_request_id(bad), None, "{bad}");
        }
        assert_eq!(checked_trace_state("a=1,b=2").as_deref(), Some("a=1,b=2"));
        for bad in ["", "a=\u{7}", &"x".repeat(513), &"a=1,".repeat(33)] {
            assert_eq!(checked_trace_state(bad), None, "{bad}");
        }
    }

    #[test]
    fn unexported_runs_pass_on_the_callers_context() {
        let parent: TraceParent = format!("00-{TRACE}-00f067aa0ba902b7-00").parse().unwrap();
        let origin = Origin {
            request: Some("r".into()),
            parent: Some(parent.clone()),
            ..Origin::default()
        };
        let run = RunId::generate();
        let trace = |is_exported| RunTrace {
            run,
            origin: origin.clone(),
            is_exported,
        };
        assert_eq!(
            trace(false).call(&AgentPath::main(), 1).parent,
            Some(parent.clone())
        );
        let own = trace(true).call(&AgentPath::main(), 1).parent.unwrap();
        assert_eq!((own.trace_id(), own.is_sampled()), (TRACE, false));
        assert_ne!(own.span_id(), parent.span_id());
        let alone = RunTrace {
            run,
            origin: Origin::default(),
            is_exported: false,
        };
        assert_eq!(alone.call(&AgentPath::main(), 1), CallTrace::default());
    }
}
