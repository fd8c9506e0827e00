//! Workflows: actions are pinned, permissions are few, and the jobs, outputs, paths and tasks that they name are there.

use std::{collections::BTreeSet, process::Command};

use saphyr::{LoadableYamlNode, Yaml};

use crate::{
    expect_none,
    project_files::{at, below, missing},
    repository::{files_named, is_there},
};

/// Where workflows are.
pub(crate) const FOLDER: &str = ".github/workflows/";

#[test]
fn workflows_name_what_is_there() {
    let faults = below(FOLDER, ".yml").into_iter().flat_map(|file| {
        let mut faults = check_actions(&file.text);
        let documents = Yaml::load_from_str(&file.text).unwrap_or_default();
        match documents.first() {
            Some(workflow) => faults.extend(check_workflow(workflow)),
            None => faults.push("holds no workflow".to_owned()),
        }
        faults.extend(check_outputs(&file.text));
        faults
            .into_iter()
            .map(move |fault| format!("{}: {fault}", file.path))
            .collect::<Vec<_>>()
    });
    expect_none(faults.collect());
}

/// Actions of others are pinned to a commit, with the version behind it.
fn check_actions(text: &str) -> Vec<String> {
    let used = text.lines().filter_map(|line| {
        let line = line.trim().trim_start_matches("- ");
        line.strip_prefix("uses: ")
    });
    used.filter(|used| !is_pinned(used))
        .map(|used| format!("write {used} as owner/name@COMMIT # vVERSION, or as a path of ours"))
        .collect()
}

fn is_pinned(used: &str) -> bool {
    if let Some(path) = used.strip_prefix("./") {
        return is_there(path.as_ref());
    }
    let Some((_, commit_and_version)) = used.split_once('@') else {
        return false;
    };
    let Some((commit, version)) = commit_and_version.split_once(" # v") else {
        return false;
    };
    commit.len() == 40
        && commit.chars().all(|c| c.is_ascii_hexdigit())
        && version.starts_with(|c: char| c.is_ascii_digit())
}

fn check_workflow(workflow: &Yaml<'_>) -> Vec<String> {
    let mut faults = Vec::new();
    let permissions = at(workflow, "permissions").as_mapping();
    let only_reads = permissions.is_some_and(|given| {
        given.len() == 1 && at(at(workflow, "permissions"), "contents").as_str() == Some("read")
    });
    if !only_reads {
        faults.push(
            "give the workflow `contents: read` only, and more to the jobs that need it".to_owned(),
        );
    }
    let Some(jobs) = at(workflow, "jobs").as_mapping() else {
        faults.push("it has no jobs".to_owned());
        return faults;
    };
    let names: BTreeSet<&str> = jobs.keys().filter_map(Yaml::as_str).collect();
    for (name, job) in jobs {
        let name = name.as_str().unwrap_or_default();
        let needed = texts(at(job, "needs"));
        let unknown = needed.iter().filter(|needed| !names.contains(*needed));
        faults.extend(unknown.map(|needed| format!("{name} needs {needed}, which is no job")));
        if at(job, "uses").is_badvalue() && at(job, "timeout-minutes").as_integer().is_none() {
            faults.push(format!("{name} has no timeout-minutes"));
        }
        for step in at(job, "steps").as_sequence().into_iter().flatten() {
            faults.extend(
                check_step(step)
                    .into_iter()
                    .map(|fault| format!("{name}: {fault}")),
            );
        }
    }
    faults
}

/// A text, or a list of them.
fn texts<'a>(value: &'a Yaml<'_>) -> Vec<&'a str> {
    match value.as_sequence() {
        Some(list) => list.iter().filter_map(Yaml::as_str).collect(),
        None => value.as_str().into_iter().collect(),
    }
}

fn check_step(step: &Yaml<'_>) -> Vec<String> {
    let mut faults = Vec::new();
    let uses = at(step, "uses").as_str().unwrap_or_default();
    if uses.starts_with("actions/checkout@")
        && at(at(step, "with"), "persist-credentials").as_bool() != Some(false)
    {
        faults
            .push("checkout leaves its credentials behind: persist-credentials: false".to_owned());
    }
    let key = at(at(step, "with"), "key").as_str().unwrap_or_default();
    let hashed = key.split('\'').skip(1).step_by(2);
    faults.extend(missing(hashed.filter(|path| !path.contains('*'))));
    if let Some(script) = at(step, "run").as_str() {
        faults.extend(missing(paths(script).into_iter()));
        faults.extend(check_tasks(script));
    }
    faults
}

