//! The program in a real terminal, in front of a person.

use rustix::process::Signal;

use crate::pty::{BACKSPACE, CTRL_A, CTRL_C, CTRL_U, CTRL_W, DOWN, ENTER, ESCAPE, Pty};
use crate::{Home, Http, SERVER, signal};

#[test]
fn a_form_is_filled_in_and_a_slip_is_explained() {
    let home = Home::new();
    let pty = Pty::start(&home, 80, &["call", "form"]);
    pty.waits_for("form asks (question `everything`)")
        .waits_for("Please fill in everything.")
        .waits_for("Esc to decline")
        .waits_for("? name: Your name")
        .types(&["Ana", ENTER])
        .waits_for("? Short name")
        .types(&["abcdef", ENTER])
        .waits_for("It must have 2 to 4 characters, not 6.")
        .types(&[BACKSPACE, BACKSPACE, BACKSPACE, ENTER])
        .waits_for("? remark (none)")
        .types(&[ENTER])
        .waits_for("? email")
        .types(&["nobody", ENTER])
        .waits_for("It must be a mail address")
        .types(&["@example.org", ENTER])
        .waits_for("? link")
        .types(&[ENTER])
        .waits_for("? day")
        .types(&[ENTER])
        .waits_for("? moment")
        .types(&[ENTER])
        .waits_for("? ratio (0.5)")
        .types(&[ENTER])
        .waits_for("? percent (10)")
        .types(&["500", ENTER])
        .waits_for("It must be between 1 and 100, got 500.")
        .types(&[BACKSPACE, ENTER])
        .waits_for("? careful")
        .types(&["n", ENTER])
        .waits_for("? level: How urgent it is")
        .types(&[DOWN, ENTER])
        .waits_for("? window")
        .waits_for("> Tonight, 22:00 to 24:00")
        .types(&[ENTER])
        .waits_for("? levels")
        .types(&[ENTER])
        .waits_for("It must list 1 to 2 choices, not 0.")
        .types(&[" ", ENTER])
        .waits_for("? windows")
        .types(&[ENTER])
        .waits_for("? Send this answer?")
        .types(&[DOWN, ENTER])
        .waits_for("? Which one?")
        .waits_for("percent: 50")
        .types(&[ENTER])
        .waits_for("? name: Your name Ana")
        .types(&[BACKSPACE, BACKSPACE, "da", ENTER])
        .waits_for("? Send this answer?")
        .types(&[ENTER])
        .waits_for("completed in");
    assert_eq!(pty.exit(), 0);
    let screen = pty.screen();
    for expected in [
        r#""name": "Ada""#,
        r#""short": "abc""#,
        r#""email": "nobody@example.org""#,
        r#""percent": 50"#,
        r#""careful": false"#,
        r#""level": "high""#,
        r#""window": "tonight""#,
        r#""levels": ["#,
    ] {
        assert!(screen.contains(expected), "{expected} in\n{screen}");
    }
}

#[test]
fn what_is_typed_is_edited_with_the_keys_of_a_command_line() {
    let home = Home::new();
    let pty = Pty::start(&home, 80, &["call", "ask1"]);
    pty.waits_for("? answer")
        .types(&["not these words", CTRL_W])
        .waits_for("? answer not these")
        .types(&[CTRL_U, "right", CTRL_A, "up"])
        .waits_for("? answer upright")
        // What was pasted is text, also where it has several lines.
        .types(&["\x1b[200~a\r\nb\x1b[201~", ENTER])
        .waits_for("got: upa");
    assert_eq!(pty.exit(), 0);
    let screen = pty.screen();
    assert!(screen.contains("✓ answer upa↵bright"), "{screen}");
    assert!(screen.ends_with("got: upa\nbright"), "{screen}");
}

#[test]
fn whoever_goes_back_finds_what_was_filled_in() {
    let home = Home::new();
    let pty = Pty::start(&home, 80, &["call", "form"]);
    pty.waits_for("? name: Your name")
        .types(&["Ana", ENTER])
        .waits_for("? Short name")
        .types(&[ESCAPE])
        .waits_for("> Go on answering")
        .types(&[DOWN, ENTER])
        .waits_for("? name: Your name Ana")
        .types(&[" B.", ENTER])
        .waits_for("✓ name: Your name Ana B.")
        .waits_for("? Short name");
}

