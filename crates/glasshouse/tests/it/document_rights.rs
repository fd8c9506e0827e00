//! Readers by surfaces: who finds which documents of a collection, at each place that shows some of them.

use std::collections::{BTreeMap, BTreeSet};

use domain::{DocumentId, UserId};
use scripted::{Behaviour, Reply, Request, ScriptedServer};
use serde_json::{Value, json};
use server::identity::api_key::{KeyName, create_key};
use store::{DocumentMetadata, DocumentReaders, MetadataOrigin, MetadataValue, NewUser, UserRole};

use crate::{
    graph::begin_with,
    harness::{Answer, PASSWORD, Server},
    knowledge::KNOWLEDGE,
    mcp,
    openai::ask,
    runs::events,
};

/// The documents, each by a word in its name, its text and its part of the graph.
const OPEN: &str = "quokka";
const PERSON: &str = "numbat";
const GROUP: &str = "dibbler";
const DOMAIN: &str = "potoroo";
const NOBODY: &str = "bilby";
const ALL: [&str; 5] = [NOBODY, GROUP, PERSON, DOMAIN, OPEN];

/// What a document says, apart from its words for the graph.
const SAID: &str = "the walrus met";

fn said_in(document: &str) -> String {
    format!("In the harbour {SAID} the {document} today.")
}

/// Extracts the graph, uses the tool that the message asks for, and plays the parts of research.
fn model(request: &Request) -> Reply {
    let messages = request.body["messages"].as_array().unwrap();
    let text = |message: &Value| match &message["content"] {
        Value::String(text) => text.clone(),
        content => content.to_string(),
    };
    let first = text(&messages[0]);
    let all = request.body["messages"].to_string();
    if first.starts_with("You read a part of a document") {
        let last = text(messages.last().unwrap());
        let is_said = |document: &&&str| last.contains(&said_in(document));
        let document = ALL.iter().find(is_said).unwrap();
        let entity =
            |name: &str| json!({"name": name, "kind": "other", "quote": said_in(document)});
        let relation = json!({"source": "walrus", "relation": "met", "target": document, "quote": said_in(document)});
        let part =
            json!({"entities": [entity("walrus"), entity(document)], "relations": [relation]});
        return Reply::text(&part.to_string());
    }
    if all.contains("Research the walrus") {
        let part = if first.starts_with("You write a research report") {
            return Reply::text("Nothing is known.");
        } else if first.starts_with("You take notes") {
            json!({"notes": []})
        } else if all.contains("Plan the research") {
            json!({"plan": ["Whom it met"], "question": ""})
        } else {
            json!({"done": false, "queries": ["walrus"]})
        };
        return Reply::text(&part.to_string());
    }
    if messages.last().unwrap()["role"] == "tool" {
        return Reply::text("Done.");
    }
    for (words, tool, arguments) in [
        ("Search now", "search_knowledge", json!({"query": "walrus"})),
        (
            "Search slides",
            "search_knowledge",
            json!({"query": "walrus", "types": "pptx"}),
        ),
        (
            "Search texts",
            "search_knowledge",
            json!({"query": "walrus", "types": "txt"}),
        ),
        (
            "Find all",
            "knowledge_graph",
            json!({"action": "find", "name": "b"}),
        ),
        (
            "Walk along",
            "knowledge_graph",
            json!({"action": "neighbours", "name": "walrus"}),
        ),
        (
            "Find a way",
            "knowledge_graph",
            json!({"action": "path", "name": OPEN, "to": NOBODY}),
        ),
    ] {
        if all.contains(words) {
            return Reply::calls(&[(tool, arguments)]);
        }
    }
    Reply::text("Well.")
}

/// A person, by a key of theirs.
struct Reader {
    name: &'static str,
    key: String,
    /// The documents that they may read.
    expected: &'static [&'static str],
    reads_collection: bool,
}

struct World {
    upstream: ScriptedServer,
    server: Server,
    ada: String,
    work: String,
    documents: BTreeMap<&'static str, String>,
    entities: BTreeMap<String, String>,
}

async fn key(server: &Server, email: &str, role: UserRole) -> String {
    let new = NewUser {
        id: UserId::generate(),
        email: email.to_owned(),
        name: "Somebody".to_owned(),
        role,
        password_hash: "x".to_owned(),
        created_at: 1,
    };
    let user = server.app.store.create_user(&new).await.unwrap();
    let name = KeyName::parse("test").unwrap();
    let created = create_key(&server.app.store, user.id, name, 1).await;
    created.unwrap().1.reveal().to_owned()
}

