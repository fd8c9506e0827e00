//! A Git repository, fetched with the installed `git`: trees first, contents when they are read.

mod lfs;
mod page;
mod program;

use std::{collections::BTreeMap, net::IpAddr};

use bytes::Bytes;
use outbound::{Limits, Outbound, Request, plain_host};
use reqwest::{
    Method, Url,
    header::{AUTHORIZATION, CONTENT_TYPE, USER_AGENT},
};
use serde::{Deserialize, Serialize};
use tokio::sync::Mutex;

use self::program::Program;
use crate::{
    Item, ItemMetadata, Listing, Readers, SettingProblem, SourceProblem, Surroundings,
    http::{self, Client},
    problem::{invalid, malformed},
};

/// Maximum size of the list of files, bytes.
const MAX_TREE_BYTES: usize = 128 << 20;
/// Maximum size of other answers of `git`, bytes.
const MAX_ANSWER_BYTES: usize = 1 << 20;
/// As many contents are fetched one by one; if more are read, all are fetched together.
const MAX_SINGLE_READS: u32 = 16;
/// Maximum number of redirects of the repository's address.
const MAX_HOPS: u32 = 5;
/// The user of a token without one. Hosts ignore it, but some demand that there is one.
const TOKEN_USER: &str = "oauth2";
/// Some hosts answer only to Git.
const GIT_AGENT: &str = concat!("git/2 glasshouse/", env!("CARGO_PKG_VERSION"));

/// A Git repository. The contents of files in Git LFS are downloaded from the same host. Symbolic links, submodules, and
/// files and folders whose name begins with a dot are left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[schemars(inline)]
pub struct GitSettings {
    /// Its address, such as `https://git.example.com/team/handbook.git`.
    pub url: String,
    /// The branch or tag; the default branch if absent.
    #[serde(default)]
    pub branch: Option<String>,
    /// The folder in it, such as `docs`; empty for all files.
    #[serde(default)]
    pub folder: String,
    /// The user, if the repository is not public. The secret is the password or, better, an access token, which usually
    /// needs no user.
    #[serde(default)]
    pub user: String,
}

/// A repository with checked settings.
pub(crate) struct Git {
    url: Url,
    branch: Option<String>,
    folder: String,
    authorization: Option<String>,
    /// What was fetched last.
    fetched: Mutex<Option<Repository>>,
}

/// A fetched repository.
struct Repository {
    program: Program,
    /// Its address after redirects.
    url: Url,
    /// The full name of the branch or tag.
    reference: String,
    /// The objects of all files by their path in the folder.
    files: BTreeMap<String, String>,
    /// Files that cannot be listed, and why.
    problems: Vec<(String, &'static str)>,
    reads: u32,
    has_contents: bool,
}

impl Git {
    pub(crate) fn new(
        settings: &GitSettings,
        secret: &str,
        outbound: &Outbound,
    ) -> Result<Self, SourceProblem> {
        let url = http::address(outbound, "url", settings.url.trim_end_matches('/'))?;
        let branch = settings.branch.as_deref().map(str::trim);
        let branch = branch.filter(|branch| !branch.is_empty());
        if let Some(branch) = branch {
            check_branch(branch)?;
        }
        let folder = settings.folder.trim_matches('/');
        let is_part = |part: &str| !matches!(part, "" | "." | "..");
        if folder.contains('\0') || !folder.is_empty() && !folder.split('/').all(is_part) {
            return Err(invalid("folder", SettingProblem::NoPath));
        }
        let user = match &*settings.user {
            "" if !secret.is_empty() => TOKEN_USER,
            user => user,
        };
        let authorization = http::basic(user, secret)?;
        if authorization.is_some() {
            http::check_encrypted(outbound, "url", &url)?;
        }
        Ok(Self {
            url,
            branch: branch.map(str::to_owned),
            folder: folder.to_owned(),
            authorization,
            fetched: Mutex::default(),
        })
    }

