//! Pictures that models make, from recorded answers: kept once, shown in the answer, and given back to their provider.

use std::path::Path;

use agent::history::messages_of;
use domain::{EventBody, Message, Role, RunEvent, event::ToolFile};
use llm::ProviderKind;
use scripted::{
    ScriptedServer, ServerOptions,
    replay::{Exchange, Pieces, Recording},
    strict,
};
use serde_json::{Value, json};

use crate::{
    play::{Play, lines},
    replayed::{model, model_name},
};

/// The picture of all recordings.
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/// The link to it in an answer.
const LINK: &str = "![image-generation-6b7fa434f92a](/results/image-generation-6b7fa434f92a.png)";

struct Case {
    kind: ProviderKind,
    recording: &'static str,
    /// What the model says beside the picture.
    text: &'static str,
    /// JSON pointer to the picture in the next request.
    place: &'static str,
    /// Prefix of the picture there.
    prefix: &'static str,
}

const CASES: [Case; 3] = [
    Case {
        kind: ProviderKind::Gemini,
        recording: "gemini_story",
        text: "A little axolotl named Archie",
        place: "/contents/1/parts/1/inlineData/data",
        prefix: "",
    },
    Case {
        kind: ProviderKind::OpenaiResponses,
        recording: "responses_image_generation",
        text: "",
        place: "/input/2/result",
        prefix: "",
    },
    Case {
        kind: ProviderKind::Openai,
        recording: "chat_openrouter_stream",
        text: "Here you go: ",
        place: "/messages/1/images/0/image_url/url",
        prefix: "data:image/png;base64,",
    },
];

fn exchange(recording: &str) -> Exchange {
    let folder =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../provider/tests/recordings/pictures");
    Recording::read(&folder.join(recording).with_extension("json"))
        .unwrap()
        .0
        .remove(0)
}

/// A play whose model gives this answer as often as it is asked, and its server.
async fn playing(kind: ProviderKind, exchange: Exchange) -> (Play, ScriptedServer) {
    let name = model_name(&exchange);
    let options = ServerOptions {
        tokens: Some(strict::tokens()),
        ..ServerOptions::default()
    };
    let recording = Recording(vec![exchange; 40]);
    let server = ScriptedServer::start_with(recording.behaviour(Pieces::Whole), options)
        .await
        .unwrap();
    let mut play = Play::with_model(model(kind, &server, &name)).await;
    play.agents.main.tools = agent::Toolbox::default();
    play.agents.main.instructions.clear();
    (play, server)
}

fn files(log: &[RunEvent]) -> Vec<ToolFile> {
    let files = log.iter().filter_map(|event| match &event.body {
        EventBody::ToolFinished { name, files, .. } if name == "image_generation" => {
            Some(files.clone())
        }
        _ => None,
    });
    files.flatten().collect()
}

fn answers(log: &[RunEvent]) -> Vec<String> {
    let text = |event: &RunEvent| match &event.body {
        EventBody::TextFinished {
            text, answer: true, ..
        } if !text.is_empty() => Some(text.clone()),
        _ => None,
    };
    log.iter().filter_map(text).collect()
}

fn notices(log: &[RunEvent]) -> Vec<String> {
    let notice = |event: &RunEvent| match &event.body {
        EventBody::Notice { message, .. } => Some(message.clone()),
        _ => None,
    };
    log.iter().filter_map(notice).collect()
}

/// The next turn of the conversation.
async fn next_turn(play: &mut Play, log: &[RunEvent]) -> Vec<RunEvent> {
    play.before.clear();
    play.said_before = vec![Message::text(Role::User, "A picture, please.")];
    play.said_before.extend(messages_of(log));
    play.question = "Another one.".to_owned();
    play.log().await
}

/// What the model was sent last has the picture at its place, once, and not the link that people see.
fn check_given_back(server: &ScriptedServer, case: &Case) {
    let sent = server.requests().pop().unwrap();
    let picture = sent
        .pointer(case.place)
        .unwrap_or_else(|| panic!("{sent:#}"));
    assert_eq!(picture, &json!(format!("{}{PNG}", case.prefix)));
    let sent = sent.to_string();
    assert_eq!(
        (sent.matches(PNG).count(), sent.matches("/results/").count()),
        (1, 0),
        "{sent}"
    );
}

#[tokio::test]
async fn pictures_are_kept_once_shown_and_given_back() {
    for case in &CASES {
        let (mut play, server) = playing(case.kind, exchange(case.recording)).await;
        let log = play.log().await;
        let told = lines(&log).join("\n");
        let [file] = &files(&log)[..] else {
            panic!("{told}")
        };
        assert_eq!(
            (&*file.media_type, file.size_bytes),
            ("image/png", 70),
            "{told}"
        );
        let shown = answers(&log);
        assert_eq!(shown.last().map(String::as_str), Some(LINK), "{told}");
        assert_eq!(
            shown.len(),
            if case.text.is_empty() { 1 } else { 2 },
            "{told}"
        );
        assert!(
            shown[0].starts_with(case.text),
            "text before a picture is part of the answer: {told}"
        );
        assert_eq!(notices(&log), [] as [String; 0]);
        let stored = serde_json::to_string(&log).unwrap();
        assert!(!stored.contains(PNG), "the log names the file: {stored}");
        assert!(stored.contains("\"by_provider\":true"), "{stored}");

        let second = next_turn(&mut play, &log).await;
        check_given_back(&server, case);
        assert_eq!(
            files(&second),
            files(&log),
            "the same picture is the same file"
        );
        let changed = |event: &&RunEvent| matches!(event.body, EventBody::FileChanged { .. });
        assert_eq!(
            (
                log.iter().filter(changed).count(),
                second.iter().filter(changed).count()
            ),
            (1, 0)
        );
    }
}

