//! Recorded answers with citations and tools of the provider, played to whole runs.

use std::path::Path;

use agent::history::messages_of;
use domain::{
    EventBody, Role, RunEvent,
    event::{CitedPlace, Source},
};
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

/// The log of a run whose model answers with the first exchange of a recording.
async fn played(kind: ProviderKind, recording: &str) -> Vec<RunEvent> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../provider/tests/recordings");
    let mut recording = Recording::read(&folder.join(recording).with_extension("json")).unwrap();
    recording.0.truncate(1);
    log_of(kind, &recording).await
}

async fn log_of(kind: ProviderKind, recording: &Recording) -> Vec<RunEvent> {
    let options = ServerOptions {
        tokens: Some(strict::tokens()),
        ..ServerOptions::default()
    };
    let server = ScriptedServer::start_with(recording.behaviour(Pieces::Bytes(61)), options)
        .await
        .unwrap();
    let play = Play::with_model(model(kind, &server, &model_name(&recording.0[0]))).await;
    play.log().await
}

/// The answer, its item, and the sources that were told before it ended.
fn answer(log: &[RunEvent]) -> (String, String, Vec<Source>) {
    let mut sources = Vec::new();
    for event in log {
        match &event.body {
            EventBody::SourcesFound { sources: found } => sources.extend(found.iter().cloned()),
            EventBody::TextFinished {
                item,
                text,
                answer: true,
                ..
            } => {
                return (item.clone(), text.clone(), sources);
            }
            _ => {}
        }
    }
    panic!("no answer:\n{}", lines(log).join("\n"));
}

/// The words of the answer that rest on each source.
fn cited(log: &[RunEvent]) -> Vec<(String, String, Vec<String>)> {
    let (answered, text, sources) = answer(log);
    let words = |CitedPlace {
                     item, start, end, ..
                 }: &CitedPlace| {
        assert_eq!(*item, answered);
        let (start, end) = (
            usize::try_from(*start).unwrap(),
            usize::try_from(*end).unwrap(),
        );
        text.chars().skip(start).take(end - start).collect()
    };
    let short = |text: &str| text.chars().take(28).collect();
    let line = |source: &Source| {
        (
            source.id.clone(),
            short(&source.url),
            source.cited.iter().map(words).collect::<Vec<String>>(),
        )
    };
    sources.iter().map(line).collect()
}

fn line(id: &str, url: &str, words: &[&str]) -> (String, String, Vec<String>) {
    (
        id.to_owned(),
        url.to_owned(),
        words.iter().map(|words| (*words).to_owned()).collect(),
    )
}

#[tokio::test]
async fn citations_of_providers_are_sources_of_the_run() {
    let log = played(ProviderKind::Anthropic, "anthropic/web_search_stream").await;
    let found = cited(&log);
    assert_eq!(found.len(), 4, "{found:?}");
    let first = line(
        "1",
        "https://www.accuweather.com/",
        &["today (September 16) shows a high of 76°F and low of 59°F"],
    );
    assert_eq!(found[0], first);
    assert!(
        answer(&log).2[0]
            .quote
            .as_ref()
            .unwrap()
            .starts_with("San Francisco, CA Weather Today")
    );
    assert_eq!(found[2].2.len(), 2, "it is cited at two places");

    let log = played(
        ProviderKind::OpenaiResponses,
        "citations/responses_web_search_stream",
    )
    .await;
    let link =
        "([britannica.com](https://www.britannica.com/place/Mount-Columbia?utm_source=openai))";
    assert_eq!(
        cited(&log),
        [line("1", "https://www.britannica.com/p", &[link])]
    );

    let log = played(ProviderKind::Gemini, "citations/gemini_web_search_stream").await;
    let found = cited(&log);
    assert!(
        found.iter().any(|(.., words)| words
            .contains(&"There is a very low chance of rain throughout the day.".to_owned())),
        "{found:?}"
    );
    assert!(
        answer(&log).1.starts_with("### Weather in San Francisco"),
        "the metadata behind it ends no text"
    );

    let log = played(ProviderKind::Openai, "citations/chat_openrouter_web_search").await;
    let found = cited(&log);
    assert!(
        !found.is_empty() && found.iter().all(|(_, url, _)| url.starts_with("https://")),
        "{found:?}"
    );
}

/// A whole answer of Chat Completions with further fields.
async fn chat(text: &str, message: Value, top_level: Value) -> Vec<RunEvent> {
    let mut answer = json!({
        "id": "1", "object": "chat.completion", "model": "sonar",
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}],
    });
    for (into, fields) in [("/choices/0/message", message), ("", top_level)] {
        let place = answer
            .pointer_mut(into)
            .and_then(Value::as_object_mut)
            .unwrap();
        place.extend(fields.as_object().unwrap().clone());
    }
    let request = json!({"model": "sonar"});
    let exchange = Exchange {
        path: String::new(),
        request,
        status: 200,
        response: answer,
    };
    log_of(ProviderKind::Openai, &Recording(vec![exchange])).await
}

