//! The current request's id and its caller's trace, kept in a task-local: they describe the work and never influence
//! decisions.

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use domain::{
    CallTrace, Origin, RequestId, TraceParent,
    trace::{checked_request_id, checked_trace_state},
};

/// The header with a request's id, in requests and in all responses.
pub(crate) const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

tokio::task_local! {
    static CURRENT: Origin;
}

/// Reads the origin of a request from its headers. Invalid values count as missing, as the Trace Context standard
/// requires.
#[must_use]
pub(crate) fn of_headers(headers: &HeaderMap) -> Origin {
    let request = headers
        .get(&REQUEST_ID)
        .and_then(|id| checked_request_id(id.to_str().ok()?));
    let mut parents = headers.get_all("traceparent").iter();
    let parent = match (parents.next(), parents.next()) {
        (Some(parent), None) => parent
            .to_str()
            .ok()
            .and_then(|parent| parent.trim().parse().ok()),
        _ => None,
    };
    let states = headers
        .get_all("tracestate")
        .iter()
        .map(|state| state.to_str().ok());
    let states: Option<Vec<&str>> = states.collect();
    let state = states
        .filter(|_| parent.is_some())
        .and_then(|states| checked_trace_state(&states.join(",")));
    let request = request.unwrap_or_else(|| RequestId::generate().to_string());
    Origin {
        request: Some(request),
        parent,
        state,
        person: None,
    }
}

/// Runs `work` in the context of a request.
pub(crate) async fn on_behalf_of<T>(origin: Origin, work: impl Future<Output = T>) -> T {
    CURRENT.scope(origin, work).await
}

/// The request that the current task works for; empty if there is none.
#[must_use]
pub(crate) fn current() -> Origin {
    CURRENT.try_with(Clone::clone).unwrap_or_default()
}

/// The id of the request that the current task works for.
#[must_use]
pub(crate) fn request_id() -> Option<String> {
    CURRENT
        .try_with(|origin| origin.request.clone())
        .ok()
        .flatten()
}

/// The trace sent to a model server that answers the request directly: the caller's trace, or a new one.
#[must_use]
pub(crate) fn passed_on() -> CallTrace {
    let Origin {
        request,
        parent,
        state,
        ..
    } = current();
    let made = || {
        let own = request.as_deref().and_then(|id| id.parse().ok());
        TraceParent::new(own.unwrap_or_else(RequestId::generate))
    };
    CallTrace {
        parent: Some(parent.unwrap_or_else(made)),
        state,
        request,
    }
}

/// The request's id as a header value.
#[must_use]
pub(crate) fn header_value(origin: &Origin) -> Option<HeaderValue> {
    origin
        .request
        .as_deref()
        .and_then(|id| HeaderValue::from_str(id).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARENT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    fn read(headers: &[(&'static str, &str)]) -> Origin {
        let header = |(name, value): &(&'static str, &str)| {
            (
                HeaderName::from_static(name),
                HeaderValue::from_str(value).unwrap(),
            )
        };
        let mut map = HeaderMap::new();
        for (name, value) in headers.iter().map(header) {
            map.append(name, value);
        }
        of_headers(&map)
    }

    #[test]
    fn a_state_comes_with_a_parent_and_is_joined() {
        let both = read(&[
            ("traceparent", PARENT),
            ("tracestate", "a=1"),
            ("tracestate", "b=2"),
        ]);
        assert_eq!(both.parent.unwrap().to_string(), PARENT);
        assert_eq!(both.state.as_deref(), Some("a=1,b=2"));
        let twice = read(&[
            ("traceparent", PARENT),
            ("traceparent", PARENT),
            ("tracestate", "a=1"),
        ]);
        assert_eq!((twice.parent, twice.state), (None, None));
    }

    #[test]
    fn a_request_keeps_its_id_or_gets_one() {
        assert_eq!(
            read(&[("x-request-id", "mine-1")]).request.as_deref(),
            Some("mine-1")
        );
        for bad in [&[][..], &[("x-request-id", "two words")]] {
            assert!(read(bad).request.unwrap().parse::<RequestId>().is_ok());
        }
    }

    #[tokio::test]
    async fn what_is_passed_on_has_the_digits_of_the_request() {
        let origin = read(&[]);
        let id = origin.request.clone().unwrap();
        let passed = on_behalf_of(origin, async { passed_on() }).await;
        assert_eq!(
            passed.parent.unwrap().trace_id(),
            id.trim_start_matches("req_")
        );
        assert_eq!(request_id(), None);
    }
}