    /// Lists the files of the folder in the newest commit.
    pub(crate) async fn list(&self, surroundings: &Surroundings) -> Result<Listing, SourceProblem> {
        let mut fetched = self.fetched.lock().await;
        let repository = self.fetch(&surroundings.outbound).await?;
        let mut listing = Listing::default();
        for (name, reason) in &repository.problems {
            listing.add_problem(name, malformed(reason));
        }
        for (name, object) in &repository.files {
            let item = Item {
                id: name.clone(),
                name: name.clone(),
                version: object.clone(),
                size_bytes: None,
                modified_ms: None,
                url: page::of(&self.url, &repository.reference, &self.path(name)),
                readers: Readers::All,
                metadata: ItemMetadata::default(),
            };
            listing.add(item, surroundings.limits)?;
        }
        *fetched = Some(repository);
        Ok(listing)
    }

    /// Reads a file as it was in the commit that was fetched last.
    pub(crate) async fn read(
        &self,
        item: &Item,
        surroundings: &Surroundings,
    ) -> Result<Bytes, SourceProblem> {
        let limit = surroundings.limits.item_bytes;
        let mut fetched = self.fetched.lock().await;
        let repository = match &mut *fetched {
            Some(repository) => repository,
            none => none.insert(self.fetch(&surroundings.outbound).await?),
        };
        repository.reads += 1;
        if repository.reads > MAX_SINGLE_READS && !repository.has_contents {
            self.fetch_contents(repository, limit).await?;
        }
        let object = repository.files.get(&item.id).ok_or(SourceProblem::Gone)?;
        let program = &repository.program;
        let content = program.read_object(object, limit, !repository.has_contents);
        let content = content.await?;
        match lfs::pointer(&content)? {
            None => Ok(content.into()),
            Some(pointer) => {
                let place = lfs::Place {
                    url: &repository.url,
                    reference: &repository.reference,
                    authorization: self.authorization_for(&repository.url),
                };
                lfs::read(&pointer, &place, &surroundings.outbound, limit).await
            }
        }
    }

    /// Other hosts than the one in the settings do not get the secret.
    fn authorization_for(&self, url: &Url) -> Option<&str> {
        let authorization = self.authorization.as_deref();
        authorization.filter(|_| url.origin() == self.url.origin())
    }

    /// Fetches the trees of the newest commit, and no contents if the host supports that.
    async fn fetch(&self, outbound: &Outbound) -> Result<Repository, SourceProblem> {
        let url = self.locate(outbound).await?;
        let authorization = self.authorization_for(&url);
        // Hosts that the administrator has listed by name may be behind a proxy, and may have any address.
        let is_name = plain_host(&url).is_some_and(|host| host.parse::<IpAddr>().is_err());
        let addresses = if is_name && outbound.is_named(&url) {
            None
        } else {
            Some(outbound.resolve(&url).await?)
        };
        let program = Program::start(&url, authorization, addresses.as_deref()).await?;
        let reference = self.reference(&program).await?;
        program.fetch(&reference, "blob:none", false).await?;
        let mut repository = Repository {
            program,
            url,
            reference,
            files: BTreeMap::new(),
            problems: Vec::new(),
            reads: 0,
            has_contents: false,
        };
        self.read_tree(&mut repository).await?;
        Ok(repository)
    }

    /// Fetches the contents of all files up to the limit.
    async fn fetch_contents(
        &self,
        repository: &mut Repository,
        limit: usize,
    ) -> Result<(), SourceProblem> {
        let filter = format!("blob:limit={}", limit.saturating_add(1));
        let program = &repository.program;
        program.fetch(&repository.reference, &filter, true).await?;
        repository.has_contents = true;
        self.read_tree(repository).await
    }

