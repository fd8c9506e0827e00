//! Second-factor codes: TOTP codes of an authenticator app, which change every 30 seconds (RFC 6238), and recovery
//! codes for users who have lost it.

use data_encoding::BASE32_NOPAD;
use domain::UserId;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use redact::Secret;
use ring::{digest, hmac};

/// The parameters that every app supports: six digits, SHA-1 and a new code every 30 seconds.
const STEP_MS: i64 = 30_000;
const DIGITS: u32 = 6;
/// The output length of SHA-1, as RFC 4226 recommends.
const SECRET_BYTES: usize = 20;
/// Tolerates clocks that are off by half a minute.
const STEPS_OFF: i64 = 1;
/// For users who have lost the app.
const RECOVERY_CODES: usize = 10;
/// 80 bits: infeasible to guess, even with the hashes.
const RECOVERY_BYTES: usize = 10;
/// Longer than any code typed with spaces and dashes.
const MAX_TYPED_BYTES: usize = 64;
/// The unreserved characters, which are not percent-encoded: a shorter URL makes a coarser QR code.
const PART: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// The shared secret of an authenticator app.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TotpSecret(Secret);

impl TotpSecret {
    /// A new secret of these random bytes.
    #[must_use]
    pub fn new(random: &[u8; SECRET_BYTES]) -> Self {
        Self(Secret::new(BASE32_NOPAD.encode(random)))
    }

    /// A secret that was stored as [`TotpSecret::text`].
    #[must_use]
    pub fn kept(text: &str) -> Self {
        Self(Secret::new(text))
    }

    /// The secret in base32, as users type it into an app.
    #[must_use]
    pub fn text(&self) -> &str {
        self.0.reveal()
    }

    /// The `otpauth` URL for an app, usually shown as a QR code: the secret and the name to show for it.
    #[must_use]
    pub fn address(&self, place: &str, account: &str) -> String {
        let [place, account] = [place, account].map(|text| utf8_percent_encode(text, PART));
        format!(
            "otpauth://totp/{place}:{account}?secret={}&issuer={place}",
            self.0.reveal()
        )
    }

    /// The time step that this code belongs to, if it is near `now_ms`; the newest first.
    #[must_use]
    pub fn step_of(&self, code: &str, now_ms: i64) -> Option<i64> {
        let key = hmac::Key::new(
            hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY,
            &BASE32_NOPAD.decode(self.0.reveal().as_bytes()).ok()?,
        );
        let now = now_ms.div_euclid(STEP_MS);
        // Comparing hashes keeps the duration independent of the code.
        let given = sha256(code);
        (now - STEPS_OFF..=now + STEPS_OFF)
            .rev()
            .find(|step| sha256(&code_of(&key, *step)) == given)
    }
}

/// HOTP, RFC 4226, section 5.3.
fn code_of(key: &hmac::Key, step: i64) -> String {
    let tag = hmac::sign(key, &step.to_be_bytes());
    let tag = tag.as_ref();
    let at = usize::from(tag.last().copied().unwrap_or(0) & 15);
    let number = tag[at..at + 4]
        .iter()
        .fold(0_u32, |number, byte| number << 8 | u32::from(*byte))
        & 0x7fff_ffff;
    format!(
        "{:0width$}",
        number % 10_u32.pow(DIGITS),
        width = DIGITS as usize
    )
}

fn sha256(text: &str) -> [u8; 32] {
    let mut hash = [0; 32];
    hash.copy_from_slice(digest::digest(&digest::SHA256, text.as_bytes()).as_ref());
    hash
}

/// The kind of a second-factor code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CodeKind {
    /// A TOTP code of an authenticator app, which is short.
    Short,
    /// A recovery code, which is too long to guess.
    Recovery,
}

/// A second-factor code as the user typed it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Code {
    kind: CodeKind,
    text: String,
}

impl Code {
    /// Parses a code, ignoring spaces and dashes; `None` if it cannot be one.
    #[must_use]
    pub fn read(typed: &str) -> Option<Self> {
        if typed.len() > MAX_TYPED_BYTES {
            return None;
        }
        let text: String = typed
            .chars()
            .filter(|c| !c.is_whitespace() && *c != '-')
            .collect();
        let text = text.to_ascii_uppercase();
        let is_short =
            text.len() == DIGITS as usize && text.bytes().all(|byte| byte.is_ascii_digit());
        let is_recovery =
            text.len() * 5 == RECOVERY_BYTES * 8 && BASE32_NOPAD.decode(text.as_bytes()).is_ok();
        match (is_short, is_recovery) {
            (true, _) => Some(Self {
                kind: CodeKind::Short,
                text,
            }),
            (_, true) => Some(Self {
                kind: CodeKind::Recovery,
                text,
            }),
            _ => None,
        }
    }

