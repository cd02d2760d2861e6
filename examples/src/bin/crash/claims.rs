//! What was promised, held against what was seen.

use std::io;

use mcp_tasks_examples::screen::Style;

use crate::stage::Stage;
use crate::story::Played;

/// A promise, and whether it was kept.
struct Claim {
    promise: &'static str,
    evidence: String,
    kept: bool,
}

/// Shows all claims; says whether all of them hold.
pub(crate) fn show(stage: &Stage, played: &Played) -> io::Result<bool> {
    let claims = [
        same_question(played),
        answer_counts(played),
        no_step_twice(played),
        nothing_redone(played),
    ];
    stage.screen.space()?;
    stage.screen.show(0, Style::Bold, "What was promised:")?;
    for claim in &claims {
        let (mark, style) = if claim.kept {
            ("kept  ", Style::Good)
        } else {
            ("BROKEN", Style::Bad)
        };
        stage
            .screen
            .show(2, style, &format!("{mark}  {}", claim.promise))?;
        stage.screen.show(10, Style::Dim, &claim.evidence)?;
    }
    let took: Vec<String> = played
        .first_replies
        .iter()
        .map(|took| format!("{} ms", took.as_millis()))
        .collect();
    stage.screen.space()?;
    stage.say(&format!(
        "From each restart to the first reply: {}.",
        took.join(" and ")
    ))?;
    stage.say(
        "A kill in the middle of a step cuts it off, and it runs again: until its result is \
         recorded it is done at least once, and afterwards never again.",
    )?;
    Ok(claims.iter().all(|claim| claim.kept))
}

fn same_question(played: &Played) -> Claim {
    let [before, after] = &played.asked;
    Claim {
        promise: "The question outlives the server that asked it.",
        evidence: format!(
            "Before the first kill: the key `{}`; after it: `{}`; the requests are {}.",
            before.key,
            after.key,
            if before == after {
                "equal byte for byte"
            } else {
                "different"
            }
        ),
        kept: before == after,
    }
}

fn answer_counts(played: &Played) -> Claim {
    let again = if played.asked_again { "" } else { "not " };
    let (answer, in_result) = match &played.signature {
        Some(name) => (
            format!("was signed {name}"),
            played.result.ends_with(&format!("signed {name}")),
        ),
        None => ("was a no".to_owned(), played.is_error),
    };
    Claim {
        promise: "An acknowledged answer is never lost.",
        evidence: format!(
            "The answer {answer}; after the kill it was {again}asked for again, and the result \
             says: {}.",
            played.result
        ),
        kept: in_result && !played.asked_again,
    }
}

fn no_step_twice(played: &Played) -> Claim {
    let steps = played.steps();
    Claim {
        promise: "No step has its effect twice.",
        evidence: format!(
            "{steps} steps, {} lines in the ledger, in three lives of the server.",
            played.ledger.len()
        ),
        kept: played.ledger.len() == steps,
    }
}

fn nothing_redone(played: &Played) -> Claim {
    // What was done before a kill was done by the process of that time.
    let [first, _, last] = played.processes;
    let expected = [first, last];
    let wrote: Vec<u32> = played.ledger.iter().map(|line| line.process).collect();
    Claim {
        promise: "What is done before a crash is not done again after it.",
        evidence: format!(
            "The first step was done by process {first} alone, though {} more took the task \
             over.",
            played.processes.len() - 1
        ),
        kept: wrote == expected[..played.steps()],
    }
}
