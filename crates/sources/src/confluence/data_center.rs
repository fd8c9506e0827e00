//! Confluence Data Center and Server, with its REST API.

use std::collections::{BTreeSet, HashMap};

use bytes::Bytes;
use serde::Deserialize;
use serde_json::Value;

use super::{
    Ancestor, Attachment, Confluence, Content, Contents, Kind, Labelled, Links, MAX_SPACES, Page,
    Space, WithBody, partial,
    rights::{Circle, Directory, Operation},
};
use crate::{SourceProblem, http, problem::malformed};

/// Number of pages that are requested at once.
const LIMIT: &str = "100";
/// Maximum number of attachments of a page.
const MAX_ATTACHMENTS: usize = 100_000;
/// What is requested of pages.
const EXPAND: &str = "version,ancestors,restrictions.read.restrictions.user,\
                      restrictions.read.restrictions.group,children.attachment.version,metadata.labels";

#[derive(Deserialize)]
struct SpaceFound {
    key: String,
    name: Option<String>,
}

#[derive(Deserialize)]
struct Found {
    id: String,
    #[serde(default)]
    title: String,
    version: Version,
    ancestors: Option<Vec<AncestorFound>>,
    restrictions: Option<Restrictions>,
    children: Option<Children>,
    metadata: Option<Labelled>,
    #[serde(rename = "_links")]
    links: Option<Links>,
}

#[derive(Deserialize)]
struct Version {
    number: u64,
    when: Option<String>,
}

#[derive(Deserialize)]
struct AncestorFound {
    id: String,
    #[serde(default)]
    title: String,
}

#[derive(Deserialize)]
struct Restrictions {
    read: Option<Operation>,
}

#[derive(Deserialize)]
struct Children {
    attachment: Option<Page<AttachmentFound>>,
}

