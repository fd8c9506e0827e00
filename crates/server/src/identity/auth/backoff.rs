//! Exponential backoff against guessing of passwords and codes: after a few free failures, each further one doubles the
//! wait.

use std::{
    collections::HashMap,
    net::IpAddr,
    sync::{Mutex, PoisonError},
};

use auth_protocols::second_factor::CodeKind;
use domain::UserId;

use crate::platform::proxies::network;

/// Failures per address and account before the backoff starts: people mistype.
const FREE_PER_ACCOUNT: u32 = 5;
/// Failures per address for all accounts together; offices share an address.
const FREE_PER_ADDRESS: u32 = 50;
/// Wrong passwords per account from all addresses together, except from devices that have signed in to it before.
const FREE_EVERYWHERE: u32 = 100;
/// Wrong TOTP codes per account from all addresses together: an attacker with thousands of addresses could guess a
/// million codes in a day.
const FREE_CODES: u32 = 20;
const MAX_WAIT_MS: i64 = 15 * 60_000;
/// Failures are forgotten after this long without another one.
const FORGET_AFTER_MS: i64 = 60 * 60_000;
/// Bounds the memory; an entry takes some 100 bytes.
const MAX_ENTRIES: usize = 20_000;

/// Failed attempts per address, and per address and account. Bounded.
#[derive(Debug, Default)]
pub struct Backoff(Mutex<HashMap<Key, Failures>>);

/// The address, or `None` for all addresses, and the account or device.
type Key = (Option<IpAddr>, Option<[u8; 32]>);

#[derive(Debug, Clone, Copy, Default)]
struct Failures {
    count: u32,
    last_ms: i64,
}

impl Failures {
    fn open_at_ms(self, free: u32) -> i64 {
        if self.count < free {
            return i64::MIN;
        }
        let doublings = (self.count - free).min(20);
        self.last_ms + (1000_i64 << doublings).min(MAX_WAIT_MS)
    }
}

impl Backoff {
    /// Counts a new attempt as failed; [`Backoff::succeeded`] takes it back. Counting beforehand means that concurrent
    /// guesses gain nothing.
    ///
    /// # Errors
    /// The number of seconds to wait first, at least 1.
    pub fn begin(&self, address: IpAddr, account: &str, now_ms: i64) -> Result<(), u64> {
        self.count(&password_keys(address, account), now_ms)
    }

    /// [`Backoff::begin`] for a sign-in with a password. Guesses for one account also count across all addresses, so
    /// that thousands of addresses gain little. This does not lock owners out of their accounts: a device that has
    /// signed in before is counted separately.
    ///
    /// # Errors
    /// As [`Backoff::begin`].
    pub fn begin_sign_in(
        &self,
        address: IpAddr,
        account: &str,
        device: Option<[u8; 32]>,
        now_ms: i64,
    ) -> Result<(), u64> {
        match device {
            Some(device) => self.count(&[device_key(device)], now_ms),
            None => self.count(&sign_in_keys(address, account), now_ms),
        }
    }

    /// Takes back the attempt after a sign-in with the right password.
    pub fn signed_in(&self, address: IpAddr, account: &str, device: Option<[u8; 32]>) {
        match device {
            Some(device) => self.take_back(device_key(device).0, &[]),
            None => {
                let [(own, _), (shared, _), (everywhere, _)] = sign_in_keys(address, account);
                self.take_back(own, &[shared, everywhere]);
            }
        }
    }

    /// [`Backoff::begin`] for a second-factor code. TOTP codes count across all addresses: an attacker who knows the
    /// password can block the use of the app, but not of a recovery code.
    ///
    /// # Errors
    /// As [`Backoff::begin`].
    pub fn begin_code(
        &self,
        address: IpAddr,
        account: UserId,
        kind: CodeKind,
        now_ms: i64,
    ) -> Result<(), u64> {
        let [own, shared, everywhere] = code_keys(address, account);
        match kind {
            CodeKind::Short => self.count(&[own, shared, everywhere], now_ms),
            CodeKind::Recovery => self.count(&[shared], now_ms),
        }
    }

