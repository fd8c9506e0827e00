//! Processor time of all processes together, also of those whose parents do not wait for them: what they used is in no
//! other process's account once they are gone.

use std::{
    collections::BTreeMap,
    fs::File,
    os::unix::fs::FileExt,
    time::{Duration, Instant},
};

use rustix::param::clock_ticks_per_second;

use super::processes::{Stat, share_of_wish};

/// What a guess may be too low by before it counts, in seconds: it is right only over many looks.
const CREDIT_SECONDS: f64 = 1.0;

/// Processor time since the last [`Processor::restart`].
#[derive(Debug)]
pub(super) struct Processor {
    /// The control group's own account, where there is one: nothing else is needed then.
    group: Option<File>,
    seen: BTreeMap<u32, Stat>,
    looked: Instant,
    before_seconds: f64,
    /// Of processes that are gone and that nobody has waited for, as of the last look at them, in ticks.
    lost_ticks: u64,
    /// Of processes that came and went between two looks, in seconds.
    guessed_seconds: f64,
    processors: usize,
}

impl Processor {
    pub(super) fn new(group: Option<File>) -> Self {
        Self {
            group,
            seen: BTreeMap::new(),
            looked: Instant::now(),
            before_seconds: 0.0,
            lost_ticks: 0,
            guessed_seconds: 0.0,
            processors: std::thread::available_parallelism().map_or(1, usize::from),
        }
    }

    /// Counts from nothing.
    pub(super) fn restart(&mut self, stats: &BTreeMap<u32, Stat>) {
        (self.lost_ticks, self.guessed_seconds) = (0, 0.0);
        self.looked = Instant::now();
        self.seen.clone_from(stats);
        self.before_seconds = self.group_seconds().unwrap_or_else(|| total_seconds(stats));
    }

    /// Seconds of all processes, with what is known of `stats` now.
    pub(super) fn seconds(&mut self, stats: &BTreeMap<u32, Stat>) -> f64 {
        if let Some(seconds) = self.group_seconds() {
            return seconds - self.before_seconds;
        }
        let interval = self.looked.elapsed();
        self.looked = Instant::now();
        self.add(stats, interval, share_of_wish);
        total_seconds(stats) - self.before_seconds
            + seconds(self.lost_ticks)
            + self.guessed_seconds.max(0.0)
    }

    /// Takes note of what came and went since the last look.
    ///
    /// Of those that went, what they had used is now that of a parent, or lost. What parents got beyond that is of
    /// children that nobody has seen. So is a share of the time for each process that is new and runs: where one child
    /// follows the other, each look meets one of them. In the long run both are the same, unless nobody waits.
    fn add(&mut self, stats: &BTreeMap<u32, Stat>, interval: Duration, share: impl Fn(u32) -> f64) {
        let before = |process: &u32, stat: &Stat| {
            self.seen
                .get(process)
                .filter(|seen| seen.began == stat.began)
                .copied()
        };
        let mut waited = 0;
        let mut unseen_seconds = 0.0;
        let mut room = self.processors;
        for (process, stat) in stats {
            let seen = before(process, stat);
            waited += stat
                .waited_ticks
                .saturating_sub(seen.map_or(0, |seen| seen.waited_ticks));
            if seen.is_none() && stat.state == 'R' && room > 0 {
                room -= 1;
                let wanted = share(*process) * interval.as_secs_f64();
                unseen_seconds += (wanted - seconds(stat.own_ticks)).max(0.0);
            }
        }
        let is_gone = |(process, seen): &(&u32, &Stat)| {
            stats
                .get(process)
                .is_none_or(|stat| stat.began != seen.began)
        };
        let gone: u64 = self
            .seen
            .iter()
            .filter(is_gone)
            .map(|(_, seen)| seen.own_ticks + seen.waited_ticks)
            .sum();
        self.lost_ticks += gone.saturating_sub(waited);
        unseen_seconds -= seconds(waited.saturating_sub(gone));
        self.guessed_seconds = (self.guessed_seconds + unseen_seconds).max(-CREDIT_SECONDS);
        self.seen.clone_from(stats);
    }

    fn group_seconds(&self) -> Option<f64> {
        let mut text = [0; 512];
        let length = self.group.as_ref()?.read_at(&mut text, 0).ok()?;
        let text = str::from_utf8(&text[..length]).ok()?;
        let line = text
            .lines()
            .find_map(|line| line.strip_prefix("usage_usec "))?;
        Some(line.parse::<f64>().ok()? / 1e6)
    }
}

fn total_seconds(stats: &BTreeMap<u32, Stat>) -> f64 {
    seconds(
        stats
            .values()
            .map(|stat| stat.own_ticks + stat.waited_ticks)
            .sum(),
    )
}

fn seconds(ticks: u64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "sums of ticks are small")]
    let seconds = ticks as f64 / clock_ticks_per_second() as f64;
    seconds
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOOK: Duration = Duration::from_millis(50);

    fn stat(state: char, own_ticks: u64, waited_ticks: u64, began: u64) -> Stat {
        Stat {
            state,
            own_ticks,
            waited_ticks,
            began,
            has_memory: true,
        }
    }

    /// One child of 20 ms after the other for ten seconds, and what is counted for them.
    fn one_after_the_other(is_waited_for: bool) -> f64 {
        let mut processor = Processor::new(None);
        let mut waited = 0;
        for look in 0..200_u64 {
            let stats = BTreeMap::from([
                (2, stat('S', 0, waited, 1)),
                (10 + u32::try_from(look).unwrap(), stat('R', 1, 0, 5 * look)),
            ]);
            processor.add(&stats, LOOK, |_| 1.0);
            waited += if is_waited_for { 5 } else { 0 };
        }
        total_seconds(&processor.seen)
            + seconds(processor.lost_ticks)
            + processor.guessed_seconds.max(0.0)
    }

    #[test]
    fn children_count_whether_anybody_waits_for_them_or_not() {
        for is_waited_for in [true, false] {
            let counted = one_after_the_other(is_waited_for);
            assert!((9.0..11.0).contains(&counted), "{is_waited_for}: {counted}");
        }
    }

    #[test]
    fn what_nobody_has_waited_for_is_not_forgotten() {
        let mut processor = Processor::new(None);
        let parent = |waited| (2, stat('S', 3, waited, 1));
        processor.add(
            &BTreeMap::from([parent(0), (3, stat('R', 90, 0, 2))]),
            LOOK,
            |_| 0.0,
        );
        processor.add(&BTreeMap::from([parent(0)]), LOOK, |_| 0.0);
        assert_eq!(processor.lost_ticks, 90);
        // One that is waited for is its parent's, and another process may have its number.
        processor.add(
            &BTreeMap::from([parent(0), (3, stat('S', 40, 0, 3))]),
            LOOK,
            |_| 0.0,
        );
        processor.add(
            &BTreeMap::from([parent(42), (3, stat('S', 0, 0, 4))]),
            LOOK,
            |_| 0.0,
        );
        assert_eq!(processor.lost_ticks, 90);
    }
}
