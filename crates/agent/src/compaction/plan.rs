//! Chooses the part of a conversation to summarize, and builds the shortened conversation. Pure.

use std::ops::Range;

use domain::{Message, Role};

use crate::context::Gauge;

/// Target shares of the usable window after a compaction: the first leaves room for many steps.
const AIMS_PERCENT: [u64; 2] = [50, 80];
/// A summary has at most a tenth of the usable window, and at most this many tokens.
const SUMMARY_TOKENS: Range<u64> = 128..4_000;

/// How a conversation is to be shortened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Plan {
    /// The messages to summarize, except for the latest request if it is among them.
    pub(crate) old: Range<usize>,
    /// The latest request of the person, which stays unchanged.
    pub(crate) request: Option<usize>,
    /// Maximum length of the summary.
    pub(crate) summary_tokens: u64,
}

/// Plans a compaction. `None` if there is enough room, or if a summary would not be much shorter than what it replaces.
/// The instructions, the latest request and the latest steps are kept; a call stays together with its results, and
/// earlier exchanges are kept whole or not at all.
pub(crate) fn plan(messages: &[Message], gauge: &Gauge) -> Option<Plan> {
    let limit = gauge.limit()?;
    if gauge.request(messages) <= limit {
        return None;
    }
    let summary_tokens = (limit / 10).clamp(SUMMARY_TOKENS.start, SUMMARY_TOKENS.end);
    let first = first(messages);
    let request = request(messages);
    let cuts: Vec<usize> = (first + 1..=messages.len())
        .filter(|cut| may_cut(messages, request, *cut))
        .collect();
    let whole = gauge.request(messages);
    let saved = |cut: usize| -> u64 {
        let old = (first..cut).filter(|at| Some(*at) != request);
        old.map(|at| gauge.message(&messages[at])).sum()
    };
    let aimed = AIMS_PERCENT.iter().find_map(|percent| {
        let aim = limit.saturating_mul(*percent) / 100;
        cuts.iter()
            .find(|cut| (whole + summary_tokens).saturating_sub(saved(**cut)) <= aim)
    });
    let cut = *aimed.or(cuts.last())?;
    (saved(cut) >= 2 * summary_tokens).then_some(Plan {
        old: first..cut,
        request,
        summary_tokens,
    })
}

/// Replaces everything except the instructions, the latest request and the last `kept` messages with the summary.
/// Returns nothing: the result depends only on the arguments, so that it can be repeated after a restart.
pub(crate) fn apply(messages: &mut Vec<Message>, kept: usize, summary: &str) {
    let first = first(messages);
    let request = request(messages);
    let cut = messages.len().saturating_sub(kept).max(first);
    let request = request
        .filter(|at| *at < cut)
        .map(|at| messages[at].clone());
    messages.splice(first..cut, recollection(summary).into_iter().chain(request));
}

/// The exchange that replaces the earlier part. Roles alternate, as some models require.
pub(crate) fn recollection(summary: &str) -> [Message; 2] {
    let recalled = if summary.is_empty() {
        LEFT_OUT
    } else {
        summary
    };
    [
        Message::text(Role::User, ASKED),
        Message::text(Role::Assistant, recalled),
    ]
}

const ASKED: &str =
    "What came before this has become too long for you to see. Sum it up for yourself.";
const LEFT_OUT: &str = "The earlier part of this conversation was left out: it was too long, and no summary of it \
    could be made. I ask, or look again, where I need something of it.";

/// The index of the first message after the instructions.
fn first(messages: &[Message]) -> usize {
    messages
        .iter()
        .take_while(|message| message.role == Role::System)
        .count()
}

/// The index of the latest request.
pub(crate) fn request(messages: &[Message]) -> Option<usize> {
    messages
        .iter()
        .rposition(|message| message.role == Role::User)
}

/// Whether the remaining conversation may begin at `cut`: with a request or, after the latest request, with a step.
fn may_cut(messages: &[Message], request: Option<usize>, cut: usize) -> bool {
    match messages.get(cut) {
        Some(message) if request.is_some_and(|request| cut <= request) => {
            message.role == Role::User
        }
        Some(message) => message.role == Role::Assistant,
        None => true,
    }
}

#[cfg(test)]
mod tests {
    use domain::ToolCall;

    use super::*;
    use crate::run::ModelSettings;

    fn gauge(window: u64) -> Gauge {
        let settings = ModelSettings {
            context_tokens: Some(window),
            ..ModelSettings::default()
        };
        Gauge::new(&settings, 0.75, &[])
    }

    fn user(text: &str) -> Message {
        Message::text(Role::User, text)
    }

    /// A step with two calls, about 300 tokens.
    fn step(number: usize) -> Vec<Message> {
        let ids = [format!("c{number}a"), format!("c{number}b")];
        let call = |id: &String| ToolCall {
            id: id.clone(),
            name: "ls".into(),
            arguments: "{}".into(),
        };
        let tool_calls = ids.iter().map(call).collect();
        let said = Message {
            tool_calls,
            ..Message::text(Role::Assistant, format!("step {number}"))
        };
        let result = |id: &String| Message::tool_result(id.clone(), "x".repeat(500));
        [said].into_iter().chain(ids.iter().map(result)).collect()
    }

