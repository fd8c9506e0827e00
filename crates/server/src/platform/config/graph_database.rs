//! Settings of the graph database that holds a copy of the graphs.

use bolt::{Access, Address};

/// Connection settings of a graph database.
#[derive(Clone)]
pub struct GraphDatabaseSettings {
    /// Its address.
    pub address: Address,
    /// The credentials.
    pub access: Access,
}

impl std::fmt::Debug for GraphDatabaseSettings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GraphDatabaseSettings")
            .field("address", &self.address)
            .finish_non_exhaustive()
    }
}

/// Parses `knowledge.graph_url` and related settings. `None` if the URL is empty.
pub(super) fn named(
    url: &str,
    user: String,
    password: String,
    database: String,
) -> anyhow::Result<Option<GraphDatabaseSettings>> {
    if url.is_empty() {
        return Ok(None);
    }
    let address = Address::parse(url).map_err(|no| anyhow::anyhow!("knowledge.graph_url {no}"))?;
    anyhow::ensure!(
        password.is_empty() || !user.is_empty(),
        "knowledge.graph_user is missing: whom the password belongs to"
    );
    let access = Access {
        user,
        password,
        database,
    };
    Ok(Some(GraphDatabaseSettings { address, access }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_graph_database_is_named_with_what_it_needs() {
        let check = |url, user: &str, password: &str| {
            named(url, user.into(), password.into(), String::new())
                .map(|it| it.is_some())
                .map_err(|error| error.to_string())
        };
        assert_eq!(check("", "", ""), Ok(false));
        assert_eq!(check("bolt://127.0.0.1", "", ""), Ok(true));
        assert_eq!(
            check("neo4j+s://graph.example.org", "neo4j", "secret"),
            Ok(true)
        );
        assert!(
            check("http://a", "", "")
                .unwrap_err()
                .contains("knowledge.graph_url must be an address")
        );
        assert!(
            check("bolt://a", "", "secret")
                .unwrap_err()
                .contains("knowledge.graph_user is missing")
        );
    }
}
