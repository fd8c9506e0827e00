//! Images of other sites, fetched for a person who asked to see one: raster formats only, bounded in size and time.

use std::time::Duration;

use agent::workspace::picture_type;
use bytes::Bytes;
use outbound::{Fault, Limits, Request};
use reqwest::{Method, header::ACCEPT};
use tokio::time::timeout;

use super::{Web, WebProblem};

/// Images that are fetched at a time; the others wait.
pub(super) const AT_ONCE: usize = 8;
/// For one image, waiting for its turn included.
const TIME: Duration = Duration::from_secs(20);
/// Largest image, bytes.
const MAX_BYTES: usize = 10_000_000;
/// Most redirects.
const HOPS: u32 = 5;
/// What is passed on, as [`picture_type`] knows it.
const WANTED: &str = "image/webp,image/png,image/jpeg,image/gif;q=0.9";

/// An image whose first bytes are those of its type, whatever its server called it.
#[derive(Debug)]
pub(crate) struct Image {
    pub(crate) media_type: &'static str,
    pub(crate) bytes: Bytes,
}

impl Web {
    /// The image at an address. Its site learns of the server alone: no cookie, referrer or address of a person is sent.
    ///
    /// # Errors
    /// Why there is none, in words for people.
    pub(crate) async fn image(&self, url: &str) -> Result<Image, WebProblem> {
        let url = self.outbound.address(url, &[])?;
        let limits = Limits {
            time: TIME,
            body_bytes: MAX_BYTES,
            hops: HOPS,
        };
        let request = Request::new(Method::GET, url, limits).header(ACCEPT, WANTED);
        let fetched = timeout(TIME, async {
            let _turn = self
                .picturing
                .acquire()
                .await
                .map_err(|_| WebProblem::Internal)?;
            Ok::<_, WebProblem>(self.outbound.send(request).await?)
        });
        let answer = fetched.await.unwrap_or(Err(Fault::Slow.into()))?;
        if answer.status.as_u16() != 200 {
            return Err(WebProblem::NoImage(answer.status.as_u16()));
        }
        let media_type = picture_type(&answer.body).ok_or(WebProblem::NotImage)?;
        Ok(Image {
            media_type,
            bytes: answer.body,
        })
    }
}
