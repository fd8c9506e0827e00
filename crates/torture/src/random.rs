//! Random numbers from a seed, so that a torture can be repeated with the same choices.

use std::{
    hash::{BuildHasher, RandomState},
    time::Duration,
};

/// SplitMix64.
#[derive(Debug)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A seed that nobody has chosen.
    pub(crate) fn any_seed() -> u64 {
        RandomState::new().hash_one(())
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Numbers of its own for a part of the torture.
    pub(crate) fn fork(&mut self) -> Self {
        Self(self.next())
    }

    /// A number from 0 to 999.
    pub(crate) fn per_mille(&mut self) -> u64 {
        self.next() % 1000
    }

    /// A time from 0 to `longest`.
    pub(crate) fn up_to(&mut self, longest: Duration) -> Duration {
        longest.mul_f64(self.per_mille() as f64 / 1000.0)
    }
}

#[cfg(test)]
mod tests {
    use super::Random;

    #[test]
    fn the_same_seed_makes_the_same_choices() {
        let numbers = |seed| {
            let mut random = Random::new(seed);
            (0..100).map(|_| random.per_mille()).collect::<Vec<_>>()
        };
        assert_eq!(numbers(1), numbers(1));
        assert_ne!(numbers(1), numbers(2));
        assert!(numbers(3).iter().all(|number| *number < 1000));
    }
}