/// The session of somebody who has created the account themselves.
async fn sign_up(server: &Server, admin: &str, email: &str) -> String {
    let setting = "/api/v1/settings/sign-up";
    let mode = server.put(setting, admin, &json!({"mode": "open"})).await;
    mode.expect(204);
    let person = json!({"email": email, "name": "Somebody", "password": PASSWORD});
    server
        .post("/api/v1/sign-up", "", &person)
        .await
        .expect(204);
    let login = json!({"email": email, "password": PASSWORD});
    let login = server.post("/api/v1/login", "", &login).await;
    login.expect(200);
    login.cookie()
}

fn readers(document: &str) -> Option<DocumentReaders> {
    let one = |name: &str| BTreeSet::from([name.to_owned()]);
    let mut readers = DocumentReaders::default();
    match document {
        OPEN => return None,
        PERSON => {
            readers.people = BTreeSet::from([
                "named@partner.example".to_owned(),
                "unproven@partner.example".to_owned(),
            ]);
        }
        GROUP => readers.groups = one("Sales"),
        DOMAIN => readers.domains = one("corp.example"),
        _ => {}
    }
    Some(readers)
}

impl World {
    async fn make() -> Self {
        let (upstream, server, ada, work) = begin_with(Behaviour::answer(model), &[]).await;
        let mut documents = BTreeMap::new();
        for name in ALL {
            let file = format!("{name}.txt");
            let text = said_in(name);
            let read = server.read_file(&ada, &work, &file, text.as_bytes());
            let id = read.await["id"].as_str().unwrap().to_owned();
            documents.insert(name, id);
        }
        server.switch_graph(&ada, &work, true).await.expect(204);
        server.graphed(&ada, &work).await;
        let listed = server.graph(&ada, &work, "/entities").await;
        let entities = listed["entities"].as_array().unwrap().iter();
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let entities = entities.map(|it| (text(&it["name"]), text(&it["id"])));
        let world = Self {
            entities: entities.collect(),
            upstream,
            server,
            ada,
            work,
            documents,
        };
        for name in ALL {
            world.restrict(name, readers(name)).await;
            let metadata = DocumentMetadata {
                tags: vec![name.to_owned()],
                fields: [(
                    format!("of {name}"),
                    vec![MetadataValue::Text(name.to_owned())],
                )]
                .into(),
            };
            let store = &world.server.app.store;
            let set = store.set_metadata(world.document(name), MetadataOrigin::Person, &metadata);
            set.await.unwrap();
        }
        world
    }

    fn document(&self, name: &str) -> DocumentId {
        self.documents[name].parse().unwrap()
    }

    async fn restrict(&self, name: &str, readers: Option<DocumentReaders>) {
        let store = &self.server.app.store;
        let restricted = store.restrict_document(self.document(name), readers.as_ref());
        restricted.await.unwrap();
    }

    async fn readers(&self) -> Vec<Reader> {
        let server = &self.server;
        let mut readers = Vec::new();
        let mut add = |name, key, expected| {
            readers.push(Reader {
                name,
                key,
                expected,
                reads_collection: true,
            });
        };
        let plain = async |email| key(server, email, UserRole::User).await;
        add("owner", self.ada.clone(), &ALL[..]);
        add(
            "named",
            plain("Named@Partner.example").await,
            &[OPEN, PERSON],
        );
        add(
            "member",
            plain("member@other.example").await,
            &[OPEN, GROUP],
        );
        add("colleague", plain("c@corp.example").await, &[OPEN, DOMAIN]);
        add("alike", plain("c@evilcorp.example").await, &[OPEN]);
        add("other", plain("other@other.example").await, &[OPEN]);
        let admin = key(server, "admin@other.example", UserRole::Admin).await;
        add("administrator", admin, &[OPEN]);
        let unproven = sign_up(server, &self.ada, "unproven@partner.example").await;
        add("unproven", unproven, &[OPEN]);
        readers.push(Reader {
            name: "stranger",
            key: plain("stranger@corp.example").await,
            expected: &[],
            reads_collection: false,
        });
        let group = server
            .post("/api/v1/groups", &self.ada, &json!({"name": "sales"}))
            .await;
        let path = format!(
            "/api/v1/groups/{}/members",
            group.json()["id"].as_str().unwrap()
        );
        let members = json!({"users": ["member@other.example"]});
        server.post(&path, &self.ada, &members).await.expect(204);
        let people: Vec<&str> = vec![
            "named@partner.example",
            "member@other.example",
            "c@corp.example",
            "c@evilcorp.example",
            "other@other.example",
            "admin@other.example",
            "unproven@partner.example",
        ];
        let sharing = json!({"open": false, "groups": [], "people": people});
        let path = format!("{KNOWLEDGE}/{}/sharing", self.work);
        server.put(&path, &self.ada, &sharing).await.expect(204);
        readers
    }

