//! A form without fields is a bare confirmation.

use mcp_tasks::Elicit;

#[derive(Elicit)]
struct Braces {}

#[derive(Elicit)]
struct Unit;

#[test]
fn a_struct_without_fields_asks_for_nothing() {
    assert!(Braces::form().is_empty() && Unit::form().is_empty());
    assert!(<()>::form().is_empty());
}
