//! WebAuthn (level 3) ceremonies: verifies the registration of a passkey and its use. Who owns a passkey is stored
//! elsewhere. Attestation statements, which identify the authenticator's manufacturer, are neither requested nor
//! trusted.

mod cbor;
mod key;

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use ring::digest::{SHA256, digest};
use serde::Deserialize;

use cbor::{Malformed, Reader};
pub use key::ALGORITHMS;
use key::Key;

/// The maximum length of a passkey's id, in bytes, as in the standard.
pub const MAX_ID_BYTES: usize = 1023;
/// The maximum length of other fields, in bytes; attestation statements with certificates are the longest.
const MAX_BYTES: usize = 16_000;

const USER_PRESENT: u8 = 0x01;
const USER_VERIFIED: u8 = 0x04;
const MAY_BE_BACKED_UP: u8 = 0x08;
const IS_BACKED_UP: u8 = 0x10;
const HAS_KEY: u8 = 0x40;
const HAS_EXTENSIONS: u8 = 0x80;

/// Why a response is invalid, for the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Flaw(pub &'static str);

/// The relying party: this server as browsers see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Party {
    /// Scheme, host and optional port, as browsers write it.
    origin: String,
    /// The host.
    pub id: String,
}

/// Bytes in base64url, as browsers send them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bytes(pub Vec<u8>);

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let short = Some(text).filter(|text| text.len() <= MAX_BYTES * 4 / 3);
        let bytes = short.and_then(|text| URL_SAFE_NO_PAD.decode(text.trim_end_matches('=')).ok());
        bytes.map(Self).ok_or_else(|| {
            serde::de::Error::custom("base64url of at most 16,000 bytes is expected")
        })
    }
}

/// A browser's response to the registration of a passkey.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RegistrationResponse {
    #[serde(rename = "clientDataJSON")]
    client_data: Bytes,
    attestation_object: Bytes,
}

/// A browser's response to the use of a passkey.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AuthenticationResponse {
    #[serde(rename = "clientDataJSON")]
    client_data: Bytes,
    authenticator_data: Bytes,
    signature: Bytes,
    /// The id of the account that the authenticator stores with the passkey.
    pub user_handle: Option<Bytes>,
}

/// A newly registered passkey.
#[derive(Debug, PartialEq, Eq)]
pub struct NewKey {
    /// The passkey's id.
    pub id: Vec<u8>,
    /// The public key as encoded by the authenticator.
    pub public_key: Vec<u8>,
    /// The signature counter.
    pub count: u32,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ClientData {
    r#type: String,
    challenge: String,
    origin: String,
    #[serde(default)]
    cross_origin: bool,
}

/// The data that an authenticator signs.
struct AuthenticatorData<'a> {
    count: u32,
    /// The id and the public key, if a passkey was created.
    made: Option<(&'a [u8], &'a [u8])>,
}

impl Party {
    /// The relying party for this origin; `None` if passkeys cannot be used there: browsers require a host name, and
    /// TLS unless it is this machine.
    #[must_use]
    pub fn of(origin: &str) -> Option<Self> {
        let (scheme, authority) = origin.split_once("://")?;
        let usual = if scheme == "https" { ":443" } else { ":80" };
        let authority = authority.strip_suffix(usual).unwrap_or(authority);
        let host = authority
            .rsplit_once(':')
            .map_or(authority, |(host, _)| host);
        let is_name = host.parse::<std::net::IpAddr>().is_err() && !authority.starts_with('[');
        let is_safe = scheme == "https" || host == "localhost";
        (is_name && is_safe && !host.is_empty()).then(|| Self {
            origin: format!("{scheme}://{authority}"),
            id: host.to_owned(),
        })
    }

    /// Verifies the registration of a passkey for this challenge.
    ///
    /// # Errors
    /// If the response is invalid.
    pub fn made(&self, made: &RegistrationResponse, challenge: &[u8]) -> Result<NewKey, Flaw> {
        self.check_client(&made.client_data.0, "webauthn.create", challenge)?;
        let flaw = |Malformed| Flaw("the attestation cannot be read");
        let data = authenticator_data_of(&made.attestation_object.0).map_err(flaw)?;
        let AuthenticatorData { count, made } = self.read(data)?;
        let (id, public_key) = made.ok_or(Flaw("no key was made"))?;
        Ok(NewKey {
            id: id.to_owned(),
            public_key: public_key.to_owned(),
            count,
        })
    }

