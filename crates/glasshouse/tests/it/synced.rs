//! Collections that follow sources: by the API and its command, and by the server itself.

use std::{fs, path::Path};

use serde_json::{Value, json};

use crate::{
    faults::until,
    harness::{Server, glasshouse},
};

async fn collection(server: &Server, who: &str) -> String {
    let made = server
        .post("/api/v1/knowledge", who, &json!({"name": "Handbook"}))
        .await
        .json();
    format!("/api/v1/knowledge/{}", made["id"].as_str().unwrap())
}

async fn names(server: &Server, who: &str, at: &str) -> Vec<String> {
    let all = server.get(&format!("{at}/documents"), who).await.json();
    let all = all["documents"].as_array().unwrap().clone();
    all.iter()
        .map(|one| one["name"].as_str().unwrap().to_owned())
        .collect()
}

fn listed(id: &str, version: &str, readers: &Value) -> Value {
    json!({"id": id, "name": format!("{id}.md"), "version": version, "readers": readers})
}

/// Sends what is missing and completes it.
async fn synchronize(server: &Server, who: &str, at: &str, documents: Value) -> Value {
    let body = json!({"source": "Wiki", "documents": documents});
    let begun = server.post(&format!("{at}/sync"), who, &body).await;
    begun.expect(201);
    let begun = begun.json();
    let sync = format!("{at}/sync/{}", begun["id"].as_str().unwrap());
    for id in begun["documents"].as_array().unwrap() {
        let id = id.as_str().unwrap();
        let place = format!("{sync}/document?id={id}");
        let text = format!("The {id} is a kumquat.");
        server.put_bytes(&place, who, text.as_bytes()).await.expect(202);
    }
    let done = server.post(&format!("{sync}/complete"), who, &json!({})).await;
    done.expect(200);
    done.json()
}
