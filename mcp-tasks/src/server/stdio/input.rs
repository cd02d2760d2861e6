//! The process's input, without holding up its end.
//!
//! tokio reads stdin on a thread that it waits for when it ends: a server that
//! is told to stop would stay until its client says something more.

use std::io::{self, Read as _};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::thread;

use tokio::io::{AsyncRead, ReadBuf};
use tokio::sync::mpsc;

/// How much is read at once.
const CHUNK: usize = 64 << 10;

/// How many chunks are read ahead.
const UNREAD: usize = 2;

/// What a thread of its own reads from stdin.
pub(in super::super) struct Stdin {
    chunks: mpsc::Receiver<io::Result<Vec<u8>>>,
    /// What of the last chunk has not been taken.
    left: Vec<u8>,
    taken: usize,
}

impl Stdin {
    pub(in super::super) fn open() -> io::Result<Self> {
        let (sender, chunks) = mpsc::channel(UNREAD);
        thread::Builder::new()
            .name("mcp-tasks-stdin".to_owned())
            .spawn(move || read_all(&sender))?;
        Ok(Self {
            chunks,
            left: Vec::new(),
            taken: 0,
        })
    }
}

fn read_all(chunks: &mpsc::Sender<io::Result<Vec<u8>>>) {
    let mut stdin = io::stdin().lock();
    loop {
        let mut chunk = vec![0; CHUNK];
        let read = match stdin.read(&mut chunk) {
            Ok(0) => return,
            Ok(length) => {
                chunk.truncate(length);
                Ok(chunk)
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => Err(error),
        };
        let failed = read.is_err();
        if chunks.blocking_send(read).is_err() || failed {
            return;
        }
    }
}

impl AsyncRead for Stdin {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.taken == self.left.len() {
            match ready!(self.chunks.poll_recv(cx)) {
                Some(chunk) => {
                    self.left = chunk?;
                    self.taken = 0;
                }
                None => return Poll::Ready(Ok(())),
            }
        }
        let length = buffer.remaining().min(self.left.len() - self.taken);
        buffer.put_slice(&self.left[self.taken..self.taken + length]);
        self.taken += length;
        Poll::Ready(Ok(()))
    }
}
