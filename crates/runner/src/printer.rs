//! The output of a program on its way to the server.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use runner_protocol::{MAX_OUTPUT_BYTES, Output};
use tokio::time::sleep;

use crate::server::Server;

/// Interval between reports.
const PAUSE: Duration = Duration::from_millis(100);

/// Receives output. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(crate) struct Printer(Arc<Mutex<Printed>>);

#[derive(Debug, Default)]
struct Printed {
    news: String,
    taken_bytes: usize,
}

impl Printer {
    /// Appends output. What is too much is dropped, as the result has the end.
    pub(crate) fn print(&self, text: &str) {
        let mut printed = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let room = MAX_OUTPUT_BYTES.saturating_sub(printed.taken_bytes);
        let end = text.floor_char_boundary(room);
        printed.taken_bytes += text.len();
        printed.news.push_str(&text[..end]);
    }

    fn take(&self) -> String {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner).news)
    }
}

/// Waits for `work`, and reports the output of `printer` meanwhile.
pub(crate) async fn watched<T>(
    server: &Server,
    lease: &str,
    printer: &Printer,
    work: impl Future<Output = T>,
) -> T {
    let reporting = async {
        let mut from = 0;
        loop {
            sleep(PAUSE).await;
            let text = printer.take();
            if text.is_empty() {
                continue;
            }
            let output = Output { from, text };
            from += output.text.chars().count() as u64;
            if let Err(error) = server.print(lease, &output).await {
                // The result has all of it.
                tracing::debug!(%error, "failed to report output");
            }
        }
    };
    tokio::select! {
        biased;
        result = work => result,
        never = reporting => never,
    }
}
