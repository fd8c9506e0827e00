//! Whole runs against servers that refuse what the real ones refuse: reasoning, signatures and the order of an answer go
//! back as they came, whatever happens to the run meanwhile.

use std::sync::Arc;

use agent::{Agents, CallableModel, Tool, Toolbox, history::messages_of, tool::ToolKind};
use domain::{EventBody, Message, Outcome, Role, RunEvent};
use llm::{
    BaseUrl, ChatModel, HttpClient, OpenAiSettings, ProviderKind, ProviderOptions, Secret,
    ToolSpec,
    openai::{Pool, Server, ServerSettings},
};
use schemars::JsonSchema;
use scripted::{
    Behaviour, ScriptedServer, ServerOptions,
    strict::{self, Rules},
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::play::{Play, lines};

const STEPS: usize = 10;

#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only the schema and the call matter")]
struct Look {
    step: u64,
    at: u64,
    request: u64,
}

fn kind(rules: Rules) -> ProviderKind {
    match rules {
        Rules::Anthropic => ProviderKind::Anthropic,
        Rules::Bedrock => ProviderKind::Bedrock,
        Rules::Gemini => ProviderKind::Gemini,
        Rules::Vertex => ProviderKind::Vertex,
        Rules::Responses => ProviderKind::OpenaiResponses,
        Rules::ReasoningContent | Rules::ReasoningDetails | Rules::ExtraContent => {
            ProviderKind::Openai
        }
    }
}

fn model(rules: Rules, server: &ScriptedServer) -> ChatModel {
    let address = format!("http://{}", server.address());
    let (key, name) = match rules {
        Rules::Bedrock => (
            strict::ACCESS_KEY.to_owned(),
            "eu.anthropic.claude-sonnet-4-5-20250929-v1:0",
        ),
        Rules::Gemini => ("key".to_owned(), "gemini-3-pro-preview"),
        Rules::Vertex => (strict::service_account(&address), "gemini-3-pro-preview"),
        _ => ("key".to_owned(), "strict-model"),
    };
    let base_url = BaseUrl::parse_of(kind(rules), &address).unwrap();
    let options = ProviderOptions {
        region: Some("eu-central-1".to_owned()),
        project: Some("scripted".to_owned()),
        location: Some("europe-west4".to_owned()),
        ..ProviderOptions::default()
    };
    let settings = ServerSettings {
        kind: kind(rules),
        options,
        ..ServerSettings::alone(base_url, Some(Secret::new(key)))
    };
    let pool = Arc::new(Pool::of_one(Server::new(settings, Arc::default())));
    ChatModel::openai(
        OpenAiSettings::of_pool(pool, name),
        &HttpClient::new().unwrap(),
    )
}

async fn server(rules: Rules) -> ScriptedServer {
    strict::start(rules, "look", STEPS).await.unwrap()
}

/// What the model was asked; tokens are no questions.
fn asked(server: &ScriptedServer) -> Vec<scripted::Request> {
    server
        .received()
        .into_iter()
        .filter(|request| !request.path.ends_with("/token"))
        .collect()
}

fn look() -> Arc<Tool> {
    let look = |_: Look, _| std::future::ready(Ok("Seen. ".repeat(20)));
    Arc::new(Tool::new("look", "Looks.", ToolKind::REPEATABLE, look).unwrap())
}

async fn play(rules: Rules, server: &ScriptedServer) -> Play {
    let mut play = Play::with_model(model(rules, server)).await;
    play.agents.main.tools = Toolbox::new(vec![look()]);
    play.spec.ends_with_server = false;
    play
}

fn answer_of(log: &[RunEvent]) -> String {
    let answers = log.iter().rev().find_map(|event| match &event.body {
        EventBody::TextFinished {
            text, answer: true, ..
        } => Some(text.clone()),
        _ => None,
    });
    answers.unwrap_or_default()
}

#[track_caller]
fn check(log: &[RunEvent], what: &str) {
    let is_done = matches!(
        log.last().unwrap().body,
        EventBody::RunFinished {
            outcome: Outcome::Completed,
            ..
        }
    );
    assert!(is_done, "{what}: {:#?}", lines(log));
    assert_eq!(answer_of(log), "Done after 10 steps.", "{what}");
}

#[tokio::test]
async fn ten_steps_with_thoughts_and_parallel_calls() {
    for rules in Rules::ALL {
        let server = server(rules).await;
        let log = play(rules, &server).await.log().await;
        check(&log, &format!("{rules:?}"));
        let calls = log
            .iter()
            .filter(|event| matches!(event.body, EventBody::ToolFinished { error: false, .. }));
        assert_eq!(calls.count(), 15, "{rules:?}");
        assert_eq!(
            asked(&server).len(),
            STEPS + 1,
            "{rules:?}: nothing was asked twice"
        );
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
        check(&whole, &format!("{rules:?}"));
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
        check(&whole, &format!("{rules:?}"));
        let next = server(rules).await;
        let mut play = play(rules, &next).await;
        play.said_before.push(Message::text(Role::User, "Please."));
        play.said_before.extend(messages_of(&whole));
        play.question = "And again?".to_owned();
        check(&play.log().await, &format!("{rules:?}"));
        // It was all sent: reasoning of the earlier turn, too.
        let sent = asked(&next)[0].body.to_string();
        let given = ["Thought 2", "sig-"]
            .iter()
            .filter(|given| sent.contains(**given))
            .count();
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
        let is_done = matches!(
            log.last().unwrap().body,
            EventBody::RunFinished {
                outcome: Outcome::Completed,
                ..
            }
        );
        assert!(is_done, "{rules:?}: {:#?}", lines(&log));
        let compacted = log
            .iter()
            .any(|event| matches!(event.body, EventBody::ContextCompacted { .. }));
        assert!(compacted, "{rules:?}: {:#?}", lines(&log));
    }
}

/// The request as text, without what its arguments are escaped with.
fn text_of(request: &scripted::Request) -> String {
    request.body.to_string().replace('\\', "")
}

/// Which agent asks, by what it was asked.
fn agent_of(request: &scripted::Request) -> &'static str {
    let text = text_of(request);
    [strict::TWO_LOOK, "the left", "the right"]
        .into_iter()
        .find(|words| text.contains(words))
        .unwrap()
}

