//! Tests of the configuration's layers and checks.

use std::path::Path;

use super::*;

fn environment(pairs: &[(&str, &str)]) -> Environment {
    let mut all: Environment = pairs
        .iter()
        .map(|(n, v)| ((*n).to_owned(), (*v).to_owned()))
        .collect();
    all.entry("HOME".to_owned())
        .or_insert_with(|| "/nonexistent/home".to_owned());
    all
}

fn load(flags: &Flags, pairs: &[(&str, &str)]) -> Result<Config, String> {
    Config::from_parts(flags, &environment(pairs)).map_err(|error| format!("{error:#}"))
}

fn load_file(text: &str) -> Result<Config, String> {
    let dir = std::env::temp_dir().join(format!("glasshouse-config-{}", domain::RunId::generate()));
    std::fs::create_dir_all(&dir).unwrap();
    std::fs::write(dir.join("glasshouse.toml"), text).unwrap();
    let result = load(
        &Flags {
            data_dir: Some(dir.clone()),
            ..Flags::default()
        },
        &[],
    );
    std::fs::remove_dir_all(dir).unwrap();
    result
}

#[test]
fn the_example_is_the_default() {
    let config = load(&Flags::default(), &[]).unwrap();
    assert_eq!(config.listen, ["127.0.0.1:8000".parse().unwrap()]);
    assert_eq!(config.auth, Auth::Password);
    assert_eq!(config.limits, Limits::default());
    assert_eq!(config.body_limit_bytes, 10_000_000);
    if cfg!(target_os = "linux") {
        assert_eq!(
            config.data_dir,
            Path::new("/nonexistent/home/.local/share/glasshouse")
        );
        assert_eq!(
            config.database_url,
            "sqlite:///nonexistent/home/.local/share/glasshouse/glasshouse.db"
        );
    }
    assert!(config.connections.is_empty());
}

#[test]
fn later_layers_win() {
    let file = "listen = \"127.0.0.1:1\"\nretention_days = 3\n[limits]\nsteps = 7";
    let dir = std::env::temp_dir().join(format!("glasshouse-config-{}", domain::RunId::generate()));
    std::fs::create_dir_all(&dir).unwrap();
    let path = dir.join("own.toml");
    std::fs::write(&path, file).unwrap();
    let flags = Flags {
        config: Some(path),
        listen: vec!["127.0.0.1:3".into()],
        ..Flags::default()
    };
    let variables = [
        ("GLASSHOUSE_LISTEN", "127.0.0.1:2, [::1]:2"),
        ("GLASSHOUSE_LIMITS_TOKENS", "0"),
    ];
    let config = load(&flags, &variables).unwrap();
    assert_eq!(config.listen, ["127.0.0.1:3".parse().unwrap()]);
    assert_eq!(config.limits.steps, 7);
    assert_eq!(config.limits.tokens, u64::MAX);
    assert_eq!(config.retention_ms, 3 * 86_400_000);
    let config = load(
        &Flags {
            listen: Vec::new(),
            ..flags
        },
        &variables,
    )
    .unwrap();
    assert_eq!(
        config.listen,
        ["127.0.0.1:2".parse().unwrap(), "[::1]:2".parse().unwrap()]
    );
    std::fs::remove_dir_all(dir).unwrap();
}

