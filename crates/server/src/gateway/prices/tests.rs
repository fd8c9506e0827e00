//! Tests of model lookups in the built-in price list.

use llm::BaseUrl;

use super::*;

fn find(kind: ProviderKind, address: &str, model: &str) -> Option<ListedPrice> {
    let base_url = BaseUrl::parse_of(kind, address).unwrap();
    let server = ServerSettings {
        kind,
        ..ServerSettings::alone(base_url, None)
    };
    PriceCatalogue::new(Path::new("/nowhere")).find(&server, model)
}

#[test]
fn the_built_in_list_can_be_read() {
    let list = PriceList::built_in();
    assert!(list.file.providers.len() > 30);
    let models: usize = list
        .file
        .providers
        .iter()
        .map(|provider| provider.models.len())
        .sum();
    assert!(models > 1_500, "{models}");
    assert!(BUILT_IN.len() < 400_000);
}

#[test]
fn models_are_found_at_their_providers() {
    use ProviderKind::*;
    for (kind, address, model, id) in [
        (Openai, "https://api.openai.com/v1", "gpt-5", "gpt-5"),
        (
            Openai,
            "https://api.openai.com/v1",
            "gpt-5-20250807",
            "gpt-5",
        ),
        (
            OpenaiResponses,
            "https://api.openai.com/v1",
            "GPT-5",
            "gpt-5",
        ),
        (
            Anthropic,
            "https://api.anthropic.com/v1",
            "claude-3-5-haiku-20241022",
            "claude-3-5-haiku-latest",
        ),
        (
            Gemini,
            "https://generativelanguage.googleapis.com/v1beta",
            "models/gemini-2.5-pro",
            "gemini-2.5-pro",
        ),
        (
            Openai,
            "https://api.deepseek.com/v1",
            "deepseek-chat",
            "deepseek-chat",
        ),
        (
            Azure,
            "https://us.openai.azure.com/openai/v1",
            "gpt-5",
            "gpt-5",
        ),
        (
            Azure,
            "https://gateway.example.org/openai/v1",
            "gpt-5",
            "gpt-5",
        ),
    ] {
        let found = find(kind, address, model).unwrap_or_else(|| panic!("{address} {model}"));
        assert_eq!(found.model, id, "{address} {model}");
        assert!(
            found.prices.base.input > 0.0 && !found.date.is_empty(),
            "{found:?}"
        );
    }
    let claude = find(
        Anthropic,
        "https://api.anthropic.com/v1",
        "claude-3-5-haiku-20241022",
    )
    .unwrap();
    let rates = claude.prices.base;
    assert_eq!(
        (rates.input, rates.cached_input, rates.cache_write),
        (0.8, Some(0.08), Some(1.0))
    );
    let gemini = find(
        Gemini,
        "https://generativelanguage.googleapis.com/v1beta",
        "gemini-2.5-pro",
    )
    .unwrap();
    assert_eq!(
        gemini.prices.long_context[0].map(|long| long.above_tokens),
        Some(200_000)
    );
    let speech = find(
        Gemini,
        "https://generativelanguage.googleapis.com/v1beta",
        "gemini-2.5-pro-tts",
    )
    .unwrap();
    assert_eq!(
        speech.model, "gemini-2.5-pro-tts",
        "not the price of the model that its name begins with"
    );
}

#[test]
fn nobody_knows_the_price_of_a_local_or_unknown_server() {
    use ProviderKind::*;
    for address in [
        "http://localhost:11434/v1",
        "http://127.0.0.1:8080/v1",
        "http://[::1]:8080/v1",
        "http://192.168.1.5/v1",
        "http://10.0.0.7/v1",
        "http://ollama:11434/v1",
        "http://models.lan/v1",
        "https://litellm.example.org/v1",
    ] {
        assert_eq!(find(Openai, address, "gpt-5"), None, "{address}");
    }
    assert_eq!(find(Azure, "http://127.0.0.1/openai/v1", "gpt-5"), None);
    assert_eq!(
        find(Openai, "https://api.openai.com/v1", "no-such-model"),
        None
    );
}
