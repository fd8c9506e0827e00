//! Schema migrations in order, for both databases.

use sqlx::migrate::{self, MigrationType, Migrator};

/// A migration: a file in each of the folders of `migrations`, which begins with its number.
struct Migration {
    file: &'static str,
    /// The oldest schema whose program works with the database after this migration; `None` if that has to know it.
    oldest_reader: Option<i64>,
    sqlite: &'static str,
    postgres: &'static str,
}

/// The databases for which a migration is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    Sqlite,
    Postgres,
}

macro_rules! migrations {
    ($($file:literal $(works_with $oldest:literal)?),+ $(,)?) => {
        const MIGRATIONS: &[Migration] = &[$(Migration {
            file: $file,
            oldest_reader: [$(Some($oldest),)? None][0],
            sqlite: include_str!(concat!("../migrations/sqlite/", $file, ".sql")),
            postgres: include_str!(concat!("../migrations/postgres/", $file, ".sql")),
        }),+];
    };
}

// A released migration never changes. Numbers may be skipped; none occurs twice.
//
// `"0070_name" works_with 68` says that a program that knows the migrations up to 68 works with the database after this
// one: it only adds tables, columns with defaults, or indexes. Without it, such a program does not start any more. The
// migrations of a release work with the release before it; see decision 0133.
migrations![
    "0001_first",
    "0002_run_inputs",
    "0003_runs_have_numbers",
    "0004_trusted_connections",
    "0005_runs_go_on",
    "0006_allowed_calls",
    "0007_past_of_files",
    "0008_agents",
    "0009_memories",
    "0010_idempotency_keys",
    "0011_leases",
    "0012_directories_of_chats",
    "0013_mcp_sign_ins",
    "0014_schedules",
    "0015_suspended_accounts",
    "0016_usage",
    "0017_webhooks",
    "0018_origins_of_runs",
    "0019_runs_that_wait",
    "0020_identities",
    "0021_seen_sessions",
    "0022_links_to_get_in",
    "0023_connection_keys",
    "0024_audit",
    "0025_second_factors",
    "0026_shared_chats",
    "0027_ended_secrets",
    "0028_groups",
    "0029_passkeys",
    "0030_knowledge",
    "0031_meanings",
    "0032_web",
    "0033_attached_files",
    "0034_graph",
    "0038_crawl_contents",
    "0039_research",
    "0040_readers_and_pictures",
    "0041_chat_search",
    "0042_order_of_chats",
    "0043_pipelines",
    "0044_answers_beside",
    "0045_aliases",
    "0046_crawls_dismissed",
    "0047_principals",
    "0048_run_workspaces",
    "0049_hook_inputs",
    "0050_connection_kinds",
    "0051_usage_parts",
    "0055_parameters_of_chats",
    "0056_queued_turns",
    "0057_temporary_chats",
    "0058_push_subscriptions",
    "0059_mcp_servers",
    "0060_roles_and_groups_of_invitations",
    "0061_readers_of_documents",
    "0062_chat_search_again",
    "0063_cited_documents",
    "0064_sources_of_documents",
    "0065_unproven_addresses",
    "0066_metadata_of_documents",
    "0067_followed_sources",
    "0068_remote_reading",
    "0069_released_runs",
    "0072_objects",
    "0073_sealed_logs",
    "0074_counted_by_all_servers",
    "0075_program_calls" works_with 74,
    "0077_log_partitions" works_with 74,
    "0078_shared_waits" works_with 74,
];

/// Migrates a database up to that number, or to the newest before it.
pub(crate) fn migrator(dialect: Dialect, until: i64) -> Migrator {
    let migrations = MIGRATIONS
        .iter()
        .map(|step| (step.number(), step))
        .filter(|(number, _)| *number <= until);
    let migrations = migrations.map(|(number, step)| {
        let sql = match dialect {
            Dialect::Sqlite => step.sqlite,
            Dialect::Postgres => step.postgres,
        };
        let sql = sqlx::SqlSafeStr::into_sql_str(sql);
        migrate::Migration::new(
            number,
            description(&step.name(), step.oldest_reader).into(),
            MigrationType::Simple,
            sql,
            false,
        )
    });
    let mut migrator = Migrator::with_migrations(migrations.collect());
    // `schema` decides about migrations that this version does not know.
    migrator.set_ignore_missing(true);
    migrator
}

const WORKS_WITH: &str = " (works with schema ";

/// What the database notes about a migration, so that older programs can read whether they work with it.
pub(crate) fn description(name: &str, oldest_reader: Option<i64>) -> String {
    match oldest_reader {
        Some(oldest) => format!("{name}{WORKS_WITH}{oldest})"),
        None => name.to_owned(),
    }
}

/// The schema that a program has to know to work with the database after the migration with this description; `None` if
/// it has to know the migration.
pub(crate) fn oldest_reader(description: &str) -> Option<i64> {
    let (_, oldest) = description.strip_suffix(')')?.rsplit_once(WORKS_WITH)?;
    oldest.parse().ok()
}

/// The numbers of all migrations.
pub(crate) fn numbers() -> impl Iterator<Item = i64> {
    MIGRATIONS.iter().map(Migration::number)
}

/// Whether this version has the migration.
pub(crate) fn is_known(number: i64) -> bool {
    numbers().any(|known| known == number)
}

/// The number of the last migration.
pub(crate) fn newest() -> i64 {
    MIGRATIONS.last().map_or(0, Migration::number)
}

impl Migration {
    fn number(&self) -> i64 {
        self.file
            .split('_')
            .next()
            .and_then(|number| number.parse().ok())
            .unwrap_or(0)
    }

    fn name(&self) -> String {
        self.file.split('_').skip(1).collect::<Vec<_>>().join(" ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn migrations_are_in_order() {
        let numbers: Vec<i64> = MIGRATIONS.iter().map(Migration::number).collect();
        assert!(
            numbers[0] == 1 && numbers.is_sorted_by(|a, b| a < b),
            "{numbers:?}"
        );
        assert_eq!(newest(), numbers[numbers.len() - 1]);
        assert_eq!(MIGRATIONS[1].name(), "run inputs");
    }

    /// A migration that works with a schema after it, or with one that never was, is a mistake.
    #[test]
    fn compatible_migrations_name_an_earlier_schema() {
        for step in MIGRATIONS {
            let oldest = step.oldest_reader;
            assert!(
                oldest.is_none_or(|oldest| oldest < step.number() && is_known(oldest)),
                "{}",
                step.file
            );
            assert_eq!(oldest_reader(&description(&step.name(), oldest)), oldest);
        }
        assert_eq!(oldest_reader("a (b) (works with schema 68)"), Some(68));
        for text in ["", "a", "a (works with schema )", "a (works with schema 68"] {
            assert_eq!(oldest_reader(text), None, "{text}");
        }
    }

    /// A file that is missing in the list would never be applied.
    #[test]
    fn every_file_is_listed() {
        for folder in ["sqlite", "postgres"] {
            let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
                .join("migrations")
                .join(folder);
            let mut files: Vec<String> = std::fs::read_dir(path)
                .unwrap()
                .map(|entry| entry.unwrap().file_name().into_string().unwrap())
                .collect();
            files.sort();
            let migrations: Vec<String> = MIGRATIONS
                .iter()
                .map(|step| format!("{}.sql", step.file))
                .collect();
            assert_eq!(files, migrations, "{folder}");
        }
    }
}
