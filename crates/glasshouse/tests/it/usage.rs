//! The ledger of what is used, and limits on it, at every door.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use futures_util::future::join_all;
use reqwest::Method;
use scripted::{Behaviour, Reply, Step};
use serde_json::{Value, json};

use crate::{
    faults::until,
    harness::{Answer, Server},
    openai::{CHAT, Door, ask, connect, finish, streaming, text},
    restart::{Kept, stop},
};

/// 30 tokens a call.
fn counted() -> Behaviour {
    let usage = Step::Usage {
        input_tokens: 10,
        output_tokens: 20,
    };
    Behaviour::always(Reply::stream(&[text("Hello"), usage, finish()]))
}

async fn limit(door: &Door, of: Value, limits: Value) {
    let body = json!({"of": of, "limits": limits});
    door.server
        .put("/api/v1/limits", &door.cookie, &body)
        .await
        .expect(204);
}

async fn usage(door: &Door, credential: &str, query: &str) -> Value {
    let answer = door
        .server
        .get(&format!("/api/v1/usage?{query}"), credential)
        .await;
    answer.expect(200);
    answer.json()
}

fn header<'a>(answer: &'a Answer, name: &str) -> &'a str {
    answer
        .headers
        .get(name)
        .map_or("", |value| value.to_str().unwrap())
}

#[tokio::test]
async fn every_call_is_counted_once() {
    let door = Door::open(counted()).await;
    let price = json!({"input_usd_per_million": 1.0, "output_usd_per_million": 2.0});
    door.server
        .put("/api/v1/models/scripted", &door.cookie, &price)
        .await
        .expect(200);
    door.stream(&streaming("scripted", "Hi")).await;
    door.stream(&streaming("glasshouse/agent", "Hi")).await;
    door.server
        .post(CHAT, &door.cookie, &ask("glasshouse/agent", "Hi"))
        .await
        .expect(200);
    let all = usage(&door, &door.cookie, "by=model").await;
    assert_eq!(all["rows"][0]["name"], "scripted");
    let total = json!({
        "requests": 3, "input_tokens": 30, "output_tokens": 60, "cost_micro_usd": 150, "cached_tokens": 0,
        "cache_write_tokens": 0, "reasoning_tokens": 0, "unpriced_requests": 0, "estimated_requests": 0,
    });
    assert_eq!(all["total"], total);
    let users = usage(&door, &door.cookie, "by=user").await;
    assert_eq!(users["rows"][0]["label"], "bob@example.org");
    assert_eq!(users["rows"][0]["requests"], 2);
    // Others see their own, whatever they ask for.
    let own = usage(&door, &door.key, "by=user").await;
    assert_eq!(
        (
            &own["total"]["requests"],
            own["rows"].as_array().unwrap().len()
        ),
        (&json!(2), 1)
    );
    let refused = door.server.get("/api/v1/usage?of=all", &door.key).await;
    assert_eq!(refused.expect(403), "forbidden");
    let days = usage(&door, &door.cookie, "by=day&from=2027-01-15&to=2027-01-15").await;
    assert_eq!(days["rows"][0]["name"], "2027-01-15");
    let csv = door
        .server
        .get("/api/v1/usage?by=model&format=csv", &door.cookie)
        .await;
    assert_eq!(header(&csv, "content-type"), "text/csv; charset=utf-8");
    assert!(
        csv.text
            .ends_with("\"scripted\",\"\",3,30,60,0.000150,0,0,0,0,0\r\n"),
        "{}",
        csv.text
    );
    for bad in [
        "by=owner",
        "from=yesterday",
        "from=2027-01-02&to=2027-01-01",
        "format=xml",
        "of=bob",
    ] {
        door.server
            .get(&format!("/api/v1/usage?{bad}"), &door.cookie)
            .await
            .expect(400);
    }
}

/// 10,000 tokens, 9,000 of them from the cache, as DeepSeek counts them.
fn cached() -> Behaviour {
    let usage = json!({
        "choices": [],
        "usage": {"prompt_tokens": 10_000, "completion_tokens": 0, "prompt_cache_hit_tokens": 9_000},
    });
    Behaviour::always(Reply::stream(&[
        text("Hello"),
        Step::Event {
            data: usage.to_string(),
        },
        finish(),
    ]))
}

