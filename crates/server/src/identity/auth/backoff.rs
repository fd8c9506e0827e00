//! Exponential backoff against guessing of passwords and codes: after a few free failures, each further one doubles the
//! wait.

use std::{
    collections::HashMap,
    net::IpAddr,
    sync::{Mutex, PoisonError},
};

use auth_protocols::second_factor::CodeKind;
use data_encoding::HEXLOWER;
use domain::UserId;
use store::{SignInFailures, Store, StoreError};

use crate::{error::ApiError, platform::proxies::network};

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

/// The failures of sign-ins, counted in this process or, if several servers share the database, there.
#[derive(Debug)]
pub struct Backoff {
    here: Mutex<Book>,
    store: Option<Store>,
}

/// Failed attempts by key. Bounded.
type Book = HashMap<Key, Failures>;

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

/// An attempt to prove who someone is: where it counts as a failure, and what a success takes back.
#[derive(Debug, Clone)]
pub struct Attempt {
    /// With the number of failures before the backoff starts.
    counted: Vec<(Key, u32)>,
    /// The key whose failures a success removes.
    own: Key,
    /// The keys of which a success takes back one failure.
    shared: Vec<Key>,
}

impl Attempt {
    /// To guess the secret of an account, by an address.
    #[must_use]
    pub fn on(address: IpAddr, account: &str) -> Self {
        let [own, shared] = password_keys(address, account);
        Self::counting(vec![own, shared])
    }

    /// A sign-in with a password. Guesses for one account also count across all addresses, so that thousands of
    /// addresses gain little. This does not lock owners out of their accounts: a device that has signed in before is
    /// counted separately.
    #[must_use]
    pub fn sign_in(address: IpAddr, account: &str, device: Option<[u8; 32]>) -> Self {
        match device {
            Some(device) => Self::counting(vec![device_key(device)]),
            None => Self::counting(sign_in_keys(address, account).into()),
        }
    }

    /// A second-factor code. TOTP codes count across all addresses: an attacker who knows the password can block the use
    /// of the app, but not of a recovery code.
    #[must_use]
    pub fn code(address: IpAddr, account: UserId, kind: CodeKind) -> Self {
        let [own, shared, everywhere] = code_keys(address, account);
        match kind {
            CodeKind::Short => Self::counting(vec![own, shared, everywhere]),
            CodeKind::Recovery => Self {
                counted: vec![shared],
                own: own.0,
                // Failures from other addresses still count.
                shared: vec![shared.0],
            },
        }
    }

    /// The first key is the attempt's own, the others are shared.
    fn counting(counted: Vec<(Key, u32)>) -> Self {
        let own = counted.first().map_or((None, None), |(key, _)| *key);
        let shared = counted.iter().skip(1).map(|(key, _)| *key).collect();
        Self {
            counted,
            own,
            shared,
        }
    }

    fn count(&self, book: &mut Book, now_ms: i64) -> Result<(), u64> {
        for (key, free) in &self.counted {
            let known = book.get(key).copied().unwrap_or_default();
            let wait_ms = known.open_at_ms(*free).saturating_sub(now_ms);
            if wait_ms > 0 && known.count > 0 {
                return Err(u64::try_from(wait_ms).unwrap_or(0).div_ceil(1000));
            }
        }
        if book.len() + self.counted.len() > MAX_ENTRIES {
            make_room(book, now_ms);
        }
        for (key, _) in &self.counted {
            let entry = book.entry(*key).or_default();
            if now_ms - entry.last_ms > FORGET_AFTER_MS {
                entry.count = 0;
            }
            entry.count += 1;
            entry.last_ms = now_ms;
        }
        Ok(())
    }

    fn take_back(&self, book: &mut Book) {
        book.remove(&self.own);
        for key in &self.shared {
            if let Some(shared) = book.get_mut(key) {
                shared.count = shared.count.saturating_sub(1);
            }
        }
    }

    fn keys(&self) -> Vec<Key> {
        let counted = self.counted.iter().map(|(key, _)| *key);
        let mut keys: Vec<Key> = counted.chain([self.own]).collect();
        keys.dedup();
        keys
    }
}

impl Backoff {
    /// With the failures in the database if servers share it.
    pub(crate) fn new(store: &Store) -> Self {
        Self {
            here: Mutex::default(),
            store: store.is_shared().then(|| store.clone()),
        }
    }

    /// Counts a new attempt as failed; [`Backoff::succeeded`] takes it back. Counting beforehand means that concurrent
    /// guesses gain nothing.
    ///
    /// # Errors
    /// 429 if the caller has to wait first; the database's errors.
    pub async fn begin(&self, attempt: &Attempt, now_ms: i64) -> Result<(), ApiError> {
        self.count(attempt, now_ms)
            .await?
            .map_err(ApiError::rate_limited)
    }

    /// The seconds to wait, at least 1, if the attempt is refused.
    async fn count(&self, attempt: &Attempt, now_ms: i64) -> Result<Result<(), u64>, StoreError> {
        self.change(attempt, |book| attempt.count(book, now_ms))
            .await
    }

