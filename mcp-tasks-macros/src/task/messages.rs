//! Every message of the attribute: what is wrong, then what to write.

use quote::ToTokens;

use super::attribute::KEYS;

// --- the item and its signature

pub(crate) const NOT_A_FUNCTION: &str = "`#[mcp_task]` goes on an `async fn`";
pub(crate) const INSTRUMENTED: &str = "`#[tracing::instrument]` stands above `#[mcp_task]` and has \
     taken the body apart: put it below";
pub(crate) const NOT_ASYNC: &str = "a task function must be `async`: write `async fn`";
pub(crate) const CONST: &str =
    "a task function runs at run time: write `async fn` in place of `const fn`";
pub(crate) const UNSAFE: &str =
    "a task function cannot be `unsafe`: clients call it with any arguments";
pub(crate) const EXTERN: &str = "a task function cannot have an ABI of its own: remove `extern`";
pub(crate) const VARIADIC: &str = "a task function cannot be variadic: take a `Vec` as an argument";
pub(crate) const GENERICS: &str = "a task function cannot be generic: a tool has one schema and \
     one journal. Name the types; for several tools of one shape, write one function each that \
     calls the generic one";
pub(crate) const WHERE: &str =
    "a task function cannot have a `where` clause, as it has no generics to bound: remove it";
pub(crate) const IMPL_TRAIT: &str = "an argument of a task function cannot be `impl Trait`: it is \
     decoded from JSON into a type, so name the type";
pub(crate) const IMPL_TRAIT_RETURN: &str = "a task function cannot return `impl Trait`: name the \
     type, for example `Result<Json<T>, ToolError>`";
pub(crate) const RECEIVER: &str = "a method can only be a task in an `impl` block marked \
     `#[mcp_task_impl]`: mark the block too, or take `self` out and share state with an extractor, \
     `State(fleet): State<Fleet>`";
pub(crate) const PATTERN_ARGUMENT: &str = "an argument of a task function needs a name, which \
     clients see: write `name: Type` and take it apart in the body";
pub(crate) const WILD_ARGUMENT: &str = "an argument of a task function needs a name, which \
     clients see: write `_name: Type`";
pub(crate) const EXTRACTOR_TYPE: &str =
    "`State(..)` takes its value out of `State<T>`: write the type as `State<T>`";
pub(crate) const BORROWED_EXTRACTOR: &str = "an extractor cannot borrow: a task outlives the call \
     that starts it. Write an owned type, for example `State<Arc<T>>`";
pub(crate) const CFG_ON_ARGUMENT: &str = "an argument of a task function cannot be conditional: \
     put `#[cfg]` on two versions of the function";

/// How many parameters the runtime's `TaskFn` has room for.
pub(crate) const MOST_PARAMETERS: usize = 12;

pub(crate) fn too_many_parameters() -> String {
    format!(
        "a task function takes at most {MOST_PARAMETERS} parameters: put arguments that belong \
         together into a struct, with `#[serde(flatten)]` if clients should not see it"
    )
}

pub(crate) fn borrowed_argument(ty: &syn::Type) -> String {
    let text: String = ty.to_token_stream().to_string();
    let owned = match text.replace(' ', "").as_str() {
        "&str" | "&'staticstr" => "write `String`",
        "&Path" => "write `PathBuf`",
        other if other.starts_with("&[") => "write a `Vec`",
        other if other.starts_with("Option<&") => "write an `Option` of an owned type",
        _ => "write an owned type",
    };
    format!(
        "an argument of a task function cannot borrow: a task outlives the call that starts it. \
         {}",
        capital(owned)
    )
}

pub(crate) fn tool_name_length(length: usize) -> String {
    format!("a tool's name has 1 to 128 characters, this one has {length}")
}

pub(crate) fn tool_name_character(bad: char) -> String {
    format!(
        "a tool's name cannot contain `{}`: letters, digits, `_`, `-`, `.` and `/` are allowed. \
         Choose one with `name = \"..\"`",
        bad.escape_debug()
    )
}

// --- methods

pub(crate) const NOT_AN_IMPL: &str = "`#[mcp_task_impl]` goes on an `impl` block whose methods are \
     marked `#[mcp_task]`; a free function needs `#[mcp_task]` alone";
