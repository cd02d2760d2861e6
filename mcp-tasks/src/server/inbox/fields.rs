//! The control of one field, with its label, its help and what is wrong with it.
//!
//! Browsers are told only rules that they hold exactly as the form does: none
//! may refuse what the form accepts. So lengths, which browsers count in their
//! own way, are patterns, and a mail address is for the form to judge.

use maud::{Markup, html};

use super::filled::{Filled, NO, YES, name, offset_name};
use super::hints::{complaint, rule, sentence};
use crate::protocol::{Choice, Field, FieldKind, StringFormat};

/// Up to so many choices are all shown at once.
const FEW: usize = 5;

/// From so many characters on there is room for more than one line.
const LONG: usize = 120;

/// The offsets that clocks on earth have.
const OFFSETS: [&str; 38] = [
    "-12:00", "-11:00", "-10:00", "-09:30", "-09:00", "-08:00", "-07:00", "-06:00", "-05:00",
    "-04:00", "-03:30", "-03:00", "-02:00", "-01:00", "+00:00", "+01:00", "+02:00", "+03:00",
    "+03:30", "+04:00", "+04:30", "+05:00", "+05:30", "+05:45", "+06:00", "+06:30", "+07:00",
    "+08:00", "+08:45", "+09:00", "+09:30", "+10:00", "+10:30", "+11:00", "+12:00", "+12:45",
    "+13:00", "+14:00",
];

/// A field on the page.
pub(super) struct Control<'a> {
    /// The card that it is on.
    pub(super) card: &'a str,
    pub(super) index: usize,
    pub(super) label: String,
    pub(super) field: &'a Field,
    pub(super) required: bool,
    pub(super) filled: &'a Filled,
    /// The rule that it breaks.
    pub(super) error: Option<&'a str>,
}

/// One of a few choices: what is sent, and what is shown.
struct Offered<'a> {
    value: String,
    label: &'a str,
    chosen: bool,
}

