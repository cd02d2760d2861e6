//! Says what is done with each question, around whoever answers it.

use mcp_tasks::client::{Answer, Answers, Question};
use mcp_tasks::protocol::{InputKind, ProtocolError};

use crate::screen::{Screen, Style};

/// Answers, and a screen that shows that something is asked and what came of it.
#[derive(Debug)]
pub struct Told<A> {
    answers: A,
    screen: Screen,
}

impl<A> Told<A> {
    /// Shows on `screen` what is asked of `answers`.
    pub fn new(answers: A, screen: &Screen) -> Self {
        let screen = screen.clone();
        Self { answers, screen }
    }

    fn tell(&self, style: Style, words: &str) {
        // The question is answered, whether anybody reads of it or not.
        let _ = self.screen.show(2, style, words);
    }

    fn answered(&self, key: &str, answer: Option<&Answer>) {
        if let Some(answer) = answer {
            let words = format!("question `{key}` {}", what_was_done(answer));
            self.tell(Style::Plain, &words);
        }
    }
}

impl<A: Answers> Answers for Told<A> {
    async fn answer(&self, question: Question) -> Option<Answer> {
        self.tell(Style::Bold, "input required");
        let key = question.key.clone();
        let answer = self.answers.answer(question).await;
        self.answered(&key, answer.as_ref());
        answer
    }

    async fn refused(&self, question: Question, refusal: ProtocolError) -> Option<Answer> {
        let key = question.key.clone();
        let answer = self.answers.refused(question, refusal).await;
        self.answered(&key, answer.as_ref());
        answer
    }

    fn kinds(&self) -> Vec<InputKind> {
        self.answers.kinds()
    }
}

/// What was done with a question, as in "question `approval` answered".
pub fn what_was_done(answer: &Answer) -> &'static str {
    if *answer == Answer::decline() {
        "declined"
    } else if *answer == Answer::dismiss() {
        "closed without an answer"
    } else {
        "answered"
    }
}
