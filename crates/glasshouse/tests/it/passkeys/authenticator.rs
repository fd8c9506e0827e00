//! An authenticator and the browser before it, which do what they should, or one thing that they should not.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use ring::{
    digest::{SHA256, digest},
    rand::SystemRandom,
    signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair},
};
use serde_json::{Value, json};

/// One passkey.
pub(super) struct Authenticator {
    pkcs8: Vec<u8>,
    is_edwards: bool,
    pub(super) id: Vec<u8>,
    /// Whose it is, as it was told.
    pub(super) user: Vec<u8>,
    count: u32,
    counts: bool,
}

/// What is not as it should be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lie {
    None,
    /// The page is another site's.
    Origin,
    /// It is inside another site's page.
    Frame,
    /// The passkey is for another site.
    Site,
    /// It was another challenge.
    Challenge,
    /// It was done for the other purpose.
    Purpose,
    /// Nobody has touched it.
    NobodyThere,
    /// Nobody has shown a finger or a PIN.
    NobodyVerified,
    /// It says that it is backed up and cannot be.
    BackedUp,
    /// More follows than it says.
    More,
    /// The extensions that it says are there are not.
    NoExtensions,
    /// It is cut off.
    CutOff,
    /// The signature, or the key, is damaged.
    Signature,
}

impl Lie {
    pub(super) const ALL: [Self; 12] = [
        Self::Origin,
        Self::Frame,
        Self::Site,
        Self::Challenge,
        Self::Purpose,
        Self::NobodyThere,
        Self::NobodyVerified,
        Self::BackedUp,
        Self::More,
        Self::NoExtensions,
        Self::CutOff,
        Self::Signature,
    ];
}

