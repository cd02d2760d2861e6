//! Where the story is told: a screen, a directory of files, and what the person
//! who watches has asked for.

use std::io::{self, IsTerminal as _};
use std::path::PathBuf;
use std::time::Duration;

use mcp_tasks::client::{Answer, Answers, Question};
use mcp_tasks::protocol::ProtocolError;
use mcp_tasks_examples::answers::Prompt;
use mcp_tasks_examples::screen::{Screen, Style};
use serde_json::json;
use tokio::time::sleep;

use crate::ledger::{Ledger, Line};
use crate::tool::DATABASE;

/// Who signs unless the watcher does.
const SIGNATORY: &str = "Ada";

/// How long the watcher has to read before the next act.
const BREATH: Duration = Duration::from_millis(1200);

/// The stage.
pub(crate) struct Stage {
    pub(crate) screen: Screen,
    pub(crate) directory: PathBuf,
    pub(crate) ledger: Ledger,
    pub(crate) signatory: Signatory,
    pub(crate) wire: bool,
    /// Whether somebody watches, who wants to read along.
    watched: bool,
    acts: u32,
}

/// Who answers the task's question.
pub(crate) enum Signatory {
    Watcher(Prompt),
    Ada(Screen),
}

impl Answers for Signatory {
    async fn answer(&self, question: Question) -> Option<Answer> {
        match self {
            Self::Watcher(prompt) => prompt.answer(question).await,
            Self::Ada(screen) => {
                let said = format!("{}: {SIGNATORY}", question.key);
                // She signs, whether anybody sees it or not.
                let _ = screen.show(2, Style::Plain, &said);
                // A single value is a form with this one field.
                Answer::accept(json!({ "answer": SIGNATORY })).ok()
            }
        }
    }

    async fn refused(&self, question: Question, refusal: ProtocolError) -> Option<Answer> {
        match self {
            Self::Watcher(prompt) => prompt.refused(question, refusal).await,
            Self::Ada(_) => None,
        }
    }
}

impl Stage {
    pub(crate) fn new(directory: PathBuf, ask: bool, wire: bool) -> Self {
        let screen = Screen::stdout();
        let signatory = if ask {
            Signatory::Watcher(Prompt::stdin(&screen))
        } else {
            Signatory::Ada(screen.clone())
        };
        Self {
            screen,
            ledger: Ledger::in_directory(&directory),
            directory,
            signatory,
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
    pub(crate) fn say(&self, words: &str) -> io::Result<()> {
        self.screen.show(2, Style::Plain, words)
    }

    /// Shows what stands in the ledger.
    pub(crate) fn show_ledger(&self) -> io::Result<Vec<Line>> {
        let lines = self.ledger.lines()?;
        self.say("The ledger:")?;
        for line in &lines {
            self.screen.show(4, Style::Dim, &line.to_string())?;
        }
        Ok(lines)
    }
}
