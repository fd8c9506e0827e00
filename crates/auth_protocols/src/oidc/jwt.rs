//! Verification of JWT signatures with a provider's published keys (RFC 7515, 7517, 7518). Only public-key signatures:
//! tokens with the algorithm `none` or with a shared secret are always rejected.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P384_SHA384_FIXED, ED25519, RSA_PKCS1_2048_8192_SHA256,
    RSA_PKCS1_2048_8192_SHA384, RSA_PKCS1_2048_8192_SHA512, RSA_PSS_2048_8192_SHA256,
    RSA_PSS_2048_8192_SHA384, RSA_PSS_2048_8192_SHA512, RsaParameters, RsaPublicKeyComponents,
    UnparsedPublicKey, VerificationAlgorithm,
};
use serde::Deserialize;
use serde_json::Value;

/// The maximum length of a token, in bytes.
const TOKEN_LIMIT_BYTES: usize = 32_000;
/// The maximum number of keys read from a key set.
const MAX_KEYS: usize = 100;

/// A provider's published keys.
#[derive(Debug, Clone, Default)]
pub(super) struct Keys(Vec<Key>);

/// The fields of a JSON Web Key that are used here.
#[derive(Debug, Clone, Deserialize)]
struct Key {
    kty: String,
    kid: Option<String>,
    #[serde(rename = "use")]
    purpose: Option<String>,
    alg: Option<String>,
    crv: Option<String>,
    n: Option<String>,
    e: Option<String>,
    x: Option<String>,
    y: Option<String>,
}

/// Why a token is rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bad {
    /// It is not a token of a supported kind.
    Token,
    /// No key matches; the provider may have newer ones.
    Key,
}

#[derive(Deserialize)]
struct Head {
    alg: String,
    kid: Option<String>,
    #[serde(default)]
    crit: Option<Value>,
}

impl Keys {
    /// Parses a key set. Unusable keys are skipped.
    pub(super) fn read(set: &Value) -> Self {
        let keys = set
            .get("keys")
            .and_then(Value::as_array)
            .map_or(&[][..], Vec::as_slice);
        let read = |key: &Value| Key::deserialize(key).ok();
        Self(
            keys.iter()
                .take(MAX_KEYS)
                .filter_map(read)
                .filter(Key::is_for_signatures)
                .collect(),
        )
    }

    /// The claims of the token, if one of these keys has signed it.
    pub(super) fn verify(&self, token: &str) -> Result<Value, Bad> {
        if token.len() > TOKEN_LIMIT_BYTES {
            return Err(Bad::Token);
        }
        let (signed, signature) = token.rsplit_once('.').ok_or(Bad::Token)?;
        let (head, claims) = signed.split_once('.').ok_or(Bad::Token)?;
        let signature = decode(signature).ok_or(Bad::Token)?;
        let head: Head = json(head).ok_or(Bad::Token)?;
        // Critical extensions must be understood, and none is supported.
        if head.crit.is_some() || !ALGORITHMS.contains(&head.alg.as_str()) {
            return Err(Bad::Token);
        }
        let may_be = |key: &&Key| head.kid.is_none() || key.kid.is_none() || key.kid == head.kid;
        let fits = |key: &Key| key.verifies(&head.alg, signed.as_bytes(), &signature) == Some(true);
        if !self.0.iter().filter(may_be).any(fits) {
            return Err(Bad::Key);
        }
        json(claims).ok_or(Bad::Token)
    }
}

const ALGORITHMS: [&str; 9] = [
    "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "EdDSA",
];

impl Key {
    fn is_for_signatures(&self) -> bool {
        self.purpose
            .as_deref()
            .is_none_or(|purpose| purpose == "sig")
    }

    /// `None` if the key is not for this algorithm.
    fn verifies(&self, alg: &str, signed: &[u8], signature: &[u8]) -> Option<bool> {
        if self.alg.as_deref().is_some_and(|own| own != alg) {
            return None;
        }
        let part = |text: &Option<String>| text.as_deref().and_then(decode);
        if let Some(parameters) = rsa(alg) {
            if self.kty != "RSA" {
                return None;
            }
            let key = RsaPublicKeyComponents {
                n: part(&self.n)?,
                e: part(&self.e)?,
            };
            return Some(key.verify(parameters, signed, signature).is_ok());
        }
        let (algorithm, kty, curve): (&'static dyn VerificationAlgorithm, _, _) = match alg {
            "ES256" => (&ECDSA_P256_SHA256_FIXED, "EC", "P-256"),
            "ES384" => (&ECDSA_P384_SHA384_FIXED, "EC", "P-384"),
            "EdDSA" => (&ED25519, "OKP", "Ed25519"),
            _ => return None,
        };
        if self.kty != kty || self.crv.as_deref() != Some(curve) {
            return None;
        }
        let point = match kty {
            "EC" => [&[4][..], &part(&self.x)?, &part(&self.y)?].concat(),
            _ => part(&self.x)?,
        };
        Some(
            UnparsedPublicKey::new(algorithm, point)
                .verify(signed, signature)
                .is_ok(),
        )
    }
}

