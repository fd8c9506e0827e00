//! A Qdrant as its REST interface is documented, in memory: it refuses what the real one refuses, such as fields that it does
//! not know, vectors of another length, facets without an index, and whoever has no key.

use std::{
    collections::{BTreeMap, BTreeSet},
    net::SocketAddr,
    sync::{Arc, Mutex, MutexGuard},
};

use axum::{
    Router,
    body::Bytes,
    extract::State,
    http::{HeaderMap, Method, StatusCode, Uri},
    response::{IntoResponse, Response},
};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio::{net::TcpListener, task::JoinHandle};

pub(crate) const KEY: &str = "qdrant-key-for-tests";

/// What it has, and how it is.
#[derive(Default)]
pub(crate) struct Kept {
    pub(crate) collections: BTreeMap<String, Collection>,
    /// Every request: its method, path and body.
    pub(crate) asked: Vec<(String, Value)>,
    /// It answers nothing but 503.
    pub(crate) is_away: bool,
}

#[derive(Default)]
pub(crate) struct Collection {
    pub(crate) size: usize,
    indexed: BTreeSet<String>,
    pub(crate) points: BTreeMap<String, (Vec<f32>, Map<String, Value>)>,
}

pub(crate) struct FakeQdrant {
    pub(crate) url: String,
    kept: Arc<Mutex<Kept>>,
    serving: JoinHandle<()>,
}

impl Drop for FakeQdrant {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

type Answer = Result<Value, (StatusCode, String)>;

impl FakeQdrant {
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind(SocketAddr::from(([127, 0, 0, 1], 0)))
            .await
            .unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let kept = Arc::new(Mutex::new(Kept::default()));
        let router = Router::new().fallback(answer).with_state(Arc::clone(&kept));
        #[expect(clippy::disallowed_methods, reason = "it ends when this is dropped")]
        let serving = tokio::spawn(async move {
            axum::serve(listener, router).await.unwrap();
        });
        Self { url, kept, serving }
    }

    pub(crate) fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap()
    }

    /// How many points there are in each collection.
    pub(crate) fn points(&self) -> Vec<usize> {
        self.kept()
            .collections
            .values()
            .map(|collection| collection.points.len())
            .collect()
    }
}

async fn answer(
    State(kept): State<Arc<Mutex<Kept>>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let mut kept = kept.lock().unwrap();
    if kept.is_away {
        return StatusCode::SERVICE_UNAVAILABLE.into_response();
    }
    if headers.get("api-key").is_none_or(|key| key != KEY) {
        return (
            StatusCode::UNAUTHORIZED,
            "Must provide an API key or an Authorization bearer token",
        )
            .into_response();
    }
    let sent: Value = if body.is_empty() {
        Value::Null
    } else {
        serde_json::from_slice(&body).unwrap_or_default()
    };
    kept.asked
        .push((format!("{method} {}", uri.path()), sent.clone()));
    let (status, said) = match serve(&mut kept, &method, &uri, sent) {
        Ok(result) => (
            StatusCode::OK,
            json!({"result": result, "status": "ok", "time": 0.001}),
        ),
        Err((status, error)) => (status, json!({"status": {"error": error}, "time": 0.0})),
    };
    (status, axum::Json(said)).into_response()
}

fn serve(kept: &mut Kept, method: &Method, uri: &Uri, sent: Value) -> Answer {
    let path: Vec<&str> = uri.path().split('/').skip(1).collect();
    if uri.query().is_some_and(|query| query != "wait=true") {
        return Err(bad(format!("unknown query {uri}")));
    }
    match (method.as_str(), path.as_slice()) {
        ("GET", ["collections"]) => {
            let names: Vec<Value> = kept
                .collections
                .keys()
                .map(|name| json!({ "name": name }))
                .collect();
            Ok(json!({ "collections": names }))
        }
        ("PUT", ["collections", name]) => {
            let Make {
                vectors: Params { size, distance },
            } = read(sent)?;
            if kept.collections.contains_key(*name) {
                return Err((
                    StatusCode::CONFLICT,
                    format!("Wrong input: Collection `{name}` already exists!"),
                ));
            }
            if size == 0 || size > 65_536 || distance != "Cosine" || name.len() > 255 {
                return Err((
                    StatusCode::UNPROCESSABLE_ENTITY,
                    "Validation error".to_owned(),
                ));
            }
            kept.collections.insert(
                (*name).to_owned(),
                Collection {
                    size,
                    ..Collection::default()
                },
            );
            Ok(json!(true))
        }
        ("DELETE", ["collections", name]) => Ok(json!(kept.collections.remove(*name).is_some())),
        (method, ["collections", name, rest @ ..]) => {
            let found = kept.collections.get_mut(*name);
            let missing = || {
                (
                    StatusCode::NOT_FOUND,
                    format!("Not found: Collection `{name}` doesn't exist!"),
                )
            };
            of_collection(found.ok_or_else(missing)?, method, rest, sent)
        }
        _ => Err((StatusCode::NOT_FOUND, String::new())),
    }
}

