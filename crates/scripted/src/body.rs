//! The body of a response: plays its parts and detects when the client disconnects.

use std::{
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use bytes::Bytes;
use hyper::body::{Body, Frame};
use tokio::{
    sync::watch,
    time::{Instant, Sleep, sleep_until},
};

use crate::reply::{Kind, Part};

/// Size of one write of a flood.
const FLOOD_BLOCK: Bytes = Bytes::from_static(&[b'x'; 64 << 10]);

/// Counts requests that are still being answered.
#[derive(Debug)]
pub(crate) struct OpenRequest(watch::Sender<usize>);

impl OpenRequest {
    pub(crate) fn new(count: watch::Sender<usize>) -> Self {
        count.send_modify(|open| *open += 1);
        Self(count)
    }
}

impl Drop for OpenRequest {
    fn drop(&mut self) {
        self.0.send_modify(|open| *open -= 1);
    }
}

/// A body being played; hyper drops it when the client closes the connection.
pub(crate) struct ScriptedBody {
    reply: Arc<Kind>,
    next: usize,
    flooded_bytes: u64,
    /// Pauses are added to the start time, so that paced tokens do not drift.
    now: Instant,
    pause: Option<Pin<Box<Sleep>>>,
    _open: OpenRequest,
}

impl ScriptedBody {
    pub(crate) fn new(reply: Arc<Kind>, open: OpenRequest) -> Self {
        Self {
            reply,
            next: 0,
            flooded_bytes: 0,
            now: Instant::now(),
            pause: None,
            _open: open,
        }
    }
}

impl Body for ScriptedBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        let this = self.get_mut();
        loop {
            if let Some(pause) = &mut this.pause {
                std::task::ready!(pause.as_mut().poll(cx));
                this.pause = None;
            }
            let Kind::Answer { parts, .. } = &*this.reply else {
                return Poll::Ready(None);
            };
            match parts.get(this.next) {
                None => return Poll::Ready(None),
                Some(Part::Bytes(bytes)) => {
                    this.next += 1;
                    return Poll::Ready(Some(Ok(Frame::data(bytes.clone()))));
                }
                Some(Part::Pause(time)) => {
                    this.next += 1;
                    this.now += *time;
                    this.pause = Some(Box::pin(sleep_until(this.now)));
                }
                Some(Part::Flood(size)) => {
                    let left = size - this.flooded_bytes;
                    if left == 0 {
                        this.next += 1;
                        this.flooded_bytes = 0;
                        continue;
                    }
                    let block = FLOOD_BLOCK.slice(
                        ..usize::try_from(left)
                            .unwrap_or(usize::MAX)
                            .min(FLOOD_BLOCK.len()),
                    );
                    this.flooded_bytes += block.len() as u64;
                    return Poll::Ready(Some(Ok(Frame::data(block))));
                }
                Some(Part::Cut) => {
                    return Poll::Ready(Some(Err(io::Error::other(
                        "the script cuts the connection here",
                    ))));
                }
                // No wake-up is needed: hyper itself detects that the client disconnects.
                Some(Part::Silence) => return Poll::Pending,
            }
        }
    }
}
