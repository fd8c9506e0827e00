//! Enforces a minimum rate for request bodies: one that stalls, or is slower on average than any honest client, ends
//! with an error, whatever handler reads it.

use std::{
    error::Error,
    future::Future,
    pin::Pin,
    task::{Context, Poll, ready},
    time::Duration,
};

use bytes::{Buf, Bytes};
use hyper::body::{Body, Frame, SizeHint};
use tokio::time::{Instant, Sleep, sleep_until};

/// Maximum time without any data.
const IDLE_LIMIT: Duration = Duration::from_secs(30);
/// Time allowed for any body, however short it is.
const GRACE: Duration = Duration::from_secs(20);
/// The minimum average rate after that.
const MIN_BYTES_PER_SECOND: u64 = 1000;

/// A request body arrived too slowly.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the request's body came too slowly")]
pub(crate) struct TooSlow;

/// A body with a minimum rate. Only the time that its reader waits for the client counts.
#[derive(Debug)]
pub(super) struct Paced<B, F> {
    body: B,
    /// Called when the body is complete.
    ended: F,
    received_bytes: u64,
    waited: Duration,
    waiting: Option<Instant>,
    /// Reset whenever a wait begins; created by the first one.
    timer: Option<Pin<Box<Sleep>>>,
}

impl<B, F> Paced<B, F> {
    pub(super) fn new(body: B, ended: F) -> Self {
        Self {
            body,
            ended,
            received_bytes: 0,
            waited: Duration::ZERO,
            waiting: None,
            timer: None,
        }
    }

    /// The deadline for more data if the reader waits from `now` on.
    fn deadline(&self, now: Instant) -> Instant {
        let earned = Duration::from_secs(self.received_bytes / MIN_BYTES_PER_SECOND);
        now + (GRACE + earned).saturating_sub(self.waited).min(IDLE_LIMIT)
    }

    fn poll_deadline(&mut self, context: &mut Context<'_>) -> Poll<()> {
        if self.waiting.is_none() {
            let now = Instant::now();
            let deadline = self.deadline(now);
            self.waiting = Some(now);
            match &mut self.timer {
                Some(timer) => timer.as_mut().reset(deadline),
                None => self.timer = Some(Box::pin(sleep_until(deadline))),
            }
        }
        match &mut self.timer {
            Some(timer) => timer.as_mut().poll(context),
            None => Poll::Pending,
        }
    }
}

impl<B, F> Body for Paced<B, F>
where
    F: Fn() + Unpin,
    B: Body<Data = Bytes, Error: Into<Box<dyn Error + Send + Sync>>> + Unpin,
{
    type Data = Bytes;
    type Error = Box<dyn Error + Send + Sync>;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        let Poll::Ready(frame) = Pin::new(&mut self.body).poll_frame(context) else {
            ready!(self.poll_deadline(context));
            return Poll::Ready(Some(Err(TooSlow.into())));
        };
        if let Some(since) = self.waiting.take() {
            self.waited += since.elapsed();
        }
        match &frame {
            Some(Ok(frame)) => {
                self.received_bytes += frame.data_ref().map_or(0, |data| data.remaining() as u64);
            }
            Some(Err(_)) => {}
            None => (self.ended)(),
        }
        Poll::Ready(frame.map(|frame| frame.map_err(Into::into)))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use futures_util::{StreamExt, stream};
    use http_body_util::{BodyExt, StreamBody};
    use tokio::time::sleep;

    use super::*;

    /// Reads a body of chunks, each with its delay in seconds and its size; returns the bytes received, and whether it
    /// was too slow.
    async fn read(pieces: impl IntoIterator<Item = (u64, usize)>) -> (usize, bool) {
        let pieces: Vec<_> = pieces.into_iter().collect();
        let frames = stream::iter(pieces).then(|(seconds, bytes)| async move {
            sleep(Duration::from_secs(seconds)).await;
            Ok::<_, std::io::Error>(Frame::data(Bytes::from(vec![b'x'; bytes])))
        });
        let mut body = Paced::new(StreamBody::new(Box::pin(frames)), || {});
        let mut received = 0;
        loop {
            match body.frame().await {
                None => return (received, false),
                Some(Ok(frame)) => received += frame.into_data().unwrap().len(),
                Some(Err(error)) => {
                    assert!(error.is::<TooSlow>(), "{error}");
                    return (received, true);
                }
            }
        }
    }

    #[tokio::test(start_paused = true)]
    async fn slow_but_honest_clients_are_heard_out() {
        assert_eq!(read([]).await, (0, false));
        assert_eq!(read([(19, 1)]).await, (1, false));
        // 2 kB a second, for half an hour.
        assert_eq!(read((0..1800).map(|_| (1, 2000))).await, (3_600_000, false));
        // A fast beginning earns a pause, but not a longer one than the limit.
        assert_eq!(
            read([(0, 1_000_000), (29, 1), (29, 1)]).await,
            (1_000_002, false)
        );
    }

    #[tokio::test(start_paused = true)]
    async fn bodies_that_hold_their_place_are_ended() {
        assert_eq!(read([(21, 1)]).await, (0, true));
        // A byte every five seconds.
        assert_eq!(read((0..1000).map(|_| (5, 1))).await, (4, true));
        // 900 bytes a second: 20 seconds of grace, and 0.9 for each after that.
        let (received, too_slow) = read((0..1000).map(|_| (1, 900))).await;
        assert!(
            too_slow && (150_000..200_000).contains(&received),
            "{received}"
        );
        assert_eq!(read([(0, 9_900_000), (31, 1)]).await, (9_900_000, true));
    }

    #[tokio::test(start_paused = true)]
    async fn the_time_that_the_reader_takes_does_not_count() {
        let frames =
            stream::iter((0..10).map(|_| Ok::<_, std::io::Error>(Frame::data(Bytes::from("x")))));
        let mut body = Paced::new(StreamBody::new(frames), || {});
        let mut received = 0;
        while let Some(frame) = body.frame().await {
            frame.unwrap();
            received += 1;
            sleep(GRACE * 2).await;
        }
        assert_eq!(received, 10);
    }
}
