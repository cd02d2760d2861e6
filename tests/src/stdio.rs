//! Requests over a child's stdin and stdout, one line each.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{ChildStdin, ChildStdout};
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

use crate::{Gone, Listening, PATIENCE, Reply};

/// Who waits for the reply to which request; nothing once the server has closed
/// its output.
type Pending = Arc<Mutex<Option<Waiting>>>;

#[derive(Default)]
struct Waiting {
    replies: HashMap<u64, oneshot::Sender<String>>,
    /// By the request that began the subscription, which has no reply before
    /// the end.
    subscriptions: HashMap<u64, mpsc::UnboundedSender<String>>,
}

/// Both ends of one connection.
pub(crate) struct StdioWire {
    /// Nothing once it is closed.
    stdin: tokio::sync::Mutex<Option<ChildStdin>>,
    pending: Pending,
    /// Lines that answer none of the requests.
    others: tokio::sync::Mutex<mpsc::UnboundedReceiver<String>>,
}

impl StdioWire {
    pub(crate) fn new(stdin: ChildStdin, stdout: ChildStdout) -> Self {
        let pending = Pending::new(Mutex::new(Some(Waiting::default())));
        let (sender, others) = mpsc::unbounded_channel();
        tokio::spawn(read(stdout, Arc::clone(&pending), sender));
        Self {
            stdin: Some(stdin).into(),
            pending,
            others: others.into(),
        }
    }

    pub(crate) async fn send(&self, id: u64, message: &Value) -> Result<Reply, Gone> {
        let (sender, receiver) = oneshot::channel();
        self.pending
            .lock()
            .expect("nobody panics with the lock")
            .as_mut()
            .ok_or(Gone::new(&"it has closed its output"))?
            .replies
            .insert(id, sender);
        self.write(message.to_string().as_bytes()).await?;
        let text = timeout(PATIENCE, receiver).await.expect("no reply in time");
        text.map(|text| Reply::new(None, text))
            .map_err(|_| Gone::new(&"it has closed its output"))
    }

    /// Sends a request whose reply is preceded by others.
    pub(crate) async fn listen(&self, id: u64, message: &Value) -> Listening {
        let (sender, messages) = mpsc::unbounded_channel();
        self.pending
            .lock()
            .expect("nobody panics with the lock")
            .as_mut()
            .expect("it has closed its output")
            .subscriptions
            .insert(id, sender);
        let written = self.write(message.to_string().as_bytes()).await;
        written.expect("the server reads");
        Listening::over_stdio(id, messages)
    }

    /// Closes the server's input, which tells it to end.
    pub(crate) async fn close(&self) {
        self.stdin.lock().await.take();
    }

    /// Sends one line, whatever it is.
    pub(crate) async fn write(&self, line: &[u8]) -> Result<(), Gone> {
        let mut stdin = self.stdin.lock().await;
        let stdin = stdin.as_mut().ok_or(Gone::new(&"its input is closed"))?;
        let written = async {
            stdin.write_all(line).await?;
            stdin.write_all(b"\n").await?;
            stdin.flush().await
        };
        timeout(PATIENCE, written)
            .await
            .expect("the server does not read its input")
            .map_err(|error: std::io::Error| Gone::new(&error))
    }

    /// The lines so far that answer none of the requests.
    pub(crate) async fn take_others(&self) -> Vec<String> {
        let mut others = self.others.lock().await;
        std::iter::from_fn(|| others.try_recv().ok()).collect()
    }

    /// The next line that answers none of the requests.
    pub(crate) async fn next_other(&self) -> Reply {
        let mut others = self.others.lock().await;
        let line = timeout(PATIENCE, others.recv()).await;
        let line = line.expect("no line in time");
        Reply::new(None, line.expect("the server closed its output"))
    }
}

async fn read(stdout: ChildStdout, pending: Pending, others: mpsc::UnboundedSender<String>) {
    let mut lines = BufReader::new(stdout).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        let message: Value = serde_json::from_str(&line).unwrap_or(Value::Null);
        let answers = message["id"].as_u64();
        let meta = &message["params"]["_meta"];
        let subscription = meta["io.modelcontextprotocol/subscriptionId"].as_u64();
        let mut pending = pending.lock().expect("nobody panics with the lock");
        let Some(pending) = pending.as_mut() else {
            continue;
        };
        let listens = answers.or(subscription);
        let listens = listens.and_then(|id| pending.subscriptions.get(&id));
        let waiting = answers.and_then(|id| pending.replies.remove(&id));
        // A test that is over reads no more.
        match (waiting, listens) {
            (Some(waiting), _) => drop(waiting.send(line)),
            (None, Some(listens)) => drop(listens.send(line)),
            (None, None) => drop(others.send(line)),
        }
    }
    // Whoever still waits must not wait in vain.
    pending.lock().expect("nobody panics with the lock").take();
}
