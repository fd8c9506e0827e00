//! A client for Qdrant's REST API: a Qdrant collection per embedding space, a point per passage. A point holds nothing
//! of its passage except where it is: its collection, document, text version and number there.

use std::{collections::HashMap, time::Duration};

use data_encoding::HEXLOWER;
use domain::DocumentId;
use llm::Secret;
use outbound::{Fault, Limits, Outbound, Request};
use reqwest::{Method, StatusCode, Url, header::HeaderName};
use ring::digest::{SHA256, digest};
use serde_json::{Value, json};
use store::VectorPoint;

use super::vector_database::{NEAREST, Near, NoAnswer, Text, Within};
use crate::platform::config::QdrantSettings;

/// Time limit for one request of the copying.
const COPYING: Duration = Duration::from_secs(60);
/// Maximum size of an answer, bytes.
const ANSWER_BYTES: usize = 64 << 20;
/// Maximum number of documents of a space that can be listed.
const MAX_TEXTS: u32 = 1_000_000;
const API_KEY: HeaderName = HeaderName::from_static("api-key");

/// A Qdrant server with a copy of the vectors.
pub(super) struct Qdrant {
    url: Url,
    host: String,
    key: Option<Secret>,
    outbound: Outbound,
}

impl Qdrant {
    pub(super) fn new(settings: &QdrantSettings, outbound: Outbound) -> Self {
        let QdrantSettings { url, host, key } = settings.clone();
        Self {
            url,
            host,
            key,
            outbound,
        }
    }

    async fn call(
        &self,
        method: Method,
        path: &[&str],
        body: Option<&Value>,
        time: Duration,
    ) -> Result<Value, NoAnswer> {
        let mut url = self.url.clone();
        match url.path_segments_mut() {
            Ok(mut segments) => _ = segments.pop_if_empty().extend(path),
            Err(()) => return Err(NoAnswer::Failed("its address cannot be asked.".to_owned())),
        }
        if method == Method::PUT || path.last() == Some(&"delete") {
            // Makes the change visible to the next query.
            url.set_query(Some("wait=true"));
        }
        let limits = Limits {
            time,
            body_bytes: ANSWER_BYTES,
            hops: 0,
        };
        let mut request =
            Request::new(method, url, limits).chosen(std::slice::from_ref(&self.host));
        if let Some(key) = &self.key {
            request = request.header(API_KEY, key.reveal());
        }
        if let Some(body) = body {
            request = request.json(body);
        }
        let answer = self.outbound.send(request).await.map_err(|fault| {
            NoAnswer::Failed(match fault {
                Fault::Slow => "it does not answer in time.".to_owned(),
                Fault::TooLarge => "its answer is too large.".to_owned(),
                _ => "it cannot be reached.".to_owned(),
            })
        })?;
        let said: Option<Value> = serde_json::from_slice(&answer.body).ok();
        match answer.status {
            StatusCode::OK => {
                let result = said.and_then(|mut said| said.get_mut("result").map(Value::take));
                result
                    .ok_or_else(|| NoAnswer::Failed("what answers there is no Qdrant.".to_owned()))
            }
            StatusCode::NOT_FOUND => Err(NoAnswer::Missing),
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => Err(NoAnswer::Failed(
                "it does not take our key (knowledge.qdrant_key).".to_owned(),
            )),
            status => {
                // Qdrant's message goes to the log only: it may quote parts of the request.
                let error = said
                    .as_ref()
                    .and_then(|said| said["status"]["error"].as_str())
                    .unwrap_or_default();
                let error: String = error.chars().take(500).collect();
                tracing::warn!(%status, error, "Qdrant refused a request");
                match status.is_client_error() && status != StatusCode::TOO_MANY_REQUESTS {
                    true => Err(NoAnswer::Refused),
                    false => Err(NoAnswer::Failed(format!(
                        "it answered with HTTP {}.",
                        status.as_u16()
                    ))),
                }
            }
        }
    }

