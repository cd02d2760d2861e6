//! What the attribute costs whoever compiles it, beside rmcp's.
//!
//! ```text
//! cargo bench -p mcp-tasks-macros --bench expansion              # measures and prints
//! cargo bench -p mcp-tasks-macros --bench expansion -- --check   # fails if a bound is broken
//! ```
//!
//! Two programs with the same 200 tools are generated and compiled in turn: one
//! with `#[mcp_task]`, one with rmcp's `#[tool]` and a struct for the arguments
//! of each. Only the program itself is compiled anew, not what it depends on.
//! Size is that of the stripped release program, for each tool beyond the
//! twentieth: what a server has once is not counted.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

const TOOLS: usize = 200;
const FEW: usize = 20;

/// How much slower than rmcp's it may be: as much as two runs of the same
/// differ.
const BOUND: f64 = 1.05;

/// The ways to compile, and how often each is measured.
const WAYS: [(&str, &[&str], usize); 3] = [
    ("cargo check", &["check"], 5),
    ("cargo build", &["build"], 5),
    ("cargo build --release", &["build", "--release"], 3),
];

#[derive(Clone, Copy)]
enum Side {
    Ours,
    Rmcp,
}

impl Side {
    const BOTH: [Self; 2] = [Self::Ours, Self::Rmcp];

    fn package(self) -> &'static str {
        match self {
            Self::Ours => "with-mcp-task",
            Self::Rmcp => "with-tool",
        }
    }

    fn program(self, tools: usize) -> String {
        let mut functions = String::new();
        let mut registered = String::new();
        for n in 0..tools {
            let (parameters, call) = signature(n);
            match self {
                Self::Ours => {
                    let _ = write!(
                        functions,
                        "/// Looks up the {n}th thing.\n#[mcp_task]\nasync fn tool_{n}({parameters}) \
                         -> Result<Json<Found>, ToolError> {{\n    \
                         let found = step({call}).await?;\n    Ok(Json(found))\n}}\n\n"
                    );
                    let _ = writeln!(registered, "        .task(tool_{n})");
                }
                Self::Rmcp => {
                    let names: Vec<&str> = call_names(n).to_vec();
                    let fields = parameters.replace(", ", ",\n    ");
                    let _ = write!(
                        functions,
                        "    /// Looks up the {n}th thing.\n    #[tool]\n    async fn tool_{n}(\n        \
                         &self,\n        Parameters(Arguments{n} {{ {} }}): Parameters<Arguments{n}>,\n    ) \
                         -> Result<Json<Found>, ErrorData> {{\n        \
                         let found = {call}.await.map_err(internal)?;\n        Ok(Json(found))\n    }}\n\n",
                        names.join(", ")
                    );
                    let _ = write!(
                        registered,
                        "#[derive(Deserialize, JsonSchema)]\nstruct Arguments{n} {{\n    {fields},\n}}\n\n"
                    );
                }
            }
        }
        match self {
            Self::Ours => format!("{OURS}{functions}{OURS_MAIN}{registered}{OURS_END}"),
            Self::Rmcp => format!("{RMCP}{registered}{RMCP_IMPL}{functions}{RMCP_END}"),
        }
    }
}

/// The parameters of the `n`th tool, and what it calls.
fn signature(n: usize) -> (&'static str, &'static str) {
    match n % 4 {
        0 => ("name: String, count: u32", "by_name(name, count)"),
        1 => ("name: String, kind: Option<Kind>", "by_kind(name, kind)"),
        2 => ("names: Vec<String>", "by_names(names)"),
        _ => ("place: Place, exact: bool", "by_place(place, exact)"),
    }
}

fn call_names(n: usize) -> &'static [&'static str] {
    match n % 4 {
        0 => &["name", "count"],
        1 => &["name", "kind"],
        2 => &["names"],
        _ => &["place", "exact"],
    }
}

const COMMON: &str = include_str!("expansion/common.rs.txt");
const OURS: &str = "mod common;\nuse common::*;\nuse mcp_tasks::prelude::*;\n\n";
const OURS_MAIN: &str = "#[tokio::main]\nasync fn main() -> Result<(), mcp_tasks::Error> {\n    \
    TaskServer::new(\"lookup\", \"1\")\n";
const OURS_END: &str = "        .serve_stdio()\n        .await\n}\n";
const RMCP: &str = include_str!("expansion/rmcp.rs.txt");
const RMCP_IMPL: &str = "#[tool_router]\nimpl Server {\n";
const RMCP_END: &str = include_str!("expansion/rmcp_end.rs.txt");

