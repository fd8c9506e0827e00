//! How access tokens for mailboxes at Google and Microsoft are requested.

use reqwest::Url;
use serde::Deserialize;

use super::ImapSettings;
use crate::{
    SettingProblem, SourceProblem,
    api::{self, Grant},
    google_drive::account,
    problem::invalid,
    share_point,
};

const GOOGLE_SCOPE: &str = "https://mail.google.com/";
/// Of an app that acts on its own.
const APP_SCOPE: &str = "https://outlook.office365.com/.default";
/// Of an app that acts for the person who has signed in.
const PERSON_SCOPE: &str = "https://outlook.office.com/IMAP.AccessAsUser.All offline_access";
const MICROSOFT: &str = "https://login.microsoftonline.com";

/// The permission of a person, from a sign-in elsewhere.
#[derive(Deserialize)]
struct Person {
    refresh_token: String,
    client_secret: Option<String>,
}

/// The address of tokens and the form that requests one.
///
/// # Errors
/// `Refused` if the secret is no key.
pub(super) fn google(settings: &ImapSettings, secret: &str) -> Result<(Url, Grant), SourceProblem> {
    let service = serde_json::from_str::<serde_json::Value>(secret)
        .is_ok_and(|secret| secret.get("private_key").is_some());
    let subject = service.then_some(&*settings.user);
    let grant = account::grant(secret, GOOGLE_SCOPE, subject)?;
    Ok((usual(account::TOKEN_URL)?, grant))
}

/// The same for Microsoft 365.
///
/// # Errors
/// `Settings` if the app is not named, `Refused` without a secret.
pub(super) fn microsoft(
    settings: &ImapSettings,
    secret: &str,
) -> Result<(Url, Grant), SourceProblem> {
    let tenant = settings.tenant.as_deref().unwrap_or_default();
    let url = share_point::token_url(usual(MICROSOFT)?, tenant)?;
    let client_id = settings.client_id.as_deref().unwrap_or_default();
    let client_id = api::filled("client_id", client_id)?.to_owned();
    let person = secret
        .trim_start()
        .starts_with('{')
        .then(|| serde_json::from_str::<Person>(secret).map_err(|_| SourceProblem::Refused))
        .transpose()?;
    let secret = api::key(secret).map(ToOwned::to_owned);
    let mut form = vec![("client_id", client_id)];
    match person {
        Some(person) => {
            form.push(("grant_type", "refresh_token".to_owned()));
            form.push(("refresh_token", person.refresh_token));
            form.push(("scope", PERSON_SCOPE.to_owned()));
            form.extend(person.client_secret.map(|secret| ("client_secret", secret)));
        }
        None => {
            form.push(("grant_type", "client_credentials".to_owned()));
            form.push(("client_secret", secret?));
            form.push(("scope", APP_SCOPE.to_owned()));
        }
    }
    Ok((url, Box::new(move || Ok(form.clone()))))
}

fn usual(url: &str) -> Result<Url, SourceProblem> {
    url.parse()
        .map_err(|_| invalid("token_url", SettingProblem::NotEncrypted))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn settings(change: Value) -> ImapSettings {
        let mut settings = json!({ "host": "mail.example.com", "user": "ann@example.com" });
        let all = settings.as_object_mut().unwrap();
        all.extend(change.as_object().unwrap().clone());
        serde_json::from_value(settings).unwrap()
    }

    /// After “Authenticate an IMAP, POP or SMTP connection using OAuth” of Microsoft.
    #[test]
    fn tokens_of_microsoft() {
        let app = settings(json!({ "tenant": "contoso.com", "client_id": "1234" }));
        let (url, grant) = microsoft(&app, "s3cret").unwrap();
        let expected = "https://login.microsoftonline.com/contoso.com/oauth2/v2.0/token";
        assert_eq!(url.as_str(), expected);
        let form = grant().unwrap();
        for pair in [
            ("grant_type", "client_credentials"),
            ("client_id", "1234"),
            ("client_secret", "s3cret"),
            ("scope", "https://outlook.office365.com/.default"),
        ] {
            assert!(form.contains(&(pair.0, pair.1.to_owned())), "{pair:?}");
        }
        let (_, grant) = microsoft(&app, r#" { "refresh_token": "0.AX" }"#).unwrap();
        let form = grant().unwrap();
        assert!(form.contains(&("grant_type", "refresh_token".to_owned())));
        assert!(form.contains(&("refresh_token", "0.AX".to_owned())));
        assert!(form.iter().all(|(name, _)| *name != "client_secret"));

        for (change, secret, expected) in [
            (json!({ "client_id": "1" }), "s", Some("tenant")),
            (
                json!({ "tenant": "a/b", "client_id": "1" }),
                "s",
                Some("tenant"),
            ),
            (json!({ "tenant": "a" }), "s", Some("client_id")),
            (json!({ "tenant": "a", "client_id": "1" }), "", None),
            (json!({ "tenant": "a", "client_id": "1" }), "{}", None),
        ] {
            let found = match microsoft(&settings(change.clone()), secret).err() {
                Some(SourceProblem::Settings { field, .. }) => Some(field),
                other => {
                    assert_eq!(other, Some(SourceProblem::Refused), "{change}");
                    None
                }
            };
            assert_eq!(found, expected, "{change}");
        }
    }

    #[test]
    fn tokens_of_google() {
        let person = json!({ "client_id": "a", "client_secret": "b", "refresh_token": "c" });
        let ann = settings(json!({}));
        let (url, grant) = google(&ann, &person.to_string()).unwrap();
        assert_eq!(url.as_str(), "https://oauth2.googleapis.com/token");
        let form = grant().unwrap();
        assert!(form.contains(&("refresh_token", "c".to_owned())));

        // A service account acts for the user.
        let key = include_str!("../google_drive/service_account.pem");
        let service = json!({ "client_email": "sync@example.com", "private_key": key });
        let (_, grant) = google(&ann, &service.to_string()).unwrap();
        let form = grant().unwrap();
        let (_, assertion) = form.iter().find(|(name, _)| *name == "assertion").unwrap();
        let claims = assertion.split('.').nth(1).unwrap();
        let claims = base64::Engine::decode(&base64::prelude::BASE64_URL_SAFE_NO_PAD, claims);
        let claims: Value = serde_json::from_slice(&claims.unwrap()).unwrap();
        assert_eq!(claims["sub"], "ann@example.com");
        assert_eq!(claims["scope"], "https://mail.google.com/");
        assert_eq!(google(&ann, "password").err(), Some(SourceProblem::Refused));
    }
}