/// The strict servers check what comes back to each; that it is its own shows by the numbers of its requests.
#[tokio::test]
async fn parallel_sub_agents_keep_their_reasoning_apart() {
    for rules in Rules::ALL {
        let server = server(rules).await;
        let mut play = play(rules, &server).await;
        let task = Agents::built_in()
            .unwrap()
            .main
            .tools
            .get("task")
            .cloned()
            .unwrap();
        play.agents.main.tools = Toolbox::new(vec![task, look()]);
        play.question = strict::TWO_LOOK.to_owned();
        for helper in &mut play.agents.sub_agents {
            helper.tools = Toolbox::new(vec![look()]);
        }
        let log = play.log().await;
        check(&log, &format!("{rules:?}"));
        let results = log.iter().filter_map(|event| match &event.body {
            EventBody::AgentFinished { result, .. } => Some(result.as_str()),
            _ => None,
        });
        assert_eq!(
            results.collect::<Vec<_>>(),
            ["Done after 10 steps."; 2],
            "{rules:?}"
        );
        let requests: Vec<_> = asked(&server)
            .iter()
            .map(|request| (request.number, agent_of(request), text_of(request)))
            .collect();
        for (number, agent, text) in &requests {
            for (other, other_agent, _) in &requests {
                let has_calls = text.contains(&format!("\"request\":{other}}}"));
                let has_thought = text.contains(&format!("Thought {other} "));
                let is_own = other < number && other_agent == agent;
                assert!(
                    is_own || !has_calls && !has_thought,
                    "{rules:?}, {other} in {number}: {text}"
                );
                let must_have = is_own && *agent != strict::TWO_LOOK;
                assert!(
                    !must_have || has_calls,
                    "{rules:?}, {other} is not in {number}: {text}"
                );
            }
        }
    }
}

