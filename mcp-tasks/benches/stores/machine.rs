//! Where and when it was measured.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::file;
use crate::markdown::grouped;
use crate::server::Server;

/// What stands above the table.
pub(crate) async fn describe(server: &Server, disk: &Path, is_quick: bool) -> String {
    let client = server.connect_aside().await;
    let mut settings = Vec::new();
    for name in [
        "server_version",
        "fsync",
        "synchronous_commit",
        "shared_buffers",
    ] {
        let row = client.query_one(&format!("SHOW {name}"), &[]).await;
        settings.push(row.map_or_else(|_| "?".to_owned(), |row| row.get(0)));
    }
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let seconds = since.map_or(0, |since| since.as_secs().cast_signed());
    let date = chrono::DateTime::from_timestamp(seconds, 0).unwrap_or_default();
    let bare = file::measure(disk, 2048).expect("the disk takes a file");
    let [version, fsync, commit, buffers] = &settings[..] else {
        unreachable!("four settings were asked for");
    };
    format!(
        "Measured on {}: {cores} cores ({}), {:.0} GB of memory, {}; load {} before the start. \
         PostgreSQL {version} on the same machine, fsync {fsync}, synchronous_commit {commit}, \
         shared_buffers {buffers}. SQLite {}, WAL, synchronous FULL. The disk does {} fdatasyncs \
         per second of 2 kB each. Command: `cargo bench -p mcp-tasks --bench stores --features \
         postgres`{}.\n",
        date.format("%Y-%m-%d"),
        value_in("/proc/cpuinfo", "model name"),
        kilobytes_in("/proc/meminfo", "MemTotal") / 1e6,
        said("uname", &["-sr"]),
        first_word("/proc/loadavg"),
        rusqlite::version(),
        grouped(bare.one),
        if is_quick {
            " with `-- --quick`: too little of everything for a figure to count"
        } else {
            ""
        },
    )
}

fn said(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output();
    let said = output.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    said.unwrap_or_default()
}

fn value_in(file: &str, name: &str) -> String {
    let text = fs::read_to_string(file).unwrap_or_default();
    let line = text.lines().find(|line| line.starts_with(name));
    let value = line.and_then(|line| line.split_once(':'));
    value.map_or("?", |(_, value)| value.trim()).to_owned()
}

fn kilobytes_in(file: &str, name: &str) -> f64 {
    let value = value_in(file, name);
    let number = value.split(' ').next().and_then(|word| word.parse().ok());
    number.unwrap_or(f64::NAN)
}

fn first_word(file: &str) -> String {
    let text = fs::read_to_string(file).unwrap_or_default();
    text.split(' ').next().unwrap_or("?").to_owned()
}
