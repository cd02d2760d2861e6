//! A client to be killed: puts each question on its stdout, and takes answers on
//! its stdin, a line each.
//!
//! `talker BOOK call TOOL SERVER..` or `talker BOOK resume ID SERVER..`; the server
//! is a URL, or a command.

use std::collections::HashMap;
use std::io::BufRead as _;
use std::process::Command;
use std::sync::{Arc, Mutex};

use mcp_tasks::client::{Answer, Answers, Question, TaskBook, TaskClient};
use serde_json::json;
use tokio::sync::oneshot;

#[derive(Clone, Default)]
struct Person {
    asked: Arc<Mutex<HashMap<String, oneshot::Sender<Answer>>>>,
}

impl Answers for Person {
    async fn answer(&self, question: Question) -> Option<Answer> {
        let (sender, answer) = oneshot::channel();
        let key = question.key.to_string();
        self.asked.lock().unwrap().insert(key.clone(), sender);
        println!("asked {key}");
        answer.await.ok()
    }
}

impl Person {
    /// Reads `KEY ANSWER`, line by line.
    fn listen(&self) {
        for line in std::io::stdin().lock().lines() {
            let line = line.unwrap();
            let (key, answer) = line.split_once(' ').unwrap();
            let sender = self.asked.lock().unwrap().remove(key).unwrap();
            let answer = Answer::accept(json!({ "answer": answer })).unwrap();
            sender.send(answer).unwrap();
        }
    }
}

#[tokio::main]
async fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [book, verb, what, server, rest @ ..] = &arguments[..] else {
        panic!("talker BOOK (call TOOL | resume ID) SERVER..");
    };
    let person = Person::default();
    let reader = person.clone();
    std::thread::spawn(move || reader.listen());
    let builder = TaskClient::builder()
        .answers(person)
        .book(TaskBook::open(book).unwrap());
    let client = if server.starts_with("http") {
        builder.connect_http(server).await.unwrap()
    } else {
        let mut command = Command::new(server);
        command.args(rest);
        builder.connect_stdio(command).await.unwrap()
    };
    let call = match verb.as_str() {
        "call" => client.call(what.as_str(), json!({})),
        _ => client.resume(what.as_str()),
    };
    let mut states = call.states();
    let told = tokio::spawn(async move {
        let mut before: Vec<Arc<str>> = Vec::new();
        while let Some(state) = states.next().await {
            let now: Vec<_> = state
                .questions
                .iter()
                .map(|it| Arc::clone(&it.key))
                .collect();
            for key in before.iter().filter(|key| !now.contains(key)) {
                println!("given {key}");
            }
            before = now;
        }
    });
    let result = call.await.unwrap();
    told.await.unwrap();
    println!("result {}", result.content[0].as_text().unwrap());
}
