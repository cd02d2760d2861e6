//! What a person may choose who does not want to fill in a field: to go back, to say
//! no, to leave.

use super::{Asked, Desk, Leave, Reply, Stopped};

/// What is to become of a question.
pub(super) enum Way {
    GoOn,
    Back,
    Out(Asked),
}

/// What is to become of a question whose person has pressed Esc.
pub(super) fn escape_menu(
    desk: &mut impl Desk,
    can_detach: bool,
    has_back: bool,
) -> Result<Way, Stopped> {
    let mut ways = vec![("Go on answering", Way::GoOn)];
    if has_back {
        ways.push(("Back to the field before", Way::Back));
    }
    let replied = |reply| Way::Out(Asked::Replied(reply));
    ways.push(("Decline: say no to the question", replied(Reply::Decline)));
    ways.push((
        "Dismiss: close it without an answer",
        replied(Reply::Dismiss),
    ));
    if can_detach {
        ways.push(("Leave it open for somebody else", Way::Out(Asked::LeftOpen)));
        ways.push(("Detach: come back to it later", Way::Out(Asked::Detach)));
    }
    let options: Vec<_> = ways.iter().map(|(words, _)| (*words).to_owned()).collect();
    match desk.choose("What shall become of the question?", &options) {
        Ok(index) => Ok(ways.swap_remove(index).1),
        Err(Stopped::Escape) => Ok(Way::GoOn),
        Err(Stopped::Interrupt) => Ok(Way::Out(leave_now(can_detach))),
        Err(stopped) => Err(stopped),
    }
}

impl From<Leave> for Asked {
    fn from(leave: Leave) -> Self {
        match leave {
            Leave::GoOn => Self::LeftOpen,
            Leave::Detach => Self::Detach,
            Leave::Cancel => Self::CancelTask,
        }
    }
}

/// Where a choice was to be made and something else was wanted; `None` to ask
/// again.
pub(super) fn stopped_at_choice(
    desk: &mut impl Desk,
    stopped: Stopped,
    can_detach: bool,
) -> Result<Option<Asked>, Stopped> {
    match stopped {
        Stopped::Escape => Ok(match escape_menu(desk, can_detach, false)? {
            Way::Out(asked) => Some(asked),
            Way::GoOn | Way::Back => None,
        }),
        Stopped::Interrupt => Ok(match leave_menu(desk, can_detach) {
            Leave::GoOn => None,
            leave => Some(leave.into()),
        }),
        stopped => Err(stopped),
    }
}

/// What Ctrl-C in a menu means.
pub(super) fn leave_now(can_detach: bool) -> Asked {
    if can_detach {
        Asked::Detach
    } else {
        Asked::CancelTask
    }
}

/// What is to become of a call whose person has pressed Ctrl-C.
pub(crate) fn leave_menu(desk: &mut impl Desk, can_detach: bool) -> Leave {
    let mut ways = vec![("Go on", Leave::GoOn)];
    if can_detach {
        ways.push(("Detach: come back to it later", Leave::Detach));
        ways.push(("Cancel the task", Leave::Cancel));
    } else {
        ways.push(("Cancel the call", Leave::Cancel));
    }
    let options: Vec<_> = ways.iter().map(|(words, _)| (*words).to_owned()).collect();
    match desk.choose("Interrupted. What now?", &options) {
        Ok(index) => ways[index].1,
        Err(Stopped::Escape) => Leave::GoOn,
        // Again, or there is nobody to ask any more.
        Err(_) if can_detach => Leave::Detach,
        Err(_) => Leave::Cancel,
    }
}
