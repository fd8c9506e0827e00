//! The in-memory ledger of usage that is not flushed yet.

use std::collections::HashMap;

use domain::RunId;
use store::{Booking, BookingOutcome, RunUsage, UsageKey, UsageSum};

/// Holds at most a second's worth of usage, unless the database is down.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    loose: HashMap<UsageKey, UsageSum>,
    runs: HashMap<RunId, OfRun>,
}

#[derive(Debug, Default)]
struct OfRun {
    /// The sequence number up to which the database has it.
    written: u64,
    /// The sequence number up to which this ledger has it.
    upto: u64,
    is_over: bool,
    sums: HashMap<UsageKey, UsageSum>,
}

/// Splits a booking into parts, one for each run and each key without a run.
pub(super) fn apart(booking: Booking) -> impl Iterator<Item = Booking> {
    let Booking { loose, runs } = booking;
    let loose = loose.into_iter().map(|loose| Booking {
        loose: vec![loose],
        runs: Vec::new(),
    });
    let runs = runs.into_iter().map(|run| Booking {
        loose: Vec::new(),
        runs: vec![run],
    });
    loose.chain(runs)
}

/// The positions in the runs' logs, without their usage.
pub(super) fn without_sums(booking: &Booking) -> Booking {
    let runs = booking.runs.iter().map(|run| RunUsage {
        sums: Vec::new(),
        ..run.clone()
    });
    Booking {
        loose: Vec::new(),
        runs: runs.collect(),
    }
}

impl Ledger {
    pub(super) fn note(&mut self, key: UsageKey, sum: UsageSum) {
        *self.loose.entry(key).or_default() += sum;
    }

    pub(super) fn knows(&self, run: RunId) -> bool {
        self.runs.contains_key(&run)
    }

    pub(super) fn run_begins(&mut self, run: RunId, upto: u64) {
        self.runs.entry(run).or_insert_with(|| OfRun {
            written: upto,
            upto,
            ..OfRun::default()
        });
    }

    pub(super) fn note_run(&mut self, run: RunId, seq: u64, key: UsageKey, sum: UsageSum) {
        let of_run = self.runs.entry(run).or_default();
        if seq > of_run.upto {
            of_run.upto = seq;
            *of_run.sums.entry(key).or_default() += sum;
        }
    }

    pub(super) fn run_ends(&mut self, run: RunId, seq: u64) {
        if let Some(of_run) = self.runs.get_mut(&run) {
            of_run.upto = of_run.upto.max(seq);
            of_run.is_over = true;
        }
    }

    /// Takes all new usage, to be flushed.
    pub(super) fn take(&mut self) -> Option<Booking> {
        let loose: Vec<_> = self.loose.drain().collect();
        let news = self
            .runs
            .iter_mut()
            .filter(|(_, of_run)| of_run.is_over || !of_run.sums.is_empty());
        let runs: Vec<RunUsage> = news
            .map(|(run, of_run)| RunUsage {
                run: *run,
                after: of_run.written,
                upto: of_run.upto,
                is_over: of_run.is_over,
                sums: of_run.sums.drain().collect(),
            })
            .collect();
        (!loose.is_empty() || !runs.is_empty()).then_some(Booking { loose, runs })
    }

    /// Restores a booking that could not be flushed.
    pub(super) fn give_back(&mut self, booking: Booking) {
        booking
            .loose
            .into_iter()
            .for_each(|(key, sum)| self.note(key, sum));
        booking
            .runs
            .into_iter()
            .for_each(|run| self.give_back_run(run));
    }

    fn give_back_run(&mut self, run: RunUsage) {
        let of_run = self.runs.entry(run.run).or_default();
        for (key, sum) in run.sums {
            *of_run.sums.entry(key).or_default() += sum;
        }
    }

    /// Applies the outcomes of a flush.
    pub(super) fn settle(&mut self, booking: Booking, outcomes: Vec<BookingOutcome>) {
        for (run, outcome) in booking.runs.into_iter().zip(outcomes) {
            match outcome {
                BookingOutcome::Busy => self.give_back_run(run),
                BookingOutcome::Noted if run.is_over => _ = self.runs.remove(&run.run),
                BookingOutcome::Elsewhere(u64::MAX) => _ = self.runs.remove(&run.run),
                BookingOutcome::Noted => self.is_written(run.run, run.upto),
                BookingOutcome::Elsewhere(seq) => self.is_written(run.run, seq),
            }
        }
    }

    fn is_written(&mut self, run: RunId, seq: u64) {
        if let Some(of_run) = self.runs.get_mut(&run) {
            of_run.written = seq;
            of_run.upto = of_run.upto.max(seq);
        }
    }
}
