//! AG-UI: golden events, the protocol's rules on every log, interrupts, and the replay of a thread.

use domain::{EventBody, RunEvent};
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use sse::Frame;
use wire::ag_ui::{AgUiEncoder, ClientRun, SubAgents, Transcript, Version};

use crate::{
    ag_ui_client::Client,
    any_log::any_log,
    column::{on_every_log, places},
    scenarios,
};

fn client_run(version: Version) -> ClientRun {
    let state = Map::from_iter([("colour".to_owned(), json!(null))]);
    let sub_agents = SubAgents::Shown;
    ClientRun {
        thread_id: "thread-1".into(),
        run_id: "run-1".into(),
        version,
        sub_agents,
        state,
    }
}

fn encode<'a>(version: Version, log: impl IntoIterator<Item = &'a RunEvent>) -> Vec<Frame> {
    let mut encoder = AgUiEncoder::new(client_run(version));
    log.into_iter()
        .flat_map(|event| encoder.push(event))
        .collect()
}

fn events(frames: &[Frame]) -> Vec<Value> {
    frames
        .iter()
        .map(|frame| serde_json::from_str(&frame.data).unwrap())
        .collect()
}

/// A client that has read everything without an error.
#[track_caller]
fn read(name: &str, frames: &[Frame]) -> Client {
    let mut client = Client::default();
    read_on(name, &mut client, frames);
    client
}

#[track_caller]
fn read_on(name: &str, client: &mut Client, frames: &[Frame]) {
    for event in events(frames) {
        assert_eq!(client.read(&event), Ok(()), "{name}: {event}");
    }
}

