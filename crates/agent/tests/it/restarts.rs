//! A run whose server is killed goes on from its log: nothing is lost, and nothing that was done is done twice.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
    time::Duration,
};

use agent::{ApprovalDecision, Tool, Toolbox, history::messages_of, tool::ToolKind};
use domain::{EventBody, Message, Role, RunEvent, event::Decision, laws};
use llm::{
    ChatRequest,
    script::{call, text},
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::play::{Play, lines};

#[derive(Deserialize, JsonSchema)]
struct Launch {
    what: String,
}

/// How often each thing was launched.
type Launches = Arc<Mutex<BTreeMap<String, usize>>>;

fn launch(launches: &Launches) -> Arc<Tool> {
    let launches = Arc::clone(launches);
    let launch = move |arguments: Launch, _| {
        *launches.lock().unwrap().entry(arguments.what).or_default() += 1;
        std::future::ready(Ok("Launched.".to_owned()))
    };
    Arc::new(
        Tool::new(
            "launch",
            "Launches something, which cannot be undone.",
            ToolKind::ONCE,
            launch,
        )
        .unwrap(),
    )
}

/// The main agent launches, asks, and has two sub-agents that launch too; all at the same time.
fn script(request: &ChatRequest<'_>) -> Vec<llm::Line> {
    let task = |index, task: &str| {
        call(
            index,
            "task",
            &json!({"description": task, "subagent_type": "general"}),
        )
    };
    match (request.messages[1].plain_text().as_str(), request.messages.len()) {
        ("Please.", 2) => [
            text("First the work."),
            call(0, "launch", &json!({"what": "main"})),
            task(1, "one"),
            task(2, "two"),
            call(3, "ask_user", &json!({"question": "Which?", "fields": [
                {"name": "which", "type": "text", "required": true}, {"name": "some", "type": "number", "default": 0.1}]})),
            call(4, "ls", &json!({})),
        ]
        .concat(),
        ("Please.", _) => text("All done."),
        (what, 2) => call(0, "launch", &json!({"what": what})),
        (what, _) => text(&format!("Did {what}.")),
    }
}

async fn play(launches: &Launches) -> Play {
    let mut play = Play::new(Arc::new(script)).await;
    let ours = ["ls", "task", "ask_user"]
        .iter()
        .filter_map(|name| play.agents.main.tools.get(name).cloned());
    let tools = ours.chain([launch(launches)]).collect();
    play.agents.main.tools = Toolbox::new(tools).with_approval("launch");
    for helper in &mut play.agents.sub_agents {
        helper.tools = Toolbox::new(vec![launch(launches)]);
    }
    play.spec.ends_with_server = false;
    play
}

/// Says yes to everything that is asked, also to what was asked before.
async fn say_yes(play: &Play) {
    loop {
        for number in 0..500 {
            let allow = ApprovalDecision::only(Decision::Allow);
            let _ = play
                .pending_input
                .answer_approval(&format!("p{number}"), allow);
            let _ = play
                .pending_input
                .answer_question(&format!("q{number}"), "which: This one.".into());
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

/// What a later turn of the chat sees of the run: who, how many calls, and the agent's words.
fn shape(log: &[RunEvent]) -> Vec<(Role, usize, String)> {
    let words = |message: &Message| match message.role {
        Role::Assistant => message.plain_text(),
        _ => String::new(),
    };
    let messages = messages_of(log);
    messages
        .iter()
        .map(|message| (message.role, message.tool_calls.len(), words(message)))
        .collect()
}

async fn log_of(play: &Play) -> Vec<RunEvent> {
    tokio::select! {
        log = play.log() => log,
        () = say_yes(play) => unreachable!("it never tires"),
    }
}

#[tokio::test]
async fn killed_after_any_event_it_continues() {
    let whole = log_of(&play(&Launches::default()).await).await;
    assert_eq!(
        lines(&whole).last().unwrap(),
        "main finished Completed",
        "{:?}",
        lines(&whole)
    );
    let launched = |event: &RunEvent| match &event.body {
        EventBody::ToolStarted {
            name, arguments, ..
        } if name == "launch" => Some(arguments["what"].to_string()),
        _ => None,
    };
    for cut in 1..whole.len() {
        let launches = Launches::default();
        let mut play = play(&launches).await;
        play.before = whole[..cut].to_vec();
        let log = log_of(&play).await;
        laws::check(&log).unwrap_or_else(|law| panic!("cut after {cut}: {law}"));
        let said = lines(&log);
        assert!(
            said.contains(&"main answers \"All done.\"".to_owned()),
            "cut after {cut}: {said:?}"
        );
        assert_eq!(
            shape(&log),
            shape(&whole),
            "cut after {cut}: the next turn sees what was said, once"
        );
        let before: Vec<String> = whole[..cut].iter().filter_map(launched).collect();
        for what in ["main", "one", "two"] {
            let had_begun = before.contains(&format!("\"{what}\""));
            let count = launches
                .lock()
                .unwrap()
                .get(what)
                .copied()
                .unwrap_or_default();
            assert_eq!(
                count,
                usize::from(!had_begun),
                "cut after {cut}: {what} launched {count} times\n{said:?}"
            );
        }
        let finished = whole[..cut].iter().filter(|event| {
            matches!(&event.body,
            EventBody::ToolFinished { name, .. } if name == "launch")
        });
        let in_doubt = log
            .iter()
            .filter(|event| matches!(event.body, EventBody::ToolFinished { in_doubt: true, .. }));
        assert_eq!(
            in_doubt.count(),
            before.len() - finished.count(),
            "cut after {cut}: {said:?}"
        );
        let agents = log
            .iter()
            .filter(|event| matches!(event.body, EventBody::AgentStarted { .. }))
            .count();
        assert_eq!(agents, 2, "cut after {cut}: {said:?}");
    }
}

/// Drops the run, once it is handed over, as soon as nothing is lost with it.
async fn leave(play: &Play) {
    play.stop.hand_over.cancelled().await;
    let open = |log: &[RunEvent]| {
        log.iter().fold(0, |open, event| match event.body {
            EventBody::ApprovalAsked { .. } | EventBody::QuestionAsked { .. } => open + 1,
            EventBody::ApprovalAnswered { .. } | EventBody::QuestionAnswered { .. } => open - 1,
            _ => open,
        })
    };
    while !play.pending_input.rest(open(&play.log_so_far())) {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    play.stop.shutdown.cancel();
    std::future::pending().await
}

/// A server that stops in an orderly way: the next one does what is left, and pays for nothing twice.
#[tokio::test]
async fn handed_over_after_any_event_it_does_nothing_twice() {
    let all = play(&Launches::default()).await;
    let whole = log_of(&all).await;
    let mut were_handed_over = 0;
    // Each takes a while.
    let cuts: Vec<usize> = (1..whole.len()).step_by(4).collect();
    for &cut in &cuts {
        let launches = Launches::default();
        let first = play(&launches).await;
        let mut hand_over = |event: &RunEvent, play: &Play| {
            if event.seq == cut as u64 {
                play.stop.hand_over.cancel();
            }
        };
        let before = tokio::select! {
            log = first.unchecked(&mut hand_over) => log,
            () = say_yes(&first) => unreachable!("it never tires"),
            () = leave(&first) => unreachable!("the log ends then"),
        };
        let has_ended = matches!(before.last().unwrap().body, EventBody::RunFinished { .. });
        let mut second = play(&launches).await;
        second.before.clone_from(&before);
        let log = match has_ended {
            true => before,
            false => log_of(&second).await,
        };
        were_handed_over += usize::from(!has_ended);
        laws::check(&log).unwrap_or_else(|law| panic!("handed over after {cut}: {law}"));
        assert_eq!(shape(&log), shape(&whole), "handed over after {cut}");
        let asked = |play: &Play| play.requests().len();
        assert_eq!(
            asked(&first) + asked(&second),
            asked(&all),
            "handed over after {cut}: {:?}",
            lines(&log)
        );
        for (what, count) in launches.lock().unwrap().iter() {
            assert_eq!(*count, 1, "handed over after {cut}: {what}");
        }
    }
    assert!(were_handed_over > cuts.len() / 2, "{were_handed_over}");
}

/// Killed again while it goes on, as often as there are events.
#[tokio::test]
async fn killed_again_and_again_it_comes_to_its_end() {
    let launches = Launches::default();
    let mut before: Vec<RunEvent> = Vec::new();
    for _ in 0..20 {
        let mut play = play(&launches).await;
        play.before.clone_from(&before);
        let log = log_of(&play).await;
        // An answer of the model has to come to its end within one life: the longest here has some forty events,
        // with those that close the one before.
        let cut = log.len().min(before.len() + 50);
        before = log[..cut].to_vec();
        if cut == log.len() {
            break;
        }
        // What ran after the cut has not happened: the log is all there is.
        launches.lock().unwrap().clear();
    }
    assert_eq!(laws::check(&before), Ok(()), "{:?}", lines(&before));
    assert!(
        lines(&before).contains(&"main answers \"All done.\"".to_owned()),
        "{:?}",
        lines(&before)
    );
}

#[tokio::test]
async fn the_end_of_the_server_leaves_its_log_open() {
    for outlives_server in [true, false] {
        let mut play = Play::turns(vec![
            call(0, "ls", &json!({})),
            vec![llm::Line::Pause { ms: 60_000 }],
        ])
        .await;
        play.spec.ends_with_server = !outlives_server;
        let log = play
            .unchecked(&mut |event, play| {
                if matches!(event.body, EventBody::StepStarted { step: 2, .. }) {
                    play.stop.shutdown.cancel();
                }
            })
            .await;
        let has_ended = matches!(log.last().unwrap().body, EventBody::RunFinished { .. });
        assert_eq!(has_ended, !outlives_server, "{:?}", lines(&log));
    }
}
