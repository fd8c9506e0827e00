//! Sealed logs: read like others, and replaced in one step.

use domain::{
    AgentPath, RunId, UserId,
    event::{EventBody, RunEvent},
};
use store::{Segment, Store, StoreError};

use crate::{
    fixtures::{add_run, add_user, segment, summary},
    objects::Storage,
};

on_every_database!(
    a_sealed_log_reads_as_before,
    large_logs_are_objects,
    only_ended_runs_are_sealed,
    two_seal_one_log,
    a_damaged_part_is_an_error,
    a_sealed_log_goes_on,
    sealing_is_atomic_while_others_read,
    logs_get_much_smaller,
);

/// Stores an ended run with segments of these numbers of events.
async fn ended(store: &Store, owner: UserId, segments: &[Segment]) -> RunId {
    let run = add_run(store, owner).await;
    for part in segments {
        let part = Segment {
            run,
            ..part.clone()
        };
        store.append(part).await.unwrap();
    }
    finish(store, run).await;
    run
}

async fn finish(store: &Store, run: RunId) {
    store
        .finish_run(run, 5_000, &summary("done"))
        .await
        .unwrap();
}

/// A log as a model server writes one, with the words of a text.
fn real_log(run: RunId, text: &str, words_each: usize) -> Vec<Segment> {
    let words: Vec<&str> = text.split_inclusive(' ').collect();
    let mut events = vec![EventBody::TextStarted { item: "t1".into() }];
    events.extend(words.chunks(words_each).map(|words| EventBody::TextDelta {
        item: "t1".into(),
        delta: words.concat(),
    }));
    let event = |(at, body)| {
        let seq = at as u64 + 1;
        let event = RunEvent {
            run,
            seq,
            at: 1_790_000_000_000 + seq as i64 * 27,
            agent: AgentPath::default(),
            body,
        };
        (seq, serde_json::to_string(&event).unwrap())
    };
    // A beat of 25 ms stores one or two events.
    Segment::cut(run, events.into_iter().enumerate().map(event), 200)
}

/// The lines of a log after an event, read in pages.
async fn lines(store: &Store, run: RunId, after: u64, limit_bytes: usize) -> Vec<(u64, String)> {
    let mut found: Vec<(u64, String)> = Vec::new();
    loop {
        let after = found.last().map_or(after, |(seq, _)| *seq);
        let page = store.events_after(run, after, limit_bytes).await.unwrap();
        if page.is_empty() {
            return found;
        }
        for segment in page {
            let numbered = (segment.first_seq..).zip(segment.lines.lines());
            let numbered = numbered.filter(|(seq, _)| *seq > after);
            found.extend(numbered.map(|(seq, line)| (seq, line.to_owned())));
        }
    }
}

async fn a_sealed_log_reads_as_before(store: Store) {
    let owner = add_user(&store).await;
    // With a gap, as after a restart.
    let segments = [
        (1, 1),
        (2, 40),
        (1_000_001, 1_000_300),
        (1_000_301, 1_000_301),
    ]
    .map(|(first, last)| segment(RunId::generate(), first, last));
    let run = ended(&store, owner, &segments).await;
    let whole = lines(&store, run, 0, 100_000).await;
    assert_eq!(whole.len(), 341);
    assert_eq!(store.logs_to_seal(5_001, 10).await.unwrap(), [run]);
    let sealed = store.seal_log(run).await.unwrap().unwrap();
    assert!(sealed.bytes < sealed.raw_bytes, "{sealed:?}");
    assert_eq!(store.logs_to_seal(5_001, 10).await.unwrap(), []);
    assert_eq!(store.seal_log(run).await, Ok(None));
    assert_eq!(store.run(run).await.unwrap().last_seq, 1_000_301);
    for after in [
        0, 1, 2, 39, 40, 41, 1_000_000, 1_000_001, 1_000_300, 1_000_301, 2_000_000,
    ] {
        for limit_bytes in [1, 500, 100_000] {
            let expected: Vec<_> = whole
                .iter()
                .filter(|(seq, _)| *seq > after)
                .cloned()
                .collect();
            assert_eq!(
                lines(&store, run, after, limit_bytes).await,
                expected,
                "{after}"
            );
        }
    }
    // Deletion takes it along.
    store.purge_runs(6_000).await.unwrap();
    assert_eq!(store.events_after(run, 0, 1).await, Ok(Vec::new()));
}

async fn large_logs_are_objects(store: Store) {
    let owner = add_user(&store).await;
    let id = RunId::generate();
    // Numbers at random do not compress well.
    let mut number = 7_u64;
    let text: String = (0..60_000)
        .map(|_| {
            number = number
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            format!("{number:x} ")
        })
        .collect();
    let run = ended(&store, owner, &real_log(id, &text, 5)).await;
    let whole = lines(&store, run, 0, 1_000_000).await;
    let storage = Storage::of(&store);
    let sealed = store.seal_log(run).await.unwrap().unwrap();
    assert!(sealed.bytes > 100_000, "{sealed:?}");
    let file = storage.file().await;
    assert_eq!(std::fs::metadata(&file).unwrap().len(), sealed.bytes);
    assert_eq!(lines(&store, run, 0, 100_000).await, whole);
    assert_eq!(lines(&store, run, 9_000, 1).await, whole[9_000..]);
    // It is a file that other programs read.
    let mut read = String::new();
    let content = std::fs::read(&file).unwrap();
    let mut decoder = flate2::read::MultiGzDecoder::new(&*content);
    std::io::Read::read_to_string(&mut decoder, &mut read).unwrap();
    assert_eq!(read.lines().count(), whole.len());
    let mut damaged = content.clone();
    damaged[2_000] ^= 1;
    std::fs::write(&file, damaged).unwrap();
    let error = store.events_after(run, 0, 1).await.unwrap_err();
    assert!(matches!(error, StoreError::Corrupt(_)), "{error}");
    std::fs::remove_file(&file).unwrap();
    let error = store.events_after(run, 0, 1).await.unwrap_err();
    assert!(matches!(error, StoreError::Corrupt(_)), "{error}");
}