    /// The address of the repository after redirects. Our client follows them, since `git` would follow them anywhere.
    async fn locate(&self, outbound: &Outbound) -> Result<Url, SourceProblem> {
        let mut url = self.url.clone();
        url.set_path(&format!(
            "{}/info/refs",
            self.url.path().trim_end_matches('/')
        ));
        url.set_query(Some("service=git-upload-pack"));
        let limits = Limits {
            body_bytes: 0,
            ..http::list_limits(MAX_HOPS)
        };
        let client = Client::new(outbound);
        let answer = client.send(|| {
            let request =
                Request::new(Method::GET, url.clone(), limits).header(USER_AGENT, GIT_AGENT);
            Ok(match &self.authorization {
                Some(value) => request.header(AUTHORIZATION, value),
                None => request,
            })
        });
        let answer = http::succeeded(answer.await?)?;
        let is_git = answer
            .headers
            .get(CONTENT_TYPE)
            .is_some_and(|kind| kind == "application/x-git-upload-pack-advertisement");
        let path = answer.url.path().strip_suffix("/info/refs");
        let path = path.filter(|_| is_git).map(str::to_owned);
        let path = path.ok_or_else(|| malformed("this is no Git repository"))?;
        let mut url = answer.url;
        url.set_query(None);
        url.set_path(&path);
        // A trailing dot would hide the host from its pinned addresses.
        if let Some(host) = plain_host(&url).filter(|host| !host.contains(':')) {
            url.set_host(Some(&host))
                .map_err(|error| malformed(&error.to_string()))?;
        }
        Ok(url)
    }

    /// The full name of the branch or tag.
    async fn reference(&self, program: &Program) -> Result<String, SourceProblem> {
        let (branch, tag) = match &self.branch {
            Some(name) => (format!("refs/heads/{name}"), format!("refs/tags/{name}")),
            None => ("HEAD".to_owned(), String::new()),
        };
        let mut arguments = vec!["ls-remote", "--quiet", "--symref", "origin", &branch];
        if !tag.is_empty() {
            arguments.push(&tag);
        }
        let found = program.run(&arguments, MAX_ANSWER_BYTES).await?;
        let found = String::from_utf8_lossy(&found);
        let lines = || found.lines().filter_map(|line| line.split_once('\t'));
        let has = |wanted: &str| lines().any(|(_, name)| name == wanted);
        // After `ref: refs/heads/main` and a tab.
        let default = || {
            let mut targets = lines().filter(|(_, name)| *name == "HEAD");
            targets.find_map(|(target, _)| Some(target.strip_prefix("ref: ")?.to_owned()))
        };
        if !has(&branch) {
            return has(&tag).then_some(tag).ok_or(SourceProblem::NotFound);
        }
        match &self.branch {
            Some(_) => Ok(branch),
            None => Ok(default().unwrap_or(branch)),
        }
    }

    async fn read_tree(&self, repository: &mut Repository) -> Result<(), SourceProblem> {
        let program = &repository.program;
        let tree = format!("FETCH_HEAD:{}", self.folder);
        let arguments = ["rev-parse", "--verify", "--quiet", &tree];
        let tree = program.run(&arguments, MAX_ANSWER_BYTES).await;
        let tree = tree.map_err(|problem| match problem {
            SourceProblem::Malformed(_) => SourceProblem::NotFound,
            problem => problem,
        })?;
        let tree = String::from_utf8_lossy(&tree);
        let arguments = ["ls-tree", "-r", "-z", tree.trim()];
        let listed = program.run(&arguments, MAX_TREE_BYTES).await;
        let listed = listed.map_err(|problem| match problem {
            SourceProblem::Malformed(message) if message.ends_with("not a tree object") => {
                SourceProblem::NotFound
            }
            SourceProblem::TooLarge => SourceProblem::TooMany,
            problem => problem,
        })?;
        repository.files.clear();
        repository.problems.clear();
        for line in listed
            .split(|byte| *byte == 0)
            .filter(|line| !line.is_empty())
        {
            match read_line(line)? {
                Line::File { path, object } => {
                    repository.files.insert(path, object);
                }
                Line::NoText(name) => repository.problems.push((name, "its name is not UTF-8")),
                Line::Other => {}
            }
        }
        Ok(())
    }

