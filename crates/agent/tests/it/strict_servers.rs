//! Whole runs against servers that refuse what the real ones refuse: reasoning, signatures and the order of an answer go
//! back as they came, whatever happens to the run meanwhile.

use std::sync::Arc;

use agent::{Tool, Toolbox, history::messages_of, tool::ToolKind};
use domain::{EventBody, Message, Outcome, Role, RunEvent};
use llm::{
    BaseUrl, ChatModel, HttpClient, OpenAiSettings, ProviderKind, Secret,
    openai::{Pool, Server, ServerSettings},
};
use schemars::JsonSchema;
use scripted::{
    ScriptedServer,
    strict::{self, Rules},
};
use serde::Deserialize;

use crate::play::{Play, lines};

const STEPS: usize = 10;

#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only the schema and the call matter")]
struct Look {
    step: u64,
    at: u64,
}

fn kind(rules: Rules) -> ProviderKind {
    match rules {
        Rules::Anthropic => ProviderKind::Anthropic,
        Rules::Gemini => ProviderKind::Gemini,
        Rules::Responses => ProviderKind::OpenaiResponses,
        Rules::ReasoningContent | Rules::ReasoningDetails | Rules::ExtraContent => ProviderKind::Openai,
    }
}

fn model(rules: Rules, server: &ScriptedServer, name: &str) -> ChatModel {
    let base_url = BaseUrl::parse_of(kind(rules), &format!("http://{}", server.address())).unwrap();
    let settings =
        ServerSettings { kind: kind(rules), ..ServerSettings::alone(base_url, Some(Secret::new("key"))) };
    let pool = Arc::new(Pool::of_one(Server::new(settings, Arc::default())));
    ChatModel::openai(OpenAiSettings::of_pool(pool, name), &HttpClient::new().unwrap())
}

async fn server(rules: Rules) -> ScriptedServer {
    ScriptedServer::start(strict::behaviour(rules, "look", STEPS)).await.unwrap()
}

async fn play(rules: Rules, server: &ScriptedServer) -> Play {
    let mut play = Play::with_model(model(rules, server, "strict-model")).await;
    let look = |_: Look, _| std::future::ready(Ok("Seen. ".repeat(20)));
    let look = Tool::new("look", "Looks.", ToolKind::REPEATABLE, look).unwrap();
    play.agents.main.tools = Toolbox::new(vec![Arc::new(look)]);
    play.outlives_server = true;
    play
}

fn answer_of(log: &[RunEvent]) -> String {
    let answers = log.iter().rev().find_map(|event| match &event.body {
        EventBody::TextFinished { text, answer: true, .. } => Some(text.clone()),
        _ => None,
    });
    answers.unwrap_or_default()
}

#[track_caller]
fn check(log: &[RunEvent], what: &str) {
    let is_done =
        matches!(log.last().unwrap().body, EventBody::RunFinished { outcome: Outcome::Completed, .. });
    assert!(is_done, "{what}: {:#?}", lines(log));
    assert_eq!(answer_of(log), "Done after 10 steps.", "{what}");
}

#[tokio::test]
async fn ten_steps_with_thoughts_and_parallel_calls() {
    for rules in Rules::ALL {
        let server = server(rules).await;
        let log = play(rules, &server).await.log().await;
        check(&log, &format!("{rules:?}"));
        let calls =
            log.iter().filter(|event| matches!(event.body, EventBody::ToolFinished { error: false, .. }));
        assert_eq!(calls.count(), 15, "{rules:?}");
        let said = server.requests().len();
        assert_eq!(said, STEPS + 1, "{rules:?}: nothing was asked twice");
        let usage = log.iter().find_map(|event| match &event.body {
            EventBody::ModelCalled { usage, .. } => Some(*usage),
            _ => None,
        });
        let usage = usage.unwrap();
        assert_eq!(
            (usage.output_tokens, usage.cached_tokens),
            (20, usage.input_tokens / 10 * 9),
            "{rules:?}"
        );
        assert!(usage.cached_tokens > 0, "{rules:?}");
    }
}

#[tokio::test]
async fn a_server_that_is_killed_after_any_step() {
    for rules in Rules::ALL {
        let first = server(rules).await;
        let whole = play(rules, &first).await.log().await;
        let ends = (1..whole.len()).filter(|at| {
            // Before and after each model call, and in the middle of one.
            matches!(
                whole[*at].body,
                EventBody::ModelCalled { .. }
                    | EventBody::ToolRequested { .. }
                    | EventBody::ToolFinished { .. }
            )
        });
        for cut in ends.step_by(3) {
            let again = server(rules).await;
            let mut play = play(rules, &again).await;
            play.before = whole[..cut].to_vec();
            let log = play.log().await;
            check(&log, &format!("{rules:?} cut after {cut}"));
        }
    }
}

#[tokio::test]
async fn the_next_turn_and_a_fork_bring_everything_back() {
    for rules in Rules::ALL {
        let first = server(rules).await;
        let whole = play(rules, &first).await.log().await;
        let next = server(rules).await;
        let mut play = play(rules, &next).await;
        play.said_before.push(Message::text(Role::User, "Please."));
        play.said_before.extend(messages_of(&whole));
        play.question = "And again?".to_owned();
        check(&play.log().await, &format!("{rules:?}"));
        // It was all sent: reasoning of the earlier turn, too.
        let sent = next.requests()[0].to_string();
        let given = ["Thought 2", "sig-"].iter().filter(|given| sent.contains(**given)).count();
        assert!(given > 0, "{rules:?}: {sent}");
    }
}

#[tokio::test]
async fn a_conversation_that_is_made_shorter() {
    for rules in Rules::ALL {
        let server = server(rules).await;
        let mut play = play(rules, &server).await;
        play.settings.context_tokens = Some(1_800);
        let log = play.log().await;
        let is_done =
            matches!(log.last().unwrap().body, EventBody::RunFinished { outcome: Outcome::Completed, .. });
        assert!(is_done, "{rules:?}: {:#?}", lines(&log));
        let compacted = log.iter().any(|event| matches!(event.body, EventBody::ContextCompacted { .. }));
        assert!(compacted, "{rules:?}: {:#?}", lines(&log));
    }
}

/// What one provider gave, no other gets: it would refuse it, or learn what is none of its business.
#[tokio::test]
async fn another_provider_gets_the_words_and_calls_alone() {
    let first = server(Rules::Anthropic).await;
    let whole = play(Rules::Anthropic, &first).await.log().await;
    for rules in [Rules::ReasoningContent, Rules::Responses, Rules::Gemini] {
        let other = ScriptedServer::start(scripted::Behaviour::answer(move |request| {
            let sent = request.body.to_string();
            assert!(!sent.contains("sig-") && !sent.contains("Thought 2"), "{sent}");
            scripted::Reply::error(400, "Enough.")
        }))
        .await
        .unwrap();
        let mut play = play(rules, &other).await;
        play.said_before.push(Message::text(Role::User, "Please."));
        play.said_before.extend(messages_of(&whole));
        play.log().await;
        let sent = &other.requests()[0].to_string();
        assert!(sent.contains("Done after 10 steps.") && sent.contains("Seen. "), "{rules:?}: {sent}");
    }
}
