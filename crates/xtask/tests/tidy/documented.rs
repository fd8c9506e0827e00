//! Every event, error code and address is in the documentation, every setting in the Compose file, and nothing there is
//! made up.

use std::collections::BTreeSet;

use crate::{expect_none, project_files::below, repository::read};

/// What stands in one of the sets only, each said with its own words.
fn compare(
    code: &BTreeSet<String>,
    docs: &BTreeSet<String>,
    missing: &str,
    made_up: &str,
) -> Vec<String> {
    assert!(
        !code.is_empty(),
        "nothing was read from the code: has its form changed?"
    );
    let missing = code
        .difference(docs)
        .map(|entry| format!("{entry}: {missing}"));
    missing
        .chain(
            docs.difference(code)
                .map(|entry| format!("{entry}: {made_up}")),
        )
        .collect()
}

#[test]
fn comparing_sees_both_sides() {
    let set = |entries: &[&str]| {
        entries
            .iter()
            .map(|e| (*e).to_owned())
            .collect::<BTreeSet<_>>()
    };
    assert_eq!(
        compare(&set(&["a", "b"]), &set(&["b"]), "new", "gone"),
        ["a: new"]
    );
    assert_eq!(
        compare(&set(&["b"]), &set(&["b", "c"]), "new", "gone"),
        ["c: gone"]
    );
}

/// The environment variables of the settings in the default file.
fn variables_of_settings(toml: &str) -> BTreeSet<String> {
    let mut prefix = "GLASSHOUSE".to_owned();
    let mut variables = BTreeSet::new();
    for line in toml.lines().filter(|line| !line.starts_with('#')) {
        if let Some(title) = line.strip_prefix('[') {
            prefix = format!("GLASSHOUSE_{}", title.trim_end_matches(']'));
        } else if let Some((name, _)) = line.split_once(" = ") {
            variables.insert(format!("{prefix}_{name}").to_uppercase());
        }
    }
    variables
}

#[test]
fn settings_are_read() {
    let toml = "# a = 1\na = [\"x\"]\n\n[limits]\n# Model calls.\nsteps = 50\n";
    let variables = variables_of_settings(toml);
    assert_eq!(
        variables.into_iter().collect::<Vec<_>>(),
        ["GLASSHOUSE_A", "GLASSHOUSE_LIMITS_STEPS"]
    );
}

/// Variables that other programs have for settings, and those of all programs.
const OTHER_VARIABLES: [&str; 24] = [
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_BASE_URL",
    "AWS_ACCESS_KEY_ID",
    "AWS_BEARER_TOKEN_BEDROCK",
    "AWS_DEFAULT_REGION",
    "AWS_REGION",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "AZURE_OPENAI_API_KEY",
    "AZURE_OPENAI_ENDPOINT",
    "ENABLE_FORWARD_USER_INFO_HEADERS",
    "GEMINI_API_KEY",
    "GOOGLE_API_KEY",
    "GOOGLE_GEMINI_BASE_URL",
    "HTTPS_PROXY",
    "OPENAI_API_BASE_URL",
    "OPENAI_API_KEY",
    "OPENAI_API_VERSION",
    "OPENAI_BASE_URL",
    "OTEL_EXPORTER_OTLP_ENDPOINT",
    "OTEL_EXPORTER_OTLP_HEADERS",
    "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
    "OTEL_EXPORTER_OTLP_TRACES_HEADERS",
    "OTEL_SERVICE_NAME",
];

/// Those that the image sets.
const OF_THE_IMAGE: [&str; 2] = ["GLASSHOUSE_DATA_DIR", "GLASSHOUSE_LISTEN"];

#[test]
fn every_variable_is_passed_on_by_compose() {
    let pipeline = |name: &String| {
        name.strip_prefix("GLASSHOUSE_PIPELINES_")
            .map(str::to_owned)
    };
    let mut variables = variables_of_settings(&read("config.example.toml"));
    variables.extend(variables.iter().filter_map(pipeline).collect::<Vec<_>>());
    variables.extend(OTHER_VARIABLES.map(str::to_owned));
    variables.retain(|name| !OF_THE_IMAGE.contains(&name.as_str()));
    expect_none(compare(
        &variables,
        &passed_on(&read("compose.yaml")),
        "add this variable to `environment` of glasshouse in compose.yaml",
        "there is no such setting: take it out of compose.yaml",
    ));
    let documented: String = DOCUMENTED.map(read).concat();
    let missing = OTHER_VARIABLES
        .iter()
        .filter(|name| !documented.contains(&format!("`{name}")));
    expect_none(
        missing
            .map(|name| format!("{name} is in no table of the documentation"))
            .collect(),
    );
}