#[test]
fn refusals_name_the_setting() {
    for (file, words) in [
        ("lisen = \"127.0.0.1:1\"", "there is no setting “lisen”"),
        ("[limits]\nstep = 1", "there is no setting “limits.step”"),
        ("retention_days = \"long\"", "retention_days"),
        ("listen = [\"8000\"]", "listen has “8000”"),
        ("listen = []", "listen is empty"),
        ("auth = \"off\"", "auth"),
        (
            "public_url = \"ai.example.org\"",
            "public_url is “ai.example.org”",
        ),
        ("public_url = \"https://a.example/api\"", "public_url"),
        (
            "strict_transport_security = \"max-age=300\"",
            "strict_transport_security needs HTTPS",
        ),
        ("[tls]\nhttp2 = true", "tls.http2 needs tls.certificate"),
        (
            "trusted_proxies = [\"0.0.0.0/0\"]",
            "trusted_proxies has “0.0.0.0/0”",
        ),
        (
            "[trusted_header]\nuser = \"x-user\"",
            "trusted_header.proxies is empty",
        ),
        (
            "[trusted_header]\nuser = \"x-user\"\nproxies = [\"0.0.0.0/0\"]",
            "trusted_header.proxies has “0.0.0.0/0”",
        ),
        (
            "[trusted_header]\nuser = \"x-user\"\nproxies = [\"0.0.0.0/1\", \"128.0.0.0/1\"]",
            "too wide",
        ),
        (
            "[trusted_header]\nuser = \"x-user\"\nproxies = [\"::/6\"]",
            "too wide",
        ),
        (
            "[trusted_header]\nuser = \"x-user\"\nproxies = [\"127.0.0.1\"]",
            "trusted_header needs public_url",
        ),
        (
            "[trusted_header]\nuser = \"Cookie\"\nproxies = [\"127.0.0.1\"]",
            "trusted_header.user is “Cookie”",
        ),
        (
            "[trusted_header]\nuser = \"x user\"\nproxies = [\"127.0.0.1\"]",
            "trusted_header.user is “x user”",
        ),
        (
            "[trusted_header]\nuser = \"x-user\"\nproxies = [\"127.0.0.1\"]\nadmin_groups = [\"a\"]",
            "set trusted_header.groups",
        ),
        (
            "[trusted_header]\nuser = \"u\"\nproxies = [\"::1\"]\nsign_out_url = \"//x\"",
            "sign_out_url must be",
        ),
        (
            "auth = \"none\"\n[trusted_header]\nuser = \"x-user\"\nproxies = [\"127.0.0.1\"]",
            "auth “none”",
        ),
        ("cors_allow_origins = [\"*\"]", "cors_allow_origins has “*”"),
        (
            "cors_allow_origins = [\"null\"]",
            "cors_allow_origins has “null”",
        ),
        (
            "cors_allow_origins = [\"https://a.example/b\"]",
            "exact origins only",
        ),
        (
            "[outbound]\nallow = [\"http://idp\"]",
            "outbound.allow has “http://idp”",
        ),
        (
            "[outbound]\nallow = [\"10.0.0.0/33\"]",
            "a network such as 10.0.0.0/8",
        ),
        ("[outbound]\nlet = []", "there is no setting “outbound.let”"),
        (
            "auth = \"none\"\ncors_allow_origins = [\"https://a.example\"]",
            "does not go with auth “none”",
        ),
        (
            "auth = \"none\"\nlisten = [\"127.0.0.1:1\", \"0.0.0.0:1\"]",
            "auth is “none”",
        ),
        (
            "auth = \"none\"\npublic_url = \"https://a.example\"",
            "auth is “none”",
        ),
        ("[limits]\nusd = -1.0", "limits.usd"),
        ("[model_timeouts]\nidle_seconds = 0", "idle_seconds"),
        ("= 5", "not valid TOML"),
        ("mcp_servers = 5", "mcp_servers"),
        (
            "[limits]\nmcp_servers = []",
            "there is no setting “limits.mcp_servers”",
        ),
        ("[[mcp_servers]]\ncommand = \"x\"", "name"),
        (
            "[[mcp_servers]]\nname = \"a b\"\ncommand = \"x\"",
            "mcp_servers “a b”: name: ",
        ),
        (
            "[[mcp_servers]]\nname = \"a__b\"\ncommand = \"x\"",
            "mcp_servers “a__b”: name: ",
        ),
        (
            "[[workspaces]]\nname = \"\"\npath = \"/x\"",
            "workspaces.name is “”",
        ),
        (
            "[[workspaces]]\nname = \"a\"\npath = \"x\"",
            "must be a whole path from the root",
        ),
        (
            "[[workspaces]]\nname = \"a\"\npath = \"/x\"\nleave_out = [\"a/b\"]",
            "leave_out has “a/b”",
        ),
        (
            "[[workspaces]]\nname = \"a\"\npath = \"/x\"\n[[workspaces]]\nname = \"a\"\npath = \"/y\"",
            "two of the name “a”",
        ),
        (
            "[[mcp_servers]]\nname = \"a\"",
            "“a”: give it either a command or a url",
        ),
        (
            "[[mcp_servers]]\nname = \"a\"\nurl = \"http://x/\"\ncommand = \"x\"",
            "either a command or a url",
        ),
        (
            "[[mcp_servers]]\nname = \"a\"\nurl = \"file:///x\"",
            "url: Enter an address",
        ),
        (
            "[[mcp_servers]]\nname = \"a\"\nurl = \"http://a:b@x/\"",
            "without a user name or password",
        ),
        (
            "[[mcp_servers]]\nname = \"a\"\nurl = \"http://x/\"\nargs = [\"y\"]",
            "go with command",
        ),
        (
            "[[mcp_servers]]\nname = \"a\"\nurl = \"http://x/\"\nheaders = { \"a b\" = \"c\" }",
            "“a b”",
        ),
        (
            "[[mcp_servers]]\nname = \"a\"\nurl = \"http://x/\"\nheaders = { Accept = \"c\" }",
            "headers: The header “Accept”",
        ),
        (
            "[[mcp_servers]]\nname = \"a\"\nurl = \"http://x/\"\nheaders = { a = \"b\\nc\" }",
            "The header “a” cannot be sent",
        ),
        (
            "[[mcp_servers]]\nname = \"a\"\ncommand = \"x\"\nenv = { K = \"${NO_KEY}\" }",
            "variable NO_KEY",
        ),
        (
            "[[mcp_servers]]\nname = \"a\"\ncommand = \"x\"\nenv = { K = \"${NO\" }",
            "without its “}”",
        ),
        (
            "[[mcp_servers]]\nname = \"a\"\ncommand = \"x\"\nfolder = \"here\"",
            "folder is “here”",
        ),
        (
            "[[mcp_servers]]\nname = \"a\"\ncommand = \"x\"\nheaders = {}",
            "goes with url",
        ),
        (
            "[[mcp_servers]]\nname = \"a\"\ncommand = \"x\"\napproval = \"maybe\"",
            "approval",
        ),
        (
            "[[mcp_servers]]\nname = \"a\"\ncommand = \"x\"\ntimeout_seconds = 0",
            "timeout_seconds",
        ),
        (
            "[[mcp_servers]]\nname = \"a\"\ncommand = \"x\"\ncolour = 1",
            "colour",
        ),
        (
            "[[mcp_servers]]\nname = \"a\"\ncommand = \"x\"\nsign_in = \"oauth\"",
            "go with url",
        ),
        (
            "[[mcp_servers]]\nname = \"a\"\nurl = \"http://x/\"\nsign_in = \"maybe\"",
            "sign_in",
        ),
        (
            "[[mcp_servers]]\nname = \"a\"\nurl = \"http://x/\"\noauth = {}",
            "oauth goes with sign_in",
        ),
        (
            "[[mcp_servers]]\nname = \"a\"\nurl = \"http://x/\"\ntoken_header = \"X-A\"",
            "token_header: A token header is only used",
        ),
        (
            "[[mcp_servers]]\nname = \"a\"\nurl = \"http://x/\"\nsign_in = \"user_token\"\ntoken_header = \"Accept\"",
            "token_header: The header “Accept”",
        ),
        (
            "[[mcp_servers]]\nname = \"a\"\nurl = \"http://x/\"\nsign_in = \"oauth\"\n\
             headers = { authorization = \"b\" }",
            "each person's own",
        ),
        (
            "[[mcp_servers]]\nname = \"a\"\nurl = \"http://x/\"\nsign_in = \"oauth\"\noauth = { client_secret = \"b\" }",
            "needs a client ID",
        ),
        (
            "[[mcp_servers]]\nname = \"a\"\nurl = \"http://x/\"\nsign_in = \"oauth\"\noauth = { scopes = [\"a b\"] }",
            "“a b”, which is no scope",
        ),
        (
            "[[mcp_servers]]\nname = \"a\"\ncommand = \"x\"\n[[mcp_servers]]\nname = \"a\"\ncommand = \"y\"",
            "two",
        ),
    ] {
        let error = load_file(file).unwrap_err();
        assert!(error.contains(words), "{file}: {error}");
    }
}

