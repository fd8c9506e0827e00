//! Skills in the Agent Skills format: folders with instructions that an agent loads on demand. Each has a `SKILL.md`
//! that begins with a name and a description, and may contain other files.

mod front_matter;

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
    sync::Arc,
};

use domain::LocalizedText;
use front_matter::FrontMatter;

use crate::{
    messages,
    workspace::{BYTES_LIMIT, as_text},
};

/// The file with the instructions.
pub(crate) const INSTRUCTIONS: &str = "SKILL.md";
/// Maximum number of skills; further ones, in order of name, are left out.
const SKILLS_LIMIT: usize = 50;
/// Maximum number of files of one skill, and maximum depth of its folders.
const FILES_LIMIT: usize = 200;
const DEPTH_LIMIT: usize = 5;
/// Maximum size of a text of a skill, bytes; it goes into the model's context.
pub(crate) const TEXT_LIMIT_BYTES: u64 = 60_000;
const NAME_LIMIT_BYTES: usize = 64;
const DESCRIPTION_LIMIT_CHARS: usize = 1024;

/// One skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skill {
    /// The name of its folder.
    pub name: String,
    /// What it is for and when to use it.
    pub description: String,
    /// The files that come with its instructions: paths relative to its folder, with `/`, and sizes in bytes.
    pub files: BTreeMap<String, u64>,
    folder: PathBuf,
}

/// The contents of a folder of skills.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Skills {
    /// The skills, sorted by name.
    pub skills: Vec<Arc<Skill>>,
    /// Folders that are not valid skills, with the reasons.
    pub problems: Vec<(String, LocalizedText)>,
}

impl Skills {
    /// Reads a folder from the disk; blocks. A missing folder has no skills.
    #[must_use]
    pub fn read(folder: &Path) -> Self {
        let mut all = Self::default();
        let entries = match fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return all,
            Err(error) => {
                let problem = (folder.display().to_string(), unreadable(&error).into());
                return Self {
                    problems: vec![problem],
                    ..all
                };
            }
        };
        let mut names: Vec<String> = entries
            .filter_map(|entry| Some(entry.ok()?.file_name().to_string_lossy().into_owned()))
            .filter(|name| !name.starts_with('.'))
            .collect();
        names.sort();
        for name in names {
            // Other files next to the skills, such as a README, are not an error.
            if fs::symlink_metadata(folder.join(&name)).is_ok_and(|entry| entry.is_file()) {
                continue;
            }
            match Skill::read(&folder.join(&name), &name) {
                Ok(_) if all.skills.len() == SKILLS_LIMIT => {
                    let most = messages::Skills::SkillTooMany {
                        count: SKILLS_LIMIT as u64,
                    };
                    all.problems.push((name, most.into()));
                }
                Ok(skill) => all.skills.push(Arc::new(skill)),
                Err(why) => all.problems.push((name, why.into())),
            }
        }
        all
    }
}

impl Skill {
    fn read(folder: &Path, name: &str) -> Result<Self, messages::Skills> {
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        if name.len() > NAME_LIMIT_BYTES || !name.chars().all(plain) {
            return Err(messages::Skills::SkillBadFolder {
                limit: NAME_LIMIT_BYTES as u64,
            });
        }
        let is_folder = fs::symlink_metadata(folder).is_ok_and(|entry| entry.is_dir());
        if !is_folder {
            return Err(messages::Skills::SkillNoFolder);
        }
        let mut skill = Self {
            name: name.to_owned(),
            description: String::new(),
            files: BTreeMap::new(),
            folder: folder.to_owned(),
        };
        let text = skill.read_text(INSTRUCTIONS)?;
        let FrontMatter {
            name: written,
            description,
            ..
        } = FrontMatter::parse(&text)?;
        if written != name {
            return Err(messages::Skills::SkillOtherName {
                name: written,
                folder: name.to_owned(),
            });
        }
        let characters = description.chars().count();
        if characters == 0 || characters > DESCRIPTION_LIMIT_CHARS {
            return Err(messages::Skills::SkillBadDescription {
                limit: DESCRIPTION_LIMIT_CHARS as u64,
            });
        }
        skill.description = description;
        list(folder, "", 0, &mut skill.files).map_err(|error| unreadable(&error))?;
        skill.files.remove(INSTRUCTIONS);
        Ok(skill)
    }

    /// Its instructions; blocks.
    pub(crate) fn instructions(&self) -> Result<String, String> {
        let read = || {
            Ok(FrontMatter::parse(&self.read_text(INSTRUCTIONS)?)?
                .body
                .trim()
                .to_owned())
        };
        read().map_err(|why: messages::Skills| why.to_string())
    }

    /// The text of one of its files; blocks.
    pub(crate) fn text_of(&self, file: &str) -> Result<String, String> {
        self.check_known(file)?;
        self.read_text(file).map_err(|why| why.to_string())
    }

    /// The content of one of its files for copying; blocks.
    pub(crate) fn content_of(&self, file: &str) -> Result<Vec<u8>, String> {
        self.check_known(file)?;
        self.bytes_of(file, BYTES_LIMIT as u64)
            .map_err(|why| why.to_string())
    }

    /// Only listed files are read, so no path leads out of the folder.
    fn check_known(&self, file: &str) -> Result<(), String> {
        if file == INSTRUCTIONS || self.files.contains_key(file) {
            return Ok(());
        }
        let names: Vec<&str> = self.files.keys().map(String::as_str).collect();
        Err(match names.as_slice() {
            [] => format!("The skill {} has no other files.", self.name),
            names => format!(
                "The skill {} has no file {file}. It has: {}.",
                self.name,
                names.join(", ")
            ),
        })
    }

