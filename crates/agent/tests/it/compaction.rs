//! Long conversations: the older part becomes a summary, nothing that is sent is larger than the window, and a restart
//! changes nothing of what is sent.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicUsize, Ordering},
};

use agent::history::{messages_of, recall};
use domain::{
    AgentPath, EventBody, Message, Outcome, ProblemCode, Role, RunEvent, RunId, Usage,
    event::Forked,
};
use llm::{
    ChatRequest, FinishReason, Line, ModelError,
    script::{call, finish_with, text},
};
use serde_json::json;

use crate::play::{Play, lines};

const WINDOW: u64 = 8_000;

/// The size of a request as a server with four bytes to a token sees it.
fn tokens(request: &ChatRequest<'_>) -> u64 {
    let messages = serde_json::to_string(request.messages).unwrap().len();
    let tools = serde_json::to_string(request.tools).unwrap().len();
    ((messages + tools) / 4) as u64
}

fn is_summing_up(request: &ChatRequest<'_>) -> bool {
    request.messages[0]
        .plain_text()
        .starts_with("You sum up the older part")
}

/// Writes a file in each of `steps` steps, then answers; sums up where it is asked to.
fn long_work(steps: usize) -> impl Fn(&ChatRequest<'_>) -> Vec<Line> + Send + Sync {
    let done = AtomicUsize::new(0);
    move |request| {
        if is_summing_up(request) {
            let read = request.messages[1].plain_text().len();
            return text(&format!("Summary of {read} bytes: files were written."));
        }
        let number = done.fetch_add(1, Ordering::Relaxed);
        if number == steps {
            return text("All written.");
        }
        let content = format!("{number} {}", "word ".repeat(60));
        call(
            0,
            "write_file",
            &json!({"path": format!("/{number}.md"), "content": content}),
        )
    }
}

