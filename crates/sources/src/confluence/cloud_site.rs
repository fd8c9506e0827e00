//! Confluence Cloud: its REST API 2, and 1 for restrictions, which 2 does not have.

use std::collections::{BTreeSet, HashMap};

use serde::Deserialize;
use serde_json::json;

use super::{
    Ancestor, Attachment, Confluence, Content, Contents, Kind, Labelled, Links, MAX_SPACES, Space,
    WithBody,
    rights::{Circle, Directory, Operation, User},
};
use crate::{SourceProblem, problem::malformed};

/// Number of elements that are requested at once.
const LIMIT: &str = "250";
/// Maximum number of things that a page is below.
const MAX_DEPTH: usize = 64;
/// Maximum number of rights of a space.
const MAX_RIGHTS: usize = 100_000;
/// Number of people whose addresses are requested at once.
const USERS: usize = 250;

#[derive(Deserialize)]
struct SpaceFound {
    id: String,
    key: String,
    name: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Found {
    id: String,
    #[serde(default)]
    title: String,
    parent_id: Option<String>,
    parent_type: Option<String>,
    version: Option<Version>,
    #[serde(rename = "_links")]
    links: Option<Links>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Version {
    number: u64,
    created_at: Option<String>,
}

/// Something that a page may be below.
#[derive(Clone)]
struct Node {
    title: String,
    parent: Option<(String, String)>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct AttachmentFound {
    id: String,
    #[serde(default)]
    title: String,
    page_id: Option<String>,
    blog_post_id: Option<String>,
    file_size: Option<u64>,
    webui_link: Option<String>,
    version: Option<Version>,
}

#[derive(Deserialize)]
struct Searched {
    id: String,
    restrictions: Option<Restrictions>,
    metadata: Option<Labelled>,
}

#[derive(Deserialize)]
struct Restrictions {
    read: Option<Operation>,
}

#[derive(Deserialize)]
struct Right {
    principal: Option<Principal>,
    operation: Option<RightOperation>,
}

#[derive(Deserialize)]
struct Principal {
    #[serde(rename = "type")]
    kind: Option<String>,
    id: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RightOperation {
    key: Option<String>,
    target_type: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Role {
    id: String,
    space_permissions: Option<Vec<String>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RoleAssignment {
    principal: Option<RolePrincipal>,
    role_id: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RolePrincipal {
    principal_type: Option<String>,
    principal_id: Option<String>,
}

#[derive(Deserialize)]
struct Named {
    name: String,
}

#[derive(Deserialize)]
struct Users {
    results: Vec<User>,
}

impl Found {
    fn parent(&self) -> Option<(String, String)> {
        let id = self.parent_id.clone()?;
        Some((
            self.parent_type
                .clone()
                .unwrap_or_else(|| "page".to_owned()),
            id,
        ))
    }
}

impl Confluence {
    pub(super) async fn spaces_in_cloud(&self) -> Result<Vec<Space>, SourceProblem> {
        let query = [("status", "current"), ("limit", LIMIT)];
        let spaces = self
            .all(&["api", "v2", "spaces"], &query, MAX_SPACES)
            .await?;
        let spaces = spaces.into_iter().map(|space: SpaceFound| Space {
            name: space.name.unwrap_or_else(|| space.key.clone()),
            id: space.id,
            key: space.key,
        });
        Ok(spaces.collect())
    }

    pub(super) async fn contents_in_cloud(
        &self,
        space: &Space,
        max: usize,
        directory: &mut Directory,
    ) -> Result<Contents, SourceProblem> {
        let query = [("status", "current"), ("limit", LIMIT)];
        let list = async |kind| {
            let path = ["api", "v2", "spaces", &space.id, kind];
            self.all::<Found>(&path, &query, max).await
        };
        let pages = list("pages").await?;
        let posts = list("blogposts").await?;
        let mut nodes: HashMap<String, Node> = HashMap::new();
        for page in &pages {
            let title = page.title.clone();
            let parent = page.parent();
            nodes.insert(page.id.clone(), Node { title, parent });
        }
        let mut contents = Vec::new();
        for page in pages {
            let ancestors = super::partial(self.ancestors(page.parent(), &mut nodes).await)?;
            contents.push(content(page, Kind::Page, ancestors)?);
        }
        for post in posts {
            contents.push(content(post, Kind::BlogPost, Ok(Vec::new()))?);
        }
        let restrictions = self
            .restrictions_of(space, &mut contents, directory)
            .await?;
        Ok(Contents {
            contents,
            restrictions,
        })
    }

    /// What something with this parent is below, from the top.
    async fn ancestors(
        &self,
        parent: Option<(String, String)>,
        nodes: &mut HashMap<String, Node>,
    ) -> Result<Vec<Ancestor>, SourceProblem> {
        let mut ancestors = Vec::new();
        let mut at = parent;
        while let Some((kind, id)) = at {
            if ancestors.len() == MAX_DEPTH {
                return Err(malformed("it is below too many pages"));
            }
            if !nodes.contains_key(&id) {
                let node = self.node(&kind, &id).await?;
                nodes.insert(id.clone(), node);
            }
            let node = nodes.get(&id).cloned().ok_or(SourceProblem::NotFound)?;
            let title = node.title;
            ancestors.push(Ancestor { id, title });
            at = node.parent;
        }
        ancestors.reverse();
        Ok(ancestors)
    }

    async fn node(&self, kind: &str, id: &str) -> Result<Node, SourceProblem> {
        let list = match kind {
            "page" => "pages",
            "folder" => "folders",
            "whiteboard" => "whiteboards",
            "database" => "databases",
            "embed" => "embeds",
            _ => return Err(malformed("it is below something unknown")),
        };
        let url = self.api.address(&["api", "v2", list, id], &[]);
        let found: Found = self.api.get(&url).await?;
        let parent = found.parent();
        let title = found.title;
        Ok(Node { title, parent })
    }

    /// View restrictions of many pages at once, and their labels, which are set. The search need not have all pages: the restrictions of others are
    /// requested one by one.
    async fn restrictions_of(
        &self,
        space: &Space,
        contents: &mut [Content],
        directory: &mut Directory,
    ) -> Result<HashMap<String, Result<Circle, SourceProblem>>, SourceProblem> {
        let ids = contents.iter().enumerate();
        let at: HashMap<String, usize> = ids.map(|(at, one)| (one.id.clone(), at)).collect();
        let key = space.key.replace('\\', "\\\\").replace('"', "\\\"");
        let cql = format!("space=\"{key}\" and type in (page,blogpost)");
        let query = [
            ("cql", &*cql),
            (
                "expand",
                "restrictions.read.restrictions.user,restrictions.read.restrictions.group,metadata.labels",
            ),
            ("limit", "100"),
        ];
        let path = ["rest", "api", "content", "search"];
        let mut restrictions = HashMap::new();
        let url = self.api.address(&path, &query);
        let mut take = |results: Vec<Searched>| {
            for found in results {
                let content = at.get(&found.id).and_then(|at| contents.get_mut(*at));
                if let (Some(content), Some(metadata)) = (content, found.metadata) {
                    content.labels = metadata.names();
                }
                let read = found
                    .restrictions
                    .and_then(|restrictions| restrictions.read);
                let circle = read.and_then(|read| self.complete(&read, directory));
                if let Some(circle) = circle {
                    restrictions.insert(found.id, Ok(circle));
                }
            }
            Ok(())
        };
        let searched = self.for_each_page(url, self.limits.items, &mut take).await;
        super::partial(searched)?.ok();
        Ok(restrictions)
    }

    /// Adds the attachments of the whole site that belong to these pages.
    pub(super) async fn add_attachments(
        &self,
        contents: &mut [&mut Content],
    ) -> Result<(), SourceProblem> {
        let ids = contents.iter().enumerate();
        let at: HashMap<String, usize> = ids.map(|(at, one)| (one.id.clone(), at)).collect();
        let mut count = contents.len();
        let query = [("status", "current"), ("limit", LIMIT)];
        let url = self.api.address(&["api", "v2", "attachments"], &query);
        let max = self.limits.items;
        self.for_each_page(url, max, |results: Vec<AttachmentFound>| {
            for found in results {
                let container = found.page_id.or(found.blog_post_id);
                let Some(at) = container.and_then(|id| at.get(&id)) else {
                    continue;
                };
                count += 1;
                if count > max {
                    return Err(SourceProblem::TooMany);
                }
                let version = found.version.ok_or_else(no_version)?;
                contents[*at].attachments.push(Attachment {
                    id: found.id,
                    title: found.title,
                    version: version.number,
                    size: found.file_size,
                    modified: version.created_at,
                    url: found.webui_link,
                });
            }
            Ok(())
        })
        .await
    }

    pub(super) async fn space_circle_in_cloud(
        &self,
        space: &Space,
        directory: &mut Directory,
    ) -> Result<Circle, SourceProblem> {
        let path = ["api", "v2", "spaces", &space.id, "permissions"];
        let rights: Vec<Right> = self.all(&path, &[("limit", LIMIT)], MAX_RIGHTS).await?;
        let views = rights.into_iter().filter(|right| {
            let operation = right.operation.as_ref();
            operation.is_some_and(|operation| {
                operation.key.as_deref() == Some("read")
                    && operation.target_type.as_deref() == Some("space")
            })
        });
        let principals = views.filter_map(|right| right.principal);
        let principals = principals.filter_map(|one| Some((one.kind?.to_lowercase(), one.id?)));
        let mut principals: Vec<_> = principals.collect();
        if principals.is_empty() {
            principals = self.roles_that_view(space).await?;
        }
        let mut users = BTreeSet::new();
        let mut groups = BTreeSet::new();
        for (kind, id) in principals {
            match (&*kind, &*id) {
                ("user", _) => {
                    users.insert(id);
                }
                ("group", _) => {
                    self.find_group_name(&id, directory).await?;
                    groups.insert(id);
                }
                ("role" | "access_class", "authenticated-users" | "all-licensed-users") => {
                    return Ok(Circle::All);
                }
                ("role" | "access_class", "anonymous-users")
                    if self.is_public(&["api", "v2", "spaces", &space.id]).await? =>
                {
                    return Ok(Circle::All);
                }
                _ => {}
            }
        }
        Ok(self.circle_of(users, groups, directory))
    }

    /// The people, groups and classes of people with a role that includes viewing, in sites with roles only.
    async fn roles_that_view(&self, space: &Space) -> Result<Vec<(String, String)>, SourceProblem> {
        let query = [("space-id", &*space.id), ("limit", "100")];
        let roles: Vec<Role> = self
            .all(&["api", "v2", "space-roles"], &query, MAX_RIGHTS)
            .await?;
        let views = roles.into_iter().filter(|role| {
            let mut permissions = role.space_permissions.iter().flatten();
            permissions.any(|permission| permission == "read/space")
        });
        let views: BTreeSet<String> = views.map(|role| role.id).collect();
        let path = ["api", "v2", "spaces", &space.id, "role-assignments"];
        let assigned: Vec<RoleAssignment> =
            self.all(&path, &[("limit", "100")], MAX_RIGHTS).await?;
        let principals = assigned.into_iter().filter_map(|assignment| {
            let principal = assignment.principal?;
            let kind = principal.principal_type?.to_lowercase();
            let id = principal.principal_id?;
            views.contains(&assignment.role_id?).then_some((kind, id))
        });
        Ok(principals.collect())
    }

    /// Whether people who have not signed in may read something.
    pub(super) async fn is_public(&self, path: &[&str]) -> Result<bool, SourceProblem> {
        let answer: Result<serde_json::Value, _> =
            self.anonymous.get(&self.anonymous.address(path, &[])).await;
        Ok(super::partial(answer)?.is_ok())
    }

    async fn find_group_name(
        &self,
        id: &str,
        directory: &mut Directory,
    ) -> Result<(), SourceProblem> {
        if directory.has_group_name(id) {
            return Ok(());
        }
        let url = self
            .api
            .address(&["rest", "api", "group", "by-id"], &[("id", id)]);
        match super::partial(self.api.get::<Named>(&url).await)? {
            Ok(group) => directory.set_group_name(id.to_owned(), group.name),
            // Without its name, no group here matches it.
            Err(problem) => directory.problems.push((id.to_owned(), problem)),
        }
        Ok(())
    }

    pub(super) async fn find_emails_in_cloud(
        &self,
        users: &BTreeSet<&String>,
        directory: &mut Directory,
    ) -> Result<(), SourceProblem> {
        let url = self.api.address(&["api", "v2", "users-bulk"], &[]);
        let users: Vec<_> = users.iter().collect();
        for ids in users.chunks(USERS) {
            let found: Users = self.api.post(&url, &json!({ "accountIds": ids })).await?;
            for user in &found.results {
                directory.user(user);
            }
        }
        Ok(())
    }

    /// The title and the body of a page.
    pub(super) async fn body_in_cloud(
        &self,
        kind: &str,
        id: &str,
    ) -> Result<(String, String), SourceProblem> {
        let list = match kind {
            "page" => "pages",
            _ => "blogposts",
        };
        let query = [("body-format", "storage")];
        let url = self.api.address(&["api", "v2", list, id], &query);
        let found: WithBody = self.api.get_document(&url).await?;
        Ok(found.into_parts())
    }
}

fn content(
    found: Found,
    kind: Kind,
    ancestors: Result<Vec<Ancestor>, SourceProblem>,
) -> Result<Content, SourceProblem> {
    let version = found.version.ok_or_else(no_version)?;
    Ok(Content {
        id: found.id,
        kind,
        title: found.title,
        ancestors,
        version: version.number,
        modified: version.created_at,
        url: found.links.and_then(|links| links.webui),
        attachments: Vec::new(),
        labels: Vec::new(),
    })
}

fn no_version() -> SourceProblem {
    malformed("it has no version")
}
