//! `inspect`: what is in a store, on live and on dead files, and not a byte of it
//! changed.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::SystemTime;

use crate::{Home, Http, Ran, text};

/// Everything in a folder, with contents and times.
fn contents(folder: &Path) -> BTreeMap<String, (Vec<u8>, SystemTime)> {
    let files = fs::read_dir(folder).unwrap().map(Result::unwrap);
    let files = files
        .filter(|file| file.file_type().unwrap().is_file())
        .map(|file| {
            let name = file.file_name().into_string().unwrap();
            let modified = file.metadata().unwrap().modified().unwrap();
            (name, (fs::read(file.path()).unwrap(), modified))
        });
    files.collect()
}

/// A server with tasks in a file of its own, and the ids of some.
struct Stored {
    home: Home,
    server: Option<Http>,
    file: String,
    asks: String,
    waits: String,
}

impl Stored {
    fn new() -> Self {
        let home = Home::new();
        fs::create_dir(home.path("store")).unwrap();
        let file = home.path("store/tasks.db").to_str().unwrap().to_owned();
        let server = Http::start(&["--store", &format!("sqlite:{file}"), "--park-after", "1"]);
        let url = server.url.clone();
        let open = |arguments: &[&str]| {
            let mut all = vec!["call"];
            all.extend(arguments);
            all.extend(["--json", "--http", &url]);
            home.run(&all).exits(4).event("unanswered")["task"]
                .as_str()
                .unwrap()
                .to_owned()
        };
        let asks = open(&["ask2", "--answer", "first.answer=1"]);
        let waits = open(&["late_signal"]);
        home.run(&["answer", &waits, "answer=now"]).exits(0);
        home.run(&["call", "soft", "--http", &url]).exits(1);
        Self {
            home,
            server: Some(server),
            file,
            asks,
            waits,
        }
    }

    /// Inspects, and makes sure that nothing in the folder changes by it.
    fn inspect(&self, arguments: &[&str]) -> Ran {
        let folder = self.home.path("store");
        let before = contents(&folder);
        let mut all = vec!["inspect", &self.file];
        all.extend(arguments);
        let ran = self.home.run(&all);
        let after = contents(&folder);
        assert_eq!(
            before.keys().collect::<Vec<_>>(),
            after.keys().collect::<Vec<_>>()
        );
        assert!(before == after, "a file was changed");
        ran
    }

    /// Waits until nothing is written any more.
    fn settle(&self) {
        let folder = self.home.path("store");
        let is_parked = || {
            let listed = self
                .home
                .run(&["inspect", &self.file, "--json"])
                .exits(0)
                .json();
            listed
                .iter()
                .any(|task| task["waits"] == serde_json::json!([{"for": "signal"}]))
        };
        while !is_parked() {}
        // Once a lease has been renewed there are seconds until the next time.
        let lease = contents(&folder);
        let mut tries = 0;
        while contents(&folder) == lease && tries < 100 {
            tries += 1;
            std::thread::yield_now();
        }
    }

    fn looks_right(&self) {
        let ran = self.inspect(&["--json"]).exits(0);
        let tasks = ran.json();
        assert_eq!(tasks.len(), 3, "{}", ran.out);
        let task = |id: &str| {
            tasks
                .iter()
                .find(|task| task["task"] == id)
                .unwrap()
                .clone()
        };
        let asks = task(&self.asks);
        assert_eq!(asks["status"], "input_required");
        assert_eq!(asks["tool"], "ask2");
        assert_eq!(
            asks["waits"],
            serde_json::json!([{"for": "answer", "key": "second"}])
        );
        assert_eq!(
            task(&self.waits)["waits"],
            serde_json::json!([{"for": "signal"}])
        );
        let ended = tasks.last().unwrap();
        assert_eq!(
            (&ended["tool"], &ended["status"]),
            (&"soft".into(), &"completed".into())
        );

        let ran = self.inspect(&[]).exits(0);
        for expected in [
            "tasks.db: 2 open, 1 ended\n",
            "an answer to `second`",
            "a signal",
            &format!("{}  input required  ask2", self.asks),
        ] {
            assert!(ran.out.contains(expected), "{expected} in {}", ran.out);
        }
        let ran = self.inspect(&[&self.asks[..14]]).exits(0);
        let expected = [
            "ask2  input required",
            &self.asks,
            "waits for  an answer to `second`",
            "created by a call of ask2",
            "asked `first`  The first?",
            "answered `first` after ",
            "asked `second`  The second?",
            "Open question `second`:",
        ];
        let mut rest = ran.out.as_str();
        for text in expected {
            let at = rest
                .find(text)
                .unwrap_or_else(|| panic!("no {text} in {}", ran.out));
            rest = &rest[at..];
        }
    }
}

impl Stored {
    fn kill(&mut self) {
        self.server = None;
    }
}

