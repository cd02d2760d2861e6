//! Messages as lines: one per line, whole lines only, none longer than the limit.

use std::io;

use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::sync::mpsc;

/// What was read up to a newline.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// A line without its end; blank ones are skipped.
    Message(Vec<u8>),
    /// A line over the limit; its bytes are gone.
    TooLong,
}

/// Reads lines until the input ends or nobody takes them any more.
///
/// Memory stays within the limit however long a line is.
pub(super) async fn read(
    input: impl AsyncRead + Unpin,
    limit: usize,
    lines: mpsc::Sender<Line>,
) -> io::Result<()> {
    let mut input = BufReader::new(input);
    let mut line = Vec::new();
    let mut too_long = false;
    loop {
        let available = input.fill_buf().await?;
        let ended = available.is_empty();
        let newline = available.iter().position(|byte| *byte == b'\n');
        let content = &available[..newline.unwrap_or(available.len())];
        if too_long || line.len() + content.len() > limit {
            too_long = true;
            line = Vec::new();
        } else {
            line.extend_from_slice(content);
        }
        let consumed = newline.map_or(available.len(), |newline| newline + 1);
        input.consume(consumed);
        // What stands before the end of the input counts, newline or not.
        if newline.is_some() || ended {
            let read = std::mem::take(&mut line);
            let line = if std::mem::take(&mut too_long) {
                Some(Line::TooLong)
            } else {
                (!read.trim_ascii().is_empty()).then_some(Line::Message(read))
            };
            if let Some(line) = line
                && lines.send(line).await.is_err()
            {
                return Ok(());
            }
        }
        if ended {
            return Ok(());
        }
    }
}

/// Writes lines from two sources, each whole and at once, until neither has a
/// sender left.
pub(super) async fn write(
    mut output: impl AsyncWrite + Unpin,
    lines: [mpsc::Receiver<String>; 2],
) -> io::Result<()> {
    let [mut some, mut others] = lines;
    loop {
        let mut line = tokio::select! {
            Some(line) = some.recv() => line,
            Some(line) = others.recv() => line,
            else => return Ok(()),
        };
        line = one_line(line);
        line.push('\n');
        output.write_all(line.as_bytes()).await?;
        output.flush().await?;
    }
}

/// A message without line breaks.
///
/// Parts of it may have come from elsewhere with whitespace of their own; within
/// JSON a raw newline is never anything else.
pub(in crate::server) fn one_line(message: String) -> String {
    if message.contains(['\n', '\r']) {
        message.replace(['\n', '\r'], " ")
    } else {
        message
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn lines(input: &[u8], limit: usize) -> Vec<Line> {
        let (sender, mut receiver) = mpsc::channel(16);
        read(input, limit, sender).await.unwrap();
        let mut lines = Vec::new();
        while let Some(line) = receiver.recv().await {
            lines.push(line);
        }
        lines
    }

    fn message(text: &str) -> Line {
        Line::Message(text.as_bytes().to_vec())
    }

    #[tokio::test]
    async fn blank_lines_are_skipped_and_the_last_needs_no_newline() {
        assert_eq!(
            lines(b"\n  \r\na\r\n\nb", 9).await,
            [message("a\r"), message("b")]
        );
    }

    #[tokio::test]
    async fn a_line_over_the_limit_is_skipped_and_the_next_is_read() {
        let mut input = vec![b'x'; 100_000];
        input.extend_from_slice(b"\n12345\n123456\nok\n");
        assert_eq!(
            lines(&input, 5).await,
            [
                Line::TooLong,
                message("12345"),
                Line::TooLong,
                message("ok")
            ]
        );
    }

    #[tokio::test]
    async fn what_is_written_is_one_line() {
        let (sender, receiver) = mpsc::channel(1);
        sender.send("{\n\"a\":1}".to_owned()).await.unwrap();
        drop(sender);
        let (_, none) = mpsc::channel(1);
        let mut output = Vec::new();
        write(&mut output, [receiver, none]).await.unwrap();
        assert_eq!(output, b"{ \"a\":1}\n");
    }
}
