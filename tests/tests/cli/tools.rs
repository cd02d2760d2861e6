//! `tools`, `--help` and what else there is to read.

use std::process::Stdio;

use crate::{Home, Http, program};

#[test]
fn tools_are_listed_with_arguments_and_task_support() {
    let home = Home::new();
    let ran = home.run_with_server(&["tools"]).exits(0);
    for expected in [
        "fixtures ",
        "with tasks (MCP 2026-07-28)",
        "\nslow",
        "    - ms: whole number, required: How long to work\n",
        "[name]",
    ] {
        assert!(ran.out.contains(expected), "{expected} in {}", ran.out);
    }
    let ran = home.run_with_server(&["tools", "shows", "--json"]).exits(0);
    let tools = ran.json();
    assert_eq!(tools.len(), 1);
    assert_eq!(
        tools[0]["input_schema"]["properties"]["depth"]["maximum"],
        3
    );
    home.run_with_server(&["tools", "shaws"]).exits(2);
}

#[test]
fn the_help_tells_what_there_is() {
    let home = Home::new();
    for (arguments, expected) in [
        (&["--help"][..], "Exit codes:"),
        (&["call", "--help"], "mcp-tasks call deploy service=billing"),
        (&["answer", "--help"], "--decline"),
        (&["inspect", "--help"], "never changed"),
        (&["list", "--help"], "MCP_TASKS_BOOK"),
        (&["completions", "bash"], "complete"),
        (&["--version"], env!("CARGO_PKG_VERSION")),
    ] {
        let ran = home.run(arguments).exits(0);
        assert!(ran.out.contains(expected), "{arguments:?}: {}", ran.out);
        assert!(!ran.out.contains('\x1b'));
    }
    home.run(&[]).exits(2);
    assert!(program().is_file());
}

#[test]
fn whoever_has_seen_enough_of_a_list_may_go() {
    let server = Http::start(&[]);
    let home = Home::new();
    let mut command = home.command(&["tools", "--http", &server.url]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    drop(child.stdout.take());
    let ended = child.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(0));
    assert_eq!(String::from_utf8(ended.stderr).unwrap(), "");
}
