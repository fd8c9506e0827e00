//! Model lists of OpenAI-compatible servers, with the limits and capabilities that some of them add.

mod capabilities;

use std::collections::HashSet;

use domain::ListedModel;
use serde_json::Value;

/// Pointers to the context window, the most specific first: the started configuration before the trained limit.
const CONTEXT: [&str; 13] = [
    // OpenRouter: of the first provider.
    "/top_provider/context_length",
    // vLLM and SGLang.
    "/max_model_len",
    // LM Studio: as loaded.
    "/loaded_context_length",
    // llama.cpp.
    "/meta/n_ctx",
    // OpenRouter, Together, Fireworks, Moonshot, Cohere.
    "/context_length",
    // Groq.
    "/context_window",
    // Mistral and LM Studio.
    "/max_context_length",
    // Anthropic and LiteLLM.
    "/max_input_tokens",
    // DeepInfra.
    "/metadata/context_length",
    // GitHub Models.
    "/limits/max_input_tokens",
    "/capabilities/limits/max_context_window_tokens",
    // Hugging Face's router.
    "/providers/0/context_length",
    // llama.cpp.
    "/meta/n_ctx_train",
];

/// Pointers to the maximum output.
const OUTPUT: [&str; 6] = [
    "/top_provider/max_completion_tokens",
    // Groq.
    "/max_completion_tokens",
    "/max_output_tokens",
    "/limits/max_output_tokens",
    "/capabilities/limits/max_output_tokens",
    "/metadata/max_tokens",
];

/// Reads OpenAI's `{"data":[{"id"}]}` and its variants, without duplicates. `None` if it is no list of models.
#[must_use]
pub fn decode(body: &str) -> Option<Vec<ListedModel>> {
    let body = body.trim_start_matches('\u{FEFF}');
    let value: Value = json_repair::parse(body).ok()?;
    let list = match value
        .get("data")
        .or_else(|| value.get("models"))
        .unwrap_or(&value)
    {
        // Ollama's empty list.
        Value::Null if value["object"] == "list" => return Some(Vec::new()),
        list => list.as_array()?,
    };
    let mut seen = HashSet::new();
    Some(
        list.iter()
            .filter_map(model)
            .filter(|model| seen.insert(model.id.clone()))
            .collect(),
    )
}

fn model(value: &Value) -> Option<ListedModel> {
    let text = |key: &str| value.get(key)?.as_str();
    let id = value
        .as_str()
        .or_else(|| ["id", "name", "model"].into_iter().find_map(text));
    let id = id.filter(|id| !id.is_empty() && !id.contains('\0'))?;
    let display_name = ["display_name", "name"].into_iter().find_map(text);
    Some(ListedModel {
        id: id.to_owned(),
        display_name: display_name
            .filter(|name| !name.is_empty() && *name != id)
            .map(str::to_owned),
        context_tokens: first_count(value, &CONTEXT),
        max_output_tokens: first_count(value, &OUTPUT),
        abilities: capabilities::read(value),
    })
}

