//! Fetches images of other sites that a person asked to see: raster formats only, limited in size and time.

use std::time::Duration;

use bytes::Bytes;
use outbound::{Fault, Limits, Request};
use reqwest::{Method, header::ACCEPT};
use tokio::time::timeout;

use crate::{WebClient, WebProblem};

/// Maximum number of concurrent fetches; others wait.
pub(super) const AT_ONCE: usize = 8;
/// Time limit per image, including the wait for a slot.
const TIME: Duration = Duration::from_secs(20);
/// Maximum size of an image, bytes.
const MAX_BYTES: usize = 10_000_000;
/// Maximum number of redirects.
const HOPS: u32 = 5;
/// The accepted types.
const WANTED: &str = "image/webp,image/png,image/jpeg,image/gif;q=0.9";

/// An image whose first bytes match its type, regardless of its `Content-Type`.
#[derive(Debug)]
pub struct Image {
    /// Its media type.
    pub media_type: &'static str,
    /// The file.
    pub bytes: Bytes,
}

impl WebClient {
    /// The image at a URL. The site sees only this server: no cookies, referrer or address of the person are sent.
    /// `media_type_of` recognizes PNG, JPEG, GIF and WebP images by their first bytes; anything else is refused.
    ///
    /// # Errors
    /// Why there is no image, in words for people.
    pub async fn image(
        &self,
        url: &str,
        media_type_of: impl FnOnce(&[u8]) -> Option<&'static str>,
    ) -> Result<Image, WebProblem> {
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
        let media_type = media_type_of(&answer.body).ok_or(WebProblem::NotImage)?;
        Ok(Image {
            media_type,
            bytes: answer.body,
        })
    }
}