impl Control<'_> {
    /// The id of the control, or of the first of several.
    pub(super) fn id(&self) -> String {
        format!("{}-{}", self.card, self.name())
    }

    fn name(&self) -> String {
        name(self.index)
    }

    fn hint_id(&self) -> String {
        format!("{}-hint", self.id())
    }

    fn error_id(&self) -> String {
        format!("{}-error", self.id())
    }

    fn has_hint(&self) -> bool {
        self.field.description.is_some() || rule(&self.field.kind).is_some()
    }

    fn described_by(&self) -> Option<String> {
        let ids = [
            self.has_hint().then(|| self.hint_id()),
            self.error.map(|_| self.error_id()),
        ];
        let ids: Vec<_> = ids.into_iter().flatten().collect();
        (!ids.is_empty()).then(|| ids.join(" "))
    }

    fn invalid(&self) -> Option<&'static str> {
        self.error.map(|_| "true")
    }

    pub(super) fn render(&self) -> Markup {
        match (&self.field.kind, self.filled) {
            (FieldKind::Select { choices, .. }, Filled::Choice(chosen)) if choices.len() > FEW => {
                self.labelled(&self.select(choices, *chosen))
            }
            (FieldKind::Select { choices, default }, Filled::Choice(chosen)) => {
                let mut offered: Vec<_> = numbered(choices, |place| *chosen == Some(place));
                if !self.required && default.is_none() {
                    offered.push(no_answer(chosen.is_none()));
                }
                self.grouped(&self.ticks("radio", &offered))
            }
            (FieldKind::MultiSelect { choices, .. }, Filled::Choices(chosen)) => {
                let offered = numbered(choices, |place| chosen.contains(&place));
                self.grouped(&self.ticks("checkbox", &offered))
            }
            (FieldKind::Boolean { default }, Filled::YesNo(answer)) => {
                let of = |value: &str, label, is| Offered {
                    value: value.to_owned(),
                    label,
                    chosen: *answer == Some(is),
                };
                let mut offered = vec![of(YES, "Yes", true), of(NO, "No", false)];
                if !self.required && default.is_none() {
                    offered.push(no_answer(answer.is_none()));
                }
                self.grouped(&self.ticks("radio", &offered))
            }
            (_, Filled::Moment { local, offset }) => self.grouped(&self.moment(local, offset)),
            (kind, Filled::Text(text)) => self.labelled(&self.text(kind, text)),
            // What is filled in was made for this field.
            _ => Markup::default(),
        }
    }

    /// A control with a label of its own.
    fn labelled(&self, control: &Markup) -> Markup {
        html! {
            div.field.wrong[self.error.is_some()] dir="auto" {
                label for=(self.id()) { (self.caption()) }
                (self.help())
                (control)
            }
        }
    }

    /// Several controls that are one field.
    fn grouped(&self, controls: &Markup) -> Markup {
        html! {
            fieldset.field.wrong[self.error.is_some()] dir="auto" aria-describedby=[self.described_by()] {
                legend { (self.caption()) }
                (self.help())
                (controls)
            }
        }
    }

    fn caption(&self) -> Markup {
        html! {
            (self.label)
            @if self.required { span.required { " (required)" } }
        }
    }

    fn help(&self) -> Markup {
        html! {
            @if self.has_hint() {
                p.hint id=(self.hint_id()) {
                    @if let Some(description) = &self.field.description {
                        span.described dir="auto" { (description) }
                    }
                    @if let Some(rule) = rule(&self.field.kind) {
                        " " span dir="ltr" { (sentence(&rule)) }
                    }
                }
            }
            @if let Some(error) = self.error {
                p.error id=(self.error_id()) dir="ltr" { (complaint("Error:", error)) }
            }
        }
    }

    fn ticks(&self, kind: &str, offered: &[Offered<'_>]) -> Markup {
        let must = self.required && kind == "radio";
        html! {
            @for (place, choice) in offered.iter().enumerate() {
                @let id = self.id_of(place);
                div.tick {
                    input type=(kind) id=(id) name=(self.name()) value=(choice.value)
                        checked[choice.chosen] required[must]
                        aria-invalid=[self.invalid().filter(|_| kind == "checkbox")]
                        aria-describedby=[self.error.map(|_| self.error_id())];
                    label for=(id) { bdi { (choice.label) } }
                }
            }
        }
    }

    fn id_of(&self, place: usize) -> String {
        match place {
            0 => self.id(),
            place => format!("{}-{place}", self.id()),
        }
    }

    fn select(&self, choices: &[Choice], chosen: Option<usize>) -> Markup {
        let nothing = if self.required {
            "Choose one"
        } else {
            "No answer"
        };
        html! {
            select id=(self.id()) name=(self.name()) required[self.required]
                aria-describedby=[self.described_by()] aria-invalid=[self.invalid()] {
                option value="" selected[chosen.is_none()] { (nothing) }
                @for choice in numbered(choices, |place| chosen == Some(place)) {
                    option value=(choice.value) selected[choice.chosen] { (choice.label) }
                }
            }
        }
    }

    fn text(&self, kind: &FieldKind, text: &str) -> Markup {
        let (name, id) = (self.name(), self.id());
        let (described, invalid) = (self.described_by(), self.invalid());
        match kind {
            FieldKind::Number { min, max, .. } => html! {
                input type="number" step="any" inputmode="decimal" id=(id) name=(name) value=(text)
                    min=[min] max=[max] required[self.required]
                    aria-describedby=[described] aria-invalid=[invalid];
            },
            FieldKind::Integer { min, max, .. } => html! {
                input type="number" step="1" inputmode=[min.is_some_and(|min| min >= 0).then_some("numeric")]
                    id=(id) name=(name) value=(text) min=[min] max=[max] required[self.required]
                    aria-describedby=[described] aria-invalid=[invalid];
            },
            FieldKind::Text {
                max_len,
                format: None,
                ..
            } if text.contains('\n') || max_len.is_some_and(|max| max > LONG) => html! {
                textarea id=(id) name=(name) rows="4" dir="auto" required[self.required]
                    aria-describedby=[described] aria-invalid=[invalid] {
                    // The first line's end is not part of what is in it.
                    "\n" (text)
                }
            },
            FieldKind::Text {
                min_len,
                max_len,
                format,
                ..
            } => {
                let (kind, mode, fill) = match format {
                    Some(StringFormat::Email) => ("text", Some("email"), Some("email")),
                    Some(StringFormat::Uri) => ("url", None, None),
                    Some(StringFormat::Date) => ("date", None, None),
                    Some(StringFormat::DateTime) | None => ("text", None, None),
                };
                let plain = format.is_none();
                let direction = if plain { "auto" } else { "ltr" };
                // Years have four digits, as browsers do not know by themselves.
                let last_day = (kind == "date").then_some("9999-12-31");
                html! {
                    input type=(kind) id=(id) name=(name) value=(text) inputmode=[mode]
                        autocomplete=[fill] max=[last_day] required[self.required]
                        pattern=[length(*min_len, *max_len).filter(|_| plain)]
                        title=[rule(&self.field.kind).filter(|_| plain)] dir=(direction)
                        aria-describedby=[described] aria-invalid=[invalid];
                }
            }
            _ => Markup::default(),
        }
    }

    fn moment(&self, local: &str, offset: &str) -> Markup {
        let id = self.id();
        let offset_id = format!("{id}-offset");
        let unusual = !offset.is_empty() && !OFFSETS.contains(&offset);
        html! {
            div.moment {
                div {
                    label for=(id) { "Date and time" }
                    input type="datetime-local" step="any" max="9999-12-31T23:59:59.999" id=(id) name=(self.name()) value=(local)
                        required[self.required] aria-describedby=[self.described_by()]
                        aria-invalid=[self.invalid()];
                }
                div {
                    label for=(offset_id) { "Offset from UTC" }
                    select id=(offset_id) name=(offset_name(self.index)) required[self.required]
                        data-offset-of=(id) aria-describedby=[self.described_by()]
                        aria-invalid=[self.invalid()] {
                        option value="" selected[offset.is_empty()] { "Choose one" }
                        @if unusual { option value=(offset) selected { (offset) } }
                        @for known in OFFSETS {
                            option value=(known) selected[known == offset] {
                                @if known == "+00:00" { "+00:00 (UTC)" } @else { (known) }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn numbered(choices: &[Choice], is_chosen: impl Fn(usize) -> bool) -> Vec<Offered<'_>> {
    let places = choices.iter().enumerate();
    let offered = places.map(|(place, choice)| Offered {
        value: place.to_string(),
        label: choice.label(),
        chosen: is_chosen(place),
    });
    offered.collect()
}

fn no_answer<'a>(chosen: bool) -> Offered<'a> {
    Offered {
        value: String::new(),
        label: "No answer",
        chosen,
    }
}

/// The length of a text as a pattern, which counts characters as the form does.
fn length(min: Option<usize>, max: Option<usize>) -> Option<String> {
    if min.is_none() && max.is_none() {
        return None;
    }
    let max = max.map(|max| max.to_string()).unwrap_or_default();
    Some(format!(".{{{},{max}}}", min.unwrap_or(0)))
}
