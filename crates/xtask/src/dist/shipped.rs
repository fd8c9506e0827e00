//! Tests that the shipped files are consistent, without building them: the Dockerfile copies existing files, and the
//! unit and the compose file use settings that the program knows.

use std::{
    collections::BTreeSet,
    fs,
    path::{Component, Path, PathBuf},
};

use saphyr::{LoadableYamlNode, Yaml};

use super::{
    deb,
    dockerfile::{Stage, Step, parse},
};
use crate::command::{SHIPPED_FEATURES, root};

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn stages() -> Vec<Stage> {
    parse(&read("Dockerfile")).unwrap()
}

/// All variables in the settings documentation, which a tidy test compares with the program's list.
fn settings() -> BTreeSet<String> {
    let docs = read("docs/reference/configuration.md");
    let is_one = |code: &&str| code.starts_with("GLASSHOUSE_") || code.starts_with("OPENAI_");
    let names: BTreeSet<String> = docs.split('`').filter(is_one).map(str::to_owned).collect();
    assert!(
        names.contains("GLASSHOUSE_LISTEN"),
        "the settings were not read"
    );
    names
}

#[test]
fn the_dockerfile_copies_what_is_there() {
    let stages = stages();
    let ignored = read(".dockerignore");
    let let_in: Vec<&str> = ignored
        .lines()
        .filter_map(|line| line.strip_prefix('!'))
        .collect();
    for (at, stage) in stages.iter().enumerate() {
        for step in &stage.steps {
            match step {
                Step::Copy {
                    from: Some(name), ..
                } => {
                    let earlier = &stages[..at];
                    assert!(
                        earlier.iter().any(|it| it.name.as_ref() == Some(name)),
                        "there is no stage {name} before"
                    );
                }
                Step::Copy {
                    from: None,
                    sources,
                    ..
                } => {
                    for source in sources {
                        assert!(
                            root().join(source).exists(),
                            "the Dockerfile copies {source}, which is not there"
                        );
                        let first = source.split('/').next().unwrap();
                        assert!(let_in.contains(&first), ".dockerignore keeps {source} out");
                    }
                }
                _ => {}
            }
        }
    }
}

#[test]
fn the_dockerfile_copies_all_that_is_compiled_in() {
    let stages = stages();
    let build = stages
        .iter()
        .find(|stage| stage.name.as_deref() == Some("build"))
        .unwrap();
    let copied: Vec<&Path> = build
        .steps
        .iter()
        .filter_map(|step| {
            if let Step::Copy { sources, .. } = step {
                Some(sources)
            } else {
                None
            }
        })
        .flatten()
        .map(Path::new)
        .collect();
    let mut found = 0;
    for source in sources(&root().join("crates")) {
        let text = fs::read_to_string(&source).unwrap();
        let places = ["include_str!(\"", "include_bytes!(\""]
            .into_iter()
            .flat_map(|call| text.match_indices(call));
        for (at, _) in places {
            let path = text[at..].split('"').nth(1).unwrap();
            let path = flat(&source.parent().unwrap().join(path));
            let path = path.strip_prefix(root()).unwrap();
            found += 1;
            assert!(
                copied.iter().any(|copied| path.starts_with(copied)),
                "{} needs {}, which the Dockerfile does not copy before it builds",
                source.display(),
                path.display()
            );
        }
    }
    assert!(
        found > 3,
        "only {found} places with include_str!: has their form changed?"
    );
}

/// All Rust files except tests, which the image does not build.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && path.file_name().unwrap() != "tests" {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found
}

fn flat(path: &Path) -> PathBuf {
    let mut flat = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => _ = flat.pop(),
            part => flat.push(part),
        }
    }
    flat
}

#[test]
fn the_dockerfile_builds_with_our_rust_and_ships_that_program() {
    let stages = stages();
    let manifest = read("Cargo.toml");
    let rust = manifest
        .lines()
        .find_map(|line| line.strip_prefix("rust-version = "))
        .unwrap()
        .trim_matches('"');
    let build = &stages[1];
    let last = stages.last().unwrap();
    assert!(
        build.base.starts_with(&format!("rust:{rust}-")),
        "{} is not Rust {rust}",
        build.base
    );
    // The C library of the build must not be newer than that of the image.
    let release = super::container::release(&last.base).unwrap();
    assert!(
        build.base.ends_with(&release),
        "{} and {} are of different releases",
        build.base,
        last.base
    );
    let built = format!(
        "cargo build --locked --profile dist --bin glasshouse --features {SHIPPED_FEATURES}"
    );
    assert!(build.steps.contains(&Step::Run(built)));
    assert!(manifest.contains("[profile.dist]"));
    let ships = |step: &Step| matches!(step, Step::Copy { sources, .. } if sources == &["/src/target/dist/glasshouse"]);
    assert!(last.steps.iter().any(ships));
    for step in &last.steps {
        match step {
            Step::Variable(name, _) => {
                assert!(settings().contains(name), "there is no setting {name}")
            }
            Step::User(user) => {
                assert!(user.parse::<u32>().is_ok() || user.contains(':'), "{user}")
            }
            Step::Health(words) => assert_eq!(words, &["glasshouse", "health"]),
            Step::Arguments(words) => assert_eq!(words, &["serve"]),
            _ => {}
        }
    }
}

