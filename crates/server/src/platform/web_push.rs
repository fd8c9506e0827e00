//! Messages to the push services of browsers: encrypted for the browser (RFC 8291, in the form of RFC 8188), and
//! authorized by the server's key (VAPID, RFC 8292).

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use reqwest::Url;
use ring::{
    aead, agreement, hkdf,
    rand::{SecureRandom, SystemRandom},
    signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair},
};
use serde_json::json;

use crate::platform::secret::NoRandomness;

/// Maximum length of a text, bytes: push services take messages of 4,096 bytes, of which 103 are not text.
pub(crate) const MAX_TEXT_BYTES: usize = 3_993;
/// The size of a record, of which a message has only one.
const RECORD_BYTES: u32 = 4_096;
/// How long an authorization is valid, seconds; at most a day.
const VALID_SECONDS: i64 = 12 * 3600;
/// An uncompressed point of P-256.
const POINT_BYTES: usize = 65;
const SECRET_BYTES: usize = 16;

/// The key by which push services know this server.
pub(crate) struct VapidKey {
    pair: EcdsaKeyPair,
    public: String,
}

impl VapidKey {
    /// A new key, as PKCS#8.
    pub(crate) fn generate() -> Result<Vec<u8>, NoRandomness> {
        EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &SystemRandom::new())
            .map(|document| document.as_ref().to_vec())
            .map_err(|_| NoRandomness)
    }

    /// `None` if it is no such key.
    pub(crate) fn open(pkcs8: &[u8]) -> Option<Self> {
        let random = SystemRandom::new();
        let pair =
            EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, pkcs8, &random).ok()?;
        let public = URL_SAFE_NO_PAD.encode(pair.public_key());
        Some(Self { pair, public })
    }

    /// The public key in base64url, as browsers take it to subscribe.
    pub(crate) fn public(&self) -> &str {
        &self.public
    }

    /// The `Authorization` of a message to this address; `contact` is a URL of the sender, if there is one.
    pub(crate) fn authorization(
        &self,
        endpoint: &Url,
        contact: Option<&str>,
        now_ms: i64,
    ) -> Result<String, NoRandomness> {
        let mut claims = json!({
            "aud": endpoint.origin().ascii_serialization(),
            "exp": now_ms / 1000 + VALID_SECONDS,
        });
        if let Some(contact) = contact {
            claims["sub"] = json!(contact);
        }
        let header = json!({"typ": "JWT", "alg": "ES256"});
        let [header, claims] = [header, claims].map(|it| URL_SAFE_NO_PAD.encode(it.to_string()));
        let content = format!("{header}.{claims}");
        let signature = self
            .pair
            .sign(&SystemRandom::new(), content.as_bytes())
            .map_err(|_| NoRandomness)?;
        let signature = URL_SAFE_NO_PAD.encode(signature);
        Ok(format!("vapid t={content}.{signature}, k={}", self.public))
    }
}

/// The keys of a browser, for which messages are encrypted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BrowserKeys {
    public: [u8; POINT_BYTES],
    secret: [u8; SECRET_BYTES],
}

impl BrowserKeys {
    /// From `p256dh` and `auth` of a subscription; `None` if they are no such keys.
    pub(crate) fn decode(p256dh: &str, auth: &str) -> Option<Self> {
        let bytes = |text: &str| {
            let text = text.trim_end_matches('=');
            URL_SAFE_NO_PAD.decode(text).ok()
        };
        let keys = Self {
            public: bytes(p256dh)?.try_into().ok()?,
            secret: bytes(auth)?.try_into().ok()?,
        };
        // A message tells whether it is a point of the curve.
        encrypt(&keys, b"").is_ok().then_some(keys)
    }
}

/// A message could not be encrypted: the browser's key is none, the text is too long, or there is no randomness.
#[derive(Debug, thiserror::Error)]
#[error("the message cannot be encrypted for this browser")]
pub(crate) struct CannotEncrypt;

/// Encrypts a text for a browser.
pub(crate) fn encrypt(keys: &BrowserKeys, text: &[u8]) -> Result<Vec<u8>, CannotEncrypt> {
    let random = SystemRandom::new();
    let private = agreement::EphemeralPrivateKey::generate(&agreement::ECDH_P256, &random)
        .map_err(|_| CannotEncrypt)?;
    let public = private.compute_public_key().map_err(|_| CannotEncrypt)?;
    let mut salt = [0; SECRET_BYTES];
    random.fill(&mut salt).map_err(|_| CannotEncrypt)?;
    let theirs = agreement::UnparsedPublicKey::new(&agreement::ECDH_P256, &keys.public);
    agreement::agree_ephemeral(private, &theirs, |shared| {
        seal(keys, shared, public.as_ref(), &salt, text)
    })
    .unwrap_or(Err(CannotEncrypt))
}