fn readable(frames: &[Frame]) -> String {
    let lines = frames.iter().map(|frame| match frame.data.len() {
        0..2000 => frame.data.clone(),
        size => format!(
            "{}… ({size} bytes)",
            &frame.data[..frame.data.floor_char_boundary(120)]
        ),
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Splits the log wherever a client's stream may end as an interrupt, and resumes there.
fn interrupted(version: Version, log: &[RunEvent]) -> (Vec<Frame>, usize) {
    let mut encoder = AgUiEncoder::new(client_run(version));
    let mut frames = Vec::new();
    let mut pauses = 0;
    for (at, event) in log.iter().enumerate() {
        frames.extend(encoder.push(event));
        if encoder.can_pause() {
            pauses += 1;
            frames.extend(encoder.pause());
            // Another connection has only the log and the position.
            encoder = AgUiEncoder::new(client_run(version));
            log[..=at].iter().for_each(|event| encoder.prime(event));
            let answered: Vec<String> = encoder.asks().iter().map(|ask| ask.id.clone()).collect();
            frames.extend(encoder.resume(
                ClientRun {
                    run_id: "run-2".into(),
                    ..client_run(version)
                },
                &answered,
            ));
        }
    }
    (frames, pauses)
}

#[test]
fn golden_events() {
    for (name, log) in scenarios::all() {
        insta::assert_snapshot!(
            format!("ag_ui__{name}"),
            readable(&encode(Version::V1, &log))
        );
        if ["sub_agents", "cancelled", "approval"].contains(&name) {
            insta::assert_snapshot!(
                format!("ag_ui_0x__{name}"),
                readable(&encode(Version::V0x, &log))
            );
        }
    }
}

#[test]
fn golden_interrupts() {
    for (name, log) in scenarios::all() {
        let asked = [("approval", 1), ("question", 1), ("form", 2)];
        if let Some((_, times)) = asked.into_iter().find(|(of, _)| *of == name) {
            let (frames, pauses) = interrupted(Version::V1, &log);
            assert_eq!(pauses, times, "{name}");
            insta::assert_snapshot!(format!("ag_ui_interrupt__{name}"), readable(&frames));
        }
    }
}

#[test]
fn every_log_keeps_the_rules() {
    on_every_log(|name, log| {
        for version in [Version::V1, Version::V0x] {
            let client = read(name, &encode(version, log));
            assert!(client.ended.is_some(), "{name}");
            let (frames, _) = interrupted(version, log);
            let cut = read(name, &frames);
            assert_eq!(cut.ended.is_some(), client.ended.is_some(), "{name}");
            assert_eq!(
                cut.messages, client.messages,
                "{name}: the same in two runs as in one"
            );
            assert_eq!(cut.state, client.state, "{name}");
        }
    });
}

#[test]
fn a_thread_shown_again_has_the_messages_of_the_stream() {
    on_every_log(|name, log| {
        let streamed = read(name, &encode(Version::V1, log));
        for deltas in [true, false] {
            let mut transcript = Transcript::default();
            transcript.begin_run();
            log.iter()
                .filter(|event| deltas || !event.body.is_delta())
                .for_each(|event| transcript.push(event));
            assert_eq!(
                without_arguments(transcript.messages()),
                without_arguments(&streamed.messages),
                "{name}"
            );
            let shown = read(name, &transcript.replay(&client_run(Version::V1), 1));
            assert_eq!(shown.messages, transcript.messages(), "{name}");
            assert!(transcript.todos().is_some(), "{name}");
        }
    });
}

/// With the arguments as values: a log without deltas has them only in this form.
fn without_arguments(messages: &[Value]) -> Vec<Value> {
    let mut messages = messages.to_vec();
    for call in messages
        .iter_mut()
        .filter_map(|message| message.get_mut("toolCalls")?.as_array_mut())
        .flatten()
    {
        call["function"]["arguments"] = json!(call["function"]["name"]);
    }
    messages
}

#[test]
fn a_log_without_deltas_shows_the_same_text() {
    on_every_log(|name, log| {
        let whole = read(name, &encode(Version::V1, log));
        let short = read(
            name,
            &encode(
                Version::V1,
                log.iter().filter(|event| !event.body.is_delta()),
            ),
        );
        assert_eq!(
            without_arguments(&short.messages),
            without_arguments(&whole.messages),
            "{name}"
        );
        for (message, of_stream) in short.messages.iter().zip(&whole.messages) {
            assert_eq!(message["content"], of_stream["content"], "{name}");
        }
    });
}

#[test]
fn a_reader_can_come_back_after_any_event() {
    on_every_log(|name, log| {
        let whole = encode(Version::V1, log);
        for cut in places(name, log.len()) {
            let mut encoder = AgUiEncoder::new(client_run(Version::V1));
            let had: usize = {
                let mut counting = encoder.clone();
                log[..cut]
                    .iter()
                    .map(|event| counting.push(event).len())
                    .sum()
            };
            log[..cut].iter().for_each(|event| encoder.prime(event));
            let rest: Vec<Frame> = log[cut..]
                .iter()
                .flat_map(|event| encoder.push(event))
                .collect();
            assert!(rest == whole[had..], "{name} after {cut}");
        }
    });
}

/// A question is not delayed until the last of many busy agents is done.
#[test]
fn questions_are_shown_while_other_agents_work() {
    let (name, log) = scenarios::all()
        .into_iter()
        .find(|(name, _)| *name == "approval")
        .unwrap();
    let at = log
        .iter()
        .position(|event| matches!(event.body, EventBody::ApprovalAsked { .. }))
        .unwrap();
    let mut encoder = AgUiEncoder::new(client_run(Version::V1));
    let mut frames: Vec<Frame> = log[..=at]
        .iter()
        .flat_map(|event| encoder.push(event))
        .collect();
    let started = RunEvent {
        body: EventBody::TextStarted { item: "t9".into() },
        ..log[at].clone()
    };
    assert_eq!(encoder.push(&started), [], "what begins now waits");
    assert!(encoder.can_pause());
    frames.extend(encoder.pause());
    assert_eq!(
        read(name, &frames).ended.unwrap()["outcome"]["type"],
        "interrupt"
    );
}

#[test]
fn ends_are_distinguished() {
    for (name, log) in scenarios::all() {
        let ended = read(name, &encode(Version::V1, &log)).ended.unwrap();
        let old = read(name, &encode(Version::V0x, &log)).ended.unwrap();
        match name {
            "cancelled" | "cancelled_at_work" => assert_eq!(ended["outcome"]["type"], "cancelled"),
            "upstream_error" | "hostile_text" => assert_eq!(ended["type"], "RUN_ERROR", "{name}"),
            "handed_over" => assert_eq!(
                ended["outcome"]["pendingToolCallIds"]
                    .as_array()
                    .unwrap()
                    .len(),
                2
            ),
            "limited" => assert!(ended["result"]["limited"].is_string()),
            _ => assert!(
                ended.get("outcome").is_none() && ended["type"] == "RUN_FINISHED",
                "{name}"
            ),
        }
        assert!(
            old.get("outcome").is_none() && old.get("usage").is_none(),
            "{name}: old clients die of these"
        );
    }
}

#[test]
fn old_clients_get_no_sub_agent_events() {
    on_every_log(|name, log| {
        let old = events(&encode(Version::V0x, log));
        assert!(
            !old.iter()
                .any(|event| event["type"].as_str().unwrap().starts_with("SUBAGENT")),
            "{name}"
        );
        let agents = log
            .iter()
            .filter(|event| matches!(event.body, EventBody::AgentStarted { .. }))
            .count();
        let new = events(&encode(Version::V1, log));
        assert_eq!(
            new.iter()
                .filter(|event| event["type"] == "SUBAGENT_STARTED")
                .count(),
            agents,
            "{name}"
        );
    });
}

/// assistant-ui's package, for one, joined two texts that were written concurrently.
#[test]
fn sub_agents_can_be_hidden() {
    for (name, log) in scenarios::all() {
        let hidden = ClientRun {
            sub_agents: SubAgents::Hidden,
            ..client_run(Version::V0x)
        };
        let mut encoder = AgUiEncoder::new(hidden.clone());
        let frames: Vec<Frame> = log.iter().flat_map(|event| encoder.push(event)).collect();
        let client = read(name, &frames);
        let whole = read(name, &encode(Version::V0x, &log));
        let is_main = |message: &&Value| message.get("subagentRunId").is_none();
        let of_main: Vec<Value> = whole.messages.iter().filter(is_main).cloned().collect();
        assert_eq!(client.messages, of_main, "{name}");
        assert_eq!(
            client.state, whole.state,
            "{name}: what they change is everybody's"
        );
        let mut transcript = Transcript::default();
        transcript.begin_run();
        log.iter().for_each(|event| transcript.push(event));
        assert_eq!(
            read(name, &transcript.replay(&hidden, 1)).messages,
            of_main,
            "{name}"
        );
    }
}

#[test]
fn no_text_can_break_out_of_its_frame() {
    on_every_log(|name, log| {
        for frame in encode(Version::V1, log) {
            assert!(
                !frame.data.contains(['\n', '\r', '\0']) && frame.event.is_none(),
                "{name}: {}",
                frame.data
            );
        }
    });
}

proptest! {
    #[test]
    fn every_run_keeps_the_rules(log in any_log()) {
        for version in [Version::V1, Version::V0x] {
            let client = read("any log", &encode(version, &log));
            prop_assert!(client.ended.is_some());
            let (frames, _) = interrupted(version, &log);
            let cut = read("any log, interrupted", &frames);
            prop_assert_eq!(&cut.messages, &client.messages);
            prop_assert_eq!(&cut.state, &client.state);
        }
        let streamed = read("any log", &encode(Version::V1, &log));
        let mut transcript = Transcript::default();
        transcript.begin_run();
        log.iter().for_each(|event| transcript.push(event));
        prop_assert_eq!(transcript.messages(), &streamed.messages[..]);
    }
}
