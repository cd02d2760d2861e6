use mcp_tasks::protocol::{Choice, FieldKind};
use serde_json::json;

use super::*;

fn approval() -> Form {
    let percent = FieldKind::Integer {
        min: Some(1),
        max: Some(100),
        default: Some(10),
    };
    let windows = vec![
        Choice::titled("tonight", "Tonight, 22:00 to 24:00"),
        Choice::titled("monday", "Next Monday"),
    ];
    Form::new()
        .require("approve", Field::new(FieldKind::boolean()))
        .require("percent", Field::new(percent))
        .require("window", Field::new(FieldKind::select(windows)))
        .offer("remark", Field::new(FieldKind::text()))
}

/// What comes of a form when somebody types this, and what was said.
fn typed(form: &Form, lines: &str) -> (Result<Asked, Stopped>, String) {
    let mut said = Vec::new();
    let mut desk = Lines::new(lines.as_bytes(), &mut said);
    let asked = fill_in(&mut desk, form, None, true);
    (asked, String::from_utf8(said).unwrap())
}

fn accepted(asked: Result<Asked, Stopped>) -> Value {
    match asked {
        Ok(Asked::Replied(Reply::Accept(content))) => serde_json::to_value(content).unwrap(),
        asked => panic!("{asked:?}"),
    }
}

#[test]
fn a_form_is_filled_in_field_by_field_and_looked_over() {
    let (asked, said) = typed(&approval(), "yes\n\n2\n\n1\n");
    assert_eq!(
        accepted(asked),
        json!({"approve": true, "percent": 10, "window": "monday"})
    );
    for expected in ["percent [10]", "  2  Next Monday\n", "Send this answer?"] {
        assert!(said.contains(expected), "{expected} in {said}");
    }
}

#[test]
fn a_slip_is_explained_and_costs_one_more_try() {
    let (asked, said) = typed(
        &approval(),
        "perhaps\nn\n500\n25\n7\nTonight, 22:00 to 24:00\nx\n1\n",
    );
    let content = accepted(asked);
    assert_eq!(
        content,
        json!({"approve": false, "percent": 25, "window": "tonight", "remark": "x"})
    );
    assert!(said.contains("It must be yes or no."), "{said}");
    assert!(
        said.contains("It must be between 1 and 100, got 500."),
        "{said}"
    );
    assert!(
        said.contains("must be one of `tonight`, `monday`"),
        "{said}"
    );
}

#[test]
fn what_was_filled_in_can_be_changed_before_it_is_sent() {
    let (asked, said) = typed(&approval(), "yes\n25\n1\nsoon\n2\n2\n60\n1\n");
    assert_eq!(
        accepted(asked),
        json!({"approve": true, "percent": 60, "window": "tonight", "remark": "soon"})
    );
    assert!(said.contains("  2  percent: 25\n"), "{said}");
    assert!(said.contains("percent [25]"), "{said}");
}

#[test]
fn what_the_server_has_not_taken_is_not_typed_again() {
    let before =
        serde_json::from_value(json!({"approve": true, "percent": 25, "window": "monday"}));
    let before: Content = before.unwrap();
    let mut said = Vec::new();
    let mut desk = Lines::new("\n30\n\n\n1\n".as_bytes(), &mut said);
    let asked = fill_in(&mut desk, &approval(), Some(&before), true);
    assert_eq!(
        accepted(asked),
        json!({"approve": true, "percent": 30, "window": "monday"})
    );
}

#[test]
fn nobody_goes_on_with_a_question_that_has_been_taken_back() {
    let over = AtomicBool::new(true);
    let mut said = Vec::new();
    let desk = Lines::new("yes\n25\n1\nsoon\n1\n".as_bytes(), &mut said);
    let mut desk = Watched { desk, over: &over };
    let asked = fill_in(&mut desk, &approval(), None, true);
    assert!(matches!(asked, Err(Stopped::Over)), "{asked:?}");
    let said = String::from_utf8(said).unwrap();
    assert!(
        said.contains("approve") && !said.contains("percent"),
        "{said}"
    );
}

#[test]
fn a_question_can_be_declined_dismissed_or_left_at_any_field() {
    let form = approval();
    let stopped = |lines| typed(&form, lines).0;
    assert!(matches!(
        stopped("/decline\n"),
        Err(Stopped::Reply(Reply::Decline))
    ));
    assert!(matches!(
        stopped("y\n/dismiss\n"),
        Err(Stopped::Reply(Reply::Dismiss))
    ));
    assert_eq!(stopped("y\n/leave\n").unwrap(), Asked::Detach);
    assert_eq!(stopped("y\n").unwrap(), Asked::Detach);
    assert_eq!(
        stopped("y\n\n1\n\n3\n").unwrap(),
        Asked::Replied(Reply::Decline)
    );
}

#[test]
fn a_form_without_fields_is_a_yes_or_a_no() {
    let form = Form::new();
    assert_eq!(accepted(typed(&form, "\n").0), json!({}));
    assert_eq!(
        typed(&form, "2\n").0.unwrap(),
        Asked::Replied(Reply::Decline)
    );
    assert_eq!(
        typed(&form, "3\n").0.unwrap(),
        Asked::Replied(Reply::Dismiss)
    );
}

#[test]
fn one_field_is_sent_as_soon_as_it_is_filled_in() {
    let form = Form::new().require("answer", Field::new(FieldKind::text()));
    let (asked, said) = typed(&form, "42\n");
    assert_eq!(accepted(asked), json!({"answer": "42"}));
    assert!(!said.contains("Send this answer?"));
}
