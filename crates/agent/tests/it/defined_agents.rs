//! Agents with a model, limits and sub-agents of their own.

use std::{sync::Arc, time::Duration};

use agent::{
    AgentLimits, AgentSpec, CallableModel, ModelSettings, Models, Prices, Tool, ToolChoice,
    ToolKind,
};
use domain::{EventBody, laws};
use llm::{
    ChatModel, ChatRequest, Line, ScriptedModel, ToolSpec,
    script::{call, text},
};
use serde_json::json;

use crate::play::{Play, lines};

/// The main agent gives one task to “writer”.
fn script(request: &ChatRequest<'_>) -> Vec<Line> {
    match (
        request.messages[1].plain_text().as_str(),
        request.messages.len(),
    ) {
        ("Please.", 2) => call(
            0,
            "task",
            &json!({"description": "poem", "subagent_type": "writer"}),
        ),
        ("Please.", _) => text("All done."),
        (_, 2) => call(0, "ls", &json!({})),
        _ if request.tools.is_empty() => text("This far."),
        _ => call(0, "ls", &json!({"path": "/"})),
    }
}

fn writer(play: &Play) -> AgentSpec {
    let tools = &play.agents.main.tools;
    AgentSpec::new("writer", "writes", "You write.", tools, ToolChoice::All).as_sub_agent()
}

async fn with_writer(change: impl FnOnce(&mut AgentSpec)) -> Play {
    let mut play = Play::new(Arc::new(script)).await;
    let mut writer = writer(&play);
    change(&mut writer);
    play.agents.sub_agents.push(writer);
    play.agents = play.agents.introduced();
    play
}

#[tokio::test]
async fn the_steps_of_a_sub_agent_end_it_and_not_its_caller() {
    let play = with_writer(|writer| writer.limits.steps = Some(2)).await;
    let all = lines(&play.log().await);
    assert!(
        all.iter()
            .any(|line| line.starts_with("a1 ends Limited: This far.")),
        "{all:#?}"
    );
    assert!(
        all.contains(&r#"main answers "All done.""#.to_owned()),
        "{all:#?}"
    );
}

#[tokio::test]
async fn the_money_of_a_sub_agent_is_counted_at_its_own_price() {
    let prices = Some(Prices::of(1.0, 1.0));
    let model = ChatModel::scripted(ScriptedModel::new("dear", Arc::new(script)));
    let settings = ModelSettings {
        prices,
        ..ModelSettings::default()
    };
    let play = with_writer(|writer| {
        writer.models = Some(Arc::new(Models::new(
            CallableModel {
                id: "dear".into(),
                model,
                settings,
            },
            Vec::new(),
        )));
        writer.limits = AgentLimits {
            cost_micro_usd: Some(1),
            ..AgentLimits::default()
        };
    })
    .await;
    let log = play.log().await;
    let called: Vec<(&str, bool)> = log
        .iter()
        .filter_map(|event| match &event.body {
            EventBody::ModelCalled {
                model,
                cost_micro_usd,
                ..
            } => Some((model.as_str(), cost_micro_usd.is_some())),
            _ => None,
        })
        .collect();
    assert_eq!(called, [("test", false), ("dear", true), ("test", false)]);
    let all = lines(&log);
    let ended = all.iter().find(|line| line.starts_with("a1 ends Limited"));
    assert!(ended.unwrap().contains("The agent cost $"), "{all:#?}");
}

#[tokio::test]
async fn the_time_of_a_sub_agent_ends_it_and_not_its_caller() {
    let slow = |request: &ChatRequest<'_>| match request.messages[1].plain_text().as_str() {
        "Please." => script(request),
        _ => vec![
            Line::Pause { ms: 3_600_000 },
            Line::Event(llm::ModelEvent::TextDelta("x".into())),
        ],
    };
    let mut play = Play::new(Arc::new(slow)).await;
    let mut writer = writer(&play);
    writer.limits.time = Some(Duration::from_millis(100));
    play.agents.sub_agents.push(writer);
    let all = lines(&play.log().await);
    let ended = all.iter().find(|line| line.starts_with("a1 ends Limited"));
    assert!(
        ended.is_some_and(|line| line.contains("worked for 0 seconds")),
        "{all:#?}"
    );
    assert!(
        all.contains(&r#"main answers "All done.""#.to_owned()),
        "{all:#?}"
    );
}

#[tokio::test]
async fn the_run_resumes_from_every_event() {
    let whole = with_writer(|writer| writer.limits.steps = Some(3))
        .await
        .log()
        .await;
    for cut in 1..whole.len() {
        let mut play = with_writer(|writer| writer.limits.steps = Some(3)).await;
        play.before = whole[..cut].to_vec();
        let all = lines(&play.log().await);
        assert!(
            all.iter()
                .any(|line| line.starts_with("a1 ends Limited: This far.")),
            "{cut} {all:#?}"
        );
    }
}

#[tokio::test]
async fn a_sub_agent_that_is_gone_after_a_restart_is_ended_in_words() {
    let whole = with_writer(|_| {}).await;
    let log = whole.log().await;
    let started = log
        .iter()
        .position(|event| matches!(event.body, EventBody::AgentStarted { .. }))
        .unwrap();
    let mut play = Play::new(Arc::new(script)).await;
    play.before = log[..=started].to_vec();
    let log = play.log().await;
    assert_eq!(laws::check(&log), Ok(()));
    let all = lines(&log);
    let ended = all.iter().find(|line| line.starts_with("a1 ends Failed"));
    assert!(
        ended.is_some_and(|line| line.contains("There is no sub-agent writer")),
        "{all:#?}"
    );
    assert!(
        all.contains(&r#"main answers "All done.""#.to_owned()),
        "{all:#?}"
    );
}

#[tokio::test]
async fn tools_that_are_found_late_go_to_those_that_may_use_them() {
    let play =
        with_writer(|writer| writer.may_use = ToolChoice::named(&["ls", "files__*"]).unwrap())
            .await;
    let outside = |name: &str| {
        let spec = ToolSpec {
            name: name.into(),
            description: String::new(),
            parameters: json!({}).into(),
        };
        let tool = Tool::from_outside(spec, ToolKind::REPEATABLE, |_, _| async {
            Ok(String::new())
        });
        Arc::new(tool.unwrap())
    };
    let agents = play
        .agents
        .with_tools(&[outside("files__read"), outside("mail__send")]);
    let has = |agent: &AgentSpec, name: &str| agent.tools.get(name).is_some();
    let [general, explore, writer] = agents.sub_agents.as_slice() else {
        panic!("three")
    };
    assert!(has(&agents.main, "mail__send") && has(general, "mail__send"));
    assert!(has(writer, "files__read") && !has(writer, "mail__send"));
    assert!(!has(explore, "files__read"));
}
