//! Identifies the person whom a trusted front end acts for, from its headers or a signed token.

use axum::http::{HeaderMap, HeaderName};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use domain::Person;
use percent_encoding::percent_decode_str;
use ring::hmac;
use serde::Deserialize;

use super::HeldKey;
use crate::error::ApiError;

/// The person's id.
pub const PERSON_ID: HeaderName = HeaderName::from_static("x-openwebui-user-id");
/// The person's name, percent-encoded.
pub const PERSON_NAME: HeaderName = HeaderName::from_static("x-openwebui-user-name");
/// The person's e-mail address.
pub const PERSON_EMAIL: HeaderName = HeaderName::from_static("x-openwebui-user-email");
/// The person's role in the front end.
pub const PERSON_ROLE: HeaderName = HeaderName::from_static("x-openwebui-user-role");
/// All of the person's details as a signed JWT.
const SIGNED: HeaderName = HeaderName::from_static("x-openwebui-user-jwt");

const MAX_ID_BYTES: usize = 200;
/// Tolerated clock skew between two machines, in seconds.
const LEEWAY_S: f64 = 60.0;

/// The person named in a request; `None` if the key does not belong to a front end, or if it names no one.
///
/// # Errors
/// 401 if the signature is invalid, 400 if the id is invalid.
pub(super) fn person(
    key: &HeldKey,
    headers: &HeaderMap,
    now_ms: i64,
) -> Result<Option<Person>, ApiError> {
    if !key.rights.front_end {
        return Ok(None);
    }
    let text = |name: &HeaderName| {
        let value = std::str::from_utf8(headers.get(name)?.as_bytes())
            .ok()?
            .trim();
        (!value.is_empty()).then(|| value.to_owned())
    };
    let person = match &key.signing_key {
        // Unsigned headers could have been added by anyone on the way.
        Some(secret) => {
            let Some(token) = text(&SIGNED) else {
                return Ok(None);
            };
            let verified = verify(&token, secret.reveal(), now_ms);
            verified.ok_or_else(|| {
                ApiError::bad_credential(
                    "The signature in X-OpenWebUI-User-Jwt is not good: its key, \
                algorithm (HS256) or time does not fit.",
                )
            })?
        }
        None => {
            let Some(id) = text(&PERSON_ID) else {
                return Ok(None);
            };
            let name = text(&PERSON_NAME).map(|name| decoded(&name));
            Person {
                id,
                name,
                email: text(&PERSON_EMAIL),
                role: text(&PERSON_ROLE),
            }
        }
    };
    if person.id.is_empty()
        || person.id.len() > MAX_ID_BYTES
        || person.id.chars().any(char::is_control)
    {
        return Err(ApiError::invalid(format!(
            "The id of a person has 1 to {MAX_ID_BYTES} bytes."
        )));
    }
    Ok(Some(person))
}

/// Decodes a percent-encoded name; returned unchanged if it is not valid UTF-8 after decoding.
fn decoded(name: &str) -> String {
    percent_decode_str(name)
        .decode_utf8()
        .map_or_else(|_| name.to_owned(), Into::into)
}

#[derive(Deserialize)]
struct Head {
    alg: String,
}

#[derive(Deserialize)]
struct Claims {
    exp: f64,
    nbf: Option<f64>,
    #[serde(flatten)]
    person: Person,
}

fn verify(token: &str, secret: &str, now_ms: i64) -> Option<Person> {
    let (signed, signature) = token.rsplit_once('.')?;
    let (head, claims) = signed.split_once('.')?;
    let head: Head = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(head).ok()?).ok()?;
    if head.alg != "HS256" {
        return None;
    }
    let signature = URL_SAFE_NO_PAD.decode(signature).ok()?;
    let key = hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes());
    hmac::verify(&key, signed.as_bytes(), &signature).ok()?;
    let Claims { exp, nbf, person } =
        serde_json::from_slice(&URL_SAFE_NO_PAD.decode(claims).ok()?).ok()?;
    #[expect(
        clippy::cast_precision_loss,
        reason = "seconds of the year 200,000 are exact"
    )]
    let now_s = now_ms as f64 / 1000.0;
    let is_now = exp + LEEWAY_S > now_s && nbf.is_none_or(|from| from - LEEWAY_S <= now_s);
    is_now.then_some(person)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn sign(head: &Value, claims: &Value, secret: &str) -> String {
        let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let signed = format!("{}.{}", part(head), part(claims));
        let key = hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes());
        let signature = URL_SAFE_NO_PAD.encode(hmac::sign(&key, signed.as_bytes()));
        format!("{signed}.{signature}")
    }

    #[test]
    fn only_what_is_signed_and_fresh_is_believed() {
        let head = json!({"alg": "HS256", "typ": "JWT"});
        let now = 1_000_000_000;
        let claims =
            json!({"sub": "7", "name": "Ann", "role": "user", "exp": 1_000_300, "iat": 1_000_000});
        let good = sign(&head, &claims, "secret");
        let person = verify(&good, "secret", now).unwrap();
        assert_eq!(
            (person.id.as_str(), person.name.as_deref()),
            ("7", Some("Ann"))
        );
        assert_eq!(verify(&good, "other", now), None);
        assert_eq!(verify(&good, "secret", now + 361_000), None, "it is over");
        let none = sign(&json!({"alg": "none"}), &claims, "secret");
        assert_eq!(verify(&none, "secret", now), None);
        let (body, _) = good.rsplit_once('.').unwrap();
        for bad in [
            "",
            ".",
            "..",
            "a.b.c",
            body,
            &format!("{body}."),
            &format!("{body}.AAAA"),
        ] {
            assert_eq!(verify(bad, "secret", now), None, "{bad}");
        }
        let endless = sign(&head, &json!({"sub": "7"}), "secret");
        assert_eq!(verify(&endless, "secret", now), None);
        let later = sign(
            &head,
            &json!({"sub": "7", "exp": 2_000_000, "nbf": 1_001_000}),
            "secret",
        );
        assert_eq!(verify(&later, "secret", now), None);
    }
}