#[test]
fn mcp_servers_are_read_with_keys_from_the_environment() {
    let file = "[[mcp_servers]]\nname = \"files\"\ncommand = \"npx\"\nargs = [\"-y\"]\nenv = { K = \"a-${KEY}\" }\n\
                [[mcp_servers]]\nname = \"web\"\nurl = \"https://x.example/mcp\"\napproval = \"never\"\n\
                headers = { Authorization = \"Bearer ${KEY}\" }";
    let dir = std::env::temp_dir().join(format!("glasshouse-config-{}", domain::RunId::generate()));
    std::fs::create_dir_all(&dir).unwrap();
    std::fs::write(dir.join("glasshouse.toml"), file).unwrap();
    let flags = Flags {
        data_dir: Some(dir.clone()),
        ..Flags::default()
    };
    let config = load(
        &flags,
        &[("KEY", "s3cret"), ("PATH", "/bin"), ("OTHER", "x")],
    )
    .unwrap();
    std::fs::remove_dir_all(dir).unwrap();
    assert!(!format!("{config:?}").contains("s3cret"));
    let [files, web] = config.mcp_servers.as_slice() else {
        panic!("two servers")
    };
    let McpTransport::Command { environment, .. } = &files.way else {
        panic!("a command")
    };
    let environment: Vec<_> = environment
        .iter()
        .map(|(name, value)| (name.as_str(), value.reveal()))
        .collect();
    assert_eq!(
        environment,
        [
            ("HOME", "/nonexistent/home"),
            ("K", "a-s3cret"),
            ("PATH", "/bin")
        ]
    );
    let McpTransport::Url { headers, .. } = &web.way else {
        panic!("an address")
    };
    assert_eq!(headers[0].1.reveal(), "Bearer s3cret");
    assert_eq!(
        (files.approval, web.approval),
        (Approval::Auto, Approval::Never)
    );
}

