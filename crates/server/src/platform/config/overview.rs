//! All settings as the configuration page shows them: each with its description, its value and the layer that sets it.
//! Of a secret, only whether it is set.

use schemars::JsonSchema;
use serde::Serialize;
use toml::{Table, Value};

use super::{
    DEFAULTS,
    changed_in::ChangedIn,
    descriptions::{Description, descriptions},
    layers,
    sources::{Sources, at},
};

/// Settings whose values are never shown.
const SECRET: [&str; 14] = [
    "bus_url",
    "database_url",
    "knowledge.graph_password",
    "knowledge.qdrant_key",
    "knowledge.reader_key",
    "mail.password",
    "object_storage.secret_key",
    "oidc.client_secret",
    "programs.runner_token",
    "secret_key",
    "web.browser_key",
    "web.search_key",
    "web.brave_key",
    "web.tavily_key",
];

/// A setting that is in effect.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "ServerSetting")]
pub struct Setting {
    /// With its section: `limits.steps`.
    pub name: String,
    /// The environment variable that sets it.
    pub variable: String,
    /// What it does, in one sentence.
    pub summary: String,
    /// Further paragraphs; often empty.
    pub details: String,
    /// Its default.
    #[schemars(with = "serde_json::Value")]
    pub default: Value,
    /// Its value; `null` if it is secret.
    #[schemars(with = "serde_json::Value")]
    pub value: Option<Value>,
    /// Where the value comes from.
    pub from: Layer,
    /// Where it is changed.
    pub changed_in: ChangedIn,
}

impl Setting {
    /// Whether the file, the environment or a flag sets it, so that the web app cannot change it.
    pub(crate) fn is_fixed(&self) -> bool {
        !matches!(self.from, Layer::Default | Layer::WebApp)
    }
}

/// Where a value comes from; each takes precedence over those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "SettingSource")]
#[serde(rename_all = "snake_case")]
pub enum Layer {
    /// The default.
    Default,
    /// An administrator, in the web app.
    WebApp,
    /// The file.
    File,
    /// An environment variable.
    Environment,
    /// A flag of the program.
    Flag,
}

/// All settings with their defaults, in the order of the default file.
///
/// # Errors
/// If the compiled-in file is invalid.
pub fn default_settings() -> anyhow::Result<Vec<Setting>> {
    let sources = Sources {
        defaults: layers::defaults()?,
        ..Sources::default()
    };
    Ok(sources.overview(&sources.defaults))
}

impl Sources {
    /// All settings in the order of the default file, with their values from `merged`.
    pub(super) fn overview(&self, merged: &Table) -> Vec<Setting> {
        let described = descriptions(DEFAULTS).into_iter();
        described
            .filter_map(|description| self.setting(description, merged))
            .collect()
    }

    fn setting(&self, description: Description, merged: &Table) -> Option<Setting> {
        let Description {
            name,
            summary,
            details,
        } = description;
        let path: Vec<&str> = name.split('.').collect();
        let default = at(&self.defaults, &path)?;
        let value = at(merged, &path).unwrap_or(default).clone();
        Some(Setting {
            variable: format!("GLASSHOUSE_{}", path.join("_").to_uppercase()),
            summary,
            details,
            default: default.clone(),
            value: Some(value).filter(|value| !is_secret(&name, value)),
            from: self.origin(&path),
            // A setting without a place is one that only the configuration changes; a test finds it.
            changed_in: ChangedIn::of(&name).unwrap_or(ChangedIn::Operator),
            name,
        })
    }
}

/// Whether the value of a setting is never shown.
pub(crate) fn is_secret_setting(name: &str) -> bool {
    SECRET.contains(&name)
}

