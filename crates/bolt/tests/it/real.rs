//! A real server answers.

use std::time::Duration;

use bolt::{Access, Address, Client, Fault, Value};

const TIME: Duration = Duration::from_secs(30);
/// As `cargo xtask test` starts it.
const ACCESS: [&str; 3] = ["root", "only-for-tests", "graphs"];

fn client(user: &str, password: &str, database: &str) -> Option<Client> {
    #[expect(clippy::disallowed_methods, reason = "tests have no configuration")]
    let (url, required) = (
        std::env::var("GLASSHOUSE_TEST_BOLT_URL").ok(),
        std::env::var_os("GLASSHOUSE_TEST_REQUIRE"),
    );
    assert!(
        url.is_some() || required.is_none(),
        "GLASSHOUSE_TEST_BOLT_URL must name a server that speaks Bolt"
    );
    let access = Access {
        user: user.into(),
        password: password.into(),
        database: database.into(),
    };
    Some(Client::new(Address::parse(&url?).unwrap(), access))
}

#[tokio::test]
async fn values_go_there_and_come_back() {
    let [user, password, database] = ACCESS;
    let Some(client) = client(user, password, database) else {
        return;
    };
    let long = "ж".repeat(90_000);
    let sent = Value::List(vec![
        Value::Null,
        Value::Bool(true),
        Value::Int(-7),
        Value::Int(i64::MAX),
        Value::Float(0.5),
        Value::from("Ада"),
        Value::from(long.as_str()),
    ]);
    let parameters = [
        ("sent", sent.clone()),
        ("map", Value::map([("a", Value::from("b"))])),
    ];
    let rows = client
        .run("RETURN $sent AS sent, $map.a AS a", &parameters, TIME)
        .await;
    assert_eq!(rows, Ok(vec![vec![sent, Value::from("b")]]));
    let rows = client
        .run("UNWIND range(1, 3000) AS n RETURN n", &[], TIME)
        .await
        .unwrap();
    let numbers: Vec<u64> = rows.iter().filter_map(|row| row[0].as_number()).collect();
    assert_eq!(numbers, (1..=3000).collect::<Vec<u64>>());
}

#[tokio::test]
async fn what_is_wrong_is_told_apart() {
    let [user, password, database] = ACCESS;
    let Some(good) = client(user, password, database) else {
        return;
    };
    assert!(matches!(
        good.run("RETURN (", &[], TIME).await,
        Err(Fault::Refused { .. })
    ));
    assert_eq!(
        good.run("RETURN 1", &[], TIME).await,
        Ok(vec![vec![Value::Int(1)]]),
        "the next one is answered"
    );
    let stranger = client(user, "wrong", database).unwrap();
    assert_eq!(
        stranger.run("RETURN 1", &[], TIME).await,
        Err(Fault::NotLetIn)
    );
    let elsewhere = client(user, password, "nowhere").unwrap();
    assert!(matches!(
        elsewhere.run("RETURN 1", &[], TIME).await,
        Err(Fault::Refused { .. })
    ));
}
