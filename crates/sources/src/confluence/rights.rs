//! Who is in the restrictions of pages and spaces, and in several of them at once.

use std::collections::{BTreeSet, HashMap};

use serde::Deserialize;

use super::{Confluence, Page, partial};
use crate::{
    Readers, SourceProblem,
    problem::malformed,
    readers::{self, Audience},
};

/// Maximum number of members of a group.
const MAX_MEMBERS: usize = 100_000;
/// Maximum number of pages of a restriction.
const MAX_PAGES: usize = 100;
/// Number of elements that are requested at once.
const LIMIT: &str = "100";

/// People and groups, by their ID (Cloud) or key and name (Data Center).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Circle {
    All,
    Only {
        users: BTreeSet<String>,
        groups: BTreeSet<String>,
    },
}

/// What is known of people and groups while a site is listed.
#[derive(Default)]
pub(super) struct Directory {
    /// `None` for people whose address is hidden.
    emails: HashMap<String, Option<String>>,
    group_names: HashMap<String, String>,
    members: HashMap<String, BTreeSet<String>>,
    pub(super) problems: Vec<(String, SourceProblem)>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct User {
    account_id: Option<String>,
    user_key: Option<String>,
    username: Option<String>,
    email: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct Group {
    id: Option<String>,
    name: Option<String>,
}

/// A view restriction.
#[derive(Deserialize)]
pub(super) struct Operation {
    restrictions: Option<Subjects>,
}

#[derive(Deserialize)]
struct Subjects {
    user: Option<Page<User>>,
    group: Option<Page<Group>>,
}

impl User {
    fn id(&self) -> Option<&String> {
        let id = self.account_id.as_ref().or(self.user_key.as_ref());
        id.or(self.username.as_ref())
    }
}

impl Directory {
    /// Notes a person; `None` if the answer does not identify them.
    pub(super) fn user(&mut self, user: &User) -> Option<String> {
        let id = user.id()?.clone();
        let email = user.email.as_deref().and_then(readers::email);
        if let Some(email) = email {
            self.emails.insert(id.clone(), Some(email));
        }
        Some(id)
    }

    /// Notes a group.
    pub(super) fn group(&mut self, group: &Group) -> Option<String> {
        let id = group.id.as_ref().or(group.name.as_ref())?.clone();
        if let Some(name) = &group.name {
            self.group_names.insert(id.clone(), name.clone());
        }
        Some(id)
    }

    pub(super) fn set_email(&mut self, id: String, email: Option<&str>) {
        self.emails.insert(id, email.and_then(readers::email));
    }

    pub(super) fn has_group_name(&self, id: &str) -> bool {
        self.group_names.contains_key(id)
    }

    pub(super) fn set_group_name(&mut self, id: String, name: String) {
        self.group_names.insert(id, name);
    }

    /// The people whose addresses have not been requested yet.
    pub(super) fn unknown_users<'a>(&self, circles: &'a [Option<Circle>]) -> BTreeSet<&'a String> {
        let circles = circles.iter().flatten();
        let users = circles.filter_map(|circle| match circle {
            Circle::All => None,
            Circle::Only { users, .. } => Some(users),
        });
        let users = users.flatten();
        users
            .filter(|user| !self.emails.contains_key(*user))
            .collect()
    }

    pub(super) fn readers(&self, circle: &Circle) -> Readers {
        let mut audience = Audience::default();
        match circle {
            Circle::All => audience.add_all(),
            Circle::Only { users, groups } => {
                for email in users
                    .iter()
                    .filter_map(|user| self.emails.get(user)?.as_ref())
                {
                    audience.add_person(email);
                }
                for name in groups
                    .iter()
                    .filter_map(|group| self.group_names.get(group))
                {
                    audience.add_group(name);
                }
            }
        }
        audience.into_readers()
    }
}

impl Confluence {
    /// A circle of these, which is everyone if one of the groups has everyone.
    pub(super) fn circle_of(
        &self,
        users: BTreeSet<String>,
        groups: BTreeSet<String>,
        directory: &Directory,
    ) -> Circle {
        let names = groups
            .iter()
            .filter_map(|group| directory.group_names.get(group));
        let everyone = &self.settings.everyone_groups;
        if names.into_iter().any(|name| everyone.contains(name)) {
            return Circle::All;
        }
        Circle::Only { users, groups }
    }

    /// The circle of a view restriction that came with a page; `None` if it is not complete.
    pub(super) fn complete(&self, read: &Operation, directory: &mut Directory) -> Option<Circle> {
        let subjects = read.restrictions.as_ref()?;
        let (users, groups) = (subjects.user.as_ref()?, subjects.group.as_ref()?);
        if has_more(users) || has_more(groups) {
            return None;
        }
        let named = !users.results.is_empty() || !groups.results.is_empty();
        let users = users
            .results
            .iter()
            .filter_map(|user| directory.user(user))
            .collect();
        let groups = groups
            .results
            .iter()
            .filter_map(|group| directory.group(group))
            .collect();
        match named {
            true => Some(self.circle_of(users, groups, directory)),
            false => Some(Circle::All),
        }
    }