/// The first model's server fails in the middle; the next one's takes its words and calls, and goes on with its own.
#[tokio::test]
async fn a_model_of_another_provider_takes_over() {
    for (at, rules) in Rules::ALL.into_iter().enumerate() {
        let other = Rules::ALL[(at + 3) % Rules::ALL.len()];
        let strict = strict::behaviour(rules, "look", STEPS);
        let failing = Behaviour::answer(move |request| match &strict {
            Behaviour::Answer(choose) if request.number <= 5 => choose(request),
            _ => scripted::Reply::error(401, "This key has ended."),
        });
        let options = ServerOptions {
            tokens: Some(strict::tokens()),
            ..ServerOptions::default()
        };
        let (first, second) = (
            ScriptedServer::start_with(failing, options).await.unwrap(),
            server(other).await,
        );
        let mut play = play(rules, &first).await;
        let settings = play.settings.clone();
        play.fallbacks = vec![CallableModel {
            id: "other".into(),
            model: model(other, &second),
            settings,
        }];
        let what = format!("{rules:?}, then {other:?}");
        check(&play.log().await, &what);
        let asked = asked(&second);
        assert!(asked.len() > 5, "{what}: it went on itself");
        let has_own = text_of(&asked[2]).contains("sig-") || text_of(&asked[2]).contains("Thought");
        assert!(has_own, "{what}: what it gave came back: {}", asked[2].body);
    }
}

/// What one provider gave, no other gets: it would refuse it, or learn what is none of its business.
#[tokio::test]
async fn another_provider_gets_the_words_and_calls_alone() {
    let first = server(Rules::Anthropic).await;
    let whole = play(Rules::Anthropic, &first).await.log().await;
    for rules in [
        Rules::ReasoningContent,
        Rules::Responses,
        Rules::Gemini,
        Rules::Bedrock,
    ] {
        let other = ScriptedServer::start(scripted::Behaviour::answer(move |request| {
            let sent = request.body.to_string();
            assert!(
                !sent.contains("sig-") && !sent.contains("Thought 2"),
                "{sent}"
            );
            scripted::Reply::error(400, "Enough.")
        }))
        .await
        .unwrap();
        let mut play = play(rules, &other).await;
        play.said_before.push(Message::text(Role::User, "Please."));
        play.said_before.extend(messages_of(&whole));
        play.log().await;
        let sent = &asked(&other)[0].body.to_string();
        assert!(
            sent.contains("Done after 10 steps.") && sent.contains("Seen. "),
            "{rules:?}: {sent}"
        );
    }
}

/// Tools of an MCP server as public reports have them: drafts 4 to 2020-12, nulls, look-around, tuples, odd names.
fn hostile_tools() -> Vec<Arc<Tool>> {
    let of = |schema: Value| json!({"type": "object", "properties": {"a": schema}});
    let schemas = [
        of(
            json!({"type": "string", "format": "email", "pattern": "^(?!\\.)(?!.*\\.\\.)[a-z]+@[a-z]+$"}),
        ),
        of(json!({"type": "string", "pattern": "\\S"})),
        of(json!({"type": "array", "items": [{"type": "string"}, {"type": "number"}]})),
        of(json!({"type": "array"})),
        of(json!({"type": "integer", "minimum": 0, "exclusiveMinimum": true, "description": null})),
        of(json!({"$ref": "#/definitions/Node%20A", "description": "d"})),
        json!({"type": ["object"], "$schema": "http://json-schema.org/draft-07/schema#", "properties":
            {"next": {"$ref": "#"}, "größe": {"type": "any"}}, "required": null}),
        json!({"anyOf": [{"properties": {"a": {"type": "string"}}, "required": ["a"]}, {"required": ["b"]}],
            "properties": {"b": true}}),
        of(
            json!({"type": "object", "patternProperties": {"^(.*)$": {}}, "propertyNames": {"minLength": 1}}),
        ),
        json!({"$ref": "#/$defs/Args", "$defs": {"Args": {"type": "object", "properties": {"a": {"const": 1}},
            "not": {"required": ["x"]}}}}),
        json!({}),
    ];
    let named = json!({"Node A": {"type": "object", "properties": {"next": {"$ref": "#/definitions/Node%20A"}}}});
    let tool = |(number, mut schema): (usize, Value)| {
        schema["definitions"] = named.clone();
        let spec = ToolSpec {
            name: format!("mcp__tool_{number}"),
            description: "Does it.".to_owned(),
            parameters: schema.into(),
        };
        let none = |_, _| std::future::ready(Ok(String::new()));
        Arc::new(Tool::from_outside(spec, ToolKind::REPEATABLE, none).unwrap())
    };
    schemas.into_iter().enumerate().map(tool).collect()
}