/// Zero means unknown.
fn first_count(value: &Value, places: &[&str]) -> Option<u64> {
    let count = |place: &&str| value.pointer(place)?.as_u64().filter(|count| *count > 0);
    places.iter().find_map(count)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(body: &str) -> Option<Vec<String>> {
        decode(body).map(|models| models.into_iter().map(|model| model.id).collect())
    }

    #[test]
    fn reads_every_kind_of_list() {
        for body in [
            r#"{"object":"list","data":[{"id":"a"},{"id":"b","object":"model"}]}"#,
            r#"{"models":[{"name":"a"},{"model":"b"}]}"#,
            r#"[{"id":"a"},"b",{"id":""},7]"#,
            r#"{"data":[{"id":"a"},{"id":null},{"id":5},{"id":"b"},{"id":"a"}]}"#,
            "\u{FEFF}{\"data\":[{\"id\":\"a\"},{\"id\":\"b\"}]}",
        ] {
            assert_eq!(
                ids(body),
                Some(vec!["a".to_owned(), "b".to_owned()]),
                "{body}"
            );
        }
        for empty in [
            r#"{"data":[]}"#,
            r#"{"object":"list","data":null}"#,
            r#"{"data":["a\u0000b"]}"#,
        ] {
            assert_eq!(ids(empty), Some(vec![]), "{empty}");
        }
        for body in [
            "",
            "{}",
            "Ollama is running",
            r#"{"data":{}}"#,
            r#"{"data":null}"#,
        ] {
            assert_eq!(ids(body), None, "{body}");
        }
    }

    #[test]
    fn half_a_surrogate_pair_costs_one_character() {
        for (id, read) in [
            (r"a\ud83d", "a\u{FFFD}"),
            (r"\ude80a", "\u{FFFD}a"),
            (r"\ud83d\ud83d\ude80", "\u{FFFD}🚀"),
            (r"\\ud83d\ud83d", "\\ud83d\u{FFFD}"),
            (r"é\ud83d\u00e9\t", "é\u{FFFD}é\t"),
        ] {
            assert_eq!(
                ids(&format!(r#"["{id}"]"#)),
                Some(vec![read.to_owned()]),
                "{id}"
            );
        }
    }

    #[test]
    fn reads_whether_a_model_answers_in_chats() {
        for (entry, expected) in [
            // Together.
            (r#""type":"chat""#, Some(true)),
            (r#""type":"image""#, Some(false)),
            // LM Studio.
            (r#""type":"embeddings","state":"not-loaded""#, Some(false)),
            // LiteLLM.
            (r#""mode":"responses""#, Some(true)),
            (r#""mode":"audio_transcription""#, Some(false)),
            // Azure.
            (
                r#""capabilities":{"fine_tune":false,"inference":true,"completion":false,"chat_completion":false,"embeddings":true}"#,
                Some(false),
            ),
            // Mistral.
            (
                r#""type":"base","capabilities":{"completion_chat":false,"vision":false}"#,
                Some(false),
            ),
            // Ollama.
            (r#""capabilities":["embedding"]"#, Some(false)),
            (r#""capabilities":["completion","tools"]"#, Some(true)),
            // Cohere.
            (r#""endpoints":["embed","classify"]"#, Some(false)),
            (r#""endpoints":["generate","chat","summarize"]"#, Some(true)),
            // OpenRouter.
            (
                r#""architecture":{"output_modalities":["embeddings"]}"#,
                Some(false),
            ),
            (
                r#""architecture":{"output_modalities":["image","text"]}"#,
                None,
            ),
            (r#""owned_by":"vllm""#, None),
            (
                r#""type":7,"mode":null,"endpoints":[],"capabilities":{"chat_completion":"yes"}"#,
                None,
            ),
        ] {
            let models = decode(&format!(r#"[{{"id":"m",{entry}}}]"#)).unwrap();
            assert_eq!(models[0].abilities.chat, expected, "{entry}");
        }
    }

    #[test]
    fn reads_limits_and_abilities() {
        let check = |body: &str, expected: &str| {
            let models = decode(body).unwrap();
            let expected: serde_json::Value = serde_json::from_str(expected).unwrap();
            assert_eq!(
                serde_json::to_value(&models[0]).unwrap(),
                expected,
                "{body}"
            );
        };
        // vLLM.
        check(
            r#"{"object":"list","data":[{"id":"Qwen/Qwen3-8B","object":"model","created":1756000000,"owned_by":"vllm",
                "root":"Qwen/Qwen3-8B","parent":null,"max_model_len":40960,"permission":[]}]}"#,
            r#"{"id":"Qwen/Qwen3-8B","context_tokens":40960}"#,
        );
        // OpenRouter.
        check(
            r#"{"data":[{"id":"anthropic/claude-sonnet-4.5","name":"Anthropic: Claude Sonnet 4.5","context_length":1000000,
                "architecture":{"modality":"text+image+file->text","input_modalities":["text","image","file"],
                "output_modalities":["text"]},"top_provider":{"context_length":1000000,"max_completion_tokens":64000},
                "supported_parameters":["include_reasoning","max_tokens","reasoning","response_format",
                "structured_outputs","temperature","tool_choice","tools","top_p"]}]}"#,
            r#"{"id":"anthropic/claude-sonnet-4.5","display_name":"Anthropic: Claude Sonnet 4.5","context_tokens":1000000,
                "max_output_tokens":64000,"abilities":{"vision":true,"audio":false,"pdf":true,"tools":true,
                "structured_output":true,"reasoning":true,"unsupported_parameters":["stop","seed"]}}"#,
        );
        // Mistral.
        check(
            r#"{"object":"list","data":[{"id":"mistral-medium-2508","object":"model","owned_by":"mistralai","capabilities":
                {"completion_chat":true,"function_calling":true,"completion_fim":false,"fine_tuning":false,"vision":true,
                "ocr":false,"classification":false,"audio":false},"name":"mistral-medium-2508",
                "max_context_length":131072,"type":"base"}]}"#,
            r#"{"id":"mistral-medium-2508","context_tokens":131072,
                "abilities":{"chat":true,"vision":true,"audio":false,"tools":true}}"#,
        );
        // Groq.
        check(
            r#"{"object":"list","data":[{"id":"llama-3.3-70b-versatile","object":"model","owned_by":"Meta","active":true,
                "context_window":131072,"public_apps":null,"max_completion_tokens":32768}]}"#,
            r#"{"id":"llama-3.3-70b-versatile","context_tokens":131072,"max_output_tokens":32768}"#,
        );
        // LM Studio's own list.
        check(
            r#"{"data":[{"id":"qwen2-vl-7b-instruct","object":"model","type":"vlm","publisher":"mlx-community",
                "state":"loaded","max_context_length":32768,"loaded_context_length":4096,"capabilities":["tool_use"]}]}"#,
            r#"{"id":"qwen2-vl-7b-instruct","context_tokens":4096,"abilities":{"chat":true,"vision":true,"tools":true}}"#,
        );
        // llama.cpp.
        check(
            r#"{"models":[{"name":"gemma","model":"gemma","capabilities":["completion","multimodal"]}],"object":"list",
                "data":[{"id":"gemma","object":"model","owned_by":"llamacpp","meta":{"vocab_type":1,"n_vocab":262144,
                "n_ctx_train":131072,"n_embd":2560,"n_params":3880099328,"size":2489757856}}]}"#,
            r#"{"id":"gemma","context_tokens":131072}"#,
        );
        // Moonshot.
        check(
            r#"{"data":[{"id":"kimi-k2.5","context_length":262144,"supports_image_in":true,"supports_reasoning":true}]}"#,
            r#"{"id":"kimi-k2.5","context_tokens":262144,"abilities":{"vision":true,"reasoning":true}}"#,
        );
        // Hugging Face's router.
        check(
            r#"{"data":[{"id":"openai/gpt-oss-120b","architecture":{"input_modalities":["text"]},"providers":[
                {"provider":"a","status":"live","context_length":131072,"supports_tools":true,
                "supports_structured_output":false}]}]}"#,
            r#"{"id":"openai/gpt-oss-120b","context_tokens":131072,"abilities":{"vision":false,"audio":false,
                "pdf":false,"tools":true,"structured_output":false}}"#,
        );
        // Values that are no numbers are ignored, and zero means unknown.
        check(
            r#"[{"id":"a","context_length":0,"max_model_len":"big","capabilities":7}]"#,
            r#"{"id":"a"}"#,
        );
    }
}
