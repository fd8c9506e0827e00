//! `/v1/embeddings` and documents with models whose servers have other formats than OpenAI's.

use axum::{Json, Router, body::Bytes, extract::Request};
use http_body_util::BodyExt;
use serde_json::{Value, json};

use crate::{
    harness::{Server, serve_other},
    openai::assert_error,
};

const EMBEDDINGS: &str = "/v1/embeddings";

/// A vector that tells which text it is of.
fn vector(text: &Value) -> Value {
    json!([text.as_str().unwrap().len(), 0.5])
}

/// What a server of this kind answers to a call.
fn answer(path: &str, body: &Value) -> Value {
    let list = |name: &str| body[name].as_array().unwrap().clone();
    if path.ends_with(":batchEmbedContents") {
        let texts = list("requests")
            .into_iter()
            .map(|it| it["content"]["parts"][0]["text"].clone());
        let all: Vec<Value> = texts.map(|text| json!({"values": vector(&text)})).collect();
        return json!({"embeddings": all, "usageMetadata": {"promptTokenCount": 7}});
    }
    if path.ends_with(":predict") {
        let one = |it: Value| {
            let statistics = json!({"truncated": false, "token_count": 3});
            json!({"embeddings": {"values": vector(&it["content"]), "statistics": statistics}})
        };
        return json!({"predictions": list("instances").into_iter().map(one).collect::<Vec<_>>()});
    }
    if path.contains("titan-embed") {
        return json!({"embedding": vector(&body["inputText"]), "inputTextTokenCount": 2});
    }
    if path.contains("cohere.embed") {
        let all: Vec<Value> = list("texts").iter().map(vector).collect();
        return json!({"embeddings": {"float": all}, "response_type": "embeddings_by_type"});
    }
    if path.ends_with("/inference-profiles") {
        let profile = |id: &str| json!({"inferenceProfileId": id, "status": "ACTIVE"});
        let profiles = ["us.cohere.embed-v4:0", "us.amazon.nova-pro-v1:0"];
        return json!({"inferenceProfileSummaries": profiles.map(profile)});
    }
    if path.ends_with("/foundation-models") {
        let titan =
            json!({"modelId": "amazon.titan-embed-text-v2:0", "outputModalities": ["EMBEDDING"]});
        return json!({"modelSummaries": [titan]});
    }
    if path.ends_with("/publishers/google/models") {
        return json!({"publisherModels": [{"name": "publishers/google/models/text-embedding-005"}]});
    }
    let methods = json!(["embedContent"]);
    let gemini =
        json!({"name": "models/gemini-embedding-001", "supportedGenerationMethods": methods});
    json!({"models": [gemini], "data": [{"id": "claude-x", "type": "model"}], "has_more": false})
}

/// A server with a model server of this kind connected.
async fn open(kind: &str, settings: Value) -> (Server, String, tokio_util::sync::DropGuard) {
    let routes = Router::new().fallback(async |request: Request| {
        let path = request.uri().path().replace("%3A", ":");
        let body: Bytes = request.into_body().collect().await.unwrap().to_bytes();
        Json(answer(
            &path,
            &serde_json::from_slice(&body).unwrap_or_default(),
        ))
    });
    let (address, guard) = serve_other(routes).await;
    let (server, cookie) = Server::start_signed_in().await;
    let base_url = format!("http://{address}");
    let body = json!({"name": "E", "kind": kind, "base_url": base_url, "api_key": "k", "settings": settings});
    server
        .post("/api/v1/connections", &cookie, &body)
        .await
        .expect(200);
    (server, cookie, guard)
}

#[tokio::test]
async fn models_of_every_kind_make_vectors_in_openai_form() {
    let vertex = json!({"project": "p", "location": "europe-west4"});
    let bedrock = json!({"region": "us-east-1"});
    for (kind, settings, model, tokens) in [
        ("gemini", json!({}), "gemini-embedding-001", Some(7)),
        ("vertex", vertex, "text-embedding-005", Some(6)),
        (
            "bedrock",
            bedrock.clone(),
            "amazon.titan-embed-text-v2:0",
            Some(4),
        ),
        ("bedrock", bedrock, "us.cohere.embed-v4:0", None),
    ] {
        let (server, cookie, _guard) = open(kind, settings).await;
        let body = json!({"model": model, "input": ["a", "four"]});
        let answer = server.post(EMBEDDINGS, &cookie, &body).await;
        answer.expect(200);
        let answer = answer.json();
        let vectors: Vec<&Value> = answer["data"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| &one["embedding"])
            .collect();
        assert_eq!(
            vectors,
            [&json!([1.0, 0.5]), &json!([4.0, 0.5])],
            "{model}: in the order of the texts"
        );
        match tokens {
            Some(tokens) => assert_eq!(answer["usage"]["prompt_tokens"], tokens, "{model}"),
            None => assert_eq!(answer["usage"]["estimated"], true, "{model}"),
        }
        let packed = json!({"model": model, "input": "a", "encoding_format": "base64"});
        let packed = server.post(EMBEDDINGS, &cookie, &packed).await.json();
        assert_eq!(packed["data"][0]["embedding"], "AACAPwAAAD8=", "{model}");
        // Documents are embedded by the same way.
        let tried = server
            .post("/api/v1/embedding/test", &cookie, &json!({"model": model}))
            .await;
        tried.expect(200);
        assert_eq!(tried.json()["dimensions"], 2, "{model}: {}", tried.text);
    }
}

#[tokio::test]
async fn a_model_without_embeddings_says_so() {
    for (kind, settings, model) in [
        ("anthropic", json!({}), "claude-x"),
        (
            "bedrock",
            json!({"region": "us-east-1"}),
            "us.amazon.nova-pro-v1:0",
        ),
    ] {
        let (server, cookie, _guard) = open(kind, settings).await;
        let refused = server
            .post(EMBEDDINGS, &cookie, &json!({"model": model, "input": "a"}))
            .await;
        assert_error(&refused, 400, "invalid_request", Some("model"));
        assert!(
            refused.text.contains("cannot create embeddings"),
            "{}",
            refused.text
        );
        let refused = server
            .post("/api/v1/embedding/test", &cookie, &json!({"model": model}))
            .await;
        assert!(
            refused.text.contains("cannot create embeddings"),
            "{}",
            refused.text
        );
    }
    let (server, cookie, _guard) = open("gemini", json!({})).await;
    let tokens = json!({"model": "gemini-embedding-001", "input": [1, 2]});
    let refused = server.post(EMBEDDINGS, &cookie, &tokens).await;
    assert_error(&refused, 400, "invalid_request", Some("input"));
}