#[test]
fn ctrl_c_before_there_is_a_call_ends_the_server_too() {
    let home = Home::new();
    let server = "echo $$ > process; exec sleep 600";
    let arguments = ["call", "ask1", "--", "sh", "-c", server];
    let pty = Pty::run(&home, 80, &arguments, &[]);
    pty.waits_for("connecting");
    let file = home.path("process");
    let process = loop {
        let process = std::fs::read_to_string(&file).unwrap_or_default();
        if let Ok(process) = process.trim().parse::<i32>() {
            break rustix::process::Pid::from_raw(process).unwrap();
        }
        std::thread::yield_now();
    };
    pty.types(&[CTRL_C]).waits_for("mcp-tasks: interrupted");
    assert_eq!(pty.exit(), 6);
    assert!(!pty.screen().contains("connecting"), "{}", pty.screen());
    let until = std::time::Instant::now() + mcp_tasks_tests::PATIENCE;
    while rustix::process::test_kill_process(process).is_ok() {
        assert!(std::time::Instant::now() < until, "the server lives on");
        std::thread::yield_now();
    }
}

#[test]
fn a_question_is_declined_or_dismissed_at_any_field() {
    let home = Home::new();
    let escape_to = |choice: usize| {
        let pty = Pty::start(&home, 80, &["call", "ask1"]);
        pty.waits_for("? answer")
            .types(&["hal", ESCAPE])
            .waits_for("What shall become of");
        for _ in 0..choice {
            pty.types(&[DOWN]);
        }
        pty.types(&[ENTER]);
        pty
    };
    let declined = escape_to(1);
    declined
        .waits_for("question `answer` declined")
        .waits_for("completed in");
    assert_eq!(declined.exit(), 0);
    let dismissed = escape_to(2);
    dismissed
        .waits_for("question `answer` dismissed")
        .waits_for("completed in");
    assert_eq!(dismissed.exit(), 0);
    let answered = escape_to(0);
    answered
        .waits_for("? answer hal")
        .types(&["ves", ENTER])
        .waits_for("got: halves");
    assert_eq!(answered.exit(), 0);
}

#[test]
fn ctrl_c_asks_and_what_it_prints_comes_back() {
    let home = Home::new();
    let pty = Pty::start(&home, 80, &["call", "ask1"]);
    pty.waits_for("? answer")
        .types(&[CTRL_C])
        .waits_for("Interrupted. What now?")
        .types(&[ENTER])
        .waits_for("✓ Interrupted. What now? Go on")
        .types(&[CTRL_C])
        .waits_for("> Go on")
        .types(&[DOWN, ENTER])
        .waits_for("Detached from task");
    assert_eq!(pty.exit(), 5);
    let screen = pty.screen();
    let command = screen
        .lines()
        .map(str::trim)
        .find(|line| line.starts_with("mcp-tasks resume "));
    let arguments: Vec<&str> = command.unwrap().split(' ').skip(1).collect();

    let back = Pty::run(&home, 80, &arguments, &[]);
    back.waits_for("? answer")
        .types(&["again", ENTER])
        .waits_for("got: again");
    assert_eq!(back.exit(), 0);
}

#[test]
fn ctrl_c_while_it_works_goes_on_detaches_or_cancels() {
    let server = Http::start(&[]);
    let home = Home::new();
    let arguments = ["call", "count", "n=100000", "--http", &server.url];
    let pty = Pty::run(&home, 80, &arguments, &[]);
    pty.waits_for("/100000")
        .types(&[CTRL_C])
        .waits_for("> Go on");
    // Again: leave at once.
    pty.types(&[CTRL_C]).waits_for("Come back to it with:");
    assert_eq!(pty.exit(), 5);

    let pty = Pty::run(&home, 80, &arguments, &[]);
    pty.waits_for("/100000")
        .types(&[CTRL_C])
        .waits_for("> Go on")
        .types(&[DOWN, DOWN, ENTER])
        .waits_for("✗ cancelled");
    assert_eq!(pty.exit(), 6);

    // From outside there is nobody to ask.
    let pty = Pty::run(&home, 80, &arguments, &[]);
    pty.waits_for("/100000");
    signal(pty.process(), Signal::TERM);
    pty.waits_for("Come back to it with:");
    assert_eq!(pty.exit(), 5);
}