/// An empty string means that no secret is set.
fn is_secret(name: &str, value: &Value) -> bool {
    match value {
        Value::String(text) if text.is_empty() => false,
        // A password in a URL, in any setting that may contain one.
        Value::String(text)
            if text
                .split_once("://")
                .is_some_and(|(_, rest)| rest.contains('@')) =>
        {
            true
        }
        _ => is_secret_setting(name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::config::{Config, DEFAULTS, Environment, Flags};

    fn settings(environment: &[(&str, &str)], flags: Flags) -> Vec<Setting> {
        let environment: Environment = environment
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        Config::from_parts(&flags, &environment).unwrap().settings
    }

    fn named<'a>(settings: &'a [Setting], name: &str) -> &'a Setting {
        settings
            .iter()
            .find(|setting| setting.name == name)
            .unwrap()
    }

    #[test]
    fn each_says_what_it_is_and_who_said_so() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("some.toml");
        std::fs::write(
            &file,
            "session_hours = 8\nlisten = \"127.0.0.1:7000\"\n[limits]\nsteps = 9\n",
        )
        .unwrap();
        let flags = Flags {
            config: Some(file),
            listen: vec!["127.0.0.1:7001".into()],
            data_dir: Some(folder.path().to_owned()),
            auth: None,
            no_migrate: false,
        };
        let all = settings(
            &[
                ("GLASSHOUSE_LIMITS_STEPS", "12"),
                ("GLASSHOUSE_MODERATION", "true"),
            ],
            flags,
        );
        for (name, value, from) in [
            ("session_hours", Value::Integer(8), Layer::File),
            (
                "listen",
                Value::Array(vec!["127.0.0.1:7001".into()]),
                Layer::Flag,
            ),
            ("limits.steps", Value::Integer(12), Layer::Environment),
            ("moderation", Value::Boolean(true), Layer::Environment),
            ("limits.usd", Value::Float(5.0), Layer::Default),
        ] {
            let setting = named(&all, name);
            assert_eq!(
                (setting.value.as_ref(), setting.from),
                (Some(&value), from),
                "{name}"
            );
        }
        assert_eq!(
            named(&all, "limits.steps").variable,
            "GLASSHOUSE_LIMITS_STEPS"
        );
        assert_eq!(named(&all, "limits.steps").default, Value::Integer(50));
    }

    #[test]
    fn secrets_are_only_said_to_be_set() {
        let home = tempfile::tempdir().unwrap();
        let flags = || Flags {
            data_dir: Some(home.path().to_owned()),
            ..Flags::default()
        };
        let secret = [
            ("GLASSHOUSE_DATABASE_URL", "postgres://me:canary@db/name"),
            ("GLASSHOUSE_OIDC_CLIENT_SECRET", "canary"),
            (
                "GLASSHOUSE_TRACING_ENDPOINT",
                "http://me:canary@127.0.0.1:4318",
            ),
            ("OPENAI_API_KEY", "canary"),
        ];
        let all = settings(&secret, flags());
        assert!(!serde_json::to_string(&all).unwrap().contains("canary"));
        for (variable, _) in &secret[..3] {
            let setting = all
                .iter()
                .find(|setting| setting.variable == *variable)
                .unwrap();
            assert_eq!(
                (setting.value.as_ref(), setting.from),
                (None, Layer::Environment),
                "{variable}"
            );
        }
        assert_eq!(
            named(&settings(&[], flags()), "database_url").value,
            Some("".into())
        );
    }

    #[test]
    fn what_sounds_secret_is_on_the_list() {
        let all = settings(
            &[],
            Flags {
                data_dir: Some("/nowhere".into()),
                ..Flags::default()
            },
        );
        assert!(all.len() > 40 && DEFAULTS.len() > 1000, "{}", all.len());
        for Setting { name, .. } in all {
            assert!(ChangedIn::of(&name).is_some(), "where is {name} changed?");
            let sounds = ["secret", "password", "api_key", "credential"]
                .iter()
                .any(|word| name.contains(word))
                && !name.ends_with("_file");
            assert!(
                !sounds || SECRET.contains(&name.as_str()),
                "is {name} secret?"
            );
        }
    }
}
