//! A subscriber that keeps what it hears.

use std::fmt::{self, Write as _};
use std::sync::{Arc, Mutex};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::layer::{Context, SubscriberExt as _};
use tracing_subscriber::registry::{LookupSpan, Scope};
use tracing_subscriber::{Layer, Registry};

/// Something that was said.
#[derive(Clone, Debug)]
pub(crate) struct Said {
    pub(crate) level: Level,
    pub(crate) target: String,
    pub(crate) message: String,
    /// `name=value`, each with a space after it.
    pub(crate) fields: String,
    /// The spans around it, outermost first, with their fields.
    pub(crate) spans: Vec<String>,
    pub(crate) replaying: bool,
}

impl fmt::Display for Said {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} {}", self.spans, self.fields)?;
        f.write_str(&self.message)
    }
}

/// What is heard on this thread, as long as it is kept.
pub(crate) struct Heard {
    said: Arc<Mutex<Vec<Said>>>,
    _default: tracing::subscriber::DefaultGuard,
}

impl Heard {
    pub(crate) fn listen() -> Self {
        let said = Arc::default();
        let listener = Listener(Arc::clone(&said));
        let subscriber = Registry::default().with(listener);
        Self {
            said,
            _default: tracing::subscriber::set_default(subscriber),
        }
    }

    pub(crate) fn all(&self) -> Vec<Said> {
        self.said.lock().unwrap().clone()
    }

    /// What was said of tasks, up to this level: the messages, each with its key
    /// and outcome.
    pub(crate) fn of_tasks(&self, level: Level) -> Vec<String> {
        let said = self.all().into_iter();
        said.filter(|said| said.target == "mcp_tasks::task" && said.level <= level)
            .map(|said| {
                let shown = said.fields.split_whitespace();
                let shown = shown.filter(|field| {
                    ["key=", "outcome=", "signal=", "attempt="]
                        .iter()
                        .any(|name| field.starts_with(name))
                });
                let shown: Vec<&str> = [&*said.message].into_iter().chain(shown).collect();
                shown.join(" ")
            })
            .collect()
    }
}

struct Listener(Arc<Mutex<Vec<Said>>>);

/// The fields of a span, as they are by now.
struct Fields(String);

#[derive(Default)]
struct Words {
    message: String,
    fields: String,
}

impl Visit for Words {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if field.name() == "message" {
            self.message = format!("{value:?}");
        } else {
            let _ = write!(self.fields, "{}={value:?} ", field.name());
        }
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        let _ = write!(self.fields, "{}={value} ", field.name());
    }
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Listener {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let mut words = Words::default();
        attributes.record(&mut words);
        let span = context.span(id).unwrap();
        span.extensions_mut().insert(Fields(words.fields));
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        let mut words = Words::default();
        values.record(&mut words);
        let span = context.span(id).unwrap();
        let mut extensions = span.extensions_mut();
        let Fields(fields) = extensions.get_mut().unwrap();
        fields.push_str(&words.fields);
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let mut words = Words::default();
        event.record(&mut words);
        let spans = context.event_scope(event).into_iter();
        let spans = spans.flat_map(Scope::from_root).map(|span| {
            let extensions = span.extensions();
            let fields = extensions.get().map_or("", |Fields(fields)| fields);
            format!("{}: {fields}", span.name())
        });
        let said = Said {
            level: *event.metadata().level(),
            target: event.metadata().target().to_owned(),
            message: words.message,
            fields: words.fields,
            spans: spans.collect(),
            replaying: mcp_tasks::is_replaying(),
        };
        self.0.lock().unwrap().push(said);
    }
}
