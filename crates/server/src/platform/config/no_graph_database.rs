//! Rejects a graph database in a program built without the feature `graph-database`.

/// Uninhabited, because there is no graph database.
#[derive(Debug, Clone)]
pub enum GraphDatabaseSettings {}

/// Checks that `knowledge.graph_url` is empty.
pub(super) fn named(
    url: &str,
    _user: String,
    _password: String,
    _database: String,
) -> anyhow::Result<Option<GraphDatabaseSettings>> {
    anyhow::ensure!(
        url.is_empty(),
        "knowledge.graph_url is set, but this program was built without graph databases: build it with `cargo build \
         --features glasshouse/graph-database`, or use a released package"
    );
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_graph_database_is_refused_with_the_name_of_the_feature() {
        let check = |url| named(url, String::new(), String::new(), String::new());
        assert!(check("").unwrap().is_none());
        let error = check("bolt://127.0.0.1").unwrap_err().to_string();
        assert!(
            error.contains("--features glasshouse/graph-database"),
            "{error}"
        );
    }
}