    /// The kind of code.
    #[must_use]
    pub fn kind(&self) -> CodeKind {
        self.kind
    }

    /// The code without separators.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The stored hash of a recovery code of this account.
    #[must_use]
    pub fn hash(&self, account: UserId) -> [u8; 32] {
        sha256(&format!("{account} {}", self.text))
    }
}

/// New recovery codes of these random bytes, in groups of four characters, and their hashes to store.
#[must_use]
pub fn new_recovery_codes(
    account: UserId,
    random: &[u8; RECOVERY_CODES * RECOVERY_BYTES],
) -> (Vec<String>, Vec<[u8; 32]>) {
    let mut made = (Vec::new(), Vec::new());
    for bytes in random.chunks(RECOVERY_BYTES) {
        let code = Code {
            kind: CodeKind::Recovery,
            text: BASE32_NOPAD.encode(bytes),
        };
        made.1.push(code.hash(account));
        let signs: Vec<char> = code.text.to_ascii_lowercase().chars().collect();
        made.0.push(
            signs
                .chunks(4)
                .map(String::from_iter)
                .collect::<Vec<_>>()
                .join("-"),
        );
    }
    made
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ascii(text: &[u8]) -> TotpSecret {
        TotpSecret::kept(&BASE32_NOPAD.encode(text))
    }

    /// The last six digits of the values of RFC 6238, appendix B, for SHA-1.
    #[test]
    fn codes_are_those_of_the_standard() {
        let secret = ascii(b"12345678901234567890");
        for (seconds, code) in [
            (59, "287082"),
            (1_111_111_109, "081804"),
            (1_111_111_111, "050471"),
            (1_234_567_890, "005924"),
            (2_000_000_000, "279037"),
            (20_000_000_000, "353130"),
        ] {
            assert_eq!(
                secret.step_of(code, seconds * 1000),
                Some(seconds / 30),
                "{seconds}"
            );
        }
    }

    #[test]
    fn clocks_may_be_half_a_minute_off() {
        let secret = ascii(b"12345678901234567890");
        // The code of step 1, from 30 to 60 seconds.
        for (seconds, fits) in [(0, true), (30, true), (89, true), (90, false), (-1, false)] {
            assert_eq!(
                secret.step_of("287082", seconds * 1000),
                fits.then_some(1),
                "{seconds}"
            );
        }
        assert_eq!(secret.step_of("287083", 59_000), None);
    }

    #[test]
    fn secrets_are_base32_without_padding() {
        let secret = ascii(b"12345678901234567890");
        assert_eq!(secret.text(), "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ");
        let damaged = TotpSecret::kept("MZXW6YT1");
        assert_eq!(damaged.step_of("287082", 59_000), None);
    }

    #[test]
    fn what_is_typed_is_read_with_spaces_and_dashes() {
        let kind = |typed: &str| Code::read(typed).map(|code| code.kind());
        for (typed, expected) in [
            ("123456", Some(CodeKind::Short)),
            (" 123 456\n", Some(CodeKind::Short)),
            ("abcd-efgh-ijkl-mn23", Some(CodeKind::Recovery)),
            ("ABCDEFGH IJKLMN23", Some(CodeKind::Recovery)),
            ("12345", None),
            ("1234567", None),
            ("abcd-efgh-ijkl-mn21", None),
            ("abcd-efgh-ijkl-mn2", None),
            ("", None),
            ("١٢٣٤٥٦", None),
            (&"1 ".repeat(1000), None),
        ] {
            assert_eq!(kind(typed), expected, "{typed}");
        }
    }

    #[test]
    fn recovery_codes_fit_their_own_account_only() {
        let ada = UserId::generate();
        let bob = UserId::generate();
        let random = std::array::from_fn(|at| u8::try_from(at).unwrap());
        let (shown, stored) = new_recovery_codes(ada, &random);
        assert_eq!((shown.len(), stored.len()), (10, 10));
        for (shown, stored) in shown.iter().zip(&stored) {
            assert_eq!(shown.len(), 19);
            assert_eq!(
                Code::read(&shown.replace('-', "").to_uppercase())
                    .unwrap()
                    .hash(ada),
                *stored
            );
            assert_ne!(Code::read(shown).unwrap().hash(bob), *stored);
        }
    }

    #[test]
    fn an_address_keeps_its_parts_apart() {
        let address = ascii(b"fooba").address("ai.example.org:8000", "a&b=c?d/e:f@example.org");
        assert_eq!(
            address,
            "otpauth://totp/ai.example.org%3A8000:a%26b%3Dc%3Fd%2Fe%3Af%40example.org?secret=MZXW6YTB\
             &issuer=ai.example.org%3A8000"
        );
    }
}
