//! Kills, stops and freezes servers at random moments, and starts others in their place.

use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};

use tokio::time::sleep;

use crate::{
    LEASE_SECONDS,
    calls::Disturbances,
    load::Load,
    random::Random,
    victim::{DiesItself, Folder, Victim},
};

/// Maximum lifetime of a server before it is killed.
const MAX_LIFE: Duration = Duration::from_millis(400);
/// The maximum if servers share a database: there each interrupted run waits for its lease to expire, so servers with
/// shorter lives would have nothing to do.
const MAX_LIFE_SHARING: Duration = Duration::from_secs(2 * LEASE_SECONDS);
/// The longest that a server is frozen: its lease expires meanwhile, or not.
const MAX_FREEZE: Duration = Duration::from_secs(2 * LEASE_SECONDS + 1);

/// When there was enough.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Goal {
    /// So many kills and other disturbances of servers.
    Disturbances(u32),
    /// So many runs that were watched to their end.
    Runs(u32),
}

/// What was done to the servers.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Counts {
    /// All, begun ones included.
    pub(crate) all: u32,
    pub(crate) kills: u32,
    /// Servers among those killed that died directly before or after an effect.
    pub(crate) by_itself: u32,
    /// Servers that were told to stop, and did.
    pub(crate) stops: u32,
    pub(crate) freezes: u32,
    pub(crate) longest_start: Duration,
    pub(crate) longest_stop: Duration,
}

/// How a server's life goes on.
enum Next {
    Kill,
    Stop,
    Freeze,
}

pub(crate) struct Disturbing<'a> {
    pub(crate) folder: &'a Folder,
    pub(crate) model_url: &'a str,
    pub(crate) load: &'a Load,
    pub(crate) goal: Goal,
    /// Whether servers are stopped and frozen too, as others can take over their runs.
    pub(crate) are_several: bool,
    pub(crate) times: &'a Disturbances,
    pub(crate) counts: Mutex<Counts>,
}

impl Disturbing<'_> {
    /// Starts and ends one server after another in this slot, until there is enough in all slots.
    pub(crate) async fn go_on_in(&self, place: usize, mut random: Random) -> anyhow::Result<()> {
        let longest = match self.folder.is_shared() {
            true => MAX_LIFE_SHARING,
            false => MAX_LIFE,
        };
        while self.begin_another() {
            let dies = DiesItself::Sometimes(random.next());
            let mut victim = Victim::start(self.folder, place, self.model_url, dies).await?;
            self.load.server_is_at(place, Some(victim.url.clone()));
            let mut died = victim.lives_for(random.up_to(longest)).await?;
            let mut next = self.choose(&mut random);
            while !died && matches!(next, Next::Freeze) {
                self.times.note();
                victim.freeze(random.up_to(MAX_FREEZE)).await?;
                self.count(|counts| counts.freezes += 1);
                died = victim.lives_for(random.up_to(longest)).await?;
                next = match self.begin_another() {
                    true => self.choose(&mut random),
                    // What began is enough, but this server has to make room.
                    false => Next::Kill,
                };
            }
            self.times.note();
            let took = match next {
                Next::Stop if !died => Some(victim.stop().await?),
                _ => {
                    victim.kill().await?;
                    None
                }
            };
            self.load.server_is_at(place, None);
            // A stopped server may have made calls until it ended.
            self.times.note();
            self.count(|counts| {
                match took {
                    Some(took) => {
                        counts.stops += 1;
                        counts.longest_stop = counts.longest_stop.max(took);
                    }
                    None => counts.kills += 1,
                }
                counts.by_itself += u32::from(died);
                counts.longest_start = counts.longest_start.max(victim.ready_after);
            });
        }
        Ok(())
    }

    fn choose(&self, random: &mut Random) -> Next {
        match random.per_mille() {
            _ if !self.are_several => Next::Kill,
            ..500 => Next::Kill,
            500..750 => Next::Stop,
            _ => Next::Freeze,
        }
    }

    /// Whether there is not enough yet. Then one more begins.
    #[expect(clippy::print_stdout, reason = "it says how far it is")]
    fn begin_another(&self) -> bool {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let is_enough = match self.goal {
            Goal::Disturbances(goal) => counts.all >= goal,
            Goal::Runs(goal) => self.load.ended() >= goal as usize,
        };
        if is_enough {
            return false;
        }
        counts.all += 1;
        if counts.all.is_multiple_of(100) {
            let runs = self.load.ended();
            println!(
                "{} times a server was disturbed, {runs} runs ended",
                counts.all
            );
        }
        true
    }

    fn count(&self, change: impl FnOnce(&mut Counts)) {
        change(&mut self.counts.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

/// Resolves once nothing runs at any of these servers for so long that nothing waits for another server either.
pub(crate) async fn until_all_rest(victims: &[Victim]) -> anyhow::Result<()> {
    let long_enough = match victims {
        [_] => Duration::from_secs(1),
        _ => Duration::from_secs(2 * LEASE_SECONDS),
    };
    let pause = Duration::from_millis(100);
    let mut rested = Duration::ZERO;
    while rested < long_enough {
        let mut live = 0;
        for victim in victims {
            live += victim.live_runs().await?;
        }
        rested = if live == 0 {
            rested + pause
        } else {
            Duration::ZERO
        };
        sleep(pause).await;
    }
    Ok(())
}
