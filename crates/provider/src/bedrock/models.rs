//! The lists of models: `GET /foundation-models` and `GET /inference-profiles` of Bedrock's control plane.

use serde_json::Value;

/// A model that can be called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedModel {
    /// The model id.
    pub id: String,
    /// The display name.
    pub display_name: Option<String>,
    /// Whether it takes pictures; `None` if the list does not say.
    pub images: Option<bool>,
}

/// Reads a list. `None` if it is no list. Models without text output or embeddings, retired ones, and those only
/// available through an inference profile are left out.
#[must_use]
pub fn decode_models(body: &str) -> Option<Vec<ListedModel>> {
    let value: Value = serde_json::from_str(body).ok()?;
    match (
        value["modelSummaries"].as_array(),
        value["inferenceProfileSummaries"].as_array(),
    ) {
        (Some(models), _) => Some(
            models
                .iter()
                .filter(|it| is_usable(it))
                .filter_map(model)
                .collect(),
        ),
        (None, Some(profiles)) => Some(
            profiles
                .iter()
                .filter(|it| it["status"] == "ACTIVE")
                .filter_map(profile)
                .collect(),
        ),
        (None, None) => None,
    }
}

fn has(list: &Value, word: &str) -> bool {
    list.as_array()
        .is_some_and(|list| list.iter().any(|it| it == word))
}

fn is_usable(model: &Value) -> bool {
    let by_name = model["inferenceTypesSupported"].is_null()
        || has(&model["inferenceTypesSupported"], "ON_DEMAND");
    let outputs = &model["outputModalities"];
    (has(outputs, "TEXT") || has(outputs, "EMBEDDING"))
        && by_name
        && model["modelLifecycle"]["status"] != "LEGACY"
}

fn model(model: &Value) -> Option<ListedModel> {
    Some(ListedModel {
        id: model["modelId"].as_str()?.to_owned(),
        display_name: model["modelName"].as_str().map(str::to_owned),
        images: model["inputModalities"]
            .is_array()
            .then(|| has(&model["inputModalities"], "IMAGE")),
    })
}

fn profile(profile: &Value) -> Option<ListedModel> {
    Some(ListedModel {
        id: profile["inferenceProfileId"].as_str()?.to_owned(),
        display_name: profile["inferenceProfileName"].as_str().map(str::to_owned),
        images: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn callable_models_are_listed() {
        let list = r#"{"modelSummaries":[
            {"modelId":"amazon.nova-pro-v1:0","modelName":"Nova Pro","inputModalities":["TEXT","IMAGE"],"outputModalities":["TEXT"],
             "inferenceTypesSupported":["ON_DEMAND","INFERENCE_PROFILE"],"modelLifecycle":{"status":"ACTIVE"}},
            {"modelId":"anthropic.claude-opus-5","outputModalities":["TEXT"],"inferenceTypesSupported":["INFERENCE_PROFILE"]},
            {"modelId":"amazon.titan-embed-text-v2:0","modelName":"Titan","outputModalities":["EMBEDDING"]},
            {"modelId":"amazon.nova-canvas-v1:0","outputModalities":["IMAGE"]},
            {"modelId":"old","outputModalities":["TEXT"],"modelLifecycle":{"status":"LEGACY"}}]}"#;
        let named = |id: &str, name: &str, images| ListedModel {
            id: id.to_owned(),
            display_name: Some(name.to_owned()),
            images,
        };
        let models = vec![
            named("amazon.nova-pro-v1:0", "Nova Pro", Some(true)),
            named("amazon.titan-embed-text-v2:0", "Titan", None),
        ];
        assert_eq!(decode_models(list), Some(models));
        let profiles = r#"{"inferenceProfileSummaries":[
            {"inferenceProfileId":"us.anthropic.claude-opus-5","inferenceProfileName":"US Claude Opus 5","status":"ACTIVE"},{}]}"#;
        let opus = named("us.anthropic.claude-opus-5", "US Claude Opus 5", None);
        assert_eq!(decode_models(profiles), Some(vec![opus]));
        assert_eq!(decode_models("{}"), None);
    }
}
