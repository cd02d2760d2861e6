//! rmcp's own client does every case of `tests/interop/tools.json` that its
//! protocol version allows, as the clients of other languages do that
//! `tests/interop/run.mjs` drives.

mod connect;
mod desk;
mod judge;
mod table;

use mcp_tasks_tests::Transport;

use self::connect::Connected;
use self::judge::judge;
use self::table::{Era, table};

const FIXTURES: &str = env!("CARGO_BIN_EXE_fixtures");

#[tokio::test]
async fn in_rounds_over_http() {
    drive(Era::Rounds, Transport::Http).await;
}

#[tokio::test]
async fn in_rounds_over_stdio() {
    drive(Era::Rounds, Transport::Stdio).await;
}

#[tokio::test]
async fn in_a_session_over_http() {
    drive(Era::Session, Transport::Http).await;
}

#[tokio::test]
async fn in_a_session_over_stdio() {
    drive(Era::Session, Transport::Stdio).await;
}

/// Does all cases, and fails with everything that went wrong in them.
async fn drive(era: Era, transport: Transport) {
    let folder = tempfile::tempdir().unwrap();
    let (cases, elsewhere) = table(era, transport, folder.path());
    let client = Connected::open(era, transport, false).await;
    let bare = Connected::open(era, transport, true).await;
    let mut troubles = Vec::new();

    let mut called: Vec<&str> = cases
        .iter()
        .filter(|case| !case.is_absent())
        .map(|case| case.tool.as_str())
        .collect();
    called.sort_unstable();
    called.dedup();
    let mut listed = client.tools().await;
    listed.retain(|tool| called.contains(&tool.as_str()) || !elsewhere.has(tool));
    if listed != called {
        troubles.push(format!(
            "the tools are {listed:?}, the cases are of {called:?}"
        ));
    }

    let mut noted = 0;
    for case in &cases {
        let client = if case.bare { &bare } else { &client };
        let outcome = client.call(case).await;
        let wrong = judge(case, &outcome);
        if let (true, Some(because)) = (wrong.is_empty(), &case.because) {
            noted += 1;
            println!("noted: {}: {because}", case.name);
        }
        troubles.extend(wrong.iter().map(|words| format!("{}: {words}", case.name)));
    }
    for client in [client, bare] {
        troubles.extend(client.close().await);
    }
    let failed = troubles.len();
    println!(
        "rmcp, {era:?}, {transport:?}: {} cases, {noted} noted, {failed} failed",
        cases.len()
    );
    assert!(troubles.is_empty(), "{}", troubles.join("\n"));
}
