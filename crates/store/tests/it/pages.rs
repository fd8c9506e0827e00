//! Copies of pages of the web, and crawls.

use domain::{CollectionId, CrawlId, DocumentId, PageId, UserId};
use store::{Collection, Crawl, CrawlState, NewPage, Page, Store, StoreError, Visited};

use crate::fixtures::add_user;

on_every_database!(
    copies_stay_as_they_were,
    the_oldest_copies_go,
    a_crawl_is_claimed_and_ends
);

fn page(owner: UserId, url: &str, content: &str, now: i64) -> NewPage {
    let page = Page {
        id: PageId::generate(),
        owner,
        url: url.into(),
        title: "T".into(),
        content: content.into(),
        etag: Some("e".into()),
        last_modified: None,
        fetched_at: now,
        checked_at: now,
    };
    NewPage {
        asked: url.into(),
        page,
    }
}

async fn copies_stay_as_they_were(store: Store) {
    let ada = add_user(&store).await;
    let bob = add_user(&store).await;
    let first = store
        .keep_page(&page(ada, "https://a/", "one", 1), 1000)
        .await
        .unwrap();
    let same = store
        .keep_page(&page(ada, "https://a/", "one", 2), 1000)
        .await
        .unwrap();
    assert_eq!(
        (same.id, same.fetched_at, same.checked_at),
        (first.id, 1, 2)
    );
    let second = store
        .keep_page(&page(ada, "https://a/", "two", 3), 1000)
        .await
        .unwrap();
    assert_ne!(second.id, first.id);
    assert_eq!(
        store.latest_page(ada, "https://a/").await.unwrap(),
        Some(second)
    );
    assert_eq!(store.page(first.id).await.unwrap().content, "one");
    assert_eq!(store.latest_page(bob, "https://a/").await.unwrap(), None);
    assert_eq!(
        store.page(PageId::generate()).await.unwrap_err(),
        StoreError::NotFound
    );
}

async fn the_oldest_copies_go(store: Store) {
    let ada = add_user(&store).await;
    let bob = add_user(&store).await;
    let bobs = store
        .keep_page(&page(bob, "https://a/", "0123456789", 1), 25)
        .await
        .unwrap();
    let mut kept = Vec::new();
    for number in 0..4 {
        let url = format!("https://a/{number}");
        kept.push(
            store
                .keep_page(&page(ada, &url, "0123456789", number), 25)
                .await
                .unwrap()
                .id,
        );
    }
    for (id, is_there) in kept.iter().zip([false, false, true, true]) {
        assert_eq!(store.page(*id).await.is_ok(), is_there);
    }
    let large = store
        .keep_page(&page(ada, "https://a/l", &"x".repeat(100), 9), 25)
        .await
        .unwrap();
    assert!(
        store.page(large.id).await.is_ok(),
        "what was read just now stays"
    );
    assert!(
        store.page(bobs.id).await.is_ok(),
        "another's are not counted"
    );
}

