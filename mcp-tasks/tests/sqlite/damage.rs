//! What becomes of a file that is damaged where nobody looks when it is opened.

use std::fs;

use mcp_tasks::SqliteStore;
use mcp_tasks::store::{Activity, StoreError, TaskStore, Wanted};
use mcp_tasks::task::{Access, TaskId};
use rusqlite::Connection;
use tempfile::tempdir;

use crate::tasks::{answer, asking, claim_all, create, enlisted, now, tools};

#[tokio::test]
async fn a_damaged_page_is_an_error_in_words_and_not_a_crash() {
    let directory = tempdir().unwrap();
    let file = directory.path().join("tasks.db");
    let store = enlisted(&file).await;
    for number in 0..200 {
        asking(&store, &number.to_string(), Activity::Parked).await;
    }
    drop(store);
    // Everything but the schema.
    let mut bytes = fs::read(&file).unwrap();
    let schema = 24 * 4096;
    bytes[schema..].fill(0x55);
    fs::write(&file, &bytes).unwrap();

    let store = SqliteStore::open(&file).unwrap();
    let id = TaskId::from_text("7");
    let errors = [
        store.get(&id, Access::Server).await.unwrap_err(),
        store.cancel(&id, Access::Server, now()).await.unwrap_err(),
        store.read(&id, 0).await.unwrap_err(),
    ];
    for error in errors {
        assert!(matches!(error, StoreError::Unavailable(_)), "{error:?}");
        let words = error.to_string();
        assert!(words.contains("the file is damaged"), "{words}");
        assert!(words.contains("put back a copy"), "{words}");
    }
}

#[tokio::test]
async fn a_task_whose_journal_is_damaged_is_in_nobodys_way() {
    let directory = tempdir().unwrap();
    let file = directory.path().join("tasks.db");
    let store = enlisted(&file).await;
    for id in ["whole", "nonsense", "gap", "from the future"] {
        let claim = asking(&store, id, Activity::Parked).await;
        answer(&store, &claim.snapshot.id).await;
    }
    drop(store);
    let other = Connection::open(&file).unwrap();
    let task = "task = (SELECT task FROM tasks WHERE id =";
    let damage = format!(
        "UPDATE journal SET event = '{{' WHERE seq = 2 AND {task} 'nonsense');
         DELETE FROM journal WHERE seq = 3 AND {task} 'gap');
         UPDATE journal SET format = 2 WHERE seq = 3 AND {task} 'from the future');"
    );
    other.execute_batch(&damage).unwrap();
    drop(other);

    let store = enlisted(&file).await;
    let claims = claim_all(&store).await;
    let ids: Vec<&str> = claims
        .iter()
        .map(|claim| claim.snapshot.id.as_str())
        .collect();
    assert_eq!(ids, ["whole"]);
    for (id, words) in [
        ("nonsense", "entry 2 cannot be read"),
        ("gap", "ends with entry 2 and not 3"),
        ("from the future", "newer version (format 2)"),
    ] {
        let id = TaskId::from_text(id);
        let wanted = Wanted {
            only: Some(&id),
            tools: &tools(),
            limit: 1,
        };
        let cancelled = store.cancel(&id, Access::Server, now()).await;
        let error = cancelled.unwrap_err();
        assert!(matches!(error, StoreError::Damaged { .. }), "{error:?}");
        assert!(error.to_string().contains(words), "{error}");
        // It is still there to be looked at.
        assert!(store.get(&id, Access::Server).await.unwrap().is_some());
        // And does not come up again and again.
        assert!(store.claim(&wanted, now()).await.unwrap().claims.is_empty());
    }
    create(&store, "another").await;
}
