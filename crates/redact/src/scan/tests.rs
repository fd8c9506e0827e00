//! Tables of secrets, and of texts that only look like secrets.

use crate::text;

#[track_caller]
fn check(found: &str, expected: &str) {
    assert_eq!(text(found), expected);
    assert_eq!(text(expected), expected, "redacted once more");
}

#[track_caller]
fn stays(found: &str) {
    check(found, found);
}

#[test]
fn keys_are_recognized_by_format() {
    for key in [
        "sk-1234567890abcdef",
        "sk-proj-abcDEF123456ghiJKL7890",
        "sk-ant-api03-abcDEF123456_ghiJKL-7890",
        "gh_0123456789abcdef",
        "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
        "github_pat_11ABCDEFG0abcdefghijkl_MNOPQRSTUV",
        "glpat-abcDEF123456ghiJKL78",
        "xoxb-1234567890-abcdefghij",
        "xapp-1-A0123456-7890-abcdef",
        "sk_live_4eC39HqLyjWDarjtT1zdp7dc",
        "rk_test_4eC39HqLyjWDarjtT1zdp7dc",
        "AKIAIOSFODNN7EXAMPLE",
        "ASIAIOSFODNN7EXAMPLE",
        "AIzaSyD-9tSrke72PouQMnMX-a7eZSW0jkFMBWY",
        "ya29.a0AfH6SMBx1234567890abcdef",
        "hf_abcdefghij1234567890klmnop",
        "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
        "npm_abcdefghijklmnopqrstuvwxyz0123456789",
        "SG.abcdefghijklmnop123.qrstuvwxyz4567890",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U",
    ] {
        check(&format!("use {key} now"), "use [redacted] now");
        check(&format!("(\"{key}\")."), "(\"[redacted]\").");
        check(&format!("at the end {key}."), "at the end [redacted].");
        check(&format!("path/{key}"), "path/[redacted]");
    }
}

#[test]
fn secrets_follow_their_names() {
    for (found, expected) in [
        (
            "KEY_A=1 OPENAI_API_KEY=abc DEBUG=1",
            "KEY_A=1 OPENAI_API_KEY=[redacted] DEBUG=1",
        ),
        (
            "export DB_PASSWORD='correct horse'; run",
            "export DB_PASSWORD='[redacted]'; run",
        ),
        ("STRIPE_KEY=a1b2c3d4", "STRIPE_KEY=[redacted]"),
        ("password: hunter2", "password: [redacted]"),
        (
            "Password: swordfish, user: bob",
            "Password: [redacted], user: bob",
        ),
        ("пароль: тайна7", "пароль: [redacted]"),
        (
            "\"password\": \"correct horse\"",
            "\"password\": \"[redacted]\"",
        ),
        (
            "{\\\"api_key\\\":\\\"abc\\\",\\\"n\\\":1}",
            "{\\\"api_key\\\":\\\"[redacted]\\\",\\\"n\\\":1}",
        ),
        (
            "{'client_secret': 'x', 'a': 1}",
            "{'client_secret': '[redacted]', 'a': 1}",
        ),
        ("password => \"x y\"", "password => \"[redacted]\""),
        ("password := \"x\\\"y\"", "password := \"[redacted]\""),
        (
            "env[\"API_TOKEN\"] = \"a1b2c3\"",
            "env[\"API_TOKEN\"] = \"[redacted]\"",
        ),
        (
            "spring.datasource.password=s3cr3t",
            "spring.datasource.password=[redacted]",
        ),
        (
            "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
            "aws_secret_access_key = [redacted]",
        ),
        (
            "AccountName=a;AccountKey=abc/def+g==;EndpointSuffix=x",
            "AccountName=a;AccountKey=[redacted];EndpointSuffix=x",
        ),
        ("token: a1b2c3d4e5", "token: [redacted]"),
        ("SECRET_TOKEN=AbCdEfGh", "SECRET_TOKEN=[redacted]"),
        (
            "\u{1b}[3merror\u{1b}[0m=\u{1b}[0msk-1234567890abcdef",
            "\u{1b}[3merror\u{1b}[0m=\u{1b}[0m[redacted]",
        ),
        ("X-Api-Key: abc", "X-Api-Key: [redacted]"),
        (
            "Authorization: Bearer abcdefghijklmnop",
            "Authorization: Bearer [redacted]",
        ),
        (
            "authorization: Basic YWRhOnBhc3M=",
            "authorization: Basic [redacted]",
        ),
        (
            "\"Authorization\": \"Bearer abc\"",
            "\"Authorization\": \"Bearer [redacted]\"",
        ),
        (
            "Authorization: 0123456789abcdef",
            "Authorization: [redacted]",
        ),
        (
            "curl -H 'Authorization: Bearer tok_a1b2c3d4'",
            "curl -H 'Authorization: Bearer [redacted]'",
        ),
        ("got Bearer abcDEF123456 from", "got Bearer [redacted] from"),
        ("Basic YWRhOnBhc3M= it is", "Basic [redacted] it is"),
        (
            "mysql --password hunter2 -h db",
            "mysql --password [redacted] -h db",
        ),
        (
            "tool --password 'correct horse' x",
            "tool --password '[redacted]' x",
        ),
        ("gh --token=ghx --repo a", "gh --token=[redacted] --repo a"),
        (
            "deploy --api-key \"k 1\" --token a1b2c3d4",
            "deploy --api-key \"[redacted]\" --token [redacted]",
        ),
        (
            "curl -u ada:hunter2 https://a.example/x",
            "curl -u ada:[redacted] https://a.example/x",
        ),
        ("curl --user 'ada:a b' x", "curl --user 'ada:[redacted]' x"),
        (
            "curl -uada:hunter2 https://a.example/x",
            "curl -uada:[redacted] https://a.example/x",
        ),
        (
            "curl -s -Uada@example.org:hunter2 x",
            "curl -s -Uada@example.org:[redacted] x",
        ),
        (
            "curl -u'ada:a b' x; curl -fsSLu \"ada:c d\" x",
            "curl -u'ada:[redacted]' x; curl -fsSLu \"ada:[redacted]\" x",
        ),
        (
            "/usr/bin/curl -X POST -su ada:pw1 x",
            "/usr/bin/curl -X POST -su ada:[redacted] x",
        ),
        (
            "mysqldump -h db -u root -phunter2 shop",
            "mysqldump -h db -u root -p[redacted] shop",
        ),
        ("sshpass -p hunter2 ssh a", "sshpass -p [redacted] ssh a"),
        (
            "curl --user=ada:pw --proxy-user bob:pw2 x",
            "curl --user=ada:[redacted] --proxy-user bob:[redacted] x",
        ),
        (
            "Cookie: a=b; session=c\r\nHost: x",
            "Cookie: [redacted]\r\nHost: x",
        ),
        ("Set-Cookie: id=1; HttpOnly\n", "Set-Cookie: [redacted]\n"),
    ] {
        check(found, expected);
    }
}

