//! The groups of a user: from the claim, or from a directory if the provider omits the claim because there are too many
//! for a token. If the query fails, the groups are unknown, which is not the same as none.

use std::time::Duration;

use outbound::{Limits, Request};
use reqwest::{
    Method, Url,
    header::{ACCEPT, AUTHORIZATION, HeaderValue},
};
use serde_json::{Map, Value, json};
use wire::group_list;

use crate::identity::{
    oauth::{Web, same_server},
    provisioning::ProviderGroups,
};

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

/// Whether the claims say that groups are omitted: by a reference to their location (`_claim_names` of OpenID Connect,
/// or `groups:src1`) or by a flag (`hasgroups`).
pub(super) fn are_left_out(claims: &Map<String, Value>, path: &[String]) -> bool {
    let Some(claim) = path.first() else {
        return false;
    };
    let is_referred = claims
        .get("_claim_names")
        .and_then(|names| names.get(claim))
        .is_some();
    let reference = format!("{claim}:src");
    let is_marked = claim == "groups"
        && claims
            .get("hasgroups")
            .is_some_and(|mark| *mark == Value::Bool(true) || mark.as_str() == Some("true"));
    is_referred || is_marked || claims.keys().any(|name| name.starts_with(&reference))
}

/// The groups at this path of the claims; a single string counts as one group. `None` if the claim is missing.
pub(super) fn in_claims(claims: &Map<String, Value>, path: &[String]) -> Option<Vec<String>> {
    let (first, rest) = path.split_first()?;
    match rest
        .iter()
        .try_fold(claims.get(first)?, |place, name| place.get(name))?
    {
        Value::String(one) => Some(vec![one.clone()]),
        Value::Array(all) => Some(
            all.iter()
                .filter_map(Value::as_str)
                .map(str::to_owned)
                .collect(),
        ),
        _ => None,
    }
}

/// All groups of the user with this access token, page by page; unknown if a page fails.
pub(super) async fn ask(
    web: &Web<'_>,
    place: &Url,
    claim: &[String],
    access: &str,
) -> ProviderGroups {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn path(names: &[&str]) -> Vec<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    #[test]
    fn groups_stand_where_the_settings_say() {
        let claims = json!({
            "groups": ["a", 7, "b"], "role": "admin", "realm_access": {"roles": ["c"]}, "odd": {"roles": 5},
        });
        let claims = claims.as_object().unwrap();
        for (names, expected) in [
            (&["groups"][..], Some(&["a", "b"][..])),
            (&["role"], Some(&["admin"])),
            (&["realm_access", "roles"], Some(&["c"])),
            (&["realm_access"], None),
            (&["odd", "roles"], None),
            (&["odd", "roles", "deeper"], None),
            (&["none"], None),
        ] {
            let found = in_claims(claims, &path(names));
            assert_eq!(found, expected.map(path), "{names:?}");
        }
    }

    #[test]
    fn a_claim_that_is_left_out_is_told_from_one_that_is_not_there() {
        let endpoint = "https://graph.windows.net/9f4/users/7b2/getMemberObjects";
        for (claims, expected) in [
            // Microsoft Entra ID, code flow.
            (
                json!({"_claim_names": {"groups": "src1"}, "_claim_sources": {"src1": {"endpoint": endpoint}}}),
                true,
            ),
            // The implicit and hybrid flows.
            (json!({"hasgroups": true}), true),
            (json!({"hasgroups": "true"}), true),
            (json!({"groups:src1": endpoint}), true),
            (json!({"hasgroups": false}), false),
            (json!({"_claim_names": {"address": "src1"}}), false),
            (json!({"_claim_names": null}), false),
            (json!({"groups": ["a"]}), false),
            (json!({}), false),
        ] {
            assert_eq!(
                are_left_out(claims.as_object().unwrap(), &path(&["groups"])),
                expected,
                "{claims}"
            );
        }
        let roles = json!({"_claim_names": {"realm_access": "src1"}});
        assert!(are_left_out(
            roles.as_object().unwrap(),
            &path(&["realm_access", "roles"])
        ));
        let other = json!({"hasgroups": true});
        assert!(!are_left_out(other.as_object().unwrap(), &path(&["roles"])));
    }
}
