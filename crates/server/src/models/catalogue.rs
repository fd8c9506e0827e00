//! The catalogue: every model that can be chosen, under an id of its own. Pure; built anew at each change.

use std::collections::{HashMap, HashSet};

use domain::ConnectionId;
use llm::{BaseUrl, Secret, ToolMode};
use serde::{Deserialize, Serialize};

/// The tour's id.
pub const TOUR: &str = "tour";

/// A model server we know.
#[derive(Debug, Clone)]
pub struct KnownConnection {
    /// Its id.
    pub id: ConnectionId,
    /// What people call it.
    pub name: String,
    /// Its address.
    pub base_url: BaseUrl,
    /// Its key, open.
    pub api_key: Option<Secret>,
    /// Whether it comes from the environment and so cannot be deleted here.
    pub from_environment: bool,
    /// Whether it is told who asks.
    pub trusted: bool,
    /// The models it offered when last asked.
    pub models: Vec<String>,
    /// Why it does not work, in words.
    pub problem: Option<String>,
}

/// What an administrator set for a model.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ModelSettings {
    /// How it is told about tools.
    pub tool_mode: ToolMode,
    /// 0 to 2; the server's own where `None`.
    pub temperature: Option<f32>,
    /// How much it can read.
    pub context_tokens: Option<u64>,
    /// US dollars for a million input tokens.
    pub input_usd_per_million: Option<f64>,
    /// US dollars for a million output tokens.
    pub output_usd_per_million: Option<f64>,
    /// The models to ask where its server fails, by their ids.
    pub fallbacks: Vec<String>,
}

/// A model as the API shows it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Model {
    /// What a request names it by; unique.
    pub id: String,
    /// Its name on its server.
    pub name: String,
    /// Where it lives; nowhere for the tour.
    pub connection: Option<ConnectionId>,
    /// Whether it is the scripted tour.
    pub tour: bool,
    /// What an administrator set.
    #[serde(flatten)]
    pub settings: ModelSettings,
}

/// All connections and models at one moment.
#[derive(Debug, Clone)]
pub struct Catalogue {
    /// All model servers.
    pub connections: Vec<KnownConnection>,
    /// All models, the tour last.
    pub models: Vec<Model>,
    /// The model used where none is named: the chosen one if it is there, else the first, else the tour.
    pub default_model: String,
}

impl Catalogue {
    /// Puts it together; `settings` are by model id.
    #[must_use]
    pub fn new(
        connections: Vec<KnownConnection>,
        mut settings: HashMap<String, ModelSettings>,
        chosen_default: Option<&str>,
    ) -> Self {
        let mut taken = HashSet::from([TOUR.to_owned()]);
        let mut models = Vec::new();
        for connection in &connections {
            for name in &connection.models {
                let id = free_id(&mut taken, &connection.name, name);
                let settings = settings.remove(&id).unwrap_or_default();
                let (name, connection) = (name.clone(), Some(connection.id));
                models.push(Model { id, name, connection, tour: false, settings });
            }
        }
        models.push(Model {
            id: TOUR.to_owned(),
            name: "Tour".to_owned(),
            connection: None,
            tour: true,
            settings: settings.remove(TOUR).unwrap_or_default(),
        });
        let chosen = models.iter().find(|model| Some(model.id.as_str()) == chosen_default);
        let default_model = chosen.or(models.first()).map_or(TOUR.to_owned(), |model| model.id.clone());
        Self { connections, models, default_model }
    }

    /// The model with this id.
    #[must_use]
    pub fn model(&self, id: &str) -> Option<&Model> {
        self.models.iter().find(|model| model.id == id)
    }

    /// The connection with this id.
    #[must_use]
    pub fn connection(&self, id: ConnectionId) -> Option<&KnownConnection> {
        self.connections.iter().find(|connection| connection.id == id)
    }
}

/// The model's own name; with its connection's in front, and then a number, where that is taken.
fn free_id(taken: &mut HashSet<String>, connection: &str, name: &str) -> String {
    let prefixed = format!("{connection}/{name}");
    let numbered = (2..).map(|number| format!("{prefixed}-{number}"));
    let mut ids = [name.to_owned(), prefixed.clone()].into_iter().chain(numbered);
    // The numbers never run out.
    let id = ids.find(|id| !taken.contains(id)).unwrap_or_default();
    taken.insert(id.clone());
    id
}

#[cfg(test)]
mod tests {
    use super::*;

    fn connection(name: &str, models: &[&str]) -> KnownConnection {
        KnownConnection {
            id: ConnectionId::generate(),
            name: name.to_owned(),
            base_url: BaseUrl::parse("localhost").unwrap(),
            api_key: None,
            from_environment: false,
            trusted: false,
            models: models.iter().map(|model| (*model).to_owned()).collect(),
            problem: None,
        }
    }

    fn ids(catalogue: &Catalogue) -> Vec<&str> {
        catalogue.models.iter().map(|model| model.id.as_str()).collect()
    }

    #[test]
    fn every_model_has_an_id_of_its_own() {
        let connections =
            vec![connection("A", &["m", "tour"]), connection("B", &["m", "n"]), connection("B", &["m"])];
        let catalogue = Catalogue::new(connections, HashMap::new(), None);
        assert_eq!(ids(&catalogue), ["m", "A/tour", "B/m", "n", "B/m-2", "tour"]);
        assert_eq!(catalogue.model("B/m").map(|model| model.name.as_str()), Some("m"));
    }

    #[test]
    fn the_default_is_always_there() {
        let default = |models: &[&str], chosen: Option<&str>| {
            Catalogue::new(vec![connection("A", models)], HashMap::new(), chosen).default_model
        };
        assert_eq!(default(&["m", "n"], Some("n")), "n");
        assert_eq!(default(&["m", "n"], Some("gone")), "m");
        assert_eq!(default(&["m", "n"], Some("tour")), "tour");
        assert_eq!(default(&[], Some("m")), "tour");
    }

    #[test]
    fn settings_find_their_model() {
        let settings = ModelSettings { temperature: Some(0.5), ..ModelSettings::default() };
        let settings = HashMap::from([("m".to_owned(), settings.clone()), ("gone".to_owned(), settings)]);
        let catalogue = Catalogue::new(vec![connection("A", &["m"])], settings, None);
        let shown = serde_json::to_value(&catalogue.models[0]).unwrap();
        assert_eq!(shown["temperature"], 0.5);
        assert_eq!(shown["tool_mode"], "native");
        assert_eq!(shown["context_tokens"], serde_json::Value::Null);
    }
}
