//! Counts of passed and failed tests, parsed from the output of the test runners.

use std::{fmt, ops::AddAssign};

/// Test counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Tests that passed.
    pub(crate) passed: u32,
    /// Tests in `passed` that failed at first and passed when repeated.
    pub(crate) flaky: u32,
    /// Tests that failed.
    pub(crate) failed: u32,
    /// Tests that were skipped.
    pub(crate) skipped: u32,
}

/// Some tests failed; their runner has printed which.
#[derive(Debug)]
pub(crate) struct TestsFailed;

impl fmt::Display for TestsFailed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("tests failed")
    }
}

impl std::error::Error for TestsFailed {}

/// The test runner.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Runner {
    /// `cargo nextest run`.
    Nextest,
    /// `cargo test --doc`.
    Rustdoc,
    /// `vitest run`.
    Vitest,
    /// `node --test`.
    Node,
    /// `python -m unittest`.
    Unittest,
    /// `playwright test`.
    Playwright,
}

impl Counts {
    /// One failed step that does not count tests.
    pub(crate) const FAILURE: Self = Self {
        passed: 0,
        flaky: 0,
        failed: 1,
        skipped: 0,
    };

    /// Combines the counts of a second run with the first.
    pub(crate) fn after(self, first: Self) -> Self {
        Self {
            flaky: first.failed.saturating_sub(self.failed),
            ..self
        }
    }

    /// Parses a runner's summary.
    pub(crate) fn read(runner: Runner, output: &str) -> Self {
        let mut counts = Self::default();
        for line in output.lines() {
            let line = without_colour(line);
            let line = line.trim();
            match runner {
                Runner::Nextest if line.starts_with("Summary [") => counts.add_listed(line),
                Runner::Rustdoc if line.starts_with("test result:") => counts.add_listed(line),
                // “Tests”, but not “Test Files”.
                Runner::Vitest if line.starts_with("Tests ") => counts.add_listed(line),
                Runner::Node => counts.add_node(line),
                Runner::Unittest => counts.add_unittest(line),
                Runner::Playwright => counts.add_playwright(line),
                Runner::Nextest | Runner::Rustdoc | Runner::Vitest => {}
            }
        }
        counts
    }

    /// `12 passed`, `1 failed`, `3 skipped` in any order, with any text between them.
    fn add_listed(&mut self, line: &str) {
        let words: Vec<&str> = line
            .split(|c: char| !c.is_ascii_alphanumeric())
            .filter(|word| !word.is_empty())
            .collect();
        for pair in words.windows(2) {
            let Ok(count) = pair[0].parse::<u32>() else {
                continue;
            };
            match pair[1] {
                "passed" => self.passed += count,
                "flaky" => self.flaky += count,
                "failed" | "timed" => self.failed += count,
                "skipped" | "ignored" | "todo" => self.skipped += count,
                _ => {}
            }
        }
    }

    /// `Ran 12 tests in 1.2s`, then `OK` or `FAILED (failures=1, errors=2, skipped=3)`.
    fn add_unittest(&mut self, line: &str) {
        if let Some(ran) = line
            .strip_prefix("Ran ")
            .and_then(|rest| rest.split(' ').next()?.parse::<u32>().ok())
        {
            self.passed += ran;
        }
        if !(line.starts_with("OK") || line.starts_with("FAILED")) {
            return;
        }
        for word in line.split(|c: char| !(c.is_ascii_alphanumeric() || c == '=')) {
            let Some((name, count)) = word.split_once('=') else {
                continue;
            };
            let Ok(count) = count.parse::<u32>() else {
                continue;
            };
            match name {
                "failures" | "errors" | "successes" => self.failed += count,
                "skipped" => self.skipped += count,
                _ => continue,
            }
            // Subtests can fail separately, so that there may be more failures than tests.
            self.passed = self.passed.saturating_sub(count);
        }
    }

    /// `12 passed (3.4m)`, `1 flaky`, `2 failed`, `3 skipped`, `4 did not run`, each on a separate line.
    fn add_playwright(&mut self, line: &str) {
        let Some((count, outcome)) = line.split_once(' ') else {
            return;
        };
        let Ok(count) = count.parse::<u32>() else {
            return;
        };
        match outcome {
            "flaky" => {
                self.flaky += count;
                self.passed += count;
            }
            "failed" | "interrupted" => self.failed += count,
            "skipped" | "did not run" => self.skipped += count,
            _ if outcome.starts_with("passed (") => self.passed += count,
            _ => {}
        }
    }

