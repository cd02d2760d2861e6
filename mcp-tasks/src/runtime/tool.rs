//! A task function as a tool.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};

use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::rules::ArgumentRules;
use crate::elicit::FormError;
use crate::flow::{Body, Extract, Given, MissingState, Needs, Owner, States};
use crate::protocol::ProtocolError;

/// When a call of a tool becomes a task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Support {
    /// When the client declares the extension; else the call runs inline.
    #[default]
    Optional,
    /// Always; a client that does not declare the extension is refused.
    Required,
    /// Never.
    Forbidden,
}

/// What a tool is, apart from its code. Generated code only.
#[doc(hidden)]
#[derive(Clone)]
pub struct Definition {
    pub(super) name: Arc<str>,
    pub(super) version: u32,
    pub(super) support: Support,
    /// `None` for no limit.
    pub(super) ttl_ms: Option<u64>,
    pub(super) poll_interval_ms: u64,
    pub(super) inline_ms: Option<u64>,
    pub(super) cancel_grace_ms: Option<u64>,
    /// How many may run at once; `None` for no limit.
    pub(super) concurrency: Option<usize>,
    pub(super) replay: bool,
    /// How long the state of a call is good for that goes through its client.
    pub(super) state_ttl_ms: u64,
    /// Whether each such state is accepted once, if that can be known.
    pub(super) once: bool,
    /// Whether the function says where a call becomes a task.
    pub(super) starts_task: bool,
    pub(super) listing: Map<String, Value>,
    forms: Vec<CheckForm>,
    rules: Option<ArgumentRules>,
    extractors: Vec<Extractor>,
}

/// What a tool must know of a parameter that is not an argument. Generated code
/// only.
#[doc(hidden)]
#[derive(Clone, Copy)]
pub struct Extractor {
    /// Says whether its value is there.
    pub(super) check: fn(&States) -> Result<(), MissingState>,
    pub(super) needs: Needs,
}

/// Says whether a type can be asked for.
type CheckForm = fn() -> Result<(), FormError>;

const DEFAULT_TTL_MS: u64 = 24 * 60 * 60 * 1000;

const DEFAULT_POLL_INTERVAL_MS: u64 = 1000;

const DEFAULT_STATE_TTL_MS: u64 = 60 * 60 * 1000;

impl Definition {
    /// A tool of this name with the defaults of everything else.
    pub fn new(name: &'static str) -> Self {
        let mut listing = Map::new();
        listing.insert("name".to_owned(), name.into());
        Self {
            name: name.into(),
            version: 1,
            support: Support::default(),
            ttl_ms: Some(DEFAULT_TTL_MS),
            poll_interval_ms: DEFAULT_POLL_INTERVAL_MS,
            inline_ms: None,
            cancel_grace_ms: None,
            concurrency: None,
            replay: true,
            state_ttl_ms: DEFAULT_STATE_TTL_MS,
            once: true,
            starts_task: false,
            listing,
            forms: Vec::new(),
            rules: None,
            extractors: Vec::new(),
        }
    }

    /// A name for people.
    #[must_use]
    pub fn title(self, title: &str) -> Self {
        self.listed("title", title)
    }

    /// What the tool does.
    #[must_use]
    pub fn description(self, description: &str) -> Self {
        self.listed("description", description)
    }

    /// The time to live; `None` for no limit.
    #[must_use]
    pub fn ttl_ms(mut self, ttl_ms: Option<u64>) -> Self {
        self.ttl_ms = ttl_ms;
        self
    }

    /// The time between two polls.
    #[must_use]
    pub fn poll_interval_ms(mut self, poll_interval_ms: u64) -> Self {
        self.poll_interval_ms = poll_interval_ms;
        self
    }

    /// When a call becomes a task.
    #[must_use]
    pub fn support(mut self, support: Support) -> Self {
        self.support = support;
        self
    }

    /// How long a call may take to return a plain result instead of a task.
    #[must_use]
    pub fn inline_ms(mut self, inline_ms: u64) -> Self {
        self.inline_ms = Some(inline_ms);
        self
    }

    /// How long a cancelled task may clean up.
    #[must_use]
    pub fn cancel_grace_ms(mut self, cancel_grace_ms: u64) -> Self {
        self.cancel_grace_ms = Some(cancel_grace_ms);
        self
    }

    /// How many functions of the tool run at once, in all processes together.
    #[must_use]
    pub fn concurrency(mut self, concurrency: u32) -> Self {
        self.concurrency = Some(usize::try_from(concurrency).unwrap_or(usize::MAX));
        self
    }

    /// Whether the function may be run again from the top.
    #[must_use]
    pub fn replay(mut self, replay: bool) -> Self {
        self.replay = replay;
        self
    }

    /// How long the state of a call that asks in rounds is good for.
    #[must_use]
    pub fn state_ttl_ms(mut self, state_ttl_ms: u64) -> Self {
        self.state_ttl_ms = state_ttl_ms;
        self
    }

    /// Whether each state of such a call is accepted once only.
    #[must_use]
    pub fn once(mut self, once: bool) -> Self {
        self.once = once;
        self
    }

