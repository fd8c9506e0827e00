//! The program itself: its one line, its key command, and SIGTERM.

use std::{
    io::{BufRead, BufReader, Read},
    process::{Command, Stdio},
};

use serde_json::{Value, json};

use crate::harness::{Answer, EMAIL, PASSWORD, new_folder, plain_client};

fn glasshouse() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_glasshouse"));
    command.env_clear();
    command
}

fn output(command: &mut Command) -> (bool, String, String) {
    let output = command.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (
        output.status.success(),
        text(output.stdout),
        text(output.stderr),
    )
}

#[cfg(unix)]
#[tokio::test]
async fn serves_makes_keys_and_ends_well() {
    let dir = new_folder();
    let mut server = glasshouse()
        .args(["serve", "--listen", "127.0.0.1:0", "--data-dir"])
        .arg(&dir)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdout = BufReader::new(server.stdout.take().unwrap());
    let mut line = String::new();
    stdout.read_line(&mut line).unwrap();
    let base = line
        .strip_prefix("Glasshouse is ready: ")
        .unwrap()
        .trim_end();
    assert!(base.starts_with("http://127.0.0.1:"), "{line}");
    drop(llm::HttpClient::new().unwrap());
    let client = plain_client();
    let body = json!({ "email": EMAIL, "name": "Ada", "password": PASSWORD });
    Answer::of(client.post(format!("{base}/api/v1/setup")).json(&body))
        .await
        .expect(200);

    let key = |user: &str| {
        output(
            glasshouse()
                .args(["key", "create", "--user", user, "--data-dir"])
                .arg(&dir),
        )
    };
    let (made, secret, _) = key(EMAIL);
    assert!(made);
    Answer::of(
        client
            .get(format!("{base}/api/v1/keys"))
            .bearer_auth(secret.trim()),
    )
    .await
    .expect(200);
    let noted = client
        .get(format!("{base}/api/v1/audit?action=key."))
        .bearer_auth(secret.trim());
    let noted = &Answer::of(noted).await.json()["entries"][0];
    assert_eq!(
        (&noted["actor"], &noted["details"]["by"]),
        (&Value::Null, &json!("command line"))
    );
    let (made, _, problem) = key("eve@example.org");
    assert!(!made && problem.contains("eve@example.org"), "{problem}");

    let address = base.strip_prefix("http://").unwrap().to_owned();
    let health = || {
        output(
            glasshouse()
                .args(["health", "--listen", &address, "--data-dir"])
                .arg(&dir),
        )
    };
    assert_eq!(health(), (true, "ok\n".into(), String::new()));

    let id = server.id().to_string();
    assert!(
        Command::new("kill")
            .args(["-TERM", &id])
            .status()
            .unwrap()
            .success()
    );
    assert!(server.wait().unwrap().success());
    let mut rest = String::new();
    stdout.read_to_string(&mut rest).unwrap();
    assert_eq!(rest, "", "one line only");
    let (healthy, _, problem) = health();
    assert!(
        !healthy && problem.contains("cannot be reached"),
        "{problem}"
    );
    std::fs::remove_dir_all(dir).unwrap();
}

