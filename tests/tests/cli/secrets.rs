//! Headers go to the server, and nowhere else.

use std::fs;

use crate::{Home, Http, is_in_files};

const SECRET: &str = "s3cret-t0ken-of-alice";

#[test]
fn a_secret_is_in_requests_and_nowhere_else() {
    let server = Http::start(&["--token", &format!("alice={SECRET}")]);
    let home = Home::new();
    let file = home.path("headers");
    fs::write(
        &file,
        format!("# of alice\nAuthorization: Bearer {SECRET}\n"),
    )
    .unwrap();
    let from_file = format!("@{}", file.display());
    let typed = format!("Authorization: Bearer {SECRET}");
    let wrong = format!("Authorization: Bearer {SECRET}-not");
    let ways: [(&[&str], &str); 3] = [
        (&["--header", &from_file], "--header"),
        (
            &["--bearer-token-env", "TOKEN_OF_ALICE"],
            "--bearer-token-env",
        ),
        (&["--header", &typed], "whose value is not shown"),
    ];
    for (flags, told) in ways {
        let run = |arguments: &[&str]| {
            let mut command = home.command(arguments);
            command.args(flags).env("TOKEN_OF_ALICE", SECRET);
            let ran = crate::Ran::of(command.stdin(std::process::Stdio::null()).output().unwrap());
            assert!(
                !ran.out.contains(SECRET) && !ran.err.contains(SECRET),
                "{}\n{}",
                ran.out,
                ran.err
            );
            ran
        };
        let who = run(&[
            "call",
            "whoami",
            "--answer",
            "answer=x",
            "--http",
            &server.url,
        ])
        .exits(0);
        assert_eq!(who.out, "alice,alice\n");
        let open = run(&["call", "ask1", "--json", "--http", &server.url])
            .exits(4)
            .tells(&[told]);
        let id = open.event("unanswered")["task"]
            .as_str()
            .unwrap()
            .to_owned();
        run(&["answer", &id, "answer=x"]).exits(0);
        run(&["resume", &id, "-v"]).exits(0);
        fs::rename(&file, home.folder.path().with_extension("aside")).unwrap();
        assert!(!is_in_files(home.folder.path(), SECRET));
        fs::rename(home.folder.path().with_extension("aside"), &file).unwrap();
    }
    for flags in [
        &["--header", &wrong][..],
        &["--header", SECRET],
        &["--header", &format!("Bad Name: {SECRET}")],
        &["--header", &format!("Name: {SECRET}\u{1}")],
    ] {
        let mut arguments = vec!["call", "whoami", "--http", &server.url];
        arguments.extend(flags);
        let ran = home.run(&arguments);
        assert_ne!(ran.code, Some(0));
        assert!(
            !ran.out.contains(SECRET) && !ran.err.contains(SECRET),
            "{}",
            ran.err
        );
    }
}
