//! Changes that somebody makes to a program while tasks of it are under way.

use std::collections::HashSet;
use std::fmt;

use super::generate::{edit, size};
use super::program::{Ask, Block, Care, How, Name, Statement, Step, blocks, name};
use super::random::Random;

/// One change, at one statement.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Change {
    pub(crate) kind: Kind,
    /// The number of the statement.
    pub(crate) at: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    AskInserted,
    StepInserted,
    SleepInserted,
    SignalInserted,
    UnrecordedInserted,
    Removed,
    Renamed,
    /// A question in other words, or a step that calls another function.
    Reworded,
    /// Changes places with the next.
    Reordered,
    /// A question becomes a step, a timer an `unrecorded` future, or the other
    /// way round.
    Replaced,
    /// A question gets a time limit, or loses it.
    Timeout,
    /// A join becomes a race, or the other way round.
    JoinedOtherwise,
    BranchInFront,
    BranchGone,
    BranchesSwapped,
    /// Something else instead, behind `patched`.
    Patched,
}

const KINDS: [Kind; 16] = [
    Kind::AskInserted,
    Kind::StepInserted,
    Kind::SleepInserted,
    Kind::SignalInserted,
    Kind::UnrecordedInserted,
    Kind::Removed,
    Kind::Renamed,
    Kind::Reworded,
    Kind::Reordered,
    Kind::Replaced,
    Kind::Timeout,
    Kind::JoinedOtherwise,
    Kind::BranchInFront,
    Kind::BranchGone,
    Kind::BranchesSwapped,
    Kind::Patched,
];

impl Change {
    /// A change that can be made to a program.
    pub(crate) fn random(program: &Block, random: &mut Random) -> Self {
        loop {
            let change = Self {
                kind: *random.pick(&KINDS),
                at: random.below(size(program)),
            };
            if change.apply(program).is_some() {
                return change;
            }
        }
    }

    /// The program with this change, if it can be made there.
    pub(crate) fn apply(self, program: &Block) -> Option<Block> {
        let mut changed = program.clone();
        let mut applies = false;
        edit(&mut changed, &mut { self.at }, &mut |block, at| {
            applies = self.kind.apply(block, at).is_some();
        });
        (applies && compiles(&changed)).then_some(changed)
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} at statement {}", self.kind, self.at)
    }
}

impl Kind {
    fn apply(self, block: &mut Block, at: usize) -> Option<()> {
        match self {
            Self::AskInserted => block.insert(at, Statement::Ask(new_ask("new"))),
            Self::StepInserted => block.insert(at, Statement::Step(new_step("new"))),
            Self::SleepInserted => block.insert(at, new_sleep("new")),
            Self::SignalInserted => block.insert(at, Statement::Signal("x")),
            Self::UnrecordedInserted => block.insert(at, new_look("new")),
            Self::Removed => {
                block.remove(at);
            }
            Self::Renamed => rename(&mut block[at])?,
            Self::Reworded => match &mut block[at] {
                Statement::Ask(ask) => ask.words = "other words",
                Statement::Step(step) => step.function = "other",
                Statement::Status(words) => *words = "other words",
                _ => return None,
            },
            Self::Reordered if at + 1 < block.len() => block.swap(at, at + 1),
            Self::Reordered => return None,
            Self::Replaced => {
                block[at] = match &block[at] {
                    Statement::Ask(ask) => Statement::Step(new_step(ask.key)),
                    Statement::Step(step) => Statement::Ask(new_ask(step.key)),
                    Statement::Sleep { key, .. } => new_look(key),
                    Statement::Unrecorded { key, .. } => new_sleep(key),
                    _ => return None,
                }
            }
            Self::Timeout => match &mut block[at] {
                Statement::Ask(ask) => match ask.timeout {
                    None => ask.timeout = Some(60),
                    Some(_) => ask.timeout = None,
                },
                _ => return None,
            },
            Self::JoinedOtherwise => match &mut block[at] {
                // Nobody may ever cancel it.
                Statement::Together { branches, .. }
                    if branches
                        .iter()
                        .any(|(_, branch)| branch.contains(&Statement::Cancelled)) =>
                {
                    return None;
                }
                Statement::Together { how, .. } => {
                    *how = match how {
                        How::Join | How::TryJoin => How::Race,
                        How::Race => How::Join,
                    }
                }
                _ => return None,
            },
            Self::BranchInFront | Self::BranchGone | Self::BranchesSwapped => {
                let Statement::Together { branches, .. } = &mut block[at] else {
                    return None;
                };
                self.apply_to_branches(branches)?;
            }
            Self::Patched => {
                let old = vec![block[at].clone()];
                let new = vec![
                    Statement::Ask(new_ask("new")),
                    Statement::Step(new_step("new_step")),
                ];
                let id = "change";
                block[at] = Statement::Patched { id, new, old };
            }
        }
        Some(())
    }

    fn apply_to_branches(self, branches: &mut Vec<(Name, Block)>) -> Option<()> {
        let numbered = branches[0].0 == "0";
        match self {
            Self::BranchInFront if branches.len() < 3 => {
                branches.insert(0, ("front", vec![Statement::Ask(new_ask("new"))]));
            }
            Self::BranchGone if branches.len() > 1 => {
                branches.remove(0);
            }
            Self::BranchesSwapped => branches.swap(0, 1),
            _ => return None,
        }
        if numbered {
            for (index, (branch, _)) in branches.iter_mut().enumerate() {
                *branch = name(index.to_string());
            }
        }
        Some(())
    }
}

fn rename(statement: &mut Statement) -> Option<()> {
    match statement {
        Statement::Ask(Ask { key, .. })
        | Statement::Step(Step { key, .. })
        | Statement::Sleep { key, .. }
        | Statement::Unrecorded { key, .. }
        | Statement::Random(key)
        | Statement::Each { name: key, .. } => *key = name(format!("{key}_renamed")),
        Statement::Signal(name) => *name = if *name == "x" { "y" } else { "x" },
        _ => return None,
    }
    Some(())
}

fn new_ask(key: Name) -> Ask {
    Ask {
        key,
        words: "new words",
        timeout: None,
    }
}

fn new_step(key: Name) -> Step {
    Step {
        key,
        function: "new_function",
        argument: 0,
        seconds: 0,
        fails: 0,
        attempts: 1,
        care: Care::None,
    }
}

fn new_sleep(key: Name) -> Statement {
    Statement::Sleep { key, seconds: 20 }
}

fn new_look(key: Name) -> Statement {
    Statement::Unrecorded { key, seconds: 0 }
}

/// Whether no key stands twice: the macro would say so.
fn compiles(program: &Block) -> bool {
    fn visit<'a>(block: &'a Block, scope: &str, taken: &mut HashSet<(String, Name)>) -> bool {
        block.iter().all(|statement: &'a Statement| {
            let free = match statement {
                Statement::Ask(Ask { key, .. })
                | Statement::Step(Step { key, .. })
                | Statement::Sleep { key, .. }
                | Statement::Unrecorded { key, .. }
                | Statement::Random(key) => taken.insert((scope.to_owned(), key)),
                _ => true,
            };
            free && match statement {
                Statement::Together { branches, .. } => branches
                    .iter()
                    .all(|(branch, block)| visit(block, &format!("{scope}{branch}/"), taken)),
                Statement::Each { name, body, .. } => {
                    visit(body, &format!("{scope}{name}/"), taken)
                }
                statement => {
                    let mut inner = blocks(statement).into_iter();
                    inner.all(|block| visit(block, scope, taken))
                }
            }
        })
    }
    visit(program, "", &mut HashSet::new())
}
