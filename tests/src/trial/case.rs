//! What can be done with a tool, and what may come of it.

/// A tool and what its client does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Case {
    /// The tool of `crash_server`.
    pub tool: &'static str,
    /// What its client does.
    pub policy: Policy,
    /// How far two runs of it are alike.
    pub order: Order,
}

/// What the client does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// Answers every question.
    Answer,
    /// Answers every question but this, which it declines.
    Decline(&'static str),
    /// Answers nothing.
    Ignore,
    /// Answers nothing, and cancels.
    Cancel,
    /// Answers, and cancels.
    Waver,
    /// Sends letters.
    Post,
}

/// How far the schedule is the same in every run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Everything comes in one order.
    Exact,
    /// Branches may overtake each other.
    Branches,
    /// It depends on the clock, or on what a crash leaves undecided, what is
    /// asked and done.
    Clock,
}

const fn case(tool: &'static str, policy: Policy, order: Order) -> Case {
    Case {
        tool,
        policy,
        order,
    }
}

/// All that is tried, or that with the tools which a variable of the environment
/// names.
pub fn cases(variable: &str) -> Vec<Case> {
    let Ok(tools) = std::env::var(variable) else {
        return CASES.to_vec();
    };
    let of_tool = |tool| CASES.iter().filter(move |case| case.tool == tool);
    let cases = tools.split(',').flat_map(|tool| {
        assert!(
            of_tool(tool).next().is_some(),
            "{variable} names `{tool}`, and there is no such tool"
        );
        of_tool(tool).copied()
    });
    cases.collect()
}

/// All that is tried.
const CASES: &[Case] = &[
    case("interview", Policy::Answer, Order::Exact),
    case("deadlines", Policy::Answer, Order::Clock),
    case("deadlines", Policy::Ignore, Order::Clock),
    case("rounds", Policy::Answer, Order::Clock),
    case("rounds", Policy::Ignore, Order::Clock),
    case("words", Policy::Answer, Order::Exact),
    case("branches", Policy::Answer, Order::Branches),
    case("early", Policy::Answer, Order::Branches),
    case("early", Policy::Decline("left/left"), Order::Clock),
    case("early", Policy::Decline("right/right"), Order::Clock),
    case("crowd", Policy::Answer, Order::Branches),
    case("stubborn", Policy::Answer, Order::Exact),
    case("once", Policy::Answer, Order::Clock),
    case("naps", Policy::Answer, Order::Exact),
    case("peeks", Policy::Answer, Order::Branches),
    case("patchwork", Policy::Answer, Order::Exact),
    case("dice", Policy::Answer, Order::Exact),
    case("mailbox", Policy::Post, Order::Exact),
    case("brief", Policy::Ignore, Order::Clock),
    case("tidy", Policy::Answer, Order::Exact),
    case("tidy", Policy::Cancel, Order::Clock),
    case("tidy", Policy::Waver, Order::Clock),
    case("interview", Policy::Waver, Order::Clock),
    case("branches", Policy::Waver, Order::Clock),
    case("stubborn", Policy::Waver, Order::Clock),
];

impl Policy {
    /// Whether the client answers.
    pub fn answers(self) -> bool {
        matches!(self, Self::Answer | Self::Decline(_) | Self::Waver)
    }

    /// Whether the client cancels.
    pub fn cancels(self) -> bool {
        matches!(self, Self::Cancel | Self::Waver)
    }
}

impl Case {
    /// Whether the tool cleans up when it is cancelled.
    pub fn has_grace(self) -> bool {
        self.tool == "tidy"
    }

    /// Whether the code of the tool changes with `--code`.
    pub fn is_patched(self) -> bool {
        self.tool == "patchwork"
    }
}

impl std::fmt::Display for Case {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { tool, policy, .. } = self;
        match policy {
            Policy::Answer => write!(f, "{tool}"),
            Policy::Decline(key) => write!(f, "{tool}, `{key}` declined"),
            Policy::Ignore => write!(f, "{tool}, not answered"),
            Policy::Cancel => write!(f, "{tool}, cancelled"),
            Policy::Waver => write!(f, "{tool}, cancelled while answered"),
            Policy::Post => write!(f, "{tool}, with letters"),
        }
    }
}