    /// Verifies the use of the passkey with this key for this challenge, and returns its signature counter.
    ///
    /// # Errors
    /// If the response is invalid.
    pub fn used(
        &self,
        used: &AuthenticationResponse,
        challenge: &[u8],
        public_key: &[u8],
    ) -> Result<u32, Flaw> {
        self.check_client(&used.client_data.0, "webauthn.get", challenge)?;
        let data = self.read(&used.authenticator_data.0)?;
        let key = Key::read(&mut Reader::new(public_key))
            .map_err(|Malformed| Flaw("the stored key is damaged"))?;
        let client = digest(&SHA256, &used.client_data.0);
        let signed = [&used.authenticator_data.0[..], client.as_ref()].concat();
        if !key.verifies(&signed, &used.signature.0) {
            return Err(Flaw("the signature is not the key's"));
        }
        Ok(data.count)
    }

    fn check_client(&self, bytes: &[u8], kind: &str, challenge: &[u8]) -> Result<(), Flaw> {
        let client: ClientData =
            serde_json::from_slice(bytes).map_err(|_| Flaw("the client data cannot be read"))?;
        if client.r#type != kind {
            return Err(Flaw("it was done for something else"));
        }
        if client.challenge.trim_end_matches('=') != URL_SAFE_NO_PAD.encode(challenge) {
            return Err(Flaw("the challenge is another one"));
        }
        if client.cross_origin || client.origin != self.origin {
            return Err(Flaw("the page is another site's"));
        }
        Ok(())
    }

    fn read<'a>(&self, bytes: &'a [u8]) -> Result<AuthenticatorData<'a>, Flaw> {
        let malformed = |Malformed| Flaw("the authenticator's data cannot be read");
        let mut reader = Reader::new(bytes);
        let site = reader.take(32).map_err(malformed)?;
        let head: [u8; 5] = reader
            .take(5)
            .map_err(malformed)?
            .try_into()
            .map_err(|_| malformed(Malformed))?;
        let [flags, count @ ..] = head;
        let has = |flag| flags & flag != 0;
        if site != digest(&SHA256, self.id.as_bytes()).as_ref() {
            return Err(Flaw("it belongs to another site"));
        }
        if !has(USER_PRESENT) || !has(USER_VERIFIED) {
            return Err(Flaw("nobody has shown that it is them"));
        }
        if has(IS_BACKED_UP) && !has(MAY_BE_BACKED_UP) {
            return Err(Flaw("it is backed up and cannot be"));
        }
        let made = if has(HAS_KEY) {
            Some(made_key(&mut reader).map_err(malformed)?)
        } else {
            None
        };
        if has(HAS_EXTENSIONS) {
            reader.skip().map_err(malformed)?;
        }
        reader.end().map_err(malformed)?;
        Ok(AuthenticatorData {
            count: u32::from_be_bytes(count),
            made,
        })
    }
}

/// The id and the key of a new passkey.
fn made_key<'a>(reader: &mut Reader<'a>) -> Result<(&'a [u8], &'a [u8]), Malformed> {
    // The authenticator's model (AAGUID), which is not attested.
    reader.take(16)?;
    let length: [u8; 2] = reader.take(2)?.try_into().map_err(|_| Malformed)?;
    let id = reader.take(u16::from_be_bytes(length).into())?;
    if id.is_empty() || id.len() > MAX_ID_BYTES {
        return Err(Malformed);
    }
    let before = reader.rest();
    Key::read(reader)?;
    let key = before
        .get(..before.len() - reader.rest().len())
        .ok_or(Malformed)?;
    Ok((id, key))
}

/// The authenticator data in an attestation; the statement is skipped.
fn authenticator_data_of(attestation: &[u8]) -> Result<&[u8], Malformed> {
    let mut reader = Reader::new(attestation);
    let mut data = None;
    for _ in 0..reader.map()? {
        match (reader.text()?, &data) {
            ("authData", None) => data = Some(reader.bytes()?),
            ("authData", Some(_)) => return Err(Malformed),
            _ => reader.skip()?,
        }
    }
    reader.end()?;
    data.ok_or(Malformed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn browsers_want_a_name_and_tls() {
        for (origin, expected) in [
            (
                "https://ai.example.org",
                Some(("https://ai.example.org", "ai.example.org")),
            ),
            (
                "https://ai.example.org:443",
                Some(("https://ai.example.org", "ai.example.org")),
            ),
            (
                "https://ai.example.org:8443",
                Some(("https://ai.example.org:8443", "ai.example.org")),
            ),
            (
                "http://localhost:8000",
                Some(("http://localhost:8000", "localhost")),
            ),
            ("http://localhost", Some(("http://localhost", "localhost"))),
            ("http://ai.example.org", None),
            ("http://127.0.0.1:8000", None),
            ("https://[::1]:8000", None),
            ("https://[::1]", None),
            ("https://", None),
            ("", None),
        ] {
            let party = Party::of(origin);
            let party = party
                .as_ref()
                .map(|party| (party.origin.as_str(), party.id.as_str()));
            assert_eq!(party, expected, "{origin}");
        }
    }
}