    fn run(exchanges: usize, steps: usize) -> Vec<Message> {
        let mut messages = vec![Message::text(Role::System, "be kind")];
        for exchange in 0..exchanges {
            messages.extend([user(&format!("{exchange} {}", "y".repeat(400)))]);
            messages.extend(step(exchange));
            messages.push(Message::text(Role::Assistant, "z".repeat(400)));
        }
        messages.push(user("the request"));
        messages.extend((0..steps).flat_map(step));
        messages
    }

    /// Every result follows its call, and every call has its results.
    fn assert_paired(messages: &[Message]) {
        let mut open: Vec<&str> = Vec::new();
        for message in messages {
            match &message.tool_call_id {
                Some(id) => {
                    let at = open.iter().position(|call| call == id);
                    open.remove(at.unwrap_or_else(|| panic!("{id} has no call: {messages:#?}")));
                }
                None => assert!(open.is_empty(), "{open:?} has no result: {messages:#?}"),
            }
            open.extend(message.tool_calls.iter().map(|call| call.id.as_str()));
        }
        assert!(open.is_empty(), "{open:?}");
    }

    #[test]
    fn nothing_is_done_while_there_is_room() {
        assert_eq!(plan(&run(3, 10), &gauge(100_000)), None);
        let unknown = Gauge::new(&ModelSettings::default(), 0.75, &[]);
        assert_eq!(plan(&run(3, 1_000), &unknown), None);
    }

    #[test]
    fn required_messages_stay_for_any_window() {
        for (exchanges, steps) in [(0, 40), (1, 40), (10, 0), (10, 1), (10, 40), (40, 3)] {
            for window in [1_000, 2_000, 4_000, 8_000] {
                let messages = run(exchanges, steps);
                let gauge = gauge(window);
                let limit = gauge.limit().unwrap();
                let Some(plan) = plan(&messages, &gauge) else {
                    assert!(
                        gauge.request(&messages) <= limit,
                        "{exchanges} {steps} {window}"
                    );
                    continue;
                };
                let mut cut = messages.clone();
                apply(&mut cut, messages.len() - plan.old.end, "summary");
                assert_paired(&cut);
                assert_eq!(cut[0].plain_text(), "be kind");
                assert_eq!(cut[2].plain_text(), "summary");
                let roles: Vec<Role> = cut.iter().map(|message| message.role).collect();
                assert!(
                    !roles.windows(2).any(|two| two == [Role::User; 2]),
                    "{roles:?}"
                );
                assert_eq!(
                    cut.iter()
                        .filter(|message| message.plain_text() == "the request")
                        .count(),
                    1
                );
                assert!(
                    gauge.request(&cut) + plan.summary_tokens <= limit,
                    "{exchanges} {steps} {window}"
                );
                let tail = messages.len() - plan.old.end;
                assert_eq!(cut[cut.len() - tail..], messages[plan.old.end..]);
            }
        }
    }

    #[test]
    fn a_chat_keeps_its_latest_exchanges_whole() {
        let messages = run(20, 0);
        let plan = plan(&messages, &gauge(8_000)).unwrap();
        assert_eq!(messages[plan.old.end].role, Role::User);
        assert!(
            plan.old.end < messages.len() - 1,
            "more than the request stays"
        );
    }

    #[test]
    fn the_latest_steps_stay_and_earlier_exchanges_do_not() {
        let messages = run(5, 60);
        let plan = plan(&messages, &gauge(8_000)).unwrap();
        assert!(plan.request.unwrap() < plan.old.end);
        assert!(messages.len() - plan.old.end > 10, "{plan:?}");
    }

    #[test]
    fn a_step_that_is_too_long_is_summed_up_too() {
        let mut messages = run(0, 2);
        messages.push(Message {
            content: Vec::new(),
            ..step(7)[0].clone()
        });
        messages.extend(["c7a", "c7b"].map(|id| Message::tool_result(id, "x".repeat(20_000))));
        let plan = plan(&messages, &gauge(2_000)).unwrap();
        assert_eq!(plan.old.end, messages.len());
        apply(&mut messages, 0, "");
        assert_eq!(messages.len(), 4);
        assert_eq!(messages[3].plain_text(), "the request");
        assert!(messages[2].plain_text().contains("left out"));
    }

    #[test]
    fn nothing_is_done_if_it_would_not_help() {
        let long = vec![Message::text(Role::System, "x".repeat(40_000)), user("hi")];
        assert_eq!(plan(&long, &gauge(1_000)), None);
        let twice = vec![
            user("hi"),
            Message::text(Role::Assistant, "hello"),
            user(&"x".repeat(40_000)),
        ];
        assert_eq!(
            plan(&twice, &gauge(1_000)),
            None,
            "a summary would be as long"
        );
    }

    #[test]
    fn a_log_that_says_more_than_there_is_does_no_harm() {
        let mut messages = run(0, 1);
        apply(&mut messages, usize::MAX, "summary");
        assert_eq!(messages.len(), run(0, 1).len() + 2);
    }
}