fn of_collection(collection: &mut Collection, method: &str, path: &[&str], sent: Value) -> Answer {
    let done = || Ok(json!({"operation_id": 1, "status": "completed"}));
    match (method, path) {
        ("PUT", ["index"]) => {
            let Index {
                field_name,
                field_schema,
            } = read(sent)?;
            if field_schema != "keyword" {
                return Err(bad(format!("unknown schema {field_schema}")));
            }
            collection.indexed.insert(field_name);
            done()
        }
        ("PUT", ["points"]) => {
            let Put { points } = read(sent)?;
            for Point {
                id,
                vector,
                payload,
            } in points
            {
                if !is_uuid(&id) {
                    return Err(bad(format!("value {id} is not a valid point ID")));
                }
                if vector.len() != collection.size {
                    let size = collection.size;
                    return Err(bad(format!(
                        "Wrong input: Vector dimension error: expected dim: {size}, got {}",
                        vector.len()
                    )));
                }
                collection.points.insert(id, (vector, payload));
            }
            done()
        }
        ("POST", ["points", "delete"]) => {
            let Delete { filter } = read(sent)?;
            collection
                .points
                .retain(|_, (_, payload)| !filter.takes(payload));
            done()
        }
        ("POST", ["facet"]) => {
            let Facet { key, limit, exact } = read(sent)?;
            if !collection.indexed.contains(&key) || limit == 0 || !exact {
                return Err(bad(format!(
                    "Bad request: Index required but not found for \"{key}\""
                )));
            }
            let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
            for (_, payload) in collection.points.values() {
                *counts.entry(payload[&key].as_str().unwrap()).or_default() += 1;
            }
            let hits = counts
                .into_iter()
                .take(limit)
                .map(|(value, count)| json!({"value": value, "count": count}));
            Ok(json!({ "hits": hits.collect::<Vec<_>>() }))
        }
        ("POST", ["points", "query"]) => collection.query(read(sent)?),
        _ => Err((StatusCode::NOT_FOUND, String::new())),
    }
}

impl Collection {
    fn query(
        &self,
        Ask {
            query,
            filter,
            limit,
            with_payload,
        }: Ask,
    ) -> Answer {
        if query.len() != self.size || limit == 0 {
            return Err(bad(format!(
                "Wrong input: Vector dimension error: expected dim: {}",
                self.size
            )));
        }
        let mut found: Vec<(f32, &String, &Map<String, Value>)> = self
            .points
            .iter()
            .filter(|(_, (_, payload))| filter.takes(payload))
            .map(|(id, (vector, payload))| (cosine(&query, vector), id, payload))
            .collect();
        found.sort_by(|a, b| b.0.total_cmp(&a.0));
        let points = found.into_iter().take(limit).map(|(score, id, payload)| {
            let payload: Map<String, Value> = payload
                .iter()
                .filter(|(key, _)| with_payload.contains(key))
                .map(|(k, v)| (k.clone(), v.clone()))
                .collect();
            json!({"id": id, "version": 1, "score": score, "payload": payload})
        });
        Ok(json!({ "points": points.collect::<Vec<_>>() }))
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Make {
    vectors: Params,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Params {
    size: usize,
    distance: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Index {
    field_name: String,
    field_schema: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Put {
    points: Vec<Point>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Point {
    id: String,
    vector: Vec<f32>,
    payload: Map<String, Value>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Delete {
    filter: Filter,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Facet {
    key: String,
    limit: usize,
    exact: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Ask {
    query: Vec<f32>,
    filter: Filter,
    limit: usize,
    with_payload: Vec<String>,
}

/// All of `must` hold, and one of `should`, where there are some.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Filter {
    #[serde(default)]
    must: Vec<Condition>,
    #[serde(default)]
    should: Vec<Condition>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Condition {
    key: String,
    r#match: Match,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Match {
    Value { value: String },
    Any { any: Vec<String> },
}

impl Filter {
    fn takes(&self, payload: &Map<String, Value>) -> bool {
        let holds = |condition: &Condition| {
            let is = payload.get(&condition.key).and_then(Value::as_str);
            is.is_some_and(|is| match &condition.r#match {
                Match::Value { value } => value == is,
                Match::Any { any } => any.iter().any(|one| one == is),
            })
        };
        self.must.iter().all(holds) && (self.should.is_empty() || self.should.iter().any(holds))
    }
}

fn read<T: serde::de::DeserializeOwned>(sent: Value) -> Result<T, (StatusCode, String)> {
    serde_json::from_value(sent).map_err(|error| bad(format!("Format error in JSON body: {error}")))
}

fn bad(error: String) -> (StatusCode, String) {
    (StatusCode::BAD_REQUEST, error)
}

fn is_uuid(id: &str) -> bool {
    let parts: Vec<usize> = id.split('-').map(str::len).collect();
    parts == [8, 4, 4, 4, 12]
        && id
            .chars()
            .all(|digit| digit == '-' || digit.is_ascii_hexdigit())
}

/// One without a direction is near to nothing.
fn cosine(a: &[f32], b: &[f32]) -> f32 {
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
    let lengths = (dot(a, a) * dot(b, b)).sqrt();
    if lengths > 0.0 {
        dot(a, b) / lengths
    } else {
        0.0
    }
}
