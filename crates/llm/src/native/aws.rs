//! AWS signature version 4, for Bedrock with access keys.

use std::time::SystemTime;

use aws_credential_types::Credentials;
use aws_sigv4::{
    http_request::{SignableBody, SignableRequest, SigningSettings, sign},
    sign::v4,
};
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

/// The kinds of keys of a `bedrock` connection.
pub(crate) enum AwsKey {
    /// A Bedrock API key, sent unchanged.
    Bearer,
    /// Access keys, with which each request is signed.
    Access(Credentials),
}

impl AwsKey {
    /// Reads `ACCESS_KEY_ID:SECRET_ACCESS_KEY[:SESSION_TOKEN]`; anything else is an API key.
    pub(crate) fn read(key: Option<&str>) -> Option<Self> {
        let key = key.filter(|key| !key.is_empty())?;
        let mut parts = key.splitn(3, ':');
        match (parts.next(), parts.next(), parts.next()) {
            (Some(id), Some(secret), session)
                if id.len() >= 16 && id.bytes().all(|b| b.is_ascii_alphanumeric()) =>
            {
                Some(Self::Access(Credentials::new(
                    id,
                    secret,
                    session.map(str::to_owned),
                    None,
                    "connection",
                )))
            }
            _ => Some(Self::Bearer),
        }
    }
}

/// The headers that sign a request at this time. `None` if something in it cannot be signed.
pub(crate) fn signed(
    credentials: Credentials,
    region: &str,
    method: &str,
    url: &str,
    body: &[u8],
    at: SystemTime,
) -> Option<HeaderMap> {
    let identity = credentials.into();
    let params = v4::SigningParams::builder()
        .identity(&identity)
        .region(region)
        .name("bedrock")
        .time(at)
        .settings(SigningSettings::default())
        .build()
        .ok()?
        .into();
    let headers = [("content-type", "application/json")];
    let request =
        SignableRequest::new(method, url, headers.into_iter(), SignableBody::Bytes(body)).ok()?;
    let (instructions, _) = sign(request, &params).ok()?.into_parts();
    let mut signed = HeaderMap::new();
    for (name, value) in instructions.headers() {
        let mut value = HeaderValue::from_str(value).ok()?;
        value.set_sensitive(true);
        signed.insert(HeaderName::from_bytes(name.as_bytes()).ok()?, value);
    }
    Some(signed)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn signs_requests_for_their_region() {
        let Some(AwsKey::Access(keys)) = AwsKey::read(Some(
            "AKIDEXAMPLEEXAMPLE12:wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY:token",
        )) else {
            panic!("these are access keys");
        };
        let at = SystemTime::UNIX_EPOCH + Duration::from_secs(1_440_938_160);
        let url = "https://bedrock-runtime.eu-central-1.amazonaws.com/model/a%3A0/converse-stream";
        let of = |body: &[u8]| signed(keys.clone(), "eu-central-1", "POST", url, body, at).unwrap();
        let headers = of(b"{}");
        let authorization = headers["authorization"].to_str().unwrap();
        assert!(
            authorization.starts_with(
                "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLEEXAMPLE12/20150830/eu-central-1/bedrock/aws4_request, \
                 SignedHeaders=content-type;host;x-amz-date;x-amz-security-token, Signature="
            ),
            "{authorization}"
        );
        assert_eq!(
            (&headers["x-amz-date"], &headers["x-amz-security-token"]),
            (
                &"20150830T123600Z".parse().unwrap(),
                &"token".parse().unwrap()
            )
        );
        assert_ne!(of(b"{ }")["authorization"], headers["authorization"]);
    }

    #[test]
    fn an_api_key_is_no_access_key() {
        assert!(matches!(
            AwsKey::read(Some("bedrock-api-key-YmVk")),
            Some(AwsKey::Bearer)
        ));
        assert!(matches!(
            AwsKey::read(Some("ABSKQmVkcm9jaw==")),
            Some(AwsKey::Bearer)
        ));
    }
}