pub(crate) const IMPL_ATTRIBUTE: &str = "`#[mcp_task_impl]` takes nothing but `crate = path`: \
     everything else belongs to each method's own `#[mcp_task(..)]`";
pub(crate) const IMPL_OF_TRAIT: &str = "`#[mcp_task_impl]` cannot stand on the implementation of a \
     trait: put the task methods into an `impl` block of the type itself";
pub(crate) const IMPL_GENERICS: &str = "`#[mcp_task_impl]` cannot stand on a generic `impl` block: \
     a tool has one schema and one journal. Name the types: `impl Deployer<Cloud>`";
pub(crate) const IMPL_WHERE: &str = "`#[mcp_task_impl]` cannot stand on an `impl` block with a \
     `where` clause, as it has no generics to bound: remove it";
pub(crate) const IMPL_TYPE: &str = "`#[mcp_task_impl]` goes on the `impl` block of a struct or an \
     enum, by its name";
pub(crate) const IMPL_BORROWS: &str = "a type with task methods cannot borrow: a task outlives the \
     call that starts it. Let the type own what it holds, or share it as an `Arc`";
pub(crate) const IMPL_EMPTY: &str = "no method of this `impl` block is a task: mark those that are \
     with `#[mcp_task]`, or remove `#[mcp_task_impl]`";
pub(crate) const METHOD_WITHOUT_SELF: &str = "a task method takes `&self`: add it, or make this a \
     free function with `#[mcp_task]`";
pub(crate) const METHOD_MUT_SELF: &str = "a task method cannot take `&mut self`, as many calls share \
     one value: take `&self`, and keep what changes in a `Mutex` or an atomic";
pub(crate) const METHOD_SELF: &str = "a task method cannot take `self`, as many calls share one \
     value: take `&self`";
pub(crate) const METHOD_LIFETIME: &str = "a task method needs no lifetime for its value: write \
     `&self`";

// --- flows

pub(crate) const FLOW_NOT_A_FUNCTION: &str = "`#[mcp_task_flow]` goes on an `async fn`";
pub(crate) const FLOW_ATTRIBUTE: &str = "`#[mcp_task_flow]` takes nothing but `crate = path`: \
     everything else belongs to the task that awaits it, `#[mcp_task(..)]`";
pub(crate) const FLOW_INSTRUMENTED: &str = "`#[tracing::instrument]` stands above \
     `#[mcp_task_flow]` and has taken the body apart: put it below";
pub(crate) const FLOW_NOT_ASYNC: &str = "a flow must be `async`: write `async fn`";
pub(crate) const FLOW_CONST: &str =
    "a flow runs at run time: write `async fn` in place of `const fn`";
pub(crate) const FLOW_UNSAFE: &str = "a flow cannot be `unsafe`: its body runs where it is awaited, \
     not where it is called. Put an `unsafe` block into it";
pub(crate) const FLOW_EXTERN: &str = "a flow cannot have an ABI of its own: remove `extern`";
pub(crate) const FLOW_IMPL_TRAIT: &str = "an argument of a flow cannot be `impl Trait`: name the \
     type, or its parameter, as in `<T: Into<String> + Send>(what: T)`";
pub(crate) const FLOW_IMPL_TRAIT_RETURN: &str = "a flow cannot return `impl Trait`: name the type, \
     for example `Result<String, AskError>`";
pub(crate) const CFG_ON_FLOW_ARGUMENT: &str = "an argument of a flow cannot be conditional: put \
     `#[cfg]` on two versions of the function";

// --- the attribute's arguments

pub(crate) const ATTRIBUTE_SYNTAX: &str =
    "expected `key = value`, for example `#[mcp_task(ttl = \"24h\")]`";
pub(crate) const TEXT_EXPECTED: &str = "expected a text in quotes";
pub(crate) const DURATION_EXPECTED: &str =
    "expected a duration in quotes: `\"90s\"`, `\"1h30m\"`, `\"7d\"`";
pub(crate) const SUPPORT_EXPECTED: &str = "`support` is `\"optional\"` (a task if the client can), \
     `\"required\"` (always a task) or `\"forbidden\"` (never a task)";
pub(crate) const REPLAY_EXPECTED: &str = "`replay` is `true` or `false`";
pub(crate) const VERSION_EXPECTED: &str = "`version` is a whole number from 1 on";
pub(crate) const PATH_EXPECTED: &str =
    "`crate` is the path of the mcp_tasks crate, for example `crate = ::my_name_for_it`";
