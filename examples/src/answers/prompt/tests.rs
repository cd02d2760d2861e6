//! The prompting, with a keyboard and a screen in memory.

use std::io::Cursor;

use mcp_tasks::protocol::{Choice, ErrorCode, Field, FieldKind, Form, StringFormat};

use super::*;
use crate::screen::Seen;

fn keyboard(typed: &'static str) -> Keyboard {
    Keyboard::new(Cursor::new(typed))
}

fn question(key: &str, form: Form) -> Question {
    let message = "Deploy billing?".to_owned();
    Question::new(key, QuestionKind::Form { message, form })
}

/// What is sent and what is seen when somebody types this.
async fn ask(form: Form, typed: &'static str) -> (String, String) {
    let seen = Seen::default();
    let prompt = Prompt::new(keyboard(typed), &seen.screen());
    let answer = prompt.answer(question("approval", form)).await.unwrap();
    (answer.as_json().get().to_owned(), seen.text())
}

fn accepted(content: &str) -> String {
    format!(r#"{{"action":"accept","content":{content}}}"#)
}

fn percent() -> FieldKind {
    FieldKind::Integer {
        min: Some(1),
        max: Some(100),
        default: Some(10),
    }
}

fn windows() -> Vec<Choice> {
    vec![
        Choice::titled("tonight", "Tonight, 22:00 to 24:00"),
        Choice::titled("monday", "Next Monday morning"),
        Choice::titled("never", "Not at all"),
    ]
}

fn approval() -> Form {
    Form::new()
        .require(
            "approve",
            Field::new(FieldKind::boolean()).description("Ship this plan?"),
        )
        .offer(
            "percent",
            Field::new(percent()).description("Share of traffic"),
        )
        .require("window", Field::new(FieldKind::select(windows())))
        .offer(
            "notify",
            Field::new(FieldKind::Text {
                min_len: None,
                max_len: None,
                format: Some(StringFormat::Email),
                default: None,
            }),
        )
}

#[tokio::test]
async fn enter_takes_defaults_and_skips_what_is_optional() {
    let (sent, seen) = ask(approval(), "yes\n\n1\n\n").await;
    assert_eq!(
        sent,
        accepted(r#"{"approve":true,"percent":10,"window":"tonight"}"#)
    );
    for expected in [
        "The server asks (key `approval`):",
        "  Deploy billing?",
        "  approve: Ship this plan?\n  yes or no\n",
        "  a whole number from 1 to 100 [10]\n",
        "    1  Tonight, 22:00 to 24:00\n    2  Next Monday morning\n",
        "  a mail address, or Enter for none\n",
    ] {
        assert!(seen.contains(expected), "{expected:?} in {seen}");
    }
    assert!(seen.lines().all(|line| line.chars().count() <= 80));
}

#[tokio::test]
async fn a_slip_is_explained_and_costs_one_more_try() {
    let (sent, seen) = ask(
        approval(),
        "\nperhaps\nn\nten\n500\n 25 \n7\nNext monday morning\nnobody\na@example.com\n",
    )
    .await;
    assert_eq!(
        sent,
        accepted(r#"{"approve":false,"percent":25,"window":"monday","notify":"a@example.com"}"#)
    );
    for expected in [
        "It needs an answer. Please try again.",
        "It must be yes or no. Please try again.",
        "It must be a whole number. Please try again.",
        "It must be between 1 and 100, got 500. Please try again.",
        "It must be a number from 1 to 3. Please try again.",
        "It must be a mail address",
    ] {
        assert!(seen.contains(expected), "{expected:?} in {seen}");
    }
}

#[tokio::test]
async fn a_question_can_be_declined_or_closed_at_any_field() {
    assert_eq!(
        ask(approval(), "/decline\n").await.0,
        r#"{"action":"decline"}"#
    );
    assert_eq!(
        ask(approval(), "y\n/cancel\n").await.0,
        r#"{"action":"cancel"}"#
    );
    let (sent, seen) = ask(approval(), "y\n").await;
    assert_eq!(sent, r#"{"action":"cancel"}"#);
    assert!(seen.contains("> (end of input)\n"));
}

#[tokio::test]
async fn several_choices_are_numbers_with_commas() {
    let form = |default: Option<Vec<String>>, max_items| {
        let kind = FieldKind::MultiSelect {
            choices: windows(),
            min_items: None,
            max_items,
            default,
        };
        Form::new().require("windows", Field::new(kind))
    };
    let (sent, seen) = ask(form(None, Some(2)), "1,2,3\n1,1\n4\n3, tonight\n").await;
    assert_eq!(sent, accepted(r#"{"windows":["never","tonight"]}"#));
    assert!(seen.contains("at most 2 numbers, with commas between them\n"));
    assert_eq!(seen.matches("Please try again.").count(), 3);

    assert_eq!(
        ask(form(None, None), "\n").await.0,
        accepted(r#"{"windows":[]}"#)
    );
    let default = Some(vec!["monday".to_owned(), "never".to_owned()]);
    let (sent, seen) = ask(form(default, None), "\n").await;
    assert_eq!(sent, accepted(r#"{"windows":["monday","never"]}"#));
    assert!(seen.contains("[2, 3]"));
}

#[tokio::test]
async fn text_and_numbers_are_held_to_their_rules() {
    let text = FieldKind::Text {
        min_len: Some(3),
        max_len: Some(5),
        format: None,
        default: Some("north".to_owned()),
    };
    let ratio = FieldKind::Number {
        min: Some(0.0),
        max: None,
        default: Some(0.5),
    };
    let form = Form::new()
        .require("region", Field::new(text).title("Region"))
        .offer("ratio", Field::new(ratio))
        .offer("count", Field::new(FieldKind::integer()));
    let (sent, seen) = ask(form, "xx\n\n-1\n1.5\n3.0\n").await;
    assert_eq!(
        sent,
        accepted(r#"{"region":"north","ratio":1.5,"count":3}"#)
    );
    assert!(seen.contains("  Region\n  text, 3 to 5 characters [north]\n"));
    assert!(seen.contains("a number from 0 [0.5]"));
    assert!(seen.contains("It must have 3 to 5 characters, not 2."));
    assert!(seen.contains("It must be at least 0, got -1."));
}

#[tokio::test]
async fn a_form_without_fields_is_a_yes_or_a_no() {
    assert_eq!(ask(Form::new(), "\n").await.0, accepted("{}"));
    assert_eq!(ask(Form::new(), "what\ny\n").await.0, accepted("{}"));
    assert_eq!(ask(Form::new(), "no\n").await.0, r#"{"action":"decline"}"#);
}

#[tokio::test]
async fn the_servers_refusal_is_shown_before_asking_again() {
    let seen = Seen::default();
    let prompt = Prompt::new(keyboard("y\n\n2\n\n"), &seen.screen());
    let refusal = ProtocolError::new(ErrorCode::INVALID_PARAMS, "`window` is closed");
    let answer = prompt.refused(question("approval", approval()), refusal);
    answer.await.unwrap();
    let seen = seen.text();
    let refusal = seen.find("  `window` is closed\n").unwrap();
    assert!(refusal < seen.find("The server asks").unwrap());
}

#[tokio::test]
async fn what_is_typed_is_shown_where_the_input_does_not_show_it() {
    let seen = Seen::default();
    let prompt = Prompt::new(keyboard("/decline\n"), &seen.screen()).echo(true);
    prompt.answer(question("k", Form::new())).await.unwrap();
    assert!(seen.text().contains("  > /decline\n"));
}

#[tokio::test]
async fn questions_that_are_open_together_are_put_one_after_the_other() {
    let seen = Seen::default();
    let prompt = Prompt::new(keyboard("y\nno\n"), &seen.screen());
    let (first, second) = tokio::join!(
        prompt.answer(question("first", Form::new())),
        prompt.answer(question("second", Form::new())),
    );
    assert_eq!(first.unwrap().as_json().get(), accepted("{}"));
    assert_eq!(second, Some(Answer::decline()));
}

#[tokio::test]
async fn a_question_that_is_taken_back_leaves_the_keyboard_to_the_next() {
    let (input, mut typing) = std::io::pipe().unwrap();
    let seen = Seen::default();
    let screen = seen.screen();
    let prompt = Prompt::new(Keyboard::new(std::io::BufReader::new(input)), &screen);
    let is_asked = async {
        while !seen.text().ends_with("> ") {
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        _ = prompt.answer(question("first", Form::new())) => panic!("nobody has answered"),
        () = is_asked => {}
    }
    screen.show(0, Style::Plain, "news").unwrap();
    assert!(seen.text().ends_with("> \nnews\n"));
    std::io::Write::write_all(&mut typing, b"no\n").unwrap();
    let second = prompt.answer(question("second", Form::new())).await;
    assert_eq!(second, Some(Answer::decline()));
}