fn text(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

impl Authenticator {
    pub(super) fn es256() -> Self {
        let pkcs8 =
            EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_ASN1_SIGNING, &SystemRandom::new());
        Self::with(pkcs8.unwrap().as_ref(), false)
    }

    pub(super) fn ed_dsa() -> Self {
        Self::with(
            Ed25519KeyPair::generate_pkcs8(&SystemRandom::new())
                .unwrap()
                .as_ref(),
            true,
        )
    }

    fn with(pkcs8: &[u8], is_edwards: bool) -> Self {
        let id = digest(&SHA256, pkcs8).as_ref().to_vec();
        Self {
            pkcs8: pkcs8.to_vec(),
            is_edwards,
            id,
            user: Vec::new(),
            count: 0,
            counts: true,
        }
    }

    /// One that does not count how often it was used.
    pub(super) fn uncounted(self) -> Self {
        Self {
            counts: false,
            ..self
        }
    }

    /// The same passkey once more.
    pub(super) fn copy(&self) -> Self {
        let (pkcs8, id, user) = (self.pkcs8.clone(), self.id.clone(), self.user.clone());
        Self {
            pkcs8,
            id,
            user,
            ..*self
        }
    }

    pub(super) fn make(&mut self, origin: &str, options: &Value) -> Value {
        self.make_with(origin, options, Lie::None)
    }

    pub(super) fn make_with(&mut self, origin: &str, options: &Value, lie: Lie) -> Value {
        assert_eq!(options["attestation"], "none");
        assert_eq!(
            options["authenticatorSelection"]["userVerification"],
            "required"
        );
        self.user = URL_SAFE_NO_PAD
            .decode(options["user"]["id"].as_str().unwrap())
            .unwrap();
        let kind = if lie == Lie::Purpose {
            "webauthn.get"
        } else {
            "webauthn.create"
        };
        let client = client_data(kind, origin, options, lie);
        let mut key = self.public_key();
        if lie == Lie::Signature {
            // The algorithm of the other kind.
            key[4] ^= 1;
        }
        let length = u16::try_from(self.id.len()).unwrap().to_be_bytes();
        let made = [&[0; 16][..], &length, &self.id, &key].concat();
        let data = self.data(options["rp"]["id"].as_str().unwrap(), 0x40, &made, lie);
        let length = u8::try_from(data.len()).unwrap();
        // A map of `fmt`, `attStmt` and `authData`.
        let attestation = [
            &b"\xa3\x63fmt\x64none\x67attStmt\xa0\x68authData\x58"[..],
            &[length],
            &data,
        ]
        .concat();
        json!({
            "id": text(&self.id), "rawId": text(&self.id), "type": "public-key",
            "response": {"clientDataJSON": text(&client), "attestationObject": text(&attestation)},
        })
    }

    pub(super) fn use_it(&mut self, origin: &str, options: &Value, lie: Lie) -> Value {
        assert_eq!(
            (&options["userVerification"], &options["allowCredentials"]),
            (&json!("required"), &json!([]))
        );
        let kind = if lie == Lie::Purpose {
            "webauthn.create"
        } else {
            "webauthn.get"
        };
        let client = client_data(kind, origin, options, lie);
        self.count += u32::from(self.counts);
        let data = self.data(options["rpId"].as_str().unwrap(), 0, &[], lie);
        let mut signature = self.sign(&[&data[..], digest(&SHA256, &client).as_ref()].concat());
        if lie == Lie::Signature {
            *signature.last_mut().unwrap() ^= 1;
        }
        json!({
            "id": text(&self.id), "rawId": text(&self.id), "type": "public-key",
            "response": {
                "clientDataJSON": text(&client), "authenticatorData": text(&data),
                "signature": text(&signature), "userHandle": text(&self.user),
            },
        })
    }

    fn data(&self, site: &str, flags: u8, more: &[u8], lie: Lie) -> Vec<u8> {
        let site = if lie == Lie::Site {
            "example.org"
        } else {
            site
        };
        // Somebody is there, is known to be them, and what can be backed up is.
        let flags = match lie {
            Lie::NobodyThere => flags | 0x1c,
            Lie::NobodyVerified => flags | 0x19,
            Lie::BackedUp => flags | 0x15,
            Lie::NoExtensions => flags | 0x9d,
            _ => flags | 0x1d,
        };
        let hash = digest(&SHA256, site.as_bytes());
        let mut data = [hash.as_ref(), &[flags], &self.count.to_be_bytes(), more].concat();
        match lie {
            Lie::More => data.push(0),
            Lie::CutOff => data.truncate(data.len() - 1),
            _ => {}
        }
        data
    }

    fn public_key(&self) -> Vec<u8> {
        if self.is_edwards {
            let pair = Ed25519KeyPair::from_pkcs8(&self.pkcs8).unwrap();
            return [
                &b"\xa4\x01\x01\x03\x27\x20\x06\x21\x58\x20"[..],
                pair.public_key().as_ref(),
            ]
            .concat();
        }
        let pair = self.ecdsa();
        let (x, y) = pair.public_key().as_ref()[1..].split_at(32);
        [
            &b"\xa5\x01\x02\x03\x26\x20\x01\x21\x58\x20"[..],
            x,
            b"\x22\x58\x20",
            y,
        ]
        .concat()
    }

    fn ecdsa(&self) -> EcdsaKeyPair {
        let random = SystemRandom::new();
        EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_ASN1_SIGNING, &self.pkcs8, &random).unwrap()
    }

    fn sign(&self, message: &[u8]) -> Vec<u8> {
        if self.is_edwards {
            Ed25519KeyPair::from_pkcs8(&self.pkcs8)
                .unwrap()
                .sign(message)
                .as_ref()
                .to_vec()
        } else {
            self.ecdsa()
                .sign(&SystemRandom::new(), message)
                .unwrap()
                .as_ref()
                .to_vec()
        }
    }
}

fn client_data(kind: &str, origin: &str, options: &Value, lie: Lie) -> Vec<u8> {
    let origin = if lie == Lie::Origin {
        "http://localhost.evil.example"
    } else {
        origin
    };
    let challenge = if lie == Lie::Challenge {
        json!(text(&[0; 32]))
    } else {
        options["challenge"].clone()
    };
    let data = json!({
        "type": kind, "challenge": challenge, "origin": origin, "crossOrigin": lie == Lie::Frame,
        "other_keys_can_be_added_here": "as Chromium does",
    });
    data.to_string().into_bytes()
}
