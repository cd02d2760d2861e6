//! One question as a card: who asks, what, and the form to answer it.

use maud::{Markup, html};

use super::fields;
use super::filled::Filled;
use super::hints::{about, complaint, label};
use super::questions::{Asks, Question};
use super::typed::{ACTION, ANSWER, DECLINE, DISMISS, KEY, TASK, TOKEN, Typed};
use crate::protocol::{Content, FieldError, Form};
use crate::task::Timestamp;

/// What stands in a form, and what is wrong with it.
pub(super) struct Draft {
    filled: Vec<Filled>,
    errors: Vec<FieldError>,
}

impl Draft {
    /// A form as it is first shown.
    fn of(form: &Form) -> Self {
        let fields = form.fields().map(|(_, field)| Filled::default(field));
        Self {
            filled: fields.collect(),
            errors: Vec::new(),
        }
    }

    pub(super) fn typed(form: &Form, typed: &Typed) -> Self {
        let fields = form.fields().enumerate();
        let filled = fields.map(|(index, (_, field))| Filled::typed(index, field, typed));
        Self {
            filled: filled.collect(),
            errors: Vec::new(),
        }
    }

    pub(super) fn nothing() -> Self {
        Self {
            filled: Vec::new(),
            errors: Vec::new(),
        }
    }

    /// Says what is wrong with it, in the terms of what is on the page.
    pub(super) fn with(mut self, question: &Question, mut errors: Vec<FieldError>) -> Self {
        if let Asks::Form(form) = &question.asks {
            for ((name, _), filled) in form.fields().zip(&self.filled) {
                let its = errors.iter_mut().find(|error| error.field == name);
                if let (Some(error), Some(rule)) = (its, filled.own_rule()) {
                    rule.clone_into(&mut error.rule);
                }
            }
        }
        self.errors = errors;
        self
    }

    /// The content of the answer, not judged yet.
    pub(super) fn content(&self, form: &Form) -> Content {
        let fields = form.fields().zip(&self.filled);
        fields
            .filter_map(|((name, field), filled)| {
                let value = filled.value(field, form.is_required(name))?;
                Some((name, value))
            })
            .collect()
    }

    /// What is wrong with this field; with an empty name, with all of it.
    fn error(&self, name: &str) -> Option<&str> {
        let mut errors = self.errors.iter();
        let error = errors.find(|error| error.field == name)?;
        Some(&error.rule)
    }
}

pub(super) fn card(
    question: &Question,
    draft: Option<&Draft>,
    token: &str,
    now: Timestamp,
) -> Markup {
    let card = &question.card;
    let (heading, message) = (format!("{card}-tool"), format!("{card}-message"));
    html! {
        article.card id=(card) aria-labelledby=(heading) {
            header {
                h2 id=(heading) tabindex="-1" { (question.tool) }
                p.facts data-live { (facts(question, now)) }
            }
            p.message id=(message) dir="auto" { (question.message) }
            @match &question.asks {
                Asks::Form(form) => (filled_in(question, form, draft, token)),
                Asks::Url { url, host } => (leads_to(question, url, host.as_deref(), draft, token)),
            }
        }
    }
}

/// How long the task is there, how long it will be, and what it is doing.
fn facts(question: &Question, now: Timestamp) -> Markup {
    let called = question.called_at;
    html! {
        span {
            "called "
            time datetime=(called.to_iso_8601()) data-since { (about(now.since(called))) }
            " ago"
        }
        @if let Some(expires) = question.expires_at {
            span {
                "open for "
                time datetime=(expires.to_iso_8601()) data-until { (about(expires.since(now))) }
                " more"
            }
        }
        @if let Some(status) = &question.status { bdi.status { (status) } }
    }
}

/// The form of a question.
fn filled_in(question: &Question, form: &Form, draft: Option<&Draft>, token: &str) -> Markup {
    let fresh = Draft::of(form);
    let draft = draft.unwrap_or(&fresh);
    let fields = form.fields().zip(&draft.filled).enumerate();
    let fields = fields.map(|(index, ((name, field), filled))| fields::Control {
        card: &question.card,
        index,
        label: label(name, field),
        field,
        required: form.is_required(name),
        filled,
        error: draft.error(name),
    });
    let fields: Vec<_> = fields.collect();
    let summary: Vec<_> = fields
        .iter()
        .filter_map(|control| Some((control.id(), complaint(&control.label, control.error?))))
        .collect();
    let answer = if form.is_empty() { "Confirm" } else { "Answer" };
    let body = html! {
        (errors(question, draft, &summary))
        @for control in &fields { (control.render()) }
    };
    self::form(question, token, answer, &body)
}

/// A page elsewhere that somebody is to open.
fn leads_to(
    question: &Question,
    url: &str,
    host: Option<&str>,
    draft: Option<&Draft>,
    token: &str,
) -> Markup {
    let encrypted = url
        .get(..6)
        .is_some_and(|start| start.eq_ignore_ascii_case("https:"));
    let body = html! {
        @if let Some(draft) = draft { (errors(question, draft, &[])) }
        @if let Some(host) = host {
            p.leads {
                "This leads to " strong.host { (host) }
                @if !encrypted { ", over a connection that is not encrypted" }
            }
            p.url { (url) }
            p {
                a.open href=(url) target="_blank" rel="noopener noreferrer" {
                    "Open " (host) " in a new tab"
                }
            }
            p.hint {
                "What you do there stays between you and that page. Say here whether you agree \
                 to open it."
            }
        } @else {
            p.leads { "This cannot be opened from here: it is no page on the web." }
            p.url { (url) }
        }
    };
    form(question, token, "Agree", &body)
}

fn form(question: &Question, token: &str, answer: &str, body: &Markup) -> Markup {
    let card = &question.card;
    html! {
        form method="post" action="?" {
            input type="hidden" name=(TASK) value=(question.task.as_str());
            input type="hidden" name=(KEY) value=(question.key.as_str());
            input type="hidden" name=(TOKEN) value=(token);
            // Whoever comes to a field hears what is asked. It is no landmark, as a form
            // with a name would be: those need names of their own, and tools ask twice.
            div role="group" aria-labelledby={ (card) "-tool" }
                aria-describedby={ (card) "-message" } {
                (body)
                div.buttons {
                    button.primary name=(ACTION) value=(ANSWER) { (answer) }
                    button name=(ACTION) value=(DECLINE) formnovalidate { "Decline" }
                    button.quiet name=(ACTION) value=(DISMISS) formnovalidate { "Dismiss" }
                }
            }
        }
    }
}

/// All that is wrong, with links to where it is.
fn errors(question: &Question, draft: &Draft, fields: &[(String, String)]) -> Markup {
    if draft.errors.is_empty() {
        return Markup::default();
    }
    let heading = format!("{}-wrong", question.card);
    html! {
        div.errors role="alert" tabindex="-1" autofocus aria-labelledby=(heading) {
            h3 id=(heading) { "This was not recorded yet" }
            ul {
                @for (id, words) in fields {
                    li { a href={ "#" (id) } { (words) } }
                }
                @if let Some(words) = draft.error("") { li { (words) } }
            }
        }
    }
}
