//! A deep research: a plan, two searchers at once, pages read, one that fails, sources and an answer that cites them.

use domain::{
    AgentPath, EventBody, Outcome, RunEvent,
    event::{NoticeLevel, Source, Todo, TodoStatus},
};
use serde_json::json;

use super::log::Log;

const ANSWER: [&str; 4] = [
    "Tides follow the moon [1]",
    "[2], and the sun helps [3].",
    "\n\n",
    "[9] is no source.",
];

pub(super) fn log() -> Vec<RunEvent> {
    let main = AgentPath::main();
    let moon = main.child(1);
    let sun = main.child(2);
    let mut log = Log::new();
    log.main(EventBody::status("Planning"));
    plan(
        &mut log,
        [
            TodoStatus::InProgress,
            TodoStatus::Pending,
            TodoStatus::Pending,
        ],
    );
    let tasks = [
        ("c1", &moon, "What does the moon do?"),
        ("c2", &sun, "What does the sun do?"),
    ];
    for (call, _, task) in tasks {
        let arguments = json!({"description": task, "subagent_type": "researcher"});
        log.request(&main, call, "task", &arguments);
        log.start(&main, call, "task", &arguments);
    }
    for (call, agent, task) in tasks {
        let name = "Researcher".into();
        let call = call.into();
        let task = task.to_owned();
        log.add(
            agent,
            EventBody::AgentStarted {
                name,
                call,
                task,
                agent_type: None,
                continues: None,
            },
        );
        log.add(
            agent,
            EventBody::StepStarted {
                step: 1,
                last: None,
            },
        );
    }
    // Both search at once, and each has numbers of sources that the other does not use again.
    for (agent, id, words) in [(&moon, "a1.c1", "moon tides"), (&sun, "a2.c1", "sun tides")] {
        log.request(agent, id, "web_search", &json!({"query": words}));
        log.start(agent, id, "web_search", &json!({"query": words}));
    }
    log.finish(
        &sun,
        "a2.c1",
        "web_search",
        &json!({"query": "sun tides"}),
        Ok("[3] Tides — example.net"),
    );
    sources(
        &mut log,
        &sun,
        &[("3", "Tides", "https://example.net/sun", None)],
    );
    log.finish(
        &moon,
        "a1.c1",
        "web_search",
        &json!({"query": "moon tides"}),
        Ok("[1] Moon\n[2] Moon and sea"),
    );
    let found = [
        (
            "1",
            "Moon",
            "https://example.org/moon",
            Some("It pulls the sea."),
        ),
        ("2", "Moon and sea", "https://example.org/sea?a=1&b=2", None),
    ];
    sources(&mut log, &moon, &found);
    let gone = json!({"url": "https://example.org/gone"});
    log.tool(
        &moon,
        "a1.c2",
        "fetch_page",
        &gone,
        Err("The page answered 404."),
    );
    let notice = "A page could not be read; going on without it.".to_owned();
    log.add(&moon, EventBody::notice(NoticeLevel::Warning, notice));
    let item = "a1.r1".to_owned();
    let text = "One page is gone, the other one is enough.".to_owned();
    log.add(&moon, EventBody::ReasoningStarted { item: item.clone() });
    log.add(
        &moon,
        EventBody::ReasoningDelta {
            item: item.clone(),
            delta: text.clone(),
        },
    );
    log.add(
        &moon,
        EventBody::ReasoningFinished {
            item,
            text,
            duration_ms: 3,
        },
    );
    log.text(&sun, "a2.t1", &["The sun adds to it [3]."], true);
    for (call, agent, task, result) in [
        ("c2", &sun, tasks[1].2, "The sun adds to it [3]."),
        ("c1", &moon, tasks[0].2, "The moon pulls the sea [1][2]."),
    ] {
        if agent == &moon {
            log.text(&moon, "a1.t1", &[result], true);
        }
        log.add(
            agent,
            EventBody::AgentFinished {
                outcome: Outcome::Completed,
                result: result.into(),
            },
        );
        let arguments = json!({"description": task, "subagent_type": "researcher"});
        log.finish(&main, call, "task", &arguments, Ok(result));
    }
    plan(
        &mut log,
        [
            TodoStatus::Completed,
            TodoStatus::Completed,
            TodoStatus::InProgress,
        ],
    );
    log.main(EventBody::StepStarted {
        step: 2,
        last: None,
    });
    log.main(super::file("/report.md", 1, 2_048, Some((40, 0))));
    log.main(EventBody::Status {
        description: "Written".into(),
        done: true,
        hidden: true,
        sentence: None,
    });
    plan(&mut log, [TodoStatus::Completed; 3]);
    log.text(&main, "t1", &ANSWER, true);
    log.completed()
}

fn plan(log: &mut Log, states: [TodoStatus; 3]) {
    let steps = [
        "Ask about the moon",
        "Ask about the sun",
        "Write the report",
    ];
    let todos = steps.iter().zip(states);
    let todos = todos
        .map(|(content, status)| Todo {
            content: (*content).into(),
            status,
        })
        .collect();
    log.main(EventBody::PlanChanged { todos });
}

fn sources(log: &mut Log, agent: &AgentPath, found: &[(&str, &str, &str, Option<&str>)]) {
    let sources = found.iter().map(|(id, title, url, quote)| {
        Source::new(
            (*id).into(),
            (*title).into(),
            (*url).into(),
            quote.map(str::to_owned),
        )
    });
    log.add(
        agent,
        EventBody::SourcesFound {
            sources: sources.collect(),
        },
    );
}