#[tokio::test]
async fn signatures_stay_with_their_pictures() {
    let (mut play, server) = playing(ProviderKind::Gemini, exchange("gemini_story")).await;
    let log = play.log().await;
    next_turn(&mut play, &log).await;
    let said = exchange("gemini_story").response["candidates"][0]["content"].clone();
    assert_eq!(server.requests().pop().unwrap()["contents"][1], said);
}

/// The server stops after any event of the log. The run goes on, shows one picture, and the next turn gives it back.
#[tokio::test]
async fn a_restart_anywhere_keeps_the_picture() {
    for case in &CASES {
        let (mut play, server) = playing(case.kind, exchange(case.recording)).await;
        let log = play.log().await;
        for end in 1..log.len() {
            play.said_before.clear();
            play.question = "Please.".to_owned();
            play.before = log[..end].to_vec();
            let resumed = play.log().await;
            let told = lines(&resumed).join("\n");
            let shown = answers(&resumed).concat();
            assert!(shown.contains(LINK), "{} {end}: {told}", case.recording);
            next_turn(&mut play, &resumed).await;
            check_given_back(&server, case);
        }
    }
}

#[tokio::test]
async fn a_model_of_another_provider_reads_the_link() {
    for case in &CASES {
        let (mut play, _server) = playing(case.kind, exchange(case.recording)).await;
        let log = play.log().await;
        for other in CASES.iter().filter(|other| other.kind != case.kind) {
            let (next, server) = playing(other.kind, exchange(other.recording)).await;
            play.model = next.model;
            next_turn(&mut play, &log).await;
            let sent = server.requests().pop().unwrap().to_string();
            assert!(
                sent.contains(LINK) && !sent.contains(PNG),
                "{} {sent}",
                case.recording
            );
        }
    }
}

/// An answer of Gemini with this in the place of the picture.
fn gemini_with(picture: &Value) -> Exchange {
    let mut exchange = exchange("gemini_story");
    *exchange
        .response
        .pointer_mut("/candidates/0/content/parts/1/inlineData/data")
        .unwrap() = picture.clone();
    exchange
}

#[tokio::test]
async fn a_picture_that_cannot_be_kept_is_a_notice() {
    let unreadable = "A picture from the model cannot be read and is not shown.";
    let too_large =
        "A picture from the model is too large to be kept: 10500003 bytes of at most 10000000.";
    for (picture, expected) in [
        (json!("not base64!"), unreadable),
        (json!("aGVsbG8="), unreadable),
        (json!(""), unreadable),
        (json!({"file": "/notes.md", "version": 1}), unreadable),
        (json!(["x"]), unreadable),
        (json!("A".repeat(14_000_004)), too_large),
    ] {
        let (mut play, server) = playing(ProviderKind::Gemini, gemini_with(&picture)).await;
        let log = play.log().await;
        let told = lines(&log).join("\n");
        assert_eq!(notices(&log), [expected], "{told}");
        assert_eq!((files(&log).len(), answers(&log).len()), (0, 1), "{told}");
        assert!(
            serde_json::to_string(&log).unwrap().len() < 20_000,
            "the log does not hold it"
        );
        assert!(lines(&log).last().unwrap().contains("Completed"), "{told}");
        next_turn(&mut play, &log).await;
        let sent = server.requests().pop().unwrap();
        assert_eq!(
            sent["contents"][1]["parts"].as_array().unwrap().len(),
            1,
            "{sent:#}"
        );
    }
}

/// What beside the text is no picture costs no answer either, whatever its size and form.
#[tokio::test]
async fn pictures_next_to_text_never_fail_the_answer() {
    let url = |url: String| json!([{"type": "image_url", "image_url": {"url": url}}]);
    for (images, expected) in [
        (
            url(format!("data:image/png;base64,{}", "A".repeat(14_000_004))),
            "too large to be kept",
        ),
        (
            url("https://example.org/a.png".to_owned()),
            "cannot be read",
        ),
        (
            url("data:image/svg+xml;base64,PHN2Zy8+".to_owned()),
            "cannot be read",
        ),
        (
            json!([{"image_url": {"url": 7}}, {"image_url": null}, "x", null]),
            "cannot be read",
        ),
    ] {
        let mut exchange = exchange("chat_openrouter_stream");
        let message = json!({"role": "assistant", "content": "Here you go: ", "images": images});
        exchange.response =
            json!({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]});
        let (mut play, server) = playing(ProviderKind::Openai, exchange).await;
        let log = play.log().await;
        let told = lines(&log).join("\n");
        let [notice] = &notices(&log)[..] else {
            panic!("{told}")
        };
        assert!(notice.contains(expected), "{notice}");
        assert_eq!(answers(&log), ["Here you go: "], "{told}");
        next_turn(&mut play, &log).await;
        let sent = server.requests().pop().unwrap();
        assert_eq!(
            sent["messages"][1],
            json!({"role": "assistant", "content": "Here you go: "})
        );
    }
}

/// Only the latest pictures are given back: each request would carry all of them.
#[tokio::test]
async fn older_pictures_are_links() {
    let (mut play, server) = playing(ProviderKind::Gemini, exchange("gemini_story")).await;
    let log = play.log().await;
    let (said, asked) = (messages_of(&log), Message::text(Role::User, "Another one."));
    let turn = [asked].into_iter().chain(said);
    play.said_before = std::iter::repeat_n(turn, 12).flatten().collect();
    play.log().await;
    let sent = server.requests().pop().unwrap().to_string();
    assert_eq!(
        (sent.matches(PNG).count(), sent.matches(LINK).count()),
        (8, 4)
    );
}