    /// That the body has a `start_task()`.
    #[must_use]
    pub fn starts_task(mut self) -> Self {
        self.starts_task = true;
        self
    }

    /// The version of the code.
    #[must_use]
    pub fn version(mut self, version: u32) -> Self {
        self.version = version;
        self
    }

    /// The schema of the arguments.
    #[must_use]
    pub fn input(mut self, schema: Map<String, Value>) -> Self {
        self.rules = ArgumentRules::of(&schema);
        self.listed("inputSchema", schema)
    }

    /// The schema of a structured result.
    #[must_use]
    pub fn output(self, schema: Option<Map<String, Value>>) -> Self {
        match schema {
            Some(schema) => self.listed("outputSchema", schema),
            None => self,
        }
    }

    /// A parameter that is not an argument.
    #[must_use]
    pub fn extract(mut self, extractor: Extractor) -> Self {
        self.extractors.push(extractor);
        self
    }

    /// A type that the body asks for: whether its form is one.
    #[must_use]
    pub fn asks(mut self, check: fn() -> Result<(), FormError>) -> Self {
        self.forms.push(check);
        self
    }

    /// What of a call is recorded for the tool's parameters.
    pub(super) fn needs(&self) -> Needs {
        let needs = self.extractors.iter().map(|extractor| extractor.needs);
        needs.fold(Needs::NOTHING, Needs::and)
    }

    pub(super) fn listed(mut self, member: &str, value: impl Into<Value>) -> Self {
        self.listing.insert(member.to_owned(), value.into());
        self
    }
}

/// One call, as its decoder sees it. Generated code only.
#[doc(hidden)]
pub struct CallContext<'a> {
    pub(super) arguments: Option<&'a RawValue>,
    pub(super) given: Given<'a>,
}

/// Why a call cannot start.
#[doc(hidden)]
#[derive(Debug, thiserror::Error)]
pub enum DecodeError {
    /// The arguments do not fit; the words name the argument.
    #[error("{0}")]
    Arguments(String),
    /// The server lacks something that it should have been given.
    #[error(transparent)]
    State(#[from] MissingState),
}

impl DecodeError {
    /// What is wrong with an argument, or with the arguments if it has no path.
    pub(super) fn at(path: &str, words: &str) -> Self {
        Self::Arguments(if path.is_empty() {
            format!("wrong arguments: {words}")
        } else {
            format!("wrong argument `{path}`: {words}")
        })
    }

    pub(super) fn wrong(path: &str, error: &serde_json::Error) -> Self {
        // Positions count from where nobody sees.
        let words = error.to_string();
        let words = words.rfind(" at line ").map_or(&*words, |at| &words[..at]);
        Self::at(path, words)
    }
}

impl CallContext<'_> {
    /// Reads the arguments.
    ///
    /// # Errors
    ///
    /// [`DecodeError::Arguments`] naming what is missing or wrong.
    pub fn arguments<A: DeserializeOwned>(&self) -> Result<A, DecodeError> {
        let mut json = serde_json::Deserializer::from_str(self.arguments_text()?);
        serde_path_to_error::deserialize(&mut json).map_err(|error| {
            let path = error.path().to_string();
            let path = if path == "." { "" } else { &path };
            DecodeError::wrong(path, error.inner())
        })
    }

    pub(super) fn arguments_text(&self) -> Result<&str, DecodeError> {
        let text = self.arguments.map_or("{}", RawValue::get);
        if text.starts_with('{') {
            Ok(text)
        } else {
            let words = "`arguments` must be an object";
            Err(DecodeError::Arguments(words.to_owned()))
        }
    }

    /// Takes the value whose method is called.
    ///
    /// # Errors
    ///
    /// [`DecodeError::State`] if the server was not given it.
    pub fn owner<T: Any>(&self) -> Result<Arc<T>, DecodeError> {
        let Owner(owner) = Owner::extract(&self.given)?;
        Ok(owner)
    }

    /// Takes what is not an argument.
    ///
    /// # Errors
    ///
    /// [`DecodeError::State`] if the server was not given it.
    pub fn extract<E: Extract>(&self) -> Result<E, DecodeError> {
        Ok(E::extract(&self.given)?)
    }
}

/// A call of a task function: its arguments, its body, and what the tool is.
/// Implemented by `#[mcp_task]`.
///
/// `Args` are the types of the function's parameters.
#[doc(hidden)]
pub trait TaskCall<Args>: Send + Sized + 'static {
    /// What the tool is.
    fn definition() -> Definition;

    /// Makes a call from what a client sent.
    ///
    /// # Errors
    ///
    /// [`DecodeError`] if the arguments do not fit.
    fn decode(call: &CallContext<'_>) -> Result<Self, DecodeError>;

    /// The body, ready to run.
    fn into_body(self) -> Body;
}

