//! All mistakes are reported at once.

use mcp_tasks::Elicit;

#[derive(Elicit)]
struct Login {
    #[elicit(min = 1)]
    user: String,
    password: String,
    #[elicit(colour = "red")]
    remember: bool,
}

// What relies on the derive is not in error as well.
fn relies<T: Elicit>() {}

fn uses() {
    relies::<Login>();
}

fn main() {}
