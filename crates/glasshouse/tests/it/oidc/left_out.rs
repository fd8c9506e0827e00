//! Groups that the provider leaves out of a token: they are asked for, or everything stays as it was. Never silently none.

use super::*;

const STAFF: &str = "45b7d2e7-b882-4a80-ba97-10b7a63b8fa4";
const HEADS: &str = "fee2c45b-915a-4a64-b130-f4eb9e75525e";

/// What Microsoft Entra ID sends in place of more than 200 groups, in the code flow.
fn referred() -> Value {
    json!({"_claim_names": {"groups": "src1"}, "_claim_sources": {"src1": {
        "endpoint": "https://graph.windows.net/9f4d2c1a/users/7b2e/getMemberObjects",
    }}})
}

/// Each way to say that they are left out.
fn ways() -> [Value; 4] {
    let source = referred()["_claim_sources"]["src1"].clone();
    [
        referred(),
        json!({"hasgroups": true}),
        json!({"groups:src1": source["endpoint"]}),
        // Aggregated, signed by somebody else.
        json!({"_claim_names": {"groups": "s"}, "_claim_sources": {"s": {"JWT": "eyJ.eyJ.sig"}}}),
    ]
}

/// Claims of Bob.
fn bob(more: &Value) -> Value {
    let mut claims = json!({"email": "bob@example.org", "email_verified": true, "name": "Bob"});
    claims
        .as_object_mut()
        .unwrap()
        .extend(more.as_object().unwrap().clone());
    claims
}

/// A directory like Microsoft Graph, which answers with these pages, and what it was asked.
struct Directory {
    own: String,
    pages: Arc<Mutex<Vec<(StatusCode, Value)>>>,
    asked: Arc<Mutex<Vec<String>>>,
    _running: DropGuard,
}

impl Directory {
    async fn start() -> Self {
        let pages: Arc<Mutex<Vec<(StatusCode, Value)>>> = Arc::default();
        let asked: Arc<Mutex<Vec<String>>> = Arc::default();
        let answer = {
            let (pages, asked) = (Arc::clone(&pages), Arc::clone(&asked));
            async move |request: axum::extract::Request| {
                assert_eq!(request.headers()["authorization"], "Bearer at");
                let line = format!("{} {}", request.method(), request.uri());
                asked.lock().unwrap().push(line);
                let (status, page) = pages.lock().unwrap().remove(0);
                (status, Json(page))
            }
        };
        let (address, running) = serve_other(Router::new().fallback(answer)).await;
        Self {
            own: format!("http://{address}"),
            pages,
            asked,
            _running: running,
        }
    }

    fn answers(&self, pages: &[Value]) {
        *self.pages.lock().unwrap() = pages
            .iter()
            .map(|page| (StatusCode::OK, page.clone()))
            .collect();
    }

    fn asked(&self) -> Vec<String> {
        std::mem::take(&mut *self.asked.lock().unwrap())
    }
}

/// A world in which two groups of the provider mean something, and Ada's session.
async fn world(settings: &[(&str, &str)]) -> (World, String) {
    let known = [
        ("GLASSHOUSE_OIDC_ADMIN_GROUPS", HEADS),
        ("GLASSHOUSE_OIDC_ALLOWED_GROUPS", STAFF),
    ];
    let world = World::start(&[&known[..], settings].concat()).await;
    let ada = world.server.set_up().await;
    let group = json!({"name": "Staff", "provider_name": STAFF});
    world
        .server
        .post("/api/v1/groups", &ada, &group)
        .await
        .expect(200);
    (world, ada)
}

/// Bob's role, and in how many groups he is.
async fn standing(world: &World, ada: &str) -> (Value, usize) {
    let users = world.server.get("/api/v1/users", ada).await.json();
    let users = users["users"].as_array().unwrap();
    let bob = users
        .iter()
        .find(|user| user["email"] == "bob@example.org")
        .unwrap();
    (bob["role"].clone(), bob["groups"].as_array().unwrap().len())
}

async fn last_sign_in(world: &World, ada: &str) -> Value {
    let audit = world.server.get("/api/v1/audit", ada).await.json();
    let entries = audit["entries"].as_array().unwrap().clone();
    entries
        .into_iter()
        .find(|entry| {
            entry["action"] == "session.open" && entry["actor_email"] == "bob@example.org"
        })
        .unwrap()
}

