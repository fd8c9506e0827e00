//! What is kept of a person beyond one chat: the tools, what agents are told, and what a crash leaves.

use std::sync::Arc;

use agent::{Memory, RunMemories, memory::RunMemoryBlock};
use domain::{EventBody, Message, Role, RunId, UserId, laws};
use llm::script::{call, text};
use serde_json::{Value, json};
use store::{MemoryChange, MemoryContent, NewRun, NewUser, Store, UserRole};

use crate::play::{Play, lines};

/// A database with a person, and the runs of this person.
struct Person {
    store: Store,
    id: UserId,
}

impl Person {
    async fn new() -> Self {
        let store = Store::open("sqlite::memory:").await.unwrap();
        let id = UserId::generate();
        let user = NewUser {
            id,
            email: "ann@example.org".to_owned(),
            name: "Ann".to_owned(),
            role: UserRole::User,
            password_hash: "x".to_owned(),
            created_at: 1,
        };
        store.create_user(&user).await.unwrap();
        Self { store, id }
    }

    async fn run(&self) -> Memory {
        let id = RunId::generate();
        let run = NewRun {
            id,
            principal: store::Principal::of_account(self.id),
            key_models: None,
            chat: None,
            message: None,
            model: "m".to_owned(),
            started_at: 1,
            request: None,
            idempotency: None,
            origin: None,
            research: None,
            workspace: None,
        };
        self.store.create_run(&run).await.unwrap();
        Memory::new(self.store.clone(), self.id, id, None, Arc::new(|| 7))
    }

    /// A run that makes these calls one after the other.
    async fn play(&self, calls: &[(&str, Value)]) -> Play {
        let mut turns: Vec<_> = calls
            .iter()
            .map(|(name, arguments)| call(0, name, arguments))
            .collect();
        turns.push(text("End."));
        let mut play = Play::turns(turns).await;
        play.memory = Some(self.run().await);
        play.spec.memories = Some(RunMemories::default());
        play
    }

    /// What the model was told of them.
    async fn told(&self, calls: &[(&str, Value)]) -> Vec<String> {
        let play = self.play(calls).await;
        play.log().await;
        let messages = play.requests().pop().unwrap();
        let results = messages.iter().filter(|message| message.role == Role::Tool);
        results.map(Message::plain_text).collect()
    }

    async fn texts(&self) -> Vec<String> {
        let memories = self.store.memories(self.id).await.unwrap();
        memories
            .into_iter()
            .map(|memory| memory.content.text)
            .collect()
    }
}

#[tokio::test]
async fn texts_are_written_read_added_to_and_found() {
    let ann = Person::new().await;
    let answers = ann
        .told(&[
            ("memory_list", json!({})),
            (
                "memory_write",
                json!({"name": "likes", "text": "Tea\nRust", "description": "What Ann likes"}),
            ),
            ("memory_write", json!({"name": "likes", "text": "Coffee"})),
            (
                "memory_append",
                json!({"name": "likes", "text": "Чай с лимоном"}),
            ),
            (
                "memory_append",
                json!({"name": "new", "text": "x", "only_for_me": true}),
            ),
            ("memory_read", json!({"name": "likes"})),
            ("memory_read", json!({"name": "like"})),
            ("memory_list", json!({})),
            ("memory_search", json!({"query": "чай ЛИМОН"})),
            ("memory_search", json!({"query": "tea coffee"})),
            ("memory_search", json!({"query": "what ann likes"})),
            (
                "memory_write",
                json!({"name": "likes", "text": "Tea", "version": 2}),
            ),
            ("memory_write", json!({"name": "new", "text": ""})),
            (
                "memory_write",
                json!({"name": "new", "text": "", "version": 1}),
            ),
            ("memory_write", json!({"name": "new", "text": " \n"})),
            ("memory_write", json!({"name": "a\nb", "text": "x"})),
            (
                "memory_write",
                json!({"name": "long", "text": "a".repeat(8_001)}),
            ),
            (
                "memory_append",
                json!({"name": "likes", "text": "a".repeat(8_000)}),
            ),
        ])
        .await;
    let expected = [
        "Nothing is remembered yet.",
        "Remembered “likes”, version 1.",
        "Error: The memory “likes” exists and is at version 1. Read it, and send the version you have read.",
        "Added to “likes”, now version 2.",
        "Added to “new”, now version 1.",
        "Version 2\nTea\nRust\nЧай с лимоном",
        "Error: There is no memory “like”. There are: likes, new.",
        "likes: What Ann likes (22 characters)\nnew (1 characters, only yours)",
        "likes: Чай с лимоном",
        "No memory holds these words.",
        "likes: What Ann likes",
        "Remembered “likes”, version 3.",
        "Error: The memory “new” exists and is at version 1.",
        "Forgot “new”.",
        "Error: There is no memory “new” (any more).",
        "Error: A memory needs a name of one line.",
        "Error: The arguments do not fit",
        "Error: The memory “likes” would have more than 8000 characters.",
    ];
    assert_eq!(answers.len(), expected.len());
    for (answer, words) in answers.iter().zip(expected) {
        assert!(answer.starts_with(words), "{words}\n{answer}");
    }
    assert_eq!(ann.texts().await, ["Tea"]);
}