pub(crate) const ANNOTATIONS_SYNTAX: &str = "write the annotations in parentheses, each alone or \
     with `true` or `false`: `annotations(read_only, open_world = false)`";
pub(crate) const READ_ONLY_AND_DESTRUCTIVE: &str = "`read_only` and `destructive` contradict each \
     other: a tool that only reads destroys nothing. Remove one of them";
pub(crate) const ICONS_EXPECTED: &str = "`icons` is a list: write `icons = [\"https://..\"]`";
pub(crate) const ICON_URI: &str =
    "clients show icons from `https:` addresses and `data:` URIs only: write one of these";
pub(crate) const META_EXPECTED: &str =
    "`meta` is a JSON object: write `meta = { \"example.com/tier\": \"gold\" }`";
pub(crate) const INLINE_WITH_REQUIRED: &str = "`inline` and `support = \"required\"` contradict \
     each other: a required task never answers in line. Remove one of them";

pub(crate) fn unknown_key(key: &str) -> String {
    let all = KEYS.map(|key| format!("`{key}`")).join(", ");
    match nearest(key, &KEYS) {
        Some(nearest) => {
            format!("there is no key `{key}`; did you mean `{nearest}`? The keys are {all}")
        }
        None => format!("there is no key `{key}`. The keys are {all}"),
    }
}

pub(crate) fn unknown_annotation(key: &str) -> String {
    let known = super::listing::HINTS.map(|(known, _)| known);
    let all = known.map(|known| format!("`{known}`")).join(", ");
    let key_or_hint = key.strip_suffix("_hint").unwrap_or(key);
    match nearest(key_or_hint, &known) {
        Some(nearest) => format!(
            "there is no annotation `{key}`; did you mean `{nearest}`? The annotations are {all}"
        ),
        None => format!("there is no annotation `{key}`. The annotations are {all}"),
    }
}

pub(crate) fn annotation_value(key: &str) -> String {
    format!("`{key}` is `true` or `false`: write `{key}` alone, or `{key} = false`")
}

pub(crate) fn repeated_attribute_key(key: &str) -> String {
    format!("`{key}` is given twice: remove one")
}

pub(crate) fn key_without_value(key: &str) -> String {
    format!("`{key}` needs a value: write `{key} = ..`")
}

pub(crate) fn bad_duration(text: &str) -> String {
    format!(
        "`{}` is not a duration: write a whole number with `ms`, `s`, `m`, `h` or `d`, largest \
         unit first, for example `\"90s\"`, `\"1h30m\"`, `\"7d\"`",
        text.escape_debug()
    )
}

pub(crate) fn long_duration(text: &str) -> String {
    format!(
        "`{}` is too long: more milliseconds than fit in 64 bits. For no limit write \
         `ttl = \"none\"`",
        text.escape_debug()
    )
}

pub(crate) fn no_duration(key: &str) -> String {
    format!("`{key}` cannot be `none`, only `ttl` can: write a duration, or leave `{key}` out")
}

pub(crate) fn zero_duration(text: &str) -> String {
    format!(
        "`{}` is no time at all: a duration must be longer than zero",
        text.escape_debug()
    )
}

pub(crate) fn negative_duration(text: &str) -> String {
    format!(
        "`{}` is negative: a duration must be longer than zero",
        text.escape_debug()
    )
}

pub(crate) fn poll_longer_than_ttl(given: bool) -> String {
    let ttl = if given {
        "`ttl`"
    } else {
        "the default `ttl` of 24 hours"
    };
    format!(
        "`poll_interval` is longer than {ttl}: a client would look only after the task's end. Make \
         it shorter"
    )
}

pub(crate) const ONCE_EXPECTED: &str = "`once` is `true` or `false`: whether each state that a \
     call gives to its client is accepted once only";
pub(crate) const STATE_TTL_TOO_LONG: &str = "`state_ttl` can be \"7d\" at most: the keys that seal \
     what clients bring back are kept for no longer";

// --- suspension points

pub(crate) const CANCELLED_WITHOUT_GRACE: &str = "`cancelled()` never resolves in this task, \
     which ends at once when it is cancelled: allow it time with \
     `#[mcp_task(cancel_grace = \"5s\")]`";
