//! What people have signed in to MCP servers with.

use domain::UserId;
use store::{McpSignIn, Store, StoreError};

use crate::fixtures::add_user;

on_every_database!(
    keeps_each_persons_own,
    a_late_change_does_not_bring_it_back,
    is_finished_once_and_in_time
);

async fn keeps_each_persons_own(store: Store) {
    let ann = add_user(&store).await;
    let bob = add_user(&store).await;
    store
        .put_mcp_credential(ann, "a", &[0, 255], 1)
        .await
        .unwrap();
    store.put_mcp_credential(ann, "a", &[7], 2).await.unwrap();
    store.put_mcp_credential(bob, "a", &[8], 2).await.unwrap();
    assert_eq!(store.mcp_credential(ann, "a").await, Ok(Some(vec![7])));
    assert_eq!(store.mcp_credential(ann, "b").await, Ok(None));
    store.delete_mcp_credential(ann, "a").await.unwrap();
    assert_eq!(store.mcp_credential(ann, "a").await, Ok(None));
    assert_eq!(store.mcp_credential(bob, "a").await, Ok(Some(vec![8])));
    let nobody = store
        .put_mcp_credential(UserId::generate(), "a", &[1], 1)
        .await;
    assert_eq!(nobody, Err(StoreError::NotFound));
    for sealed in [Some(&[1_u8, 2][..]), Some(&[3][..]), None] {
        store.put_mcp_client("a", sealed).await.unwrap();
        assert_eq!(store.mcp_client("a").await, Ok(sealed.map(<[u8]>::to_vec)));
    }
}

async fn a_late_change_does_not_bring_it_back(store: Store) {
    let ann = add_user(&store).await;
    store.put_mcp_credential(ann, "a", &[1], 1).await.unwrap();
    let change = async |old: u8, new: u8| {
        store
            .replace_mcp_credential(ann, "a", &[old], &[new], 2)
            .await
    };
    assert_eq!(change(1, 2).await, Ok(true));
    assert_eq!(change(1, 3).await, Ok(false));
    store.delete_mcp_credential(ann, "a").await.unwrap();
    assert_eq!(change(2, 3).await, Ok(false));
    assert_eq!(store.mcp_credential(ann, "a").await, Ok(None));
}

async fn is_finished_once_and_in_time(store: Store) {
    let ann = add_user(&store).await;
    let bob = add_user(&store).await;
    let begun = |state: u8| McpSignIn {
        state_hash: [state; 32],
        owner: ann,
        server: "a".to_owned(),
        sealed: vec![state, 0],
        expires_at: 10,
    };
    store.begin_mcp_sign_in(&begun(1), 2, 0).await.unwrap();
    store.begin_mcp_sign_in(&begun(2), 2, 0).await.unwrap();
    assert_eq!(
        store.begin_mcp_sign_in(&begun(3), 2, 0).await,
        Err(StoreError::Conflict("limit"))
    );
    assert_eq!(
        store.take_mcp_sign_in(&[1; 32], bob, 5).await,
        Ok(None),
        "another's"
    );
    let taken = Some(("a".to_owned(), vec![1, 0]));
    assert_eq!(store.take_mcp_sign_in(&[1; 32], ann, 5).await, Ok(taken));
    assert_eq!(
        store.take_mcp_sign_in(&[1; 32], ann, 5).await,
        Ok(None),
        "taken before"
    );
    assert_eq!(
        store.take_mcp_sign_in(&[2; 32], ann, 10).await,
        Ok(None),
        "too late"
    );
    store.begin_mcp_sign_in(&begun(3), 1, 10).await.unwrap();
}