/// Tool results are often JSON within JSON.
#[test]
fn secrets_are_found_in_texts_within_json() {
    for (found, expected) in [
        ("a\nAKIAIOSFODNN7EXAMPLE", "a\n[redacted]"),
        ("a\n\tsk-1234567890abcdef\n", "a\n\t[redacted]\n"),
        (
            "Host: a\r\nCookie: a=b\r\n",
            "Host: a\r\nCookie: [redacted]\r\n",
        ),
        (
            "a\nAuthorization: Digest 0123456789abcdef",
            "a\nAuthorization: Digest [redacted]",
        ),
        ("a\ncurl -uada:hunter2 x", "a\ncurl -uada:[redacted] x"),
        (
            "a\n-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----\nb",
            "a\n-----BEGIN PRIVATE KEY-----[redacted]-----END PRIVATE KEY-----\nb",
        ),
    ] {
        check(found, expected);
        let json = |text: &str| serde_json::to_string(text).unwrap();
        check(&json(found), &json(expected));
        check(&json(&json(found)), &json(&json(expected)));
    }
    for text in ["C:\\temp\\new: x", "\\nature: green"] {
        stays(text);
    }
}

/// The cases that the logs, traces, debug events and exports must redact, too.
#[test]
fn document_002_named_cases_are_redacted() {
    for case in include_str!("../cases.txt").lines() {
        let (found, secret) = case.split_once('\t').unwrap();
        check(found, &found.replace(secret, "[redacted]"));
    }
}

#[test]
fn urls_lose_only_their_secrets() {
    for (found, expected) in [
        (
            "postgres://ada:s3cret@db:5432/x?sslmode=require",
            "postgres://ada:[redacted]@db:5432/x?sslmode=require",
        ),
        (
            "redis://:pw@cache/0 and amqp://u:p%40@mq",
            "redis://:[redacted]@cache/0 and amqp://u:[redacted]@mq",
        ),
        (
            "https://ada:p@ss@example.org/a",
            "https://ada:[redacted]@example.org/a",
        ),
        (
            "mongodb+srv://u:pw@a.example,b.example/x",
            "mongodb+srv://u:[redacted]@a.example,b.example/x",
        ),
        (
            "https://abcdef0123456789@github.com/x",
            "https://[redacted]@github.com/x",
        ),
        (
            "https://a.example/?api_key=x&q=seals",
            "https://a.example/?api_key=[redacted]&q=seals",
        ),
        (
            "https://a.example/f?se=1&sig=abc%2F&sp=r",
            "https://a.example/f?se=1&sig=[redacted]&sp=r",
        ),
        (
            "https://a.example/?q=1&token=abc#top",
            "https://a.example/?q=1&token=[redacted]#top",
        ),
        (
            "/x?X-Amz-Signature=fe5f80&X-Amz-Date=1",
            "/x?X-Amz-Signature=[redacted]&X-Amz-Date=1",
        ),
        (
            "https://maps.example/api?key=abc123def456",
            "https://maps.example/api?key=[redacted]",
        ),
    ] {
        check(found, expected);
    }
}

