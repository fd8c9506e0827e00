//! Parameters of model calls: those of the caller over those of the agent over those of the model.

use std::sync::{Arc, Mutex};

use agent::{AgentSpec, CallableModel, ModelSettings, Models, ToolChoice};
use domain::{EventBody, LeftOut, ModelParameters, Parameter, Role, RunEvent};
use llm::{
    ChatModel, ChatRequest, Line, ModelEvent, ScriptedModel,
    script::{call, text},
};
use serde_json::{Value, json};

use crate::play::Play;

fn set(parameters: Value) -> ModelParameters {
    serde_json::from_value(parameters).unwrap()
}

type Seen = Arc<Mutex<Vec<(String, ModelParameters)>>>;

/// The main agent hands a task to each sub-agent. Keeps the instructions and the parameters of each call.
fn script(seen: &Seen) -> Arc<impl Fn(&ChatRequest<'_>) -> Vec<Line> + Send + Sync + use<>> {
    let seen = Arc::clone(seen);
    Arc::new(move |request: &ChatRequest<'_>| {
        let told = request.messages[0].plain_text();
        seen.lock()
            .unwrap()
            .push((told, request.parameters.clone()));
        let task = |index, agent: &str| {
            call(
                index,
                "task",
                &json!({"description": "d", "subagent_type": agent}),
            )
        };
        match (
            request.messages[1].plain_text().as_str(),
            request.messages.len(),
        ) {
            ("Please.", 2) => {
                llm::script::interleave(vec![task(0, "plain"), task(1, "set"), task(2, "apart")])
            }
            _ => text("Done."),
        }
    })
}

#[tokio::test]
async fn each_agent_has_its_layers() {
    let seen = Seen::default();
    let mut play = Play::new(script(&seen)).await;
    play.settings.parameters =
        set(json!({"temperature": 0.9, "seed": 1, "system_prompt": "Of the model."}));
    play.agents.main.parameters = set(json!({"temperature": 0.5, "top_p": 0.5}));
    play.spec.parameters = set(
        json!({"temperature": 0.1, "stop": ["x"], "max_output_tokens": 50,
        "system_prompt": "Of the chat."}),
    );
    let tools = play.agents.main.tools.clone();
    let agent = |name: &str| {
        AgentSpec::new(
            name,
            name,
            &format!("I am {name}."),
            &tools,
            ToolChoice::All,
        )
        .as_sub_agent()
    };
    let apart = CallableModel {
        id: "apart".into(),
        model: ChatModel::scripted(ScriptedModel::new("apart", script(&seen))),
        settings: ModelSettings {
            parameters: set(json!({"seed": 2})),
            ..ModelSettings::default()
        },
    };
    play.agents.sub_agents = vec![
        agent("plain"),
        AgentSpec {
            parameters: set(json!({"temperature": 0.7})),
            ..agent("set")
        },
        AgentSpec {
            models: Some(Arc::new(Models::new(apart, Vec::new()))),
            ..agent("apart")
        },
    ];
    play.agents = play.agents.introduced();
    play.log().await;

    let seen = seen.lock().unwrap();
    let of = |name: &str| {
        let (told, parameters) = seen.iter().find(|(told, _)| told.contains(name)).unwrap();
        let prompts = ["Of the chat.", "Of the model."].map(|prompt| told.contains(prompt));
        (
            prompts,
            ModelParameters {
                system_prompt: None,
                ..parameters.clone()
            },
        )
    };
    let main = json!({"temperature": 0.1, "top_p": 0.5, "seed": 1, "stop": ["x"], "max_output_tokens": 50});
    assert_eq!(of("assistant of a person"), ([true, false], set(main)));
    let plain = json!({"temperature": 0.1, "seed": 1, "stop": ["x"], "max_output_tokens": 50});
    assert_eq!(of("I am plain."), ([false, true], set(plain)));
    let own = json!({"temperature": 0.7, "seed": 1, "stop": ["x"], "max_output_tokens": 50});
    assert_eq!(of("I am set."), ([false, true], set(own)));
    // Its model is not the one they were chosen for.
    assert_eq!(
        of("I am apart."),
        (
            [false, false],
            set(json!({"seed": 2, "max_output_tokens": 50}))
        )
    );
}

/// Each call leaves out the same parameter.
fn forgetful() -> Vec<Vec<Line>> {
    let left_out = || {
        [Parameter::Temperature, Parameter::Seed]
            .map(|it| Line::Event(ModelEvent::ParameterLeftOut(LeftOut::Parameter(it))))
            .to_vec()
    };
    vec![
        [left_out(), call(0, "ls", &json!({}))].concat(),
        [left_out(), call(0, "ls", &json!({"path": "/"}))].concat(),
        [left_out(), text("Done.")].concat(),
    ]
}

fn notices(log: &[RunEvent]) -> Vec<String> {
    let words = |event: &RunEvent| match &event.body {
        EventBody::Notice {
            message,
            failed_try: false,
            ..
        } => Some(message.clone()),
        _ => None,
    };
    log.iter().filter_map(words).collect()
}

#[tokio::test]
async fn left_out_parameters_are_reported_once_in_a_run_also_after_a_restart() {
    let whole = Play::turns(forgetful()).await.log().await;
    let told = [
        "The model was asked without “temperature”, which it does not accept here.",
        "The model was asked without “seed”, which it does not accept here.",
    ];
    assert_eq!(notices(&whole), told);
    let last = whole
        .iter()
        .rposition(|event| matches!(event.body, EventBody::ToolFinished { .. }))
        .unwrap();
    let mut again = Play::turns(forgetful().split_off(2)).await;
    again.before = whole[..=last].to_vec();
    assert_eq!(notices(&again.log().await), told);
}

/// A model that works alone is told what its caller says, and nothing of ours.
#[tokio::test]
async fn a_model_alone_has_no_system_prompt_of_ours() {
    let mut play = Play::turns(vec![text("Hi")]).await;
    play.agents = agent::Agents::none();
    play.settings.parameters = set(json!({"system_prompt": "Of the model."}));
    play.log().await;
    assert_eq!(play.requests()[0][0].role, Role::User);
}
