//! Runs with hooks that go on from their log: killed after any event, no hook that has decided is asked again.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Mutex},
};

use agent::{HookRequest, Toolbox};
use domain::{
    AgentPath, EventBody, RunEvent,
    event::{Decision, HookEvent},
    laws,
};
use llm::{
    ChatRequest,
    script::{call, text},
};
use serde_json::json;

use super::{Fake, hook, hooks, launch, launching};
use crate::play::{Play, lines};

/// The main agent launches and has a sub-agent that launches too.
fn nested(request: &ChatRequest<'_>) -> Vec<llm::Line> {
    let first = request.messages[1].plain_text();
    match (first.starts_with("Please."), request.messages.len()) {
        (true, 2) => [
            text("First the work."),
            call(0, "launch", &json!({"what": "main"})),
            call(
                1,
                "task",
                &json!({"description": "one", "subagent_type": "general"}),
            ),
        ]
        .concat(),
        (true, 5) => text("A draft."),
        (true, _) => text("All done."),
        (false, 2) => call(0, "launch", &json!({"what": "sub"})),
        (false, _) => text("Did it."),
    }
}

/// All hooks change what they can; the first draft is sent back.
fn changing(request: &HookRequest) -> Result<String, String> {
    let data = &request.data;
    let tool = data.get("tool").cloned().unwrap_or_default();
    Ok(match request.event {
        HookEvent::BeforeTool if tool["name"] == "launch" => {
            let what = tool["arguments"]["what"].as_str().unwrap();
            json!({"arguments": {"what": format!("{what}-{}", request.hook)}, "context": "Mind the wind."})
        }
        HookEvent::AfterTool => {
            json!({"result": format!("{} [{}]", tool["result"].as_str().unwrap(), request.hook)})
        }
        HookEvent::BeforeAnswer if data["answer"] == "A draft." => {
            json!({"decision": "deny", "reason": "more"})
        }
        HookEvent::AfterAnswer => {
            json!({"answer": format!("{} ({})", data["answer"].as_str().unwrap(), request.hook)})
        }
        HookEvent::BeforeRun | HookEvent::BeforeModel => json!({"context": "It is noon."}),
        _ => json!({}),
    }
    .to_string())
}

async fn nested_play(fake: &Arc<Fake>, launches: &Arc<Mutex<BTreeMap<String, usize>>>) -> Play {
    let mut play = Play::new(Arc::new(nested)).await;
    let task = play.agents.main.tools.get("task").cloned().unwrap();
    play.agents.main.tools = Toolbox::new(vec![task, launch(launches)]);
    for helper in &mut play.agents.sub_agents {
        helper.tools = Toolbox::new(vec![launch(launches)]);
    }
    play.spec.ends_with_server = false;
    play.hooks = hooks(
        vec![hook("x", &HookEvent::ALL), hook("y", &HookEvent::ALL)],
        fake,
    );
    play
}

