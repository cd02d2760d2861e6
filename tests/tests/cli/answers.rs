//! Questions without a terminal: answers from files and flags, and what happens
//! where there are none.

use std::fs;

use crate::{Home, Http, text, words};

const EVERYTHING: &str = r#"{"everything": {
    "name": "Ana", "short": "ana", "remark": "none", "ratio": 0.5, "percent": 25,
    "careful": true, "level": "low", "window": "tonight", "levels": ["low", "high"]
}}"#;

#[test]
fn a_file_answers_by_key() {
    let home = Home::new();
    let file = home.path("answers.json");
    fs::write(&file, EVERYTHING).unwrap();
    let ran = home
        .run_with_server(&["call", "form", "--answers", text(&file)])
        .exits(0);
    assert!(ran.out.contains(r#""percent": 25"#), "{}", ran.out);
    ran.tells(&["question `everything` answered"]);

    fs::write(&file, r#"{"answer": "decline"}"#).unwrap();
    let ran = home
        .run_with_server(&["call", "ask1", "--answers", text(&file)])
        .exits(0);
    assert_eq!(ran.out, "declined\n");
}

#[test]
fn flags_answer_by_key_and_field() {
    let home = Home::new();
    let ran = home
        .run_with_server(&[
            "call",
            "form",
            "--answer",
            "everything.name=Ana",
            "--answer",
            "everything.short=ana",
            "--answer",
            "everything.level=LOW",
            "--answer",
            "everything.levels=low,high",
            "--answer",
            "everything.percent:=7",
        ])
        .exits(0);
    for expected in [r#""percent": 7"#, r#""level": "low""#, r#""ratio": 0.5"#] {
        assert!(ran.out.contains(expected), "{}", ran.out);
    }
    // Two questions at once, whose keys have a slash.
    let ran = home
        .run_with_server(&[
            "call",
            "askpar",
            "--answer",
            "left/answer=a",
            "--answer",
            "right/answer=b",
        ])
        .exits(0);
    assert_eq!(ran.out, "a,b\n");
    let ran = home
        .run_with_server(&["call", "confirm", "--answer", "confirmed=accept"])
        .exits(0);
    assert_eq!(ran.out, "confirmed\n");
    let ran = home
        .run_with_server(&["call", "ask1", "--answer", "answer=dismiss"])
        .exits(0);
    assert_eq!(ran.out, "dismissed\n");
}

#[test]
fn a_question_that_nobody_answers_is_shown_with_the_way_to_answer_it() {
    let home = Home::new();
    let ran = home
        .run_with_server(&["call", "ask2", "--answer", "first.answer=1"])
        .exits(4);
    assert_eq!(ran.out, "");
    let ran = ran.tells(&[
        "question `first` answered",
        "Question `second`:",
        "The second?",
        "mcp-tasks answer ",
        " --question second answer=..",
        "mcp-tasks resume ",
    ]);
    // The command is one line, to be copied; its dots are to be filled in.
    let command = |start: &str| {
        let line = ran
            .err
            .lines()
            .find(|line| line.trim().starts_with(start))
            .unwrap();
        words(line).replace("=..", "=2")
    };
    let (answer, resume) = (command("mcp-tasks answer"), command("mcp-tasks resume"));
    let arguments =
        |line: &str| -> Vec<String> { line.split(' ').skip(1).map(str::to_owned).collect() };
    let run = |line: &str| {
        let arguments = arguments(line);
        home.run(&arguments.iter().map(String::as_str).collect::<Vec<_>>())
    };
    let answered = run(&answer).exits(0);
    assert_eq!(answered.out, "✓ question `second` answered\n");
    let resumed = run(&resume).exits(0);
    assert_eq!(resumed.out, "1,2\n");
    assert_eq!(home.run(&["list"]).exits(0).out, "No open tasks.\n");
}

#[test]
fn an_answer_that_does_not_fit_leaves_the_question_open() {
    let home = Home::new();
    let ran = home
        .run_with_server(&[
            "call",
            "form",
            "--json",
            "--answer",
            "everything.percent=500",
        ])
        .exits(4)
        .tells(&["`percent` must be between 1 and 100, got 500"]);
    let id = ran.event("unanswered")["task"].as_str().unwrap().to_owned();

    let answer = |more: &[&str]| {
        let mut arguments = vec!["answer", &id[..10]];
        arguments.extend(more);
        home.run(&arguments)
    };
    answer(&["percent=500"])
        .exits(2)
        .tells(&["`percent` must be between 1 and 100"]);
    answer(&["colour=red"])
        .exits(2)
        .tells(&["no field `colour`", "level: How urgent it is (low, high)"]);
    answer(&["--question", "other", "a=1"])
        .exits(2)
        .tells(&["there is `everything`"]);
    answer(&["--decline"]).exits(0);
    answer(&["--decline"]).exits(2).tells(&["no open question"]);
    home.run(&["resume", &id])
        .exits(1)
        .tells(&["the tool failed"]);
}

#[test]
fn a_page_to_open_is_agreed_to_as_the_words_beside_it_say() {
    let server = Http::start(&[]);
    let home = Home::new();
    let ran = home
        .run(&["call", "open_url", "--json", "--http", &server.url])
        .exits(4)
        .tells(&["https://example.org/in", "--question url"]);
    let id = ran.event("unanswered")["task"].as_str().unwrap().to_owned();
    home.run(&["answer", &id, "--question", "url", "page=1"])
        .exits(2)
        .tells(&["it takes `accept`, `decline` or `dismiss`"]);
    home.run(&["answer", &id, "--question", "url"]).exits(0);
    assert_eq!(home.run(&["resume", &id]).exits(0).out, "agreed\n");
}

#[test]
fn one_of_several_questions_is_named() {
    let server = Http::start(&[]);
    let home = Home::new();
    let ran = home
        .run(&["call", "askpar", "--json", "--http", &server.url])
        .exits(4);
    let id = ran.event("unanswered")["task"].as_str().unwrap().to_owned();
    home.run(&["answer", &id, "answer=x"])
        .exits(2)
        .tells(&["`left/answer`, `right/answer`", "--question KEY"]);
    home.run(&["answer", &id, "answer=x", "--question", "right/answer"])
        .exits(0);
    home.run(&["answer", &id, "answer=y"]).exits(0);
    assert_eq!(home.run(&["resume", &id]).exits(0).out, "y,x\n");
}

#[test]
fn somebody_else_can_be_waited_for() {
    let server = Http::start(&[]);
    let home = Home::new();
    let mut command = home.command(&["call", "ask1", "--wait", "--http", &server.url]);
    command
        .stdout(std::process::Stdio::piped())
        .stdin(std::process::Stdio::null());
    command.stderr(std::process::Stdio::null());
    let waiting = command.spawn().unwrap();
    let id = loop {
        let listed = home.run(&["list", "--json"]).exits(0).json();
        if let Some(entry) = listed.first() {
            break entry["task"].as_str().unwrap().to_owned();
        }
        std::thread::yield_now();
    };
    loop {
        let answered = home.run(&["answer", &id, "answer=hi"]);
        if answered.code == Some(0) {
            break;
        }
    }
    let output = waiting.wait_with_output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "got: hi\n");
}

#[test]
fn time_can_be_over_while_somebody_else_is_waited_for() {
    let server = Http::start(&[]);
    let home = Home::new();
    let ran = home.run(&[
        "call",
        "ask1",
        "--wait",
        "--timeout",
        "1s",
        "--http",
        &server.url,
    ]);
    let ran = ran.exits(8).tells(&["not done within 1.0 s: cancelled"]);
    // How the question can be answered from elsewhere.
    assert!(ran.err.contains("mcp-tasks answer"), "{}", ran.err);
    assert!(home.run(&["list", "--json"]).exits(0).out.is_empty());
}

#[test]
fn an_answer_that_nothing_asked_for_is_told() {
    let server = Http::start(&[]);
    let home = Home::new();
    let call = [
        "call",
        "ask1",
        "--answer",
        "answer.answer=a",
        "--answer",
        "approval=decline",
    ];
    let ran = home.run(&[&call[..], &["--http", &server.url]].concat());
    let ran = ran.exits(0).tells(&["`approval` was not used"]);
    assert!(!ran.err.contains("`answer.answer` was"), "{}", ran.err);
}

#[test]
fn a_file_of_answers_that_is_none_is_told_before_anything_starts() {
    let home = Home::new();
    let file = home.path("answers.json");
    for (content, expected) in [("", "no file of answers"), (r#"{"a": 1}"#, "\"decline\"")] {
        fs::write(&file, content).unwrap();
        home.run_with_server(&["call", "ask1", "--answers", text(&file)])
            .exits(2)
            .tells(&[expected]);
    }
    home.run_with_server(&["call", "ask1", "--answers", "nowhere.json"])
        .exits(9);
    home.run_with_server(&["call", "ask1", "--answer", "answer"])
        .exits(2)
        .tells(&["KEY.FIELD=VALUE"]);
    assert!(!home.path("tasks.db").exists());
}

#[test]
fn a_question_with_nothing_to_fill_in_says_so() {
    let home = Home::new();
    let ran = home
        .run_with_server(&["call", "confirm", "--json"])
        .exits(4);
    let id = ran.event("unanswered")["task"].as_str().unwrap().to_owned();
    home.run(&["answer", &id, "confirmed=yes"])
        .exits(2)
        .tells(&[
            "has no field `confirmed`, and no other: there is nothing to fill in.",
            "Without a field the answer is yes; --decline says no",
        ]);
    let answered = home.run(&["answer", &id, "--json"]).exits(0);
    assert_eq!(answered.event("answered")["exit"], 0);
}

#[test]
fn the_object_of_a_cancelled_task_has_the_exit_code() {
    let home = Home::new();
    let ran = home.run_with_server(&["call", "ask1", "--json"]).exits(4);
    let id = ran.event("unanswered")["task"].as_str().unwrap().to_owned();
    let cancelled = home.run(&["cancel", &id, "--json"]).exits(0);
    assert_eq!(cancelled.event("cancelled")["exit"], 0);
}