    /// Takes back the attempt: the password or the code was right.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn succeeded(&self, attempt: &Attempt) -> Result<(), StoreError> {
        self.change(attempt, |book| attempt.take_back(book)).await
    }

    async fn change<R>(
        &self,
        attempt: &Attempt,
        change: impl FnOnce(&mut Book) -> R,
    ) -> Result<R, StoreError> {
        let Some(store) = &self.store else {
            return Ok(change(
                &mut self.here.lock().unwrap_or_else(PoisonError::into_inner),
            ));
        };
        let keys: HashMap<String, Key> = attempt
            .keys()
            .into_iter()
            .map(|key| (name(key), key))
            .collect();
        let names: Vec<String> = keys.keys().cloned().collect();
        store
            .change_sign_in_failures(&names, |stored| {
                let known = stored.iter().filter_map(|(name, failures)| {
                    let SignInFailures { count, last_at } = *failures;
                    let last_ms = last_at;
                    Some((*keys.get(name)?, Failures { count, last_ms }))
                });
                let mut book: Book = known.collect();
                let changed = change(&mut book);
                for (name, failures) in stored {
                    let Failures { count, last_ms } = keys
                        .get(name)
                        .and_then(|key| book.get(key))
                        .copied()
                        .unwrap_or_default();
                    *failures = SignInFailures {
                        count,
                        last_at: last_ms,
                    };
                }
                changed
            })
            .await
    }
}

/// The key in the database.
fn name((address, account): Key) -> String {
    let address = address.map_or_else(|| "*".to_owned(), |address| address.to_string());
    let account = account.map_or_else(|| "*".to_owned(), |hash| HEXLOWER.encode(&hash));
    format!("{address} {account}")
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
    use futures_util::FutureExt;

    use super::*;

    impl Backoff {
        fn here() -> Self {
            Self {
                here: Mutex::default(),
                store: None,
            }
        }

        /// The same without a database, which is without a wait.
        fn begin_here(&self, attempt: &Attempt, now_ms: i64) -> Result<(), u64> {
            self.count(attempt, now_ms).now_or_never().unwrap().unwrap()
        }

        fn succeeded_here(&self, attempt: &Attempt) {
            self.succeeded(attempt).now_or_never().unwrap().unwrap();
        }
    }

    const HOME: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);

    #[test]
    fn waits_grow_and_end_with_success() {
        let backoff = Backoff::here();
        for _ in 0..FREE_PER_ACCOUNT {
            assert_eq!(
                backoff.begin_here(&Attempt::on(HOME, "a@example.org"), 0),
                Ok(())
            );
        }
        assert_eq!(
            backoff.begin_here(&Attempt::on(HOME, "A@Example.org"), 0),
            Err(1)
        );
        assert_eq!(
            backoff.begin_here(&Attempt::on(HOME, "b@example.org"), 0),
            Ok(())
        );
        assert_eq!(
            backoff.begin_here(&Attempt::on(HOME, "a@example.org"), 1000),
            Ok(())
        );
        assert_eq!(
            backoff.begin_here(&Attempt::on(HOME, "a@example.org"), 1000),
            Err(2)
        );
        backoff.succeeded_here(&Attempt::on(HOME, "a@example.org"));
        assert_eq!(
            backoff.begin_here(&Attempt::on(HOME, "a@example.org"), 1000),
            Ok(())
        );
    }

    #[test]
    fn trying_many_accounts_is_slowed_too() {
        let backoff = Backoff::here();
        for n in 0..FREE_PER_ADDRESS {
            assert_eq!(
                backoff.begin_here(&Attempt::on(HOME, &n.to_string()), 0),
                Ok(())
            );
        }
        assert_eq!(backoff.begin_here(&Attempt::on(HOME, "another"), 0), Err(1));
        assert_eq!(
            backoff.begin_here(&Attempt::on("10.0.0.1".parse().unwrap(), "another"), 0),
            Ok(())
        );
        assert_eq!(
            backoff.begin_here(&Attempt::on(HOME, "another"), FORGET_AFTER_MS + 1),
            Ok(())
        );
    }

    #[test]
    fn short_codes_are_slowed_wherever_they_come_from() {
        let backoff = Backoff::here();
        let ada = UserId::generate();
        let begin = |last, kind| {
            let address = IpAddr::from([10, 0, 0, last]);
            backoff.begin_here(&Attempt::code(address, ada, kind), 0)
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
        backoff.succeeded_here(&Attempt::code(
            IpAddr::from([10, 0, 0, 20]),
            ada,
            CodeKind::Recovery,
        ));
        assert_eq!(
            begin(21, CodeKind::Short),
            Err(1),
            "what was tried elsewhere still counts"
        );
        // Passwords are counted separately.
        assert_eq!(
            backoff.begin_here(
                &Attempt::on(IpAddr::from([10, 0, 0, 1]), "ada@example.org"),
                0
            ),
            Ok(())
        );
    }

    #[test]
    fn guesses_from_everywhere_are_slowed_but_not_for_the_owners_devices() {
        let backoff = Backoff::here();
        let from = |n: u32| IpAddr::from((0x0a00_0000 + n).to_be_bytes());
        let begin = |n, device| {
            backoff.begin_here(&Attempt::sign_in(from(n), "ada@example.org", device), 0)
        };
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
            backoff.begin_here(&Attempt::sign_in(from(1000), "bob@example.org", None), 0),
            Ok(())
        );
        // A device that has signed in before is not locked out, even if the guesses come from the same address.
        assert_eq!(begin(1, device), Ok(()));
        backoff.succeeded_here(&Attempt::sign_in(from(1), "ada@example.org", device));
        for _ in 0..FREE_PER_ACCOUNT {
            assert_eq!(begin(1, device), Ok(()));
        }
        assert_eq!(begin(1, device), Err(1), "nor does a device guess on");
        // Failures from other addresses still count.
        assert_eq!(begin(1000, None), Err(1));
        assert_eq!(
            backoff.begin_here(
                &Attempt::sign_in(from(1000), "ada@example.org", None),
                FORGET_AFTER_MS + 1
            ),
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
        let backoff = Backoff::here();
        for n in 0..50_000_u32 {
            let address = IpAddr::V4(n.into());
            assert_eq!(
                backoff.begin_here(&Attempt::on(address, "a"), i64::from(n)),
                Ok(())
            );
        }
        assert!(backoff.here.lock().unwrap().len() <= MAX_ENTRIES);
    }
}