async fn play(script: impl Fn(&ChatRequest<'_>) -> Vec<Line> + Send + Sync + 'static) -> Play {
    let mut play = Play::new(Arc::new(script)).await;
    play.agents.main.tools = play
        .agents
        .main
        .tools
        .chosen(&agent::ToolChoice::named(&["write_file", "ls", "task"]).unwrap());
    play.settings.context_tokens = Some(WINDOW);
    play.limits.steps = 400;
    play.limits.tokens = u64::MAX;
    play.question = "Write all the files. Remember the word marzipan.".into();
    play
}

fn compactions(log: &[RunEvent]) -> Vec<&EventBody> {
    log.iter()
        .map(|event| &event.body)
        .filter(|body| matches!(body, EventBody::ContextCompacted { .. }))
        .collect()
}

/// What was asked of the model, without the calls that summed up.
fn asked(play: &Play) -> Vec<Vec<Message>> {
    let is_summary = |messages: &Vec<Message>| messages[0].plain_text().starts_with("You sum up");
    play.requests()
        .into_iter()
        .filter(|messages| !is_summary(messages))
        .collect()
}

/// The conversation without the ids of calls, which the model gives and a restart cannot know.
fn without_ids(messages: &[Message]) -> Vec<Message> {
    let mut messages = messages.to_vec();
    for message in &mut messages {
        message.tool_call_id = None;
        message
            .tool_calls
            .iter_mut()
            .for_each(|call| call.id.clear());
    }
    messages
}

#[tokio::test]
async fn three_hundred_steps_fit_into_a_small_window() {
    let largest = Arc::new(Mutex::new(0));
    let (seen, work) = (Arc::clone(&largest), long_work(300));
    let play = play(move |request| {
        let mut largest = seen.lock().unwrap();
        *largest = tokens(request).max(*largest);
        work(request)
    })
    .await;
    let log = play.log().await;
    assert_eq!(lines(&log).last().unwrap(), "main finished Completed");
    assert!(
        *largest.lock().unwrap() <= WINDOW,
        "{} tokens",
        largest.lock().unwrap()
    );
    let compacted = compactions(&log);
    assert!(
        (5..100).contains(&compacted.len()),
        "{} times",
        compacted.len()
    );
    for body in compacted {
        let EventBody::ContextCompacted {
            tokens_before,
            tokens_after,
            summary,
            messages,
            ..
        } = body
        else {
            unreachable!()
        };
        assert!(
            tokens_after < tokens_before && summary.starts_with("Summary") && *messages > 2,
            "{body:?}"
        );
    }
    let requests = asked(&play);
    assert_eq!(requests.len(), 301, "each step once");
    for messages in &requests {
        let person: Vec<String> = messages
            .iter()
            .filter(|m| m.role == Role::User)
            .map(Message::plain_text)
            .collect();
        assert!(person.last().unwrap().contains("marzipan"), "{person:?}");
    }
    let last: Vec<String> = requests[300].iter().map(Message::plain_text).collect();
    assert!(last[2].starts_with("Summary"), "{last:?}");
    assert_eq!(
        last.last().unwrap().split(',').next().unwrap(),
        "Wrote /299.md"
    );
    let EventBody::RunFinished { usage, .. } = &log.last().unwrap().body else {
        unreachable!()
    };
    let booked: u64 =
        log.iter()
            .filter_map(|event| match &event.body {
                EventBody::ModelCalled { usage, .. }
                | EventBody::ContextCompacted { usage, .. } => Some(usage),
                _ => None,
            })
            .map(|usage| usage.total_tokens())
            .sum();
    assert_eq!(usage.total_tokens(), booked, "summaries count");
}

/// Whatever a server says that its model can read and has used, what is held of a conversation is
/// bounded.
#[tokio::test]
async fn a_conversation_is_bounded_without_a_known_window() {
    const MAX_BYTES: usize = 33 << 20;
    let (done, largest) = (AtomicUsize::new(0), Arc::new(Mutex::new(0)));
    let seen = Arc::clone(&largest);
    let mut play = play(move |request| {
        if is_summing_up(request) {
            return text("Summary: files were written.");
        }
        let calls = request
            .messages
            .iter()
            .flat_map(|message| &message.tool_calls);
        let bytes: usize = calls.map(|call| call.arguments.len()).sum();
        let mut largest = seen.lock().unwrap();
        *largest = bytes.max(*largest);
        match done.fetch_add(1, Ordering::Relaxed) {
            6 => text("All written."),
            number => call(
                0,
                "ls",
                &json!({"path": format!("/{number}"), "pad": "x".repeat(7_000_000)}),
            ),
        }
    })
    .await;
    play.settings.context_tokens = None;
    let log = play.log().await;
    assert_eq!(lines(&log).last().unwrap(), "main finished Completed");
    assert!(!compactions(&log).is_empty());
    let largest = *largest.lock().unwrap();
    assert!((20 << 20..=MAX_BYTES).contains(&largest), "{largest}");
}

#[tokio::test]
async fn a_restart_at_any_place_sends_the_same() {
    let steps = 70;
    let mut first = play(long_work(steps)).await;
    first.settings.context_tokens = Some(4_000);
    let whole = first.log().await;
    let sent: Vec<Vec<Message>> = asked(&first)
        .iter()
        .map(|messages| without_ids(messages))
        .collect();
    assert!(compactions(&whole).len() > 1);
    let around = whole.iter().enumerate().filter_map(|(at, event)| {
        matches!(
            event.body,
            EventBody::ContextCompacted { .. } | EventBody::StepStarted { .. }
        )
        .then_some(at + 1)
    });
    for cut in around.chain([whole.len() - 1]) {
        let begun = whole[..cut]
            .iter()
            .filter(|event| matches!(event.body, EventBody::ModelCalled { .. }))
            .count();
        let mut play = play(long_work(steps)).await;
        play.settings.context_tokens = Some(4_000);
        // The script counts its steps: what was said before is not asked again.
        for _ in 0..begun {
            let _ = play.model.call(&ChatRequest {
                messages: &[Message::text(Role::User, "")],
                ..bare()
            });
        }
        let skipped = play.requests().len();
        play.before = whole[..cut].to_vec();
        play.spec.ends_with_server = false;
        let log = play.log().await;
        assert_eq!(
            lines(&log).last().unwrap(),
            "main finished Completed",
            "cut after {cut}"
        );
        let now: Vec<Vec<Message>> = asked(&play)[skipped..]
            .iter()
            .map(|messages| without_ids(messages))
            .collect();
        assert_eq!(now, sent[begun..], "cut after {cut}");
        assert_eq!(
            compactions(&log).len(),
            compactions(&whole).len(),
            "cut after {cut}"
        );
    }
}

fn bare() -> ChatRequest<'static> {
    ChatRequest {
        messages: &[],
        tools: &[],
        tool_mode: llm::ToolMode::Native,
        tool_prompt: None,
        parameters: domain::ModelParameters::unset(),
        answer_format: None,
        without_thinking: false,
        extra: None,
        trace: None,
        caller: None,
    }
}

fn failing(code: ProblemCode) -> Vec<Line> {
    vec![Line::Fail(ModelError::new(code, "No."))]
}