#[test]
fn a_file_is_looked_into_beside_its_server_and_after_it_was_killed() {
    let mut stored = Stored::new();
    stored.settle();
    stored.looks_right();
    stored.kill();
    let folder = stored.home.path("store");
    assert!(contents(&folder).contains_key("tasks.db-wal"));
    assert!(contents(&folder).contains_key("tasks.db-shm"));
    stored.looks_right();
    // A copy without the index of the log, as backups are made of it.
    fs::remove_file(folder.join("tasks.db-shm")).unwrap();
    stored.looks_right();
}

#[cfg(unix)]
#[test]
fn a_file_that_was_closed_is_looked_into_even_where_nothing_can_be_written() {
    use std::os::unix::fs::PermissionsExt as _;

    let mut stored = Stored::new();
    stored.settle();
    let server = stored.server.as_mut().unwrap();
    crate::signal(server.child.id(), rustix::process::Signal::TERM);
    server.child.wait().unwrap();
    let folder = stored.home.path("store");
    assert!(!contents(&folder).contains_key("tasks.db-wal"));
    stored.looks_right();
    let mode =
        |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    mode(&folder.join("tasks.db"), 0o400);
    mode(&folder, 0o500);
    stored.looks_right();
    mode(&folder, 0o700);
    // It has ended: it can be waited for, and killed, no more.
    std::mem::forget(stored.server.take());
}

#[test]
fn what_happens_is_shown_as_it_happens() {
    let stored = Stored::new();
    let url = stored.server.as_ref().unwrap().url.clone();
    let mut command =
        stored
            .home
            .command(&["inspect", &stored.file, &stored.asks, "--follow", "--json"]);
    let mut following: Child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let out = following.stdout.take().unwrap();
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(out)).map(Result::unwrap);
    lines
        .by_ref()
        .find(|line| line.contains(r#""asked":{"key":"second""#))
        .unwrap();
    stored
        .home
        .run(&["answer", &stored.asks, "answer=2", "--http", &url])
        .exits(0);
    // It ends with the task.
    let last = lines.last().unwrap();
    assert!(last.contains(r#""finished""#), "{last}");
    assert!(following.wait().unwrap().success());
    let ran = stored
        .home
        .run(&["inspect", &stored.file, &stored.asks])
        .exits(0);
    assert!(ran.out.contains("has been removed"), "{}", ran.out);
}

#[test]
fn what_is_no_store_is_told_and_left_as_it_is() {
    let home = Home::new();
    let look = |name: &str| home.run(&["inspect", name]);
    look("nowhere.db").exits(9).tells(&["nowhere.db"]);
    look(".").exits(9).tells(&["directory"]);
    fs::write(home.path("empty.db"), "").unwrap();
    look("empty.db").exits(9).tells(&["it is empty"]);
    fs::write(
        home.path("text.db"),
        "no database at all, but long enough to be one".repeat(100),
    )
    .unwrap();
    look("text.db").exits(9).tells(&["not a SQLite database"]);
    let other = rusqlite::Connection::open(home.path("other.db")).unwrap();
    other.execute_batch("CREATE TABLE t (a)").unwrap();
    drop(other);
    look("other.db").exits(9).tells(&["of another program"]);

    let newer = Home::new();
    newer.run_with_server(&["call", "soft"]).exits(1);
    let file = newer.path("tasks.db");
    let connection = rusqlite::Connection::open(&file).unwrap();
    connection
        .execute_batch("PRAGMA user_version = 99")
        .unwrap();
    drop(connection);
    let before = contents(newer.folder.path());
    newer
        .run(&["inspect", text(&file)])
        .exits(9)
        .tells(&["newer version"]);
    assert!(before == contents(newer.folder.path()));
    newer.run(&["inspect", text(&file), "x"]).exits(9);
}

#[test]
fn tasks_are_found_by_state_tool_and_the_beginning_of_their_ids() {
    let stored = Stored::new();
    let count = |arguments: &[&str]| {
        let mut all = vec!["inspect", &stored.file, "--json"];
        all.extend(arguments);
        stored.home.run(&all).exits(0).json().len()
    };
    assert_eq!(count(&[]), 3);
    assert_eq!(count(&["--status", "input-required"]), 1);
    assert_eq!(count(&["--status", "completed", "--status", "working"]), 2);
    assert_eq!(count(&["--tool", "soft"]), 1);
    assert_eq!(count(&["--limit", "2"]), 2);
    let ran = stored
        .home
        .run(&["inspect", &stored.file, "--limit", "1"])
        .exits(0);
    assert!(ran.out.contains("2 more; --all shows them"), "{}", ran.out);
    stored
        .home
        .run(&["inspect", &stored.file, "n"])
        .exits(2)
        .tells(&["more than one task"]);
    stored
        .home
        .run(&["inspect", &stored.file, "zzz"])
        .exits(2)
        .tells(&["no task `zzz`"]);
}
