//! Tests of merging the models of several connections.

use domain::UserId;
use llm::{BaseUrl, openai::ServerSettings};

use super::*;
use crate::identity::auth::Authority;

fn together(name: &str, models: &[&str]) -> KnownConnection {
    KnownConnection {
        together: true,
        ..connection(name, models)
    }
}

fn connection(name: &str, models: &[&str]) -> KnownConnection {
    let settings = ServerSettings {
        name: name.to_owned(),
        ..ServerSettings::alone(BaseUrl::parse("localhost").unwrap(), None)
    };
    KnownConnection {
        id: ConnectionId::generate(),
        server: Arc::new(Server::new(settings, Arc::default())),
        keys: Vec::new(),
        source: ConnectionSource::Settings,
        enabled: true,
        together: false,
        models: models
            .iter()
            .map(|model| ListedModel::named(*model))
            .collect(),
        problem: None,
    }
}

fn of_kind(kind: ProviderKind, known: KnownConnection) -> KnownConnection {
    let settings = ServerSettings {
        kind,
        ..known.server.settings.clone()
    };
    KnownConnection {
        server: Arc::new(Server::new(settings, Arc::default())),
        ..known
    }
}

fn built(
    connections: Vec<KnownConnection>,
    settings: HashMap<String, ModelSettings>,
    chosen: Option<&str>,
) -> Catalogue {
    let prices = PriceCatalogue::new(std::path::Path::new("/nowhere"));
    Catalogue::new(connections, settings, chosen, &prices)
}

fn ids(catalogue: &Catalogue) -> Vec<&str> {
    catalogue
        .models
        .iter()
        .map(|model| model.id.as_str())
        .collect()
}

#[test]
fn every_model_has_an_id_of_its_own() {
    let connections = vec![
        connection("A", &["m", "tour"]),
        connection("B", &["m", "n"]),
        connection("B", &["m"]),
    ];
    let catalogue = built(connections, HashMap::new(), None);
    assert_eq!(
        ids(&catalogue),
        ["m", "A/tour", "B/m", "n", "B/m-2", "tour"]
    );
    let inner = connection("Inner", &["glasshouse/agent", "m"]);
    let of_inner = built(vec![inner], HashMap::new(), None);
    assert_eq!(ids(&of_inner), ["Inner/glasshouse/agent", "m", "tour"]);
    assert_eq!(
        catalogue.model("B/m").map(|model| model.name.as_str()),
        Some("m")
    );
}

#[test]
fn connections_serve_a_model_together_where_both_say_so() {
    let off = KnownConnection {
        enabled: false,
        ..together("Off", &["m", "only-there"])
    };
    let connections = vec![
        connection("A", &["m"]),
        together("B", &["m", "n", "m"]),
        off,
        together("C", &["n", "m"]),
        connection("D", &["m"]),
    ];
    let b = connections[1].id;
    let c = connections[3].id;
    let catalogue = built(connections, HashMap::new(), None);
    assert_eq!(ids(&catalogue), ["m", "B/m", "n", "D/m", "tour"]);
    for id in ["B/m", "n"] {
        let model = catalogue.model(id).unwrap();
        assert_eq!(
            (model.connection, &model.connections),
            (Some(b), &vec![b, c]),
            "{id}"
        );
    }
    assert!(catalogue.pool("n").is_some() && catalogue.pool(TOUR).is_none());
}

#[test]
fn only_connections_of_one_kind_serve_a_model_together() {
    let connections = vec![
        together("A", &["m"]),
        of_kind(ProviderKind::Anthropic, together("B", &["m"])),
        together("C", &["m"]),
        of_kind(ProviderKind::Anthropic, together("D", &["m"])),
    ];
    let known: Vec<ConnectionId> = connections.iter().map(|known| known.id).collect();
    let catalogue = built(connections, HashMap::new(), None);
    assert_eq!(ids(&catalogue), ["m", "B/m", "tour"]);
    assert_eq!(
        catalogue.model("m").unwrap().connections,
        [known[0], known[2]]
    );
    assert_eq!(
        catalogue.model("B/m").unwrap().connections,
        [known[1], known[3]]
    );
}