#[tokio::test]
async fn numbers_in_a_text_of_perplexity_are_those_of_its_sources() {
    let beside = json!({
        "citations": ["https://a.org/", "https://b.org/"],
        "search_results": [{"title": "B", "url": "https://b.org/", "snippet": "So."}],
    });
    let log = chat("It is so [2].", json!({}), beside).await;
    let (_, text, sources) = answer(&log);
    assert_eq!(text, "It is so [2].");
    let of = |source: &Source| {
        (
            source.id.clone(),
            source.title.clone(),
            source.quote.clone(),
        )
    };
    assert_eq!(
        sources.iter().map(of).collect::<Vec<_>>(),
        [
            ("1".to_owned(), "https://a.org/".to_owned(), None),
            ("2".to_owned(), "B".to_owned(), Some("So.".to_owned())),
        ]
    );
}

/// The tools that the provider has run: name, arguments, result, and whether it failed.
fn server_tools(log: &[RunEvent]) -> Vec<(String, Value, String, bool)> {
    let by_provider = |call: &str| {
        log.iter().any(
            |event| matches!(&event.body, EventBody::ToolRequested { call: of, by_provider: true, .. } if of == call),
        )
    };
    let finished = log.iter().filter_map(|event| match &event.body {
        EventBody::ToolFinished {
            call,
            name,
            arguments,
            result,
            error,
            ..
        } if by_provider(call) => Some((name.clone(), arguments.clone(), result.clone(), *error)),
        _ => None,
    });
    finished.collect()
}

#[tokio::test]
async fn tools_of_the_provider_are_shown_and_not_run() {
    let log = played(ProviderKind::Anthropic, "anthropic/web_search_stream").await;
    let tools = server_tools(&log);
    assert_eq!(
        (tools.len(), &*tools[0].0, tools[0].3),
        (2, "web_search", false),
        "{tools:#?}"
    );
    assert!(
        tools[0].1["query"]
            .as_str()
            .unwrap()
            .contains("San Francisco"),
        "{tools:#?}"
    );
    assert!(tools[0].2.contains(" — https://"), "{tools:#?}");
    assert!(!tools[0].2.contains("encrypted"), "{tools:#?}");
    let said = messages_of(&log);
    assert!(
        said.iter()
            .all(|message| message.tool_calls.is_empty() && message.role != Role::Tool),
        "{said:#?}"
    );

    let tools =
        server_tools(&played(ProviderKind::Anthropic, "anthropic/code_execution_stream").await);
    assert!(
        !tools.is_empty() && tools.iter().all(|(.., result, _)| !result.is_empty()),
        "{tools:#?}"
    );

    let log = played(
        ProviderKind::OpenaiResponses,
        "openai_responses/code_interpreter_stream",
    )
    .await;
    let tools = server_tools(&log);
    assert!(
        tools.iter().any(|(name, ..)| name == "code_interpreter"),
        "{tools:#?}"
    );
    assert!(
        tools.iter().any(|(_, input, ..)| input["code"].is_string()),
        "{tools:#?}"
    );

    let log = played(ProviderKind::Gemini, "gemini/code_execution").await;
    let tools = server_tools(&log);
    assert_eq!(tools[0].0, "code_execution");
    assert!(
        tools[0].1["code"].is_string() && !tools[0].2.is_empty(),
        "{tools:#?}"
    );

    let tools = server_tools(&played(ProviderKind::Bedrock, "bedrock/code_interpreter").await);
    assert!(
        !tools.is_empty() && tools.iter().all(|(.., result, _)| !result.is_empty()),
        "{tools:#?}"
    );
}

#[tokio::test]
async fn a_server_that_is_killed_while_the_provider_works_asks_again() {
    let kind = ProviderKind::Anthropic;
    let log = played(kind, "anthropic/web_search_stream").await;
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../provider/tests/recordings");
    let mut recording = Recording::read(&folder.join("anthropic/web_search_stream.json")).unwrap();
    recording.0.truncate(1);
    let is_tool = |event: &RunEvent| {
        matches!(
            event.body,
            EventBody::ToolRequested { .. }
                | EventBody::ToolStarted { .. }
                | EventBody::ToolFinished { .. }
        )
    };
    for kept in log
        .iter()
        .enumerate()
        .filter(|(_, event)| is_tool(event))
        .map(|(at, _)| at + 1)
    {
        let server = ScriptedServer::start_with(
            recording.behaviour(Pieces::Whole),
            ServerOptions::default(),
        )
        .await
        .unwrap();
        let mut play = Play::with_model(model(kind, &server, &model_name(&recording.0[0]))).await;
        play.before = log[..kept].to_vec();
        let whole = play.log().await;
        assert_eq!(
            answer(&whole).1,
            answer(&log).1,
            "{kept}: {:#?}",
            lines(&whole)
        );
    }
}