/// Where variables that are no settings stand.
const DOCUMENTED: [&str; 5] = [
    "docs/models/connect.md",
    "docs/models/forward-user-info.md",
    "docs/operate/hardening.md",
    "docs/operate/tracing.md",
    "docs/reference/configuration.md",
];

/// The variables of the first service.
fn passed_on(compose: &str) -> BTreeSet<String> {
    let environment = compose
        .lines()
        .skip_while(|line| line.trim() != "environment:")
        .skip(1);
    let lines = environment.take_while(|line| line.starts_with("      "));
    let variables = lines
        .filter_map(|line| line.trim().split_once(':'))
        .map(|(name, _)| name.to_owned());
    variables.filter(|name| !name.starts_with('#')).collect()
}

#[test]
fn variables_of_compose_are_read() {
    let compose = "services:\n  a:\n    environment:\n      # One: two\n      A:\n      B_C: x\n    ports:\n      - D:\n";
    assert_eq!(
        passed_on(compose).into_iter().collect::<Vec<_>>(),
        ["A", "B_C"]
    );
}

#[test]
fn every_event() {
    let code = names_in(&read("crates/domain/src/event/names.rs"), "fn type_name");
    expect_none(compare(
        &code,
        &headings(&read("docs/reference/events.md")),
        "add a heading ### `name` with a sentence and an example to docs/reference/events.md",
        "there is no such event: correct docs/reference/events.md",
    ));
}

/// The text in quotes behind each `=>` of the function.
fn names_in(source: &str, function: &str) -> BTreeSet<String> {
    let body = source.split_once(function).map_or("", |(_, rest)| rest);
    let arms = body
        .lines()
        .skip(1)
        .take_while(|line| !line.starts_with("    }"));
    arms.filter_map(|line| line.split_once("=> \"")?.1.split('"').next())
        .map(str::to_owned)
        .collect()
}

fn headings(docs: &str) -> BTreeSet<String> {
    let titles = docs
        .lines()
        .filter_map(|line| line.strip_prefix("### `")?.strip_suffix('`'));
    titles.map(str::to_owned).collect()
}

#[test]
fn names_are_read() {
    let source = "fn type_name() {\n    match self {\n        A => \"a\",\n        B { .. } => \"b_c\",\n    }\n}\nX => \"x\"";
    let source = source.replace("\n    }\n}", "\n        }\n    }\n}");
    assert_eq!(
        names_in(&source, "fn type_name")
            .into_iter()
            .collect::<Vec<_>>(),
        ["a", "b_c"]
    );
    assert_eq!(
        headings("# T\n### `a`\n## `c`\n### `b_c`")
            .into_iter()
            .collect::<Vec<_>>(),
        ["a", "b_c"]
    );
}

#[test]
fn every_error_code() {
    let statuses = statuses(&read("crates/server/src/error.rs"));
    let names = names_in(&read("crates/domain/src/problem.rs"), "fn as_str");
    assert_eq!(statuses.len(), names.len(), "each code has one status");
    let rows = statuses
        .into_iter()
        .map(|(code, status)| format!("| `{}` | {status} |", snake_case(&code)));
    let docs = read("docs/reference/errors.md");
    let documented = docs
        .lines()
        .filter(|line| line.starts_with("| `"))
        .map(|line| {
            let cells: Vec<&str> = line.splitn(4, " | ").take(2).collect();
            format!("{} |", cells.join(" | "))
        });
    expect_none(compare(
        &rows.collect(),
        &documented.collect(),
        "add this row to docs/reference/errors.md, with its meaning and what to do",
        "this is no code of domain::ProblemCode with its status in server/src/error.rs: correct docs/reference/errors.md",
    ));
}