/// A function marked `#[mcp_task]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a task function",
    label = "not the name of a function marked `#[mcp_task]`",
    note = "mark the function with `#[mcp_task]` and give its name, without calling it: `.task(deploy)`",
    note = "for methods, mark the `impl` block with `#[mcp_task_impl]` and give the value: `.tasks_of(deployer)`"
)]
pub trait TaskFn<Args> {
    /// What calling the function makes.
    type Call: TaskCall<Args>;
}

macro_rules! task_fn {
    ($($argument:ident)*) => {
        impl<Function, Call, $($argument),*> TaskFn<($($argument,)*)> for Function
        where
            Function: Fn($($argument),*) -> Call,
            Call: TaskCall<($($argument,)*)>,
        {
            type Call = Call;
        }
    };
}

task_fn!();
task_fn!(A);
task_fn!(A B);
task_fn!(A B C);
task_fn!(A B C D);
task_fn!(A B C D E);
task_fn!(A B C D E F);
task_fn!(A B C D E F G);
task_fn!(A B C D E F G H);
task_fn!(A B C D E F G H I);
task_fn!(A B C D E F G H I J);
task_fn!(A B C D E F G H I J K);
task_fn!(A B C D E F G H I J K L);

/// One registered tool.
pub struct Tool {
    pub(super) definition: Definition,
    listing: Value,
    source: Source,
}

/// Where the bodies of calls come from.
enum Source {
    /// What clients send.
    Calls(fn(&CallContext<'_>) -> Result<Body, DecodeError>),
    /// One call that was made in a test.
    One(Mutex<Option<Body>>),
}

impl Tool {
    pub(super) fn new<Args, C: TaskCall<Args>>() -> Self {
        let definition = C::definition();
        Self {
            listing: Value::Object(definition.listing.clone()),
            definition,
            source: Source::Calls(|call| C::decode(call).map(TaskCall::into_body)),
        }
    }

    /// A tool all of whose calls are this one.
    pub(crate) fn of_call<Args, C: TaskCall<Args>>(call: C) -> Self {
        let mut tool = Self::new::<Args, C>();
        // Its parameters are all given.
        tool.definition.extractors.clear();
        tool.definition.rules = None;
        // Its questions are the task's from the beginning.
        tool.definition.starts_task = false;
        tool.source = Source::One(Mutex::new(Some(call.into_body())));
        tool
    }

    /// The name that clients call it by.
    pub fn name(&self) -> &str {
        &self.definition.name
    }

    /// When a call of it becomes a task.
    pub fn support(&self) -> Support {
        self.definition.support
    }

    /// The tool as `tools/list` shows it.
    pub fn listing(&self) -> &Value {
        &self.listing
    }

    /// Whether every call will find what the function takes besides arguments.
    pub(super) fn check(&self, states: &States) -> Result<(), MissingState> {
        self.definition
            .extractors
            .iter()
            .try_for_each(|extractor| (extractor.check)(states))
    }

    /// What is wrong with the forms that the body is known to ask for.
    pub(super) fn unfit_forms(&self) -> impl Iterator<Item = FormError> {
        self.definition
            .forms
            .iter()
            .filter_map(|check| check().err())
    }

    /// Makes a call's body; nothing runs yet.
    pub(super) fn body(
        &self,
        arguments: Option<&RawValue>,
        given: Given<'_>,
    ) -> Result<Body, ProtocolError> {
        let decode = match &self.source {
            Source::Calls(decode) => decode,
            Source::One(body) => return self.the_one_body(body),
        };
        let call = CallContext { arguments, given };
        // How an argument is read, and a state cloned, is the author's code.
        let decoded = catch_unwind(AssertUnwindSafe(|| decode(&call)));
        let decoded = decoded.map_err(|_| {
            tracing::error!(
                tool = self.name(),
                "reading the arguments of a call panicked"
            );
            ProtocolError::internal("internal error")
        })?;
        decoded.map_err(|error| match error {
            DecodeError::Arguments(words) => {
                ProtocolError::invalid_params(format!("tool `{}`: {words}", self.name()))
            }
            DecodeError::State(missing) => {
                tracing::error!(tool = self.name(), error = %missing, "a call cannot start");
                ProtocolError::internal("the server is not set up for this tool")
            }
        })
    }

    /// Holds arguments that can be read against the limits that the tool's
    /// schema shows. Asked before a task exists, and never again: a task that
    /// has begun keeps its arguments when the limits change.
    pub(super) fn check_limits(&self, arguments: Option<&RawValue>) -> Result<(), ProtocolError> {
        match (&self.definition.rules, arguments) {
            (Some(rules), Some(arguments)) => rules.check(self.name(), arguments),
            _ => Ok(()),
        }
    }

    fn the_one_body(&self, body: &Mutex<Option<Body>>) -> Result<Body, ProtocolError> {
        let mut body = body.lock().unwrap_or_else(PoisonError::into_inner);
        let copy = body.as_ref().and_then(Body::try_clone);
        copy.or_else(|| body.take()).ok_or_else(|| {
            ProtocolError::internal(format!(
                "`{}` cannot be started again: derive `Clone` for all types of its parameters",
                self.name()
            ))
        })
    }
}
