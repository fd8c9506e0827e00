//! What a model is for, by its name, where its server does not say: model servers list those for embeddings, too.

/// Parts of the names of models that do not answer in chats.
const PARTS: [&str; 9] = [
    "embed",
    "rerank",
    "moderation",
    "whisper",
    "transcri",
    "dall-e",
    "gpt-image",
    "stable-diffusion",
    "text-to-speech",
];
/// Such words of names, between punctuation marks.
const WORDS: [&str; 11] = [
    "bge", "gte", "e5", "minilm", "mpnet", "sbert", "labse", "colbert", "tts", "sora", "realtime",
];

/// Whether the model with this name answers in chats: `Some(false)` if its name says that it does not.
pub(super) fn answers_in_chats(name: &str) -> Option<bool> {
    let name = name.to_lowercase();
    let mut words = name.split(|char: char| !char.is_alphanumeric());
    let is_other =
        PARTS.iter().any(|part| name.contains(part)) || words.any(|word| WORDS.contains(&word));
    is_other.then_some(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_other_models_are_known() {
        for name in [
            "text-embedding-3-small",
            "nomic-embed-text:latest",
            "BAAI/bge-m3",
            "intfloat/e5-mistral-7b-instruct",
            "jina-reranker-v2",
            "omni-moderation-latest",
            "whisper-1",
            "gpt-4o-mini-transcribe",
            "gpt-4o-mini-tts",
            "tts-1-hd",
            "dall-e-3",
            "gpt-image-1",
            "gpt-realtime",
            "all-mpnet-base-v2",
            "amazon.titan-embed-text-v2:0",
        ] {
            assert_eq!(answers_in_chats(name), Some(false), "{name}");
        }
        for name in [
            "qwen3:8b",
            "note5-large",
            "gpt-5.2",
            "gemini-3-flash-image",
            "bgem-chat",
            "claude-opus-5",
            "",
        ] {
            assert_eq!(answers_in_chats(name), None, "{name}");
        }
    }
}
