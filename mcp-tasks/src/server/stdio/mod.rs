//! The line filter in front of rmcp on stdin and stdout.
//!
//! It reads each line once, answers what is ours, and gives the rest to rmcp.
//! It alone writes to stdout, and it knows every request that has no reply yet:
//! so a second request with the same id is refused, a cancelled one gets no
//! reply, and none is left hanging when a part of the server fails.

mod connection;
mod in_flight;
mod input;
mod lines;
mod listening;

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use self::connection::{Connection, Output};
pub(super) use self::input::Stdin;
#[cfg(feature = "http")]
pub(super) use self::lines::one_line;
use super::engine::Engine;
use super::era::Versions;
use crate::router::Router;
use crate::task::Caller;

/// How many replies may wait for a client that does not read. A client that
/// writes this many requests before it reads is still served.
const UNWRITTEN: usize = 1024;

/// How many messages of subscriptions may wait for a client that does not read:
/// each is made when there is room for it, of what is then so.
const UNWRITTEN_NOTICES: usize = 1;

/// How many lines are read ahead.
const UNREAD: usize = 4;

/// How long calls that were on the way may still finish when the input ends, so
/// that `echo '{..}' | server` shows a reply.
const LAST_REPLIES: Duration = Duration::from_millis(250);

/// How long the last replies may take to be written.
const LAST_WRITES: Duration = Duration::from_secs(2);

/// What serves a connection.
pub(super) struct StdioServer {
    pub(super) router: Router,
    pub(super) engine: Arc<Engine>,
    pub(super) versions: Arc<Versions>,
    pub(super) message_limit: usize,
    /// Whose requests all are.
    pub(super) caller: Caller,
    /// Once it fires, the server ends.
    pub(super) stop: CancellationToken,
}

/// Serves one client until its input ends, or the server does, which ends its
/// subscriptions in good order.
///
/// # Errors
///
/// Those of reading and writing, except that the client went away: that is how a
/// connection ends.
pub(super) async fn serve<R, W>(server: Arc<StdioServer>, input: R, output: W) -> io::Result<()>
where
    R: AsyncRead + Unpin + Send + 'static,
    W: AsyncWrite + Unpin + Send + 'static,
{
    let (replies, replies_to_write) = mpsc::channel(UNWRITTEN);
    let (notices, notices_to_write) = mpsc::channel(UNWRITTEN_NOTICES);
    let to_write = [replies_to_write, notices_to_write];
    let mut writing = tokio::spawn(lines::write(output, to_write));
    let (unread, mut read) = mpsc::channel(UNREAD);
    let reading = tokio::spawn(lines::read(input, server.message_limit, unread));

    let stop = server.stop.clone();
    let mut connection = Connection::new(server, Output { replies, notices });
    loop {
        tokio::select! {
            () = stop.cancelled() => {
                reading.abort();
                break;
            }
            line = read.recv() => match line {
                Some(line) => connection.receive(line).await,
                None => break,
            },
            happened = connection.next() => connection.handle(happened).await,
            written = &mut writing => {
                reading.abort();
                return unless_gone(written?);
            }
        }
    }
    connection.end_subscriptions();
    if stop.is_cancelled() {
        // Whoever stops the server says for how long.
        connection.settle().await;
    } else {
        // Past this, what has not been answered is dropped.
        let _ = timeout(LAST_REPLIES, connection.settle()).await;
    }
    drop(connection);
    if let Ok(written) = timeout(LAST_WRITES, writing).await {
        unless_gone(written?)?;
    }
    match reading.await {
        Err(stopped) if stopped.is_cancelled() => Ok(()),
        read => read?,
    }
}

fn unless_gone(written: io::Result<()>) -> io::Result<()> {
    match written {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => written,
    }
}
