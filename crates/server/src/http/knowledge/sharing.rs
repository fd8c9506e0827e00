//! Read access to a collection: granted by its owner, or by administrators who can read it themselves.

use std::sync::Arc;

use axum::{extract::State, http::StatusCode};
use domain::{CollectionId, GroupId, UserId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::{Collection, CollectionReaders, ReadersChange, UserRole};

use super::{
    super::sharing::{ReaderView, account_of},
    owner,
};
use crate::{
    app::App,
    documents::{missing, no_collection},
    error::ApiError,
    http::{
        extract::{Json, Path},
        openapi::Operations,
    },
    identity::{audit::Noted, auth::Caller, groups::Right},
    messages,
};

/// Maximum number of people, and of groups, that a collection is shared with.
const MAX_PEOPLE: usize = 100;
const MAX_GROUPS: usize = 100;

/// A group.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
struct GroupName {
    id: GroupId,
    name: String,
}

/// The accounts, other than the owner's, that may read a collection.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "CollectionReaders")]
pub(in crate::http) struct ReadersView {
    /// Whether everyone on this server may.
    open: bool,
    groups: Vec<GroupName>,
    people: Vec<ReaderView>,
    /// The groups that the caller may share it with: those they are in, and all for administrators.
    choice: Vec<GroupName>,
}

/// `GET /api/v1/knowledge/{collection}/sharing`: returns who a collection is shared with.
pub(in crate::http) async fn get(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path(collection): Path<CollectionId>,
) -> Result<Json<ReadersView>, ApiError> {
    governed(&app, &caller, collection).await?;
    let CollectionReaders {
        open,
        groups,
        people,
    } = app
        .store
        .collection_readers(collection)
        .await
        .map_err(missing)?;
    let groups = groups
        .into_iter()
        .map(|(id, name)| GroupName { id, name })
        .collect();
    let people = people.into_iter().map(ReaderView::from).collect();
    Ok(Json(ReadersView {
        open,
        groups,
        people,
        choice: choice(&app, &caller),
    }))
}

/// The accounts, other than the owner's, that may read a collection.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "CollectionReadersChange")]
pub(in crate::http) struct Readers {
    /// Whether everyone on this server may.
    open: bool,
    /// At most 100.
    groups: Vec<GroupId>,
    /// Addresses, or the ids of those it is shared with already; at most 100.
    people: Vec<String>,
}

/// `PUT /api/v1/knowledge/{collection}/sharing`: replaces the readers. Those that are not listed lose access.
pub(in crate::http) async fn put(
    State(app): State<Arc<App>>,
    caller: Caller,
    noted: Noted,
    Path(collection): Path<CollectionId>,
    Json(body): Json<Readers>,
) -> Result<StatusCode, ApiError> {
    let of = governed(&app, &caller, collection).await?;
    let before = app
        .store
        .collection_readers(collection)
        .await
        .map_err(missing)?;
    let groups = checked_groups(&before, body.groups, &choice(&app, &caller))?;
    let (people, named) = checked_people(&app, &of, &before, &body.people).await?;
    let change = ReadersChange {
        open: body.open,
        groups,
        people,
    };
    if is_wider(&before, &change) {
        app.gateway.permit_of(&caller).check(Right::Sharing)?;
    }
    app.store
        .set_collection_readers(collection, &change, app.clock.now_ms())
        .await
        .map_err(missing)?;
    noted.called(&of.name);
    noted.with("open", change.open);
    let known = app.groups.known();
    let groups = known
        .groups
        .iter()
        .filter(|group| change.groups.contains(&group.id));
    noted.with(
        "groups",
        groups.map(|group| group.name.as_str()).collect::<Vec<_>>(),
    );
    noted.with("people", named);
    Ok(StatusCode::NO_CONTENT)
}

/// A collection whose readers the caller may change.
async fn governed(app: &App, caller: &Caller, id: CollectionId) -> Result<Collection, ApiError> {
    let of = app
        .store
        .readable_collection(owner(caller)?, id)
        .await
        .map_err(missing)?;
    let governs = of.owner == caller.id() || caller.user.role == UserRole::Admin;
    if governs && !of.attached {
        Ok(of)
    } else {
        Err(no_collection())
    }
}

fn choice(app: &App, caller: &Caller) -> Vec<GroupName> {
    let known = app.groups.known();
    let own = known.of_person(caller.id());
    let is_admin = caller.user.role == UserRole::Admin;
    let mine = known
        .groups
        .iter()
        .filter(|group| is_admin || own.contains(&group.id));
    mine.map(|group| GroupName {
        id: group.id,
        name: group.name.clone(),
    })
    .collect()
}

fn checked_groups(
    before: &CollectionReaders,
    mut wanted: Vec<GroupId>,
    choice: &[GroupName],
) -> Result<Vec<GroupId>, ApiError> {
    wanted.sort_unstable();
    wanted.dedup();
    let refused =
        |message: messages::Knowledge| ApiError::invalid(message).with_field(Some("groups"));
    if wanted.len() > MAX_GROUPS {
        return Err(refused(messages::Knowledge::TooManyGroupsShared {
            count: MAX_GROUPS as u64,
        }));
    }
    let is_known = |group: &GroupId| {
        before.groups.iter().any(|(id, _)| id == group)
            || choice.iter().any(|other| other.id == *group)
    };
    if wanted.iter().all(is_known) {
        Ok(wanted)
    } else {
        Err(refused(messages::Knowledge::NotYourGroup))
    }
}

/// The ids and addresses of the listed people.
async fn checked_people(
    app: &App,
    of: &Collection,
    before: &CollectionReaders,
    wanted: &[String],
) -> Result<(Vec<UserId>, Vec<String>), ApiError> {
    let refused =
        |message: messages::Knowledge| ApiError::invalid(message).with_field(Some("people"));
    if wanted.len() > MAX_PEOPLE {
        return Err(refused(messages::Knowledge::TooManyPeopleShared {
            count: MAX_PEOPLE as u64,
        }));
    }
    let mut people = Vec::new();
    let mut named = Vec::new();
    for text in wanted {
        let reads = before
            .people
            .iter()
            .find(|reader| reader.id.to_string() == *text);
        let person = match reads {
            Some(person) => person.clone(),
            None => account_of(app, text, "people").await?,
        };
        if person.id == of.owner {
            return Err(refused(messages::Knowledge::OwnersAddress));
        }
        if !people.contains(&person.id) {
            people.push(person.id);
            named.push(person.email);
        }
    }
    Ok((people, named))
}

/// Whether the change gives anyone access who did not have it before.
fn is_wider(before: &CollectionReaders, change: &ReadersChange) -> bool {
    let is_new = |group: &GroupId| !before.groups.iter().any(|(id, _)| id == group);
    let comes = |person: &UserId| !before.people.iter().any(|reader| reader.id == *person);
    (change.open && !before.open)
        || change.groups.iter().any(is_new)
        || change.people.iter().any(comes)
}

/// Describes the calls of this file.
pub(in crate::http) fn operations(api: &mut Operations) {
    api.handler(
        "GET /api/v1/knowledge/{collection}/sharing",
        get,
        "Returns who may read a collection",
    )
    .details("For its owner, and for administrators who may read it.");
    api.handler(
        "PUT /api/v1/knowledge/{collection}/sharing",
        put,
        "Sets who may read a collection",
    )
    .details("403 without the right `sharing`, if a reader is added.");
}
