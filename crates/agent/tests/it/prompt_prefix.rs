//! The beginning of what a model is sent is the same in every call of a run and in the next turn, byte for byte, as providers
//! cache it by its bytes.

use std::sync::{Arc, Mutex};

use agent::{Tool, ToolKind, history::recall};
use domain::{Message, Role};
use llm::{
    ChatRequest, ToolSpec,
    script::{call, reasoning, text},
};
use serde_json::json;

use crate::play::Play;

/// The pieces of each request: the tools, and each message.
type Sent = Arc<Mutex<Vec<Vec<String>>>>;

fn offered(name: &str) -> Arc<Tool> {
    let spec = ToolSpec {
        name: name.to_owned(),
        description: format!("Does {name}."),
        parameters: json!({"type": "object"}).into(),
    };
    let tool = Tool::from_outside(spec, ToolKind::REPEATABLE, |_, _| {
        std::future::ready(Ok("Done.".into()))
    });
    Arc::new(tool.unwrap())
}

/// An agent that works in three steps with a sub-agent, and whose model calls all calls “call_0” and so on.
async fn play(sent: &Sent, tools: &[&str]) -> Play {
    let seen = Arc::clone(sent);
    let script = move |request: &ChatRequest<'_>| {
        let tools = serde_json::to_string(request.tools).unwrap();
        let messages = request
            .messages
            .iter()
            .map(|message| serde_json::to_string(message).unwrap());
        seen.lock()
            .unwrap()
            .push(std::iter::once(tools).chain(messages).collect());
        let last_request = request
            .messages
            .iter()
            .rposition(|message| message.role == Role::User)
            .unwrap();
        let is_helper = request.messages[last_request].plain_text() == "help";
        match request.messages[last_request..]
            .iter()
            .filter(|it| it.role == Role::Assistant)
            .count()
        {
            0 if is_helper => [reasoning("I look."), call(0, "ls", &json!({}))].concat(),
            0 => [
                text("I begin."),
                call(0, "ls", &json!({})),
                call(1, "a__one", &json!({})),
            ]
            .concat(),
            1 if !is_helper => call(
                0,
                "task",
                &json!({"description": "help", "subagent_type": "general"}),
            ),
            _ => text("Done."),
        }
    };
    let mut play = Play::new(Arc::new(script)).await;
    play.offered.0 = tools.iter().map(|name| offered(name)).collect();
    play
}

fn assert_begins(longer: &[String], shorter: &[String]) {
    assert!(
        longer.starts_with(shorter),
        "{longer:#?}\ndoes not begin with\n{shorter:#?}"
    );
}

#[tokio::test]
async fn the_next_turn_repeats_all_of_this_one_whatever_order_tools_come_in() {
    let sent = Sent::default();
    let first = play(&sent, &["a__one", "a__two", "b__three"]).await;
    let log = first.log().await;
    let of_turn = std::mem::take(&mut *sent.lock().unwrap());
    let is_of_helper = |request: &Vec<String>| request[2].contains("\"help\"");
    let (helper, main): (Vec<_>, Vec<_>) = of_turn.into_iter().partition(is_of_helper);
    assert_eq!((main.len(), helper.len()), (3, 2));
    for requests in [&main, &helper] {
        requests
            .windows(2)
            .for_each(|pair| assert_begins(&pair[1], &pair[0]));
    }

    let mut next = play(&sent, &["b__three", "a__two", "a__one"]).await;
    next.said_before
        .push(Message::text(Role::User, first.question.clone()));
    recall(&mut next.said_before, &log);
    next.question = "And again?".to_owned();
    next.log().await;
    assert_begins(&sent.lock().unwrap()[0], &main[2]);
}

/// A run that goes on after a restart sends what it would have sent.
#[tokio::test]
async fn a_resumed_run_repeats_its_requests() {
    let sent = Sent::default();
    let mut first = play(&sent, &["a__one"]).await;
    first.spec.ends_with_server = false;
    let log = first.log().await;
    let whole = std::mem::take(&mut *sent.lock().unwrap());
    let results = log.iter().position(|event| {
        matches!(&event.body, domain::EventBody::StepStarted { step: 2, .. })
            && event.agent.is_main()
    });
    let mut again = play(&sent, &["a__one"]).await;
    (again.spec.ends_with_server, again.before) = (false, log[..results.unwrap()].to_vec());
    again.log().await;
    assert_eq!(sent.lock().unwrap()[0], whole[1]);
}
