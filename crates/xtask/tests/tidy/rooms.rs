//! Which folder of the server may use which: services know nothing of HTTP, and no two folders use each other.

use crate::{
    expect_none,
    repository::{File, files_named},
};

const SOURCES: &str = "crates/server/src/";

/// The folders, each of which may use those before it. `app` puts the services together, `http` lets clients use them.
const ROOMS: [&str; 15] = [
    "messages",
    "error",
    "platform",
    "identity",
    "tools",
    "gateway",
    "documents",
    "web",
    "pipelines",
    "runtime",
    "chat",
    "app",
    "http",
    "start",
    "cli",
];

/// Files that may name `App`: whatever else does would know every service.
const KNOW_APP: [&str; 3] = ["app", "start", "cli"];

/// What everything may use, though it is part of a folder: the id of the request, which errors carry.
const FOR_ALL: &str = "platform::request_context";

#[test]
fn folders_use_only_those_below() {
    let files = files_named(&[".rs"]);
    let sources = files.iter().filter(|file| file.path.starts_with(SOURCES));
    expect_none(sources.flat_map(check).collect());
}

fn check(file: &File) -> Vec<String> {
    let Some(room) = room_of(&file.path) else {
        return Vec::new();
    };
    let Some(height) = ROOMS.iter().position(|known| *known == room) else {
        return vec![format!(
            "{room} is new: give it a place in ROOMS in {}",
            file!()
        )];
    };
    let code = code_of(&file.text);
    let mut faults = Vec::new();
    for used in used_paths(&code) {
        let top = used.split("::").next().unwrap_or_default();
        let is_above = ROOMS.iter().position(|known| *known == top) > Some(height);
        if is_above && !used.starts_with(FOR_ALL) {
            faults.push(format!(
                "{} uses {used}, which is above it: move what both need down, or pass it in",
                file.path
            ));
        }
    }
    let names_app = code
        .split(|c: char| !c.is_alphanumeric() && c != '_')
        .any(|word| word == "App");
    if names_app && room != "http" && !KNOW_APP.contains(&room) {
        faults.push(format!(
            "{} names App: take the services that it uses",
            file.path
        ));
    }
    if code.contains("impl App") && room != "app" {
        faults.push(format!(
            "{} gives App a method: it belongs to a service",
            file.path
        ));
    }
    faults
}

/// The folder or file at the top that a path belongs to; `None` for those that only list modules or begin the program.
fn room_of(path: &str) -> Option<&str> {
    let inside = path.strip_prefix(SOURCES)?;
    let top = inside.split('/').next()?.trim_end_matches(".rs");
    (!["lib", "main"].contains(&top)).then_some(top)
}

/// Without comments and unit tests.
fn code_of(text: &str) -> String {
    let code = text.split("\n#[cfg(test)]\nmod ").next().unwrap_or(text);
    let lines = code
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"));
    lines.collect::<Vec<_>>().join("\n")
}

/// The first two segments of all that is named from the crate's root.
fn used_paths(code: &str) -> Vec<String> {
    let mut used = Vec::new();
    for (at, _) in code.match_indices("crate::") {
        let is_word = code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == '$');
        if is_word {
            continue;
        }
        let rest = &code[at + "crate::".len()..];
        match rest.strip_prefix('{') {
            Some(group) => used.extend(items(group).into_iter().map(first_two)),
            None => used.push(first_two(rest)),
        }
    }
    used
}

/// The items of a group of imports, whose opening brace was read.
fn items(group: &str) -> Vec<&str> {
    let mut depth = 0;
    let mut start = 0;
    let mut found = Vec::new();
    for (at, char) in group.char_indices() {
        match char {
            '{' => depth += 1,
            '}' if depth == 0 => {
                found.push(&group[start..at]);
                break;
            }
            '}' => depth -= 1,
            ',' if depth == 0 => {
                found.push(&group[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    found
}

/// `platform::clock` of `platform::clock::Clock`, and `identity` of `identity::{…}`.
fn first_two(path: &str) -> String {
    let path = path.trim_start();
    let is_other = |c: char| !c.is_alphanumeric() && c != '_' && c != ':';
    let end = path.find(is_other).unwrap_or(path.len());
    let segments: Vec<&str> = path[..end]
        .split("::")
        .filter(|segment| !segment.is_empty())
        .take(2)
        .collect();
    segments.join("::")
}

#[test]
fn an_arrow_upwards_is_seen() {
    let faults = |path: &str, text: &str| {
        let file = File {
            path: format!("{SOURCES}{path}"),
            text: text.to_owned(),
        };
        check(&file).len()
    };
    assert_eq!(
        faults("chat/turns.rs", "use crate::runtime::leases::Leases;"),
        0
    );
    assert_eq!(
        faults(
            "chat.rs",
            "use crate::{\n    http::body,\n    web::{Web, tools},\n};"
        ),
        1
    );
    assert_eq!(
        faults("runtime/leases.rs", "fn f() { crate::chat::turns::g() }"),
        1
    );
    assert_eq!(
        faults("error.rs", "use crate::platform::request_context;"),
        0
    );
    assert_eq!(faults("error.rs", "use crate::platform::clock::Clock;"), 1);
    assert_eq!(faults("web.rs", "use crate::app::App;"), 2);
    assert_eq!(
        faults("http/runs.rs", "use crate::app::App;\nimpl App {}"),
        1
    );
    assert_eq!(
        faults(
            "web.rs",
            "// crate::http is above\n#[cfg(test)]\nmod tests {}"
        ),
        0
    );
    assert_eq!(faults("attic/old.rs", ""), 1);
}