    fn count(&self, keys: &[(Key, u32)], now_ms: i64) -> Result<(), u64> {
        let mut failures = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for (key, free) in keys {
            let known = failures.get(key).copied().unwrap_or_default();
            let wait_ms = known.open_at_ms(*free).saturating_sub(now_ms);
            if wait_ms > 0 && known.count > 0 {
                return Err(u64::try_from(wait_ms).unwrap_or(0).div_ceil(1000));
            }
        }
        if failures.len() + keys.len() > MAX_ENTRIES {
            make_room(&mut failures, now_ms);
        }
        for (key, _) in keys {
            let entry = failures.entry(*key).or_default();
            if now_ms - entry.last_ms > FORGET_AFTER_MS {
                entry.count = 0;
            }
            entry.count += 1;
            entry.last_ms = now_ms;
        }
        Ok(())
    }

    /// Takes back the attempt: the password was right.
    pub fn succeeded(&self, address: IpAddr, account: &str) {
        let [(own, _), (shared, _)] = password_keys(address, account);
        self.take_back(own, &[shared]);
    }

    /// Takes back the attempt: the code was right.
    pub fn code_succeeded(&self, address: IpAddr, account: UserId, kind: CodeKind) {
        let [(own, _), (shared, _), (everywhere, _)] = code_keys(address, account);
        match kind {
            // Failures from other addresses still count.
            CodeKind::Short => self.take_back(own, &[shared, everywhere]),
            CodeKind::Recovery => self.take_back(own, &[shared]),
        }
    }

    /// Removes the failures of this key, and takes back one attempt of each shared key.
    fn take_back(&self, own: Key, shared: &[Key]) {
        let mut failures = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        failures.remove(&own);
        for key in shared {
            if let Some(shared) = failures.get_mut(key) {
                shared.count = shared.count.saturating_sub(1);
            }
        }
    }
}

fn password_keys(address: IpAddr, account: &str) -> [(Key, u32); 2] {
    let address = Some(network(address));
    let account = crate::platform::secret::hash_token(&account.to_lowercase());
    [
        ((address, Some(account)), FREE_PER_ACCOUNT),
        ((address, None), FREE_PER_ADDRESS),
    ]
}

fn sign_in_keys(address: IpAddr, account: &str) -> [(Key, u32); 3] {
    let [own, shared] = password_keys(address, account);
    let (_, account) = own.0;
    [own, shared, ((None, account), FREE_EVERYWHERE)]
}

/// A device is identified by the hash of a token that its browser keeps.
fn device_key(device: [u8; 32]) -> (Key, u32) {
    ((None, Some(device)), FREE_PER_ACCOUNT)
}

fn code_keys(address: IpAddr, account: UserId) -> [(Key, u32); 3] {
    let address = Some(network(address));
    // Cannot collide with an e-mail address.
    let account = Some(crate::platform::secret::hash_token(&format!(
        "code of {account}"
    )));
    [
        ((address, account), FREE_PER_ACCOUNT),
        ((address, None), FREE_PER_ADDRESS),
        ((None, account), FREE_CODES),
    ]
}

