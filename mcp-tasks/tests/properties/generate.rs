//! Random programs, and smaller ones that are like a given one.

use std::collections::HashSet;

use super::program::{Ask, Block, Care, How, Name, Statement, Step, blocks, blocks_mut, name};
use super::random::Random;

/// A random program.
pub(crate) fn program(seed: u64) -> Block {
    let mut generator = Generator {
        random: Random::new(seed),
        last: 0,
        taken: HashSet::new(),
        scope: String::new(),
    };
    generator.block(3, 4)
}

struct Generator {
    random: Random,
    /// The last number given to a name.
    last: u32,
    /// The keys that have been taken, with their scopes: the macro lets none
    /// stand twice.
    taken: HashSet<String>,
    /// The names of the branches around, `left/0/`.
    scope: String,
}

impl Generator {
    fn number(&mut self) -> u32 {
        self.last += 1;
        self.last
    }

    /// A key: inside branches often one that other branches use as well.
    fn key(&mut self, common: &str, prefix: &str) -> Name {
        if !self.scope.is_empty() && self.random.percent(40) {
            let key = format!("{}{common}", self.scope);
            if self.taken.insert(key) {
                return name(common);
            }
        }
        let key = format!("{prefix}{}", self.number());
        self.taken.insert(format!("{}{key}", self.scope));
        name(key)
    }

    fn block(&mut self, depth: u32, longest: u32) -> Block {
        let statements = self.random.between(1, longest);
        (0..statements).map(|_| self.statement(depth)).collect()
    }

    fn branch(&mut self, branch: &str, depth: u32, longest: u32) -> Block {
        let outer = self.scope.len();
        self.scope.push_str(branch);
        self.scope.push('/');
        let block = self.block(depth, longest);
        self.scope.truncate(outer);
        block
    }

    fn ask(&mut self) -> Ask {
        Ask {
            key: self.key("approval", "a"),
            words: name(format!("w{}", self.number())),
            timeout: None,
        }
    }

    fn atom(&mut self) -> Statement {
        match self.random.between(1, 100) {
            ..=40 => Statement::Ask(self.ask()),
            41..=75 => {
                let function = if !self.scope.is_empty() && self.random.percent(60) {
                    *self.random.pick(&["f", "g"])
                } else {
                    name(format!("f{}", self.number()))
                };
                Statement::Step(Step {
                    key: self.key(function, "s"),
                    function,
                    argument: self.number(),
                    seconds: *self.random.pick(&[0, 0, 0, 1, 30]),
                    fails: *self.random.pick(&[0, 0, 20, 60]),
                    attempts: *self.random.pick(&[1, 1, 2, 3]),
                    care: *self.random.pick(&[
                        Care::None,
                        Care::None,
                        Care::None,
                        Care::Typed,
                        Care::Fail,
                        Care::RunAgain,
                        Care::Skip,
                    ]),
                })
            }
            76..=80 => Statement::Signal(self.random.name(&["x", "y"])),
            81..=90 => Statement::Sleep {
                key: self.key("pause", "t"),
                seconds: self.random.between(1, 100),
            },
            _ => {
                let timeout = Some(self.random.between(1, 200));
                Statement::Ask(Ask {
                    timeout,
                    ..self.ask()
                })
            }
        }
    }

    fn statement(&mut self, depth: u32) -> Statement {
        if depth == 0 {
            return self.atom();
        }
        match self.random.between(1, 100) {
            ..=40 => self.atom(),
            41..=57 => {
                let how = *self.random.pick(&[How::Join, How::Join, How::TryJoin]);
                self.together(how, depth, 2)
            }
            58..=69 => self.together(How::Race, depth, 1),
            70..=73 => {
                let place = self.number();
                let each = name(format!("each{place}"));
                Statement::Each {
                    name: each,
                    place,
                    count: self.random.below(3) + 1,
                    body: self.branch(each, depth - 1, 2),
                }
            }
            74..=79 => Statement::If {
                odd: self.block(depth - 1, 2),
                even: if self.random.percent(70) {
                    self.block(depth - 1, 2)
                } else {
                    vec![Statement::Return]
                },
            },
            80..=85 => Statement::Loop {
                passes: self.random.between(2, 3),
                body: self.block(depth - 1, 2),
            },
            86..=88 => Statement::Now,
            89 => Statement::Random(name(format!("d{}", self.number()))),
            90..=92 => Statement::Unrecorded {
                key: self.key("look", "u"),
                seconds: *self.random.pick(&[0, 0, 5]),
            },
            93..=95 => Statement::Patched {
                id: self.random.name(&["p", "q"]),
                new: self.block(depth - 1, 2),
                old: self.block(depth - 1, 2),
            },
            _ => Statement::Status(name(format!("status {}", self.number()))),
        }
    }

    fn together(&mut self, how: How, depth: u32, longest: u32) -> Statement {
        let place = self.number();
        let named = self.random.percent(40);
        let mut branches: Vec<_> = (0..self.random.between(2, 3))
            .map(|index| {
                let branch = if named {
                    *["left", "right", "middle"]
                        .get(index as usize)
                        .expect("there are three at most")
                } else {
                    name(index.to_string())
                };
                (branch, self.branch(branch, depth - 1, longest))
            })
            .collect();
        if how == How::Race && branches.len() < 3 && self.random.percent(40) {
            branches.push((
                name(if named { "middle" } else { "2" }),
                vec![Statement::Cancelled],
            ));
        }
        Statement::Together {
            how,
            place,
            branches,
        }
    }
}

/// Smaller programs like this one: each without one statement, or with what is
/// inside a statement in its place.
pub(crate) fn smaller(program: &Block) -> Vec<Block> {
    let mut found = Vec::new();
    for index in 0..size(program) {
        let mut without = program.clone();
        edit(&mut without, &mut { index }, &mut |block, at| {
            block.remove(at);
        });
        found.push(without);
        let mut unwrapped = program.clone();
        edit(&mut unwrapped, &mut { index }, &mut |block, at| {
            let simple = match &mut block[at] {
                Statement::Together { branches, .. } if branches.len() > 2 => {
                    branches.pop();
                    return;
                }
                Statement::If { odd, .. } => std::mem::take(odd),
                Statement::Loop { body, .. } => std::mem::take(body),
                Statement::Patched { new, .. } => std::mem::take(new),
                Statement::Step(step) => {
                    step.seconds = 0;
                    step.fails = 0;
                    step.attempts = 1;
                    step.care = Care::None;
                    return;
                }
                _ => return,
            };
            block.splice(at..=at, simple);
        });
        if unwrapped != *program {
            found.push(unwrapped);
        }
    }
    found.retain(|program| !program.is_empty());
    found
}

/// How many statements there are, with those inside others.
pub(crate) fn size(block: &Block) -> usize {
    let inside = |statement| blocks(statement).into_iter().map(size).sum::<usize>();
    block.iter().map(|statement| 1 + inside(statement)).sum()
}

/// Changes the block in which the statement of this number stands.
pub(crate) fn edit(
    block: &mut Block,
    number: &mut usize,
    change: &mut impl FnMut(&mut Block, usize),
) -> bool {
    for at in 0..block.len() {
        if *number == 0 {
            change(block, at);
            return true;
        }
        *number -= 1;
        for inner in blocks_mut(&mut block[at]) {
            if edit(inner, number, change) {
                return true;
            }
        }
    }
    false
}