    /// `ℹ pass 12`, or `# pass 12`.
    fn add_node(&mut self, line: &str) {
        let Some(line) = line.strip_prefix("ℹ ").or_else(|| line.strip_prefix("# ")) else {
            return;
        };
        let Some((name, count)) = line.split_once(' ') else {
            return;
        };
        let Ok(count) = count.parse::<u32>() else {
            return;
        };
        match name {
            "pass" => self.passed += count,
            "fail" | "cancelled" => self.failed += count,
            "skipped" | "todo" => self.skipped += count,
            _ => {}
        }
    }
}

fn without_colour(line: &str) -> String {
    let mut plain = String::with_capacity(line.len());
    let mut pieces = line.split("\u{1b}[");
    plain.push_str(pieces.next().unwrap_or(""));
    for piece in pieces {
        plain.push_str(piece.split_once('m').map_or("", |(_, text)| text));
    }
    plain
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.passed += other.passed;
        self.flaky += other.flaky;
        self.failed += other.failed;
        self.skipped += other.skipped;
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} passed", self.passed)?;
        if self.flaky > 0 {
            write!(f, " ({} flaky)", self.flaky)?;
        }
        write!(f, ", {} failed", self.failed)?;
        if self.skipped > 0 {
            write!(f, ", {} skipped", self.skipped)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(runner: Runner, output: &str, expected: &str) {
        assert_eq!(
            Counts::read(runner, output).to_string(),
            expected,
            "{output}"
        );
    }

    #[test]
    fn reads_every_runner() {
        let nextest = "  Summary [   1.2s] 9 tests run: 6 passed (1 slow, 1 flaky), 2 failed, 1 timed out, 4 skipped";
        check(
            Runner::Nextest,
            nextest,
            "6 passed (1 flaky), 3 failed, 4 skipped",
        );
        let rustdoc = "test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out";
        check(
            Runner::Rustdoc,
            &format!("{rustdoc}\n{rustdoc}"),
            "6 passed, 0 failed, 2 skipped",
        );
        let vitest = "\u{1b}[2m Test Files \u{1b}[22m 2 passed (2)\n\u{1b}[2m      Tests \u{1b}[22m \
                      \u{1b}[1m\u{1b}[31m1 failed\u{1b}[39m | \u{1b}[32m39 passed\u{1b}[39m (40)";
        check(Runner::Vitest, vitest, "39 passed, 1 failed");
        let node =
            "ℹ tests 4\nℹ suites 0\nℹ pass 2\nℹ fail 1\nℹ cancelled 1\nℹ skipped 0\nℹ todo 0";
        check(Runner::Node, node, "2 passed, 2 failed");
        let unittest = "Ran 9 tests in 1.129s\n\nFAILED (failures=1, errors=2, skipped=1)";
        check(Runner::Unittest, unittest, "5 passed, 3 failed, 1 skipped");
        check(
            Runner::Unittest,
            "Ran 16 tests in 1.129s\n\nOK",
            "16 passed, 0 failed",
        );
        let playwright = "  ✓  1 a.e2e.mjs:3:1 › 12 failed (2.0s)\n  1 failed\n    a.e2e.mjs\n  1 flaky\n  \
                          2 skipped\n  1 did not run\n  6 passed (3.4m)";
        check(
            Runner::Playwright,
            playwright,
            "7 passed (1 flaky), 1 failed, 3 skipped",
        );
        check(Runner::Node, "nothing of the kind", "0 passed, 0 failed");
    }

    #[test]
    fn what_passes_only_when_it_is_run_again_is_told() {
        let first = Counts {
            passed: 5,
            failed: 2,
            ..Counts::default()
        };
        let second = |passed, failed| {
            Counts {
                passed,
                failed,
                ..Counts::default()
            }
            .after(first)
            .to_string()
        };
        assert_eq!(second(7, 0), "7 passed (2 flaky), 0 failed");
        assert_eq!(second(6, 1), "6 passed (1 flaky), 1 failed");
        assert_eq!(second(5, 2), "5 passed, 2 failed");
    }
}
