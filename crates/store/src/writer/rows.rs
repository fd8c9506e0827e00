//! Writes many rows with one statement, so that an invalid one does not affect the others.

use std::{collections::HashSet, hash::Hash, slice};

use crate::{StoreError, db::Db};

/// A kind of row that is written in batches.
pub(crate) trait Rows: Sized + Sync {
    /// The key that must be unique within one statement.
    type Key<'a>: Eq + Hash + Send
    where
        Self: 'a;
    /// The database's result for a written row.
    type Answer: Send;
    /// Maximum number in one statement.
    const MAX_ROWS: usize;

    fn key(&self) -> Self::Key<'_>;

    /// Writes rows with different keys in one statement, atomically; one result for each.
    fn write(
        db: &Db,
        rows: &[Self],
    ) -> impl Future<Output = Result<Vec<Self::Answer>, StoreError>> + Send;
}

/// Writes the rows in order; one outcome for each.
pub(super) async fn write_rows<T: Rows>(db: &Db, rows: &[T]) -> Vec<Result<T::Answer, StoreError>> {
    let mut outcomes = Vec::with_capacity(rows.len());
    let mut rest = rows;
    while !rest.is_empty() {
        let (together, later) = rest.split_at(count_different(rest));
        match T::write(db, together).await {
            Ok(answers) => outcomes.extend(answers.into_iter().map(Ok)),
            // One of them cannot be written, and it is unknown which.
            Err(
                StoreError::Conflict(_)
                | StoreError::Deadlock(_)
                | StoreError::NotFound
                | StoreError::Refused(_),
            ) if together.len() > 1 => {
                write_each(db, together, &mut outcomes).await;
            }
            Err(error) => outcomes.extend(together.iter().map(|_| Err(error.clone()))),
        }
        rest = later;
    }
    outcomes
}

/// How many rows from the start have different keys and fit into one statement; at least one.
fn count_different<T: Rows>(rows: &[T]) -> usize {
    let mut seen = HashSet::new();
    rows.iter()
        .take(T::MAX_ROWS)
        .take_while(|row| seen.insert(row.key()))
        .count()
}

/// Writes each row separately, until the database is gone.
async fn write_each<T: Rows>(
    db: &Db,
    rows: &[T],
    outcomes: &mut Vec<Result<T::Answer, StoreError>>,
) {
    let mut down = None;
    for row in rows {
        let outcome = match &down {
            None => T::write(db, slice::from_ref(row)).await,
            Some(error) => Err(StoreError::clone(error)),
        };
        if let Err(error) = &outcome
            && error.is_outage()
        {
            down = Some(error.clone());
        }
        outcomes.push(
            outcome.and_then(|answers| answers.into_iter().next().ok_or(StoreError::NotFound)),
        );
    }
}

#[cfg(test)]
mod tests {
    use domain::{RunId, UserId};

    use super::*;
    use crate::{
        Store,
        writer::fixtures::{add_user, new_run},
    };

    #[tokio::test]
    async fn one_row_of_a_batch_does_not_harm_the_others() {
        let store = Store::open("sqlite::memory:").await.unwrap();
        let owner = add_user(&store).await;
        let [a, b, c, d] = [(); 4].map(|()| RunId::generate());
        store.create_run(&new_run(d, owner)).await.unwrap();
        let no_user = UserId::generate();
        let rows = [
            (a, owner),
            (b, no_user),
            (c, owner),
            (a, owner),
            (d, owner),
            (b, owner),
        ];
        let rows = rows.map(|(id, owner)| new_run(id, owner));
        let taken = Err(StoreError::Conflict("id"));
        let expected = [
            Ok(()),
            Err(StoreError::NotFound),
            Ok(()),
            taken.clone(),
            taken,
            Ok(()),
        ];
        let outcomes: Vec<_> = write_rows(store.db(), &rows)
            .await
            .into_iter()
            .map(|it| it.map(drop))
            .collect();
        assert_eq!(outcomes, expected);
        let stored = store.unfinished_runs().await.unwrap().len();
        assert_eq!(stored, 4);
    }

    #[tokio::test]
    async fn all_waiters_learn_of_a_lost_database() {
        let store = Store::open("sqlite::memory:").await.unwrap();
        let owner = add_user(&store).await;
        store.close().await;
        let rows = [(); 3].map(|()| new_run(RunId::generate(), owner));
        let outcomes = write_rows(store.db(), &rows).await;
        let all_reported = outcomes
            .iter()
            .all(|outcome| matches!(outcome, Err(StoreError::Unavailable(_))));
        assert!(all_reported && outcomes.len() == 3, "{outcomes:?}");
    }
}