pub(crate) const START_TWICE: &str =
    "a call becomes a task once: this is the second `start_task()` of the function. Leave one";
pub(crate) const START_IN_LOOP: &str =
    "`start_task()` cannot stand in a loop: a call becomes a task once. Put it before or after";
pub(crate) const START_IN_BRANCH: &str = "`start_task()` cannot stand in a branch of a join: it \
     is the whole call that becomes a task. Put it before the join";
pub(crate) const START_IN_FLOW: &str = "`start_task()` cannot stand in a helper: it is the tool's \
     own function that says where its call becomes a task. Put it there";
pub(crate) const START_FORBIDDEN: &str = "`start_task()` in a tool that never becomes a task: \
     leave it out, or leave out `support = \"forbidden\"`";
pub(crate) const START_WITHOUT_REPLAY: &str = "`start_task()` needs replay: what is asked before it \
     is asked over several calls. Leave it out, or leave out `replay = false`";
pub(crate) const START_WITH_INLINE: &str = "`start_task()` and `inline` both say when a call \
     becomes a task: leave one out";
pub(crate) const EMPTY_KEY: &str =
    "a key cannot be empty: leave `.key(..)` out, and the call names itself";

pub(crate) fn not_awaited(call: &str) -> String {
    format!("`{call}` does nothing until it is awaited: add `.await`")
}

pub(crate) fn in_closure(call: &str) -> String {
    format!(
        "`{call}` cannot stand in a closure: a task suspends only in its own body. Use a loop, or \
         `join_all(items.map(|item| ..))`, whose closure may"
    )
}

pub(crate) fn in_async_block(call: &str) -> String {
    format!(
        "`{call}` cannot stand in a nested `async` block: a task suspends only in its own body. \
         Take it out of the block, or make the block a branch of `join!`, `try_join!`, `race!` or \
         `join_all`"
    )
}

pub(crate) fn in_spawn(call: &str) -> String {
    format!(
        "`{call}` cannot be spawned: what is spawned is not part of the task and is lost in a \
         restart. Use `join!(..)` to do several things at once"
    )
}

pub(crate) fn in_step(call: &str) -> String {
    format!(
        "`{call}` cannot stand inside a step: a step is recorded as a whole. Call it before the \
         step and hand the result in"
    )
}

pub(crate) fn in_unrecorded(call: &str) -> String {
    format!(
        "`{call}` cannot stand inside `unrecorded(..)`, which runs again with every replay: call \
         it before and hand the result in"
    )
}

pub(crate) fn in_inner_function(call: &str) -> String {
    format!(
        "`{call}` cannot stand in an inner function: a task suspends only in its own body. Call it \
         there, and hand the result over"
    )
}

pub(crate) fn repeated_key(key: &str) -> String {
    format!(
        "the key `{key}` is already taken in this function: the journal could not tell the two \
         apart. Give this one a name of its own with `.key(\"..\")`"
    )
}

pub(crate) fn key_first_taken(key: &str) -> String {
    format!("the key `{key}` is first taken here")
}

pub(crate) fn key_character(bad: char) -> String {
    format!(
        "a key cannot contain `{bad}`, which separates the parts of a full key: use `_`, `-` or `.`"
    )
}

// --- steps

pub(crate) const STEP_QUESTION_MARK: &str = "`?` cannot stand directly in a step's argument, which \
     is evaluated only if nothing is recorded: take it out with a `let` before the step, or write \
     `step(async { .. })`";
pub(crate) const STEP_RETURN: &str = "`return` cannot stand directly in a step's argument, which \
     is evaluated only if nothing is recorded: move it before the step";
pub(crate) const STEP_BREAK: &str = "`break` cannot stand directly in a step's argument, which is \
     evaluated only if nothing is recorded: move it before the step";
pub(crate) const STEP_CONTINUE: &str = "`continue` cannot stand directly in a step's argument, \
     which is evaluated only if nothing is recorded: move it before the step";
pub(crate) const REPEATED_ATTRIBUTE: &str = "`#[mcp_task]` stands here twice: put its keys into \
    one, `#[mcp_task(ttl = \"1h\", ..)]`";

