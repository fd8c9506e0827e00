//! Skills: told to the model by name, loaded by the agent, read from the disk for each run.

use std::{fs, path::Path};

use scripted::{Behaviour, Reply};
use serde_json::{Value, json};

use crate::openai::{Door, ask};

fn write(folder: &Path, file: &str, content: &[u8]) {
    let path = folder.join("skills").join(file);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

fn skill_of(request: &Value) -> Option<&Value> {
    request["tools"]
        .as_array()?
        .iter()
        .find(|tool| tool["function"]["name"] == "skill")
}

#[tokio::test]
async fn an_agent_loads_reads_and_copies() {
    let door = Door::open(Behaviour::answer(|request| match request.number {
        2 => Reply::calls(&[
            ("skill", json!({"skill": "letters"})),
            ("skill", json!({"skill": "letters", "file": "forms/a.txt"})),
            ("skill", json!({"skill": "letters", "file": "stamp.png"})),
            (
                "skill",
                json!({"skill": "letters", "file": "../../glasshouse.lock"}),
            ),
            ("skill", json!({"skill": "gone"})),
            ("skill", json!({"skill": "letters", "copy": true})),
        ]),
        3 => Reply::calls(&[("read_file", json!({"path": "/skills/letters/forms/a.txt"}))]),
        _ => Reply::text("Done."),
    }))
    .await;
    let say = async || door.post(&ask("glasshouse/agent", "Hi")).await.expect(200);
    say().await;
    assert_eq!(
        skill_of(&door.upstream.requests()[0]),
        None,
        "there are none yet"
    );

    let folder = &door.server.data_dir;
    let text = b"---\nname: letters\ndescription: Use for letters.\n---\nBegin with the place.";
    write(folder, "letters/SKILL.md", text);
    write(folder, "letters/forms/a.txt", b"Dear Sir");
    write(folder, "letters/stamp.png", b"\x89PNG\0\xff");
    write(folder, "broken/SKILL.md", b"no head");
    say().await;
    let requests = door.upstream.requests();
    let told = skill_of(&requests[1]).unwrap();
    assert!(
        told["function"]["description"]
            .as_str()
            .unwrap()
            .ends_with("\n- letters: Use for letters.")
    );
    assert_eq!(
        told["function"]["parameters"]["properties"]["skill"]["enum"],
        json!(["letters"])
    );
    let answers = requests[2]["messages"].as_array().unwrap();
    let answers: Vec<&str> = answers[3..]
        .iter()
        .map(|message| message["content"].as_str().unwrap())
        .collect();
    assert!(
        answers[0].starts_with("Begin with the place.\n\nOther files"),
        "{}",
        answers[0]
    );
    assert!(
        answers[0].contains("- forms/a.txt (8 bytes)"),
        "{}",
        answers[0]
    );
    assert_eq!(answers[1], "Dear Sir");
    assert!(
        answers[2].contains("stamp.png is not text."),
        "{}",
        answers[2]
    );
    assert!(
        answers[3].contains("has no file ../../glasshouse.lock"),
        "{}",
        answers[3]
    );
    assert!(
        answers[4].contains("There is no skill gone. There are: letters."),
        "{}",
        answers[4]
    );
    assert!(
        answers[5].contains("/skills/letters/stamp.png"),
        "{}",
        answers[5]
    );
    let read = requests[3]["messages"].as_array().unwrap().last().unwrap();
    assert!(
        read["content"].as_str().unwrap().contains("Dear Sir"),
        "{read}"
    );

    let listed = door.server.get("/api/v1/agents", &door.cookie).await.json();
    assert_eq!(
        listed["skills"],
        json!([{"name": "letters", "description": "Use for letters.", "files": 2}])
    );
    assert_eq!(listed["broken_skills"][0]["name"], "broken");
    assert_eq!(
        listed["broken_skills"][0]["problem"]["sentence"],
        json!({"code": "skill_no_head"})
    );
}

#[tokio::test]
async fn an_agent_has_the_skills_it_is_given() {
    let door = Door::open(Behaviour::always(Reply::text("Done."))).await;
    for name in ["letters", "sums"] {
        let text = format!("---\nname: {name}\ndescription: Use for {name}.\n---\nDo.");
        write(
            &door.server.data_dir,
            &format!("{name}/SKILL.md"),
            text.as_bytes(),
        );
    }
    let agent = |name: &str, more: Value| {
        let mut agent =
            json!({"name": name, "description": "d", "instructions": "i", "tools": ["ls"]});
        agent
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        agent
    };
    for definition in [
        agent("one", json!({"skills": ["sums", "gone"]})),
        agent("none", json!({})),
        agent("all", json!({"tools": null})),
    ] {
        door.server
            .post("/api/v1/agents", &door.cookie, &definition)
            .await
            .expect(200);
        let model = format!("glasshouse/{}", definition["name"].as_str().unwrap());
        door.post(&ask(&model, "Hi")).await.expect(200);
    }
    let known: Vec<Value> = door
        .upstream
        .requests()
        .iter()
        .map(|request| {
            let skill = skill_of(request);
            skill.map_or(Value::Null, |tool| {
                tool["function"]["parameters"]["properties"]["skill"]["enum"].clone()
            })
        })
        .collect();
    assert_eq!(
        known,
        [json!(["sums"]), Value::Null, json!(["letters", "sums"])]
    );
    let listed = door.server.get("/api/v1/agents", &door.cookie).await.json();
    let one = listed["agents"]
        .as_array()
        .unwrap()
        .iter()
        .find(|agent| agent["name"] == "one")
        .unwrap();
    assert!(
        one["warnings"][0]["message"]
            .as_str()
            .unwrap()
            .contains("“gone”"),
        "{one}"
    );
}