#[tokio::test]
async fn without_a_summary_the_older_part_is_left_out() {
    for answer in [failing(ProblemCode::ModelRejected), text(" \n")] {
        let work = long_work(60);
        let play = play(move |request| {
            if is_summing_up(request) {
                answer.clone()
            } else {
                work(request)
            }
        })
        .await;
        let log = play.log().await;
        assert_eq!(lines(&log).last().unwrap(), "main finished Completed");
        assert!(
            lines(&log)
                .iter()
                .any(|line| line.contains("so they are left out")),
            "{:?}",
            lines(&log)
        );
        let is_empty = |body: &&&EventBody| matches!(body, EventBody::ContextCompacted { summary, .. } if summary.is_empty());
        assert_eq!(
            compactions(&log).iter().filter(is_empty).count(),
            compactions(&log).len()
        );
    }
}

#[tokio::test]
async fn a_server_that_is_gone_ends_the_run_as_ever() {
    let work = long_work(60);
    let gone = || failing(ProblemCode::ModelUnreachable);
    let play = play(move |request| {
        if is_summing_up(request) {
            gone()
        } else {
            work(request)
        }
    })
    .await;
    assert_eq!(
        lines(&play.log().await).last().unwrap(),
        "main finished Failed: No."
    );
}

#[tokio::test]
async fn a_long_winded_summary_is_cut() {
    let work = long_work(60);
    let long = text(&"blah ".repeat(20_000));
    let play = play(move |request| {
        if is_summing_up(request) {
            long.clone()
        } else {
            work(request)
        }
    })
    .await;
    let log = play.log().await;
    assert_eq!(lines(&log).last().unwrap(), "main finished Completed");
    for body in compactions(&log) {
        let EventBody::ContextCompacted {
            tokens_before,
            tokens_after,
            ..
        } = body
        else {
            unreachable!()
        };
        assert!(
            tokens_after < tokens_before,
            "{tokens_before} {tokens_after}"
        );
    }
}

/// The window is not known, and the server takes 6,000 tokens.
#[tokio::test]
async fn a_request_refused_as_too_long_is_retried_shorter() {
    let work = long_work(100);
    let mut play = play(move |request| {
        if tokens(request) > 6_000 {
            failing(ProblemCode::ModelContextFull)
        } else {
            work(request)
        }
    })
    .await;
    play.settings.context_tokens = None;
    let log = play.log().await;
    assert_eq!(lines(&log).last().unwrap(), "main finished Completed");
    let (compacted, asked) = (compactions(&log).len(), asked(&play).len());
    assert!(compacted > 1, "{compacted}");
    assert!(
        (102..110).contains(&asked),
        "the refusals are few, as it learns: {asked}"
    );
}

#[tokio::test]
async fn a_conversation_that_cannot_be_shortened_fails_with_a_message() {
    let mut play = Play::new(Arc::new(|_| failing(ProblemCode::ModelContextFull))).await;
    play.question = "x".repeat(100_000);
    let log = play.log().await;
    let EventBody::RunFinished {
        outcome, problem, ..
    } = &log.last().unwrap().body
    else {
        unreachable!()
    };
    assert_eq!(*outcome, Outcome::Failed);
    assert_eq!(
        problem.as_ref().unwrap().code,
        ProblemCode::ModelContextFull
    );
    assert_eq!(play.requests().len(), 1, "there is nothing to sum up");
}

/// The server counts twice as many tokens as the rule of thumb.
#[tokio::test]
async fn the_servers_own_count_is_what_matters() {
    let work = long_work(100);
    let largest = Arc::new(AtomicUsize::new(0));
    let seen = Arc::clone(&largest);
    let play = play(move |request| {
        let input_tokens = 2 * tokens(request);
        seen.fetch_max(usize::try_from(input_tokens).unwrap(), Ordering::Relaxed);
        let usage = Usage::of(input_tokens, 1);
        let reason = if request.tools.is_empty() {
            FinishReason::Stop
        } else {
            FinishReason::ToolCalls
        };
        [work(request), finish_with(reason, usage)].concat()
    })
    .await;
    assert_eq!(
        lines(&play.log().await).last().unwrap(),
        "main finished Completed"
    );
    assert!(largest.load(Ordering::Relaxed) <= 8_000, "{largest:?}");
}

#[tokio::test]
async fn a_result_larger_than_the_window_is_cut_or_summed_up() {
    let script = |request: &ChatRequest<'_>| match () {
        () if is_summing_up(request) => text("It was long."),
        () if tokens(request) > WINDOW => failing(ProblemCode::ModelContextFull),
        () if request.messages.len() == 2 => {
            let big = "long ".repeat(1_000);
            [0, 1, 2]
                .map(|n| {
                    call(
                        n,
                        "write_file",
                        &json!({"path": format!("/{n}.md"), "content": big}),
                    )
                })
                .concat()
        }
        () if request.messages.len() == 6 => [0, 1, 2]
            .map(|n| call(n, "read_file", &json!({"path": format!("/{n}.md")})))
            .concat(),
        () => text("Done."),
    };
    let mut play = play(script).await;
    play.agents.main.tools = agent::Agents::built_in()
        .unwrap()
        .main
        .tools
        .chosen(&agent::ToolChoice::named(&["write_file", "read_file"]).unwrap());
    let log = play.log().await;
    assert_eq!(
        lines(&log).last().unwrap(),
        "main finished Completed",
        "{:?}",
        lines(&log)
    );
    let kept = log
        .iter()
        .filter(|event| matches!(event.body, EventBody::ToolFinished { file: Some(_), .. }));
    assert_eq!(
        kept.count(),
        3,
        "what the model cannot read at once is in files"
    );
}

