//! What happens when one of rmcp's loops ends before its connection.

use serde_json::{Value, json};

use super::super::super::tests::{initialize, server};
use super::*;

struct Harness {
    connection: Connection,
    output: mpsc::Receiver<String>,
}

impl Harness {
    async fn in_session() -> Self {
        let (replies, output) = mpsc::channel(16);
        let (notices, _) = mpsc::channel(1);
        let ways = Output { replies, notices };
        let connection = Connection::new(server().build().unwrap().stdio, ways);
        let mut harness = Self { connection, output };
        harness.send(&initialize(1)).await;
        assert_eq!(harness.receive().await["id"], 1);
        harness
    }

    async fn send(&mut self, message: &Value) {
        let line = Line::Message(message.to_string().into_bytes());
        self.connection.receive(line).await;
    }

    async fn receive(&mut self) -> Value {
        loop {
            tokio::select! {
                biased;
                Some(line) = self.output.recv() => return serde_json::from_str(&line).unwrap(),
                happened = self.connection.next() => self.connection.handle(happened).await,
            }
        }
    }
}

fn call(id: u32, name: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": { "name": name } })
}

#[tokio::test(start_paused = true)]
async fn what_the_loop_owed_is_answered_with_an_error() {
    let mut harness = Harness::in_session().await;
    harness.send(&call(2, "ask")).await;
    assert_eq!(harness.receive().await["method"], "elicitation/create");
    // Ends the loop, which waits in vain for the call to end with it.
    drop(harness.connection.session.take());
    let reply = harness.receive().await;
    assert_eq!(reply["id"], 2);
    assert_eq!(reply["error"]["code"], -32603, "{reply}");
    assert!(harness.connection.in_flight.is_empty());
}

#[tokio::test(start_paused = true)]
async fn the_session_goes_on_in_a_new_loop() {
    let mut harness = Harness::in_session().await;
    drop(harness.connection.session.take());
    harness.send(&call(2, "greet")).await;
    let reply = harness.receive().await;
    assert_eq!(reply["id"], 2, "{reply}");
    assert_eq!(reply["result"]["content"][0]["text"], "hello", "{reply}");
    // It is the same session: it asks as the client said it may.
    harness.send(&call(3, "ask")).await;
    assert_eq!(harness.receive().await["method"], "elicitation/create");
}
