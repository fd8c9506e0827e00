//! Names of fields, variables, headers, parameters and settings whose values are secret.

/// The kind of value after a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Name {
    /// A secret, in any format.
    Secret,
    /// A secret if it looks like one; the name has other meanings, too.
    Maybe,
    /// A header whose whole line is secret.
    Header,
    /// A scheme and a credential.
    Authorization,
    /// Nothing to hide.
    Other,
}

/// Suffixes of names, ignoring case and punctuation.
const SECRET: [&str; 28] = [
    "password",
    "passwd",
    "passphrase",
    "pwd",
    "passwort",
    "пароль",
    "apikey",
    "apitoken",
    "apisecret",
    "secretkey",
    "secretaccesskey",
    "privatekey",
    "clientsecret",
    "accesstoken",
    "refreshtoken",
    "idtoken",
    "authtoken",
    "bearertoken",
    "securitytoken",
    "accountkey",
    "sharedaccesskey",
    "sharedaccesssignature",
    "signingkey",
    "encryptionkey",
    "masterkey",
    "authkey",
    "webhooksecret",
    "amzsignature",
];
const MAYBE: [&str; 9] = [
    "token",
    "secret",
    "credential",
    "credentials",
    "accesskey",
    "googsignature",
    "dbpass",
    "sessionid",
    "sessionkey",
];
const HEADERS: [&str; 2] = ["cookie", "setcookie"];
const AUTHORIZATION: [&str; 2] = ["authorization", "proxyauthorization"];
/// Kinds of tokens that are no secrets: cursors, and units of text.
const OTHER_TOKENS: [&str; 16] = [
    "pagetoken",
    "nexttoken",
    "skiptoken",
    "synctoken",
    "cursortoken",
    "continuationtoken",
    "stoptoken",
    "eostoken",
    "bostoken",
    "padtoken",
    "septoken",
    "masktoken",
    "unktoken",
    "firsttoken",
    "lasttoken",
    "specialtoken",
];
/// Parameters of URLs that carry a secret, but have other meanings elsewhere.
const PARAMETERS: [&str; 6] = [
    "sig",
    "signature",
    "token",
    "secret",
    "auth",
    "xamzcredential",
];

impl Name {
    /// The kind of this name in JSON, a setting, a header or code.
    pub(super) fn of(name: &str) -> Self {
        let plain = plain(name);
        let ends = |ends: &[&str]| ends.iter().any(|end| plain.ends_with(end));
        if AUTHORIZATION.contains(&plain.as_str()) {
            Self::Authorization
        } else if HEADERS.contains(&plain.as_str()) {
            Self::Header
        } else if ends(&OTHER_TOKENS) {
            Self::Other
        } else if ends(&SECRET) || is_variable(name, &["_TOKEN", "_SECRET", "_PASS"]) {
            Self::Secret
        } else if ends(&MAYBE) || is_variable(name, &["_KEY"]) {
            Self::Maybe
        } else {
            Self::Other
        }
    }

    /// The kind of this name as a parameter of a URL.
    pub(super) fn of_parameter(name: &str) -> Self {
        match Self::of(name) {
            Self::Secret => Self::Secret,
            _ if PARAMETERS.contains(&plain(name).as_str()) => Self::Secret,
            known if plain(name) == "key" => known.max_maybe(),
            known => known,
        }
    }

    fn max_maybe(self) -> Self {
        if self == Self::Other {
            Self::Maybe
        } else {
            self
        }
    }
}

/// A command option with a secret argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CommandOption {
    /// The whole argument is secret, as for `--password`.
    Secret,
    /// A secret if it looks like one, as for `--token`, which occurs in prose, too.
    Maybe,
    /// A name, a colon and a password, as for `curl -u`.
    Account,
}

/// Options of curl without an argument.
const NO_ARGUMENT: &[u8] = b"aBfgGiIjJklLnNOqRsSvVZ012346#";

/// A short option with a secret argument.
struct ShortOption {
    program: &'static str,
    letter: u8,
    option: CommandOption,
    /// Whether its argument may be the next word.
    may_stand_apart: bool,
}