async fn a_crawl_is_claimed_and_ends(store: Store) {
    let ada = add_user(&store).await;
    let bob = add_user(&store).await;
    let id = CollectionId::generate();
    let collection = Collection {
        id,
        owner: ada,
        name: "C".into(),
        description: String::new(),
        open: true,
        attached: false,
        version: 0,
        created_at: 1,
        updated_at: 1,
    };
    store.create_collection(&collection, 3).await.unwrap();
    let new = Crawl {
        id: CrawlId::generate(),
        collection: id,
        url: "https://a/".into(),
        depth: 2,
        most_pages: 3,
        state: CrawlState::Running,
        created_at: 5,
        updated_at: 5,
        waiting: 1,
        done: 0,
        failed: 0,
    };
    assert_eq!(
        store.begin_crawl(bob, &new, 1).await.unwrap_err(),
        StoreError::NotFound
    );
    assert_eq!(store.begin_crawl(ada, &new, 1).await.unwrap(), new);
    let another = Crawl {
        id: CrawlId::generate(),
        ..new.clone()
    };
    assert_eq!(
        store.begin_crawl(ada, &another, 1).await.unwrap_err(),
        StoreError::Conflict("crawls")
    );
    assert_eq!(
        store
            .claim_crawl(10, 20, |url| url != "https://a/")
            .await
            .unwrap(),
        None,
        "it is not wanted"
    );
    let (claimed, owner) = store
        .claim_crawl(10, 20, |url| url == "https://a/")
        .await
        .unwrap()
        .unwrap();
    assert_eq!((claimed.id, owner), (new.id, ada));
    assert_eq!(store.claim_crawl(15, 25, |_| true).await.unwrap(), None);
    let first = store.next_to_crawl(new.id).await.unwrap().unwrap();
    let links: Vec<String> = [
        "https://a/",
        "https://a/1",
        "https://a/1",
        "https://a/2",
        "https://a/3",
    ]
    .map(String::from)
    .into();
    let done = Visited::Done {
        document: DocumentId::generate(),
        content_sum: "one".into(),
    };
    assert!(!store.has_crawled(new.id, "one").await.unwrap());
    store
        .settle_crawled(new.id, &first, &done, &links, 3)
        .await
        .unwrap();
    assert!(
        store.has_crawled(new.id, "one").await.unwrap()
            && !store.has_crawled(another.id, "one").await.unwrap()
    );
    let next = store.next_to_crawl(new.id).await.unwrap().unwrap();
    assert_eq!((next.url.as_str(), next.depth), ("https://a/1", 1));
    store
        .settle_crawled(new.id, &next, &Visited::Failed("no".into()), &[], 3)
        .await
        .unwrap();
    let crawl = store.crawl(new.id).await.unwrap();
    assert_eq!(
        (crawl.waiting, crawl.done, crawl.failed),
        (1, 1, 1),
        "no more than its addresses"
    );
    assert_eq!(
        store.failed_pages(new.id, 9).await.unwrap()[0]
            .problem
            .as_deref(),
        Some("no")
    );
    store.leave_crawl(new.id, false, 16).await.unwrap();
    assert!(
        store.claim_crawl(17, 30, |_| true).await.unwrap().is_some(),
        "it was given back"
    );
    assert_eq!(
        store.cancel_crawl(bob, id, new.id, 18).await.unwrap_err(),
        StoreError::NotFound
    );
    assert_eq!(
        store.dismiss_crawl(ada, id, new.id, 18).await.unwrap_err(),
        StoreError::NotFound,
        "it runs"
    );
    store.cancel_crawl(ada, id, new.id, 18).await.unwrap();
    store.leave_crawl(new.id, true, 19).await.unwrap();
    assert_eq!(
        store.crawl(new.id).await.unwrap().state,
        CrawlState::Cancelled
    );
    assert_eq!(
        store.dismiss_crawl(bob, id, new.id, 20).await.unwrap_err(),
        StoreError::NotFound
    );
    store.dismiss_crawl(ada, id, new.id, 20).await.unwrap();
    assert_eq!(
        store.dismiss_crawl(ada, id, new.id, 20).await.unwrap_err(),
        StoreError::NotFound
    );
    assert!(
        store.crawls(id, 9).await.unwrap().is_empty()
            && store.crawl(new.id).await.unwrap().done == 1
    );
    store.go_on_crawling(ada, id, new.id, 20).await.unwrap();
    assert_eq!(
        store.crawls(id, 9).await.unwrap().len(),
        1,
        "it is listed again"
    );
    assert_eq!(
        store.next_to_crawl(new.id).await.unwrap().unwrap().url,
        "https://a/1",
        "also what failed"
    );
    store.delete_collection(ada, id).await.unwrap();
    assert_eq!(store.crawl(new.id).await.unwrap_err(), StoreError::NotFound);
}
