//! Connections from the file and from the environment.

use super::*;

fn environment(pairs: &[(&str, &str)]) -> Environment {
    pairs
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect()
}

fn read_all(
    file: &str,
    pairs: &[(&str, &str)],
    bedrock: bool,
) -> Result<(Vec<ConfiguredConnection>, Vec<String>), String> {
    #[derive(Deserialize)]
    struct File {
        #[serde(default)]
        connections: Vec<RawConnection>,
    }
    let file: File = toml::from_str(file).map_err(|error| error.to_string())?;
    let mut warnings = Vec::new();
    let defaults = Defaults {
        trusted: false,
        bedrock,
    };
    let read = read(
        file.connections,
        &environment(pairs),
        &defaults,
        &mut warnings,
    );
    read.map(|all| (all, warnings))
        .map_err(|error| error.to_string())
}

fn of_file(file: &str, pairs: &[(&str, &str)]) -> Result<Vec<ConfiguredConnection>, String> {
    read_all(file, pairs, false).map(|(all, _)| all)
}

/// Each as `kind address [key]`.
fn of_environment(pairs: &[(&str, &str)], bedrock: bool) -> Vec<String> {
    let shown = |connection: ConfiguredConnection| {
        let ServerSettings {
            kind,
            base_url,
            keys,
            ..
        } = connection.settings;
        let key = keys
            .first()
            .map(|(key, _)| format!(" {}", key.reveal()))
            .unwrap_or_default();
        format!("{} {base_url}{key}", kind.name())
    };
    read_all("", pairs, bedrock)
        .unwrap()
        .0
        .into_iter()
        .map(shown)
        .collect()
}

#[test]
fn the_variables_of_providers_make_connections() {
    let check = |pairs: &[(&str, &str)], bedrock: bool, expected: &[&str]| {
        assert_eq!(of_environment(pairs, bedrock), expected, "{pairs:?}");
    };
    check(&[], true, &[]);
    check(
        &[("ANTHROPIC_API_KEY", " k ")],
        false,
        &["anthropic https://api.anthropic.com/v1 k"],
    );
    check(
        &[("ANTHROPIC_API_KEY", ""), ("GEMINI_API_KEY", " ")],
        false,
        &[],
    );
    let proxy = [("ANTHROPIC_BASE_URL", "http://proxy:4000")];
    check(&proxy, false, &["anthropic http://proxy:4000/v1"]);
    // Anthropic's own tools append the version.
    let gateway = [("ANTHROPIC_BASE_URL", "https://gateway.example/anthropic/")];
    check(
        &gateway,
        false,
        &["anthropic https://gateway.example/anthropic/v1"],
    );
    let gateway = [("ANTHROPIC_BASE_URL", "https://gateway.example/anthropic/v1")];
    check(
        &gateway,
        false,
        &["anthropic https://gateway.example/anthropic/v1"],
    );
    let gemini = [
        ("GEMINI_API_KEY", "g"),
        ("GOOGLE_GEMINI_BASE_URL", "http://proxy/google"),
    ];
    check(&gemini, false, &["gemini http://proxy/google/v1beta g"]);
    let google = "gemini https://generativelanguage.googleapis.com/v1beta";
    check(&[("GOOGLE_API_KEY", "g")], false, &[&format!("{google} g")]);
    check(
        &[("GOOGLE_API_KEY", "g"), ("GEMINI_API_KEY", "h")],
        false,
        &[&format!("{google} h")],
    );
    let azure = [
        ("AZURE_OPENAI_ENDPOINT", "https://me.openai.azure.com/"),
        ("AZURE_OPENAI_API_KEY", "a"),
    ];
    check(
        &azure,
        false,
        &["azure https://me.openai.azure.com/openai/v1 a"],
    );
    let frankfurt = "bedrock https://bedrock-runtime.eu-central-1.amazonaws.com/";
    let bearer = [
        ("AWS_REGION", "eu-central-1"),
        ("AWS_BEARER_TOKEN_BEDROCK", "b"),
    ];
    check(&bearer, false, &[&format!("{frankfurt} b")]);
    let region = [("AWS_DEFAULT_REGION", "eu-central-1")];
    check(&region, false, &[]);
    check(&region, true, &[frankfurt]);
}