#[test]
fn mcp_servers_cannot_come_from_the_environment() {
    let config = load(&Flags::default(), &[("GLASSHOUSE_MCP_SERVERS", "x")]).unwrap();
    assert!(config.mcp_servers.is_empty());
    assert!(
        config.warnings[0].contains("GLASSHOUSE_MCP_SERVERS"),
        "{:?}",
        config.warnings
    );
}

#[test]
fn a_named_file_must_exist() {
    let flags = Flags {
        config: Some("/nonexistent/a.toml".into()),
        ..Flags::default()
    };
    assert!(
        load(&flags, &[])
            .unwrap_err()
            .contains("/nonexistent/a.toml")
    );
}

#[test]
fn variables_are_checked() {
    let error = load(&Flags::default(), &[("GLASSHOUSE_LIMITS_STEPS", "many")]).unwrap_err();
    assert!(error.contains("GLASSHOUSE_LIMITS_STEPS"), "{error}");
    let config = load(
        &Flags::default(),
        &[("GLASSHOUSE_PORT", "tcp://10.0.0.1:1")],
    )
    .unwrap();
    assert_eq!(config.warnings.len(), 1);
}

#[test]
fn the_usual_variables_make_a_connection() {
    let connection = |pairs: &[(&str, &str)]| {
        load(&Flags::default(), pairs).map(|config| {
            let first = config
                .connections
                .first()
                .map(|connection| &connection.settings);
            first.map(|settings| (settings.base_url.to_string(), !settings.keys.is_empty()))
        })
    };
    assert_eq!(
        connection(&[("OPENAI_API_BASE_URL", "http://localhost:11434/v1")]),
        Ok(Some(("http://localhost:11434/v1".into(), false)))
    );
    assert_eq!(
        connection(&[
            ("OPENAI_BASE_URL", "http://a.example/v1"),
            ("OPENAI_API_KEY", "k")
        ]),
        Ok(Some(("http://a.example/v1".into(), true)))
    );
    assert_eq!(
        connection(&[("OPENAI_API_KEY", "k")]),
        Ok(Some(("https://api.openai.com/v1".into(), true)))
    );
    assert_eq!(connection(&[("OPENAI_API_KEY", " ")]), Ok(None));
    assert!(
        connection(&[("OPENAI_BASE_URL", "ftp://x")])
            .unwrap_err()
            .contains("OPENAI_BASE_URL")
    );
    let aws = [
        ("AWS_REGION", "eu-central-1"),
        ("AWS_ACCESS_KEY_ID", "i"),
        ("AWS_SECRET_ACCESS_KEY", "s"),
    ];
    assert_eq!(connection(&aws), Ok(None), "they are for other things");
    let bedrock = [&aws[..], &[("GLASSHOUSE_BEDROCK", "true")]].concat();
    let frankfurt = "https://bedrock-runtime.eu-central-1.amazonaws.com/";
    assert_eq!(connection(&bedrock), Ok(Some((frankfurt.into(), false))));
}

#[test]
fn rules_for_approvals() {
    let file =
        "[[approvals]]\ntool = \"write_*\"\narguments = { path = \"/site/*\" }\nthen = \"ask\"";
    let rules = load_file(file).unwrap().approvals;
    assert_eq!(rules[0].then, agent::Verdict::Ask);
    assert_eq!(rules[0].arguments.len(), 1);
    let variable = [("GLASSHOUSE_APPROVALS", "[{tool = \"*\", then = \"deny\"}]")];
    assert_eq!(
        load(&Flags::default(), &variable).unwrap().approvals[0].then,
        agent::Verdict::Deny
    );
    for (file, part) in [
        ("[[approvals]]\ntool = \"a\"\nthen = \"perhaps\"", "perhaps"),
        ("[[approvals]]\nthen = \"ask\"", "tool"),
        (
            "[[approvals]]\ntool = \"a\"\nthen = \"ask\"\nargument = {}",
            "argument",
        ),
    ] {
        let error = load_file(file).unwrap_err();
        assert!(error.contains(part), "{error}");
    }
}
