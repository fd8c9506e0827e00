//! Who may read the files of a drive.

use futures_util::{StreamExt, TryStreamExt, stream};
use serde::Deserialize;

use super::GoogleDrive;
use crate::{
    Listing, Readers, SourceProblem, api,
    http::{self, Pages},
    problem::malformed,
    readers::{self, Audience},
};

/// Number of files whose permissions are requested at the same time.
const AT_ONCE: usize = 4;
/// Maximum number of permissions of a file.
const MAX_PERMISSIONS: usize = 10_000;
const FIELDS: &str = "nextPageToken,permissions(type,role,emailAddress,domain,allowFileDiscovery,view,deleted,\
                      expirationTime)";

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Permission {
    #[serde(rename = "type")]
    kind: String,
    role: String,
    email_address: Option<String>,
    domain: Option<String>,
    allow_file_discovery: Option<bool>,
    view: Option<String>,
    deleted: Option<bool>,
    expiration_time: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Page {
    next_page_token: Option<String>,
    permissions: Vec<Permission>,
}

impl GoogleDrive {
    /// Sets the readers of all items: from the permissions that came with them, or, in shared drives, from those that
    /// are requested for each.
    pub(super) async fn set_readers(
        &self,
        listing: &mut Listing,
        known: Vec<Option<Vec<Permission>>>,
    ) -> Result<(), SourceProblem> {
        if !self.mirrors_rights {
            listing
                .items
                .iter_mut()
                .for_each(|item| item.readers = Readers::All);
            return Ok(());
        }
        let ids = listing.items.iter().map(|item| item.id.clone());
        let open: Vec<_> = ids.zip(known).collect();
        let requests = open.into_iter().map(async |(id, known)| {
            let found = match known {
                Some(permissions) => Ok(permissions),
                None => self.permissions(&id).await,
            };
            match found {
                Err(problem) if !http::is_partial(&problem) => Err(problem),
                found => Ok(found.map(|permissions| self.readers(&permissions))),
            }
        });
        let found: Vec<_> = stream::iter(requests)
            .buffered(AT_ONCE)
            .try_collect()
            .await?;
        let mut failed = Vec::new();
        for (item, readers) in listing.items.iter_mut().zip(found) {
            match readers {
                Ok(readers) => item.readers = readers,
                Err(problem) => {
                    item.readers = readers::none();
                    failed.push((item.name.clone(), http::of_item(problem)));
                }
            }
        }
        for (name, problem) in failed {
            listing.add_problem(&name, problem);
        }
        Ok(())
    }

    pub(super) async fn permissions(&self, id: &str) -> Result<Vec<Permission>, SourceProblem> {
        let mut permissions = Vec::new();
        let mut pages = Pages::new(MAX_PERMISSIONS);
        let mut token = String::new();
        loop {
            pages.turn(&token)?;
            let mut query = vec![
                ("fields", FIELDS),
                ("pageSize", "100"),
                ("supportsAllDrives", "true"),
            ];
            if !token.is_empty() {
                query.push(("pageToken", &token));
            }
            let path = ["drive", "v3", "files", id, "permissions"];
            let page: Page = self.api.get(&self.api.address(&path, &query)).await?;
            permissions.extend(page.permissions);
            if permissions.len() > MAX_PERMISSIONS {
                return Err(malformed("it has too many permissions"));
            }
            match page.next_page_token {
                Some(next) if !next.is_empty() => token = next,
                _ => return Ok(permissions),
            }
        }
    }

    pub(super) fn readers(&self, permissions: &[Permission]) -> Readers {
        let mut audience = Audience::default();
        for permission in permissions {
            add(permission, self.links_grant, api::now_s(), &mut audience);
        }
        audience.into_readers()
    }
}

fn add(permission: &Permission, links_grant: bool, now_s: i64, audience: &mut Audience) {
    let reads = matches!(
        &*permission.role,
        "owner" | "organizer" | "fileOrganizer" | "writer" | "commenter" | "reader"
    );
    let expires = permission.expiration_time.as_deref();
    // What cannot be read has expired.
    let has_expired =
        expires.is_some_and(|time| api::time_ms(time).is_none_or(|time| time / 1_000 <= now_s));
    // A view is only of the published pages or of the metadata.
    if !reads || has_expired || permission.deleted == Some(true) || permission.view.is_some() {
        return;
    }
    let needs_no_link = permission.allow_file_discovery == Some(true);
    match &*permission.kind {
        "user" => audience.add_person(permission.email_address.as_deref().unwrap_or_default()),
        "group" => audience.add_group(permission.email_address.as_deref().unwrap_or_default()),
        "domain" if needs_no_link || links_grant => {
            audience.add_domain(permission.domain.as_deref().unwrap_or_default());
        }
        "anyone" if needs_no_link || links_grant => audience.add_all(),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn check(permission: Value, links_grant: bool, expected: [&[&str]; 3]) {
        let permission: Permission = serde_json::from_value(permission).unwrap();
        let mut audience = Audience::default();
        // 2025-01-01.
        add(&permission, links_grant, 1_735_689_600, &mut audience);
        let [people, groups, domains] =
            expected.map(|names| names.iter().map(|name| (*name).to_owned()).collect());
        let expected = Readers::Only {
            people,
            groups,
            domains,
        };
        assert_eq!(audience.into_readers(), expected, "{permission:?}");
    }

    /// After the reference of Google Drive 3, resource `permissions`.
    #[test]
    fn permissions_are_readers() {
        let ann = json!({ "type": "user", "role": "reader", "emailAddress": "Ann@example.com", "deleted": false });
        let with = |name: &str, value: Value| {
            let mut permission = ann.clone();
            permission[name] = value;
            permission
        };
        let is_ann: [&[&str]; 3] = [&["ann@example.com"], &[], &[]];
        let nobody: [&[&str]; 3] = [&[], &[], &[]];
        check(ann.clone(), false, is_ann);
        for role in ["owner", "organizer", "fileOrganizer", "writer", "commenter"] {
            check(with("role", json!(role)), false, is_ann);
        }
        check(with("role", json!("other")), false, nobody);
        check(with("deleted", json!(true)), false, nobody);
        check(with("view", json!("metadata")), false, nobody);
        check(with("view", json!("published")), false, nobody);
        check(
            with("expirationTime", json!("2025-01-01T00:00:00.000Z")),
            false,
            nobody,
        );
        check(
            with("expirationTime", json!("2025-01-01T00:00:01.000Z")),
            false,
            is_ann,
        );
        check(with("expirationTime", json!("soon")), false, nobody);
        check(with("emailAddress", Value::Null), false, nobody);
        check(with("type", json!("robot")), true, nobody);
        let group = json!({ "type": "group", "role": "writer", "emailAddress": "team@example.com", "displayName": "Team" });
        check(group, false, [&[], &["team@example.com"], &[]]);
    }

    #[test]
    fn links_grant_rights_only_if_set() {
        for found in [json!(false), Value::Null] {
            let domain = json!({ "type": "domain", "role": "reader", "domain": "Example.com", "allowFileDiscovery": found });
            check(domain.clone(), false, [&[], &[], &[]]);
            check(domain, true, [&[], &[], &["example.com"]]);
        }
        let domain = json!({ "type": "domain", "role": "reader", "domain": "example.com", "allowFileDiscovery": true });
        check(domain, false, [&[], &[], &["example.com"]]);
        for (found, links_grant, expected) in [
            (true, false, true),
            (false, true, true),
            (false, false, false),
        ] {
            let anyone = json!({ "type": "anyone", "role": "reader", "allowFileDiscovery": found });
            let anyone: Permission = serde_json::from_value(anyone).unwrap();
            let mut audience = Audience::default();
            add(&anyone, links_grant, 0, &mut audience);
            assert_eq!(audience.into_readers() == Readers::All, expected);
        }
    }
}
