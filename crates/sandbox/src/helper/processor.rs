//! CPU time of all processes together, including those whose parents do not wait for them: once such a process is gone,
//! no other process accounts for it.

use std::{
    collections::BTreeMap,
    fs::File,
    os::unix::fs::FileExt,
    time::{Duration, Instant},
};

use rustix::param::clock_ticks_per_second;

use super::processes::{Stat, share_of_wish};

/// Estimates are accurate only over many scans, so they count only beyond this, in seconds.
const CREDIT_SECONDS: f64 = 1.0;

/// CPU time since the last [`Processor::restart`].
#[derive(Debug)]
pub(super) struct Processor {
    /// The control group's own statistics, if available; then nothing else is needed.
    group: Option<File>,
    seen: BTreeMap<u32, Stat>,
    looked: Instant,
    before_seconds: f64,
    /// CPU time of processes that are gone without being waited for, as of their last scan, in ticks.
    lost_ticks: u64,
    /// Estimated CPU time of processes that came and went between two scans, in seconds.
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

    /// Resets the count to zero.
    pub(super) fn restart(&mut self, stats: &BTreeMap<u32, Stat>) {
        (self.lost_ticks, self.guessed_seconds) = (0, 0.0);
        self.looked = Instant::now();
        self.seen.clone_from(stats);
        self.before_seconds = self.group_seconds().unwrap_or_else(|| total_seconds(stats));
    }

    /// CPU seconds of all processes, updated with the current `stats`.
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

    /// Accounts for processes that appeared and disappeared since the last scan.
    ///
    /// The time of a process that is gone now belongs to its parent, or is lost. Any additional time of parents comes
    /// from children that no scan has seen. So does an estimated share of the interval for each new running process:
    /// where short-lived children follow each other, each scan meets one of them. In the long run both agree, unless
    /// the children are not waited for.
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

    /// Simulates consecutive children of 20 ms for ten seconds. Returns the time counted for them.
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
        // A process that is waited for counts in its parent, and another one may reuse its id.
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