    /// What each surface shows to somebody, as text.
    async fn surfaces(&self, who: &str, reads_collection: bool) -> Vec<(&'static str, String)> {
        let mut shown = self.pages(who).await;
        shown.extend(self.searches(who).await);
        shown.extend(self.graph(who).await);
        if reads_collection {
            shown.extend(self.agents(who).await);
            shown.extend(self.messages(who).await);
        }
        shown
    }

    async fn pages(&self, who: &str) -> Vec<(&'static str, String)> {
        let at = format!("{KNOWLEDGE}/{}/documents", self.work);
        let (mut texts, mut files) = (String::new(), String::new());
        for id in self.documents.values() {
            texts += &self.found(who, &format!("{at}/{id}")).await;
            files += &self.found(who, &format!("{at}/{id}/file")).await;
        }
        vec![
            ("list", self.found(who, &at).await),
            (
                "list by tags",
                self.found(who, &format!("{at}?any_tags={}", ALL.join(",")))
                    .await,
            ),
            (
                "known tags",
                self.found(who, &format!("{KNOWLEDGE}/metadata")).await,
            ),
            ("texts", texts),
            ("files", files),
            ("export", self.found(who, "/api/v1/me/export").await),
        ]
    }

    /// The answer; empty if there is nothing. What may not be read looks like what does not exist.
    async fn found(&self, who: &str, path: &str) -> String {
        let answer = self.server.get(path, who).await;
        if answer.status != 404 {
            answer.expect(200);
            return answer.text;
        }
        let mut missing = path.to_owned();
        for (known, unknown) in self
            .documents
            .values()
            .map(|id| (id, DocumentId::generate().to_string()))
        {
            missing = missing.replace(known, &unknown);
        }
        for (known, unknown) in self
            .entities
            .values()
            .map(|id| (id, domain::EntityId::generate().to_string()))
        {
            missing = missing.replace(known, &unknown);
        }
        let message = |answer: &Answer| answer.json()["error"]["message"].clone();
        let missing = self.server.get(&missing, who).await;
        assert_eq!(missing.status, 404);
        assert_eq!(message(&answer), message(&missing), "{path}");
        String::new()
    }

