//! Document 004, the pipelines of Open WebUI: titles, tags, queries and what else is asked beside a chat.

use scripted::{Behaviour, Reply};
use serde_json::{Value, json};

use crate::openai::Door;

const TITLE: &str = "/api/v1/tasks/title/completions";
const ANSWER: &str = r#"{"title": "🌱 How Plants Grow"}"#;

/// The harness turns these off; our own names come before those of Open WebUI.
const TASKS_ON: [(&str, &str); 3] = [
    ("GLASSHOUSE_PIPELINES_ENABLE_TITLE_GENERATION", "true"),
    ("GLASSHOUSE_PIPELINES_ENABLE_TAGS_GENERATION", "true"),
    ("GLASSHOUSE_PIPELINES_ENABLE_FOLLOW_UP_GENERATION", "true"),
];

/// A model that always replies so, behind a server with tasks and these settings.
async fn open(reply: Reply, settings: &[(&str, &str)]) -> Door {
    Door::open_with(
        Behaviour::always(reply),
        &[&TASKS_ON[..], settings].concat(),
    )
    .await
}

fn conversation(model: &str) -> Value {
    json!({"model": model, "messages": [
        {"role": "user", "content": "How do plants grow?"},
        {"role": "assistant", "content": "By eating light."},
        {"role": "user", "content": "And fungi?"},
    ]})
}

/// What the model was asked last.
fn prompt(door: &Door) -> String {
    door.upstream.requests().pop().unwrap()["messages"][0]["content"]
        .as_str()
        .unwrap()
        .to_owned()
}

#[tokio::test]
async fn document_004_a_template_of_the_environment_has_its_variables_filled_in() {
    let template =
        "{{MESSAGES:END:2}}|{{USER_NAME}}|{{CURRENT_DATE}}|{{CURRENT_WEEKDAY}}|{{prompt}}";
    let set = [("TITLE_GENERATION_PROMPT_TEMPLATE", template)];
    let door = open(Reply::text(ANSWER), &set).await;
    door.server
        .post(TITLE, &door.cookie, &conversation("scripted"))
        .await
        .expect(200);
    // The clock of the tests stands on 15 January 2027, a Friday; somewhere it is another day by then.
    let prompt = prompt(&door);
    let parts: Vec<&str> = prompt.split('|').collect();
    let [messages, name, date, weekday, last] = parts[..] else {
        panic!("{prompt}")
    };
    assert_eq!(messages, "ASSISTANT: By eating light.\nUSER: And fungi?");
    assert_eq!((name, last), ("Ada", "And fungi?"));
    let days = [
        ("2027-01-14", "Thursday"),
        ("2027-01-15", "Friday"),
        ("2027-01-16", "Saturday"),
    ];
    assert!(days.contains(&(date, weekday)), "{date}, {weekday}");
}

#[tokio::test]
async fn document_004_a_title_is_made_of_the_last_two_messages() {
    let door = open(Reply::text(ANSWER), &[]).await;
    let list = door
        .server
        .get("/api/v1/pipelines", &door.cookie)
        .await
        .json();
    let pipelines = list["pipelines"].as_array().unwrap();
    let title = pipelines
        .iter()
        .find(|pipeline| pipeline["name"] == "title")
        .unwrap();
    assert!(
        title["default_template"]
            .as_str()
            .unwrap()
            .contains("{{MESSAGES:END:2|"),
        "{title}"
    );
    door.server
        .post(TITLE, &door.cookie, &conversation("scripted"))
        .await
        .expect(200);
    let prompt = prompt(&door);
    assert!(
        prompt.contains("By eating light.") && prompt.contains("And fungi?"),
        "{prompt}"
    );
    assert!(!prompt.contains("How do plants grow?"), "{prompt}");
}

#[tokio::test]
async fn document_004_a_model_server_that_is_down_is_told_as_such() {
    for task in ["title", "tags", "follow_up"] {
        let door = open(Reply::error(500, "on fire"), &[]).await;
        let path = format!("/api/v1/tasks/{task}/completions");
        let answer = door
            .server
            .post(&path, &door.cookie, &conversation("scripted"))
            .await;
        assert_eq!(answer.expect(502), "model_failed", "{task}");
        assert!(answer.text.contains("on fire"), "{task}: {}", answer.text);
    }
}

/// Tasks go to the task model, whatever model the chat is with.
#[tokio::test]
async fn document_004_tasks_are_asked_of_the_task_model() {
    let set = [
        ("TASK_MODEL", "scripted"),
        ("TASK_MODEL_EXTERNAL", "far-away"),
    ];
    let door = open(Reply::text(ANSWER), &set).await;
    let answer = door
        .server
        .post(TITLE, &door.cookie, &conversation("tour"))
        .await;
    answer.expect(200);
    assert_eq!(door.upstream.requests().len(), 1);
    let config = door
        .server
        .get("/api/v1/tasks/config", &door.cookie)
        .await
        .json();
    assert_eq!(
        (&config["TASK_MODEL"], &config["TASK_MODEL_EXTERNAL"]),
        (&json!("scripted"), &json!("far-away"))
    );
}