/// Documents say by a code why they have no text; the page says it by the code in each language.
#[test]
fn every_reason_of_an_unreadable_file_has_words_in_the_page() {
    let source = read("crates/knowledge/src/unreadable.rs");
    let reasons = source
        .split_once("pub enum Unreadable {")
        .map_or("", |(_, rest)| rest);
    let reasons = reasons
        .split_once("\n}")
        .map_or(reasons, |(reasons, _)| reasons);
    let name = |line: &str| {
        let name = line
            .strip_prefix("    ")
            .filter(|name| name.starts_with(|c: char| c.is_ascii_uppercase()))?;
        Some(snake_case(name.trim_end_matches([',', ' ', '{'])))
    };
    let codes: Vec<String> = reasons.lines().filter_map(name).collect();
    assert!(codes.len() > 10, "{codes:?}");
    let pages = [
        "web/src/i18n/en/knowledge.ts",
        "web/src/i18n/ru/knowledge.ts",
        "web/src/state/knowledge/problems.ts",
    ];
    let missing = pages.iter().flat_map(|page| {
        let text = read(page);
        let is_missing = move |code: &&String| !text.contains(&format!("\"unreadable.{code}\""));
        codes
            .iter()
            .filter(is_missing)
            .map(move |code| format!("{page} has no `unreadable.{code}`"))
    });
    expect_none(missing.collect());
}

/// Each `ProblemCode::…` of the status table with the number behind its arrow.
fn statuses(source: &str) -> Vec<(String, u16)> {
    let table = source.split_once("fn status(").map_or("", |(_, rest)| rest);
    let table = table.split_once("\n}").map_or(table, |(table, _)| table);
    let mut waiting: Vec<String> = Vec::new();
    let mut statuses = Vec::new();
    for line in table.lines() {
        let codes = line.split("=>").next().unwrap_or_default();
        let code = |piece: &str| {
            piece
                .chars()
                .take_while(char::is_ascii_alphanumeric)
                .collect::<String>()
        };
        waiting.extend(codes.split("ProblemCode::").skip(1).map(code));
        // Behind the arrow or, where that line is too long, on one of its own.
        if let Some((_, status)) = line.split_once("StatusCode::") {
            let number = status_number(status.trim_end_matches(','));
            statuses.extend(waiting.drain(..).map(|code| (code, number)));
        }
    }
    statuses
}

fn status_number(name: &str) -> u16 {
    match name {
        "BAD_REQUEST" => 400,
        "UNAUTHORIZED" => 401,
        "FORBIDDEN" => 403,
        "NOT_FOUND" => 404,
        "CONFLICT" => 409,
        "PAYLOAD_TOO_LARGE" => 413,
        "UNPROCESSABLE_ENTITY" => 422,
        "TOO_MANY_REQUESTS" => 429,
        "INTERNAL_SERVER_ERROR" => 500,
        "BAD_GATEWAY" => 502,
        "SERVICE_UNAVAILABLE" => 503,
        "GATEWAY_TIMEOUT" => 504,
        "INSUFFICIENT_STORAGE" => 507,
        other => panic!("add {other} and its number to status_number in {}", file!()),
    }
}

fn snake_case(name: &str) -> String {
    let mut snake = String::new();
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.push(letter.to_ascii_lowercase());
    }
    snake
}

#[test]
fn statuses_are_read() {
    let source = "fn status(code: ProblemCode) {\n    match code {\n        ProblemCode::A | ProblemCode::TooLarge => StatusCode::CONFLICT,\n        \
                  ProblemCode::C\n        | ProblemCode::D => StatusCode::NOT_FOUND,\n    }\n}\nProblemCode::E => StatusCode::CONFLICT";
    let read: Vec<String> = statuses(source)
        .into_iter()
        .map(|(code, status)| format!("{} {status}", snake_case(&code)))
        .collect();
    assert_eq!(read, ["a 409", "too_large 409", "c 404", "d 404"]);
}

const METHODS: [&str; 5] = ["GET", "POST", "PUT", "PATCH", "DELETE"];

#[test]
fn every_address() {
    let generated: String = below("docs/reference/api", ".md")
        .into_iter()
        .map(|page| page.text)
        .collect();
    let docs = format!(
        "{}{generated}{}",
        read("docs/reference/api.md"),
        read_if_there("docs/integrate/chat-stream.md")
    );
    let mut routes = routes(&read("crates/server/src/http.rs"));
    // What runners ask for is not part of the public API.
    routes.retain(|route| !route.contains(" /api/v1/runner/"));
    expect_none(compare(
        &routes,
        &documented_routes(&docs).collect(),
        "describe it beside its handler and run `cargo xtask gen`",
        "crates/server/src/http.rs has no such address: correct docs/reference/api.md or docs/integrate/chat-stream.md",
    ));
}

