//! About the item that has the attribute, and its signature.

use quote::ToTokens as _;

use crate::task::marks::Mark;

pub(crate) const REPEATED_TASK: &str = "`#[mcp_task]` stands here twice: put its keys into one, \
     `#[mcp_task(ttl = \"1h\", ..)]`";
pub(crate) const TASK_AND_FLOW: &str = "a function is either a tool, which clients call, or a flow, \
     which tasks await: keep one of `#[mcp_task]` and `#[mcp_task_flow]`. For both, let the tool \
     await the flow";
pub(crate) const MAIN: &str = "`main` starts the program, and a tool is started by clients: give the \
     tool a function of its own, and serve it from `main` with `TaskServer::new(..).task(..)`";
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
pub(crate) const TRAIT_OBJECT: &str = "an argument of a task function cannot be `dyn Trait`: it is \
     decoded from JSON into a type, so name the type. What the server has is not an argument: \
     `State(name): State<Arc<dyn Trait>>`";
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

pub(crate) fn repeated(mark: Mark) -> String {
    format!("`#[{}]` stands here twice: remove one", mark.name())
}

pub(crate) fn goes_on(mark: Mark) -> String {
    match mark {
        Mark::Impl => super::NOT_AN_IMPL.to_owned(),
        _ => format!("`#[{}]` goes on an `async fn`", mark.name()),
    }
}

pub(crate) fn mark_on_impl(mark: Mark) -> String {
    match mark {
        Mark::Flow => {
            "`#[mcp_task_flow]` goes on the methods of an `impl` block that are flows, not \
             on the block"
                .to_owned()
        }
        _ => {
            "`#[mcp_task]` goes on the methods of an `impl` block that are tools; the block itself \
             is marked `#[mcp_task_impl]`"
                .to_owned()
        }
    }
}

pub(crate) fn mark_on_trait(mark: Mark) -> String {
    match mark {
        Mark::Impl => "`#[mcp_task_impl]` cannot stand on a trait: put the task methods into an \
             `impl` block of the type itself"
            .to_owned(),
        _ => format!(
            "`#[{}]` goes on an `async fn`, and not on a trait: its methods have no one body",
            mark.name()
        ),
    }
}

pub(crate) fn without_body(mark: Mark) -> String {
    format!(
        "`#[{}]` goes on an `async fn` with a body, and not on a method of a trait: mark a function, \
         or a method of a type's own `impl` block",
        mark.name()
    )
}

pub(crate) fn logs_result(log: &str) -> String {
    format!(
        "`{log}` of `#[tracing::instrument]` would see the call that is built, not what comes of it: \
         remove it, and log at the end of the body"
    )
}

/// What attributes that make something else of a function are told.
pub(crate) fn takeover(name: &str) -> Option<String> {
    let why = match name {
        "main" => return Some(MAIN.to_owned()),
        "test" => {
            "a test is a function of its own, which drives the task: \
             `TestTask::start(deploy(..))`"
        }
        "tool" => "`#[mcp_task]` makes a tool by itself",
        "async_trait" => "a task function is no method of a trait",
        _ => return None,
    };
    Some(format!("`#[{name}]` does not go with `#[mcp_task]`: {why}"))
}

/// How many parameters the runtime's `TaskFn` has room for.
pub(crate) const MOST_PARAMETERS: usize = 12;

pub(crate) fn too_many_parameters() -> String {
    format!(
        "a task function takes at most {MOST_PARAMETERS} parameters: put arguments that belong \
         together into a struct, with `#[serde(flatten)]` if clients should not see it"
    )
}

pub(crate) fn foreign_extractor(path: &syn::Path) -> String {
    let name = path.to_token_stream().to_string().replace(' ', "");
    if name.ends_with("Extension") {
        return format!(
            "`{name}(..)` is not known here: what was given to the server with `.state(..)` is taken \
             by `State(name): State<Type>`"
        );
    }
    format!(
        "`{name}(..)` takes nothing apart here: the parameters of a task function are the tool's \
         arguments. Write them one by one, or `name: Type` for a single one"
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

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars
        .next()
        .into_iter()
        .flat_map(char::to_uppercase)
        .chain(chars)
        .collect()
}