/// A later turn goes on from the summary and pays nothing for it.
#[tokio::test]
async fn the_next_turn_of_a_chat_continues_from_the_summary() {
    let play = play(long_work(60)).await;
    let log = play.log().await;
    let request = Message::text(Role::User, play.question.clone());
    let mut history = vec![
        Message::text(Role::User, "An old question"),
        Message::text(Role::Assistant, "An old answer"),
        request.clone(),
    ];
    recall(&mut history, &log);
    assert!(
        history[1].plain_text().starts_with("Summary"),
        "{:?}",
        history[1]
    );
    assert_eq!(history[2], request);
    assert_eq!(history.last().unwrap().plain_text(), "All written.");
    // Past the summary it is what the model saw last.
    let saw = asked(&play).pop().unwrap();
    assert_eq!(
        history.len(),
        saw.len(),
        "the answer stands where the instructions were"
    );
    assert_eq!(messages_of(&log).len(), history.len() - 1);
}

/// What a person told a fork stays what the next turn is about, not the request of the first run.
#[test]
fn a_request_in_the_middle_of_a_run_outlives_a_summary() {
    let step = |step| EventBody::StepStarted { step, last: None };
    let said = |text: &str| EventBody::TextFinished {
        item: text.to_owned(),
        text: text.to_owned(),
        answer: true,
        reasoning: false,
    };
    let guidance = Some("In French, please".to_owned());
    let compacted = |kept_messages| EventBody::ContextCompacted {
        summary: "All that was.".to_owned(),
        messages: 3,
        kept_messages,
        kept_requests: 1,
        tokens_before: 9,
        tokens_after: 3,
        model: "m".to_owned(),
        usage: Usage::default(),
        cost_micro_usd: None,
        duration_ms: 1,
    };
    let run = RunId::generate();
    let log = |bodies: Vec<EventBody>| -> Vec<RunEvent> {
        let event = |(body, seq)| RunEvent {
            run,
            seq,
            at: 1,
            agent: AgentPath::main(),
            body,
        };
        bodies.into_iter().zip(1..).map(event).collect()
    };
    let recalled = |log: &[RunEvent]| {
        let mut history = vec![Message::text(Role::User, "In German")];
        recall(&mut history, log);
        history.iter().map(Message::plain_text).collect::<Vec<_>>()
    };
    let forked = EventBody::RunForked(Forked {
        from: run,
        after: 1,
        guidance,
    });
    let bodies = [
        step(1),
        said("Eins"),
        forked,
        step(2),
        said("Un"),
        step(3),
        said("Deux"),
        step(4),
    ];
    // It is old, and in what is kept.
    for (kept_messages, rest) in [(1, &["Deux"][..]), (3, &["Un", "Deux"])] {
        let found = recalled(&log([&bodies[..], &[compacted(kept_messages)]].concat()));
        assert_eq!(
            found[1..3],
            ["All that was.", "In French, please"],
            "{found:?}"
        );
        assert_eq!(found[3..], *rest);
    }
}

/// A sub-agent has a context of its own.
#[tokio::test]
async fn a_sub_agents_conversation_becomes_a_summary_too() {
    let work = long_work(60);
    let play = play(
        move |request| match request.messages[1].plain_text().as_str() {
            "Write all the files. Remember the word marzipan." if request.messages.len() == 2 => {
                call(
                    0,
                    "task",
                    &json!({"description": "write", "subagent_type": "general"}),
                )
            }
            "Write all the files. Remember the word marzipan." => text("It is done."),
            _ => work(request),
        },
    )
    .await;
    let log = play.log().await;
    assert_eq!(lines(&log).last().unwrap(), "main finished Completed");
    let by: Vec<bool> = log
        .iter()
        .filter(|event| matches!(event.body, EventBody::ContextCompacted { .. }))
        .map(|event| event.agent.is_main())
        .collect();
    assert_eq!(by, [false]);
    assert_eq!(
        messages_of(&log).len(),
        3,
        "nothing of it concerns the main agent"
    );
}