#[test]
fn progress_is_a_bar_that_leaves_nothing_behind() {
    let home = Home::new();
    for columns in [80, 40] {
        let pty = Pty::start(&home, columns, &["call", "count", "n=300"]);
        pty.waits_for("━")
            .waits_for("%")
            .waits_for("/300")
            .waits_for("completed in");
        assert_eq!(pty.exit(), 0);
        let screen = pty.screen();
        assert!(
            !screen.contains('━') && !screen.contains("/300"),
            "{screen}"
        );
        assert!(screen.ends_with("done"), "{screen}");
    }
}

#[test]
fn a_question_that_is_taken_back_does_not_keep_the_result() {
    let home = Home::new();
    let pty = Pty::start(&home, 80, &["call", "race", "ms=700"]);
    pty.waits_for("? answer")
        .types(&["to"])
        .waits_for("The question is no longer open.")
        .waits_for("timed out");
    assert_eq!(pty.exit(), 0);
    let screen = pty.screen();
    assert!(!screen.contains("Press Esc"), "{screen}");
    // What is over is over before the result is shown.
    let (typed, _) = screen.split_once("The question is no").unwrap();
    assert!(typed.contains("? answer (interrupted)"), "{screen}");
    assert!(screen.ends_with("timed out"), "{screen}");
}

#[test]
fn two_questions_are_put_one_after_the_other() {
    let home = Home::new();
    let pty = Pty::start(&home, 80, &["call", "askpar"]);
    pty.waits_for("The left one?")
        .types(&["a", ENTER])
        .waits_for("The right one?")
        .types(&["b", ENTER])
        .waits_for("a,b");
    assert_eq!(pty.exit(), 0);
}

#[test]
fn a_url_is_shown_whole_before_anybody_agrees_to_it() {
    let home = Home::new();
    for (downs, outcome) in ["agreed", "declined", "dismissed"].into_iter().enumerate() {
        let pty = Pty::start(&home, 80, &["call", "open_url"]);
        pty.waits_for("Please sign in.")
            .waits_for("https://example.org/in")
            .waits_for("? Open this address?");
        pty.types(&vec![DOWN; downs])
            .types(&[ENTER])
            .waits_for(outcome);
        assert_eq!(pty.exit(), 0);
        assert!(pty.screen().ends_with(outcome), "{}", pty.screen());
    }
    // To be opened or copied where it stands, it is in one piece.
    let pty = Pty::start(&home, 20, &["call", "open_url"]);
    pty.waits_for("? Open this address?").types(&[ENTER]);
    assert_eq!(pty.exit(), 0);
    assert!(
        pty.raw().contains("https://example.org/in"),
        "{:?}",
        pty.raw()
    );
}

#[test]
fn without_colours_there_are_none() {
    let home = Home::new();
    let mut arguments = vec!["call", "ask1"];
    arguments.extend(SERVER);
    let pty = Pty::run(&home, 80, &arguments, &[("NO_COLOR", "1")]);
    pty.waits_for("? answer")
        .types(&["x", ENTER])
        .waits_for("got: x");
    assert_eq!(pty.exit(), 0);
    let raw = pty.raw();
    let sequences = raw.split("\x1b[").skip(1);
    let ends = sequences.filter_map(|rest| rest.chars().find(char::is_ascii_alphabetic));
    assert_eq!(ends.filter(|end| *end == 'm').count(), 0, "{raw:?}");
}

