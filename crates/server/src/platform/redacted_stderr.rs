//! Writes the log to standard error with secrets redacted. Error messages of others quote what they were sent, and URLs
//! and settings contain passwords; log collectors must not receive them.

use std::io::{self, Write};

/// Standard error for log lines. Each line arrives in one write; secrets are redacted from it.
#[derive(Debug, Default)]
pub(crate) struct RedactedStderr;

impl Write for RedactedStderr {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        io::stderr().write_all(&without_secrets(line))?;
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}

fn without_secrets(line: &[u8]) -> Vec<u8> {
    redact::text(&String::from_utf8_lossy(line))
        .into_owned()
        .into_bytes()
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use tracing_subscriber::{fmt, layer::SubscriberExt};

    use super::*;

    #[derive(Clone, Default)]
    struct Kept(Arc<Mutex<Vec<u8>>>);

    impl Write for Kept {
        fn write(&mut self, line: &[u8]) -> io::Result<usize> {
            self.0
                .lock()
                .map_err(|_| io::ErrorKind::Other)?
                .extend(without_secrets(line));
            Ok(line.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn logged(ansi: bool, json: bool, write: impl Fn()) -> String {
        let kept = Kept::default();
        let writer = {
            let kept = kept.clone();
            move || kept.clone()
        };
        let layer = fmt::layer().with_writer(writer).with_ansi(ansi);
        if json {
            tracing::subscriber::with_default(
                tracing_subscriber::registry().with(layer.json()),
                write,
            );
        } else {
            tracing::subscriber::with_default(tracing_subscriber::registry().with(layer), write);
        }
        let kept = kept.0.lock().unwrap().clone();
        String::from_utf8(kept).unwrap()
    }

    #[test]
    fn document_002_named_secrets_are_in_no_line_of_the_log() {
        for case in include_str!("../../../redact/src/cases.txt").lines() {
            let (found, secret) = case.split_once('\t').unwrap();
            for (ansi, json) in [(false, false), (true, false), (false, true)] {
                let line = logged(ansi, json, || {
                    tracing::warn!(error = found, "it said: {found}")
                });
                assert!(
                    line.contains("[redacted]") && !line.contains(secret),
                    "{line}"
                );
            }
        }
    }

    #[test]
    fn lines_of_each_form_lose_their_secrets() {
        for (ansi, json) in [(false, false), (true, false), (false, true)] {
            let line = logged(ansi, json, || {
                let error =
                    "cannot reach postgres://ada:hunter2@db/x with {\"api_key\": \"abc123\"}";
                tracing::warn!(
                    error,
                    key = "sk-1234567890abcdef",
                    run = "run_1",
                    "a request failed, token=a1b2c3d4"
                );
            });
            for secret in ["hunter2", "abc123", "sk-1234567890", "a1b2c3d4"] {
                assert!(!line.contains(secret), "{line}");
            }
            assert!(
                line.contains("a request failed")
                    && line.contains("run_1")
                    && line.contains("ada:[redacted]@db"),
                "{line}"
            );
        }
    }
}
