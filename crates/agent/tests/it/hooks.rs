//! Hooks around runs, model calls, tool calls and answers: what they may do, and that a restart asks none of them twice.

mod restarts;

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Mutex},
    time::Duration,
};

use agent::{
    ApprovalDecision, Hook, HookAnswer, HookCaller, HookRequest, Hooks, Pattern, Tool, Toolbox,
    history::messages_of, tool::ToolKind,
};
use domain::{
    EventBody, RunEvent,
    event::{Decision, HookEnd, HookEvent},
};
use futures_util::future::BoxFuture;
use llm::{
    ChatRequest,
    script::{call, text},
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::play::{Play, lines};

type Says = dyn Fn(&HookRequest) -> Result<String, String> + Send + Sync;

/// Hooks that answer as a test wants it, and note what they were asked.
pub(crate) struct Fake {
    says: Box<Says>,
    asked: Mutex<Vec<(String, String, Value)>>,
    kept: Mutex<HashMap<String, String>>,
}

impl std::fmt::Debug for Fake {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Fake")
    }
}

impl HookCaller for Fake {
    fn call(&self, request: HookRequest) -> BoxFuture<'static, Result<HookAnswer, String>> {
        let answer = (self.says)(&request).and_then(|text| HookAnswer::read(request.event, &text));
        let HookRequest {
            id,
            hook,
            event,
            data,
            ..
        } = request;
        self.asked.lock().unwrap().push((
            id,
            format!("{hook} {}", event.as_str()),
            Value::Object(data),
        ));
        Box::pin(async {
            tokio::task::yield_now().await;
            answer
        })
    }

    fn keep(&self, item: String, content: String) -> BoxFuture<'static, ()> {
        self.kept.lock().unwrap().insert(item, content);
        Box::pin(std::future::ready(()))
    }

    fn kept(&self, item: String) -> BoxFuture<'static, Option<String>> {
        Box::pin(std::future::ready(
            self.kept.lock().unwrap().get(&item).cloned(),
        ))
    }

    fn forget(&self) -> BoxFuture<'static, ()> {
        self.kept.lock().unwrap().clear();
        Box::pin(std::future::ready(()))
    }
}

impl Fake {
    fn new(
        says: impl Fn(&HookRequest) -> Result<String, String> + Send + Sync + 'static,
    ) -> Arc<Self> {
        Arc::new(Self {
            says: Box::new(says),
            asked: Mutex::default(),
            kept: Mutex::default(),
        })
    }

    /// Which hooks were asked for what, in order.
    fn asked(&self) -> Vec<String> {
        self.asked
            .lock()
            .unwrap()
            .iter()
            .map(|(_, what, _)| what.clone())
            .collect()
    }

    fn data(&self, what: &str) -> Vec<Value> {
        let asked = self.asked.lock().unwrap();
        asked
            .iter()
            .filter(|(_, asked, _)| asked == what)
            .map(|(_, _, data)| data.clone())
            .collect()
    }
}

fn hook(name: &str, events: &[HookEvent]) -> Hook {
    Hook {
        name: name.to_owned(),
        events: events.to_vec(),
        tools: Vec::new(),
        agents: Vec::new(),
        models: Vec::new(),
        fail_closed: false,
    }
}

fn pattern(text: &str) -> Vec<Pattern> {
    vec![Pattern::try_from(text.to_owned()).unwrap()]
}

fn hooks(all: Vec<Hook>, fake: &Arc<Fake>) -> Option<Hooks> {
    Some(Hooks::new(
        all.into(),
        Arc::clone(fake) as Arc<dyn HookCaller>,
    ))
}

fn ends(log: &[RunEvent]) -> Vec<&HookEnd> {
    let end = |event: &'_ RunEvent| matches!(event.body, EventBody::HookFinished(_));
    log.iter()
        .filter(|event| end(event))
        .map(|event| match &event.body {
            EventBody::HookFinished(end) => &**end,
            _ => unreachable!(),
        })
        .collect()
}

#[derive(Deserialize, JsonSchema)]
struct Launch {
    what: String,
}

