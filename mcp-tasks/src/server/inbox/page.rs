//! The page around the questions, and the pages that say why there are none.

use http::StatusCode;
use maud::{DOCTYPE, Markup, html};

use super::card::{self, Draft};
use super::questions::{Question, Questions};
use crate::task::{Caller, Timestamp};

pub(super) const STYLE: &str = include_str!("assets/inbox.css");
pub(super) const SCRIPT: &str = include_str!("assets/inbox.js");
pub(super) const ICON: &str = include_str!("assets/icon.svg");

/// What is said at the top of the list after something was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Note {
    Answered,
    Declined,
    Dismissed,
    TooLate,
}

impl Note {
    const ALL: [Self; 4] = [
        Self::Answered,
        Self::Declined,
        Self::Dismissed,
        Self::TooLate,
    ];

    /// Where the browser is sent to be told so.
    pub(super) fn location(self) -> &'static str {
        match self {
            Self::Answered => "?done=answered",
            Self::Declined => "?done=declined",
            Self::Dismissed => "?done=dismissed",
            Self::TooLate => "?done=late",
        }
    }

    pub(super) fn of_query(query: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|note| note.location().strip_prefix('?') == Some(query))
    }

    /// What it looks like: nothing that went wrong looks as if it had gone well.
    fn kind(self) -> &'static str {
        match self {
            Self::Answered | Self::Declined | Self::Dismissed => "good",
            Self::TooLate => "bad",
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::Answered => "Your answer was recorded.",
            Self::Declined => "You declined; the tool was told.",
            Self::Dismissed => "You dismissed the question; the tool was told.",
            Self::TooLate => {
                "Nothing was recorded: the question was answered before, or is asked no more."
            }
        }
    }
}

/// The list of one caller's questions.
pub(super) struct Page<'a> {
    pub(super) server: &'a str,
    pub(super) caller: &'a Caller,
    pub(super) questions: &'a Questions,
    pub(super) note: Option<Note>,
    /// A question whose answer did not fit, and the answer.
    pub(super) failed: Option<(String, Draft)>,
    pub(super) now: Timestamp,
}

impl Page<'_> {
    /// Writes the page; each form gets the token that is made for it.
    pub(super) fn render(&self, token: impl Fn(&Question) -> String) -> String {
        let count = self.questions.shown.len();
        let title = format!("{}Inbox \u{b7} {}", self.prefix(), self.server);
        let body = html! {
            header.top {
                div {
                    p.server { (self.server) }
                    h1 { "Inbox" }
                }
                p.who {
                    @if self.caller.is_anonymous() {
                        "Open to everybody"
                    } @else {
                        "Questions for " strong { (self.caller.as_str()) }
                    }
                }
            }
            main id="inbox" data-digest=(self.questions.digest()) data-server=(self.server) {
                p #note class={ "note" @if let Some(note) = self.note { " " (note.kind()) } }
                    role="status" tabindex="-1" {
                    @if let Some(note) = self.note { (note.words()) }
                }
                p #count .count tabindex="-1" { (counted(count)) }
                p #final .final hidden[count == 0] {
                    "\u{201c}Decline\u{201d} tells the tool no; \u{201c}Dismiss\u{201d} closes the \
                     question without a yes or a no. Both are final."
                }
                p #empty .empty hidden[count > 0] {
                    "When a tool has a question for you, it is here."
                }
                div #cards {
                    @for question in &self.questions.shown {
                        (card::card(question, self.draft_of(question), &token(question), self.now))
                    }
                }
                p #more .more hidden[!self.questions.more] {
                    "There are more. They are shown when some of these are answered."
                }
            }
            footer {
                p #live data-on="New questions appear by themselves."
                    data-off="The connection is lost: reload the page to see what is new." {
                    "Reload the page to see what is new."
                }
            }
        };
        whole(&title, &body, true)
    }

    fn prefix(&self) -> String {
        match (&self.failed, self.questions.shown.len()) {
            (Some(_), _) => "Error: ".to_owned(),
            (None, 0) => String::new(),
            (None, count) => format!("({count}) "),
        }
    }

    fn draft_of(&self, question: &Question) -> Option<&Draft> {
        let (card, draft) = self.failed.as_ref()?;
        (*card == question.card).then_some(draft)
    }
}

fn counted(count: usize) -> String {
    match count {
        0 => "No open questions".to_owned(),
        1 => "1 open question".to_owned(),
        count => format!("{count} open questions"),
    }
}

/// A page that says why there is no other.
pub(super) fn refusal(status: StatusCode, words: &str, styled: bool) -> String {
    let title = status.canonical_reason().unwrap_or("Not possible");
    let body = html! {
        header.top { h1 { "Inbox" } }
        main {
            div.refusal role="alert" {
                h2 { (title) }
                p #refusal { (words) }
                p { a href="?" { "Go to the inbox" } }
            }
        }
    };
    whole(title, &body, styled)
}

fn whole(title: &str, body: &Markup, styled: bool) -> String {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) }
                @if styled {
                    link rel="icon" type="image/svg+xml" href="?icon";
                    link rel="stylesheet" href="?style";
                    script src="?script" defer {}
                }
            }
            body { (body) }
        }
    }
    .into_string()
}
