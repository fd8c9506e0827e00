//! The list of models, `GET /v1/models`.

use serde_json::Value;

use super::usage::count;

/// One page of the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelPage {
    /// The models, newest first.
    pub models: Vec<ListedModel>,
    /// The `after_id` of the next page, if there is one.
    pub next: Option<String>,
}

/// A model with its listed properties; `None` if unspecified.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ListedModel {
    /// The model id.
    pub id: String,
    /// The display name.
    pub display_name: Option<String>,
    /// The context window, tokens.
    pub context_window: Option<u64>,
    /// Maximum output tokens.
    pub max_output_tokens: Option<u64>,
    /// Whether it takes pictures.
    pub images: Option<bool>,
    /// Whether it takes PDF files.
    pub documents: Option<bool>,
    /// Whether it can think before it answers.
    pub reasoning: Option<bool>,
    /// Whether it supports structured output.
    pub structured_output: Option<bool>,
}

/// Reads a page of the list. `None` if it is no list. Retired models are left out.
#[must_use]
pub fn decode_models(body: &str) -> Option<ModelPage> {
    let value: Value = serde_json::from_str(body).ok()?;
    let list = value.get("data")?.as_array()?;
    let models = list
        .iter()
        .filter(|model| model["lifecycle"] != "retired")
        .filter_map(model)
        .collect();
    let next = value["has_more"]
        .as_bool()
        .unwrap_or(false)
        .then(|| value["last_id"].as_str())
        .flatten();
    Some(ModelPage {
        models,
        next: next.map(str::to_owned),
    })
}

fn model(value: &Value) -> Option<ListedModel> {
    let text = |field: &str| {
        value[field]
            .as_str()
            .filter(|text| !text.is_empty())
            .map(str::to_owned)
    };
    let can = |ability: &str| value["capabilities"][ability]["supported"].as_bool();
    Some(ListedModel {
        id: text("id")?,
        display_name: text("display_name"),
        context_window: count(&value["max_input_tokens"]).filter(|tokens| *tokens > 0),
        max_output_tokens: count(&value["max_tokens"]).filter(|tokens| *tokens > 0),
        images: can("image_input"),
        documents: can("pdf_input"),
        reasoning: can("thinking"),
        structured_output: can("structured_outputs"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listed_capabilities_are_read() {
        let body = r#"{"data":[
            {"type":"model","id":"claude-opus-5","display_name":"Claude Opus 5","created_at":"2026-05-01T00:00:00Z","lifecycle":"active",
             "max_input_tokens":1000000,"max_tokens":128000,"capabilities":{"image_input":{"supported":true},"pdf_input":{"supported":true},
             "structured_outputs":{"supported":true},"thinking":{"supported":true,"types":{"adaptive":{"supported":true}}}}},
            {"type":"model","id":"claude-3-opus-20240229","display_name":"Claude Opus 3","lifecycle":"retired"},
            {"type":"model","id":"claude-sonnet-4-5","display_name":"","created_at":"2025-09-29T00:00:00Z"},
            {"type":"model"}],
            "has_more":true,"first_id":"claude-opus-5","last_id":"claude-sonnet-4-5"}"#;
        let opus = ListedModel {
            id: "claude-opus-5".to_owned(),
            display_name: Some("Claude Opus 5".to_owned()),
            context_window: Some(1_000_000),
            max_output_tokens: Some(128_000),
            images: Some(true),
            documents: Some(true),
            reasoning: Some(true),
            structured_output: Some(true),
        };
        let sonnet = ListedModel {
            id: "claude-sonnet-4-5".to_owned(),
            ..ListedModel::default()
        };
        let page = ModelPage {
            models: vec![opus, sonnet],
            next: Some("claude-sonnet-4-5".to_owned()),
        };
        assert_eq!(decode_models(body), Some(page));
        assert_eq!(
            decode_models(r#"{"data":[],"has_more":false}"#),
            Some(ModelPage {
                models: vec![],
                next: None
            })
        );
        assert_eq!(decode_models("{}"), None);
    }
}
