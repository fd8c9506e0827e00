//! The models of the Gemini API and of Vertex AI.

use serde_json::Value;

/// A page of the list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ModelPage {
    /// Its models.
    pub models: Vec<ListedModel>,
    /// The `pageToken` of the next page.
    pub next: Option<String>,
}

/// A model with its listed properties.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ListedModel {
    /// The model name for calls.
    pub name: String,
    /// The display name.
    pub display_name: Option<String>,
    /// The context window, tokens.
    pub context_window: Option<u64>,
    /// Maximum output tokens.
    pub max_output_tokens: Option<u64>,
    /// Whether it generates answers; `None` if the list does not say.
    pub generates: Option<bool>,
    /// Whether it makes embeddings; `None` if the list does not say.
    pub embeds: Option<bool>,
    /// Whether it reasons; `None` if the list does not say.
    pub reasons: Option<bool>,
}

/// Reads a page of `GET models` or `GET publishers/google/models`. `None` if it is no list of models.
#[must_use]
pub fn models(body: &str) -> Option<ModelPage> {
    let page: Value = serde_json::from_str(body).ok()?;
    let list = page.get("models").or_else(|| page.get("publisherModels"));
    let models = match list {
        Some(list) => list.as_array()?.iter().filter_map(model).collect(),
        // A page may be empty.
        None if page.as_object()?.keys().all(|key| key == "nextPageToken") => Vec::new(),
        None => return None,
    };
    Some(ModelPage {
        models,
        next: text(&page, "nextPageToken"),
    })
}

fn model(model: &Value) -> Option<ListedModel> {
    let name = text(model, "name")?;
    let short = match name.split_once("publishers/google/models/") {
        Some((_, short)) => short,
        None => name.strip_prefix("models/").unwrap_or(&name),
    };
    let methods = model
        .get("supportedGenerationMethods")
        .and_then(Value::as_array);
    let can = |method: &str| methods.map(|methods| methods.iter().any(|it| it == method));
    let number = |name: &str| {
        model
            .get(name)
            .and_then(Value::as_u64)
            .filter(|number| *number > 0)
    };
    Some(ListedModel {
        display_name: text(model, "displayName"),
        context_window: number("inputTokenLimit"),
        max_output_tokens: number("outputTokenLimit"),
        generates: can("generateContent"),
        embeds: can("embedContent"),
        // Omitted if false.
        reasons: methods.map(|_| {
            model
                .get("thinking")
                .and_then(Value::as_bool)
                .unwrap_or(false)
        }),
        name: short.to_owned(),
    })
}

fn text(object: &Value, name: &str) -> Option<String> {
    object
        .get(name)?
        .as_str()
        .filter(|text| !text.is_empty())
        .map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_both_lists() {
        let page = r#"{"models":[
            {"name":"models/gemini-2.5-flash","version":"001","displayName":"Gemini 2.5 Flash","inputTokenLimit":1048576,
             "outputTokenLimit":65536,"supportedGenerationMethods":["generateContent","countTokens"],"thinking":true},
            {"name":"models/gemini-embedding-001","inputTokenLimit":2048,"outputTokenLimit":1,
             "supportedGenerationMethods":["embedContent"]},
            {"name":7},{}],"nextPageToken":"Ch4"}"#;
        let flash = ListedModel {
            name: "gemini-2.5-flash".to_owned(),
            display_name: Some("Gemini 2.5 Flash".to_owned()),
            context_window: Some(1_048_576),
            max_output_tokens: Some(65_536),
            generates: Some(true),
            embeds: Some(false),
            reasons: Some(true),
        };
        let embedding = ListedModel {
            name: "gemini-embedding-001".to_owned(),
            context_window: Some(2048),
            max_output_tokens: Some(1),
            generates: Some(false),
            embeds: Some(true),
            reasons: Some(false),
            ..ListedModel::default()
        };
        let expected = ModelPage {
            models: vec![flash, embedding],
            next: Some("Ch4".to_owned()),
        };
        assert_eq!(models(page), Some(expected));
        let vertex = r#"{"publisherModels":[{"name":"publishers/google/models/gemini-3-pro-preview","versionId":"x"}]}"#;
        let pro = ListedModel {
            name: "gemini-3-pro-preview".to_owned(),
            ..ListedModel::default()
        };
        assert_eq!(
            models(vertex),
            Some(ModelPage {
                models: vec![pro],
                next: None
            })
        );
        assert_eq!(models("{}"), Some(ModelPage::default()));
        for other in ["", "[]", "7", r#"{"data":[]}"#, r#"{"models":{}}"#] {
            assert_eq!(models(other), None, "{other}");
        }
    }
}