/// Killed after any event, the run goes on, and no hook that has decided is asked again.
#[tokio::test]
async fn a_restart_asks_no_hook_twice() {
    let fake = Fake::new(changing);
    let launches = Arc::default();
    let whole = nested_play(&fake, &launches).await.log().await;
    let said = lines(&whole);
    assert!(
        said.contains(&"main answers \"All done. (x) (y)\"".to_owned()),
        "{said:?}"
    );
    let kept_by_then = Mutex::new(HashMap::<usize, HashMap<String, String>>::new());
    {
        // What is kept is on disk when the event after it is.
        let again = Fake::new(changing);
        let play = nested_play(&again, &Arc::default()).await;
        let log = play
            .watched(&mut |event, _| {
                let at = usize::try_from(event.seq).unwrap();
                kept_by_then
                    .lock()
                    .unwrap()
                    .insert(at, again.kept.lock().unwrap().clone());
            })
            .await;
        assert_eq!(lines(&log), said, "it plays the same way each time");
    }
    for cut in 1..whole.len() {
        let fake = Fake::new(changing);
        let launches: Arc<Mutex<BTreeMap<String, usize>>> = Arc::default();
        let mut play = nested_play(&fake, &launches).await;
        play.before = whole[..cut].to_vec();
        *fake.kept.lock().unwrap() = kept_by_then.lock().unwrap()[&cut].clone();
        let log = play.log().await;
        laws::check(&log).unwrap_or_else(|law| panic!("cut after {cut}: {law}"));
        let said = lines(&log);
        assert!(
            said.contains(&"main answers \"All done. (x) (y)\"".to_owned()),
            "cut after {cut}: {said:?}"
        );
        let decided: Vec<(&str, &AgentPath)> = whole[..cut]
            .iter()
            .filter_map(|event| match &event.body {
                EventBody::HookFinished(end) => Some((end.call.id.as_str(), &event.agent)),
                _ => None,
            })
            .collect();
        let asked: Vec<String> = fake
            .asked
            .lock()
            .unwrap()
            .iter()
            .map(|(id, ..)| id.clone())
            .collect();
        for (id, _) in &decided {
            assert!(
                !asked.iter().any(|asked| asked == id),
                "cut after {cut}: {id} was asked again\n{said:?}"
            );
        }
        let mut places: Vec<String> = log
            .iter()
            .filter_map(|event| match &event.body {
                EventBody::HookFinished(end) if end.decision != Decision::Withdrawn => {
                    Some(format!(
                        "{:?} {} {} {:?} {:?}",
                        event.agent,
                        end.call.hook,
                        end.call.event.as_str(),
                        end.call.call,
                        end.call.step
                    ))
                }
                _ => None,
            })
            .collect();
        let count = places.len();
        places.sort();
        places.dedup();
        // A model call whose answer was not stored is made again, with its hooks after it.
        assert_eq!(
            places.len(),
            count,
            "cut after {cut}: a hook decided twice for one thing\n{said:?}"
        );
        let started = |what: &str| {
            whole[..cut].iter().any(|event| {
                matches!(&event.body, EventBody::ToolStarted { arguments, .. } if arguments["what"] == *what)
            })
        };
        for what in ["main-x-y", "sub-x-y"] {
            let count = launches
                .lock()
                .unwrap()
                .get(what)
                .copied()
                .unwrap_or_default();
            assert_eq!(
                count,
                usize::from(!started(what)),
                "cut after {cut}: {what}\n{said:?}"
            );
        }
        // A hook that was on its way is asked by the same id.
        let in_flight = whole[..cut].iter().filter_map(|event| match &event.body {
            EventBody::HookStarted(call) => Some(&call.id),
            _ => None,
        });
        for id in in_flight.filter(|id| !decided.iter().any(|(decided, _)| decided == id)) {
            assert!(
                asked.contains(id),
                "cut after {cut}: {id} is not asked again\n{said:?}"
            );
        }
        // Where hooks looked at a result, the result is not lost.
        let looked_at = |call: &str| {
            whole[..cut].iter().any(|event| {
                matches!(&event.body, EventBody::HookStarted(hook)
                if hook.event == HookEvent::AfterTool && hook.call.as_deref() == Some(call))
            })
        };
        for event in &log {
            if let EventBody::ToolFinished {
                call,
                in_doubt: true,
                ..
            } = &event.body
            {
                assert!(
                    !looked_at(call),
                    "cut after {cut}: {call} is in doubt\n{said:?}"
                );
            }
        }
    }
}

/// Killed while the call ran, and again while hooks looked at what is said of that: it is not taken for a result.
#[tokio::test]
async fn a_call_in_doubt_stays_so_while_hooks_look_at_it() {
    let after = |log: &[RunEvent], is_it: fn(&EventBody) -> bool| {
        log.iter().position(|event| is_it(&event.body)).unwrap() + 1
    };
    let is_looked_at = |body: &EventBody| matches!(body, EventBody::HookStarted(_));
    let all = || vec![hook("h", &[HookEvent::AfterTool])];
    let fake = || Fake::new(|_| Ok(String::new()));
    let whole = launching(&fake(), all()).await.log().await;
    let asked = fake();
    let mut second = launching(&asked, all()).await;
    second.before =
        whole[..after(&whole, |body| matches!(body, EventBody::ToolStarted { .. }))].to_vec();
    let mut kept = HashMap::new();
    let log = second
        .watched(&mut |event, _| {
            if is_looked_at(&event.body) {
                kept.clone_from(&asked.kept.lock().unwrap());
            }
        })
        .await;
    let asked = fake();
    *asked.kept.lock().unwrap() = kept;
    let mut third = launching(&asked, all()).await;
    third.before = log[..after(&log, is_looked_at)].to_vec();
    let log = third.log().await;
    let in_doubt =
        |event: &RunEvent| matches!(event.body, EventBody::ToolFinished { in_doubt: true, .. });
    assert!(log.iter().any(in_doubt), "{:?}", lines(&log));
}
