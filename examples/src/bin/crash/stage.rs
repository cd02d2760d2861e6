//! Where the story is told: a screen, a directory of files, and what the person
//! who watches has asked for.

use std::io::{self, IsTerminal as _, Stdout};
use std::path::PathBuf;
use std::time::Duration;

use mcp_tasks_examples::answers::{Action, Answer, Answers, AnswersError, Prompt, Question};
use mcp_tasks_examples::screen::{Screen, Style};
use serde_json::value::to_raw_value;
use tokio::time::sleep;

use crate::ledger::{Ledger, Line};
use crate::tool::DATABASE;

/// Who signs unless the watcher does.
const SIGNATORY: &str = "Ada";

/// How long the watcher has to read before the next act.
const BREATH: Duration = Duration::from_millis(1200);

/// The stage.
pub(crate) struct Stage {
    pub(crate) screen: Screen<Stdout>,
    pub(crate) directory: PathBuf,
    pub(crate) ledger: Ledger,
    pub(crate) answers: Box<dyn Answers>,
    pub(crate) wire: bool,
    /// Whether somebody watches, who wants to read along.
    watched: bool,
    acts: u32,
}

/// Signs.
struct Signatory;

impl Answers for Signatory {
    fn answer(&mut self, question: &Question, _: Option<&str>) -> Result<Answer, AnswersError> {
        // A single value is a form with this one field.
        let content = to_raw_value(&serde_json::json!({ "answer": SIGNATORY }))
            .map_err(|error| AnswersError::Terminal(error.into()))?;
        let said = format!("{}: {SIGNATORY}", question.key);
        Screen::stdout().show(2, Style::Plain, &said)?;
        Ok(Answer {
            action: Action::Accept,
            content: Some(content),
        })
    }
}

impl Stage {
    pub(crate) fn new(directory: PathBuf, ask: bool, wire: bool) -> Self {
        let answers: Box<dyn Answers> = if ask {
            let input = io::stdin();
            let echo = !input.is_terminal();
            let prompt = Prompt::new(io::BufReader::new(input), Screen::stdout());
            Box::new(prompt.echo(echo))
        } else {
            Box::new(Signatory)
        };
        Self {
            screen: Screen::stdout(),
            ledger: Ledger::in_directory(&directory),
            directory,
            answers,
            wire,
            watched: io::stdout().is_terminal(),
            acts: 0,
        }
    }

    pub(crate) fn database(&self) -> PathBuf {
        self.directory.join(DATABASE)
    }

    /// Begins an act, once the watcher has had time to read.
    pub(crate) async fn act(&mut self, title: &str) -> io::Result<()> {
        if self.watched {
            sleep(BREATH).await;
        }
        self.cut(title)
    }

    /// Begins an act at once.
    pub(crate) fn cut(&mut self, title: &str) -> io::Result<()> {
        self.acts += 1;
        self.screen.space()?;
        let heading = format!("{}. {title}", self.acts);
        self.screen.show(0, Style::Bold, &heading)
    }

    /// Says what happens.
    pub(crate) fn say(&mut self, words: &str) -> io::Result<()> {
        self.screen.show(2, Style::Plain, words)
    }

    /// Shows what stands in the ledger.
    pub(crate) fn show_ledger(&mut self) -> io::Result<Vec<Line>> {
        let lines = self.ledger.lines()?;
        self.say("The ledger:")?;
        for line in &lines {
            self.screen.show(4, Style::Dim, &line.to_string())?;
        }
        Ok(lines)
    }
}