#[test]
fn ids_of_the_environment_stay() {
    let pairs = [
        ("OPENAI_API_KEY", "k"),
        ("ANTHROPIC_API_KEY", "k"),
        ("GEMINI_API_KEY", "k"),
    ];
    let (all, _) = read_all("", &pairs, false).unwrap();
    let ids: Vec<String> = all
        .iter()
        .map(|connection| connection.id.to_string())
        .collect();
    assert_eq!(ids[0], OPENAI_ID);
    // Settings for these connections are stored under their ids, so the ids must not change.
    assert_eq!(ids[1], "conn_b5b4b643e75653f1d6f03bc8dc90e3bf");
    assert_eq!(ids[2], "conn_9c4a1254d29ff2644307e2fb5ff8ece3");
}

#[test]
fn what_is_missing_is_told_and_what_is_wrong_is_refused() {
    let (all, warnings) = read_all("", &[("AZURE_OPENAI_ENDPOINT", "https://a")], true).unwrap();
    assert!(all.is_empty());
    assert!(
        warnings[0].contains("AZURE_OPENAI_API_KEY") && warnings[1].contains("AWS_REGION"),
        "{warnings:?}"
    );
    let error = |pairs: &[(&str, &str)]| read_all("", pairs, true).unwrap_err();
    assert!(error(&[("ANTHROPIC_BASE_URL", "ftp://x")]).contains("ANTHROPIC_BASE_URL"));
    assert!(error(&[("AWS_REGION", "eu/../x")]).contains("settings.region"));
}

#[test]
fn the_file_names_connections() {
    let all = of_file(
        r#"
        [[connections]]
        name = "Claude"
        kind = "anthropic"
        api_key = "${KEY}"
        trusted = true

        [[connections]]
        name = "Frankfurt"
        kind = "bedrock"
        api_key_env = "KEY"
        settings = { region = "eu-central-1" }
        models = ["anthropic.claude-sonnet-4-5-20250929-v1:0"]

        [[connections]]
        name = "Gateway"
        base_url = "https://gateway.example/openai"
        headers = { Ocp-Apim-Subscription-Key = "${KEY}" }
        query = { api-version = "preview" }
        weight = 3
        together = true
        "#,
        &[("KEY", "secret-12345")],
    )
    .unwrap();
    let [claude, frankfurt, gateway] = &all[..] else {
        panic!("{all:?}")
    };
    assert_eq!(
        claude.settings.base_url.to_string(),
        "https://api.anthropic.com/v1"
    );
    assert!(claude.settings.trusted && !frankfurt.settings.trusted);
    assert_eq!(claude.settings.keys, frankfurt.settings.keys);
    assert_eq!(claude.settings.keys[0].0.reveal(), "secret-12345");
    assert_eq!(
        frankfurt.settings.options.region.as_deref(),
        Some("eu-central-1")
    );
    assert_eq!(
        frankfurt.models,
        ["anthropic.claude-sonnet-4-5-20250929-v1:0"]
    );
    assert_eq!((gateway.settings.weight, gateway.together), (3, true));
    let headers: Vec<_> = gateway.settings.extras.headers().collect();
    assert_eq!(headers, [("ocp-apim-subscription-key", "secret-12345")]);
    assert!(
        !format!("{all:?}").contains("secret-12345"),
        "secrets are not printed"
    );
    // The order does not matter.
    let one = "[[connections]]\nname = \"Claude\"\nkind = \"anthropic\"\n";
    assert_eq!(of_file(one, &[]).unwrap()[0].id, claude.id);
}

#[test]
fn what_is_wrong_in_the_file_is_named() {
    let connection = |rest: &str| format!("[[connections]]\nname = \"c\"\n{rest}");
    for (file, words) in [
        (connection("kind = \"claude\""), "claude"),
        (connection("kind = \"bedrock\""), "needs settings.region"),
        (
            connection("kind = \"vertex\"\nsettings = { project = \"p\" }"),
            "needs settings.location",
        ),
        (
            connection("settings = { region = \"r\" }"),
            "has no settings.region",
        ),
        (connection("kind = \"azure\""), "needs base_url"),
        (connection("base_url = \"ftp://x\""), "base_url"),
        (connection("api_key = \"a\"\napi_key_env = \"B\""), "either"),
        (connection("api_key_env = \"B\""), "B, which is not set"),
        (connection("api_key = \"${B}\""), "B, which is not set"),
        (connection("headers = { Host = \"a\" }"), "Host"),
        (connection("weight = 1001"), "weight"),
        (connection("sttings = {}"), "sttings"),
        ("[[connections]]\nname = \" \"".to_owned(), "name must be"),
        (connection("").repeat(2), "two of the name"),
    ] {
        let error = of_file(&file, &[]).unwrap_err();
        assert!(error.contains(words), "{error:?} should say {words:?}");
    }
}
