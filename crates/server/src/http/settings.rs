//! `/api/v1/settings`: the configuration in effect, for administrators, who change some of it here.

use std::{collections::BTreeMap, path::PathBuf, sync::Arc};

use axum::{
    extract::State,
    http::{HeaderMap, StatusCode},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    app::App,
    error::ApiError,
    http::{extract::Json, oidc::callback_url, openapi::Operations},
    identity::{
        audit::Noted,
        auth::Caller,
        mail::{self, MailLanguage, MailText},
    },
    messages,
    platform::{
        config::{Config, Setting, is_secret_setting},
        server_settings::{ServerSettings, SettingChange},
    },
};

/// Maximum length of a value in the audit log, characters.
const AUDIT_CHARS: usize = 300;

/// The configuration in effect.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Configuration")]
pub(super) struct Settings {
    settings: Vec<Setting>,
    /// The file that was read, or would be.
    file: PathBuf,
    /// Whether there is one.
    file_read: bool,
}

/// All settings, and the configuration file.
pub(super) async fn get(State(config): State<Arc<Config>>) -> Json<Settings> {
    Json(view(&config))
}

fn view(config: &Config) -> Settings {
    Settings {
        settings: config.settings.clone(),
        file: config
            .file
            .clone()
            .unwrap_or_else(|| config.data_dir.join("glasshouse.toml")),
        file_read: config.file.is_some(),
    }
}

/// Settings to change.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "SettingsChange")]
pub(super) struct ChangeBody {
    /// Values by the names of their settings, of the type of the default. `null` returns to the default; what is absent
    /// stays as it is.
    values: SettingChange,
}

/// `PATCH /api/v1/settings`: changes settings at once, on every server.
pub(super) async fn change(
    State(app): State<Arc<App>>,
    noted: Noted,
    Json(body): Json<ChangeBody>,
) -> Result<Json<Settings>, ApiError> {
    let before = app.config.now();
    let names: Vec<String> = body.values.keys().cloned().collect();
    app.setting_reload.change_settings(body.values).await?;
    let now = app.config.now();
    let values = |config: &Config| -> BTreeMap<String, Value> {
        let value = |name: &String| (name.clone(), written(config, name));
        names.iter().map(value).collect()
    };
    noted.with("before", values(&before));
    noted.with("values", values(&now));
    Ok(Json(view(&now)))
}

/// The value of a setting for the audit log; `null` if it is secret.
fn written(config: &Config, name: &str) -> Value {
    let setting = config.settings.iter().find(|it| it.name == name);
    let value = setting.and_then(|setting| setting.value.as_ref());
    let value = value.filter(|_| !is_secret_setting(name));
    let value = value.and_then(|value| serde_json::to_value(value).ok());
    match value.unwrap_or_default() {
        list @ Value::Array(_) => list.to_string().into(),
        value => value,
    }
}

/// What a sign-in provider says about itself.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "SignInProviderTest")]
pub(super) struct ProviderView {
    /// The page to which browsers are sent to sign in.
    authorization_url: String,
    /// The address that the provider has to allow as the redirect address of this client.
    redirect_url: String,
}

/// `POST /api/v1/settings/sign-in-provider/test`: asks the OpenID Connect provider of these values about itself.
pub(super) async fn test_sign_in_provider(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    noted: Noted,
    Json(body): Json<ChangeBody>,
) -> Result<Json<ProviderView>, ApiError> {
    let issuer = body.values.get("oidc.issuer").and_then(Value::as_str);
    noted.with(
        "issuer",
        issuer.map(|it| it.chars().take(AUDIT_CHARS).collect::<String>()),
    );
    let candidate = app.server_settings.preview(body.values).await?;
    let missing = || ApiError::invalid(messages::Settings::SignInProviderMissing);
    let provider = candidate.oidc.as_ref().ok_or_else(missing)?;
    let authorization_url = app.identity.examine_oidc(provider).await?;
    Ok(Json(ProviderView {
        authorization_url: authorization_url.into(),
        redirect_url: callback_url(&app.config.now(), &headers)?,
    }))
}

/// Mail settings to test.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "MailTest")]
pub(super) struct MailTestBody {
    /// As for a change of settings; empty to test the current ones.
    #[serde(default)]
    values: SettingChange,
    /// The language of the mail, such as `en`; English by default.
    #[serde(default)]
    language: String,
}

/// `POST /api/v1/settings/mail/test`: sends a mail to the caller with these values, without storing them.
pub(super) async fn test_mail(
    State(server_settings): State<Arc<ServerSettings>>,
    caller: Caller,
    Json(body): Json<MailTestBody>,
) -> Result<StatusCode, ApiError> {
    let candidate = server_settings.preview(body.values).await?;
    let missing = || ApiError::invalid(messages::Settings::MailServerMissing);
    let settings = candidate.mail.as_ref().ok_or_else(missing)?;
    let text = MailText::test(MailLanguage::of(&body.language));
    mail::send(settings, &caller.user.email, text).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Describes the operations of this file.
pub(super) fn operations(api: &mut Operations) {
    api.handler(
        "GET /api/v1/settings",
        get,
        "Returns the [configuration](docs/reference/configuration.md) in effect",
    );
    api.handler(
        "PATCH /api/v1/settings",
        change,
        "Changes settings at once, on every server",
    )
    .details(
        "409 for a setting that the file, the environment or a flag sets, or that cannot be changed while the server \
         runs.",
    )
    .errors(&[409]);
    api.handler(
        "POST /api/v1/settings/sign-in-provider/test",
        test_sign_in_provider,
        "Asks an [OpenID Connect provider](docs/team/single-sign-on.md) about itself without storing anything",
    )
    .details("422 with the reason if it does not answer as a provider.")
    .errors(&[409, 422]);
    api.handler(
        "POST /api/v1/settings/mail/test",
        test_mail,
        "Sends a mail to the caller without storing anything",
    )
    .details(
        "422 with the reason if the [mail server](docs/team/accounts.md#mail) does not accept it.",
    )
    .errors(&[409, 422]);
}