    /// Requests the view restriction of a page.
    pub(super) async fn restriction(
        &self,
        id: &str,
        directory: &mut Directory,
    ) -> Result<Circle, SourceProblem> {
        let path = [
            "rest",
            "api",
            "content",
            id,
            "restriction",
            "byOperation",
            "read",
        ];
        let mut users = BTreeSet::new();
        let mut groups = BTreeSet::new();
        let mut is_restricted = false;
        let mut start = 0;
        for _ in 0..MAX_PAGES {
            let start_at = start.to_string();
            let query = [
                ("expand", "restrictions.user,restrictions.group"),
                ("start", &*start_at),
                ("limit", LIMIT),
            ];
            let read: Operation = self.api.get(&self.api.address(&path, &query)).await?;
            let subjects = read.restrictions;
            let (Some(user), Some(group)) = subjects.map_or((None, None), |s| (s.user, s.group))
            else {
                return Err(malformed("a restriction lacks its people or groups"));
            };
            // Some may be hidden, which does not open the page.
            is_restricted |= is_named(&user) || is_named(&group);
            users.extend(user.results.iter().filter_map(|user| directory.user(user)));
            groups.extend(
                group
                    .results
                    .iter()
                    .filter_map(|group| directory.group(group)),
            );
            let count = user.results.len().max(group.results.len());
            if count == 0 || !has_more(&user) && !has_more(&group) {
                return Ok(match is_restricted {
                    true => self.circle_of(users, groups, directory),
                    false => Circle::All,
                });
            }
            start += count;
        }
        Err(malformed("a restriction has too many pages"))
    }

    /// Who is in both. The members of different groups are compared as people.
    pub(super) async fn intersect(
        &self,
        a: &Circle,
        b: &Circle,
        directory: &mut Directory,
    ) -> Result<Circle, SourceProblem> {
        let (users_a, groups_a, users_b, groups_b) = match (a, b) {
            (Circle::All, other) | (other, Circle::All) => return Ok(other.clone()),
            (
                Circle::Only { users, groups },
                Circle::Only {
                    users: users_b,
                    groups: groups_b,
                },
            ) => (users, groups, users_b, groups_b),
        };
        for group in groups_a.symmetric_difference(groups_b) {
            self.find_members(group, directory).await?;
        }
        let members = |group: &String| directory.members.get(group);
        let in_groups = |user: &String, groups: &BTreeSet<String>| {
            let mut groups = groups.iter().filter_map(members);
            groups.any(|members| members.contains(user))
        };
        let mut users: BTreeSet<String> = users_a & users_b;
        users.extend(
            users_a
                .iter()
                .filter(|user| in_groups(user, groups_b))
                .cloned(),
        );
        users.extend(
            users_b
                .iter()
                .filter(|user| in_groups(user, groups_a))
                .cloned(),
        );
        let groups: BTreeSet<String> = groups_a & groups_b;
        // People in the groups of both are named by these.
        for group in groups_a.difference(groups_b).filter_map(members) {
            let also = group.iter().filter(|user| {
                let mut others = groups_b.difference(groups_a).filter_map(members);
                others.any(|members| members.contains(*user))
            });
            users.extend(also.cloned());
        }
        Ok(Circle::Only { users, groups })
    }

    async fn find_members(
        &self,
        group: &str,
        directory: &mut Directory,
    ) -> Result<(), SourceProblem> {
        if directory.members.contains_key(group) {
            return Ok(());
        }
        let path = match self.is_cloud() {
            true => ["rest", "api", "group", group, "membersByGroupId"],
            false => ["rest", "api", "group", group, "member"],
        };
        let found: Result<Vec<User>, _> = self.all(&path, &[("limit", "200")], MAX_MEMBERS).await;
        let found = match found {
            Err(SourceProblem::TooMany) => Err(SourceProblem::TooMany),
            found => partial(found)?,
        };
        let members = match found {
            Ok(users) => users
                .iter()
                .filter_map(|user| directory.user(user))
                .collect(),
            Err(problem) => {
                let name = directory.group_names.get(group).cloned();
                let name = name.unwrap_or_else(|| group.to_owned());
                directory.problems.push((name, problem));
                BTreeSet::new()
            }
        };
        directory.members.insert(group.to_owned(), members);
        Ok(())
    }

    /// Who may view a space.
    pub(super) async fn space_circle(
        &self,
        space: &super::Space,
        directory: &mut Directory,
    ) -> Result<Result<Circle, SourceProblem>, SourceProblem> {
        partial(match self.is_cloud() {
            true => self.space_circle_in_cloud(space, directory).await,
            false => self.space_circle_in_data_center(space, directory).await,
        })
    }

    /// Requests the email addresses of the people in the circles.
    pub(super) async fn find_emails(
        &self,
        circles: &[Option<Circle>],
        directory: &mut Directory,
    ) -> Result<(), SourceProblem> {
        let users = directory.unknown_users(circles);
        match self.is_cloud() {
            true => self.find_emails_in_cloud(&users, directory).await,
            false => self.find_emails_in_data_center(&users, directory).await,
        }
    }
}

fn is_named<T>(page: &Page<T>) -> bool {
    !page.results.is_empty() || page.size.is_some_and(|size| size > 0)
}

pub(super) fn has_more<T>(page: &Page<T>) -> bool {
    let has_next = page
        .links
        .as_ref()
        .is_some_and(|links| links.next.is_some());
    let count = page.results.len() as u64;
    let is_full = page.limit.is_some_and(|limit| count >= limit && count > 0);
    has_next || is_full || page.size.is_some_and(|size| size > count)
}
