//! What has changed in libraries since they were listed, by their deltas.
//!
//! Deltas have all changes of rights only for apps that may change everything. So the rights of all documents are
//! requested each time.

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};

use super::{Drive, DriveItem, Folder, SharePoint, Tree, libraries, page};
use crate::{Item, Listing, SourceProblem, http};

/// Maximum number of folders of a position. Larger trees are always listed.
const MAX_FOLDERS: usize = 20_000;
/// Maximum number of changes of a library that are looked at. If there are more, listing is as fast.
const MAX_CHANGES: usize = 5_000;

/// The position in the changes of a library, and its folders at that time.
#[derive(Serialize, Deserialize)]
pub(super) struct DrivePosition {
    pub(super) link: String,
    /// The ID of the folder in the settings.
    pub(super) top: Option<String>,
    pub(super) tree: Tree,
}

#[derive(Serialize, Deserialize)]
struct Position {
    drives: Vec<Drive>,
    positions: Vec<DrivePosition>,
}

/// `None` if a library has no position, or they have too many folders.
pub(super) fn position(
    drives: Vec<Drive>,
    positions: Vec<Option<DrivePosition>>,
) -> Option<String> {
    let positions: Option<Vec<_>> = positions.into_iter().collect();
    encoded(&Position {
        drives,
        positions: positions?,
    })
}

fn encoded(position: &Position) -> Option<String> {
    let folders = position.positions.iter().map(|drive| drive.tree.len());
    if folders.sum::<usize>() > MAX_FOLDERS {
        return None;
    }
    serde_json::to_string(position).ok()
}

impl SharePoint {
    /// The known documents with what has changed; `None` if the libraries have to be listed anew.
    pub(crate) async fn list_changes(
        &self,
        position: &str,
        known: Vec<Item>,
    ) -> Result<Option<Listing>, SourceProblem> {
        self.api.forget_waits();
        let Ok(mut position) = serde_json::from_str::<Position>(position) else {
            return Ok(None);
        };
        let drives = self.drives().await?;
        if drives != position.drives || drives.len() != position.positions.len() {
            return Ok(None);
        }
        let mut items: BTreeMap<String, Item> = known
            .into_iter()
            .map(|item| (item.id.clone(), item))
            .collect();
        let libraries = libraries(&drives);
        for (drive, at) in drives.iter().zip(&mut position.positions) {
            let top = match self.folder_id(&drive.id).await {
                Err(SourceProblem::NotFound) => return Ok(None),
                top => top?,
            };
            if top != at.top {
                return Ok(None);
            }
            let Some(changes) = self.changes_since(at).await? else {
                return Ok(None);
            };
            if !apply(drive, at, changes, &drive.prefix(libraries), &mut items) {
                return Ok(None);
            }
        }
        let mut listing = Listing::default();
        for item in items.into_values() {
            listing.add(item, self.limits)?;
        }
        let mut listing = listing.finish();
        self.read_rights(&mut listing).await?;
        listing.position = encoded(&position);
        Ok(Some(listing))
    }

    /// The last change of each item, and the position after them; `None` if the position is not known any more, or there
    /// are too many.
    async fn changes_since(
        &self,
        at: &mut DrivePosition,
    ) -> Result<Option<HashMap<String, DriveItem>>, SourceProblem> {
        let Ok(url) = self.api.link(&at.link) else {
            return Ok(None);
        };
        let mut changes = HashMap::new();
        let changed = self.for_each(url, |item: DriveItem| {
            changes.insert(item.id.clone(), item);
            match changes.len() > MAX_CHANGES {
                true => Err(SourceProblem::TooMany),
                false => Ok(()),
            }
        });
        match changed.await {
            Ok(Some(link)) => {
                at.link = link;
                Ok(Some(changes))
            }
            Ok(None) | Err(SourceProblem::TooMany) => Ok(None),
            // 410 Gone: all have to be listed anew.
            Err(problem) if http::is_partial(&problem) => Ok(None),
            Err(problem) => Err(problem),
        }
    }
}

/// Applies the changes of a library. Returns whether that was possible.
fn apply(
    drive: &Drive,
    at: &mut DrivePosition,
    changes: HashMap<String, DriveItem>,
    prefix: &[&str],
    items: &mut BTreeMap<String, Item>,
) -> bool {
    // Files may be in folders that come after them.
    for (id, item) in &changes {
        let folder = Folder::of(item).filter(|_| item.deleted.is_none());
        match (at.tree.get(id), folder) {
            // What is in a folder that was moved is not named. The name of the root may differ.
            (Some(known), Some(now)) if known.is_root && now.is_root || *known == now => {}
            (Some(_), _) => return false,
            (None, Some(now)) => _ = at.tree.insert(id.clone(), now),
            (None, None) => {}
        }
    }
    for (id, item) in changes {
        let place = format!("{}/{id}", drive.id);
        items.remove(&place);
        items.remove(&format!("{}{place}", page::PREFIX));
        if item.deleted.is_some() {
            continue;
        }
        match drive.document(&item, &at.tree, at.top.as_deref(), prefix) {
            Ok(Some(document)) => _ = items.insert(document.id.clone(), document),
            Ok(None) => {}
            Err(_) => return false,
        }
    }
    true
}
