//! Discovers model servers on the usual local ports, so that a first connection needs no typing.

use std::{net::SocketAddr, time::Duration};

use futures_util::future::join_all;
use reqwest::Client;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Timeout of a probe; a server on this machine that takes longer is treated as absent.
const PATIENCE: Duration = Duration::from_millis(800);
/// A larger response is not a list of models.
const MAX_BYTES: usize = 1_000_000;

/// A port where a model server usually listens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Candidate {
    /// Its address.
    pub address: SocketAddr,
    /// The server that usually listens there.
    pub usually: ServerKind,
}

/// A program that serves models.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ServerKind {
    /// Ollama.
    Ollama,
    /// llama.cpp's server.
    #[serde(rename = "llama.cpp")]
    LlamaCpp,
    /// LM Studio.
    LmStudio,
    /// vLLM.
    Vllm,
    /// Another server with an OpenAI-compatible API.
    Unknown,
}

impl ServerKind {
    fn name(self) -> &'static str {
        match self {
            Self::Ollama => "Ollama",
            Self::LlamaCpp => "llama.cpp",
            Self::LmStudio => "LM Studio",
            Self::Vllm => "vLLM",
            Self::Unknown => "Model server",
        }
    }

    /// Recognizes a server by `owned_by` in its model list.
    fn from_owner(owner: &str) -> Option<Self> {
        match owner {
            // Ollama sends the model's namespace, which is `library` unless users created their own.
            "library" => Some(Self::Ollama),
            "llamacpp" => Some(Self::LlamaCpp),
            "organization_owner" => Some(Self::LmStudio),
            "vllm" => Some(Self::Vllm),
            _ => None,
        }
    }
}

/// A model server that answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "FoundServer")]
pub struct Found {
    /// The detected program.
    pub kind: ServerKind,
    /// A name for the connection.
    pub name: String,
    /// The URL to connect to.
    pub base_url: String,
    /// The models it offers.
    pub models: Vec<String>,
}

/// The usual ports, except those that this server listens on.
#[must_use]
pub fn usual_candidates(own: &[SocketAddr]) -> Vec<Candidate> {
    let usual = [
        (11434, ServerKind::Ollama),
        (8080, ServerKind::LlamaCpp),
        (1234, ServerKind::LmStudio),
        (8000, ServerKind::Vllm),
    ];
    usual
        .into_iter()
        .filter(|(port, _)| own.iter().all(|address| address.port() != *port))
        .map(|(port, usually)| Candidate {
            address: SocketAddr::from(([127, 0, 0, 1], port)),
            usually,
        })
        .collect()
}

/// Probes all candidates concurrently; takes a second at most.
///
/// # Errors
/// If the HTTP client cannot be created.
pub async fn discover(candidates: &[Candidate]) -> Result<Vec<Found>, reqwest::Error> {
    let client = Client::builder()
        .no_proxy()
        .tls_certs_only([])
        .redirect(reqwest::redirect::Policy::none())
        .timeout(PATIENCE)
        .build()?;
    let answers = join_all(
        candidates
            .iter()
            .map(|candidate| probe(&client, *candidate)),
    )
    .await;
    Ok(answers.into_iter().flatten().collect())
}

#[derive(Deserialize)]
struct ModelList {
    data: Vec<ListedModel>,
}

#[derive(Deserialize)]
struct ListedModel {
    id: String,
    #[serde(default)]
    owned_by: String,
}

async fn probe(client: &Client, candidate: Candidate) -> Option<Found> {
    let base_url = format!("http://{}/v1", candidate.address);
    let mut response = client.get(format!("{base_url}/models")).send().await.ok()?;
    if !response.status().is_success() {
        return None;
    }
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.ok()? {
        if body.len() + chunk.len() > MAX_BYTES {
            return None;
        }
        body.extend_from_slice(&chunk);
    }
    let list: ModelList = serde_json::from_slice(&body).ok()?;
    // Ollama with only custom models, or none, is recognized by its port alone.
    let kind = list
        .data
        .iter()
        .find_map(|model| ServerKind::from_owner(&model.owned_by));
    let nothing_said = list.data.iter().all(|model| model.owned_by.is_empty());
    let kind = match candidate.usually {
        usually @ ServerKind::Ollama => kind.unwrap_or(usually),
        usually if nothing_said => kind.unwrap_or(usually),
        _ => kind.unwrap_or(ServerKind::Unknown),
    };
    let models = list.data.into_iter().map(|model| model.id).collect();
    Some(Found {
        kind,
        name: kind.name().to_owned(),
        base_url,
        models,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn never_offers_ourselves() {
        let ports = |own: &str| -> Vec<u16> {
            usual_candidates(&[own.parse().unwrap()])
                .iter()
                .map(|c| c.address.port())
                .collect()
        };
        assert_eq!(ports("127.0.0.1:8000"), [11434, 8080, 1234]);
        assert_eq!(ports("127.0.0.1:9000"), [11434, 8080, 1234, 8000]);
    }

    #[test]
    fn kinds_have_the_documented_names() {
        for (kind, name) in [
            (ServerKind::Ollama, "ollama"),
            (ServerKind::LlamaCpp, "llama.cpp"),
            (ServerKind::LmStudio, "lm-studio"),
            (ServerKind::Vllm, "vllm"),
            (ServerKind::Unknown, "unknown"),
        ] {
            assert_eq!(serde_json::to_value(kind).unwrap(), name);
        }
    }
}
