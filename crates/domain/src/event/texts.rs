//! What some events mean, for people, and how a log is numbered after a restart.

/// What [`RunResumed`](super::EventBody::RunResumed) means, for people.
pub const RESUMED: &str = "The server was restarted; the run goes on from where it was.";

/// What [`RunForked`](super::EventBody::RunForked) means, for people.
pub const FORKED: &str = "What is above was done by another run; this one goes on from here.";

/// What [`ContextCompacted`](super::EventBody::ContextCompacted) means, for people.
#[must_use]
pub fn compacted(summary: &str, tokens_before: u64, tokens_after: u64) -> String {
    let what = if summary.is_empty() { "left out" } else { "summarised" };
    format!("Older steps were {what}: {} → {} tokens", grouped(tokens_before), grouped(tokens_after))
}

/// A number with a comma before every three digits.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().filter_map(|g| str::from_utf8(g).ok()).collect();
    groups.join(",")
}

/// The number of the first event that another process writes to a log after event `last`: the next million, and one.
/// Readers may have seen a few deltas that were not stored when the first process died, and no number means two things.
#[must_use]
pub fn seq_after_restart(last: u64) -> u64 {
    const STEP: u64 = 1_000_000;
    if last == 0 { 1 } else { (last / STEP + 1) * STEP + 1 }
}

#[cfg(test)]
mod tests {
    use super::compacted;

    #[test]
    fn sizes_are_read_at_a_glance() {
        assert_eq!(compacted("a", 1_248_000, 999), "Older steps were summarised: 1,248,000 → 999 tokens");
        assert_eq!(compacted("", 1_000, 0), "Older steps were left out: 1,000 → 0 tokens");
    }
}
