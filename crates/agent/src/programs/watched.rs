//! Shows what a program prints while it runs, a few times a second.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use domain::EventBody;

use crate::tool::ToolContext;

/// Interval between progress reports.
const PAUSE: Duration = Duration::from_millis(100);
/// Maximum output of one call shown while it runs, bytes; its result also has the end.
const SHOWN_BYTES: usize = 64_000;

/// Receives the output of a program. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(super) struct Printer(Arc<Mutex<Printed>>);

#[derive(Debug, Default)]
struct Printed {
    news: String,
    taken_bytes: usize,
}

impl Printer {
    /// Appends output.
    pub(super) fn print(&self, text: &str) {
        let mut printed = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let room = SHOWN_BYTES.saturating_sub(printed.taken_bytes);
        if room == 0 {
            return;
        }
        printed.taken_bytes += text.len();
        if text.len() <= room {
            printed.news.push_str(text);
            return;
        }
        let mut end = room;
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        printed.news.push_str(&text[..end]);
        printed
            .news
            .push_str("\n… more is not shown while it runs\n");
    }

    fn take(&self) -> String {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner).news)
    }
}

/// Waits for `work`, writing the output from `printer` to the log meanwhile.
pub(super) async fn watched<T>(
    context: &ToolContext,
    printer: &Printer,
    work: impl Future<Output = T> + Send,
) -> T {
    let mut work = std::pin::pin!(work);
    loop {
        tokio::select! {
            biased;
            result = &mut work => {
                tell(context, printer).await;
                return result;
            }
            () = tokio::time::sleep(PAUSE) => tell(context, printer).await,
        }
    }
}

/// Writes the output from `printer` to the log.
pub(super) async fn tell(context: &ToolContext, printer: &Printer) {
    let text = printer.take();
    if !text.is_empty() {
        context
            .emit(EventBody::ToolOutput {
                call: context.call.clone(),
                text,
            })
            .await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_is_cut_once() {
        let printer = Printer::default();
        printer.print(&"ё".repeat(SHOWN_BYTES));
        printer.print("more");
        let shown = printer.take();
        assert!(
            shown.len() < SHOWN_BYTES + 100 && shown.contains("more is not shown"),
            "{}",
            shown.len()
        );
        printer.print("more");
        assert_eq!(printer.take(), "");
    }
}
