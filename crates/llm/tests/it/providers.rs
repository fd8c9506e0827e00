//! Behaviour common to servers of every kind: model lists, refused keys, and retry delays.

use std::{sync::Arc, time::Duration};

use domain::{ListedModel, ProblemCode};
use llm::{
    BaseUrl, ChatModel, HttpClient, OpenAiSettings, ProviderKind, ProviderOptions, Secret,
    ToolMode,
    openai::{Pool, Server, ServerSettings, list_models},
};
use scripted::{
    Behaviour, Reply, ScriptedServer, ServerOptions,
    strict::{self, Rules},
};
use serde_json::{Value, json};

use crate::{assert_error, events, retries::waits};

/// All but Azure, which speaks as OpenAI does.
const KINDS: [(ProviderKind, Rules); 6] = [
    (ProviderKind::Openai, Rules::ReasoningContent),
    (ProviderKind::OpenaiResponses, Rules::Responses),
    (ProviderKind::Anthropic, Rules::Anthropic),
    (ProviderKind::Gemini, Rules::Gemini),
    (ProviderKind::Vertex, Rules::Vertex),
    (ProviderKind::Bedrock, Rules::Bedrock),
];

fn settings(kind: ProviderKind, server: &ScriptedServer) -> ServerSettings {
    let address = format!("http://{}", server.address());
    let key = match kind {
        ProviderKind::Vertex => strict::service_account(&address),
        ProviderKind::Bedrock => strict::ACCESS_KEY.to_owned(),
        _ => crate::KEY.to_owned(),
    };
    let options = ProviderOptions {
        region: Some("eu-central-1".to_owned()),
        project: Some("scripted".to_owned()),
        location: Some("europe-west4".to_owned()),
        ..ProviderOptions::default()
    };
    let base_url = BaseUrl::parse_of(kind, &address).unwrap();
    ServerSettings {
        kind,
        options,
        ..ServerSettings::alone(base_url, Some(Secret::new(key)))
    }
}

/// A list with one model in the provider's format, and the model as read.
fn list(kind: ProviderKind) -> (Value, ListedModel) {
    let named = ListedModel::named;
    match kind {
        ProviderKind::Anthropic => {
            let list = json!({"data": [{
                "type": "model", "id": "claude-opus-5", "display_name": "Claude Opus 5", "created_at": "2026-07-24T00:00:00Z",
                "max_input_tokens": 1_000_000, "max_tokens": 128_000,
                "capabilities": {"image_input": {"supported": true}, "pdf_input": {"supported": true}},
            }], "has_more": false});
            let mut model = named("claude-opus-5");
            model.display_name = Some("Claude Opus 5".to_owned());
            (model.context_tokens, model.max_output_tokens) = (Some(1_000_000), Some(128_000));
            model.abilities.vision = Some(true);
            model.abilities.pdf = Some(true);
            model.abilities.tools = Some(true);
            model.abilities.chat = Some(true);
            (list, model)
        }
        ProviderKind::Gemini | ProviderKind::Vertex => {
            let list = json!({"models": [{
                "name": "models/gemini-3-pro-preview", "displayName": "Gemini 3 Pro", "inputTokenLimit": 1_048_576,
                "outputTokenLimit": 65_536, "supportedGenerationMethods": ["generateContent"], "thinking": true,
            }]});
            let mut model = named("gemini-3-pro-preview");
            model.display_name = Some("Gemini 3 Pro".to_owned());
            (model.context_tokens, model.max_output_tokens) = (Some(1_048_576), Some(65_536));
            model.abilities.reasoning = Some(true);
            model.abilities.chat = Some(true);
            (list, model)
        }
        ProviderKind::Bedrock => {
            let profile = json!({
                "inferenceProfileId": "eu.amazon.nova-pro-v1:0", "inferenceProfileName": "EU Nova Pro", "status": "ACTIVE",
            });
            let mut model = named("eu.amazon.nova-pro-v1:0");
            model.display_name = Some("EU Nova Pro".to_owned());
            (json!({"inferenceProfileSummaries": [profile]}), model)
        }
        ProviderKind::Openai | ProviderKind::OpenaiResponses | ProviderKind::Azure => {
            let list = json!({"object": "list", "data": [{
                "id": "openai/gpt-5", "object": "model", "context_length": 400_000,
                "architecture": {"input_modalities": ["text", "image"], "output_modalities": ["text"]},
            }]});
            let mut model = named("openai/gpt-5");
            model.context_tokens = Some(400_000);
            model.abilities.vision = Some(true);
            model.abilities.audio = Some(false);
            model.abilities.pdf = Some(false);
            (list, model)
        }
    }
}

