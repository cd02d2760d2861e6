//! Random programs, run by the engine through all that can happen to a server.
//!
//! `PROPERTY_RUNS` says how many programs to try, `PROPERTY_SEED` with which to
//! begin; what fails is made smaller, and printed with its seed.

mod beginnings;
mod case;
mod change;
mod check;
mod clients;
mod engine;
mod generate;
mod interpreter;
mod journal;
mod observed;
mod oracle;
mod prefix;
mod program;
mod random;
mod record;
mod rest;
mod rounds;
mod store;
mod trace;
mod world;

use self::case::Case;
use self::change::Change;
use self::random::Random;

/// A number from the environment.
fn setting(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// Tries programs, and prints the first that fails.
fn try_many(runs: u64, case: impl Fn(u64) -> Case) {
    each_seed(runs, |seed| {
        let case = case(seed);
        if let Err(failure) = case.run(seed) {
            let (case, failure) = case.shrink(failure, seed);
            panic!("{}", case.report(seed, &failure));
        }
    });
}

fn each_seed(runs: u64, mut run: impl FnMut(u64)) {
    let first = setting("PROPERTY_SEED").unwrap_or(1);
    (first..first + setting("PROPERTY_RUNS").unwrap_or(runs)).for_each(&mut run);
}

#[test]
fn a_healthy_task_comes_to_its_end_whatever_happens_to_its_servers() {
    try_many(250, |seed| Case {
        program: generate::program(seed),
        change: None,
    });
}

#[test]
fn changed_code_gets_nothing_that_was_recorded_for_something_else() {
    try_many(250, |seed| {
        let program = generate::program(seed);
        let change = Change::random(&program, &mut Random::new(seed));
        Case {
            program,
            change: Some(change),
        }
    });
}
