//! Limits open connections per address and in total; beyond a limit the oldest idle connection is evicted for the
//! newest.
//!
//! A connection is idle unless it serves a signed-in person's request, or has received an anonymous request completely
//! and its response has not begun. So sockets that only occupy a slot are closed before anyone with a request is turned
//! away.

use std::{
    collections::{BTreeMap, HashMap},
    net::IpAddr,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
    time::Duration,
};

use tokio::{sync::Notify, time::Instant};
use tokio_util::sync::CancellationToken;

use crate::platform::proxies::{Proxies, network};

/// How often a full server checks for a connection that has become idle.
const RETRY_AFTER: Duration = Duration::from_millis(100);
/// A counter that orders the moments at which connections became idle.
static MOMENTS: AtomicU64 = AtomicU64::new(1);

fn next_moment() -> u64 {
    MOMENTS.fetch_add(1, Ordering::Relaxed)
}

/// Limits on open connections.
#[derive(Debug, Clone)]
pub struct ConnectionLimits {
    /// Maximum number of open connections.
    pub total: usize,
    /// Maximum number of idle connections per address; for IPv6, per /64 network.
    pub per_address: usize,
    /// Proxies carry connections of many people, so `per_address` does not apply to them.
    pub proxies: Proxies,
}

/// How often the clients of one connection may give up requests before they are answered, within `ABANDONED_IN`. With
/// HTTP/2 that costs a client next to nothing (“rapid reset”).
const MAX_ABANDONED: u32 = 100;
const ABANDONED_IN: Duration = Duration::from_secs(10);

/// Whether a connection is idle. With HTTP/2 it may have several requests at a time.
#[derive(Debug)]
pub(super) struct Activity {
    /// When it was opened, or when the last request of a signed-in person ended, as an increasing number.
    idle_since: AtomicU64,
    /// Requests of signed-in people, and others that wait for the server.
    at_work: AtomicUsize,
    /// All requests in progress, and all so far.
    open: AtomicUsize,
    begun: AtomicU64,
    abandoned: Mutex<Abandoned>,
    evicted: CancellationToken,
}

/// Requests that were given up since a moment.
#[derive(Debug)]
struct Abandoned {
    since: Instant,
    count: u32,
}

impl Activity {
    fn new() -> Self {
        Self {
            idle_since: AtomicU64::new(next_moment()),
            at_work: AtomicUsize::new(0),
            open: AtomicUsize::new(0),
            begun: AtomicU64::new(0),
            abandoned: Mutex::new(Abandoned {
                since: Instant::now(),
                count: 0,
            }),
            evicted: CancellationToken::new(),
        }
    }

    /// The connection serves something that is no request: a WebSocket.
    pub(super) fn occupy(&self) {
        self.at_work.fetch_add(1, Ordering::Relaxed);
    }

    fn idle_since(&self) -> Option<u64> {
        let is_idle = self.at_work.load(Ordering::Relaxed) == 0;
        is_idle.then(|| self.idle_since.load(Ordering::Relaxed))
    }

    /// Resolves when the connection is evicted.
    pub(super) async fn evicted(&self) {
        self.evicted.cancelled().await;
    }

    pub(super) fn is_evicted(&self) -> bool {
        self.evicted.is_cancelled()
    }

    /// Resolves when there has been no request for this time, or up to twice as long.
    pub(super) async fn unused_for(&self, time: Duration) {
        loop {
            let begun = self.begun.load(Ordering::Relaxed);
            tokio::time::sleep(time).await;
            let is_open = self.open.load(Ordering::Relaxed) > 0;
            if !is_open && self.begun.load(Ordering::Relaxed) == begun {
                return;
            }
        }
    }