#[test]
fn the_compose_file_names_what_there_is() {
    let text = read("compose.yaml");
    let documents = Yaml::load_from_str(&text).unwrap();
    let services = &documents[0]["services"];
    let server = &services["glasshouse"];
    let variables = server["environment"].as_mapping().unwrap();
    // Whether they are all documented is checked by the tidy tests.
    assert!(variables.len() > 3);
    let stages = stages();
    let steps = &stages.last().unwrap().steps;
    let port = steps
        .iter()
        .find_map(|step| {
            if let Step::Port(port) = step {
                Some(port)
            } else {
                None
            }
        })
        .unwrap();
    let published = server["ports"][0].as_str().unwrap();
    assert!(
        published.ends_with(&format!(":{port}")) && published.starts_with("127.0.0.1:"),
        "{published}"
    );
    let volume = server["volumes"][0].as_str().unwrap();
    let (name, path) = volume.split_once(':').unwrap();
    assert!(
        steps.contains(&Step::Volume(path.into())),
        "the image has no volume {path}"
    );
    // Every volume used by a service is declared, and every declared one is used.
    let mut used: BTreeSet<&str> = BTreeSet::from([name]);
    for (other, service) in services.as_mapping().unwrap() {
        let other = other.as_str().unwrap();
        assert!(
            other == "glasshouse" || service["profiles"][0].as_str() == Some(other),
            "{other} starts unasked"
        );
        let service = service.as_mapping().unwrap();
        let volumes = service
            .iter()
            .find(|(key, _)| key.as_str() == Some("volumes"));
        for volume in volumes
            .and_then(|(_, volumes)| volumes.as_sequence())
            .into_iter()
            .flatten()
        {
            used.insert(volume.as_str().unwrap().split(':').next().unwrap());
        }
    }
    let made: BTreeSet<&str> = documents[0]["volumes"]
        .as_mapping()
        .unwrap()
        .keys()
        .filter_map(|name| name.as_str())
        .collect();
    assert_eq!(used, made);
}

#[test]
fn the_unit_names_what_the_package_has() {
    let unit = read("packaging/glasshouse.service");
    let field = |name: &str| {
        let line = unit
            .lines()
            .find_map(|line| line.strip_prefix(name)?.strip_prefix('='));
        line.unwrap_or_else(|| panic!("the unit has no {name}"))
            .to_owned()
    };
    let start = field("ExecStart");
    let words: Vec<&str> = start.split(' ').collect();
    assert_eq!((words[0], words[1]), (deb::PROGRAM, "serve"));
    let docs = read("docs/reference/configuration.md");
    for flag in words.iter().filter(|word| word.starts_with("--")) {
        assert!(
            docs.contains(&format!("| `{flag} ")),
            "docs/reference/configuration.md has no flag {flag}"
        );
    }
    assert_eq!(words.last(), Some(&deb::SETTINGS));
    let settings: toml::Table = toml::from_str(&read("packaging/debian/glasshouse.toml")).unwrap();
    let defaults: toml::Table = toml::from_str(&read("config.example.toml")).unwrap();
    for name in settings.keys() {
        assert!(defaults.contains_key(name), "there is no setting {name}");
    }
    assert_eq!(
        settings["data_dir"].as_str(),
        Some(format!("/var/lib/{}", field("StateDirectory")).as_str())
    );
    // Agents' programs need these left out, as the unit itself explains.
    let set: Vec<&str> = unit
        .lines()
        .filter_map(|line| line.split_once('='))
        .map(|(name, _)| name)
        .collect();
    for clash in [
        "RestrictNamespaces",
        "ProtectKernelTunables",
        "ProtectKernelLogs",
        "ProtectHostname",
    ] {
        assert!(
            !set.contains(&clash) && unit.contains(&format!("{clash}=")),
            "{clash}"
        );
    }
}
