//! Who may read the items of a drive: their permissions, twenty items a request.

use std::{collections::HashMap, time::Duration};

use futures_util::{StreamExt, TryStreamExt, stream};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Page, SharePoint, page};
use crate::{
    Item, Listing, Readers, SourceProblem, api,
    http::{self, Pages},
    problem::malformed,
    readers::{self, Audience},
};

/// Maximum number of requests in a batch.
const BATCH: usize = 20;
/// Number of batches that are requested at the same time.
const AT_ONCE: usize = 4;
/// Maximum number of permissions of an item.
const MAX_PERMISSIONS: usize = 10_000;
/// Roles that permit reading.
const READING: [&str; 4] = ["read", "write", "owner", "sp.full control"];

#[derive(Deserialize)]
struct Batch {
    responses: Vec<Response>,
}

#[derive(Deserialize)]
struct Response {
    id: String,
    status: u16,
    headers: Option<HashMap<String, Value>>,
    #[serde(default)]
    body: Value,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Permission {
    roles: Option<Vec<String>>,
    granted_to_v2: Option<Identities>,
    granted_to: Option<Identities>,
    granted_to_identities_v2: Option<Vec<Option<Identities>>>,
    granted_to_identities: Option<Vec<Option<Identities>>>,
    link: Option<Link>,
    invitation: Option<Invitation>,
    expiration_date_time: Option<String>,
    has_password: Option<bool>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Identities {
    user: Option<Identity>,
    group: Option<Identity>,
    site_user: Option<Identity>,
    site_group: Option<Identity>,
    share_point_group: Option<SiteGroup>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Identity {
    display_name: Option<String>,
    email: Option<String>,
    login_name: Option<String>,
}

#[derive(Deserialize)]
struct SiteGroup {
    title: Option<String>,
}

#[derive(Deserialize)]
struct Link {
    scope: Option<String>,
    #[serde(rename = "type")]
    kind: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Invitation {
    email: Option<String>,
    sign_in_required: Option<bool>,
}

impl SharePoint {
    /// Sets the readers of all items. Where they cannot be determined, there are none.
    pub(super) async fn read_rights(&self, listing: &mut Listing) -> Result<(), SourceProblem> {
        let items = &listing.items;
        // Of indices, as closures over references are not general enough for futures that are sent.
        let batches = (0..items.len()).step_by(BATCH).map(|start| {
            let items = &items[start..items.len().min(start + BATCH)];
            async move {
                let all = self.permissions(items).await?.into_iter();
                let readers = all.map(|permissions| permissions.map(|all| self.readers(&all)));
                Ok::<Vec<_>, SourceProblem>(readers.collect())
            }
        });
        let found: Vec<_> = stream::iter(batches)
            .buffered(AT_ONCE)
            .try_collect()
            .await?;
        let found = found.into_iter().flatten();
        let mut failed = Vec::new();
        for (item, readers) in listing.items.iter_mut().zip(found) {
            match readers {
                Ok(readers) => item.readers = readers,
                Err(problem) => {
                    item.readers = readers::none();
                    failed.push((item.name.clone(), problem));
                }
            }
        }
        for (name, problem) in failed {
            listing.add_problem(&name, problem);
        }
        Ok(())
    }

    /// The permissions of each item.
    ///
    /// # Errors
    /// If requests are limited or the server fails: then nothing is known of the others either.
    async fn permissions(
        &self,
        items: &[Item],
    ) -> Result<Vec<Result<Vec<Permission>, SourceProblem>>, SourceProblem> {
        let url = self.api.address(&["v1.0", "$batch"], &[]);
        let mut bodies: HashMap<usize, Result<Value, SourceProblem>> = HashMap::new();
        let mut tries = 0;
        loop {
            let open = (0..items.len()).filter(|at| !bodies.contains_key(at));
            let requests = open.map(|at| {
                let url = self.permissions_url(&items[at]);
                json!({ "id": at.to_string(), "method": "GET", "url": url })
            });
            let requests: Vec<_> = requests.collect();
            if requests.is_empty() {
                break;
            }
            let batch: Batch = self
                .api
                .post(&url, &json!({ "requests": requests }))
                .await?;
            let before = bodies.len();
            let mut limited: Option<(u16, Option<Duration>)> = None;
            for response in batch.responses {
                let at = response.id.parse().ok().filter(|at| *at < items.len());
                let at = at.ok_or_else(|| malformed("a response has an unknown ID"))?;
                match response.status {
                    200..=299 => {
                        bodies.insert(at, Ok(response.body));
                    }
                    status if http::is_limited(status) => {
                        let wait = limited.and_then(|(_, wait)| wait);
                        limited = Some((status, wait.max(retry_after(&response))));
                    }
                    status => {
                        let problem = http::of_item(http::problem_of(status, false));
                        if !http::is_partial(&problem) {
                            return Err(problem);
                        }
                        bodies.insert(at, Err(problem));
                    }
                }
            }
            match limited {
                Some((status, wait)) if !self.api.pause(wait, &mut tries).await => {
                    return Err(http::problem_of(status, wait.is_some()));
                }
                None if bodies.len() == before => {
                    return Err(malformed("a batch has no response"));
                }
                _ => {}
            }
        }
        let mut permissions = Vec::with_capacity(items.len());
        for at in 0..items.len() {
            let body = bodies.remove(&at).unwrap_or(Err(SourceProblem::Gone));
            permissions.push(match body {
                Ok(body) => self.all_pages(body).await?,
                Err(problem) => Err(problem),
            });
        }
        Ok(permissions)
    }

    /// The address relative to Graph's version.
    fn permissions_url(&self, item: &Item) -> String {
        let id = item.id.strip_prefix(page::PREFIX).unwrap_or(&item.id);
        let (drive, id) = id.split_once('/').unwrap_or_default();
        let path = ["drives", drive, "items", id, "permissions"];
        let url = self.api.address(&path, &[]);
        let path = url.path();
        let base = self.api.base().path().trim_end_matches('/');
        path.strip_prefix(base).unwrap_or(path).to_owned()
    }

    async fn all_pages(
        &self,
        first: Value,
    ) -> Result<Result<Vec<Permission>, SourceProblem>, SourceProblem> {
        let read = self.rest_of(first).await;
        match read {
            Err(problem) if !http::is_partial(&problem) => Err(problem),
            read => Ok(read),
        }
    }

    async fn rest_of(&self, first: Value) -> Result<Vec<Permission>, SourceProblem> {
        let page = serde_json::from_value(first);
        let mut page: Page<Permission> = page.map_err(|error| malformed(&error.to_string()))?;
        let mut permissions = page.value;
        let mut pages = Pages::new(MAX_PERMISSIONS);
        while let Some(next) = page.next {
            let url = self.api.link(&next)?;
            pages.turn(url.as_str())?;
            page = self.api.get(&url).await?;
            permissions.append(&mut page.value);
            if permissions.len() > MAX_PERMISSIONS {
                return Err(malformed("it has too many permissions"));
            }
        }
        Ok(permissions)
    }

    fn readers(&self, permissions: &[Permission]) -> Readers {
        let mut audience = Audience::default();
        for permission in permissions {
            add(permission, self.links_grant, api::now_s(), &mut audience);
        }
        audience.into_readers()
    }
}

fn retry_after(response: &Response) -> Option<Duration> {
    let mut headers = response.headers.iter().flatten();
    let (_, wait) = headers.find(|(name, _)| name.eq_ignore_ascii_case("retry-after"))?;
    match wait {
        Value::String(text) => http::seconds(text),
        wait => Some(Duration::from_secs(wait.as_u64()?)),
    }
}

fn add(permission: &Permission, links_grant: bool, now_s: i64, audience: &mut Audience) {
    let mut roles = permission.roles.iter().flatten();
    let reads = roles.any(|role| READING.contains(&role.to_lowercase().as_str()));
    let kind = permission
        .link
        .as_ref()
        .and_then(|link| link.kind.as_deref());
    // Links that only permit uploads have a role, too.
    if !reads || kind == Some("createOnly") || has_expired(permission, now_s) {
        return;
    }
    if let Some(link) = &permission.link {
        let is_open = matches!(link.scope.as_deref(), Some("anonymous" | "organization"));
        if is_open && links_grant && permission.has_password != Some(true) {
            audience.add_all();
        }
    }
    // The ones without a version are deprecated, and all there is in some answers.
    let one = permission
        .granted_to_v2
        .as_ref()
        .or(permission.granted_to.as_ref());
    let many = permission.granted_to_identities_v2.as_ref();
    let many = many.or(permission.granted_to_identities.as_ref());
    let many = many.into_iter().flatten().flatten();
    let granted: Vec<_> = one.into_iter().chain(many).collect();
    if granted.is_empty() && permission.link.is_none() {
        add_invited(permission, audience);
    }
    for identities in granted {
        add_identities(identities, audience);
    }
}

/// A sharing invitation that nobody has accepted yet.
fn add_invited(permission: &Permission, audience: &mut Audience) {
    if let Some(invitation) = &permission.invitation
        && invitation.sign_in_required == Some(true)
        && let Some(email) = &invitation.email
    {
        audience.add_person(email);
    }
}

/// The first year means that it does not expire. What cannot be read has expired.
fn has_expired(permission: &Permission, now_s: i64) -> bool {
    match permission.expiration_date_time.as_deref() {
        None | Some("") => false,
        Some(time) if time.starts_with("0001-") => false,
        Some(time) => api::time_ms(time).is_none_or(|time| time / 1_000 <= now_s),
    }
}

fn add_identities(identities: &Identities, audience: &mut Audience) {
    let claim = identities.site_user.as_ref();
    // Only that of a user: people choose the login name of a SharePoint group.
    let claim = claim.and_then(|user| user.login_name.as_deref());
    let claim = claim.unwrap_or_default();
    if claim == "c:0(.s|true" || claim.starts_with("c:0-.f|rolemanager|spo-grid-all-users/") {
        return audience.add_all();
    }
    // Only the owners of a group of Microsoft 365.
    if claim.starts_with("c:0o.c|federateddirectoryclaimprovider|") && claim.ends_with("_o") {
        return;
    }
    let site_group = identities.share_point_group.as_ref();
    if let Some(title) = site_group.and_then(|group| group.title.as_deref()) {
        return audience.add_group(title);
    }
    let is_group_claim = claim.starts_with("c:0t.c|") || claim.starts_with("c:0o.c|");
    let claimed = identities.site_user.as_ref().filter(|_| is_group_claim);
    let group = identities.group.as_ref().or(identities.site_group.as_ref());
    if let Some(group) = group.or(claimed) {
        return audience.add_group(group.display_name.as_deref().unwrap_or_default());
    }
    let user = identities.user.as_ref();
    let email = user.and_then(|user| user.email.as_deref());
    let profile = identities.site_user.as_ref();
    let email = email.or_else(|| profile.and_then(|user| user.email.as_deref()));
    let email = email.filter(|email| !email.is_empty());
    let email = email.or_else(|| claim.strip_prefix("i:0#.f|membership|"));
    audience.add_person(email.unwrap_or_default());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(permissions: Value, links_grant: bool, expected: &Readers) {
        let mut audience = Audience::default();
        for permission in permissions.as_array().unwrap() {
            let permission: Permission = serde_json::from_value(permission.clone()).unwrap();
            // 2025-01-01.
            add(&permission, links_grant, 1_735_689_600, &mut audience);
        }
        assert_eq!(&audience.into_readers(), expected, "{permissions}");
    }

    fn only(people: &[&str], groups: &[&str]) -> Readers {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        Readers::Only {
            people: owned(people),
            groups: owned(groups),
            domains: Vec::new(),
        }
    }

    fn granted(identities: &Value) -> Value {
        json!([{ "id": "1", "roles": ["read"], "grantedToV2": identities }])
    }

    /// After the reference of Microsoft Graph, resource `permission`, with the identities that SharePoint sends.
    #[test]
    fn people_and_groups_are_recognized() {
        let ann = only(&["ann@contoso.com"], &[]);
        let nobody = only(&[], &[]);
        for (identities, expected) in [
            (
                json!({ "user": { "id": "1", "displayName": "Ann", "email": "Ann@contoso.com" } }),
                &ann,
            ),
            (
                json!({ "user": { "id": "1", "displayName": "Ann" },
                    "siteUser": { "id": "6", "displayName": "Ann", "loginName": "i:0#.f|membership|ann@contoso.com" } }),
                &ann,
            ),
            (
                json!({ "siteUser": { "id": "6", "email": "ann@contoso.com", "loginName": "i:0#.f|membership|x@y" } }),
                &ann,
            ),
            (
                json!({ "user": { "email": "" },
                    "siteUser": { "loginName": "i:0#.f|membership|ann_gmail.com#ext#@contoso.onmicrosoft.com" } }),
                &nobody,
            ),
            (
                json!({ "group": { "id": "g", "displayName": "Sales", "email": "sales@contoso.com" } }),
                &only(&[], &["Sales"]),
            ),
            (
                json!({ "siteGroup": { "id": "5", "displayName": "Team Members", "loginName": "Team Members" } }),
                &only(&[], &["Team Members"]),
            ),
            (
                json!({ "siteGroup": { "id": "5", "displayName": "Team Members" },
                    "user": { "displayName": "team", "email": "team@contoso.com" } }),
                &only(&[], &["Team Members"]),
            ),
            (
                json!({ "siteUser": { "displayName": "Legal", "loginName": "c:0t.c|tenant|11111111-1111" } }),
                &only(&[], &["Legal"]),
            ),
            (
                json!({ "group": { "displayName": "Sales" }, "siteUser": { "displayName": "Sales",
                    "loginName": "c:0o.c|federateddirectoryclaimprovider|2222" } }),
                &only(&[], &["Sales"]),
            ),
            (
                json!({ "group": { "displayName": "Sales" }, "siteUser": { "displayName": "Sales",
                    "loginName": "c:0o.c|federateddirectoryclaimprovider|2222_o" } }),
                &nobody,
            ),
            (
                json!({ "siteUser": { "displayName": "Everyone except external users",
                    "loginName": "c:0-.f|rolemanager|spo-grid-all-users/3333" } }),
                &Readers::All,
            ),
            (
                json!({ "siteUser": { "displayName": "Everyone", "loginName": "c:0(.s|true" } }),
                &Readers::All,
            ),
            // A group was named so.
            (
                json!({ "siteGroup": { "displayName": "c:0(.s|true", "loginName": "c:0(.s|true" } }),
                &only(&[], &["c:0(.s|true"]),
            ),
            (
                json!({ "application": { "id": "a", "displayName": "App" } }),
                &nobody,
            ),
            (json!({}), &nobody),
        ] {
            check(granted(&identities), true, expected);
        }
    }

    #[test]
    fn only_reading_roles_that_have_not_expired_count() {
        let user = json!({ "user": { "email": "a@b.c" } });
        let may = only(&["a@b.c"], &[]);
        let may_not = only(&[], &[]);
        for (roles, expires, expected) in [
            (json!(["read"]), json!("0001-01-01T00:00:00Z"), &may),
            (json!(["write"]), json!("2025-01-01T00:00:01Z"), &may),
            (json!(["owner"]), json!("2024-12-31T23:59:59Z"), &may_not),
            (json!(["owner"]), json!("soon"), &may_not),
            (json!(["sp.limited access"]), Value::Null, &may_not),
            (json!([]), Value::Null, &may_not),
            (Value::Null, Value::Null, &may_not),
        ] {
            let permission =
                json!([{ "roles": roles, "grantedToV2": user, "expirationDateTime": expires }]);
            check(permission, false, expected);
        }
    }

    #[test]
    fn links_grant_rights_to_all_only_if_set() {
        let link = |scope: Value, kind: &str| {
            json!([{ "id": "1", "roles": ["read"], "hasPassword": false,
                "link": { "scope": scope, "type": kind, "webUrl": "https://contoso.sharepoint.com/:w:/s/x" },
                "grantedToIdentitiesV2": [{ "user": { "email": "used@b.c" } }, null],
                "grantedToIdentities": [{ "user": { "email": "old@b.c" } }] }])
        };
        let used = only(&["used@b.c"], &[]);
        for (scope, kind, expected) in [
            (json!("anonymous"), "view", &Readers::All),
            (json!("organization"), "edit", &Readers::All),
            (json!("users"), "view", &used),
            (json!("existingAccess"), "view", &used),
            (Value::Null, "view", &used),
            (json!("anonymous"), "createOnly", &only(&[], &[])),
        ] {
            check(link(scope.clone(), kind), true, expected);
            let expected = if kind == "createOnly" {
                expected
            } else {
                &used
            };
            check(link(scope, kind), false, expected);
        }
        let mut protected = link(json!("anonymous"), "view");
        protected[0]["hasPassword"] = json!(true);
        check(protected, true, &used);
    }

    #[test]
    fn invited_people_count_until_somebody_accepts() {
        let mut invited = json!([{ "id": "1", "roles": ["write"],
            "invitation": { "email": "jd@gmail.com", "signInRequired": true } }]);
        check(invited.clone(), false, &only(&["jd@gmail.com"], &[]));
        invited[0]["grantedTo"] = json!({ "user": { "id": "5D33", "displayName": "John Doe" } });
        check(invited, false, &only(&[], &[]));
    }
}
