//! Fields on a terminal that knows nothing but lines.

use std::io::{self, BufRead, Write};

use mcp_tasks::protocol::{Field, FieldKind};
use serde_json::Value;

use super::{Desk, Reply, Stopped, field};
use crate::screen::harmless;

/// As wide as such a terminal is taken to be.
const WIDTH: usize = 80;

/// A person who reads and types lines.
#[derive(Debug)]
pub(crate) struct Lines<R, W> {
    input: R,
    output: W,
}

impl Lines<io::BufReader<io::Stdin>, io::Stderr> {
    /// The person at this terminal.
    pub(crate) fn here() -> Self {
        Self::new(io::BufReader::new(io::stdin()), io::stderr())
    }
}

impl<R: BufRead, W: Write> Lines<R, W> {
    pub(crate) fn new(input: R, output: W) -> Self {
        Self { input, output }
    }

    fn say(&mut self, line: &str) -> Result<(), Stopped> {
        writeln!(self.output, "{}", harmless(line)).map_err(Stopped::Broken)
    }

    /// Reads a line; at the end of the input the person has left.
    fn read(&mut self) -> Result<String, Stopped> {
        write!(self.output, "> ")
            .and_then(|()| self.output.flush())
            .map_err(Stopped::Broken)?;
        let mut line = String::new();
        if self.input.read_line(&mut line).map_err(Stopped::Broken)? == 0 {
            return Err(Stopped::Interrupt);
        }
        let typed = line.strip_suffix('\n').unwrap_or(&line);
        let typed = typed.strip_suffix('\r').unwrap_or(typed);
        match typed.trim() {
            "/decline" => Err(Stopped::Reply(Reply::Decline)),
            "/dismiss" => Err(Stopped::Reply(Reply::Dismiss)),
            "/leave" => Err(Stopped::Interrupt),
            _ => Ok(typed.to_owned()),
        }
    }

    /// A choice that may also be typed as its number.
    fn by_number(kind: &FieldKind, typed: &str) -> String {
        let choices = field::choices(kind);
        let name = |part: &str| {
            let number = part.trim().parse::<usize>().ok();
            let choice = number.and_then(|number| choices.get(number.checked_sub(1)?));
            choice.map_or_else(|| part.trim().to_owned(), |choice| choice.value.clone())
        };
        match kind {
            FieldKind::MultiSelect { .. } => {
                typed.split(',').map(name).collect::<Vec<_>>().join(",")
            }
            _ => name(typed),
        }
    }
}

impl<R: BufRead, W: Write> Desk for Lines<R, W> {
    fn ways_out(&self) -> &'static str {
        "/decline says no to the question, /dismiss closes it, /leave detaches."
    }

    fn field(
        &mut self,
        name: &str,
        field: &Field,
        required: bool,
        now: Option<&Value>,
    ) -> Result<Option<Value>, Stopped> {
        let start = now.cloned().or_else(|| field.kind.default_value());
        let mut heading = field::heading(name, field, WIDTH);
        if let Some(start) = &start {
            heading = format!("{heading} [{}]", field::shown(&field.kind, start));
        }
        self.say(&heading)?;
        let help = field::help(field, required, WIDTH);
        if !help.is_empty() {
            self.say(&format!("  {help}"))?;
        }
        let is_choice = !field::choices(&field.kind).is_empty();
        for (index, label) in field::labels(&field.kind).iter().enumerate() {
            self.say(&format!("  {}  {label}", index + 1))?;
        }
        match &field.kind {
            FieldKind::Boolean { .. } => self.say("  yes or no")?,
            FieldKind::MultiSelect { .. } => self.say("  numbers, with commas between them")?,
            FieldKind::Select { .. } => self.say("  a number")?,
            _ => {}
        }
        loop {
            let mut typed = self.read()?;
            if typed.is_empty()
                && let Some(start) = &start
            {
                return Ok(Some(start.clone()));
            }
            if is_choice {
                typed = Self::by_number(&field.kind, &typed);
            }
            match field::parse(&field.kind, required, &typed) {
                Ok(value) => return Ok(value),
                Err(rule) => self.say(&format!("It {rule}. Please try again."))?,
            }
        }
    }

    fn choose(&mut self, message: &str, options: &[String]) -> Result<usize, Stopped> {
        self.say(message)?;
        for (index, option) in options.iter().enumerate() {
            self.say(&format!("  {}  {option}", index + 1))?;
        }
        loop {
            let typed = self.read()?;
            let number = match typed.trim() {
                "" => Some(1),
                typed => typed.parse::<usize>().ok(),
            };
            match number.and_then(|number| number.checked_sub(1)) {
                Some(index) if index < options.len() => return Ok(index),
                _ => self.say(&format!("A number from 1 to {}, please.", options.len()))?,
            }
        }
    }
}