fn notices(log: &[RunEvent]) -> Vec<String> {
    let notice = |event: &RunEvent| match &event.body {
        EventBody::Notice { message, .. } => Some(message.clone()),
        _ => None,
    };
    log.iter().filter_map(notice).collect()
}

#[tokio::test]
async fn schemas_that_servers_refuse_are_lowered_and_said_once() {
    for rules in Rules::ALL {
        let server = server(rules).await;
        let mut play = play(rules, &server).await;
        play.agents.main.tools = play.agents.main.tools.with_tools(&hostile_tools());
        let log = play.log().await;
        check(&log, &format!("{rules:?}"));
        assert_eq!(
            asked(&server).len(),
            STEPS + 1,
            "{rules:?}: nothing was refused"
        );
        let notices = notices(&log);
        let [said] = notices.as_slice() else {
            panic!("{rules:?}: {notices:?}")
        };
        assert!(said.contains("mcp__tool_0"), "the look-around: {said}");
        assert!(
            !said.contains("mcp__tool_3") && !said.contains("look,"),
            "{said}"
        );
    }
}

#[tokio::test]
async fn a_refused_schema_is_retried_without_it() {
    for rules in Rules::ALL {
        let behaviour = strict::behaviour_without(rules, "look", STEPS, "const_or_enum");
        let options = ServerOptions {
            tokens: Some(strict::tokens()),
            ..ServerOptions::default()
        };
        let server = ScriptedServer::start_with(behaviour, options)
            .await
            .unwrap();
        let mut play = play(rules, &server).await;
        let odd = |name: &str| {
            let schema = json!({"type": "object", "properties": {"a": {"type": "object", "properties":
                {"const_or_enum": {"type": "string"}}}}});
            let spec = ToolSpec {
                name: name.to_owned(),
                description: "Does it.".into(),
                parameters: schema.into(),
            };
            let none = |_, _| std::future::ready(Ok(String::new()));
            Arc::new(Tool::from_outside(spec, ToolKind::REPEATABLE, none).unwrap())
        };
        play.agents.main.tools = play
            .agents
            .main
            .tools
            .with_tools(&[odd("odd_a"), odd("odd_b")]);
        let log = play.log().await;
        check(&log, &format!("{rules:?}"));
        assert_eq!(
            asked(&server).len(),
            STEPS + 1 + 2,
            "{rules:?}: each was refused once, and remembered"
        );
        let notices = notices(&log);
        assert_eq!(notices.len(), 2, "{notices:?}");
        assert!(
            notices[0].ends_with("simpler ones: odd_a. Their arguments are checked as before."),
            "{notices:?}"
        );
        // Another run begins with what is known.
        let again = play.log().await;
        assert_eq!(asked(&server).len(), 2 * (STEPS + 1) + 2, "{rules:?}");
        assert!(self::notices(&again)[0].contains("odd_a, odd_b"));
    }
}

#[tokio::test]
async fn more_tools_than_a_server_takes_are_found_by_search() {
    for rules in Rules::ALL {
        let server = server(rules).await;
        let mut play = play(rules, &server).await;
        let tool = |number: usize| {
            let spec = ToolSpec {
                name: format!("mcp__tool_{number}"),
                description: "Does it.".into(),
                parameters: json!({"type": "object"}).into(),
            };
            let none = |_, _| std::future::ready(Ok(String::new()));
            Arc::new(Tool::from_outside(spec, ToolKind::REPEATABLE, none).unwrap())
        };
        let tools: Vec<Arc<Tool>> = (0..222).map(tool).collect();
        play.agents.main.tools = play.agents.main.tools.with_tools(&tools);
        let log = play.log().await;
        check(&log, &format!("{rules:?}"));
        assert_eq!(
            asked(&server).len(),
            STEPS + 1,
            "{rules:?}: nothing was refused"
        );
        let has_search = asked(&server)[0].body.to_string().contains("find_tools");
        assert_eq!(
            has_search,
            !matches!(rules, Rules::Anthropic | Rules::Bedrock),
            "{rules:?} has no limit"
        );
        let said = notices(&log);
        let expected = "There are more tools than this model's server accepts: 104 of 223 are listed, the others are found \
            by search.";
        assert_eq!(
            said,
            if has_search {
                vec![expected.to_owned()]
            } else {
                Vec::new()
            },
            "{rules:?}"
        );
    }
}