#[test]
fn a_terminal_that_knows_nothing_but_lines_is_asked_in_lines() {
    let home = Home::new();
    let mut arguments = vec!["call", "form_of_schema"];
    arguments.extend(SERVER);
    let pty = Pty::run(&home, 80, &arguments, &[("TERM", "dumb")]);
    pty.waits_for("/decline says no")
        .waits_for("zone")
        .types(&["x\n"])
        .waits_for("It must have 2 to 10 characters")
        .types(&["north\n"])
        .waits_for("atMost")
        .types(&["7\n"])
        .waits_for("1  low")
        .types(&["2\n"])
        .waits_for("numbers, with commas")
        .types(&["1,2\n"])
        .waits_for("address")
        .types(&["\n"])
        .waits_for("Send this answer?")
        .types(&["1\n"])
        .waits_for(r#""zone": "north""#);
    assert_eq!(pty.exit(), 0);
    assert!(!pty.raw().contains('\x1b'), "{:?}", pty.raw());
}

#[test]
fn in_forty_columns_everything_can_be_read() {
    let home = Home::new();
    let pty = Pty::start(&home, 40, &["call", "ask1"]);
    pty.waits_for("What is your answer?")
        .types(&[ESCAPE])
        .waits_for("> Go on answering")
        .waits_for("Detach: come back to it later")
        .types(&[ENTER])
        .types(&["x", ENTER])
        .waits_for("got: x");
    assert_eq!(pty.exit(), 0);
}

#[test]
fn what_is_typed_all_at_once_is_not_drawn_letter_by_letter() {
    let home = Home::new();
    let pty = Pty::start(&home, 80, &["call", "ask1"]);
    let text = "word ".repeat(600);
    let text = text.trim_end();
    pty.waits_for("? answer")
        .types(&[text])
        .types(&[ENTER])
        .waits_for("got: word")
        .waits_for(text);
    assert_eq!(pty.exit(), 0);
    // Drawn for each letter it would be millions.
    assert!(pty.raw().len() < 500_000, "{} bytes", pty.raw().len());
}

#[test]
fn yes_or_no_is_typed_with_the_same_keys() {
    let home = Home::new();
    let pty = Pty::start(&home, 80, &["call", "multi_input"]);
    pty.waits_for("? name: A name")
        .types(&["Ana", ENTER])
        .waits_for("Really delete the file?")
        .waits_for("[y or n]")
        .types(&["maybe", ENTER])
        .waits_for("It must be yes or no.")
        .types(&[CTRL_U, "y"])
        .waits_for("? confirm: Really delete the file? y")
        .types(&[ENTER])
        .waits_for("✓ confirm: Really delete the file? yes")
        .waits_for("completed in");
    assert_eq!(pty.exit(), 0);
}

#[test]
fn a_menu_fits_a_terminal_of_few_lines() {
    let home = Home::new();
    let mut arguments = vec!["call", "ask1"];
    arguments.extend(SERVER);
    let pty = Pty::sized(&home, (30, 6), &arguments, &[]);
    pty.waits_for("? answer")
        .types(&[ESCAPE])
        .waits_for("> Go on answering")
        .waits_for("[↑↓ and Enter]");
    let screen = pty.screen();
    assert!(screen.contains("? What shall become"), "{screen}");
    pty.types(&[DOWN])
        .waits_for("> Decline: say no")
        .types(&[DOWN])
        .waits_for("> Dismiss: close it")
        .types(&[ENTER])
        .waits_for("completed in");
    assert_eq!(pty.exit(), 0);
}

#[test]
fn whatever_was_open_when_it_ends_leaves_no_rest_behind() {
    let home = Home::new();
    for (tool, term, prompt) in [
        ("choose", "xterm-256color", "Green as grass"),
        ("ask1", "xterm-256color", "? answer"),
        ("ask1", "dumb", "answer>"),
    ] {
        let mut arguments = vec!["call", tool];
        arguments.extend(SERVER);
        let pty = Pty::run(&home, 80, &arguments, &[("TERM", term)]);
        pty.waits_for(prompt);
        signal(pty.process(), Signal::TERM);
        pty.waits_for("Come back to it with:");
        assert_eq!(pty.exit(), 5);
        let screen = pty.screen();
        assert!(screen.contains("\nDetached from task"), "{screen}");
        assert!(!screen.contains("and Enter]"), "{screen}");
    }
}

#[test]
fn objects_for_programs_have_lines_of_their_own_on_a_terminal_too() {
    let home = Home::new();
    let pty = Pty::start(&home, 400, &["call", "count", "n=3", "--json"]);
    pty.waits_for("completed in").waits_for(r#""exit":0"#);
    assert_eq!(pty.exit(), 0);
    let screen = pty.screen();
    let objects = screen.lines().filter(|line| line.contains(r#"{"event""#));
    for line in objects {
        let read = serde_json::from_str::<serde_json::Value>(line.trim_end());
        assert!(read.is_ok(), "{line}\n{screen}");
    }
}
