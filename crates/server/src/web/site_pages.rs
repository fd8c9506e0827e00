//! Pages of sites that collections follow.

use std::sync::Arc;

use data_encoding::HEXLOWER;
use futures_util::future::BoxFuture;
use reqwest::Url;
use ring::digest::{SHA256, digest};
use sources::{PageReader, SettingProblem, SitePage, SourceProblem};
use web_access::{WebProblem, links};

use super::{Web, crawl::document_name};

/// Downloads pages as crawls do.
pub(crate) struct SitePages(pub(crate) Arc<Web>);

impl PageReader for SitePages {
    fn page(&self, url: Url) -> BoxFuture<'_, Result<SitePage, SourceProblem>> {
        Box::pin(self.download(url))
    }

    fn named_pages(&self, site: Url) -> BoxFuture<'_, Vec<Url>> {
        Box::pin(async move { self.0.client.named_pages(&site).await })
    }
}

impl SitePages {
    async fn download(&self, url: Url) -> Result<SitePage, SourceProblem> {
        if !self.0.reads() {
            return Err(SourceProblem::Settings {
                field: "url",
                reason: SettingProblem::NoWeb,
            });
        }
        let client = &self.0.client;
        let body = client.download(url.as_str()).await.map_err(of_problem)?;
        let content = body.recoded();
        // Ads, tokens and times change with each request, but are not part of the text.
        let sum = match client.read(&body).await {
            Ok(read) => digest(&SHA256, format!("{}\n{}", read.title, read.text).as_bytes()),
            Err(_) => digest(&SHA256, &content),
        };
        Ok(SitePage {
            name: document_name(&body),
            text_sum: HEXLOWER.encode(sum.as_ref()),
            links: match body.is_html() {
                true => links(&content, &body.url),
                false => Vec::new(),
            },
            url: body.url,
            content: content.into(),
        })
    }
}

fn of_problem(problem: WebProblem) -> SourceProblem {
    match problem {
        WebProblem::Fault(fault) => fault.into(),
        WebProblem::Status(429) => SourceProblem::Limited,
        WebProblem::Status(status @ (401 | 403 | 407 | 500..)) => SourceProblem::Status { status },
        // It is gone, not for programs, or no document.
        WebProblem::Status(_) | WebProblem::Robots | WebProblem::NotText(_) => SourceProblem::Gone,
        other => SourceProblem::Malformed(other.to_string()),
    }
}