/// A refusal of the key in the provider's format.
fn refused_key(kind: ProviderKind) -> Reply {
    let refusal = |status, headers: &[(&str, &str)], body: Value| {
        Reply::status(status, headers, &body.to_string())
    };
    match kind {
        ProviderKind::Anthropic => {
            let error = json!({"type": "authentication_error", "message": "invalid x-api-key"});
            refusal(401, &[], json!({"type": "error", "error": error}))
        }
        ProviderKind::Gemini => {
            let details = json!([{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}]);
            let message = "API key not valid. Please pass a valid API key.";
            let error = json!({"code": 400, "message": message, "status": "INVALID_ARGUMENT", "details": details});
            refusal(400, &[], json!({ "error": error }))
        }
        ProviderKind::Vertex => {
            let message = "Request had invalid authentication credentials.";
            refusal(
                401,
                &[],
                json!({"error": {"code": 401, "message": message, "status": "UNAUTHENTICATED"}}),
            )
        }
        ProviderKind::Bedrock => refusal(
            403,
            &[("x-amzn-errortype", "UnrecognizedClientException")],
            json!({"message": "The security token included in the request is invalid."}),
        ),
        _ => refusal(
            401,
            &[],
            json!({"error": {"message": "Incorrect API key provided.", "type": "invalid_request_error", "code": "invalid_api_key"}}),
        ),
    }
}

async fn listing(models_reply: Reply) -> ScriptedServer {
    let options = ServerOptions {
        models_reply: Some(models_reply),
        tokens: Some(strict::tokens()),
        ..ServerOptions::default()
    };
    ScriptedServer::start_with(Behaviour::always(Reply::text("")), options)
        .await
        .unwrap()
}

#[tokio::test]
async fn each_kind_lists_models_and_reports_refused_keys() {
    let http = HttpClient::new().unwrap();
    let limit = Duration::from_secs(5);
    for (kind, _) in KINDS {
        let (written, expected) = list(kind);
        for (reply, works) in [(Reply::json(&written), true), (refused_key(kind), false)] {
            let server = listing(reply).await;
            let settings = settings(kind, &server);
            let listed = list_models(
                &settings,
                settings.keys.first().map(|(key, _)| key),
                &http,
                limit,
            )
            .await;
            match works {
                true => assert_eq!(listed, Ok(vec![expected.clone()]), "{kind:?}"),
                false => assert_error(&listed.unwrap_err(), ProblemCode::ModelUnauthorized, "key"),
            }
        }
    }
}

#[tokio::test]
async fn each_kind_is_retried_after_its_hint() {
    for (kind, rules) in KINDS {
        let Behaviour::Answer(strict) = strict::behaviour(rules, "ls", 1) else {
            panic!("it answers")
        };
        let busy = Behaviour::answer(move |request| {
            let is_first = request.number == 1 + usize::from(kind == ProviderKind::Vertex);
            if is_first {
                Reply::status(429, &[("retry-after", "0.05")], "{}")
            } else {
                strict(request)
            }
        });
        let options = ServerOptions {
            tokens: Some(strict::tokens()),
            ..ServerOptions::default()
        };
        let server = ScriptedServer::start_with(busy, options).await.unwrap();
        let pool = Arc::new(Pool::of_one(Server::new(
            settings(kind, &server),
            Arc::default(),
        )));
        // The default wait would be shorter.
        let retry_wait = Duration::from_millis(2);
        let settings = OpenAiSettings {
            retry_wait,
            ..OpenAiSettings::of_pool(pool, "m")
        };
        let model = ChatModel::openai(settings, &HttpClient::new().unwrap());
        let events = events(&model, ToolMode::Native).await;
        let waited: Vec<u64> = waits(&events)
            .into_iter()
            .map(|(_, wait_ms)| wait_ms)
            .collect();
        assert!(matches!(waited[..], [50..=60]), "{kind:?}: {waited:?}");
    }
}
