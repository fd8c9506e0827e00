//! Signs requests as Standard Webhooks specifies.

use base64::{Engine, engine::general_purpose::STANDARD};
use ring::hmac;

pub(crate) const SECRET_PREFIX: &str = "whsec_";

/// `v1,` and the HMAC-SHA256 of `content`. A secret that lacks the prefix or valid base64 is used as the key itself.
pub(crate) fn sign(secret: &str, content: &str) -> String {
    let key = secret
        .strip_prefix(SECRET_PREFIX)
        .and_then(|key| STANDARD.decode(key).ok());
    let key = key.unwrap_or_else(|| secret.as_bytes().to_vec());
    let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, &key), content.as_bytes());
    format!("v1,{}", STANDARD.encode(tag))
}

pub(crate) fn in_words(at_ms: i64) -> String {
    jiff::Timestamp::from_millisecond(at_ms)
        .unwrap_or_default()
        .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of the Standard Webhooks specification.
    #[test]
    fn signs_as_the_specification_does() {
        let content = "msg_p5jXN8AQM9LWM0D4loKWxJek.1614265330.{\"test\": 2432232314}";
        let signature = sign("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", content);
        assert_eq!(signature, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }
}
