//! Every address asked by a person of a front end whose key belongs to the owner of all there is: they are somebody of
//! their own, who gets at models and agents and at nothing that the owner has.

use reqwest::Method;
use server::{http::table, identity::auth::Access};
use sqlx::{Connection, SqliteConnection};

use super::{
    Ids, Wrong,
    cases::{CASES, Case, Others},
    difference,
    world::{By, CANARY, World},
};
use crate::harness::Answer;

async fn ask(world: &World, case: &Case, front: &str) -> Answer {
    let fill = |template| world.fill(template, "thread", Ids::Real);
    let method: Method = case.method.parse().unwrap();
    let mut request = world
        .server
        .request(method, &fill(case.at), front)
        .body(fill(case.body));
    request = request
        .header("content-type", "application/json")
        .header("x-openwebui-user-id", "p1");
    for (name, value) in case.headers {
        request = request.header(*name, fill(value));
    }
    Answer::of(request).await
}

/// The rows that name something of the owner's, beside the account itself.
fn of_the_owner(world: &World, rows: &[String]) -> Vec<String> {
    let ids = world
        .names
        .iter()
        .filter(|(name, id)| **name != "owner" && id.len() > 20);
    let ids: Vec<&String> = ids.map(|(_, id)| id).collect();
    rows.iter()
        .filter(|row| ids.iter().any(|id| row.contains(*id)))
        .cloned()
        .collect()
}

#[tokio::test]
async fn the_people_of_a_front_end_get_nowhere() {
    let world = World::make().await;
    let body = serde_json::json!({"name": "front", "scopes": ["chat", "read", "write"]});
    let key = world
        .server
        .post("/api/v1/keys", world.owner.credential(By::Session), &body)
        .await
        .json();
    let front = key["secret"].as_str().unwrap();
    // Only administrators make such keys; here it is that of whoever has one of everything.
    let mut rows = SqliteConnection::connect(world.database()).await.unwrap();
    let change = "UPDATE api_keys SET front_end = TRUE WHERE id = $1";
    sqlx::query(change)
        .bind(key["key"]["id"].as_str().unwrap())
        .execute(&mut rows)
        .await
        .unwrap();
    let mut wrong = Wrong::default();
    let routes = table();
    for case in CASES
        .iter()
        .filter(|case| !matches!(case.others, Others::Public | Others::Stream))
    {
        let route = routes
            .iter()
            .find(|route| route.method.as_str() == case.method && route.path == case.route);
        let is_for_people = matches!(route.unwrap().access, Access::Chat | Access::Public);
        let before = world.rows().await;
        let answer = ask(&world, case, front).await;
        let after = world.rows().await;
        let asked = || format!("{} {} {}", case.method, case.at, case.body);
        wrong.unless(is_for_people || answer.status == 403, || {
            format!("{}: {}", answer.status, asked())
        });
        wrong.unless(!answer.status.is_server_error(), || {
            format!("{}: {} {}", answer.status, asked(), answer.text)
        });
        wrong.unless(!answer.text.contains(CANARY), || {
            format!("shows {}: {}", answer.text, asked())
        });
        // What they may begin for themselves is new; nothing that was there goes or changes.
        let lost = difference(
            &of_the_owner(&world, &before),
            &of_the_owner(&world, &after),
        );
        let lost: Vec<_> = lost
            .into_iter()
            .filter(|row| row.starts_with('-'))
            .collect();
        wrong.unless(lost.is_empty(), || format!("changes {lost:?}: {}", asked()));
        if is_for_people {
            world.still().await;
        }
    }
    assert!(wrong.0.is_empty(), "{}", wrong.0.join("\n"));
}
