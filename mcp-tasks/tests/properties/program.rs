//! A task function as data: what it awaits, in which order, and what it does
//! with what it learns.

use std::collections::HashSet;
use std::fmt;
use std::sync::{Mutex, PoisonError};

/// A name that stands in the source of a function.
pub(crate) type Name = &'static str;

/// Makes a name; the same text is the same name, for good.
pub(crate) fn name(text: impl AsRef<str>) -> Name {
    static NAMES: Mutex<Option<HashSet<Name>>> = Mutex::new(None);
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    let names = names.get_or_insert_with(HashSet::new);
    if let Some(name) = names.get(text.as_ref()) {
        return name;
    }
    let name: Name = String::leak(text.as_ref().to_owned());
    names.insert(name);
    name
}

pub(crate) type Block = Vec<Statement>;

/// One statement. Each knows `last`, the value that the function learned last:
/// it is part of what a question says, and branches and loops go by it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Statement {
    Ask(Ask),
    Step(Step),
    Sleep {
        key: Name,
        seconds: u32,
    },
    /// `join!`, `try_join!` or `race!`.
    Together {
        how: How,
        /// Which of the function's branching calls it is.
        place: u32,
        branches: Vec<(Name, Block)>,
    },
    /// `join_all` over so many branches of the same body.
    Each {
        name: Name,
        place: u32,
        count: usize,
        body: Block,
    },
    /// One side if `last` is odd, the other if it is even.
    If {
        odd: Block,
        even: Block,
    },
    /// Again while `last` is no multiple of three, so often at most.
    Loop {
        passes: u32,
        body: Block,
    },
    Signal(Name),
    /// `cancelled()`.
    Cancelled,
    Unrecorded {
        key: Name,
        /// How long it takes, whenever it runs.
        seconds: u32,
    },
    Random(Name),
    /// One side in tasks that began after the change, the other in older ones.
    Patched {
        id: Name,
        new: Block,
        old: Block,
    },
    Now,
    Status(Name),
    /// `return last`, of the branch or the function.
    Return,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Ask {
    pub(crate) key: Name,
    pub(crate) words: Name,
    /// In seconds.
    pub(crate) timeout: Option<u32>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Step {
    pub(crate) key: Name,
    pub(crate) function: Name,
    pub(crate) argument: u32,
    /// How many seconds it takes.
    pub(crate) seconds: u32,
    /// In how many cases of a hundred it fails.
    pub(crate) fails: u32,
    /// How often it is tried.
    pub(crate) attempts: u32,
    pub(crate) care: Care,
}

/// What is said about a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Care {
    None,
    Typed,
    /// At most once; and what becomes of it if that is not known.
    Fail,
    RunAgain,
    Skip,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum How {
    Join,
    /// A branch whose value is a multiple of four has failed.
    TryJoin,
    Race,
}

/// The blocks inside a statement.
pub(crate) fn blocks(statement: &Statement) -> Vec<&Block> {
    match statement {
        Statement::Together { branches, .. } => branches.iter().map(|(_, block)| block).collect(),
        Statement::Each { body, .. } | Statement::Loop { body, .. } => vec![body],
        Statement::If { odd, even } => vec![odd, even],
        Statement::Patched { new, old, .. } => vec![new, old],
        _ => Vec::new(),
    }
}

/// The blocks inside a statement, to be changed.
pub(crate) fn blocks_mut(statement: &mut Statement) -> Vec<&mut Block> {
    match statement {
        Statement::Together { branches, .. } => {
            branches.iter_mut().map(|(_, block)| block).collect()
        }
        Statement::Each { body, .. } | Statement::Loop { body, .. } => vec![body],
        Statement::If { odd, even } => vec![odd, even],
        Statement::Patched { new, old, .. } => vec![new, old],
        _ => Vec::new(),
    }
}

/// A program, to be printed as code.
pub(crate) struct Listing<'a>(pub(crate) &'a Block);

impl fmt::Display for Listing<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        list(f, self.0, 1)
    }
}

fn list(f: &mut fmt::Formatter<'_>, block: &Block, depth: usize) -> fmt::Result {
    let indent = "    ".repeat(depth);
    for statement in block {
        write!(f, "{indent}")?;
        match statement {
            Statement::Ask(Ask {
                key,
                words,
                timeout,
            }) => {
                write!(f, "{key} = ask(\"{words}:{{last}}\")")?;
                if let Some(seconds) = timeout {
                    write!(f, ".timeout({seconds}s)")?;
                }
                writeln!(f)?;
            }
            Statement::Step(step) => {
                write!(
                    f,
                    "{} = step({}({}))",
                    step.key, step.function, step.argument
                )?;
                if step.attempts > 1 {
                    write!(f, ".attempts({})", step.attempts)?;
                }
                if step.care != Care::None {
                    write!(f, ".{:?}", step.care)?;
                }
                writeln!(f, "  // takes {}s, fails {}%", step.seconds, step.fails)?;
            }
            Statement::Sleep { key, seconds } => writeln!(f, "{key}: sleep({seconds}s)")?,
            Statement::Together {
                how,
                place,
                branches,
            } => {
                writeln!(f, "{how:?}  // {place}")?;
                for (name, block) in branches {
                    writeln!(f, "{indent}  {name}:")?;
                    list(f, block, depth + 1)?;
                }
            }
            Statement::Each {
                name,
                place,
                count,
                body,
            } => {
                writeln!(f, "join_all {count} {name}:  // {place}")?;
                list(f, body, depth + 1)?;
            }
            Statement::If { odd, even } => {
                writeln!(f, "if last is odd")?;
                list(f, odd, depth + 1)?;
                writeln!(f, "{indent}else")?;
                list(f, even, depth + 1)?;
            }
            Statement::Loop { passes, body } => {
                writeln!(f, "repeat at most {passes}, until last % 3 == 0")?;
                list(f, body, depth + 1)?;
            }
            Statement::Signal(name) => writeln!(f, "last = signal({name})")?,
            Statement::Cancelled => writeln!(f, "cancelled()")?,
            Statement::Unrecorded { key, seconds } => {
                writeln!(f, "{key}: unrecorded({seconds}s)")?;
            }
            Statement::Random(key) => writeln!(f, "{key} = random()")?,
            Statement::Patched { id, new, old } => {
                writeln!(f, "if patched({id})")?;
                list(f, new, depth + 1)?;
                writeln!(f, "{indent}else")?;
                list(f, old, depth + 1)?;
            }
            Statement::Now => writeln!(f, "last = now()")?,
            Statement::Status(words) => writeln!(f, "set_status({words})")?,
            Statement::Return => writeln!(f, "return last")?,
        }
    }
    Ok(())
}