#[tokio::test]
async fn without_an_address_to_ask_the_sign_in_keeps_what_was_and_says_so() {
    let (world, ada) = world(&[]).await;
    world.says(bob(&json!({"groups": [STAFF, HEADS]})));
    let (place, _) = world.sign_in().await;
    assert_eq!(
        (place.as_str(), standing(&world, &ada).await),
        ("/c/1", (json!("admin"), 1))
    );
    assert_eq!(
        last_sign_in(&world, &ada).await["details"]["groups"],
        Value::Null
    );
    for way in ways() {
        world.says(bob(&way));
        let (place, session) = world.sign_in().await;
        assert_eq!(place, "/c/1?notice=groups_kept", "{way}");
        assert_eq!(world.me(&session).await["role"], "admin", "{way}");
        assert_eq!(standing(&world, &ada).await, (json!("admin"), 1), "{way}");
        let line = last_sign_in(&world, &ada).await;
        assert!(
            line["details"]["groups"]
                .as_str()
                .is_some_and(|text| text.contains("kept")),
            "{way}: {line}"
        );
    }
    // The user info that would have them cannot be read.
    world.says(bob(&json!({})));
    world.provider.lock().unwrap().user_info = Value::Null;
    assert_eq!(world.sign_in().await.0, "/c/1?notice=groups_kept");
    assert_eq!(standing(&world, &ada).await, (json!("admin"), 1));
    // A claim that says less ends what it no longer says.
    world.provider.lock().unwrap().user_info = json!({});
    world.says(bob(&json!({"groups": [STAFF]})));
    assert_eq!(world.sign_in().await.0, "/c/1");
    assert_eq!(standing(&world, &ada).await, (json!("user"), 1));
    world.says(bob(&json!({})));
    assert_eq!(
        world.problem().await,
        "not_allowed",
        "a claim that is simply not there means none"
    );
}

#[tokio::test]
async fn nobody_comes_in_for_the_first_time_by_groups_that_are_not_said() {
    let (world, _) = world(&[]).await;
    for way in ways() {
        world.says(bob(&way));
        assert_eq!(world.problem().await, "groups_unknown", "{way}");
    }
    // Nor does the first administrator.
    let fresh = World::start(&[("GLASSHOUSE_OIDC_ADMIN_GROUPS", HEADS)]).await;
    fresh.says(bob(&referred()));
    assert_eq!(fresh.problem().await, "groups_unknown");
    // Where everybody may come in they are nobody's administrator.
    fresh.server.set_up().await;
    let (place, session) = fresh.sign_in().await;
    assert_eq!(
        (place.as_str(), &fresh.me(&session).await["role"]),
        ("/c/1?notice=groups_kept", &json!("user"))
    );
}

#[tokio::test]
async fn groups_that_are_left_out_are_asked_for_page_by_page() {
    let directory = Directory::start().await;
    let listed = format!("{}/v1.0/me/transitiveMemberOf?$select=id", directory.own);
    let (world, ada) = world(&[("GLASSHOUSE_OIDC_GROUPS_URL", &listed)]).await;
    let many: Vec<Value> = (0..250)
        .map(|n| json!({"id": format!("other-{n}")}))
        .collect();
    let next = format!(
        "{}/v1.0/me/transitiveMemberOf?$select=id&$skiptoken=RFNwdA",
        directory.own
    );
    let pages = [
        json!({"value": many, "@odata.nextLink": next}),
        json!({"value": [{"id": STAFF}, {"id": HEADS}]}),
    ];
    for way in ways() {
        directory.answers(&pages);
        world.says(bob(&way));
        assert_eq!(world.sign_in().await.0, "/c/1", "{way}");
        assert_eq!(standing(&world, &ada).await, (json!("admin"), 1), "{way}");
        let asked = directory.asked();
        assert!(
            asked[0].starts_with("GET /v1.0/me/transitiveMemberOf")
                && asked[1].contains("skiptoken"),
            "{asked:?}"
        );
    }
    // A token that has the groups is believed, and nothing is asked.
    world.says(bob(&json!({"groups": [STAFF]})));
    world.sign_in().await;
    assert_eq!(
        (directory.asked(), standing(&world, &ada).await),
        (Vec::new(), (json!("user"), 1))
    );
    // Half a list ends nothing.
    let elsewhere = json!({"value": [], "@odata.nextLink": "http://127.0.0.1:1/steal"});
    let broken = [
        vec![json!({"error": {"code": "Authorization_RequestDenied"}})],
        vec![json!({"value": [{"displayName": "no id"}]})],
        vec![pages[0].clone(), Value::Null],
        vec![elsewhere],
    ];
    for pages in broken {
        directory.answers(&pages);
        world.says(bob(&referred()));
        assert_eq!(
            world.sign_in().await.0,
            "/c/1?notice=groups_kept",
            "{pages:?}"
        );
        assert_eq!(
            standing(&world, &ada).await,
            (json!("user"), 1),
            "{pages:?}"
        );
    }
    *directory.pages.lock().unwrap() = vec![(StatusCode::FORBIDDEN, pages[1].clone())];
    assert_eq!(world.sign_in().await.0, "/c/1?notice=groups_kept");
    // And an answer without them ends what it no longer says.
    directory.answers(&[json!({"value": []})]);
    assert_eq!(world.problem().await, "not_allowed");
}

#[tokio::test]
async fn an_action_of_microsoft_graph_is_posted_to() {
    let directory = Directory::start().await;
    let place = format!("{}/v1.0/me/getMemberObjects", directory.own);
    let (world, ada) = world(&[("GLASSHOUSE_OIDC_GROUPS_URL", &place)]).await;
    directory.answers(&[
        json!({"@odata.context": "https://graph.microsoft.com/v1.0/$metadata#Collection(Edm.String)",
        "value": [STAFF]}),
    ]);
    world.says(bob(&referred()));
    assert_eq!(world.sign_in().await.0, "/c/1");
    assert_eq!(standing(&world, &ada).await, (json!("user"), 1));
    assert_eq!(directory.asked(), ["POST /v1.0/me/getMemberObjects"]);
}
