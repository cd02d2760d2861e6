//! Takes money from one account and puts it into another, or back.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use mcp_tasks::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{open, server, tool_error};

#[derive(Debug, Serialize, Deserialize, thiserror::Error)]
enum BankError {
    #[error("there is no account `{0}`")]
    NoAccount(String),
    #[error("the bank is busy")]
    Busy,
}

/// What is in each account, and which bookings were made.
#[derive(Default)]
struct Bank {
    accounts: Mutex<HashMap<String, i64>>,
    bookings: Mutex<HashMap<String, u32>>,
}

impl Bank {
    /// Does nothing twice for one key; busy at the first try.
    async fn book(&self, account: &str, amount: i64, key: &str) -> Result<(), BankError> {
        tokio::task::yield_now().await;
        let mut bookings = self.bookings.lock().unwrap();
        let tries = bookings.entry(key.to_owned()).or_default();
        *tries += 1;
        if *tries == 1 {
            return Err(BankError::Busy);
        }
        let mut accounts = self.accounts.lock().unwrap();
        let balance = accounts.get_mut(account);
        *balance.ok_or_else(|| BankError::NoAccount(account.to_owned()))? += amount;
        Ok(())
    }
}

/// Transfers money; puts it back if it cannot arrive.
#[mcp_task(ttl = "7d")]
async fn transfer(
    from: String,
    to: String,
    #[arg(min = 1)] amount: i64,
    State(bank): State<Arc<Bank>>,
) -> Result<String, ToolError> {
    let retry = Retry::attempts(3).first(Duration::from_millis(1));
    step_with(retry, || async {
        bank.book(&from, -amount, &step_key()).await
    })
    .key("withdraw")
    .await?;
    let deposited = step_with(retry, || async {
        bank.book(&to, amount, &step_key()).await
    })
    .key("deposit")
    .typed()
    .await;
    match deposited {
        Ok(()) => Ok(format!("{amount} from {from} to {to}")),
        Err(error) => {
            step_with(retry, || async {
                bank.book(&from, amount, &step_key()).await
            })
            .key("refund")
            .await?;
            Err(ToolError::new(format!("put back: {error}")))
        }
    }
}

#[tokio::test]
async fn money_arrives_or_comes_back() {
    let bank = Arc::new(Bank::default());
    let balances = [("ada".to_owned(), 100), ("luca".to_owned(), 0)];
    bank.accounts.lock().unwrap().extend(balances);
    let (_server, client) = open(server().task(transfer).state(bank.clone())).await;

    let call = json!({"from": "ada", "to": "luca", "amount": 30});
    let id = client.task("transfer", call).await;
    assert_eq!(client.until_text(&id).await, "30 from ada to luca");
    let call = json!({"from": "ada", "to": "nobody", "amount": 50});
    let id = client.task("transfer", call).await;
    let words = tool_error(&client, &id).await;
    assert_eq!(words, "put back: there is no account `nobody`");

    let accounts = bank.accounts.lock().unwrap();
    assert_eq!((accounts["ada"], accounts["luca"]), (70, 30));
    let bookings = bank.bookings.lock().unwrap();
    assert!(bookings.keys().any(|key| *key == format!("{id}/refund")));
    assert_eq!(
        bookings[&format!("{id}/deposit")],
        3,
        "every try is one booking"
    );
}