    fn read_text(&self, file: &str) -> Result<String, messages::Skills> {
        let bytes = self.bytes_of(file, TEXT_LIMIT_BYTES)?;
        let text = as_text(&bytes).ok_or_else(|| messages::Skills::SkillFileNoText {
            file: file.to_owned(),
        })?;
        Ok(text.to_owned())
    }

    fn bytes_of(&self, file: &str, limit: u64) -> Result<Vec<u8>, messages::Skills> {
        let named = || file.to_owned();
        let path = self.folder.join(file);
        let cannot = |error: io::Error| match error.kind() {
            io::ErrorKind::NotFound => messages::Skills::SkillFileMissing { file: named() },
            _ => messages::Skills::SkillFileUnreadable {
                file: named(),
                why: error.to_string(),
            },
        };
        let entry = fs::symlink_metadata(&path).map_err(cannot)?;
        if !entry.is_file() {
            return Err(messages::Skills::SkillNoFile { file: named() });
        }
        // A folder on the path may have been replaced by a link since the listing.
        let whole = path.canonicalize().map_err(cannot)?;
        let folder = self.folder.canonicalize().map_err(cannot)?;
        if !whole.starts_with(&folder) {
            return Err(messages::Skills::SkillFileOutside { file: named() });
        }
        if entry.len() > limit {
            return Err(messages::Skills::SkillFileTooLarge {
                file: named(),
                size: entry.len(),
                limit,
            });
        }
        fs::read(&whole).map_err(cannot)
    }
}

fn unreadable(error: &io::Error) -> messages::Skills {
    messages::Skills::SkillUnreadable {
        why: error.to_string(),
    }
}

/// Collects the files under `folder`. Links are not followed, and hidden files are left out.
fn list(
    folder: &Path,
    prefix: &str,
    depth: usize,
    files: &mut BTreeMap<String, u64>,
) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        let kind = entry.file_type()?;
        let Some(name) = name.to_str().filter(|name| !name.starts_with('.')) else {
            continue;
        };
        let path = format!("{prefix}{name}");
        if kind.is_dir() && depth < DEPTH_LIMIT {
            list(&entry.path(), &format!("{path}/"), depth + 1, files)?;
        } else if kind.is_file() && files.len() <= FILES_LIMIT {
            files.insert(path, entry.metadata()?.len());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(folder: &Path, file: &str, content: &[u8]) {
        let path = folder.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    fn good(name: &str) -> String {
        format!("---\nname: {name}\ndescription: Does {name}.\n---\n\nDo it.\n")
    }

    #[test]
    fn good_ones_are_read_and_broken_ones_named() {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path();
        write(at, "README.md", b"not a skill");
        write(at, "pdf/SKILL.md", good("pdf").as_bytes());
        write(at, "pdf/scripts/fill.py", b"print(1)");
        write(at, "pdf/.git/config", b"hidden");
        write(at, "Upper/SKILL.md", good("Upper").as_bytes());
        write(at, "empty/notes.md", b"x");
        write(at, "other/SKILL.md", good("pdf").as_bytes());
        write(at, "plain/SKILL.md", b"Do it.");
        write(at, "binary/SKILL.md", b"---\n\0");
        write(at, "long/SKILL.md", &vec![b'x'; 70_000]);
        let all = Skills::read(at);
        assert_eq!(all.skills.len(), 1);
        let pdf = &all.skills[0];
        assert_eq!(
            (pdf.name.as_str(), pdf.description.as_str()),
            ("pdf", "Does pdf.")
        );
        assert_eq!(
            pdf.files,
            BTreeMap::from([("scripts/fill.py".to_owned(), 8)])
        );
        assert_eq!(pdf.instructions().unwrap(), "Do it.");
        assert_eq!(pdf.text_of("scripts/fill.py").unwrap(), "print(1)");
        let problems: Vec<&str> = all.problems.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(
            problems,
            ["Upper", "binary", "empty", "long", "other", "plain"],
            "{:?}",
            all.problems
        );
        assert_eq!(Skills::read(&at.join("gone")), Skills::default());
    }

    #[cfg(unix)]
    #[test]
    fn nothing_leads_out_of_the_folder() {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path();
        write(at, "secret.txt", b"secret");
        write(at, "skills/pdf/SKILL.md", good("pdf").as_bytes());
        write(at, "skills/pdf/inner/a.txt", b"a");
        symlink(at.join("secret.txt"), at.join("skills/pdf/link.txt")).unwrap();
        symlink(at, at.join("skills/pdf/up")).unwrap();
        symlink(at.join("skills/pdf"), at.join("skills/alias")).unwrap();
        let all = Skills::read(&at.join("skills"));
        assert_eq!(all.problems[0].0, "alias");
        let pdf = &all.skills[0];
        assert_eq!(pdf.files.keys().collect::<Vec<_>>(), ["inner/a.txt"]);
        let absolute = at.join("secret.txt").display().to_string();
        for path in [
            "link.txt",
            "up/secret.txt",
            "../../secret.txt",
            "../pdf/inner/a.txt",
            absolute.as_str(),
        ] {
            assert!(
                pdf.content_of(path).unwrap_err().contains("has no file"),
                "{path}"
            );
        }
        // A folder is replaced by a link between listing and reading.
        fs::remove_dir_all(at.join("skills/pdf/inner")).unwrap();
        write(at, "outside/a.txt", b"secret");
        symlink(at.join("outside"), at.join("skills/pdf/inner")).unwrap();
        assert!(
            pdf.content_of("inner/a.txt")
                .unwrap_err()
                .contains("outside")
        );
    }
}
