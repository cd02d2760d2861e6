//! A bounded queue from futures to a thread.
//!
//! Futures wait for room without blocking anything, and the thread can wait
//! for a limited time, which neither kind of channel does for the other.

use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use tokio::sync::Semaphore;

/// A queue with room for so many.
pub(super) fn queue<T>(size: usize) -> (Sender<T>, Receiver<T>) {
    let room = Arc::new(Semaphore::new(size));
    let (sender, receiver) = mpsc::channel();
    (
        Sender {
            values: sender,
            room: room.clone(),
        },
        Receiver {
            values: receiver,
            room,
            size,
        },
    )
}

pub(super) struct Sender<T> {
    values: mpsc::Sender<T>,
    room: Arc<Semaphore>,
}

/// Nobody takes anything out of the queue any more.
pub(super) struct Closed;

impl<T> Sender<T> {
    /// Puts something into the queue, when there is room.
    pub(super) async fn send(&self, value: T) -> Result<(), Closed> {
        let place = self.room.acquire().await.map_err(|_| Closed)?;
        // Given back by whoever takes it out.
        place.forget();
        self.values.send(value).map_err(|_| Closed)
    }
}

pub(super) struct Receiver<T> {
    values: mpsc::Receiver<T>,
    room: Arc<Semaphore>,
    size: usize,
}

/// What came out of a wait.
pub(super) enum Received<T> {
    Value(T),
    Nothing,
    /// All senders are gone, and everything was taken out.
    End,
}

impl<T> Receiver<T> {
    /// Waits for something; for as long as it takes, if there is no limit.
    pub(super) fn wait(&self, limit: Option<Duration>) -> Received<T> {
        let received = match limit {
            Some(limit) => self.values.recv_timeout(limit),
            None => self.values.recv().map_err(RecvTimeoutError::from),
        };
        match received {
            Ok(value) => {
                self.room.add_permits(1);
                Received::Value(value)
            }
            Err(RecvTimeoutError::Timeout) => Received::Nothing,
            Err(RecvTimeoutError::Disconnected) => Received::End,
        }
    }

    /// How many there are, or will be in a moment.
    pub(super) fn len(&self) -> usize {
        self.size.saturating_sub(self.room.available_permits())
    }

    /// Takes out what is there.
    pub(super) fn take(&self) -> Option<T> {
        let value = self.values.try_recv().ok()?;
        self.room.add_permits(1);
        Some(value)
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        self.room.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_full_queue_makes_senders_wait_and_no_other() {
        let (sender, receiver) = queue(2);
        assert!(sender.send(1).await.is_ok());
        assert!(sender.send(2).await.is_ok());
        let dropped = tokio::time::timeout(Duration::from_millis(1), sender.send(3));
        assert!(dropped.await.is_err(), "there was no room");
        let emptied = async { receiver.take() };
        let (sent, taken) = tokio::join!(sender.send(4), emptied);
        assert!(sent.is_ok());
        assert_eq!(taken, Some(1));
        assert_eq!(receiver.len(), 2);
        assert_eq!(receiver.take(), Some(2));
        assert_eq!(receiver.take(), Some(4));
        assert!(matches!(
            receiver.wait(Some(Duration::ZERO)),
            Received::Nothing
        ));
        drop(sender);
        assert!(matches!(receiver.wait(None), Received::End));
    }

    #[tokio::test]
    async fn a_queue_that_nobody_empties_is_closed() {
        let (sender, receiver) = queue(1);
        assert!(sender.send(1).await.is_ok());
        let second = sender.send(2);
        let close = async { drop(receiver) };
        let (sent, ()) = tokio::join!(second, close);
        assert!(sent.is_err());
    }
}