fn main() -> ExitCode {
    let check = std::env::args().any(|argument| argument == "--check");
    let bench = Bench::new();
    for side in Side::BOTH {
        bench.write(side, TOOLS);
    }
    println!("{:<24}{:>12}{:>12}{:>8}", "", "mcp_task", "tool", "ratio");
    let mut holds = true;
    for (name, way, rounds) in WAYS {
        let [ours, rmcp] = bench.times(way, rounds);
        let ratio = ours.as_secs_f64() / rmcp.as_secs_f64();
        println!("{name:<24}{ours:>12.2?}{rmcp:>12.2?}{ratio:>8.2}");
        holds &= ratio <= BOUND;
    }
    let [ours, rmcp] = Side::BOTH.map(|side| bench.bytes_per_tool(side));
    println!(
        "{:<24}{ours:>12}{rmcp:>12}{:>8.2}",
        "bytes per tool",
        ratio(ours, rmcp)
    );
    if check && !holds {
        println!("BROKEN: compiling takes more than {BOUND} of the time that rmcp's takes");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

#[expect(clippy::cast_precision_loss, reason = "these are small numbers")]
fn ratio(ours: u64, rmcp: u64) -> f64 {
    ours as f64 / rmcp as f64
}

/// A workspace of its own with both programs.
struct Bench {
    directory: PathBuf,
}

impl Bench {
    fn new() -> Self {
        let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("expansion");
        let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        fs::create_dir_all(&directory).expect("there is room where the build is");
        let manifest = "[workspace]\nresolver = \"2\"\nmembers = [\"with-mcp-task\", \"with-tool\"]\n\
            \n[profile.release]\nstrip = true\n";
        write(&directory.join("Cargo.toml"), manifest);
        // The same versions of everything.
        let lock =
            fs::read_to_string(repository.join("Cargo.lock")).expect("it is in the repository");
        write(&directory.join("Cargo.lock"), &lock);
        let bench = Self { directory };
        let runtime = repository.join("mcp-tasks");
        for side in Side::BOTH {
            let dependency = match side {
                Side::Ours => format!("mcp-tasks = {{ path = '{}' }}", runtime.display()),
                Side::Rmcp => {
                    "rmcp = { version = \"3.11\", features = [\"transport-io\"] }".to_owned()
                }
            };
            let manifest = format!(
                "[package]\nname = \"{}\"\nedition = \"2024\"\n\n[dependencies]\n{dependency}\n\
                 schemars = \"1\"\nserde = {{ version = \"1\", features = [\"derive\"] }}\n\
                 tokio = {{ version = \"1\", features = [\"full\"] }}\n",
                side.package()
            );
            let package = bench.directory.join(side.package());
            fs::create_dir_all(package.join("src")).expect("there is room where the build is");
            write(&package.join("Cargo.toml"), &manifest);
            write(&package.join("src/common.rs"), COMMON);
        }
        bench
    }

    fn write(&self, side: Side, tools: usize) {
        let main = self.directory.join(side.package()).join("src/main.rs");
        write(&main, &side.program(tools));
    }

    /// How long both sides take to compile: medians.
    fn times(&self, way: &[&str], rounds: usize) -> [Duration; 2] {
        let mut times: [Vec<Duration>; 2] = Default::default();
        for round in 0..=rounds {
            for (side, times) in Side::BOTH.into_iter().zip(&mut times) {
                self.write(side, TOOLS);
                let time = self.cargo(side, way);
                // The first also compiles what it depends on.
                if round > 0 {
                    times.push(time);
                }
            }
        }
        times.map(|mut times| {
            times.sort();
            times[times.len() / 2]
        })
    }

    fn cargo(&self, side: Side, way: &[&str]) -> Duration {
        let begun = Instant::now();
        let status = Command::new(env!("CARGO"))
            .args(way)
            .args(["--quiet", "--package", side.package()])
            .current_dir(&self.directory)
            .env("CARGO_TARGET_DIR", self.directory.join("target"))
            .env("CARGO_INCREMENTAL", "0")
            .status();
        let time = begun.elapsed();
        assert!(
            status.is_ok_and(|status| status.success()),
            "it does not compile"
        );
        time
    }

    fn bytes_per_tool(&self, side: Side) -> u64 {
        let [many, few] = [TOOLS, FEW].map(|tools| {
            self.write(side, tools);
            self.cargo(side, &["build", "--release"]);
            let program = self.directory.join("target/release").join(side.package());
            fs::metadata(program).expect("it was just built").len()
        });
        (many - few) / (TOOLS - FEW) as u64
    }
}

fn write(path: &Path, text: &str) {
    fs::write(path, text).expect("there is room where the build is");
}