#[tokio::test]
async fn cached_tokens_cost_their_own_price() {
    let door = Door::open(cached()).await;
    let passed = door.stream(&streaming("scripted", "Hi")).await;
    assert!(
        !format!("{passed:?}").contains("cost"),
        "nobody knows the price: {passed:?}"
    );
    let unknown = usage(&door, &door.cookie, "by=model").await;
    assert_eq!(unknown["total"]["cost_micro_usd"], Value::Null);
    assert_eq!(unknown["total"]["unpriced_requests"], 1);
    let price = json!({"input_usd_per_million": 3, "cached_input_usd_per_million": 0.3});
    let model = door
        .server
        .put("/api/v1/models/scripted", &door.cookie, &price)
        .await;
    model.expect(200);
    assert_eq!(model.json()["price"]["source"], "settings");
    let passed = door.stream(&streaming("scripted", "Hi")).await;
    assert!(format!("{passed:?}").contains("0.0057"), "{passed:?}");
    let known = usage(&door, &door.cookie, "by=model").await;
    assert_eq!(known["total"]["cost_micro_usd"], 5_700);
    assert_eq!(known["total"]["cached_tokens"], 18_000);
}

#[tokio::test]
async fn a_provider_that_says_its_price_is_believed() {
    let said = json!({"choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 1, "cost": 0.0042}});
    let said = Step::Event {
        data: said.to_string(),
    };
    let door = Door::open(Behaviour::always(Reply::stream(&[
        text("Hello"),
        said,
        finish(),
    ])))
    .await;
    door.stream(&streaming("scripted", "Hi")).await;
    let known = usage(&door, &door.cookie, "by=model").await;
    assert_eq!(known["total"]["cost_micro_usd"], 4_200);
    assert_eq!(known["total"]["unpriced_requests"], 0);
}

#[tokio::test]
async fn what_nobody_counted_is_marked_as_an_estimate() {
    let door = Door::open(Behaviour::always(Reply::stream(&[text("Hello"), finish()]))).await;
    door.stream(&streaming("scripted", "Hi")).await;
    let known = usage(&door, &door.cookie, "by=model").await;
    assert_eq!(known["total"]["estimated_requests"], 1);
}

#[tokio::test]
async fn whoever_leaves_a_passed_stream_pays_for_what_came() {
    let door = Door::open(Behaviour::always(Reply::stream(&[
        text("a"),
        text("b"),
        Step::Silence,
    ])))
    .await;
    let request = door
        .server
        .request(Method::POST, CHAT, &door.key)
        .json(&streaming("scripted", "Hi"));
    let mut response = request.send().await.unwrap();
    let mut came = 0;
    while came < 2 {
        let chunk = String::from_utf8(response.chunk().await.unwrap().unwrap().to_vec()).unwrap();
        came += [r#""content":"a""#, r#""content":"b""#]
            .iter()
            .filter(|text| chunk.contains(**text))
            .count();
    }
    drop(response);
    door.upstream.until_open_requests(0).await;
    let found =
        async || usage(&door, &door.cookie, "by=day").await["total"]["output_tokens"].as_u64();
    let mut tries = 0;
    while found().await != Some(came as u64) {
        tries += 1;
        assert!(tries < 500, "{:?} of {came}", found().await);
        tokio::task::yield_now().await;
    }
}

/// The run of our agent ends with whoever waits for it, and so does the model call in it.
#[tokio::test]
async fn whoever_leaves_an_agent_in_the_middle_of_its_answer_pays_for_what_came() {
    let door = Door::open(Behaviour::always(Reply::stream(&[
        text("abcdefgh"),
        Step::Silence,
    ])))
    .await;
    let request = door.server.request(Method::POST, CHAT, &door.key);
    let mut response = request
        .json(&streaming("glasshouse/agent", "Hi"))
        .send()
        .await
        .unwrap();
    let mut came = String::new();
    while !came.contains("abcdefgh") {
        came.push_str(&String::from_utf8_lossy(
            &response.chunk().await.unwrap().unwrap(),
        ));
    }
    drop(response);
    door.upstream.until_open_requests(0).await;
    let mut total = json!(null);
    let mut tries = 0;
    while total["estimated_requests"] != 1 {
        total = usage(&door, &door.cookie, "by=day").await["total"].clone();
        tries += 1;
        assert!(tries < 500, "{total}");
        tokio::task::yield_now().await;
    }
    assert_eq!(total["output_tokens"], 2);
    assert!(total["input_tokens"].as_u64() > Some(100), "{total}");
}

/// Titles, suggestions and the like are model calls, too.
#[tokio::test]
async fn a_task_whose_answer_breaks_off_is_booked() {
    let error = Step::Error {
        message: "Out of memory.".to_owned(),
    };
    let door = Door::open(Behaviour::always(Reply::stream(&[text("abcdefgh"), error]))).await;
    let request = ask("glasshouse/agent", "Write a title.");
    let request = door
        .server
        .request(Method::POST, CHAT, &door.key)
        .json(&request);
    let answer = request
        .header("x-openwebui-task", "title_generation")
        .send()
        .await
        .unwrap();
    assert!(!answer.status().is_success(), "{answer:?}");
    let total = usage(&door, &door.cookie, "by=day").await["total"].clone();
    assert_eq!(
        (&total["output_tokens"], &total["estimated_requests"]),
        (&json!(2), &json!(1)),
        "{total}"
    );
}

#[tokio::test]
async fn a_limit_on_requests_is_told_in_every_answer() {
    let door = Door::open(counted()).await;
    limit(&door, json!("default"), json!({"minute": {"requests": 2}})).await;
    let first = door.post(&ask("scripted", "Hi")).await;
    first.expect(200);
    assert_eq!(header(&first, "x-ratelimit-limit-requests"), "2");
    assert_eq!(header(&first, "x-ratelimit-remaining-requests"), "1");
    assert!(
        header(&first, "x-ratelimit-reset-requests").ends_with('s'),
        "{first:?}"
    );
    assert_eq!(header(&first, "x-ratelimit-limit-tokens"), "");
    door.post(&ask("scripted", "Hi")).await.expect(200);
    let over = door.post(&ask("scripted", "Hi")).await;
    assert_eq!(over.expect(429), "rate_limited");
    assert_eq!(over.json()["error"]["type"], "rate_limit_error");
    let wait: u64 = header(&over, "retry-after").parse().unwrap();
    assert!((1..=60).contains(&wait), "{wait}");
    assert_eq!(header(&over, "x-ratelimit-remaining-requests"), "0");
    assert_eq!(door.upstream.requests().len(), 2);
    let models = door.server.get("/v1/models", &door.key).await;
    assert_eq!(header(&models, "x-ratelimit-remaining-requests"), "0");
    // Whoever has none used may go on, and everybody in the next minute.
    door.server
        .post(CHAT, &door.cookie, &ask("scripted", "Hi"))
        .await
        .expect(200);
    door.server.clock.advance_ms(60_000);
    door.post(&ask("scripted", "Hi")).await.expect(200);
}

#[tokio::test]
async fn a_limit_holds_at_every_door() {
    let door = Door::open(counted()).await;
    limit(
        &door,
        json!({"user": "bob@example.org"}),
        json!({"day": {"tokens": 30}}),
    )
    .await;
    door.stream(&streaming("scripted", "Hi")).await;
    let messages = json!([{"role": "user", "content": "Hi"}]);
    let chat = door
        .server
        .post("/api/v1/chats", &door.key, &json!({}))
        .await
        .json();
    let send = format!(
        "/api/v1/chats/{}/messages",
        chat["id"].as_str().or(chat["chat"]["id"].as_str()).unwrap()
    );
    for (path, body) in [
        (CHAT, ask("scripted", "Hi")),
        (CHAT, ask("glasshouse/agent", "Hi")),
        ("/v1/responses", json!({"model": "scripted", "input": "Hi"})),
        (
            "/v1/embeddings",
            json!({"model": "scripted", "input": "Hi"}),
        ),
        ("/chat/stream", json!({"messages": messages})),
        ("/api/chat", json!({"message": "Hi"})),
        (
            "/ag-ui",
            json!({"threadId": "t", "runId": "r", "messages": [
            {"id": "1", "role": "user", "content": "Hi"}
        ], "tools": [], "context": [], "state": {}, "forwardedProps": {}}),
        ),
        (&*send, json!({"content": "Hi"})),
    ] {
        let answer = door.server.post(path, &door.key, &body).await;
        assert_eq!(answer.expect(429), "rate_limited", "{path}");
        assert!(
            answer.text.contains("limit of 30 tokens a day"),
            "{path}: {}",
            answer.text
        );
        assert!(!header(&answer, "retry-after").is_empty());
    }
    assert_eq!(door.upstream.requests().len(), 1);
    let own = door
        .server
        .get("/api/v1/limits/own", &door.key)
        .await
        .json();
    assert_eq!(own["limits"][0]["used"]["tokens"], 30);
    assert_eq!(own["limits"][0]["most"]["tokens"], 30);
}

#[tokio::test]
async fn a_run_that_meets_a_limit_ends_with_what_it_has() {
    let usage = |input_tokens| Step::Usage {
        input_tokens,
        output_tokens: 0,
    };
    let calls = Reply::calls(&[("ls", json!({}))]);
    let answer = Reply::stream(&[text("As far as I got."), usage(10), finish()]);
    let door = Door::open(Behaviour::answer(move |request| {
        if request.body["tools"]
            .as_array()
            .is_some_and(|tools| !tools.is_empty())
        {
            calls.clone()
        } else {
            answer.clone()
        }
    }))
    .await;
    limit(&door, json!("default"), json!({"day": {"requests": 3}})).await;
    let answer = door
        .post(&ask("glasshouse/agent", "Look at all files."))
        .await;
    answer.expect(200);
    let choice = &answer.json()["choices"][0];
    assert_eq!(choice["finish_reason"], "length");
    assert!(
        choice["message"]["content"]
            .as_str()
            .unwrap()
            .contains("As far as I got."),
        "{choice}"
    );
    assert_eq!(door.upstream.requests().len(), 3);
}

/// Asks with a hundred clients at once until each was refused several times in a row; how many were answered.
async fn flood(door: &Door) -> u64 {
    let answered = AtomicU64::new(0);
    let client = async || {
        let mut refused = 0;
        while refused < 5 {
            match door
                .post(&streaming("scripted", "Hi"))
                .await
                .status
                .as_u16()
            {
                200 => _ = answered.fetch_add(1, Relaxed),
                429 => refused += 1,
                other => panic!("{other}"),
            }
        }
    };
    join_all((0..100).map(|_| client())).await;
    answered.load(Relaxed)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn limits_are_exact_under_a_hundred_clients() {
    let door = Door::open(counted()).await;
    limit(&door, json!("default"), json!({"day": {"requests": 300}})).await;
    assert_eq!(flood(&door).await, 300);
    assert_eq!(door.upstream.requests().len(), 300);

    // 30 tokens a call.
    let more = json!({"month": {"tokens": 9_000 + 15_000}});
    limit(&door, json!("default"), more).await;
    let answered = flood(&door).await;
    assert!((495..=505).contains(&answered), "{answered} of 500");
    let total = usage(&door, &door.key, "by=day").await["total"].clone();
    assert_eq!(total["requests"], 300 + answered);
    assert_eq!(
        total["input_tokens"].as_u64().unwrap() + total["output_tokens"].as_u64().unwrap(),
        (300 + answered) * 30
    );
}

#[tokio::test]
async fn money_is_a_limit_and_a_key_has_its_own() {
    let door = Door::open(counted()).await;
    let price = json!({"input_usd_per_million": 0.0, "output_usd_per_million": 50_000.0});
    door.server
        .put("/api/v1/models/scripted", &door.cookie, &price)
        .await
        .expect(200);
    let keys = door.server.get("/api/v1/keys", &door.key).await.json();
    let key = keys["keys"][0]["id"].clone();
    let other = door
        .server
        .post("/api/v1/keys", &door.key, &json!({"name": "other"}))
        .await
        .json();
    // A dollar a call.
    limit(&door, json!({"key": key}), json!({"month": {"usd": 2.0}})).await;
    door.post(&ask("scripted", "Hi")).await.expect(200);
    door.post(&ask("scripted", "Hi")).await.expect(200);
    let over = door.post(&ask("scripted", "Hi")).await;
    assert_eq!(over.expect(429), "rate_limited");
    assert!(
        over.text
            .contains("This key has reached its limit of $2.00 a month"),
        "{}",
        over.text
    );
    let other = other["secret"].as_str().unwrap();
    door.server
        .post(CHAT, other, &ask("scripted", "Hi"))
        .await
        .expect(200);
    limit(&door, json!({"key": key}), json!({})).await;
    door.post(&ask("scripted", "Hi")).await.expect(200);
}

/// Something is left, but not enough for the agent's first call.
#[tokio::test]
async fn a_run_whose_first_call_is_beyond_a_limit_is_refused_at_every_door() {
    let door = Door::open(counted()).await;
    let price = json!({"input_usd_per_million": 0.0, "output_usd_per_million": 50_000.0});
    door.server
        .put("/api/v1/models/scripted", &door.cookie, &price)
        .await
        .expect(200);
    // A dollar a call.
    limit(&door, json!("default"), json!({"month": {"usd": 1.5}})).await;
    door.post(&ask("scripted", "Hi")).await.expect(200);
    let messages = json!([{"role": "user", "content": "Hi"}]);
    // What is streamed has begun, and says so as an error.
    for (path, status, body) in [
        (CHAT, 429, ask("glasshouse/agent", "Hi")),
        (
            "/v1/responses",
            429,
            json!({"model": "glasshouse/agent", "input": "Hi"}),
        ),
        (
            "/v1/messages",
            429,
            json!({"model": "glasshouse/agent", "messages": messages, "max_tokens": 1000}),
        ),
        ("/chat/stream", 200, json!({"messages": messages})),
        ("/api/chat", 200, json!({"message": "Hi"})),
    ] {
        let answer = door.server.post(path, &door.key, &body).await;
        assert_eq!(answer.status, status, "{path}: {}", answer.text);
        assert!(
            answer.text.contains("reached its limit of $1.50 a month"),
            "{path}: {}",
            answer.text
        );
        assert!(
            answer.text.contains(r#""code":"rate_limited""#),
            "{path}: {}",
            answer.text
        );
    }
    assert_eq!(door.upstream.requests().len(), 1);
}

#[tokio::test]
async fn limits_are_administrators_to_set_and_make_sense() {
    let door = Door::open(counted()).await;
    let put = async |credential: &str, body: Value| {
        door.server.put("/api/v1/limits", credential, &body).await
    };
    let good = json!({"of": "default", "limits": {"day": {"tokens": 5}}});
    put(&door.key, good.clone()).await.expect(403);
    put(&door.cookie, good).await.expect(204);
    for bad in [
        json!({"of": "everybody", "limits": {}}),
        json!({"of": "default", "limits": {"year": {}}}),
        json!({"of": "default", "limits": {"day": {"tokens": -1}}}),
        json!({"of": "default", "limits": {"day": {"usd": -0.5}}}),
        json!({"of": "default", "limits": {"day": {"usd": 1e300}}}),
        json!({"of": "default", "limits": {}, "owner_id": "x"}),
    ] {
        put(&door.cookie, bad.clone()).await.expect(400);
    }
    put(
        &door.cookie,
        json!({"of": {"user": "nobody@example.org"}, "limits": {}}),
    )
    .await
    .expect(404);
    let all = door.server.get("/api/v1/limits", &door.cookie).await.json();
    assert_eq!(all["default"]["day"]["tokens"], 5);
    assert_eq!(all["users"], json!([]));
}

fn signed(claims: &Value, secret: &str) -> String {
    let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let text = format!("{}.{}", part(&json!({"alg": "HS256"})), part(claims));
    let key = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, secret.as_bytes());
    format!(
        "{text}.{}",
        URL_SAFE_NO_PAD.encode(ring::hmac::sign(&key, text.as_bytes()))
    )
}

#[tokio::test]
async fn people_of_a_front_end_have_their_own_limits_usage_and_runs() {
    let door = Door::open(counted()).await;
    let made = json!({"name": "Open WebUI", "front_end": true});
    let made = door
        .server
        .post("/api/v1/keys", &door.cookie, &made)
        .await
        .json();
    let (key, id) = (made["secret"].as_str().unwrap(), &made["key"]["id"]);
    limit(
        &door,
        json!({"people": id}),
        json!({"day": {"requests": 2}}),
    )
    .await;
    let as_person = async |person: &str, method: Method, path: &str, body: Value| {
        let request = door
            .server
            .request(method, path, key)
            .header("x-openwebui-user-id", person);
        Answer::of(request.json(&body)).await
    };
    let ask_as = async |person: &str| {
        as_person(person, Method::POST, CHAT, ask("glasshouse/agent", "Hi")).await
    };
    let ann = ask_as("ann").await;
    ann.expect(200);
    ask_as("ann").await.expect(200);
    assert!(
        ask_as("ann")
            .await
            .text
            .contains("This person has reached its limit of 2 requests a day")
    );
    ask_as("bob").await.expect(200);
    // The same headers mean nothing on another key.
    let forged = door
        .server
        .request(Method::POST, CHAT, &door.key)
        .header("x-openwebui-user-id", "ann");
    Answer::of(forged.json(&ask("scripted", "Hi")))
        .await
        .expect(200);

    let people = usage(&door, &door.cookie, "by=person").await;
    let of = |name: &str| {
        let rows = people["rows"].as_array().unwrap();
        rows.iter()
            .find(|row| row["name"] == name)
            .map(|row| row["requests"].clone())
    };
    assert_eq!(
        (of("ann"), of("bob"), of("")),
        (Some(json!(2)), Some(json!(1)), Some(json!(1)))
    );

    let run = format!("/runs/{}", header(&ann, "x-run-id"));
    as_person("ann", Method::GET, &run, json!({}))
        .await
        .expect(200);
    assert_eq!(
        as_person("bob", Method::GET, &run, json!({}))
            .await
            .expect(404),
        "not_found"
    );
    assert_eq!(
        as_person("ann", Method::GET, "/api/v1/chats", json!({}))
            .await
            .expect(403),
        "forbidden"
    );
}

#[tokio::test]
async fn a_signing_front_end_is_believed_only_with_its_signature() {
    let door = Door::open(counted()).await;
    let secret = "a secret of the front end";
    let made = json!({"name": "signs", "front_end": true, "signing_key": secret});
    let made = door
        .server
        .post("/api/v1/keys", &door.cookie, &made)
        .await
        .json();
    assert_eq!(made["key"]["signs"], true);
    let key = made["secret"].as_str().unwrap();
    let ask_with = async |name: &str, value: &str| {
        let request = door
            .server
            .request(Method::POST, CHAT, key)
            .header(name, value);
        Answer::of(request.json(&ask("scripted", "Hi"))).await
    };
    let expires = door.server.clock.now_ms() / 1000 + 300;
    let claims = json!({"sub": "ann", "name": "Анна", "role": "user", "exp": expires});
    ask_with("x-openwebui-user-jwt", &signed(&claims, secret))
        .await
        .expect(200);
    for bad in [
        signed(&claims, "another secret"),
        "a.b.c".to_owned(),
        String::from("x"),
    ] {
        assert_eq!(
            ask_with("x-openwebui-user-jwt", &bad).await.expect(401),
            "unauthenticated"
        );
    }
    // What is not signed is not believed.
    ask_with("x-openwebui-user-id", "eve").await.expect(200);
    let people = usage(&door, &door.cookie, "by=person").await;
    let names: Vec<_> = people["rows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["name"].clone())
        .collect();
    assert!(
        names.contains(&json!("ann")) && names.contains(&json!("")) && names.len() == 2,
        "{names:?}"
    );
}

/// Takes back what was written down, as if the server had been killed before it could.
async fn forget_what_was_written(database: &str) {
    use sqlx::{Connection, Executor, SqliteConnection};
    let mut connection = SqliteConnection::connect(database).await.unwrap();
    connection.execute("DELETE FROM usage").await.unwrap();
    connection
        .execute("UPDATE runs SET booked_seq = 0")
        .await
        .unwrap();
    connection.close().await.unwrap();
}

#[tokio::test]
async fn what_a_killed_server_did_not_write_down_is_found_in_the_logs_once() {
    let upstream = scripted::ScriptedServer::start(counted()).await.unwrap();
    let kept = Kept::new();
    let server = kept.start().await;
    let cookie = server.set_up().await;
    connect(&server, &cookie, "Up", &upstream.base_url()).await;
    server
        .post(CHAT, &cookie, &ask("glasshouse/agent", "Hi"))
        .await
        .expect(200);
    server
        .post(CHAT, &cookie, &ask("glasshouse/agent", "Hi"))
        .await
        .expect(200);
    let total = async |server: &Server| {
        server.get("/api/v1/usage?by=model", &cookie).await.json()["total"].clone()
    };
    let before = total(&server).await;
    assert_eq!(
        (&before["requests"], &before["output_tokens"]),
        (&json!(2), &json!(40))
    );
    stop(&server).await;
    drop(server);
    forget_what_was_written(&kept.database).await;
    let server = kept.start().await;
    until("the logs are noted", async || {
        total(&server).await == before
    })
    .await;
    stop(&server).await;
    drop(server);
    // What is written down is not noted again.
    let server = kept.start().await;
    server
        .post(CHAT, &cookie, &ask("glasshouse/agent", "Hi"))
        .await
        .expect(200);
    assert_eq!(total(&server).await["requests"], 3);
}
