//! The questions of one call, and the futures that answer them.

use std::collections::HashSet;
use std::sync::Arc;

use indexmap::IndexMap;
use tokio::task::{AbortHandle, JoinSet};

use crate::client::answer::AnyAnswers;
use crate::client::{Answer, Question};
use crate::protocol::ProtocolError;

/// Puts each question once, all that are open at the same time.
pub(super) struct Asking {
    answers: Option<Arc<dyn AnyAnswers>>,
    open: IndexMap<Arc<str>, Open>,
    /// Keys that have been answered.
    settled: HashSet<Arc<str>>,
    works: JoinSet<Given>,
    /// Whether nothing is put any more.
    is_silent: bool,
}

struct Open {
    question: Question,
    /// Whoever is being asked, if somebody is.
    asked: Option<AbortHandle>,
}

/// What somebody has answered.
pub(super) struct Given {
    pub(super) key: Arc<str>,
    /// `None`: it is left to others.
    pub(super) answer: Option<Answer>,
    /// The answer before was refused with these words.
    pub(super) refusal: Option<ProtocolError>,
}

impl Asking {
    pub(super) fn new(answers: Option<Arc<dyn AnyAnswers>>) -> Self {
        Self {
            answers,
            open: IndexMap::new(),
            settled: HashSet::new(),
            works: JoinSet::new(),
            is_silent: false,
        }
    }

    /// A key that has been answered, now or by an earlier process.
    pub(super) fn settle(&mut self, key: Arc<str>) -> Option<Question> {
        let question = self.close(&key);
        self.settled.insert(key);
        question
    }

    /// Puts a question, unless it is open or answered already. One that was taken
    /// back and is there again is put again: nobody has answered it.
    pub(super) fn put(&mut self, question: Question) {
        let key = Arc::clone(&question.key);
        if self.is_silent || self.knows(&key) {
            return;
        }
        let asked = self.answers.clone().map(|answers| {
            let (key, question) = (Arc::clone(&key), question.clone());
            self.works.spawn(async move {
                let answer = answers.answer(question).await;
                Given {
                    key,
                    answer,
                    refusal: None,
                }
            })
        });
        self.open.insert(key, Open { question, asked });
    }

    /// Puts a question again whose answer was refused. False if there is nobody
    /// who could answer it otherwise; it is open in both cases.
    pub(super) fn put_again(&mut self, question: Question, refusal: ProtocolError) -> bool {
        let key = Arc::clone(&question.key);
        self.settled.remove(&key);
        let asked = self.answers.clone().map(|answers| {
            let (key, question) = (Arc::clone(&key), question.clone());
            self.works.spawn(async move {
                let answer = answers.refused(question, refusal.clone()).await;
                Given {
                    key,
                    answer,
                    refusal: Some(refusal),
                }
            })
        });
        let is_asked = asked.is_some();
        self.open.insert(key, Open { question, asked });
        is_asked
    }

    /// A question is open again, and whoever answered it knows.
    pub(super) fn reopen(&mut self, question: Question) {
        let key = Arc::clone(&question.key);
        self.settled.remove(&key);
        self.open.insert(
            key,
            Open {
                question,
                asked: None,
            },
        );
    }

    /// Whether the question is open, or its answer is on its way or has arrived.
    pub(super) fn knows(&self, key: &str) -> bool {
        self.is_open(key) || self.settled.contains(key)
    }

    pub(super) fn is_open(&self, key: &str) -> bool {
        self.open.contains_key(key)
    }

    /// Takes back a question; whoever is being asked hears no more of it.
    pub(super) fn close(&mut self, key: &str) -> Option<Question> {
        let open = self.open.shift_remove(key)?;
        if let Some(asked) = open.asked {
            asked.abort();
        }
        Some(open.question)
    }

    /// Takes back what is not among these.
    pub(super) fn keep(&mut self, keys: &HashSet<Arc<str>>) {
        let gone = self.open.keys().filter(|key| !keys.contains(*key));
        let gone: Vec<_> = gone.cloned().collect();
        for key in gone {
            self.close(&key);
        }
    }

    /// Takes everything back, and forgets the keys: those of a new round are new.
    pub(super) fn start_over(&mut self) {
        self.keep(&HashSet::new());
        self.settled.clear();
    }

    /// Takes everything back, and puts nothing more: the call is cancelled.
    pub(super) fn fall_silent(&mut self) {
        self.start_over();
        self.is_silent = true;
    }

    /// What is open.
    pub(super) fn questions(&self) -> Vec<Question> {
        self.open
            .values()
            .map(|open| open.question.clone())
            .collect()
    }

    /// The next that somebody answers. Cancel-safe.
    pub(super) async fn next(&mut self) -> Given {
        loop {
            match self.works.join_next().await {
                Some(Ok(given)) if self.is_open(&given.key) => {
                    if let Some(open) = self.open.get_mut(&given.key) {
                        open.asked = None;
                    }
                    return given;
                }
                // Taken back, or a panic, which the runtime has told of.
                Some(_) => {}
                None => std::future::pending().await,
            }
        }
    }
}
