//! MCP servers of the settings, and the counters by which servers notice each other's changes.

use domain::UserId;
use serde_json::json;
use store::{McpSignIn, SettingTopic, Store, StoreError, StoredMcpServer};

use crate::fixtures::add_user;

on_every_database!(are_kept_until_deleted, a_change_moves_its_counter);

fn server(name: &str, created_at: i64) -> StoredMcpServer {
    StoredMcpServer {
        name: name.to_owned(),
        settings: json!({"url": "https://example.org/mcp"}),
        sealed: Some(vec![0, 255]),
        enabled: true,
        created_at,
    }
}

async fn are_kept_until_deleted(store: Store) {
    let notes = server("notes", 1);
    let mail = server("mail", 2);
    for one in [&mail, &notes] {
        store.create_mcp_server(one, 2).await.unwrap();
    }
    assert_eq!(
        store.create_mcp_server(&server("notes", 3), 9).await,
        Err(StoreError::Conflict("name"))
    );
    assert_eq!(
        store.create_mcp_server(&server("third", 3), 2).await,
        Err(StoreError::Conflict("servers"))
    );
    let off = StoredMcpServer {
        settings: json!({"url": "https://example.org/other"}),
        sealed: None,
        enabled: false,
        ..mail.clone()
    };
    store.set_mcp_server(&off).await.unwrap();
    assert_eq!(store.mcp_servers().await, Ok(vec![notes, off]));

    let ann = add_user(&store).await;
    let sign_in = McpSignIn {
        state_hash: [1; 32],
        owner: ann,
        server: "mail".to_owned(),
        sealed: vec![1],
        expires_at: 99,
    };
    store.begin_mcp_sign_in(&sign_in, 9, 1).await.unwrap();
    for name in ["mail", "notes"] {
        store.put_mcp_credential(ann, name, &[7], 1).await.unwrap();
        store.put_mcp_client(name, Some(&[8])).await.unwrap();
    }
    store.delete_mcp_server("mail").await.unwrap();
    assert_eq!(store.mcp_credential(ann, "mail").await, Ok(None));
    assert_eq!(store.mcp_client("mail").await, Ok(None));
    assert_eq!(store.take_mcp_sign_in(&[1; 32], ann, 2).await, Ok(None));
    assert_eq!(store.mcp_credential(ann, "notes").await, Ok(Some(vec![7])));
    assert_eq!(store.mcp_client("notes").await, Ok(Some(vec![8])));
    let gone = Err(StoreError::NotFound);
    assert_eq!(store.delete_mcp_server("mail").await, gone);
    assert_eq!(store.set_mcp_server(&mail).await, gone);
}

async fn a_change_moves_its_counter(store: Store) {
    let number = async |topic| {
        let changes = store.setting_changes().await.unwrap();
        changes.get(&topic).copied().unwrap_or_default()
    };
    let before = number(SettingTopic::McpServers).await;
    store
        .create_mcp_server(&server("notes", 1), 9)
        .await
        .unwrap();
    store.set_mcp_server(&server("notes", 1)).await.unwrap();
    assert_eq!(number(SettingTopic::McpServers).await, before + 2);
    // What fails changes nothing.
    store
        .create_mcp_server(&server("notes", 1), 9)
        .await
        .unwrap_err();
    store.delete_mcp_server("other").await.unwrap_err();
    assert_eq!(number(SettingTopic::McpServers).await, before + 2);

    let values = number(SettingTopic::Values).await;
    store
        .put_setting(&UserId::generate().to_string(), &json!(1))
        .await
        .unwrap();
    assert_eq!(number(SettingTopic::Values).await, values + 1);
    let agents = number(SettingTopic::Agents).await;
    store.create_agent("a", &json!({}), 1).await.unwrap();
    store.replace_agent("a", &json!({})).await.unwrap();
    store.delete_agent("a").await.unwrap();
    assert_eq!(number(SettingTopic::Agents).await, agents + 3);
}
