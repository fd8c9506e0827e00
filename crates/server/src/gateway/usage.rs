//! Usage accounting and limits: an in-memory ledger that is flushed every second, and limits that are checked against
//! it without a database query.

mod account;
mod ledger;
mod limits;
mod paid_call;
mod quota;
mod runs;

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock},
};

use domain::LocalizedText;
use store::{
    Booking, BookingOutcome, MinuteUsage, Principal, Store, StoreError, UsageKey, UsageSum,
};

use account::{Account, DAY_MS, month_of};
pub use account::{Allowed, Amount, Span, UsageEstimate};
use ledger::Ledger;
pub use limits::{LimitRules, Limits, LimitsOf, Most, Subject};
pub(crate) use paid_call::PaidCall;
pub use quota::RunQuota;

use crate::{
    error::ApiError,
    gateway::Gateway,
    identity::groups::{GroupDirectory, Groups},
    platform::clock::Clock,
};

/// The number of accounts in memory above which unused ones are evicted.
const MANY_ACCOUNTS: usize = 20_000;

/// The ledger and the limits of this process.
pub struct Usage {
    store: Store,
    clock: Clock,
    groups: Arc<Groups>,
    books: Mutex<Books>,
    rules: RwLock<Arc<LimitRules>>,
    /// Held during a flush, so that nothing is written twice.
    writing: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct Books {
    ledger: Ledger,
    /// The version of the groups that the accounts are based on.
    groups_number: i64,
    accounts: HashMap<Subject, Account>,
}

/// Why a call is not allowed now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// The reason, as a sentence.
    pub words: LocalizedText,
    /// Seconds until it is allowed again.
    pub wait_s: u64,
}

impl From<Refused> for ApiError {
    fn from(refused: Refused) -> Self {
        Self::limited(refused.words, refused.wait_s)
    }
}

/// The values of the `x-ratelimit-…` headers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Remaining {
    /// The request limit with the least remaining.
    pub requests: Option<Allowed>,
    /// The token limit with the least remaining.
    pub tokens: Option<Allowed>,
}