#[test]
fn each_address_and_form_once() {
    let docs = read("docs/reference/api.md");
    expect_none(twice(described_routes(&docs).chain(defined_forms(&docs))));
}

#[test]
fn what_stands_twice_is_found() {
    let docs = "| `GET /a/{id}` | one, as `GET /b` |\n| `GET /b?x=`, `PUT /b` | two |\n| `GET /a/{name}` | three |\n\
                `Form = {a}`,\n`Form = {b}`.\nas `Other = {c}` says\n";
    let found = twice(described_routes(docs).chain(defined_forms(docs)));
    assert_eq!(
        found,
        [
            "docs/reference/api.md describes `GET /a/{}` twice",
            "docs/reference/api.md describes `Form` twice"
        ]
    );
}

fn twice(described: impl Iterator<Item = String>) -> Vec<String> {
    let mut known = BTreeSet::new();
    let twice = described.filter(|what| !known.insert(what.clone()));
    twice
        .map(|what| format!("docs/reference/api.md describes `{what}` twice"))
        .collect()
}

/// The addresses that the first columns of tables name.
fn described_routes(docs: &str) -> impl Iterator<Item = String> {
    let calls = docs
        .lines()
        .filter_map(|line| line.strip_prefix("| ")?.split(" | ").next());
    calls.flat_map(documented_routes)
}

/// `` `Chat = {…` `` at the beginning of a line as `Chat`.
fn defined_forms(docs: &str) -> impl Iterator<Item = String> {
    docs.lines()
        .filter_map(|line| Some(line.strip_prefix('`')?.split_once(" = ")?.0.to_owned()))
}

fn read_if_there(path: &str) -> String {
    if crate::repository::files_named(&[path]).is_empty() {
        String::new()
    } else {
        read(path)
    }
}

/// `get(User, "/runs/{run}", …)` as `GET /runs/{}`.
fn routes(source: &str) -> BTreeSet<String> {
    let mut routes = BTreeSet::new();
    for (at, _) in source.match_indices('(') {
        let call = source[..at]
            .rsplit(|c: char| !c.is_ascii_lowercase())
            .next();
        let method = call.unwrap_or_default().to_uppercase();
        // An argument before it says who may ask; a long call has each on a line of its own.
        let mut quoted = source[at + 1..].split('"');
        if let (Some(before), Some(path)) = (quoted.next(), quoted.next())
            && METHODS.contains(&method.as_str())
            && before
                .chars()
                .all(|c| c.is_alphanumeric() || c.is_whitespace() || c == ',')
            && path.starts_with('/')
        {
            routes.insert(format!("{method} {}", without_names(path)));
        }
    }
    routes
}

/// `` `GET /runs/{id}?after=` `` as `GET /runs/{}`.
fn documented_routes(docs: &str) -> impl Iterator<Item = String> {
    docs.split('`').skip(1).step_by(2).filter_map(|code| {
        let (method, path) = code.split_once(' ')?;
        let path = path.split(['?', ' ', '\n']).next().unwrap_or(path);
        let is_one = METHODS.contains(&method) && path.starts_with('/');
        is_one.then(|| format!("{method} {}", without_names(path)))
    })
}

/// The docs call things by other names than the code: only their places count.
fn without_names(path: &str) -> String {
    let segments = path
        .split('/')
        .map(|part| if part.starts_with('{') { "{}" } else { part });
    segments.collect::<Vec<_>>().join("/")
}

#[test]
fn routes_are_read() {
    let source = "        get(User, \"/runs/{run}/events\", runs::events),\n        put(\n            Admin,\n            \"/a\",\n            a::b,\n        ),\n        on(\"/c\")";
    let docs = "See `GET /runs/{id}/events?after=<seq>` and\n`PUT /a`, not `GET` or `/b`.";
    assert_eq!(
        routes(source).into_iter().collect::<Vec<_>>(),
        ["GET /runs/{}/events", "PUT /a"]
    );
    assert_eq!(
        documented_routes(docs).collect::<BTreeSet<_>>(),
        routes(source)
    );
}
