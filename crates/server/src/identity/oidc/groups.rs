//! The groups of a user: from the claim, or from a directory if the provider omits them. If the query fails, the groups
//! are unknown, which is not the same as none.

use std::time::Duration;

use auth_protocols::{
    oauth::{Web, same_server},
    oidc::{Claims, GroupsClaim, Provider},
};
use outbound::{Limits, Request};
use reqwest::{
    Method, Url,
    header::{ACCEPT, AUTHORIZATION, HeaderValue},
};
use serde_json::json;
use wire::group_list;

use crate::{identity::provisioning::ProviderGroups, platform::config::Oidc};

/// A response with all groups of a user takes some 40 bytes for each.
const LIMITS: Limits = Limits {
    time: Duration::from_secs(20),
    body_bytes: 2_000_000,
    hops: 0,
};
const MAX_PAGES: usize = 50;
const MAX_GROUPS: usize = 20_000;
/// Actions of Microsoft Graph, which are called with POST.
const GRAPH_ACTIONS: [&str; 2] = ["getMemberObjects", "getMemberGroups"];

/// The groups of the user with these claims. Those that the provider omits are fetched if the settings say where.
pub(super) async fn of(
    claims: &Claims,
    settings: &Oidc,
    provider: &Provider<'_>,
) -> ProviderGroups {
    match (&claims.groups, &settings.groups_url, &claims.access) {
        (GroupsClaim::Listed(groups), ..) => ProviderGroups::Known(groups.clone()),
        (GroupsClaim::Unknown, ..) => ProviderGroups::Unknown,
        (GroupsClaim::Omitted, Some(place), Some(access)) => {
            ask(&provider.web(), place, &settings.groups_claim, access).await
        }
        (GroupsClaim::Omitted, ..) => {
            tracing::warn!(
                "the OpenID provider omits a user's groups; set oidc.groups_url to fetch them"
            );
            ProviderGroups::Unknown
        }
    }
}

/// All groups of the user with this access token, page by page; unknown if a page fails.
async fn ask(web: &Web<'_>, place: &Url, claim: &[String], access: &str) -> ProviderGroups {
    match pages(web, place, claim, access).await {
        Ok(groups) => ProviderGroups::Known(groups),
        Err(why) => {
            tracing::warn!(%place, why, "failed to fetch the groups omitted from a token");
            ProviderGroups::Unknown
        }
    }
}

async fn pages(
    web: &Web<'_>,
    place: &Url,
    claim: &[String],
    access: &str,
) -> Result<Vec<String>, String> {
    let bearer = format!("Bearer {access}");
    HeaderValue::try_from(&bearer).map_err(|_| "the access token cannot be sent")?;
    let mut groups = Vec::new();
    let mut next = place.clone();
    for _ in 0..MAX_PAGES {
        let url = web
            .allowed(next.as_str())
            .map_err(|error| error.to_string())?;
        let is_action = url
            .path_segments()
            .and_then(Iterator::last)
            .is_some_and(|last| GRAPH_ACTIONS.contains(&last));
        let method = if is_action { Method::POST } else { Method::GET };
        let request = Request::new(method, url, LIMITS)
            .chosen(web.chosen)
            .header(ACCEPT, "application/json");
        let request = request.header(AUTHORIZATION, &bearer);
        let request = if is_action {
            request.json(&json!({"securityEnabledOnly": false}))
        } else {
            request
        };
        let (status, said) = web.json(request).await.map_err(|error| error.to_string())?;
        if !status.is_success() {
            return Err(format!("status {}", status.as_u16()));
        }
        let page = group_list::decode(&said, claim).ok_or("the answer is no list of groups")?;
        groups.extend(page.groups);
        if groups.len() > MAX_GROUPS {
            return Err(format!("more than {MAX_GROUPS} groups"));
        }
        let Some(link) = page.next else {
            return Ok(groups);
        };
        // The access token must only be sent to this server.
        let link = link.parse().ok().filter(|link| same_server(link, place));
        next = link.ok_or("the next page is on another server")?;
    }
    Err(format!("more than {MAX_PAGES} pages"))
}