impl Usage {
    /// Loads the limits.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn open(store: Store, clock: Clock, groups: Arc<Groups>) -> Result<Self, StoreError> {
        let rules = RwLock::new(Arc::new(LimitRules::read(&store).await?));
        let writing = tokio::sync::Mutex::default();
        Ok(Self {
            store,
            clock,
            groups,
            books: Mutex::default(),
            rules,
            writing,
        })
    }

    /// The current limits.
    #[must_use]
    pub fn rules(&self) -> Arc<LimitRules> {
        self.rules
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Sets the limits of one subject. Other servers on the same database pick them up within two seconds.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn put_limits(&self, of: &LimitsOf, limits: Limits) -> Result<(), StoreError> {
        self.store
            .put_setting(&of.setting(), &limits.to_value())
            .await?;
        self.read_rules().await
    }

    /// The limits that apply to a call on this account.
    fn apply_to(&self, principal: &Principal) -> Vec<(Subject, Limits)> {
        let groups = self.groups.known();
        self.lock().see(&groups);
        self.rules()
            .apply_to(principal, groups.of_person(principal.account))
    }

    async fn read_rules(&self) -> Result<(), StoreError> {
        let rules = LimitRules::read(&self.store).await?;
        *self.rules.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(rules);
        Ok(())
    }

    /// Reloads the limits.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn look_at_limits(&self) -> Result<(), StoreError> {
        self.read_rules().await
    }

    /// Loads the accounts that limits are checked against from the stored usage. Queries the database only the first
    /// time.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn know(&self, principal: &Principal) -> Result<(), StoreError> {
        let is_unknown = |subject: &Subject| {
            let books = self.lock();
            let account = books.accounts.get(subject);
            !account.is_some_and(Account::is_known)
        };
        let mut unknown: Vec<Subject> = self
            .apply_to(principal)
            .into_iter()
            .map(|(subject, _)| subject)
            .collect();
        unknown.retain(is_unknown);
        if unknown.is_empty() {
            return Ok(());
        }
        self.write_down().await?;
        self.load(unknown).await
    }

    /// The stored usage of the current day and month of each subject, in their order.
    async fn written(&self, subjects: &[Subject]) -> Result<Vec<(Amount, Amount)>, StoreError> {
        let now = self.clock.now_ms();
        let today = now.div_euclid(DAY_MS);
        let (month, _) = month_of(now);
        let of: Vec<_> = subjects.iter().map(Subject::usage_of).collect();
        let mut amounts = vec![<(Amount, Amount)>::default(); subjects.len()];
        let first_day = month.div_euclid(DAY_MS);
        for (index, day, sum) in self.store.usage_by_day(&of, first_day, today).await? {
            let sum = Amount::of(sum);
            let (of_day, of_month) = &mut amounts[index];
            *of_month += sum;
            if day == today {
                *of_day += sum;
            }
        }
        Ok(amounts)
    }

    /// Takes over the stored usage of accounts.
    async fn load(&self, subjects: Vec<Subject>) -> Result<(), StoreError> {
        let amounts = self.written(&subjects).await?;
        let now = self.clock.now_ms();
        let mut books = self.lock();
        for (subject, (day, month)) in subjects.into_iter().zip(amounts) {
            let account = books.accounts.entry(subject);
            account
                .or_insert_with(|| Account::new(now))
                .set(now, day, month);
        }
        Ok(())
    }

    /// Begins a model call if every limit allows it. Its estimated usage counts until [`Usage::end`].
    ///
    /// # Errors
    /// If a limit is reached, or would be exceeded.
    pub async fn begin(
        &self,
        principal: &Principal,
        expected: UsageEstimate,
    ) -> Result<Held, Refused> {
        let held = self.begin_here(principal, expected)?;
        let mut per_minute = if self.store.is_shared() {
            self.apply_to(principal)
        } else {
            Vec::new()
        };
        per_minute.retain(|(_, limits)| limits.minute != Most::default());
        if per_minute.is_empty() {
            return Ok(held);
        }
        let subjects = per_minute.iter().map(|(subject, _)| subject.clone());
        if let Err(error) = self.share_minute(subjects.collect()).await {
            tracing::warn!(%error, "failed to count a call for the other servers");
            return Ok(held);
        }
        let now = self.clock.now_ms();
        let checked = {
            let mut books = self.lock();
            let mut held = held.0.iter();
            per_minute.iter().try_for_each(|(subject, limits)| {
                let estimate = held.find(|(other, _)| other == subject);
                let account = books.accounts.get_mut(subject);
                estimate
                    .zip(account)
                    .map_or(Ok(()), |((_, estimate), account)| {
                        account
                            .check_again(limits, *estimate)
                            .map_err(|over| over.refuse(subject, now))
                    })
            })
        };
        if let Err(refused) = checked {
            self.end(&held, expected, None);
            let subjects = per_minute.into_iter().map(|(subject, _)| subject);
            if let Err(error) = self.take_back_request(subjects.collect()).await {
                tracing::warn!(%error, "failed to take back a refused call");
            }
            return Err(refused);
        }
        Ok(held)
    }

    /// Takes back a request that was counted within the current minute, and then refused.
    async fn take_back_request(&self, subjects: Vec<Subject>) -> Result<(), StoreError> {
        let now = self.clock.now_ms();
        let mut minute = 0;
        {
            let mut books = self.lock();
            for subject in &subjects {
                if let Some(account) = books.accounts.get_mut(subject) {
                    minute = account.take_back_request(now);
                }
            }
        }
        let subjects: Vec<String> = subjects.iter().map(Subject::to_string).collect();
        self.store.take_back_minute_request(minute, &subjects).await
    }

    /// Tells the other servers what these subjects have used within the current minute, and takes over what they have.
    async fn share_minute(&self, subjects: Vec<Subject>) -> Result<(), StoreError> {
        let now = self.clock.now_ms();
        let mut minute = 0;
        let mut shared = Vec::with_capacity(subjects.len());
        {
            let mut books = self.lock();
            for subject in subjects {
                if let Some(account) = books.accounts.get_mut(&subject) {
                    let (of, amount) = account.share(now);
                    minute = of;
                    shared.push((subject, amount));
                }
            }
        }
        let added: Vec<_> = shared
            .iter()
            .map(|(subject, amount)| (subject.to_string(), MinuteUsage::from(*amount)))
            .collect();
        let totals = self.store.add_minute_usage(minute, &added).await;
        let mut books = self.lock();
        let totals = match totals {
            Ok(totals) => totals,
            Err(error) => {
                for (subject, amount) in shared {
                    if let Some(account) = books.accounts.get_mut(&subject) {
                        account.is_not_shared(now, minute, amount);
                    }
                }
                return Err(error);
            }
        };
        for ((subject, _), total) in shared.into_iter().zip(totals) {
            if let Some(account) = books.accounts.get_mut(&subject) {
                account.is_shared(now, minute, total.into());
            }
        }
        Ok(())
    }

    fn begin_here(&self, principal: &Principal, expected: UsageEstimate) -> Result<Held, Refused> {
        let now = self.clock.now_ms();
        let limits = self.apply_to(principal);
        let mut books = self.lock();
        let mut held = Held(Vec::with_capacity(limits.len()));
        for (subject, limits) in &limits {
            let account = books
                .accounts
                .entry(subject.clone())
                .or_insert_with(|| Account::new(now));
            held.0
                .push((subject.clone(), account.estimate(now, expected)));
            let estimate = held.0[held.0.len() - 1].1;
            account
                .check(limits, estimate)
                .map_err(|over| over.refuse(subject, now))?;
        }
        for (subject, estimate) in &held.0 {
            if let Some(account) = books.accounts.get_mut(subject) {
                account.begin(*estimate);
            }
        }
        Ok(held)
    }

    /// Whether this number of calls could begin now.
    ///
    /// # Errors
    /// If a limit is reached, or would be exceeded.
    pub fn check(
        &self,
        principal: &Principal,
        expected: UsageEstimate,
        calls: u64,
    ) -> Result<(), Refused> {
        let limits = self.apply_to(principal);
        let now = self.clock.now_ms();
        let mut books = self.lock();
        for (subject, limits) in limits {
            let account = books
                .accounts
                .entry(subject.clone())
                .or_insert_with(|| Account::new(now));
            let estimate = account.estimate(now, expected).times(calls);
            account
                .check(&limits, estimate)
                .map_err(|over| over.refuse(&subject, now))?;
        }
        Ok(())
    }

    /// Ends a call. Its actual usage stays reserved until it is noted; `None` if the call failed.
    pub fn end(&self, held: &Held, expected: UsageEstimate, used: Option<Amount>) {
        let now = self.clock.now_ms();
        let mut books = self.lock();
        for (subject, estimate) in &held.0 {
            if let Some(account) = books.accounts.get_mut(subject) {
                account.end(now, *estimate, expected, used);
            }
        }
    }

    /// Records a model call that does not belong to a run.
    pub fn note(&self, principal: &Principal, model: &str, sum: UsageSum) {
        let now = self.clock.now_ms();
        let key = UsageKey {
            day: now.div_euclid(DAY_MS),
            principal: principal.clone(),
            model: model.to_owned(),
        };
        let mut books = self.lock();
        books.count(now, &self.groups.known(), &key, sum);
        books.ledger.note(key, sum);
    }

    /// The remaining allowance of the limits closest to exhaustion; `None` for kinds without a limit.
    #[must_use]
    pub fn remaining(&self, principal: &Principal) -> Remaining {
        let limits = self.apply_to(principal);
        let now = self.clock.now_ms();
        let mut remaining = Remaining::default();
        let mut books = self.lock();
        for (subject, limits) in limits {
            if let Some(account) = books.accounts.get_mut(&subject) {
                account.roll(now);
                remaining.requests =
                    Allowed::nearer(remaining.requests, account.requests_left(&limits, now));
                remaining.tokens =
                    Allowed::nearer(remaining.tokens, account.tokens_left(&limits, now));
            }
        }
        remaining
    }

    /// Each applicable limit with its usage, for display.
    #[must_use]
    pub fn standing(&self, principal: &Principal) -> Vec<(Subject, Vec<account::LimitStatus>)> {
        let limits = self.apply_to(principal);
        let now = self.clock.now_ms();
        let mut books = self.lock();
        let standing = |(subject, limits): (Subject, Limits)| {
            let account = books
                .accounts
                .entry(subject.clone())
                .or_insert_with(|| Account::new(now));
            account.roll(now);
            let standing = account.standing(&limits);
            (subject, standing)
        };
        limits.into_iter().map(standing).collect()
    }

    /// Exchanges with the other servers what has been used within the current minute, for accounts that have used anything.
    pub(crate) async fn share_minutes(&self) -> Result<(), StoreError> {
        let rules = self.rules();
        if !self.store.is_shared() || !rules.have_minutes() {
            return Ok(());
        }
        let now = self.clock.now_ms();
        let used: Vec<Subject> = {
            let mut books = self.lock();
            let used = books.accounts.iter_mut();
            used.filter_map(|(subject, account)| {
                account.is_used_this_minute(now).then(|| subject.clone())
            })
            .collect()
        };
        self.share_minute(used).await
    }

    /// Flushes new usage to the database. On failure it stays in memory and is retried on the next flush.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn write_down(&self) -> Result<(), StoreError> {
        let _writing = self.writing.lock().await;
        let Some(booking) = self.lock().ledger.take() else {
            return Ok(());
        };
        match self.store.book_usage(&booking).await {
            Ok(outcomes) => self.settle(booking, outcomes),
            // A part that the database never accepts must not block the rest.
            Err(StoreError::Refused(_)) => {
                let mut parts = ledger::apart(booking);
                while let Some(part) = parts.next() {
                    if let Err(error) = self.write_part(part).await {
                        parts.for_each(|part| self.lock().ledger.give_back(part));
                        return Err(error);
                    }
                }
            }
            Err(error) => {
                self.lock().ledger.give_back(booking);
                return Err(error);
            }
        }
        Ok(())
    }

    /// Writes the usage of one run or one key; drops it if the database can never accept it.
    async fn write_part(&self, part: Booking) -> Result<(), StoreError> {
        match self.store.book_usage(&part).await {
            Ok(outcomes) => self.settle(part, outcomes),
            Err(StoreError::Refused(error)) => {
                tracing::error!(%error, usage = ?part, "dropping usage that the database rejects");
                // Marks the run's log as booked, so that it is not read again for this usage.
                let outcomes = self.store.book_usage(&ledger::without_sums(&part)).await;
                let forget =
                    |_: StoreError| vec![BookingOutcome::Elsewhere(u64::MAX); part.runs.len()];
                let outcomes = outcomes.unwrap_or_else(forget);
                self.settle(part, outcomes);
            }
            Err(error) => {
                self.lock().ledger.give_back(part);
                return Err(error);
            }
        }
        Ok(())
    }

    fn settle(&self, booking: Booking, outcomes: Vec<BookingOutcome>) {
        let mut books = self.lock();
        books.is_written(&self.groups.known(), &booking, &outcomes);
        books.ledger.settle(booking, outcomes);
    }

    /// Loads the stored usage of accounts that are not loaded yet, such as those a run has used, and if several servers
    /// share the database, the changes of others: limits, and the usage of active accounts.
    pub(crate) async fn catch_up(&self) -> Result<(), StoreError> {
        let now = self.clock.now_ms();
        let is_shared = self.store.is_shared();
        if is_shared {
            self.read_rules().await?;
        }
        let to_read: Vec<Subject> = {
            let mut books = self.lock();
            if is_shared {
                // Idle accounts are loaded again when they are used.
                books.accounts.retain(|_, account| account.is_in_use(now));
            }
            let to_read = books
                .accounts
                .iter()
                .filter(|(_, account)| is_shared || !account.is_known());
            to_read.map(|(subject, _)| subject.clone()).collect()
        };
        self.load(to_read).await
    }

    pub(crate) fn forget_unused(&self) {
        let now = self.clock.now_ms();
        let mut books = self.lock();
        if books.accounts.len() > MANY_ACCOUNTS {
            books.accounts.retain(|_, account| account.is_in_use(now));
        }
    }

    fn lock(&self) -> MutexGuard<'_, Books> {
        self.books.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Books {
    /// When groups have changed, the usage of groups is reloaded: new members bring their previous usage with them.
    fn see(&mut self, groups: &GroupDirectory) {
        if self.groups_number != groups.number {
            self.groups_number = groups.number;
            let of_groups = self
                .accounts
                .iter_mut()
                .filter(|(subject, _)| matches!(subject, Subject::Group(_)));
            of_groups.for_each(|(_, account)| account.doubt());
        }
    }

    /// Adds usage to every account whose limits it counts against.
    fn count(&mut self, now: i64, groups: &GroupDirectory, key: &UsageKey, sum: UsageSum) {
        for subject in Subject::all_of(&key.principal, groups.of_person(key.principal.account)) {
            if let Some(account) = self.accounts.get_mut(&subject) {
                account.count(now, Amount::of(sum));
            }
        }
    }

    /// Usage in the database no longer has to be added to the stored usage when an account is reloaded.
    fn is_written(
        &mut self,
        groups: &GroupDirectory,
        booking: &Booking,
        outcomes: &[BookingOutcome],
    ) {
        let noted = booking
            .runs
            .iter()
            .zip(outcomes)
            .filter(|(_, outcome)| **outcome != BookingOutcome::Busy);
        for (key, sum) in booking
            .loose
            .iter()
            .chain(noted.flat_map(|(run, _)| &run.sums))
        {
            for subject in Subject::all_of(&key.principal, groups.of_person(key.principal.account))
            {
                if let Some(account) = self.accounts.get_mut(&subject) {
                    account.is_written(Amount::of(*sum));
                }
            }
        }
    }
}

/// The reserved usage of a running call, by subject.
#[derive(Debug)]
pub struct Held(Vec<(Subject, Amount)>);

impl Gateway {
    /// Checks the limits before anything begins on an account.
    ///
    /// # Errors
    /// 429 with the limit that is reached and how long to wait.
    pub(crate) async fn check_limits(&self, principal: &Principal) -> Result<(), ApiError> {
        self.usage.know(principal).await?;
        Ok(self.usage.check(principal, UsageEstimate::nothing(), 1)?)
    }
}
