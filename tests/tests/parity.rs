//! The behaviours that every store must have, against PostgreSQL; those of the other
//! stores are in the crate's own tests.

use mcp_tasks::PostgresStore;
use mcp_tasks::store::parity::{self, Place, Places};
use mcp_tasks::store::{StoreError, StoreFuture, TaskStore};
use mcp_tasks_tests::postgres::Database;

struct Databases;

impl Places for Databases {
    fn fresh(&self) -> StoreFuture<'_, Box<dyn Place>> {
        StoreFuture::new(async {
            let database = Database::create().await;
            Ok(Box::new(InDatabase(database)) as Box<dyn Place>)
        })
    }

    fn has_a_clock(&self) -> bool {
        true
    }
}

struct InDatabase(Database);

impl Place for InDatabase {
    fn holder(&self) -> StoreFuture<'_, Box<dyn TaskStore>> {
        StoreFuture::new(async {
            match PostgresStore::connect(self.0.url()).await {
                Ok(store) => Ok(Box::new(store) as Box<dyn TaskStore>),
                Err(error) => Err(StoreError::Unavailable(error.to_string())),
            }
        })
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs PostgreSQL"]
async fn the_postgres_store_has_them_all() {
    parity::check(Databases).await;
}