    /// The names of its collections with this prefix.
    pub(super) async fn collections(&self, prefix: &str) -> Result<Vec<String>, NoAnswer> {
        let found = self
            .call(Method::GET, &["collections"], None, COPYING)
            .await?;
        let names = found["collections"].as_array().into_iter().flatten();
        let names = names
            .filter_map(|one| one["name"].as_str())
            .filter(|name| name.starts_with(prefix));
        Ok(names.map(str::to_owned).collect())
    }

    /// Creates a collection for vectors of this length, with its payload indexes.
    pub(super) async fn make(&self, name: &str, dimensions: usize) -> Result<(), NoAnswer> {
        let body = json!({"vectors": {"size": dimensions, "distance": "Cosine"}});
        self.call(Method::PUT, &["collections", name], Some(&body), COPYING)
            .await?;
        for field in ["collection", "document", "text"] {
            let body = json!({"field_name": field, "field_schema": "keyword"});
            self.call(
                Method::PUT,
                &["collections", name, "index"],
                Some(&body),
                COPYING,
            )
            .await?;
        }
        Ok(())
    }

    pub(super) async fn remove(&self, name: &str) -> Result<(), NoAnswer> {
        self.call(Method::DELETE, &["collections", name], None, COPYING)
            .await
            .map(drop)
    }

    /// The number of points of each text.
    pub(super) async fn texts(&self, name: &str) -> Result<HashMap<Text, u64>, NoAnswer> {
        let body = json!({"key": "text", "limit": MAX_TEXTS, "exact": true});
        let found = self
            .call(
                Method::POST,
                &["collections", name, "facet"],
                Some(&body),
                COPYING,
            )
            .await?;
        let hits = found["hits"].as_array().into_iter().flatten();
        let read = |hit: &Value| Some((read_text(hit["value"].as_str()?)?, hit["count"].as_u64()?));
        Ok(hits.filter_map(read).collect())
    }

    pub(super) async fn put(
        &self,
        name: &str,
        points: &[VectorPoint],
        dimensions: usize,
    ) -> Result<(), NoAnswer> {
        let points: Vec<Value> = points.iter().map(|it| point(it, dimensions)).collect();
        let body = json!({ "points": points });
        self.call(
            Method::PUT,
            &["collections", name, "points"],
            Some(&body),
            COPYING,
        )
        .await
        .map(drop)
    }

    /// Deletes all points of a text.
    pub(super) async fn forget(&self, name: &str, text: Text) -> Result<(), NoAnswer> {
        let text = text_of(text);
        let body = json!({"filter": {"must": [{"key": "text", "match": {"value": text}}]}});
        let path = ["collections", name, "points", "delete"];
        self.call(Method::POST, &path, Some(&body), COPYING)
            .await
            .map(drop)
    }

    /// The passages nearest to a question.
    pub(super) async fn nearest(
        &self,
        name: &str,
        vector: &[f32],
        within: &Within,
    ) -> Result<Vec<Near>, NoAnswer> {
        let body = json!({
            "query": vector,
            "filter": {"should": within.conditions()},
            "limit": NEAREST,
            "with_payload": ["text", "piece"],
        });
        let path = ["collections", name, "points", "query"];
        let found = self
            .call(
                Method::POST,
                &path,
                Some(&body),
                super::vector_database::ASKING,
            )
            .await?;
        let points = found["points"].as_array().into_iter().flatten();
        Ok(points.filter_map(read_near).collect())
    }
}

impl Within {
    /// Conditions, one of which must hold. An empty list yields none.
    fn conditions(&self) -> Vec<Value> {
        let collections: Vec<String> = self.collections.iter().map(ToString::to_string).collect();
        let documents: Vec<String> = self.documents.iter().map(ToString::to_string).collect();
        let named = [("collection", collections), ("document", documents)];
        let named = named.into_iter().filter(|(_, ids)| !ids.is_empty());
        named
            .map(|(key, ids)| json!({"key": key, "match": {"any": ids}}))
            .collect()
    }
}

