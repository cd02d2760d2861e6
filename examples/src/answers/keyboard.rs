//! What a person types, line by line.

use std::io::BufRead;

use tokio::sync::mpsc;

/// Lines that are typed, or come out of a pipe.
///
/// They are read by a thread of their own: nobody knows when a person presses
/// Enter, the runtime has other things to do until then, and a program that is
/// done need not wait for it.
#[derive(Debug)]
pub struct Keyboard {
    lines: mpsc::Receiver<String>,
}

impl Keyboard {
    /// Reads from here.
    pub fn new(mut input: impl BufRead + Send + 'static) -> Self {
        let (send, lines) = mpsc::channel(1);
        std::thread::spawn(move || {
            let mut line = Vec::new();
            // What cannot be read has ended.
            while let Ok(1..) = input.read_until(b'\n', &mut line) {
                let text = String::from_utf8_lossy(&line).trim().to_owned();
                if send.blocking_send(text).is_err() {
                    return;
                }
                line.clear();
            }
        });
        Self { lines }
    }

    /// The next line, without space around it; `None` at the end of the input.
    /// Cancel-safe.
    pub async fn line(&mut self) -> Option<String> {
        self.lines.recv().await
    }
}