/// Says what it was called with, and counts.
fn launch(launches: &Arc<Mutex<BTreeMap<String, usize>>>) -> Arc<Tool> {
    let launches = Arc::clone(launches);
    let launch = move |Launch { what }, _| {
        let result = format!("Launched {what}.");
        *launches.lock().unwrap().entry(what).or_default() += 1;
        std::future::ready(Ok(result))
    };
    Arc::new(Tool::new("launch", "Launches something.", ToolKind::ONCE, launch).unwrap())
}

/// The model launches once, then says what the tool said.
async fn launching(fake: &Arc<Fake>, all: Vec<Hook>) -> Play {
    let script = |request: &ChatRequest<'_>| match request.messages.last() {
        Some(last) if last.tool_call_id.is_some() => text(&format!("Told: {}", last.plain_text())),
        _ => call(0, "launch", &json!({"what": "rocket"})),
    };
    let mut play = Play::new(Arc::new(script)).await;
    play.agents.main.tools = Toolbox::new(vec![launch(&Arc::default())]);
    play.hooks = hooks(all, fake);
    play
}

#[tokio::test]
async fn each_event_has_its_hooks_in_the_declared_order() {
    let fake = Fake::new(|_| Ok(String::new()));
    let both = HookEvent::ALL;
    let play = launching(&fake, vec![hook("a", &both), hook("b", &both)]).await;
    let log = play.log().await;
    let asked = fake.asked();
    let of_a: Vec<&str> = asked
        .iter()
        .filter_map(|asked| asked.strip_prefix("a "))
        .collect();
    assert_eq!(
        of_a,
        [
            "before_run",
            "before_model",
            "after_model",
            "before_tool",
            "after_tool",
            "before_model",
            "after_model",
            "before_answer",
            "after_answer",
            "after_run"
        ]
    );
    assert!(
        asked
            .chunks(2)
            .all(|two| two[0].replacen('a', "b", 1) == two[1]),
        "{asked:?}"
    );
    assert!(
        lines(&log).contains(&"main answers \"Told: Launched rocket.\"".to_owned()),
        "{:?}",
        lines(&log)
    );
    assert_eq!(fake.data("a before_run")[0]["message"], "Please.");
    let told = &fake.data("a after_tool")[0]["tool"];
    assert_eq!(
        *told,
        json!({"call": "c5", "name": "launch", "arguments": {"what": "rocket"}, "result": "Launched rocket.", "error": false})
    );
    assert_eq!(
        fake.data("a after_model")[0]["tool_calls"][0]["name"],
        "launch"
    );
    assert_eq!(
        fake.data("a before_answer")[0]["answer"],
        "Told: Launched rocket."
    );
    assert_eq!(fake.data("a after_run")[0]["outcome"], "completed");
    let messages = fake.data("a before_model")[1]["messages"].clone();
    assert_eq!(
        messages.as_array().unwrap().last().unwrap()["content"],
        "Launched rocket."
    );
}

#[tokio::test]
async fn arguments_results_and_answers_are_changed_one_after_the_other() {
    let fake = Fake::new(|request| {
        let tool = &request.data.get("tool").cloned().unwrap_or_default();
        Ok(match request.event {
            HookEvent::BeforeTool => {
                let what = tool["arguments"]["what"].as_str().unwrap();
                json!({"arguments": {"what": format!("{what}-{}", request.hook)}})
            }
            HookEvent::AfterTool => {
                json!({"result": format!("{} ({})", tool["result"].as_str().unwrap(), request.hook)})
            }
            _ => json!({"answer": format!("{}!", request.data["answer"].as_str().unwrap())}),
        }
        .to_string())
    });
    let events = [
        HookEvent::BeforeTool,
        HookEvent::AfterTool,
        HookEvent::AfterAnswer,
    ];
    let play = launching(&fake, vec![hook("x", &events), hook("y", &events)]).await;
    let log = play.log().await;
    let said = lines(&log);
    assert!(
        said.contains(&"main runs c1 {\"what\":\"rocket-x-y\"}".to_owned()),
        "{said:?}"
    );
    assert!(
        said.contains(&"main finished c1: Launched rocket-x-y. (x) (y)".to_owned()),
        "{said:?}"
    );
    assert!(
        said.contains(&"main answers \"Told: Launched rocket-x-y. (x) (y)!!\"".to_owned()),
        "{said:?}"
    );
    let unchanged = log.iter().any(|event| match &event.body {
        EventBody::TextDelta { delta, .. } => !delta.ends_with("!!"),
        _ => false,
    });
    assert!(
        !unchanged,
        "nobody sees an answer before its hooks have: {said:?}"
    );
}