fn read_near(point: &Value) -> Option<Near> {
    let payload = &point["payload"];
    let (document, version) = read_text(payload["text"].as_str()?)?;
    let piece = u32::try_from(payload["piece"].as_u64()?).ok()?;
    #[expect(clippy::cast_possible_truncation, reason = "seven digits are enough")]
    let score = point["score"].as_f64()? as f32;
    score.is_finite().then_some(Near {
        document,
        version,
        piece,
        score: score.clamp(-1.0, 1.0),
    })
}

fn text_of((document, version): Text) -> String {
    format!("{document}:{version}")
}

fn read_text(text: &str) -> Option<Text> {
    let (document, version) = text.split_once(':')?;
    Some((document.parse().ok()?, version.parse().ok()?))
}

/// The point of a passage. A passage without a vector gets one, too, so that it is counted, but without a collection,
/// so that it is never found.
fn point(of: &VectorPoint, dimensions: usize) -> Value {
    let mut payload = json!({"text": text_of((of.document, of.version)), "piece": of.piece});
    if of.vector.is_some() {
        payload["collection"] = json!(of.collection);
        payload["document"] = json!(of.document);
    }
    let vector = of.vector.clone().unwrap_or_else(|| vec![0.0; dimensions]);
    json!({"id": point_id(of.document, of.piece), "vector": vector, "payload": payload})
}

/// A UUID that depends only on the position in a document.
fn point_id(document: DocumentId, piece: u64) -> String {
    let digest = digest(&SHA256, format!("{document}:{piece}").as_bytes());
    let digits = HEXLOWER.encode(digest.as_ref().get(..16).unwrap_or_default());
    let part = |range| digits.get(range).unwrap_or_default();
    format!(
        "{}-{}-{}-{}-{}",
        part(0..8),
        part(8..12),
        part(12..16),
        part(16..20),
        part(20..32)
    )
}

#[cfg(test)]
mod tests {
    use domain::CollectionId;

    use super::*;

    #[test]
    fn points_are_found_again_by_where_they_stand() {
        let collection = CollectionId::generate();
        let document = DocumentId::generate();
        let of = |version, piece, vector| {
            point(
                &VectorPoint {
                    collection,
                    document,
                    version,
                    piece,
                    vector,
                },
                2,
            )
        };
        let made = of(3, 7, Some(vec![1.0]));
        let again = of(4, 7, Some(vec![0.5]));
        assert_eq!(
            made["id"], again["id"],
            "it takes the place of the one before"
        );
        assert_ne!(made["id"], of(3, 8, None)["id"]);
        let near = json!({"score": 0.5, "payload": made["payload"]});
        assert_eq!(
            read_near(&near),
            Some(Near {
                document,
                version: 3,
                piece: 7,
                score: 0.5
            })
        );
        let blank = of(3, 8, None);
        assert_eq!(
            (&blank["vector"], blank["payload"].get("collection")),
            (&json!([0.0, 0.0]), None)
        );
        for bad in [
            json!(null),
            json!({"payload": {"text": "x", "piece": 1}, "score": 1}),
            json!({"payload": {"text": text_of((document, 1)), "piece": -1}, "score": 1}),
        ] {
            assert_eq!(read_near(&bad), None, "{bad}");
        }
    }

    #[test]
    fn only_what_is_named_is_asked_for() {
        let collection = CollectionId::generate();
        let document = DocumentId::generate();
        let within = Within {
            collections: vec![collection],
            documents: Vec::new(),
        };
        assert_eq!(
            within.conditions(),
            [json!({"key": "collection", "match": {"any": [collection]}})]
        );
        let within = Within {
            documents: vec![document],
            ..within
        };
        assert_eq!(
            within.conditions()[1],
            json!({"key": "document", "match": {"any": [document]}})
        );
    }
}
