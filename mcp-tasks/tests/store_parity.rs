//! The behaviours that every store must have, against the stores of this crate.

use mcp_tasks::store::parity::{self, Place, Places};
use mcp_tasks::store::{MemoryStore, StoreFuture, TaskStore};

struct Memory;

impl Places for Memory {
    fn fresh(&self) -> StoreFuture<'_, Box<dyn Place>> {
        StoreFuture::ready(Ok(Box::new(InMemory(MemoryStore::new()))))
    }
}

struct InMemory(MemoryStore);

impl Place for InMemory {
    fn holder(&self) -> StoreFuture<'_, Box<dyn TaskStore>> {
        StoreFuture::ready(Ok(Box::new(self.0.share())))
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_memory_store_has_them_all() {
    parity::check(Memory).await;
}

#[cfg(feature = "sqlite")]
mod sqlite {
    use mcp_tasks::SqliteStore;
    use mcp_tasks::store::StoreError;
    use tempfile::TempDir;

    use super::{Place, Places, StoreFuture, TaskStore, parity};

    struct Files;

    impl Places for Files {
        fn fresh(&self) -> StoreFuture<'_, Box<dyn Place>> {
            let directory = tempfile::tempdir().unwrap();
            StoreFuture::ready(Ok(Box::new(InFile(directory))))
        }
    }

    struct InFile(TempDir);

    impl Place for InFile {
        fn holder(&self) -> StoreFuture<'_, Box<dyn TaskStore>> {
            let opened = SqliteStore::open(self.0.path().join("tasks.db"));
            StoreFuture::ready(match opened {
                Ok(store) => Ok(Box::new(store)),
                Err(error) => Err(StoreError::Unavailable(error.to_string())),
            })
        }
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn the_sqlite_store_has_them_all() {
        parity::check(Files).await;
    }
}