    async fn searches(&self, who: &str) -> Vec<(&'static str, String)> {
        let mut shown = Vec::new();
        for (surface, body) in [
            ("search", json!({"query": "walrus"})),
            (
                "search of types",
                json!({"query": "walrus", "types": ["txt"]}),
            ),
            ("search of names", json!({"query": "walrus", "name": "b"})),
            (
                "search of tags",
                json!({"query": "walrus", "any_tags": ALL}),
            ),
        ] {
            let path = format!("{KNOWLEDGE}/search");
            let answer = self.server.post(&path, who, &body).await;
            answer.expect(200);
            shown.push((surface, answer.text));
        }
        if who.starts_with("gh_") {
            let (_, session) = mcp::begin(&self.server, who).await;
            let call = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {
                "name": "search_knowledge", "arguments": {"query": "walrus"},
            }});
            let call = mcp::message(&self.server, who, &call);
            let answer = Answer::of(call.header("mcp-session-id", session)).await;
            shown.push(("mcp", answer.text));
        }
        shown
    }

    async fn graph(&self, who: &str) -> Vec<(&'static str, String)> {
        let at = format!("{KNOWLEDGE}/{}/graph", self.work);
        let walrus = &self.entities["walrus"];
        let mut shown = Vec::new();
        for (surface, path) in [
            ("graph", String::new()),
            ("entities", "/entities".to_owned()),
            ("quotes", format!("/entities/{walrus}")),
            ("neighbours", format!("/neighbours?entity={walrus}&depth=3")),
            ("subgraph", "/subgraph".to_owned()),
        ] {
            shown.push((surface, self.found(who, &format!("{at}{path}")).await));
        }
        let (mut entities, mut paths) = (String::new(), String::new());
        for name in ALL {
            let id = &self.entities[name];
            entities += &self.found(who, &format!("{at}/entities/{id}")).await;
            let path = format!("{at}/path?from={walrus}&to={id}");
            paths += &self.found(who, &path).await;
        }
        shown.extend([("single entities", entities), ("paths", paths)]);
        shown
    }

    /// What models have heard from agents' tools.
    async fn agents(&self, who: &str) -> Vec<(&'static str, String)> {
        let mut shown = Vec::new();
        for (surface, model, words) in [
            ("search_knowledge", "glasshouse/agent", "Search now"),
            (
                "search of texts by agents",
                "glasshouse/agent",
                "Search texts",
            ),
            ("names for agents", "glasshouse/agent", "Search slides"),
            ("knowledge_graph", "glasshouse/agent", "Walk along"),
            ("research", "glasshouse/research", "Research the walrus"),
        ] {
            let heard = async || {
                let body = ask(model, words);
                let asked = self.server.post("/v1/chat/completions", who, &body);
                asked.await.expect(200);
            };
            shown.push((surface, self.heard(heard).await));
        }
        shown
    }

    /// What models have heard of what messages refer to.
    async fn messages(&self, who: &str) -> Vec<(&'static str, String)> {
        let collection = json!({"type": "collection", "collection": self.work, "name": "?"});
        let whole = self
            .heard(async || assert_eq!(self.say(who, &collection).await, 200))
            .await;
        let mut single = String::new();
        for id in self.documents.values() {
            let document =
                json!({"type": "document", "collection": self.work, "document": id, "name": "?"});
            single += &self
                .heard(async || {
                    let status = self.say(who, &document).await;
                    assert!([200, 404].contains(&status), "{status}");
                })
                .await;
        }
        vec![
            ("collection in a message", whole),
            ("documents in messages", single),
        ]
    }

    /// Sends a message about the walrus in a new chat, and waits for the answer. Returns the status.
    async fn say(&self, who: &str, part: &Value) -> u16 {
        let chat = self.server.post("/api/v1/chats", who, &json!({})).await;
        let chat = chat.json()["id"].as_str().unwrap().to_owned();
        self.say_in(
            who,
            &chat,
            json!([part, {"type": "text", "text": "the walrus"}]),
        )
        .await
    }

    async fn say_in(&self, who: &str, chat: &str, content: Value) -> u16 {
        let body = json!({"content": content, "model": "scripted"});
        let path = format!("/api/v1/chats/{chat}/messages");
        let said = self.server.post(&path, who, &body).await;
        if said.status == 200 {
            let path = format!("/runs/{}/events", said.json()["run"].as_str().unwrap());
            events(&self.server, who, &path).await.rest().await;
        }
        said.status.as_u16()
    }

    /// All that models are asked meanwhile.
    async fn heard(&self, does: impl AsyncFnOnce()) -> String {
        let before = self.upstream.requests().len();
        does().await;
        let requests = self.upstream.requests();
        requests[before..].iter().map(Value::to_string).collect()
    }
}

/// The documents of which a text shows something.
fn shown_in(text: &str) -> BTreeSet<&'static str> {
    let lower = text.to_lowercase();
    ALL.into_iter()
        .filter(|name| lower.contains(name))
        .collect()
}

#[tokio::test]
async fn each_reader_finds_the_same_documents_on_every_surface() {
    let world = World::make().await;
    for Reader {
        name,
        key,
        expected,
        reads_collection,
    } in world.readers().await
    {
        let expected: BTreeSet<&str> = expected.iter().copied().collect();
        for (surface, text) in world.surfaces(&key, reads_collection).await {
            let expected = match surface {
                // Of what is theirs.
                "export" if name != "owner" => BTreeSet::new(),
                "search of names" => expected
                    .iter()
                    .copied()
                    .filter(|it| it.contains('b'))
                    .collect(),
                _ => expected.clone(),
            };
            assert_eq!(shown_in(&text), expected, "{name}: {surface}: {text}");
        }
        let listed = world.server.get(KNOWLEDGE, &key).await.json();
        let listed = listed["collections"].as_array().unwrap().iter();
        let counts: Vec<&Value> = listed.map(|one| &one["documents"]).collect();
        let count = json!(expected.len());
        match reads_collection {
            true => assert_eq!(counts, [&count], "{name}"),
            false => assert!(counts.is_empty(), "{name}"),
        }
    }
}