    /// A request was given up before it was answered. A client that keeps doing so loses the connection.
    fn note_abandoned(&self) {
        let mut abandoned = self
            .abandoned
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if abandoned.since.elapsed() > ABANDONED_IN {
            *abandoned = Abandoned {
                since: Instant::now(),
                count: 0,
            };
        }
        abandoned.count += 1;
        if abandoned.count > MAX_ABANDONED {
            self.evicted.cancel();
        }
    }
}

/// What a request means for its connection; in the request's extensions.
#[derive(Debug)]
pub(crate) struct Work {
    activity: Arc<Activity>,
    at_work: AtomicBool,
    signed_in: AtomicBool,
    answered: AtomicBool,
}

impl Work {
    /// The request is that of a signed-in person.
    pub(crate) fn begin(&self) {
        self.signed_in.store(true, Ordering::Relaxed);
        self.set(true);
    }

    /// The request was received completely, so the client is waiting for the server.
    pub(super) fn received(&self) {
        self.set(true);
    }

    /// The response has begun. From now on an anonymous client may again be the one that is slow.
    pub(super) fn begin_answer(&self) {
        self.answered.store(true, Ordering::Relaxed);
        self.set(self.signed_in.load(Ordering::Relaxed));
    }

    fn set(&self, at_work: bool) {
        if self.at_work.swap(at_work, Ordering::Relaxed) == at_work {
            return;
        }
        let all = &self.activity.at_work;
        if at_work {
            all.fetch_add(1, Ordering::Relaxed);
        } else {
            all.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

/// A request in progress: held until its response is complete, or the client has given it up.
#[derive(Debug)]
pub(super) struct InProgress(pub(super) Arc<Work>);

impl InProgress {
    pub(super) fn begin(activity: &Arc<Activity>) -> Self {
        activity.begun.fetch_add(1, Ordering::Relaxed);
        activity.open.fetch_add(1, Ordering::Relaxed);
        Self(Arc::new(Work {
            activity: Arc::clone(activity),
            at_work: AtomicBool::new(false),
            signed_in: AtomicBool::new(false),
            answered: AtomicBool::new(false),
        }))
    }
}

impl Drop for InProgress {
    fn drop(&mut self) {
        let Work {
            activity,
            signed_in,
            answered,
            ..
        } = &*self.0;
        // An anonymous request does not make the connection younger.
        if signed_in.load(Ordering::Relaxed) {
            activity.idle_since.store(next_moment(), Ordering::Relaxed);
        }
        self.0.set(false);
        activity.open.fetch_sub(1, Ordering::Relaxed);
        if !answered.load(Ordering::Relaxed) {
            activity.note_abandoned();
        }
    }
}

/// All open connections.
#[derive(Debug)]
pub(super) struct Connections {
    limits: ConnectionLimits,
    open: Mutex<Open>,
    closed: Notify,
}

#[derive(Debug, Default)]
struct Open {
    last_id: u64,
    total: usize,
    /// The connections per address, in the order in which they were opened; no entry is empty.
    addresses: HashMap<IpAddr, BTreeMap<u64, Arc<Activity>>>,
}

/// The slot of one connection, released on drop.
#[derive(Debug)]
pub(super) struct Slot {
    id: u64,
    address: IpAddr,
    pub(super) activity: Arc<Activity>,
    connections: Arc<Connections>,
}

impl Connections {
    pub(super) fn new(limits: ConnectionLimits) -> Arc<Self> {
        Arc::new(Self {
            limits,
            open: Mutex::default(),
            closed: Notify::new(),
        })
    }

    /// A slot for a connection from `address`. Waits while all slots are taken by busy connections.
    pub(super) async fn admit(self: &Arc<Self>, address: IpAddr) -> Slot {
        loop {
            if let Some(slot) = self.try_admit(address) {
                return slot;
            }
            let _ = tokio::time::timeout(RETRY_AFTER, self.closed.notified()).await;
        }
    }

    fn try_admit(self: &Arc<Self>, address: IpAddr) -> Option<Slot> {
        let is_proxy = self.limits.proxies.has(address.to_canonical());
        let address = network(address);
        let mut open = self.lock();
        if !is_proxy
            && open
                .addresses
                .get(&address)
                .is_some_and(|own| own.len() >= self.limits.per_address)
        {
            open.evict_oldest(self.limits.per_address, Some(address));
        }
        if open.total >= self.limits.total && !open.evict_oldest(1, None) {
            return None;
        }
        let activity = Arc::new(Activity::new());
        open.last_id += 1;
        open.total += 1;
        let id = open.last_id;
        open.addresses
            .entry(address)
            .or_default()
            .insert(id, Arc::clone(&activity));
        Some(Slot {
            id,
            address,
            activity,
            connections: Arc::clone(self),
        })
    }

    fn lock(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Open {
    /// Evicts the connection that has been idle longest, of one address or of all, if at least `bound` of them are
    /// idle.
    fn evict_oldest(&mut self, bound: usize, only: Option<IpAddr>) -> bool {
        let mut idle = 0;
        let mut oldest: Option<(u64, IpAddr, u64)> = None;
        let mut look = |address: IpAddr, own: &BTreeMap<u64, Arc<Activity>>| {
            for (id, activity) in own {
                let Some(since) = activity.idle_since() else {
                    continue;
                };
                idle += 1;
                if oldest.is_none_or(|(oldest, ..)| since < oldest) {
                    oldest = Some((since, address, *id));
                }
            }
        };
        match only {
            Some(address) => self
                .addresses
                .get(&address)
                .into_iter()
                .for_each(|own| look(address, own)),
            None => self
                .addresses
                .iter()
                .for_each(|(address, own)| look(*address, own)),
        }
        let Some((_, address, id)) = oldest.filter(|_| idle >= bound) else {
            return false;
        };
        if let Some(activity) = self.remove(address, id) {
            activity.evicted.cancel();
        }
        true
    }

    fn remove(&mut self, address: IpAddr, id: u64) -> Option<Arc<Activity>> {
        let own = self.addresses.get_mut(&address)?;
        let activity = own.remove(&id)?;
        if own.is_empty() {
            self.addresses.remove(&address);
        }
        self.total -= 1;
        Some(activity)
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        // An evicted connection has given up its slot already.
        if self
            .connections
            .lock()
            .remove(self.address, self.id)
            .is_some()
        {
            self.connections.closed.notify_one();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROXY: [u8; 4] = [10, 9, 9, 9];

    fn connections(total: usize, per_address: usize) -> Arc<Connections> {
        let proxies = Proxies::parse(&[IpAddr::from(PROXY).to_string()]).unwrap();
        Connections::new(ConnectionLimits {
            total,
            per_address,
            proxies,
        })
    }

    fn evicted(slots: &[Slot]) -> Vec<usize> {
        let is_evicted = |slot: &Slot| slot.activity.evicted.is_cancelled();
        (0..slots.len())
            .filter(|at| is_evicted(&slots[*at]))
            .collect()
    }

    /// Begins a request of a signed-in person.
    fn signed_in(slot: &Slot) -> InProgress {
        let request = InProgress::begin(&slot.activity);
        request.0.begin();
        request
    }

    #[test]
    fn an_address_keeps_its_newest_idle_connections() {
        let connections = connections(100, 3);
        let admit = |address: &str| connections.try_admit(address.parse().unwrap()).unwrap();
        let mut slots: Vec<Slot> = (0..3).map(|_| admit("10.0.0.1")).collect();
        let other = admit("10.0.0.2");
        let busy = signed_in(&slots[0]);
        // One is busy, so only now are there three idle ones.
        slots.push(admit("::ffff:10.0.0.1"));
        assert_eq!(evicted(&slots), [0; 0]);
        slots.push(admit("10.0.0.1"));
        assert_eq!(evicted(&slots), [1]);
        // The one that was busy last is the youngest.
        drop(busy);
        slots.push(admit("10.0.0.1"));
        slots.push(admit("10.0.0.1"));
        assert_eq!(evicted(&slots), [1, 2, 3]);
        // An anonymous request does not make a connection younger.
        let anonymous = InProgress::begin(&slots[4].activity);
        anonymous.0.received();
        anonymous.0.begin_answer();
        drop(anonymous);
        slots.push(admit("10.0.0.1"));
        assert_eq!(evicted(&slots), [1, 2, 3, 4]);
        // Nor is it evicted while its response is being prepared, for example while a password is checked.
        let waiting = InProgress::begin(&slots[0].activity);
        waiting.0.received();
        for _ in 0..3 {
            slots.push(admit("10.0.0.1"));
        }
        assert!(!slots[0].activity.evicted.is_cancelled());
        waiting.0.begin_answer();
        slots.push(admit("10.0.0.1"));
        assert!(slots[0].activity.evicted.is_cancelled());
        assert!(!other.activity.evicted.is_cancelled());
        drop(slots);
        let open = connections.lock();
        assert_eq!((open.total, open.addresses.len()), (1, 1));
        drop(open);
    }

    #[test]
    fn an_ipv6_network_counts_as_one_address_and_proxies_are_not_bounded() {
        let connections = connections(100, 2);
        let admit = |address: IpAddr| connections.try_admit(address).unwrap();
        let one: Vec<Slot> = (1..=3)
            .map(|last| admit(format!("2001:db8::{last}").parse().unwrap()))
            .collect();
        assert_eq!(evicted(&one), [0]);
        let proxied: Vec<Slot> = (0..20).map(|_| admit(PROXY.into())).collect();
        assert_eq!(evicted(&proxied), [0; 0]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_full_server_closes_idle_connections_only() {
        let connections = connections(2, 100);
        let first = connections.admit([10, 0, 0, 1].into()).await;
        let second = connections.admit([10, 0, 0, 2].into()).await;
        let _work = signed_in(&first);
        let third = connections.admit([10, 0, 0, 3].into()).await;
        assert!(second.activity.evicted.is_cancelled() && !first.activity.evicted.is_cancelled());
        let work = signed_in(&third);
        assert!(connections.try_admit([10, 0, 0, 4].into()).is_none());
        let (fourth, ()) = tokio::join!(connections.admit([10, 0, 0, 4].into()), async move {
            drop(first)
        });
        assert!(!third.activity.evicted.is_cancelled());
        let _work = signed_in(&fourth);
        // Also after a request has ended on one of them.
        let end_work = async { drop(work) };
        let (_fifth, ()) = tokio::join!(connections.admit([10, 0, 0, 5].into()), end_work);
        assert!(third.activity.evicted.is_cancelled());
    }

    #[test]
    fn a_connection_works_until_the_last_of_its_requests_has_ended() {
        let connections = connections(1, 1);
        let slot = connections.try_admit(PROXY.into()).unwrap();
        let is_idle = || slot.activity.idle_since().is_some();
        let (one, two) = (signed_in(&slot), signed_in(&slot));
        one.0.begin_answer();
        drop(one);
        assert!(!is_idle());
        let anonymous = InProgress::begin(&slot.activity);
        anonymous.0.received();
        two.0.begin_answer();
        drop(two);
        assert!(!is_idle());
        anonymous.0.begin_answer();
        assert!(is_idle());
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_keeps_giving_up_loses_its_connection() {
        let connections = connections(1, 1);
        let slot = connections.try_admit(PROXY.into()).unwrap();
        let give_up = |count| {
            (0..count).for_each(|_| drop(InProgress::begin(&slot.activity)));
            slot.activity.evicted.is_cancelled()
        };
        for _ in 0..5 {
            assert!(!give_up(MAX_ABANDONED));
            tokio::time::advance(ABANDONED_IN * 2).await;
        }
        assert!(give_up(MAX_ABANDONED + 1));
    }
}