#[tokio::test]
async fn the_log_records_each_change_with_its_call() {
    let ann = Person::new().await;
    let play = ann
        .play(&[
            (
                "memory_append",
                json!({"name": "likes", "text": "Tea\nRust"}),
            ),
            (
                "memory_write",
                json!({"name": "likes", "text": "Tea", "version": 1}),
            ),
            (
                "memory_append",
                json!({"name": "mine", "text": "x", "only_for_me": true}),
            ),
            (
                "memory_write",
                json!({"name": "likes", "text": "", "version": 2}),
            ),
            (
                "memory_write",
                json!({"name": "likes", "text": "", "version": 2}),
            ),
        ])
        .await;
    let log = play.log().await;
    let changed: Vec<_> = log
        .iter()
        .filter_map(|event| match &event.body {
            EventBody::MemoryUpdateCompleted {
                call: Some(call),
                name: Some(name),
                only_for,
                version: Some(version),
                deleted,
                added_lines: Some(added),
                removed_lines: Some(removed),
                facts: None,
                error: None,
            } => {
                let lines = (*added, *removed);
                Some((
                    call.as_str(),
                    name.as_str(),
                    only_for.as_deref(),
                    *version,
                    *deleted,
                    lines,
                ))
            }
            _ => None,
        })
        .collect();
    let expected = [
        ("c1", "likes", None, 1, false, (2, 0)),
        ("c2", "likes", None, 2, false, (0, 1)),
        ("c3", "mine", Some("main"), 1, false, (1, 0)),
        ("c4", "likes", None, 2, true, (0, 1)),
    ];
    assert_eq!(changed, expected);
}

#[tokio::test]
async fn document_001_each_memory_update_is_started_and_completed() {
    let ann = Person::new().await;
    let play = ann
        .play(&[
            ("memory_append", json!({"name": "likes", "text": "Tea"})),
            (
                "memory_write",
                json!({"name": "likes", "text": "Coffee", "version": 7}),
            ),
            ("memory_read", json!({"name": "likes"})),
        ])
        .await;
    let log = play.log().await;
    laws::check(&log).unwrap();
    let around: Vec<(&str, Option<&str>, bool)> = log
        .iter()
        .filter_map(|event| match &event.body {
            EventBody::MemoryUpdateStarted { call, name, .. } => {
                assert_eq!(name.as_deref(), Some("likes"));
                Some(("started", call.as_deref(), true))
            }
            EventBody::MemoryUpdateCompleted { call, error, .. } => {
                Some(("completed", call.as_deref(), error.is_none()))
            }
            EventBody::ToolStarted { call, .. } => Some(("runs", Some(call.as_str()), true)),
            EventBody::ToolFinished { call, error, .. } => {
                Some(("ends", Some(call.as_str()), !error))
            }
            _ => None,
        })
        .collect();
    let expected = [
        ("runs", Some("c1"), true),
        ("started", Some("c1"), true),
        ("completed", Some("c1"), true),
        ("ends", Some("c1"), true),
        ("runs", Some("c2"), true),
        ("started", Some("c2"), true),
        ("completed", Some("c2"), false),
        ("ends", Some("c2"), false),
        ("runs", Some("c3"), true),
        ("ends", Some("c3"), true),
    ];
    assert_eq!(around, expected);
}

/// A log of before has the end of a change alone, under another name.
#[test]
fn logs_of_before_are_read() {
    let body = r#"{"type":"memory_changed","call":"c1","name":"likes","version":2,"added_lines":1,"removed_lines":0}"#;
    let body: EventBody = serde_json::from_str(body).unwrap();
    assert!(matches!(
        &body,
        EventBody::MemoryUpdateCompleted { call: Some(call), version: Some(2), error: None, .. } if call == "c1"
    ));
    assert_eq!(
        serde_json::to_value(&body).unwrap()["type"],
        "memory_update_completed"
    );
}