fn rsa(alg: &str) -> Option<&'static RsaParameters> {
    Some(match alg {
        "RS256" => &RSA_PKCS1_2048_8192_SHA256,
        "RS384" => &RSA_PKCS1_2048_8192_SHA384,
        "RS512" => &RSA_PKCS1_2048_8192_SHA512,
        "PS256" => &RSA_PSS_2048_8192_SHA256,
        "PS384" => &RSA_PSS_2048_8192_SHA384,
        "PS512" => &RSA_PSS_2048_8192_SHA512,
        _ => return None,
    })
}

fn decode(text: &str) -> Option<Vec<u8>> {
    URL_SAFE_NO_PAD.decode(text).ok()
}

fn json<T: for<'de> Deserialize<'de>>(text: &str) -> Option<T> {
    serde_json::from_slice(&decode(text)?).ok()
}

#[cfg(test)]
mod tests {
    use ring::{
        hmac,
        rand::SystemRandom,
        signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair},
    };
    use serde_json::json;

    use super::*;

    fn part(value: &Value) -> String {
        URL_SAFE_NO_PAD.encode(value.to_string())
    }

    fn token(head: &Value, claims: &Value, sign: impl Fn(&[u8]) -> Vec<u8>) -> String {
        let signed = format!("{}.{}", part(head), part(claims));
        let signature = URL_SAFE_NO_PAD.encode(sign(signed.as_bytes()));
        format!("{signed}.{signature}")
    }

    /// Created with another program: its key, and a token for each of two algorithms.
    #[test]
    fn what_others_sign_with_rsa_is_good() {
        let n = concat!(
            "3XviczcuM643ypSHT50XYZ-enY84YrEEparqZz6wpytkF5Th1d4WrbaA_IEjO_ONId8X6o0GU0K6dkEc-G4oO-j4ZqlJRbCk9y1v",
            "6EtGkS33TJEa24BkmG_IWHS1VIGaMOz1kjOoNTsSVb02cV3W-9gEDCpqfYWLuNhCEt8gj90mvM1_mHko6OS68yRZp7H80p4vg8-_",
            "KeIHB_EKbQ3xMHroTYTQ1jhsR7WfgQjArvaPcARagPm1R_YDKTAh3NdJixcn9xcTGPokFW7CpzSF95yBja1hafGG40agGWZ2Bsbh",
            "27tRWllXz2LH75o_Pd1-3mS8DuGcUtZG3DcjcMBDJw",
        );
        let keys = Keys::read(&json!({"keys": [{"kty": "RSA", "e": "AQAB", "n": n}]}));
        let rs256 = concat!(
            "eyJhbGciOiAiUlMyNTYifQ.eyJzdWIiOiAiNyJ9.sjXyDnQAcxELXQR4JAb7h4vJi3Rz2X4HPAj4kwtkC3O5fqF5xsxmLEOLStUs",
            "XW2lXMher769t-3fBPC0fs0VLJEeIwef-vN1bch5IPeySyzNNT1E6mVQ3BFIA6PpY1Qb7UpaMnoRjARGF_8FJkKm3DbFzOfyJQiq",
            "ZO-sz--vQPeU6NHeiZ1RqllPT6t0f0WNayRzhbYKicHoJi5zxrD_JWCn5eyfr0moJGcgHuVU5BApkkRqZSLbduyORV7Or8xBjtkW",
            "4O1krpb2gHawVXVVo9VOzxW-JIQarc91VJWj-4_Zno9Ybkq2vzQTaTun0eJXH2ZnOFzlCDG9Ld6NRybS0Q",
        );
        let ps512 = concat!(
            "eyJhbGciOiAiUFM1MTIifQ.eyJzdWIiOiAiNyJ9.diMbtu2CdQ8xkPYz8LBEAqdmGM_kFElYt2a9wzTzK_FEfPH-Lweso1fdSLzy",
            "dST3KSQQEq2s-wh2yACzVkl_KIziXBES8dUTEEib2qH2ufQS9OcDDGL6jbktSpHAlh3zrgqfmdNCwfm6sk1JJolLZp3VtyF-ENlj",
            "ev5KtkrxpWTyHUkBAh5phldYMXKwjoqkdSsnhD7LlGnG4G5sZJsRAUgfIH8fDbYzLCCFXxatYJ5B4huU0Qz0dhtHINv4euDyT1Fx",
            "dJzK5Oj6iMtQcM-9cWaDX4Tbzl6Q24Dlz43eqCRIsTd2_oiScQZw1jLoKyo86tdo2kGvusnQ9bRNIYo6Eg",
        );
        for good in [rs256, ps512] {
            assert_eq!(keys.verify(good), Ok(json!({"sub": "7"})));
            let (begin, signature) = good.split_once('.').unwrap();
            let other = format!("{begin}.{}", signature.replacen('.', "A.", 1));
            assert!(keys.verify(&other).is_err());
        }
    }

    #[test]
    fn only_what_a_published_key_has_signed_is_good() {
        let random = SystemRandom::new();
        let pkcs8 =
            EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random).unwrap();
        let pair =
            EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, pkcs8.as_ref(), &random)
                .unwrap();
        let (x, y) = pair.public_key().as_ref()[1..].split_at(32);
        let x = URL_SAFE_NO_PAD.encode(x);
        let y = URL_SAFE_NO_PAD.encode(y);
        let key = json!({"kty": "EC", "crv": "P-256", "kid": "1", "use": "sig", "x": x, "y": y});
        let keys = Keys::read(&json!({"keys": [{"kty": "odd"}, 7, key]}));
        let sign = |signed: &[u8]| pair.sign(&random, signed).unwrap().as_ref().to_vec();
        let claims = json!({"sub": "7"});
        let head = json!({"alg": "ES256", "kid": "1"});
        let good = token(&head, &claims, sign);
        assert_eq!(keys.verify(&good), Ok(claims.clone()));

        let (begin, signature) = good.rsplit_once('.').unwrap();
        let other = format!("{}.{}.{signature}", part(&head), part(&json!({"sub": "8"})));
        assert_eq!(keys.verify(&other), Err(Bad::Key));
        assert_eq!(
            keys.verify(&token(&json!({"alg": "ES256", "kid": "2"}), &claims, sign)),
            Err(Bad::Key)
        );
        assert_eq!(Keys::default().verify(&good), Err(Bad::Key));
        // Without a signature, and with a shared secret that everybody knows: the public key.
        let none = token(&json!({"alg": "none"}), &claims, |_| Vec::new());
        assert_eq!(keys.verify(&none), Err(Bad::Token));
        let shared = token(&json!({"alg": "HS256", "kid": "1"}), &claims, |signed| {
            let key = hmac::Key::new(hmac::HMAC_SHA256, pair.public_key().as_ref());
            hmac::sign(&key, signed).as_ref().to_vec()
        });
        assert_eq!(keys.verify(&shared), Err(Bad::Token));
        let must = token(&json!({"alg": "ES256", "crit": ["exp"]}), &claims, sign);
        assert_eq!(keys.verify(&must), Err(Bad::Token));
        for odd in [
            "",
            ".",
            "..",
            "a.b.c",
            begin,
            &format!("{begin}."),
            &"x".repeat(40_000),
        ] {
            assert!(keys.verify(odd).is_err(), "{odd:.20}");
        }
        // A key for encryption or for another algorithm is not used.
        for (name, value) in [
            ("use", "enc"),
            ("alg", "ES384"),
            ("crv", "P-384"),
            ("kty", "OKP"),
        ] {
            let mut wrong = key.clone();
            wrong[name] = json!(value);
            let keys = Keys::read(&json!({"keys": [wrong]}));
            assert_eq!(keys.verify(&good), Err(Bad::Key), "{name}");
        }
    }

    #[test]
    fn edwards_curves_are_known_too() {
        let pkcs8 = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).unwrap();
        let pair = Ed25519KeyPair::from_pkcs8(pkcs8.as_ref()).unwrap();
        let x = URL_SAFE_NO_PAD.encode(pair.public_key().as_ref());
        let keys = Keys::read(&json!({"keys": [{"kty": "OKP", "crv": "Ed25519", "x": x}]}));
        let claims = json!({"sub": "7"});
        let good = token(&json!({"alg": "EdDSA"}), &claims, |signed| {
            pair.sign(signed).as_ref().to_vec()
        });
        assert_eq!(keys.verify(&good), Ok(claims));
    }
}