pub(crate) const STEP_AWAIT: &str = "a step takes the future itself: remove the `.await` inside, \
     or write `step(async { .. })`";

pub(crate) const UNRECORDED_AWAIT: &str = "`unrecorded` takes the future itself: remove the \
     `.await` inside, or write `unrecorded(async { .. })`";
pub(crate) const STEP_KEY_OUTSIDE: &str = "`step_key()` is the key of the step around it: call it \
     inside a step's argument, as in `step(charge(amount, step_key()))`";

// --- awaits and macros

pub(crate) const TASK_AWAIT_AFTER_JOIN: &str =
    "this macro awaits in place, and yields the values: remove the `.await`";

pub(crate) fn join_label_twice(label: &str) -> String {
    format!("two branches are called `{label}`: give each a name of its own")
}

pub(crate) fn join_syntax(name: &str) -> String {
    format!(
        "`{name}!` takes branches, each an expression with or without a name: `{name}!(left: .., right: ..)`"
    )
}

pub(crate) fn join_empty(name: &str) -> String {
    format!("`{name}!` needs at least one branch")
}

pub(crate) fn join_too_many(name: &str, most: usize) -> String {
    format!("`{name}!` takes at most {most} branches: use `join_all(..)` for more")
}

pub(crate) fn foreign_join(name: &str, ours: &str) -> String {
    format!(
        "`{name}!` cannot be replayed: what finishes first is not recorded. Use `{ours}` of \
         mcp_tasks, or put it inside a step: `step(async {{ .. }})`"
    )
}

pub(crate) fn await_in_macro(name: &str) -> String {
    format!(
        "this `.await` is hidden in `{name}!`, where it cannot be made durable: await before, \
         with a `let`, and hand the value in"
    )
}

pub(crate) fn call_in_macro(call: &str, name: &str) -> String {
    format!(
        "`{call}` is hidden in `{name}!`, where it cannot be bound to the task: call it before, \
         with a `let`, and hand the value in"
    )
}

// --- what a replay would do again, or differently

pub(crate) fn reads_clock(call: &str) -> String {
    format!(
        "`{call}` gives another time when the task is replayed: use `now()` of mcp_tasks, which does \
         not, or take it in a step, which records it: `step_value(async {{ .. }}).await`"
    )
}

pub(crate) fn is_random(call: &str, instead: &str) -> String {
    format!(
        "`{call}` gives another value when the task is replayed: use `{instead}` of mcp_tasks, which \
         does not, or draw it in a step, which records it: `step_value(async {{ .. }}).await`"
    )
}

pub(crate) fn prints(name: &str) -> String {
    format!(
        "`{name}!` prints again whenever the task is replayed, and over stdio it breaks the \
         protocol: use `set_status(..)` for the client or `tracing` for the log, or print inside a \
         step"
    )
}

/// The known key that is a slip of the finger away.
pub(crate) fn nearest<'k>(key: &str, keys: &[&'k str]) -> Option<&'k str> {
    // What people are used to from elsewhere.
    let habit = match key {
        "timeout" | "lifetime" | "expires" => "ttl",
        "poll" | "interval" => "poll_interval",
        "task" | "tasks" | "task_support" | "taskSupport" => "support",
        "desc" | "doc" | "docs" => "description",
        "grace" => "cancel_grace",
        "durable" => "replay",
        "minimum" | "ge" => "min",
        "maximum" | "le" => "max",
        "min_length" | "minLength" => "min_len",
        "max_length" | "maxLength" => "max_len",
        "minItems" => "min_items",
        "maxItems" => "max_items",
        "regex" => "pattern",
        "_meta" | "metadata" => "meta",
        "icon" => "icons",
        "annotation" | "hints" | "read_only" | "readonly" | "destructive" | "idempotent"
        | "open_world" => "annotations",
        _ => "",
    };
    let mut known = keys.iter().copied();
    known.find(|known| *known == habit).or_else(|| {
        let distances = keys.iter().map(|known| (distance(key, known), *known));
        distances
            .min()
            .filter(|(distance, known)| *distance <= known.len().max(key.len()) / 3)
            .map(|(_, known)| known)
    })
}

/// Levenshtein's distance, which is small enough to have of one's own.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars
        .next()
        .into_iter()
        .flat_map(char::to_uppercase)
        .chain(chars)
        .collect()
}