/// Whatever the folder was, and what an earlier version left for all to read is closed.
#[cfg(unix)]
#[tokio::test]
async fn the_data_is_its_owners_alone() {
    use std::os::unix::fs::PermissionsExt;
    let dir = new_folder();
    let set = |path: &std::path::Path, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    set(&dir, 0o755);
    let start = || {
        let mut server = glasshouse()
            .args(["serve", "--listen", "127.0.0.1:0", "--data-dir"])
            .arg(&dir)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(server.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        (server, line)
    };
    let stop = |mut server: std::process::Child| {
        let id = server.id().to_string();
        assert!(
            Command::new("kill")
                .args(["-TERM", &id])
                .status()
                .unwrap()
                .success()
        );
        let mut log = String::new();
        server
            .stderr
            .take()
            .unwrap()
            .read_to_string(&mut log)
            .unwrap();
        server.wait().unwrap();
        log
    };
    let open_files = || {
        let files = std::fs::read_dir(&dir).unwrap().map(|file| file.unwrap());
        let open = files.filter(|file| file.metadata().unwrap().permissions().mode() & 0o077 != 0);
        open.map(|file| file.file_name().into_string().unwrap())
            .collect::<Vec<_>>()
    };
    let (server, line) = start();
    assert!(line.starts_with("Glasshouse is ready"), "{line}");
    assert_eq!(open_files(), [""; 0]);
    assert!(!stop(server).contains("other users could read"));

    set(&dir.join("glasshouse.db"), 0o644);
    let (server, _) = start();
    assert_eq!(open_files(), [""; 0]);
    let log = stop(server);
    assert!(
        log.contains("other users could read") && log.contains("glasshouse.db"),
        "{log}"
    );

    set(&dir.join("secret.key"), 0o644);
    let (server, line) = start();
    let log = stop(server);
    assert!(line.is_empty() && log.contains("chmod 600"), "{line}{log}");
    std::fs::remove_dir_all(dir).unwrap();
}

#[test]
fn refuses_with_a_sentence() {
    for (arguments, words) in [
        (
            &["--auth", "none", "--listen", "0.0.0.0:0", "--data-dir", "x"][..],
            "auth is “none”",
        ),
        (
            &["--listen", "nowhere", "--data-dir", "x"],
            "listen has “nowhere”",
        ),
        (&["--config", "/nonexistent.toml"], "/nonexistent.toml"),
        (&["--data-dir", "/dev/null/x"], "/dev/null/x"),
        (
            &[
                "key",
                "create",
                "--user",
                "a@b",
                "--data-dir",
                "/nonexistent/x",
            ],
            "/nonexistent/x",
        ),
        (&[], "--data-dir"),
    ] {
        let (good, stdout, stderr) = output(glasshouse().args(arguments));
        assert!(
            !good && stdout.is_empty() && stderr.contains(words),
            "{arguments:?}: {stderr}"
        );
    }
}

/// A job migrates the database before servers start that leave it to that job.
#[tokio::test]
async fn migrates_the_database_as_a_command() {
    let dir = new_folder();
    let run = |arguments: &[&str]| output(glasshouse().args(arguments).arg("--data-dir").arg(&dir));
    let (started, _, problem) = run(&["serve", "--listen", "127.0.0.1:0", "--no-migrate"]);
    assert!(
        !started && problem.contains("run `glasshouse migrate`"),
        "{problem}"
    );
    let (good, said, problem) = run(&["migrate"]);
    assert!(
        good && said.starts_with("The database is new, with schema "),
        "{said}{problem}"
    );
    let (good, again, _) = run(&["migrate"]);
    assert!(good && again.ends_with(" already.\n"), "{again}");

    let mut server = glasshouse()
        .args(["--listen", "127.0.0.1:0", "--no-migrate", "--data-dir"])
        .arg(&dir)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(server.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    assert!(line.starts_with("Glasshouse is ready"), "{line}");
    let (good, _, problem) = run(&["migrate"]);
    assert!(!good && problem.contains("stop it first"), "{problem}");
    server.kill().unwrap();
    server.wait().unwrap();
    std::fs::remove_dir_all(dir).unwrap();
}

#[test]
fn prints_its_configuration_and_help() {
    let (good, printed, _) = output(glasshouse().args(["config", "print-default"]));
    assert!(good);
    assert_eq!(
        printed.trim_end(),
        server::platform::config::DEFAULTS.trim_end()
    );
    let (good, help, _) = output(glasshouse().arg("--help"));
    for words in [
        "key",
        "--listen",
        "--data-dir",
        "--auth",
        "OPENAI_API_BASE_URL",
        "curl",
        "glasshouse.toml",
    ] {
        assert!(good && help.contains(words), "{words}");
    }
}

/// What is missing is said with what to do, before the first start and after it.
#[tokio::test]
async fn the_doctor_says_what_to_do() {
    let behaviour = scripted::Behaviour::always(scripted::Reply::text("Hi"));
    let upstream = scripted::ScriptedServer::start(behaviour).await.unwrap();
    let dir = new_folder().join("new");
    let doctor = |url: &str| {
        let mut command = glasshouse();
        command
            .args(["doctor", "--listen", "127.0.0.1:1", "--data-dir"])
            .arg(&dir)
            .env("OPENAI_API_BASE_URL", url);
        command
    };
    let working = upstream.base_url().to_string();
    let examined = async |mut command: Command| {
        let run = tokio::task::spawn_blocking(move || output(&mut command));
        run.await.unwrap()
    };
    let (is_well, findings, _) = examined(doctor(&working)).await;
    assert!(is_well, "{findings}");
    assert!(!dir.exists(), "it creates nothing");
    for (about, text) in [
        ("Server", "not running; it would listen on 127.0.0.1:1"),
        ("Data folder", "does not exist yet"),
        ("Database", "does not exist yet"),
        ("Model server", "has 1 model"),
    ] {
        let line = findings.lines().find(|line| line.contains(about));
        let line = line.unwrap_or_else(|| panic!("{about}: {findings}"));
        assert!(line.starts_with("ok ") && line.contains(text), "{findings}");
    }
    std::fs::create_dir(&dir).unwrap();
    std::fs::write(
        dir.join("glasshouse.db"),
        "no database, but long enough to be one",
    )
    .unwrap();
    let (is_well, findings, problem) = examined(doctor("http://127.0.0.1:1/v1")).await;
    assert!(!is_well, "{findings}");
    assert!(
        findings.contains("problem  Database      SQLite: "),
        "{findings}"
    );
    assert!(findings.contains("problem  Model server  "), "{findings}");
    assert!(
        findings.contains("→ correct the address or the key"),
        "{findings}"
    );
    assert!(problem.contains("there are 2 problems"), "{problem}");
}