#[tokio::test]
async fn graphs_do_not_lead_agents_to_hidden_documents() {
    let world = World::make().await;
    let readers = world.readers().await;
    let other = readers
        .iter()
        .find(|reader| reader.name == "other")
        .unwrap();
    for (words, who, expected) in [
        ("Find all", &other.key, &[][..]),
        ("Find all", &world.ada, &[NOBODY, GROUP, PERSON]),
        ("Find a way", &other.key, &[OPEN]),
        ("Find a way", &world.ada, &[NOBODY, OPEN]),
    ] {
        let asking = async || {
            let body = ask("glasshouse/agent", words);
            let asked = world.server.post("/v1/chat/completions", who, &body);
            asked.await.expect(200);
        };
        world.heard(asking).await;
        let requests = world.upstream.requests();
        let answers = requests.last().unwrap()["messages"].as_array().unwrap();
        let answer = answers.iter().rfind(|it| it["role"] == "tool").unwrap();
        let expected: BTreeSet<&str> = expected.iter().copied().collect();
        let shown = shown_in(&answer["content"].to_string());
        match words {
            // The way from an open thing to a hidden one does not exist.
            "Find a way" if who == &other.key => assert_eq!(shown, BTreeSet::new(), "{answer}"),
            _ => assert_eq!(shown, expected, "{answer}"),
        }
    }
}

#[tokio::test]
async fn rights_are_checked_in_every_turn() {
    let world = World::make().await;
    let readers = world.readers().await;
    let other = &readers.iter().find(|it| it.name == "other").unwrap().key;
    let chat = world.server.post("/api/v1/chats", other, &json!({})).await;
    let chat = chat.json()["id"].as_str().unwrap().to_owned();
    let part = json!({"type": "document", "collection": world.work, "document": world.documents[OPEN], "name": "?"});
    let content = json!([part, {"type": "text", "text": "Whom did it meet?"}]);
    let heard = world
        .heard(async || assert_eq!(world.say_in(other, &chat, content).await, 200))
        .await;
    assert!(heard.contains(SAID), "{heard}");
    world.restrict(OPEN, Some(DocumentReaders::default())).await;
    let heard = world
        .heard(async || {
            let again = json!([{"type": "text", "text": "And then?"}]);
            assert_eq!(world.say_in(other, &chat, again).await, 200);
        })
        .await;
    assert!(!heard.contains(SAID), "{heard}");
    // With nothing left to search, there is nothing to find.
    let found = world.server.find(other, "walrus").await;
    assert!(found.is_empty(), "{found:?}");
    world.restrict(OPEN, None).await;
    assert_eq!(world.server.find(other, "walrus").await.len(), 1);
}

#[tokio::test]
async fn names_of_one_thing_do_not_reveal_hidden_ones() {
    let world = World::make().await;
    let readers = world.readers().await;
    let other = &readers.iter().find(|it| it.name == "other").unwrap().key;
    let at = format!("{KNOWLEDGE}/{}/graph/aliases", world.work);
    let merge = json!({"entity": world.entities[NOBODY], "alias": world.entities[OPEN]});
    let merged = world.server.post(&at, &world.ada, &merge).await;
    merged.expect(204);
    let mine = world.found(&world.ada, &at).await;
    assert_eq!(shown_in(&mine), BTreeSet::from([NOBODY, OPEN]), "{mine}");
    assert_eq!(shown_in(&world.found(other, &at).await), BTreeSet::new());
    for (surface, text) in world.graph(other).await {
        assert_eq!(shown_in(&text), BTreeSet::from([OPEN]), "{surface}: {text}");
    }
}

#[tokio::test]
async fn the_owner_alone_changes_restricted_documents() {
    let world = World::make().await;
    let readers = world.readers().await;
    let named = &readers.iter().find(|it| it.name == "named").unwrap().key;
    for name in [PERSON, NOBODY] {
        let at = format!(
            "{KNOWLEDGE}/{}/documents/{}",
            world.work, world.documents[name]
        );
        world.server.delete(&at, named).await.expect(404);
        for action in ["retry", "cancel"] {
            let path = format!("{at}/{action}");
            world
                .server
                .post(&path, named, &json!({}))
                .await
                .expect(404);
        }
    }
    let collection = world.work.parse().unwrap();
    let all = world.server.app.store.documents(collection).await.unwrap();
    assert_eq!(all.len(), ALL.len());
}