#[derive(Deserialize)]
struct AttachmentFound {
    id: String,
    #[serde(default)]
    title: String,
    version: Version,
    extensions: Option<Extensions>,
    #[serde(rename = "_links")]
    links: Option<Links>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Extensions {
    file_size: Option<u64>,
}

#[derive(Deserialize)]
struct Right {
    operation: Option<RightOperation>,
    subject: Option<Subject>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RightOperation {
    operation_key: Option<String>,
    target_type: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Subject {
    #[serde(rename = "type")]
    kind: Option<String>,
    name: Option<String>,
    user_key: Option<String>,
}

#[derive(Deserialize)]
struct UserFound {
    username: Option<String>,
    email: Option<String>,
}

#[derive(Deserialize)]
struct WithLinks {
    #[serde(rename = "_links")]
    links: Links,
}

impl Confluence {
    pub(super) async fn spaces_in_data_center(&self) -> Result<Vec<Space>, SourceProblem> {
        let query = [("status", "current"), ("limit", LIMIT)];
        let spaces = self
            .all(&["rest", "api", "space"], &query, MAX_SPACES)
            .await?;
        let spaces = spaces.into_iter().map(|space: SpaceFound| Space {
            name: space.name.unwrap_or_else(|| space.key.clone()),
            id: space.key.clone(),
            key: space.key,
        });
        Ok(spaces.collect())
    }

    pub(super) async fn contents_in_data_center(
        &self,
        space: &Space,
        max: usize,
        directory: &mut Directory,
    ) -> Result<Contents, SourceProblem> {
        let mut contents = Vec::new();
        let mut restrictions = HashMap::new();
        for (kind, name) in [(Kind::Page, "page"), (Kind::BlogPost, "blogpost")] {
            let query = [
                ("spaceKey", &*space.key),
                ("type", name),
                ("status", "current"),
                ("expand", EXPAND),
                ("limit", LIMIT),
            ];
            let found = self.all(&["rest", "api", "content"], &query, max).await?;
            for one in found {
                contents.push(
                    self.content(one, kind, &mut restrictions, directory)
                        .await?,
                );
            }
        }
        Ok(Contents {
            contents,
            restrictions,
        })
    }

    async fn content(
        &self,
        found: Found,
        kind: Kind,
        restrictions: &mut HashMap<String, Result<Circle, SourceProblem>>,
        directory: &mut Directory,
    ) -> Result<Content, SourceProblem> {
        let read = found
            .restrictions
            .and_then(|restrictions| restrictions.read);
        if let Some(circle) = read.and_then(|read| self.complete(&read, directory)) {
            restrictions.insert(found.id.clone(), Ok(circle));
        }
        let ancestors = match (found.ancestors, kind) {
            (Some(ancestors), _) => {
                let ancestors = ancestors.into_iter();
                Ok(ancestors
                    .map(|AncestorFound { id, title }| Ancestor { id, title })
                    .collect())
            }
            (None, Kind::BlogPost) => Ok(Vec::new()),
            (None, Kind::Page) => Err(malformed("the pages that it is below are missing")),
        };
        let page = found.children.and_then(|children| children.attachment);
        let attachments = match (self.settings.attachments, page) {
            (false, _) => Vec::new(),
            (true, Some(page)) if !super::rights::has_more(&page) => page.results,
            (true, _) => {
                let path = ["rest", "api", "content", &found.id, "child", "attachment"];
                let query = [("expand", "version"), ("limit", LIMIT)];
                self.all(&path, &query, MAX_ATTACHMENTS).await?
            }
        };
        Ok(Content {
            id: found.id,
            kind,
            title: found.title,
            ancestors,
            version: found.version.number,
            modified: found.version.when,
            url: found.links.and_then(|links| links.webui),
            attachments: attachments.into_iter().map(attachment).collect(),
            labels: found.metadata.map(Labelled::names).unwrap_or_default(),
        })
    }

    pub(super) async fn space_circle_in_data_center(
        &self,
        space: &Space,
        directory: &mut Directory,
    ) -> Result<Circle, SourceProblem> {
        let path = ["rest", "api", "space", &space.key, "permissions"];
        let rights: Vec<Right> = self.api.get(&self.api.address(&path, &[])).await?;
        let mut users = BTreeSet::new();
        let mut groups = BTreeSet::new();
        for right in rights
            .iter()
            .filter(|right| is_view(right.operation.as_ref()))
        {
            let Some(subject) = &right.subject else {
                continue;
            };
            match (subject.kind.as_deref(), &subject.user_key, &subject.name) {
                (Some("user"), Some(key), _) => {
                    users.insert(key.clone());
                }
                (Some("group"), _, Some(name)) => {
                    directory.set_group_name(name.clone(), name.clone());
                    groups.insert(name.clone());
                }
                _ => {}
            }
        }
        if self.anonymous_may_view(space).await? {
            return Ok(Circle::All);
        }
        Ok(self.circle_of(users, groups, directory))
    }

    /// Whether the space is for people who have not signed in, and so is the site.
    async fn anonymous_may_view(&self, space: &Space) -> Result<bool, SourceProblem> {
        let path = [
            "rest",
            "api",
            "space",
            &space.key,
            "permissions",
            "anonymous",
        ];
        let rights = self.api.get::<Value>(&self.api.address(&path, &[])).await;
        let Ok(rights) = partial(rights)? else {
            return Ok(false);
        };
        if !has_view(&rights) {
            return Ok(false);
        }
        self.is_public(&["rest", "api", "space", &space.key]).await
    }

    pub(super) async fn find_emails_in_data_center(
        &self,
        users: &BTreeSet<&String>,
        directory: &mut Directory,
    ) -> Result<(), SourceProblem> {
        for key in users {
            let query = [("key", key.as_str())];
            let url = self.api.address(&["rest", "api", "user"], &query);
            let user = partial(self.api.get::<UserFound>(&url).await)?.ok();
            let name = user.as_ref().and_then(|user| user.username.clone());
            let mut email = user.and_then(|user| user.email);
            if let (None, Some(name)) = (&email, &name) {
                let url = self
                    .api
                    .address(&["rest", "mobile", "1.0", "profile", name], &[]);
                let profile = partial(self.api.get::<UserFound>(&url).await)?;
                email = profile.ok().and_then(|profile| profile.email);
            }
            // Some companies sign in with addresses.
            directory.set_email((*key).clone(), email.or(name).as_deref());
        }
        Ok(())
    }

    pub(super) async fn body_in_data_center(
        &self,
        id: &str,
    ) -> Result<(String, String), SourceProblem> {
        let query = [("expand", "body.storage")];
        let url = self.api.address(&["rest", "api", "content", id], &query);
        let found: WithBody = self.api.get_document(&url).await?;
        Ok(found.into_parts())
    }

    pub(super) async fn download_attachment(&self, id: &str) -> Result<Bytes, SourceProblem> {
        let url = self.api.address(&["rest", "api", "content", id], &[]);
        let found: WithLinks = self.api.get(&url).await.map_err(http::of_item)?;
        let link = found.links.download.unwrap_or_default();
        if !link.starts_with('/') || link.starts_with("//") {
            return Err(malformed("an attachment has no link"));
        }
        let base = self.api.base().as_str().trim_end_matches('/');
        let url = self.api.link(&format!("{base}{link}"))?;
        self.api.download(&url).await
    }
}

/// Versions differ: a list of objects with one operation, or with several.
fn has_view(rights: &Value) -> bool {
    let mut rights = rights.as_array().into_iter().flatten();
    rights.any(|right| {
        let several = right["operations"].as_array().into_iter().flatten();
        let operations = several.chain([&right["operation"]]);
        let mut operations = operations.filter_map(|one| RightOperation::deserialize(one).ok());
        operations.any(|operation| is_view(Some(&operation)))
    })
}

fn is_view(operation: Option<&RightOperation>) -> bool {
    operation.is_some_and(|operation| {
        operation.operation_key.as_deref() == Some("read")
            && operation.target_type.as_deref() == Some("space")
    })
}

fn attachment(found: AttachmentFound) -> Attachment {
    Attachment {
        id: found.id,
        title: found.title,
        version: found.version.number,
        size: found.extensions.and_then(|extensions| extensions.file_size),
        modified: found.version.when,
        url: found.links.and_then(|links| links.webui),
    }
}