async fn only_ended_runs_are_sealed(store: Store) {
    let owner = add_user(&store).await;
    let going_on = add_run(&store, owner).await;
    store.append(segment(going_on, 1, 3)).await.unwrap();
    let empty = add_run(&store, owner).await;
    finish(&store, empty).await;
    assert_eq!(store.logs_to_seal(i64::MAX, 10).await.unwrap(), [empty]);
    for run in [going_on, empty, RunId::generate()] {
        assert_eq!(store.seal_log(run).await, Ok(None));
    }
    assert_eq!(store.logs_to_seal(i64::MAX, 10).await.unwrap(), []);
    store.append(segment(going_on, 4, 4)).await.unwrap();
    finish(&store, going_on).await;
    assert_eq!(store.logs_to_seal(5_000, 10).await.unwrap(), []);
    assert_eq!(store.logs_to_seal(5_001, 10).await.unwrap(), [going_on]);
    assert!(store.seal_log(going_on).await.unwrap().is_some());
}

async fn two_seal_one_log(store: Store) {
    let owner = add_user(&store).await;
    let segments = [segment(RunId::generate(), 1, 500)];
    let run = ended(&store, owner, &segments).await;
    let whole = lines(&store, run, 0, 1_000).await;
    let (one, other) = tokio::join!(store.seal_log(run), store.seal_log(run));
    let sealed = [one.unwrap(), other.unwrap()];
    assert_eq!(sealed.iter().flatten().count(), 1, "{sealed:?}");
    assert_eq!(lines(&store, run, 0, 1_000).await, whole);
}

/// A log whose lines are not those of its events stays as it is.
async fn a_damaged_part_is_an_error(store: Store) {
    let owner = add_user(&store).await;
    let odd = Segment {
        lines: "{}\n{}\n".into(),
        ..segment(RunId::generate(), 1, 3)
    };
    let run = ended(&store, owner, &[odd]).await;
    assert_eq!(store.seal_log(run).await, Ok(None));
    assert_eq!(store.logs_to_seal(i64::MAX, 10).await.unwrap(), []);
    assert_eq!(
        &*store.events_after(run, 0, 1).await.unwrap()[0].lines,
        "{}\n{}\n"
    );
}

/// Events that come after all are read after those of the sealed log.
async fn a_sealed_log_goes_on(store: Store) {
    let owner = add_user(&store).await;
    let run = ended(&store, owner, &[segment(RunId::generate(), 1, 20)]).await;
    store.seal_log(run).await.unwrap().unwrap();
    let refused = store.append(segment(run, 1, 1)).await;
    assert_eq!(refused, Err(StoreError::Conflict("seq")));
    store.append(segment(run, 21, 22)).await.unwrap();
    assert_eq!(store.run(run).await.unwrap().last_seq, 22);
    let numbers: Vec<u64> = lines(&store, run, 0, 1)
        .await
        .iter()
        .map(|it| it.0)
        .collect();
    assert_eq!(numbers, (1..=22).collect::<Vec<_>>());
    assert_eq!(lines(&store, run, 20, 1).await.len(), 2);
}

async fn sealing_is_atomic_while_others_read(store: Store) {
    let owner = add_user(&store).await;
    let segments: Vec<_> = (0..100)
        .map(|at| segment(RunId::generate(), at * 3 + 1, at * 3 + 3))
        .collect();
    for _ in 0..5 {
        let run = ended(&store, owner, &segments).await;
        let read = async || lines(&store, run, 0, 300).await.len();
        let (sealed, a, b, c) = tokio::join!(store.seal_log(run), read(), read(), read());
        assert!(sealed.unwrap().is_some());
        assert_eq!([a, b, c, read().await], [300; 4]);
    }
}

async fn logs_get_much_smaller(store: Store) {
    let owner = add_user(&store).await;
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../");
    for (name, words) in [
        ("ARCHITECTURE.md", 1),
        ("CONTRIBUTING.md", 2),
        ("docs/operate/backup.md", 1),
    ] {
        let text = std::fs::read_to_string(format!("{root}{name}")).unwrap();
        let run = ended(&store, owner, &real_log(RunId::generate(), &text, words)).await;
        let sealed = store.seal_log(run).await.unwrap().unwrap();
        let ratio = sealed.raw_bytes as f64 / sealed.bytes as f64;
        println!("{name}: {sealed:?}, {ratio:.1} times smaller");
        assert!(ratio >= 8.0, "{name}: {sealed:?}");
    }
}