const SHORT_OPTIONS: [ShortOption; 5] = [
    short("curl", b'u', CommandOption::Account, true),
    short("curl", b'U', CommandOption::Account, true),
    // `mysql -p shop` names a database.
    short("mysql", b'p', CommandOption::Secret, false),
    short("mariadb", b'p', CommandOption::Secret, false),
    short("sshpass", b'p', CommandOption::Secret, true),
];

const fn short(
    program: &'static str,
    letter: u8,
    option: CommandOption,
    may_stand_apart: bool,
) -> ShortOption {
    ShortOption {
        program,
        letter,
        option,
        may_stand_apart,
    }
}

/// Whether this word is a program with such options.
pub(super) fn is_program(word: &str) -> bool {
    SHORT_OPTIONS
        .iter()
        .any(|known| word.starts_with(known.program))
}

impl CommandOption {
    /// The option in a cluster of short ones of this program, such as `-sSu` or `-uada`, and the offset of its
    /// argument: the end of the cluster if it is the next word.
    pub(super) fn of_cluster(program: &str, cluster: &str) -> Option<(Self, usize)> {
        let letters = cluster.strip_prefix('-')?;
        let at = letters
            .bytes()
            .position(|byte| !NO_ARGUMENT.contains(&byte))?;
        let is_apart = at + 1 == letters.len();
        let known = SHORT_OPTIONS.iter().find(|known| {
            known.letter == letters.as_bytes()[at]
                && program.starts_with(known.program)
                && (known.may_stand_apart || !is_apart)
        })?;
        Some((known.option, at + 2))
    }

    /// The option of this name, with its dashes.
    pub(super) fn of(option: &str) -> Option<Self> {
        if matches!(option, "-u" | "-U" | "--user" | "--proxy-user") {
            return Some(Self::Account);
        }
        let name = option.strip_prefix("--")?;
        match Name::of(name) {
            Name::Secret => Some(Self::Secret),
            Name::Maybe => Some(Self::Maybe),
            Name::Header | Name::Authorization | Name::Other => None,
        }
    }
}

/// An environment variable with one of these suffixes, such as `OPENAI_KEY`.
fn is_variable(name: &str, ends: &[&str]) -> bool {
    ends.iter().any(|end| name.ends_with(end))
        && name
            .bytes()
            .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
}

fn plain(name: &str) -> String {
    name.chars()
        .filter(|char| char.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .collect()
}

/// Words after such a name that are no secrets: in prose, types and examples.
pub(super) fn is_placeholder(value: &str) -> bool {
    const WORDS: [&str; 78] = [
        "a",
        "an",
        "and",
        "any",
        "are",
        "argument",
        "array",
        "asked",
        "be",
        "boolean",
        "box",
        "bytes",
        "can",
        "changed",
        "char",
        "cow",
        "dict",
        "empty",
        "false",
        "field",
        "fields",
        "flag",
        "for",
        "from",
        "here",
        "hidden",
        "if",
        "in",
        "incorrect",
        "input",
        "invalid",
        "is",
        "it",
        "key",
        "keys",
        "list",
        "map",
        "may",
        "min",
        "missing",
        "must",
        "never",
        "nil",
        "no",
        "none",
        "not",
        "null",
        "number",
        "object",
        "of",
        "on",
        "option",
        "optional",
        "or",
        "parameter",
        "please",
        "required",
        "reset",
        "see",
        "set",
        "str",
        "string",
        "text",
        "that",
        "the",
        "this",
        "to",
        "true",
        "type",
        "undefined",
        "unset",
        "value",
        "values",
        "varchar",
        "vec",
        "with",
        "wrong",
        "your",
    ];
    let Some(first) = value.chars().next() else {
        return true;
    };
    if "$<{%[(*&#@|".contains(first) || value.len() > 2 && value.chars().all(|char| char == first) {
        return true;
    }
    let lower = value
        .trim_end_matches(['.', ',', ';', ':', '!', '?'])
        .to_lowercase();
    // `api_key=api_key`, `secret: webhook_secret`
    let is_name = || {
        value
            .bytes()
            .all(|byte| byte.is_ascii_alphabetic() || byte == b'_')
            && Name::of(value) != Name::Other
    };
    WORDS.contains(&lower.as_str())
        || lower.starts_with("your-")
        || lower.starts_with("your_")
        || is_name()
}