#[test]
fn what_servers_say_holds_where_nothing_is_set() {
    let listing = |name: &str, context_tokens| KnownConnection {
        models: vec![ListedModel {
            context_tokens,
            ..ListedModel::named("m")
        }],
        ..together(name, &[])
    };
    let catalogue = |settings| {
        let connections = vec![
            listing("A", Some(8000)),
            listing("B", None),
            listing("C", Some(4000)),
        ];
        built(connections, settings, None)
    };
    // Any of the servers may answer, so the smallest context window counts.
    assert_eq!(
        catalogue(HashMap::new()).models[0].context_tokens(),
        Some(4000)
    );
    let set = ModelSettings {
        context_tokens: Some(9000),
        ..ModelSettings::default()
    };
    let set = catalogue(HashMap::from([("m".to_owned(), set)]));
    assert_eq!(set.models[0].context_tokens(), Some(9000));
    assert_eq!(set.models[0].listed.context_tokens, Some(4000));
}

#[test]
fn the_default_is_the_chosen_model_or_the_first_and_never_an_unchosen_tour() {
    let permit = Permissions::new(
        Arc::default(),
        Arc::new(Authority::of_account(UserId::generate())),
        true,
    );
    let check = |models: &[&str], chosen: Option<&str>, expected: Result<&str, Option<&str>>| {
        let catalogue = built(vec![connection("A", models)], HashMap::new(), chosen);
        let default = match catalogue.default_for(&permit) {
            Default::Model(model) => Ok(model.id.as_str()),
            Default::Missing(name) => Err(Some(name)),
            Default::None => Err(None),
        };
        assert_eq!(default, expected, "{models:?} {chosen:?}");
    };
    check(&["m", "n"], Some("n"), Ok("n"));
    check(&["m", "n"], None, Ok("m"));
    check(&["bge-m3", "n"], None, Ok("n"));
    check(&["bge-m3", "n"], Some("bge-m3"), Ok("bge-m3"));
    check(&["m", "n"], Some("tour"), Ok("tour"));
    check(&["m", "n"], Some("gone"), Err(Some("gone")));
    check(&[], Some("m"), Err(Some("m")));
    check(&[], None, Err(None));
}

#[test]
fn a_name_stands_for_a_model_unless_there_is_one_of_that_name() {
    let pairs = [("m", "n"), ("claude-*", "n")].map(|(name, id)| (name.to_owned(), id.to_owned()));
    let aliases = Aliases::new(pairs.into()).unwrap();
    let catalogue =
        built(vec![connection("A", &["m", "n"])], HashMap::new(), None).with_aliases(aliases);
    for (name, id) in [("m", "m"), ("claude-sonnet", "n"), ("other", "other")] {
        assert_eq!(catalogue.meant(name), id);
    }
}

#[test]
fn settings_find_their_model() {
    let parameters = ModelParameters {
        temperature: Some(0.5),
        ..ModelParameters::default()
    };
    let settings = ModelSettings {
        parameters,
        ..ModelSettings::default()
    };
    let settings = HashMap::from([
        ("m".to_owned(), settings.clone()),
        ("gone".to_owned(), settings),
    ]);
    let catalogue = built(vec![connection("A", &["m"])], settings, None);
    let shown = serde_json::to_value(&catalogue.models[0]).unwrap();
    assert_eq!(shown["temperature"], 0.5);
    assert_eq!(shown["tool_mode"], "native");
    assert_eq!(shown["context_tokens"], serde_json::Value::Null);
}

#[test]
fn what_a_model_does_not_take_is_known_from_its_list_its_name_and_its_settings() {
    use Parameter::{ReasoningEffort, Seed, Stop, Temperature, TopP};
    let listed = |id: &str, reasoning, unsupported: &[Parameter]| ListedModel {
        abilities: Capabilities {
            reasoning,
            unsupported_parameters: unsupported.to_vec(),
            ..Capabilities::default()
        },
        ..ListedModel::named(id)
    };
    let models = vec![
        listed("llama", Some(false), &[Stop]),
        listed("openai/gpt-5", Some(true), &[]),
        listed("set", None, &[Stop]),
    ];
    let ours = KnownConnection {
        models,
        ..connection("A", &[])
    };
    let theirs = of_kind(ProviderKind::Anthropic, connection("B", &["claude-opus-5"]));
    let set = ModelSettings {
        unsupported_parameters: Some(vec![Seed]),
        ..ModelSettings::default()
    };
    let catalogue = built(
        vec![ours, theirs],
        HashMap::from([("set".to_owned(), set)]),
        None,
    );
    let check = |id: &str, expected: &[Parameter]| {
        assert_eq!(
            catalogue.model(id).unwrap().unsupported_parameters(),
            expected,
            "{id}"
        );
    };
    check("llama", &[Stop, ReasoningEffort]);
    check("openai/gpt-5", &[Temperature, TopP]);
    check("set", &[Seed]);
    check("claude-opus-5", &[Temperature, TopP, Seed]);
}
