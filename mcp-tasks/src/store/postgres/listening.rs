//! The connection on which a replica hears what others tell.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Weak;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio_postgres::{AsyncMessage, Config};

use super::ledger::Ledger;
use super::tls::Tls;
use super::trouble::in_words;

/// How long to wait before a connection that was lost is made again, at first and
/// at most.
const REST: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(1));

/// Listens for as long as the store is there.
pub(super) async fn listen(ledger: Weak<Ledger>, config: Config, tls: Tls) {
    let (first, longest) = REST;
    let mut rest = first;
    loop {
        let heard = listen_once(&ledger, &config, Tls::clone(&tls)).await;
        let Some(ledger) = ledger.upgrade() else {
            return;
        };
        if ledger.news.hears.swap(false, Ordering::Relaxed) {
            rest = first;
        }
        if let Err(error) = heard {
            let words = in_words(&error);
            tracing::warn!("cannot hear what other replicas do, trying again: {words}");
        }
        drop(ledger);
        tokio::time::sleep(rest).await;
        rest = (rest * 2).min(longest);
    }
}

async fn listen_once(
    ledger: &Weak<Ledger>,
    config: &Config,
    tls: Tls,
) -> Result<(), tokio_postgres::Error> {
    let (client, mut connection) = config.connect(tls).await?;
    let Some(channel) = ledger.upgrade().map(|ledger| ledger.name.channel()) else {
        return Ok(());
    };
    let listen = format!("LISTEN \"{}\"", channel.replace('"', "\"\""));
    let mut listening = pin!(client.batch_execute(&listen));
    let mut listens = false;
    loop {
        let message = tokio::select! {
            done = &mut listening, if !listens => {
                done?;
                listens = true;
                let Some(ledger) = ledger.upgrade() else { return Ok(()) };
                ledger.connections.is_back();
                ledger.beats.is_back();
                ledger.news.hears.store(true, Ordering::Relaxed);
                ledger.news.may_have_missed_something();
                continue;
            }
            message = poll_fn(|cx| connection.poll_message(cx)) => message,
        };
        match message {
            None => return Ok(()),
            Some(Err(error)) => return Err(error),
            Some(Ok(AsyncMessage::Notification(told))) => {
                let Some(ledger) = ledger.upgrade() else {
                    return Ok(());
                };
                for id in ledger.news.hear(told.payload()) {
                    ledger.forget(&id);
                }
            }
            Some(Ok(_)) => {}
        }
    }
}