fn seal(
    keys: &BrowserKeys,
    shared: &[u8],
    public: &[u8],
    salt: &[u8; SECRET_BYTES],
    text: &[u8],
) -> Result<Vec<u8>, CannotEncrypt> {
    if text.len() > MAX_TEXT_BYTES {
        return Err(CannotEncrypt);
    }
    let info = [b"WebPush: info\0", &keys.public[..], public];
    let input: [u8; 32] = derive(&keys.secret, shared, &info)?;
    let key: [u8; 16] = derive(salt, &input, &[b"Content-Encoding: aes128gcm\0"])?;
    let nonce: [u8; 12] = derive(salt, &input, &[b"Content-Encoding: nonce\0"])?;
    let key = aead::UnboundKey::new(&aead::AES_128_GCM, &key).map_err(|_| CannotEncrypt)?;
    // The only record ends with 2.
    let mut record = [text, &[2]].concat();
    aead::LessSafeKey::new(key)
        .seal_in_place_append_tag(
            aead::Nonce::assume_unique_for_key(nonce),
            aead::Aad::empty(),
            &mut record,
        )
        .map_err(|_| CannotEncrypt)?;
    let length = u8::try_from(public.len()).map_err(|_| CannotEncrypt)?;
    let size = RECORD_BYTES.to_be_bytes();
    Ok([&salt[..], &size, &[length], public, &record].concat())
}

/// HKDF with SHA-256.
fn derive<const N: usize>(
    salt: &[u8],
    input: &[u8],
    info: &[&[u8]],
) -> Result<[u8; N], CannotEncrypt> {
    struct Length(usize);
    impl hkdf::KeyType for Length {
        fn len(&self) -> usize {
            self.0
        }
    }
    let mut derived = [0; N];
    let secret = hkdf::Salt::new(hkdf::HKDF_SHA256, salt).extract(input);
    secret
        .expand(info, Length(N))
        .and_then(|bytes| bytes.fill(&mut derived))
        .map_err(|_| CannotEncrypt)?;
    Ok(derived)
}

#[cfg(test)]
mod tests {
    use ring::signature::{ECDSA_P256_SHA256_FIXED, UnparsedPublicKey};
    use serde_json::Value;

    use super::*;

    fn bytes(text: &str) -> Vec<u8> {
        URL_SAFE_NO_PAD.decode(text).unwrap()
    }

    /// The example of RFC 8291, appendix A.
    #[test]
    fn encrypts_as_the_standard_does() {
        let keys = BrowserKeys::decode(
            "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
            "BTBZMqHH6r4Tts7J_aSIgg",
        )
        .unwrap();
        let sealed = seal(
            &keys,
            &bytes("kyrL1jIIOHEzg3sM2ZWRHDRB62YACZhhSlknJ672kSs"),
            &bytes(
                "BP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A8",
            ),
            &bytes("DGv6ra1nlYgDCS1FRnbzlw").try_into().unwrap(),
            b"When I grow up, I want to be a watermelon",
        );
        let expected = "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmY\
                        WAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_\
                        Qulcy4a-fN";
        assert_eq!(URL_SAFE_NO_PAD.encode(sealed.unwrap()), expected);
        let long = [b'a'; MAX_TEXT_BYTES];
        assert_eq!(encrypt(&keys, &long).unwrap().len(), 4_096);
        assert!(encrypt(&keys, &[b'a'; MAX_TEXT_BYTES + 1]).is_err());
    }

    #[test]
    fn refuses_what_are_no_keys() {
        let (point, secret) = (
            "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
            "BTBZMqHH6r4Tts7J_aSIgg",
        );
        assert!(BrowserKeys::decode(&format!("{point}="), &format!("{secret}==")).is_some());
        let elsewhere = URL_SAFE_NO_PAD.encode([4; POINT_BYTES]);
        for (point, secret) in [
            ("", secret),
            (point, ""),
            (&elsewhere, secret),
            (&point[2..], secret),
            (point, point),
            ("?", "!"),
        ] {
            assert_eq!(BrowserKeys::decode(point, secret), None, "{point} {secret}");
        }
    }

    #[test]
    fn authorizes_messages_to_one_service() {
        let key = VapidKey::open(&VapidKey::generate().unwrap()).unwrap();
        let endpoint = Url::parse("https://push.example.org:8443/a/b?c").unwrap();
        let contact = Some("https://glasshouse.example.org");
        let header = key.authorization(&endpoint, contact, 5_000_000).unwrap();
        let (token, public) = header
            .strip_prefix("vapid t=")
            .and_then(|rest| rest.split_once(", k="))
            .unwrap();
        assert_eq!(public, key.public());
        let (content, signature) = token.rsplit_once('.').unwrap();
        UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, bytes(public))
            .verify(content.as_bytes(), &bytes(signature))
            .unwrap();
        let (header, claims) = content.split_once('.').unwrap();
        let read = |text: &str| serde_json::from_slice::<Value>(&bytes(text)).unwrap();
        assert_eq!(read(header), json!({"typ": "JWT", "alg": "ES256"}));
        let expected = json!({
            "aud": "https://push.example.org:8443",
            "exp": 5_000 + VALID_SECONDS,
            "sub": "https://glasshouse.example.org",
        });
        assert_eq!(read(claims), expected);
        assert!(VapidKey::open(b"no key").is_none());
    }
}