#[test]
fn private_keys_keep_header_and_footer() {
    for kind in ["", "RSA ", "EC ", "OPENSSH ", "ENCRYPTED "] {
        let key = format!(
            "a\n-----BEGIN {kind}PRIVATE KEY-----\nMIIEvQ\nabc+/=\n-----END {kind}PRIVATE KEY-----\nb"
        );
        check(
            &key,
            &format!(
                "a\n-----BEGIN {kind}PRIVATE KEY-----[redacted]-----END {kind}PRIVATE KEY-----\nb"
            ),
        );
    }
    check(
        "-----BEGIN PRIVATE KEY-----\\nMIIE\\nabc",
        "-----BEGIN PRIVATE KEY-----[redacted]",
    );
    // A service account of Google, as JSON.
    check(
        r#"{"type": "service_account", "private_key": "-----BEGIN PRIVATE KEY-----\nMII\n-----END PRIVATE KEY-----\n"}"#,
        r#"{"type": "service_account", "private_key": "[redacted]"}"#,
    );
    stays("-----BEGIN CERTIFICATE-----\nMIIEvQ\n-----END CERTIFICATE-----");
    stays("-----BEGIN PUBLIC KEY-----\nMIIEvQ\n-----END PUBLIC KEY-----");
}

#[test]
fn prose_hashes_and_code_stay_readable() {
    for text in [
        "",
        "The password must be changed. Password: required.",
        "What is a token? A token: a piece of text. Tokens: 120, max_tokens=4096, \"input_tokens\": 12",
        "The secret: patience.",
        "Press any key: y. The key: value pairs.",
        "Bearer of good news; bearer tokens; bearer authentication; basic authentication",
        "authorization: ask an administrator",
        "a task-1234567890 is no key, nor is sk-8, scikit sk-learn-contrib-extras or gh_actions_workflow_name",
        "disk-1234567890abcdef",
        "Löschen: sk-é, 你好: 世界",
        "12:30, a=b, x == y, std::mem::take, http://[::1]:80/, C:\\Users\\a",
        "550e8400-e29b-41d4-a716-446655440000",
        "commit b38a787d9fa4d0fa1b7bc8ab5bd7ac189cb53fb66",
        "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "run_0123456789abcdef0123456789abcdef",
        "https://example.org/a?q=seals&page=2&v=dQw4w9WgXcQ&next_page_token=abc123",
        "git@github.com:owner/name.git and mail ada@example.org, https://example.org/@ada/1",
        "https://ada@example.org/",
        "pub password: String, token: Option<Token>, api_key: &str, secret: Vec<u8>",
        "let token = lexer.next_token(); let password = read_password(path)?;",
        "apiKey: process.env.OPENAI_API_KEY, password: form.password, api_key=api_key",
        "password=${DB_PASSWORD} --token $TOKEN postgres://ada:$PASSWORD@db password: <password> api_key={{key}}",
        "token_type=bearer&grant_type=client_credentials",
        "Idempotency-Key: 7f3a9c, cache_key=user:7, public_key: abc123",
        "PWD=/home/ada OLDPWD=/tmp",
        "eyJhIjoxfQ is base64, eyJ is not",
        "password: ********",
        "Basic dXNlcg== stays, as it has no colon in it",
        "The --password option is deprecated, and so is the --token flag; --password",
        "docker run -u 1000:1000 --user $UID:$GID image; git push -u origin main; sort -u a:",
        "mysql -u root -p shop; mkdir -p a/b; ssh -p22 a; cp -pr a b; sort -uk2 a:b; rg -uuu foo:bar",
        "-verbose:gc -user:group; curl -uada x; curl -O http://a.example:80/ -o u:v; curl -sSL -X PUT a.example:80",
        "tool --password $PASSWORD --api-key <key> --secret --verbose -u ada:$PASSWORD",
    ] {
        stays(text);
    }
}