#[tokio::test]
async fn a_denied_call_is_an_error_that_the_model_reads() {
    let fake = Fake::new(|request| {
        Ok(match request.data["tool"]["arguments"]["what"].as_str() {
            Some("rocket") => {
                json!({"decision": "deny", "reason": "no rockets here", "context": "Try a kite."})
            }
            _ => json!({}),
        }
        .to_string())
    });
    let mut only_launches = hook("safety", &[HookEvent::BeforeTool]);
    only_launches.tools = pattern("la*");
    let play = launching(&fake, vec![only_launches]).await;
    let log = play.log().await;
    let said = lines(&log);
    assert!(
        !said.iter().any(|line| line.starts_with("main runs")),
        "{said:?}"
    );
    let told = play.requests()[1].last().unwrap().plain_text();
    assert!(
        told.starts_with("Error: The administrator's hook “safety” did not allow"),
        "{told}"
    );
    assert!(
        told.contains("no rockets here") && told.contains("Try a kite."),
        "{told}"
    );
    let denied = ends(&log)[0];
    assert_eq!(
        (denied.decision, denied.reason.as_deref()),
        (Decision::Deny, Some("no rockets here"))
    );
}

#[tokio::test]
async fn hooks_are_matched_by_tool_agent_and_model() {
    let fake = Fake::new(|_| Ok(String::new()));
    let with = |name: &str, tools: &str, agents: &str, models: &str| Hook {
        tools: pattern(tools),
        agents: pattern(agents),
        models: pattern(models),
        ..hook(name, &[HookEvent::BeforeTool])
    };
    let all = vec![
        with("fits", "launch", "*", "te*"),
        with("tool", "ls", "*", "*"),
        with("agent", "*", "explore", "*"),
        with("model", "*", "*", "gpt-*"),
    ];
    launching(&fake, all).await.log().await;
    assert_eq!(fake.asked(), ["fits before_tool"]);
}

