//! Lists the models of a server.

use std::{sync::Arc, time::Duration};

use domain::ProblemCode;
use provider::openai::model_list;
use reqwest::Method;
use tokio::time::timeout;

use super::{ModelEndpoint, OpenAiSettings, Pool, Server, ServerSettings, Target, call, fault};
use crate::{HttpClient, ListedModel, ModelError, ProviderKind, Secret, messages, native};

/// Maximum size of a list.
const LIST_LIMIT_BYTES: usize = 8 << 20;

/// Lists a server's models with this key instead of its own; also tests whether URL and key are right.
///
/// # Errors
/// A sentence for the person who typed the URL.
pub async fn list_models(
    settings: &ServerSettings,
    api_key: Option<&Secret>,
    http: &HttpClient,
    time_limit: Duration,
) -> Result<Vec<ListedModel>, ModelError> {
    let keys = api_key.into_iter().map(|key| (key.clone(), 1)).collect();
    let server = Server::new(
        ServerSettings {
            keys,
            ..settings.clone()
        },
        Arc::default(),
    );
    let settings = OpenAiSettings::of_pool(Arc::new(Pool::of_one(server)), "");
    let list = |call| ModelEndpoint::new(settings.clone(), http, call).any();
    let target = list("models");
    let lists = async {
        match target.server.settings.kind {
            ProviderKind::Bedrock => {
                let second = list(native::FOUNDATION_MODELS);
                let (models, more) = futures_util::join!(fetch(&target), fetch(&second));
                merge_lists(models, more)
            }
            _ => fetch(&target).await,
        }
    };
    match timeout(time_limit, lists).await {
        Ok(answer) => answer,
        Err(_) => {
            let server = target.shown();
            let seconds = time_limit.as_secs_f32().to_string();
            Err(ModelError::new(
                ProblemCode::ModelTimeout,
                messages::Models::NoAnswerWithin { server, seconds },
            ))
        }
    }
}

/// If only one of two lists is accessible, that one is used.
fn merge_lists(
    models: Result<Vec<ListedModel>, ModelError>,
    more: Result<Vec<ListedModel>, ModelError>,
) -> Result<Vec<ListedModel>, ModelError> {
    match (models, more) {
        (Ok(mut models), Ok(more)) => {
            let new: Vec<_> = more
                .into_iter()
                .filter(|it| models.iter().all(|known| known.id != it.id))
                .collect();
            models.extend(new);
            Ok(models)
        }
        (Ok(models), Err(error)) | (Err(error), Ok(models)) => {
            tracing::debug!(%error, "failed to read one of two model lists");
            Ok(models)
        }
        (Err(error), Err(_)) => Err(error),
    }
}

async fn fetch(target: &Target) -> Result<Vec<ListedModel>, ModelError> {
    let request = target.request(Method::GET).map_err(|fault| fault.error)?;
    let request = target
        .authorize(request)
        .await
        .map_err(|fault| fault.error)?;
    let mut response = call::check(request.send().await, target)
        .await
        .map_err(|fault| fault.error)?;
    let mut body = Vec::new();
    while let Some(bytes) = response
        .chunk()
        .await
        .map_err(|error| fault::from_transport(&error, target).error)?
    {
        body.extend_from_slice(&bytes);
        if body.len() > LIST_LIMIT_BYTES {
            return Err(not_a_list(target));
        }
    }
    let text = String::from_utf8_lossy(&body);
    let text = text.trim_start_matches('\u{FEFF}');
    if fault::is_web_page(text) {
        return Err(fault::web_page(target).error);
    }
    let kind = target.server.settings.kind;
    native::listed(kind, text)
        .or_else(|| model_list::decode(text))
        .ok_or_else(|| not_a_list(target))
}

fn not_a_list(target: &Target) -> ModelError {
    let server = target.shown();
    ModelError::new(
        ProblemCode::ModelProtocol,
        messages::Models::NoModelList { server },
    )
}
