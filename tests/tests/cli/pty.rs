//! A real pseudo-terminal with the program in it, and the screen as a person sees
//! it.

use std::io::{Read as _, Write};
use std::num::NonZeroU16;
use std::sync::{Arc, Condvar, Mutex};
use std::time::Instant;

use mcp_tasks_tests::PATIENCE;
use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};

use crate::{Home, SERVER, program};

/// More than anything here shows: nothing scrolls away.
const ROWS: u16 = 70;

pub(crate) const ENTER: &str = "\r";
pub(crate) const ESCAPE: &str = "\x1b";
pub(crate) const DOWN: &str = "\x1b[B";
pub(crate) const BACKSPACE: &str = "\x7f";
pub(crate) const CTRL_A: &str = "\x01";
pub(crate) const CTRL_C: &str = "\x03";
pub(crate) const CTRL_U: &str = "\x15";
pub(crate) const CTRL_W: &str = "\x17";

/// The program, and the person in front of it.
pub(crate) struct Pty {
    shown: Arc<(Mutex<Shown>, Condvar)>,
    keyboard: Mutex<Box<dyn Write + Send>>,
    child: Mutex<Box<dyn Child + Send + Sync>>,
    _master: Box<dyn MasterPty + Send>,
}

struct Shown {
    parser: vt100::Parser,
    raw: Vec<u8>,
    ended: bool,
}

impl Pty {
    /// Starts the program with the fixture server as its child.
    pub(crate) fn start(home: &Home, columns: u16, arguments: &[&str]) -> Self {
        let mut all = arguments.to_vec();
        all.extend(SERVER);
        Self::run(home, columns, &all, &[])
    }

    pub(crate) fn run(
        home: &Home,
        columns: u16,
        arguments: &[&str],
        environment: &[(&str, &str)],
    ) -> Self {
        Self::sized(home, (columns, ROWS), arguments, environment)
    }

    /// In a terminal of so many columns and rows.
    pub(crate) fn sized(
        home: &Home,
        (columns, rows): (u16, u16),
        arguments: &[&str],
        environment: &[(&str, &str)],
    ) -> Self {
        let size = PtySize {
            rows,
            cols: columns,
            pixel_width: 0,
            pixel_height: 0,
        };
        let pair = native_pty_system().openpty(size).unwrap();
        let mut command = CommandBuilder::new(program());
        command.args(arguments);
        command.cwd(home.folder.path());
        command.env("MCP_TASKS_BOOK", home.path("book"));
        command.env("TERM", "xterm-256color");
        command.env_remove("NO_COLOR");
        for (name, value) in environment {
            command.env(name, value);
        }
        let child = pair.slave.spawn_command(command).unwrap();
        drop(pair.slave);
        let shown = Shown {
            parser: vt100::Parser::new(count(rows), count(columns), 0),
            raw: Vec::new(),
            ended: false,
        };
        let shown = Arc::new((Mutex::new(shown), Condvar::new()));
        let mut output = pair.master.try_clone_reader().unwrap();
        let record = Arc::clone(&shown);
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            loop {
                // A terminal whose program has ended gives an error.
                let count = output.read(&mut buffer).unwrap_or(0);
                let (shown, changed) = &*record;
                let mut shown = shown.lock().unwrap();
                shown.parser.process(&buffer[..count]);
                shown.raw.extend_from_slice(&buffer[..count]);
                shown.ended = count == 0;
                changed.notify_all();
                if count == 0 {
                    return;
                }
            }
        });
        Self {
            shown,
            keyboard: Mutex::new(pair.master.take_writer().unwrap()),
            child: Mutex::new(child),
            _master: pair.master,
        }
    }

    /// Presses keys.
    pub(crate) fn types(&self, keys: &[&str]) -> &Self {
        let mut keyboard = self.keyboard.lock().unwrap();
        for key in keys {
            keyboard.write_all(key.as_bytes()).unwrap();
        }
        keyboard.flush().unwrap();
        drop(keyboard);
        self
    }

    /// Waits until this is on the screen, wherever lines are broken.
    #[track_caller]
    pub(crate) fn waits_for(&self, text: &str) -> &Self {
        self.waits_until(text, |screen| squeezed(screen).contains(&squeezed(text)))
    }

    #[track_caller]
    fn waits_until(&self, what: &str, is_there: impl Fn(&str) -> bool) -> &Self {
        let (shown, changed) = &*self.shown;
        let until = Instant::now() + PATIENCE;
        let mut shown = shown.lock().unwrap();
        loop {
            let screen = shown.parser.screen().contents();
            if is_there(&screen) {
                drop(shown);
                return self;
            }
            let left = until.saturating_duration_since(Instant::now());
            assert!(
                !left.is_zero() && !shown.ended,
                "waiting for {what:?}:\n{screen}"
            );
            shown = changed.wait_timeout(shown, left).unwrap().0;
        }
    }

    /// What is on the screen.
    pub(crate) fn screen(&self) -> String {
        self.shown.0.lock().unwrap().parser.screen().contents()
    }

    /// All that was written to the terminal.
    pub(crate) fn raw(&self) -> String {
        String::from_utf8_lossy(&self.shown.0.lock().unwrap().raw).into_owned()
    }

    /// The process.
    pub(crate) fn process(&self) -> u32 {
        self.child.lock().unwrap().process_id().unwrap()
    }

    /// Waits until the program has ended and all it has said is on the screen.
    #[track_caller]
    pub(crate) fn exit(&self) -> i32 {
        let status = self.child.lock().unwrap().wait().unwrap();
        let (shown, changed) = &*self.shown;
        let mut shown = shown.lock().unwrap();
        while !shown.ended {
            let (again, late) = changed.wait_timeout(shown, PATIENCE).unwrap();
            assert!(!late.timed_out(), "the terminal stays open");
            shown = again;
        }
        i32::try_from(status.exit_code()).unwrap()
    }
}

impl Drop for Pty {
    fn drop(&mut self) {
        // It has mostly ended by now.
        let _ = self.child.lock().unwrap().kill();
    }
}

fn count(lines: u16) -> NonZeroU16 {
    NonZeroU16::new(lines).expect("a terminal has lines")
}

/// Without spaces and places where lines are broken.
fn squeezed(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}