    /// The path in the repository.
    fn path(&self, name: &str) -> String {
        if self.folder.is_empty() {
            name.to_owned()
        } else {
            format!("{}/{name}", self.folder)
        }
    }
}

/// A line of `git ls-tree`.
#[derive(Debug, PartialEq, Eq)]
enum Line {
    File {
        path: String,
        object: String,
    },
    /// A file whose name is not UTF-8.
    NoText(String),
    /// A link, a submodule or something hidden.
    Other,
}

/// Reads a line such as `100644 blob 7898192…`, then a tab and the path.
fn read_line(line: &[u8]) -> Result<Line, SourceProblem> {
    let tab = line.iter().position(|byte| *byte == b'\t');
    let (head, path) = tab
        .and_then(|tab| Some((line.get(..tab)?, line.get(tab + 1..)?)))
        .ok_or_else(|| malformed("git lists files in an unknown form"))?;
    let head = String::from_utf8_lossy(head);
    let words: Vec<_> = head.split_whitespace().collect();
    let [mode, "blob", object] = words[..] else {
        return Ok(Line::Other);
    };
    let is_hidden = path.starts_with(b".") || path.windows(2).any(|pair| pair == b"/.");
    if !mode.starts_with("100") || is_hidden {
        return Ok(Line::Other);
    }
    let Ok(path) = std::str::from_utf8(path) else {
        return Ok(Line::NoText(String::from_utf8_lossy(path).into_owned()));
    };
    Ok(Line::File {
        path: path.to_owned(),
        object: object.to_owned(),
    })
}

/// The rules of `git check-ref-format`, as far as they matter here.
fn check_branch(name: &str) -> Result<(), SourceProblem> {
    let is_wrong = name.starts_with(['-', '/', '.'])
        || name.ends_with(['/', '.'])
        || name.contains(['~', '^', ':', '?', '*', '[', '\\', ' '])
        || name.contains(char::is_control)
        || ["..", "//", "@{"].iter().any(|part| name.contains(part));
    if is_wrong || name.len() > 255 {
        return Err(invalid("branch", SettingProblem::NoBranch));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use outbound::Allowed;

    use super::*;

    #[test]
    fn lines_of_trees() {
        let object = "78981922613b2afb6025042ff6bd878ac1994e85";
        let file = |path: &str| Line::File {
            path: path.to_owned(),
            object: object.to_owned(),
        };
        for (mode, kind, path, expected) in [
            ("100644", "blob", &b"a.md"[..], file("a.md")),
            (
                "100755",
                "blob",
                "d/b ü\t.md".as_bytes(),
                file("d/b ü\t.md"),
            ),
            ("120000", "blob", b"link", Line::Other),
            ("160000", "commit", b"module", Line::Other),
            ("100644", "blob", b".hidden", Line::Other),
            ("100644", "blob", b"d/.hidden/a", Line::Other),
            ("100644", "blob", b"a.b/c", file("a.b/c")),
            (
                "100644",
                "blob",
                b"\xfc",
                Line::NoText("\u{fffd}".to_owned()),
            ),
        ] {
            let line = [format!("{mode} {kind} {object}\t").as_bytes(), path].concat();
            assert_eq!(read_line(&line), Ok(expected));
        }
        assert!(read_line(b"no line").is_err());
    }

    #[test]
    fn invalid_settings_are_named() {
        let outbound = Outbound::new(Allowed::default());
        for (url, branch, folder, expected) in [
            ("https://example.com/r.git", "main", "docs/en/", None),
            ("https://example.com/r/", "feature/ü", "", None),
            ("ssh://git@example.com/r.git", "", "", Some("url")),
            ("git@example.com:r.git", "", "", Some("url")),
            ("/srv/git/r.git", "", "", Some("url")),
            ("file:///srv/git/r.git", "", "", Some("url")),
            ("ext::sh -c x", "", "", Some("url")),
            ("https://127.0.0.1/r.git", "", "", Some("url")),
            ("https://token@example.com/r.git", "", "", Some("url")),
            (
                "https://example.com/r",
                "--upload-pack=x",
                "",
                Some("branch"),
            ),
            ("https://example.com/r", "a:b", "", Some("branch")),
            ("https://example.com/r", "a..b", "", Some("branch")),
            ("https://example.com/r", "", "a/../..", Some("folder")),
        ] {
            let settings = GitSettings {
                url: url.to_owned(),
                branch: Some(branch.to_owned()),
                folder: folder.to_owned(),
                user: String::new(),
            };
            let field = match Git::new(&settings, "token", &outbound).err() {
                Some(SourceProblem::Settings { field, .. }) => Some(field),
                _ => None,
            };
            assert_eq!(field, expected, "{url} {branch} {folder}");
        }
    }
}
