//! What has changed in a folder since it was listed, from the change log of Google Drive.
//!
//! A change of a file is a change of a document. A change of a folder concerns everything in it: then the folder is listed
//! anew.

use std::{
    collections::BTreeMap,
    hash::{DefaultHasher, Hash, Hasher},
};

use serde::{Deserialize, Serialize};

use super::{FIELDS, FOLDER, File, Folder, GoogleDrive, document, document_name};
use crate::{
    Item, Listing, Readers, SourceProblem,
    http::{self, Pages},
    name,
};

/// Maximum number of folders of a position. Larger trees are always listed.
const MAX_FOLDERS: usize = 5_000;
/// Maximum number of changes that are looked at. If there are more, listing is as fast.
const MAX_CHANGES: usize = 5_000;

/// A position in the change log, and the folders at that time.
#[derive(Serialize, Deserialize)]
struct Position {
    token: String,
    /// The shared drive.
    drive: Option<String>,
    /// The readers of the followed folder, which it may have inherited from those above it.
    rights: Option<u64>,
    /// The folders by ID, with the followed one.
    folders: BTreeMap<String, Place>,
}

#[derive(Serialize, Deserialize)]
struct Place {
    parent: String,
    path: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct StartPageToken {
    start_page_token: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Changes {
    next_page_token: Option<String>,
    new_start_page_token: Option<String>,
    #[serde(default)]
    changes: Vec<Change>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Change {
    change_type: Option<String>,
    removed: Option<bool>,
    file_id: Option<String>,
    file: Option<File>,
}

/// What a change means for the documents.
enum Effect {
    Nothing,
    /// The folder has to be listed anew.
    Unclear,
    Removed,
    Document(Box<File>, String),
}

impl GoogleDrive {
    /// The position of the changes from now on; `None` if they cannot be listed.
    pub(super) async fn start_of_changes(
        &self,
        drive: Option<&str>,
    ) -> Result<Option<String>, SourceProblem> {
        let mut query = vec![("supportsAllDrives", "true")];
        query.extend(drive.map(|drive| ("driveId", drive)));
        let path = ["drive", "v3", "changes", "startPageToken"];
        match self.api.get(&self.api.address(&path, &query)).await {
            Ok(StartPageToken { start_page_token }) => Ok(Some(start_page_token)),
            Err(problem) if http::is_partial(&problem) => Ok(None),
            Err(problem) => Err(problem),
        }
    }

    /// The position for the listed folders; `None` if they are too many, or their rights cannot be determined.
    pub(super) async fn position(
        &self,
        token: String,
        drive: Option<String>,
        folders: &[Folder],
    ) -> Result<Option<String>, SourceProblem> {
        if folders.len() > MAX_FOLDERS {
            return Ok(None);
        }
        let Some(rights) = self.rights_of_root().await? else {
            return Ok(None);
        };
        let folders = folders.iter().cloned().map(|folder| {
            let Folder { id, parent, path } = folder;
            (id, Place { parent, path })
        });
        Ok(encoded(&Position {
            token,
            drive,
            rights,
            folders: folders.collect(),
        }))
    }

    /// The known documents with what has changed; `None` if the folder has to be listed anew.
    pub(crate) async fn list_changes(
        &self,
        position: &str,
        known: Vec<Item>,
    ) -> Result<Option<Listing>, SourceProblem> {
        self.api.forget_waits();
        let Ok(mut position) = serde_json::from_str::<Position>(position) else {
            return Ok(None);
        };
        let root = self.kind(&self.folder).await?;
        let is_same = root.mime_type == FOLDER
            && root.trashed != Some(true)
            && root.drive_id == position.drive
            && position.folders.contains_key(&self.folder);
        if !is_same || self.rights_of_root().await? != Some(position.rights) {
            return Ok(None);
        }
        let Some((changes, token)) = self.changes_since(&position).await? else {
            return Ok(None);
        };
        let mut items: BTreeMap<String, Item> = known
            .into_iter()
            .map(|item| (item.id.clone(), item))
            .collect();
        let mut changed = Listing::default();
        let mut permissions = Vec::new();
        for (id, change) in changes {
            match self.effect(&position, &id, change) {
                Effect::Nothing => {}
                Effect::Unclear => return Ok(None),
                Effect::Removed => {
                    items.remove(&id);
                }
                Effect::Document(file, name) => {
                    items.remove(&id);
                    changed.add(document(&file, name), self.limits)?;
                    permissions.push(file.permissions.filter(|known| !known.is_empty()));
                }
            }
        }
        self.set_readers(&mut changed, permissions).await?;
        for item in items.into_values() {
            changed.add(item, self.limits)?;
        }
        position.token = token;
        changed.position = encoded(&position);
        Ok(Some(changed))
    }

    /// The last change of each file, and the position after them; `None` if the position is not known any more, or there
    /// are too many.
    async fn changes_since(
        &self,
        position: &Position,
    ) -> Result<Option<(BTreeMap<String, Change>, String)>, SourceProblem> {
        let fields = format!(
            "nextPageToken,newStartPageToken,changes(changeType,removed,fileId,file({FIELDS},trashed))"
        );
        let mut changes = BTreeMap::new();
        let mut pages = Pages::new(MAX_CHANGES);
        let mut token = position.token.clone();
        loop {
            pages.turn(&token)?;
            let mut query = vec![
                ("pageToken", &*token),
                ("pageSize", "1000"),
                ("includeRemoved", "true"),
                ("supportsAllDrives", "true"),
                ("includeItemsFromAllDrives", "true"),
                ("fields", &*fields),
            ];
            query.extend(position.drive.as_deref().map(|drive| ("driveId", drive)));
            let url = self.api.address(&["drive", "v3", "changes"], &query);
            let page: Changes = match self.api.get(&url).await {
                Ok(page) => page,
                Err(problem) if http::is_partial(&problem) => return Ok(None),
                Err(problem) => return Err(problem),
            };
            for change in page.changes {
                // A shared drive itself: who may read it may have changed.
                if change.change_type.as_deref() == Some("drive") {
                    if self.mirrors_rights {
                        return Ok(None);
                    }
                } else if let Some(id) = change.file_id.clone() {
                    changes.insert(id, change);
                }
            }
            if changes.len() > MAX_CHANGES {
                return Ok(None);
            }
            match (page.next_page_token, page.new_start_page_token) {
                (Some(next), _) if !next.is_empty() => token = next,
                (_, Some(start)) => return Ok(Some((changes, start))),
                _ => return Ok(None),
            }
        }
    }

    fn effect(&self, position: &Position, id: &str, change: Change) -> Effect {
        let file = change.file.filter(|file| file.trashed != Some(true));
        let file = file.filter(|_| change.removed != Some(true));
        let parents = file.as_ref().and_then(|file| file.parents.clone());
        let mut parents = parents.into_iter().flatten();
        let parent = parents.find_map(|id| {
            let place = position.folders.get(&id)?;
            Some((id, place))
        });
        if let Some(place) = position.folders.get(id) {
            let is_as_before = file.as_ref().is_some_and(|file| {
                let is_root = place.path.is_empty();
                let is_here = parent.as_ref().is_some_and(|(id, _)| *id == place.parent);
                is_root || is_here && place.path.last() == Some(&file.name)
            });
            return match is_as_before && !self.mirrors_rights {
                true => Effect::Nothing,
                false => Effect::Unclear,
            };
        }
        match (file, parent) {
            (Some(file), Some((_, place))) if file.mime_type != FOLDER => {
                match document_name(&file) {
                    Some(name) => {
                        let path = place.path.iter().map(String::as_str);
                        Effect::Document(Box::new(file), name::path(path, &name))
                    }
                    None => Effect::Removed,
                }
            }
            (Some(_), Some(_)) => Effect::Unclear,
            _ => Effect::Removed,
        }
    }

    /// A hash of the rights of the followed folder; `None` if they cannot be determined.
    async fn rights_of_root(&self) -> Result<Option<Option<u64>>, SourceProblem> {
        if !self.mirrors_rights {
            return Ok(Some(None));
        }
        match self.permissions(&self.folder).await {
            Ok(permissions) => Ok(Some(Some(hash(&self.readers(&permissions))))),
            Err(problem) if http::is_partial(&problem) => Ok(None),
            Err(problem) => Err(problem),
        }
    }
}

fn encoded(position: &Position) -> Option<String> {
    serde_json::to_string(position).ok()
}

/// It may differ between versions of the program: then the folder is listed anew once.
fn hash(readers: &Readers) -> u64 {
    let mut hasher = DefaultHasher::new();
    match readers {
        Readers::All => true.hash(&mut hasher),
        Readers::Only {
            people,
            groups,
            domains,
        } => (people, groups, domains).hash(&mut hasher),
    }
    hasher.finish()
}

#[cfg(test)]
mod tests;