/// Evicts the older half. An attacker with enough addresses can cause this, but does not gain much.
fn make_room(failures: &mut HashMap<Key, Failures>, now_ms: i64) {
    failures.retain(|_, entry| now_ms - entry.last_ms <= FORGET_AFTER_MS);
    if failures.len() + 3 > MAX_ENTRIES {
        let mut times: Vec<i64> = failures.values().map(|entry| entry.last_ms).collect();
        times.sort_unstable();
        let middle = times[times.len() / 2];
        failures.retain(|_, entry| entry.last_ms > middle);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOME: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);

    #[test]
    fn waits_grow_and_end_with_success() {
        let backoff = Backoff::default();
        for _ in 0..FREE_PER_ACCOUNT {
            assert_eq!(backoff.begin(HOME, "a@example.org", 0), Ok(()));
        }
        assert_eq!(backoff.begin(HOME, "A@Example.org", 0), Err(1));
        assert_eq!(backoff.begin(HOME, "b@example.org", 0), Ok(()));
        assert_eq!(backoff.begin(HOME, "a@example.org", 1000), Ok(()));
        assert_eq!(backoff.begin(HOME, "a@example.org", 1000), Err(2));
        backoff.succeeded(HOME, "a@example.org");
        assert_eq!(backoff.begin(HOME, "a@example.org", 1000), Ok(()));
    }

    #[test]
    fn trying_many_accounts_is_slowed_too() {
        let backoff = Backoff::default();
        for n in 0..FREE_PER_ADDRESS {
            assert_eq!(backoff.begin(HOME, &n.to_string(), 0), Ok(()));
        }
        assert_eq!(backoff.begin(HOME, "another", 0), Err(1));
        assert_eq!(
            backoff.begin("10.0.0.1".parse().unwrap(), "another", 0),
            Ok(())
        );
        assert_eq!(backoff.begin(HOME, "another", FORGET_AFTER_MS + 1), Ok(()));
    }

    #[test]
    fn short_codes_are_slowed_wherever_they_come_from() {
        let backoff = Backoff::default();
        let ada = UserId::generate();
        let begin = |last, kind| {
            let address = IpAddr::from([10, 0, 0, last]);
            backoff.begin_code(address, ada, kind, 0)
        };
        for n in 0..FREE_PER_ACCOUNT {
            assert_eq!(begin(1, CodeKind::Short), Ok(()), "{n}");
        }
        assert_eq!(begin(1, CodeKind::Short), Err(1));
        for n in 5..20 {
            assert_eq!(begin(n, CodeKind::Short), Ok(()), "{n}");
        }
        assert_eq!(
            begin(20, CodeKind::Short),
            Err(1),
            "nowhere is a good place any more"
        );
        assert_eq!(
            begin(20, CodeKind::Recovery),
            Ok(()),
            "but for whoever has another code"
        );
        assert_eq!(begin(1, CodeKind::Recovery), Ok(()));
        backoff.code_succeeded(IpAddr::from([10, 0, 0, 20]), ada, CodeKind::Recovery);
        assert_eq!(
            begin(21, CodeKind::Short),
            Err(1),
            "what was tried elsewhere still counts"
        );
        // Passwords are counted separately.
        assert_eq!(
            backoff.begin(IpAddr::from([10, 0, 0, 1]), "ada@example.org", 0),
            Ok(())
        );
    }

    #[test]
    fn guesses_from_everywhere_are_slowed_but_not_for_the_owners_devices() {
        let backoff = Backoff::default();
        let from = |n: u32| IpAddr::from((0x0a00_0000 + n).to_be_bytes());
        let begin = |n, device| backoff.begin_sign_in(from(n), "ada@example.org", device, 0);
        let device = Some([7; 32]);
        for n in 0..FREE_EVERYWHERE {
            assert_eq!(begin(n, None), Ok(()), "{n}");
        }
        assert_eq!(
            begin(1000, None),
            Err(1),
            "nowhere is a good place any more"
        );
        assert_eq!(
            backoff.begin_sign_in(from(1000), "bob@example.org", None, 0),
            Ok(())
        );
        // A device that has signed in before is not locked out, even if the guesses come from the same address.
        assert_eq!(begin(1, device), Ok(()));
        backoff.signed_in(from(1), "ada@example.org", device);
        for _ in 0..FREE_PER_ACCOUNT {
            assert_eq!(begin(1, device), Ok(()));
        }
        assert_eq!(begin(1, device), Err(1), "nor does a device guess on");
        // Failures from other addresses still count.
        assert_eq!(begin(1000, None), Err(1));
        assert_eq!(
            backoff.begin_sign_in(from(1000), "ada@example.org", None, FORGET_AFTER_MS + 1),
            Ok(())
        );
    }

    #[test]
    fn an_ipv6_network_is_one_address() {
        let same = |a: &str, b: &str| network(a.parse().unwrap()) == network(b.parse().unwrap());
        assert!(same("2001:db8::1", "2001:db8::ffff:1"));
        assert!(!same("2001:db8::1", "2001:db8:0:1::1"));
        assert!(same("::ffff:10.0.0.1", "10.0.0.1"));
        assert!(!same("10.0.0.1", "10.0.0.2"));
    }

    #[test]
    fn memory_is_bounded() {
        let backoff = Backoff::default();
        for n in 0..50_000_u32 {
            let address = IpAddr::V4(n.into());
            assert_eq!(backoff.begin(address, "a", i64::from(n)), Ok(()));
        }
        assert!(backoff.0.lock().unwrap().len() <= MAX_ENTRIES);
    }
}