#[tokio::test]
async fn a_run_killed_anywhere_writes_memory_once() {
    let calls = [
        ("memory_append", json!({"name": "log", "text": "one"})),
        ("memory_append", json!({"name": "log", "text": "two"})),
        ("memory_write", json!({"name": "likes", "text": "Tea"})),
        (
            "memory_write",
            json!({"name": "gone", "text": "", "version": 1}),
        ),
    ];
    let ann = Person::new().await;
    change(&ann, "gone", "x").await;
    let whole = ann.play(&calls).await.log().await;
    for cut in 1..whole.len() {
        let count = |is_it: fn(&EventBody) -> bool| {
            whole[..cut]
                .iter()
                .filter(|event| is_it(&event.body))
                .count()
        };
        let answered = count(|body| matches!(body, EventBody::ModelCalled { .. }));
        let started = count(|body| matches!(body, EventBody::ToolStarted { .. }));
        let finished = count(|body| matches!(body, EventBody::ToolFinished { .. }));
        // What was running may have been done, or not yet.
        for done in finished..=started {
            let ann = Person::new().await;
            change(&ann, "gone", "x").await;
            let mut before = ann.play(&calls[..done]).await;
            before.log().await;
            let mut after = ann.play(&calls[answered.min(calls.len())..]).await;
            after.memory = before.memory.take();
            after.before = whole[..cut].to_vec();
            after.spec.ends_with_server = false;
            let log = after.log().await;
            let said = format!("cut after {cut}, {done} done: {:#?}", lines(&log));
            laws::check(&log).unwrap_or_else(|law| panic!("{law}, {said}"));
            assert_eq!(ann.texts().await, ["Tea", "one\ntwo"], "{said}");
            let count = |is_it: fn(&EventBody) -> bool| {
                log.iter().filter(|event| is_it(&event.body)).count()
            };
            let begun = count(|body| matches!(body, EventBody::MemoryUpdateStarted { .. }));
            let over =
                count(|body| matches!(body, EventBody::MemoryUpdateCompleted { error: None, .. }));
            assert_eq!((begun, over), (4, 4), "{said}");
        }
    }
}

async fn change(ann: &Person, name: &str, text: &str) {
    let content = MemoryContent {
        agent: String::new(),
        name: name.to_owned(),
        description: String::new(),
        text: text.to_owned(),
        pinned: false,
    };
    let create = MemoryChange::Create {
        id: domain::MemoryId::generate(),
        content,
        max: 9,
    };
    ann.store
        .change_memory(ann.id, &create, None, 1)
        .await
        .unwrap();
}

#[tokio::test]
async fn agents_receive_only_their_own_memories_at_the_start() {
    let ann = Person::new().await;
    let asked = |messages: &[Message]| messages[1].plain_text().lines().last().unwrap().to_owned();
    let script = move |request: &llm::ChatRequest<'_>| match asked(request.messages).as_str() {
        "Please." if request.messages.len() == 2 => [
            call(
                0,
                "memory_append",
                &json!({"name": "mine", "text": "x", "only_for_me": true}),
            ),
            call(
                1,
                "task",
                &json!({"description": "look", "subagent_type": "explore"}),
            ),
        ]
        .concat(),
        "look" if request.messages.len() == 2 => [
            call(0, "memory_list", &json!({})),
            call(1, "memory_write", &json!({"name": "likes", "text": "Cake"})),
        ]
        .concat(),
        _ => text("Done."),
    };
    let mut play = Play::new(Arc::new(script)).await;
    let block = |agent: &str, name: &str, text: Option<&str>| RunMemoryBlock {
        agent: agent.to_owned(),
        name: name.to_owned(),
        description: String::new(),
        text: text.map(str::to_owned),
    };
    let told = RunMemories {
        blocks: vec![
            block("", "likes", Some("Ann likes tea.")),
            block("main", "mine", None),
        ],
        facts: vec!["Lives in Riga.".to_owned()],
    };
    play.memory = Some(ann.run().await);
    play.spec.memories = Some(told);
    play.log().await;
    let requests = play.requests();
    let told = |task: &str| {
        let request = requests
            .iter()
            .find(|request| asked(request) == task)
            .unwrap();
        assert!(
            !request[0].plain_text().contains("Ann likes tea."),
            "the instructions stay the same"
        );
        request[1].plain_text()
    };
    let main = told("Please.");
    assert!(
        main.contains("Ann likes tea.") && main.contains("- mine") && main.contains("Riga"),
        "{main}"
    );
    let explore = told("look");
    assert!(
        explore.contains("Ann likes tea.") && !explore.contains("- mine"),
        "{explore}"
    );
    let looked = requests
        .iter()
        .find(|request| request.len() > 3 && asked(request) == "look")
        .unwrap();
    let results: Vec<String> = looked[3..].iter().map(Message::plain_text).collect();
    assert_eq!(results[0], "Nothing is remembered yet.", "{results:?}");
    assert!(
        results[1].starts_with("Error: There is no tool memory_write."),
        "{results:?}"
    );
}

#[tokio::test]
async fn without_the_memory_there_are_no_tools_for_it() {
    let play = Play::turns(vec![call(0, "memory_list", &json!({})), text("End.")]).await;
    play.log().await;
    let told = play.requests().pop().unwrap().pop().unwrap().plain_text();
    assert!(
        told.starts_with("Error: There is no tool memory_list."),
        "{told}"
    );
    assert!(!told.contains("memory_read"), "{told}");
}