#[tokio::test]
async fn a_failing_hook_allows_or_denies_as_declared() {
    for (fail_closed, answer) in [
        (false, "{"),
        (true, "{"),
        (true, r#"{"arguments":{"where":"?"}}"#),
    ] {
        let fake = Fake::new(|_| Ok(answer.to_owned()));
        let failing = Hook {
            fail_closed,
            ..hook("broken", &[HookEvent::BeforeTool])
        };
        let log = launching(&fake, vec![failing]).await.log().await;
        let ran = lines(&log).iter().any(|line| line.starts_with("main runs"));
        assert_eq!(ran, !fail_closed, "{answer}: {:?}", lines(&log));
        let end = ends(&log)[0];
        assert!(end.error.is_some(), "{end:?}");
        assert_eq!(
            end.decision,
            if fail_closed {
                Decision::Deny
            } else {
                Decision::Allow
            }
        );
    }
}

#[tokio::test]
async fn a_run_and_a_model_call_can_be_stopped() {
    for event in [
        HookEvent::BeforeRun,
        HookEvent::BeforeModel,
        HookEvent::AfterModel,
    ] {
        let fake =
            Fake::new(|_| Ok(json!({"decision": "deny", "reason": "not today"}).to_string()));
        let log = launching(&fake, vec![hook("closing", &[event])])
            .await
            .log()
            .await;
        let last = lines(&log).pop().unwrap();
        let expected = "main finished Failed: The hook “closing” stopped the run: not today";
        assert_eq!(last, expected, "{}", event.as_str());
    }
}

#[tokio::test]
async fn context_reaches_the_model_and_no_later_turn() {
    let fake = Fake::new(|request| {
        Ok(json!({"context": format!("({})", request.event.as_str())}).to_string())
    });
    let events = [
        HookEvent::BeforeRun,
        HookEvent::BeforeModel,
        HookEvent::AfterModel,
        HookEvent::BeforeTool,
        HookEvent::AfterTool,
    ];
    let play = launching(&fake, vec![hook("clock", &events)]).await;
    let log = play.log().await;
    let requests = play.requests();
    let first = requests[0].last().unwrap().plain_text();
    assert_eq!(
        first,
        "Please.\n\n[Context from the hook “clock”]\n(before_run)\n\n[Context from the hook “clock”]\n(before_model)"
    );
    let second = requests[1].last().unwrap().plain_text();
    for words in [
        "Launched rocket.",
        "(before_tool)",
        "(after_tool)",
        "(after_model)",
        "(before_model)",
    ] {
        assert!(second.contains(words), "{second}");
    }
    // What stands with a result stays with it; what stood with a request was for this run.
    let later = messages_of(&log)
        .iter()
        .map(domain::Message::plain_text)
        .collect::<Vec<_>>()
        .join("|");
    assert!(
        later.contains("(after_tool)") && !later.contains("(before_model)\n"),
        "{later}"
    );
}

#[tokio::test]
async fn a_person_approves_the_call_as_changed_by_hooks() {
    let fake = Fake::new(|request| {
        let what = request.data["tool"]["arguments"]["what"]
            .as_str()
            .unwrap()
            .to_owned();
        Ok(match what.as_str() {
            "rocket" => json!({"arguments": {"what": "kite"}}),
            "bomb" => json!({"decision": "deny", "reason": "no bombs"}),
            _ => json!({}),
        }
        .to_string())
    });
    for (edited, ran) in [
        (None, true),
        (Some(json!({"what": "bomb"})), false),
        (Some(json!({"what": "balloon"})), true),
    ] {
        let mut play = launching(&fake, vec![hook("safety", &[HookEvent::BeforeTool])]).await;
        play.agents.main.tools = play.agents.main.tools.clone().with_approval("launch");
        let answer = ApprovalDecision {
            arguments: edited.clone(),
            ..ApprovalDecision::only(Decision::Allow)
        };
        let log = play
            .watched(&mut |event, play| {
                if let EventBody::ApprovalAsked {
                    approval,
                    arguments,
                    ..
                } = &event.body
                {
                    assert_eq!(*arguments, json!({"what": "kite"}));
                    play.pending_input
                        .answer_approval(approval, answer.clone())
                        .unwrap();
                }
            })
            .await;
        let said = lines(&log);
        assert!(
            said.contains(&"main asks to run c1".to_owned()),
            "a hook gives no consent: {said:?}"
        );
        assert_eq!(
            said.iter().any(|line| line.starts_with("main runs")),
            ran,
            "{edited:?}: {said:?}"
        );
        let seen_again = ends(&log).iter().filter(|end| end.call.edited).count();
        assert_eq!(
            seen_again,
            usize::from(edited.is_some()),
            "an edited call is looked at once more"
        );
    }
}

#[tokio::test]
async fn an_answer_is_sent_back_until_it_is_good_and_no_longer_than_that() {
    let drafts = ["one", "two", "three", "four", "five"];
    for (good_from, expected) in [
        (2, "main finished Completed"),
        (9, "main finished Failed: The hook “editor” withheld"),
    ] {
        let fake = Fake::new(move |request| {
            let number = drafts
                .iter()
                .position(|draft| request.data["answer"] == *draft)
                .unwrap();
            let good = number >= good_from;
            Ok(if good {
                String::new()
            } else {
                json!({"decision": "deny", "reason": "try again"}).to_string()
            })
        });
        let mut play = Play::turns(drafts.iter().map(|draft| text(draft)).collect()).await;
        play.hooks = hooks(vec![hook("editor", &[HookEvent::BeforeAnswer])], &fake);
        let log = play.log().await;
        let said = lines(&log);
        assert!(said.last().unwrap().starts_with(expected), "{said:?}");
        assert_eq!(
            said.contains(&"main answers \"three\"".to_owned()),
            good_from == 2,
            "{said:?}"
        );
        assert!(said.contains(&"main says \"one\"".to_owned()), "{said:?}");
        assert_eq!(play.requests().len(), if good_from == 2 { 3 } else { 4 });
        assert!(
            play.requests()[1]
                .last()
                .unwrap()
                .plain_text()
                .contains("try again")
        );
        let recalled: Vec<String> = messages_of(&log)
            .iter()
            .map(domain::Message::plain_text)
            .collect();
        assert!(
            recalled[1].contains("try again"),
            "a later turn knows why it went on: {recalled:?}"
        );
    }
}

#[tokio::test]
async fn a_withheld_answer_or_result_is_never_shown() {
    let fake = Fake::new(|request| {
        let secret = request.data.get("answer").is_some()
            || request.data["tool"]["result"] == "Launched rocket.";
        Ok(if secret {
            json!({"decision": "deny", "reason": "secret"}).to_string()
        } else {
            String::new()
        })
    });
    let log = launching(&fake, vec![hook("leaks", &[HookEvent::AfterTool])])
        .await
        .log()
        .await;
    let json = serde_json::to_string(&log).unwrap();
    assert!(
        !json.contains("Launched rocket") && json.contains("withheld its result: secret"),
        "{json}"
    );
    let mut play = Play::turns(vec![text("The code is 1234.")]).await;
    play.hooks = hooks(vec![hook("leaks", &[HookEvent::AfterAnswer])], &fake);
    let log = play.log().await;
    assert!(!serde_json::to_string(&log).unwrap().contains("1234"));
    assert_eq!(
        lines(&log).pop().unwrap(),
        "main finished Failed: The hook “leaks” withheld the answer: secret"
    );
}

/// Without hooks on answers, they flow as ever, whatever else has hooks.
#[tokio::test]
async fn only_hooks_on_answers_hold_them_back() {
    for (event, pieces) in [(HookEvent::AfterRun, 2), (HookEvent::AfterAnswer, 1)] {
        let fake = Fake::new(|_| Ok(String::new()));
        let mut play = Play::turns(vec![[text("Hello, "), text("you.")].concat()]).await;
        play.hooks = hooks(vec![hook("h", &[event])], &fake);
        let log = play.log().await;
        let deltas = log
            .iter()
            .filter(|event| matches!(event.body, EventBody::TextDelta { .. }))
            .count();
        assert!(deltas >= pieces && (pieces > 1 || deltas == 1), "{deltas}");
        assert!(
            lines(&log).contains(&"main answers \"Hello, you.\"".to_owned()),
            "{:?}",
            lines(&log)
        );
    }
}

#[tokio::test]
async fn parallel_calls_have_their_hooks_in_parallel() {
    let barrier = Arc::new(tokio::sync::Barrier::new(3));
    #[derive(Debug)]
    struct Together(Arc<tokio::sync::Barrier>);
    impl HookCaller for Together {
        fn call(&self, _: HookRequest) -> BoxFuture<'static, Result<HookAnswer, String>> {
            let barrier = Arc::clone(&self.0);
            Box::pin(async move {
                barrier.wait().await;
                Ok(HookAnswer::default())
            })
        }
        fn keep(&self, _: String, _: String) -> BoxFuture<'static, ()> {
            Box::pin(std::future::ready(()))
        }
        fn kept(&self, _: String) -> BoxFuture<'static, Option<String>> {
            Box::pin(std::future::ready(None))
        }
        fn forget(&self) -> BoxFuture<'static, ()> {
            Box::pin(std::future::ready(()))
        }
    }
    let calls: Vec<_> = (0..3)
        .flat_map(|index| call(index, "launch", &json!({"what": index.to_string()})))
        .collect();
    let mut play = Play::turns(vec![calls, text("Done.")]).await;
    play.agents.main.tools = Toolbox::new(vec![launch(&Arc::default())]);
    play.hooks = Some(Hooks::new(
        [hook("h", &[HookEvent::BeforeTool])].into(),
        Arc::new(Together(barrier)),
    ));
    let log = tokio::time::timeout(Duration::from_secs(20), play.log())
        .await
        .unwrap();
    assert!(lines(&log).contains(&"main answers \"Done.\"".to_owned()));
}