/// Words of a shell script that are paths of ours; what the script writes itself is none.
fn paths(script: &str) -> Vec<&str> {
    let words: Vec<&str> = script
        .split(|c: char| c.is_whitespace() || "\"';()|".contains(c))
        .filter(|word| !word.is_empty())
        .collect();
    let written: BTreeSet<&str> = words
        .windows(2)
        .filter(|pair| pair[0] == ">")
        .map(|pair| pair[1])
        .collect();
    let is_path = |word: &&str| {
        let plain = word
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "._/-".contains(c));
        let named = [".md", ".toml", ".json", ".sh", ".mjs", ".py"]
            .iter()
            .any(|ending| word.ends_with(ending));
        plain && (named || word.starts_with(".ci/")) && !written.contains(word)
    };
    words.iter().copied().filter(is_path).collect()
}

/// `cargo xtask TASK` names a task.
fn check_tasks(script: &str) -> Vec<String> {
    let tasks = script.split("cargo xtask ").skip(1);
    let tasks = tasks.filter_map(|rest| rest.split_whitespace().next());
    tasks
        .filter(|task| {
            let asked = Command::new(env!("CARGO_BIN_EXE_xtask"))
                .args([task, "--help"])
                .output()
                .unwrap();
            !asked.status.success()
        })
        .map(|task| format!("there is no `cargo xtask {task}`"))
        .collect()
}

#[test]
fn the_documentation_names_tasks_that_are_there() {
    let faults = files_named(&[".md"]).into_iter().flat_map(|file| {
        // What is history may name those of its time.
        let is_history = file.path == "CHANGELOG.md" || file.path.starts_with("docs/decisions/");
        let text = if is_history { "" } else { &file.text };
        let faults = check_tasks(&text.replace('`', " "));
        faults
            .into_iter()
            .map(move |fault| format!("{}: {fault}", file.path))
            .collect::<Vec<_>>()
    });
    expect_none(faults.collect());
}

/// `needs.JOB.outputs.NAME` and `steps.STEP.outputs.NAME` are of jobs and steps that write them.
fn check_outputs(text: &str) -> Vec<String> {
    let mut faults = Vec::new();
    for expression in text.split("${{ ").skip(1) {
        let expression = expression.split(" }}").next().unwrap_or_default();
        let parts: Vec<&str> = expression.split('.').collect();
        let ["needs" | "steps", place, "outputs", name] = parts[..] else {
            continue;
        };
        let is_declared = text.contains(&format!("\n      {name}: ${{{{ steps."));
        let is_written = text.contains(&format!("echo \"{name}="))
            && (text.contains(&format!("id: {place}\n")) || is_declared);
        if !is_written {
            faults.push(format!("nothing writes {expression}"));
        }
    }
    faults
}

#[test]
fn faults_of_workflows_are_seen() {
    let commit = "3d3c42e5aac5ba805825da76410c181273ba90b1";
    let good = format!("  - uses: a/b@{commit} # v1.2.3\n");
    assert_eq!(check_actions(&good).len(), 0);
    for bad in [
        "a/b@v1",
        "a/b",
        "./.github/none.yml",
        &format!("a/b@{commit}"),
    ] {
        assert_eq!(check_actions(&format!("uses: {bad}\n")).len(), 1, "{bad}");
    }
    let check = |text: &str| check_workflow(&Yaml::load_from_str(text).unwrap()[0]);
    let job = "permissions:\n  contents: read\njobs:\n  a:\n    timeout-minutes: 1\n    steps:\n";
    for (step, faults) in [
        ("      - run: bash .ci/run", 0),
        ("      - run: bash .ci/none", 1),
        ("      - run: sort README.md > n.md && cat n.md", 0),
        ("      - run: cat none.md", 1),
        ("      - run: cargo xtask dist --check", 0),
        ("      - run: cargo xtask none", 1),
        ("      - uses: actions/checkout@1", 1),
    ] {
        let found = check(&format!("{job}{step}\n"));
        assert_eq!(found.len(), faults, "{step}: {found:?}");
    }
    assert_eq!(
        check("permissions: write-all\njobs:\n  a:\n    needs: b\n").len(),
        3
    );
    assert_eq!(check_outputs("key: ${{ steps.a.outputs.b }}\n").len(), 1);
    assert_eq!(
        check_outputs("id: a\nrun: echo \"b=1\"\nkey: ${{ steps.a.outputs.b }}\n").len(),
        0
    );
}
