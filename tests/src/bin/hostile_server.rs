//! A server over stdio that misbehaves as its argument says: `dies FILE`,
//! `falters FILE`, `late FILE`, `hangs`, `mute`, `floods`, `junk`, `endless`,
//! `curious`. What it says is written by hand.

use std::io::{BufRead as _, Write as _};
use std::sync::Mutex;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

/// How much is written to stderr at every message.
const FLOOD: usize = 1024 * 1024;

/// What the client has answered.
static TOLD: Mutex<Option<Value>> = Mutex::new(None);

fn say(message: &Value) {
    let mut out = std::io::stdout().lock();
    // Whoever reads it may have had enough.
    let _ = writeln!(out, "{message}");
    let _ = out.flush();
}

fn reply(to: &Value, member: &str, value: Value) {
    let mut reply = json!({ "jsonrpc": "2.0", "id": to["id"] });
    reply[member] = value;
    say(&reply);
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [vice, rest @ ..] = &arguments[..] else {
        panic!("hostile_server VICE [FILE]");
    };
    match &**vice {
        "dies" => return write_down(&rest[0]),
        // It has begun once, and does not any more.
        "falters" => {
            let is_again = std::fs::exists(&rest[0]).expect("a folder");
            write_down(&rest[0]);
            if is_again {
                return;
            }
        }
        // It has much to do when it is started for the first time.
        "late" if !std::fs::exists(&rest[0]).expect("a folder") => {
            write_down(&rest[0]);
            std::thread::sleep(Duration::from_secs(11));
        }
        _ => {}
    }
    for line in std::io::stdin().lock().lines() {
        let Ok(line) = line else { return };
        let message: Value = serde_json::from_str(&line).expect("the client speaks JSON");
        serve(vice, &message);
    }
}

/// Writes down when it was started, and ends.
fn write_down(file: &str) {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let now = now.expect("a clock").as_millis();
    let mut file = std::fs::OpenOptions::new()
        .create(true)
        .append(true)
        .open(file)
        .expect("a file");
    writeln!(file, "{now}").expect("it is written");
}

fn serve(vice: &str, message: &Value) {
    match vice {
        // The older it is, the less it says to what it does not know.
        "hangs" if message["method"] == "server/discover" => return,
        "mute" => return,
        "falters" if message["method"] == "tasks/get" => {
            eprintln!("out of paper");
            std::process::exit(1);
        }
        "floods" => {
            let flood = vec![b'x'; FLOOD];
            let _ = std::io::stderr().lock().write_all(&flood);
        }
        "junk" => {
            let mut out = std::io::stdout().lock();
            let _ = out.write_all(b"Debugger attached.\n{\n\xff\xfe\n[]\n\"\"\n7\n\n");
            // The mark of UTF-8, before the message.
            let _ = out.write_all(b"\xef\xbb\xbf");
        }
        "endless" if message["method"] == "tools/call" => loop {
            let mut out = std::io::stdout().lock();
            if out.write_all(&[b'x'; 8 * 1024]).is_err() {
                std::thread::sleep(Duration::from_secs(60));
            }
        },
        _ => {}
    }
    match message["method"].as_str() {
        Some("server/discover") if vice == "falters" || vice == "late" => reply(
            message,
            "result",
            json!({
                "resultType": "complete",
                "supportedVersions": ["2026-07-28"],
                "capabilities": { "tools": {}, "extensions": { "io.modelcontextprotocol/tasks": {} } },
                "ttlMs": 0,
                "cacheScope": "private",
            }),
        ),
        Some("server/discover") => reply(
            message,
            "error",
            json!({ "code": -32601, "message": "method not found" }),
        ),
        // It wants to know this at once, and shows what it was told.
        Some("notifications/initialized") if vice == "curious" => {
            say(&json!({ "jsonrpc": "2.0", "id": "r", "method": "roots/list" }));
        }
        None if vice == "curious" => {
            let told = message["result"].clone();
            *TOLD.lock().expect("one thread") = Some(told);
        }
        Some("tools/call") if vice == "curious" => {
            let told = TOLD.lock().expect("one thread").clone();
            let told = told.unwrap_or_default().to_string();
            let result = json!({ "content": [{ "type": "text", "text": told }] });
            reply(message, "result", result);
        }
        Some("initialize") if vice == "late" => reply(
            message,
            "error",
            json!({ "code": -32022, "message": "unsupported", "data": { "supported": ["2026-07-28"] } }),
        ),
        Some("initialize") => reply(
            message,
            "result",
            json!({
                "protocolVersion": "2025-06-18",
                "capabilities": { "tools": {} },
                "serverInfo": { "name": vice, "version": "1" },
            }),
        ),
        Some("tools/call") => reply(
            message,
            "result",
            json!({ "content": [{ "type": "text", "text": "all the same" }] }),
        ),
        _ => {}
    }
}
