//! Tables in Markdown, which can be read as they stand too.

use std::fmt;

use crate::meter::Cost;

/// Words in the first column, figures in the others.
pub(crate) struct Table {
    lines: Vec<Vec<String>>,
}

impl Table {
    pub(crate) fn new<'a>(heads: impl IntoIterator<Item = &'a str>) -> Self {
        let heads = heads.into_iter().map(str::to_owned);
        Self {
            lines: vec![heads.collect()],
        }
    }

    pub(crate) fn line(
        &mut self,
        words: impl Into<String>,
        figures: impl IntoIterator<Item = f64>,
    ) {
        let figures = figures.into_iter().map(figure);
        self.lines
            .push([words.into()].into_iter().chain(figures).collect());
    }

    pub(crate) fn cost(&mut self, words: impl Into<String>, cost: Cost) {
        self.line(words, [cost.statements, cost.wal, cost.pages]);
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns = self.lines[0].len();
        let width = |column: usize| {
            let widths = self.lines.iter().map(|line| wide(&line[column]));
            widths.max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        for (nth, line) in self.lines.iter().enumerate() {
            for ((column, cell), width) in line.iter().enumerate().zip(&widths) {
                let filling = " ".repeat(width - wide(cell));
                if column == 0 {
                    write!(f, "| {cell}{filling} |")?;
                } else {
                    write!(f, " {filling}{cell} |")?;
                }
            }
            writeln!(f)?;
            if nth == 0 {
                for (column, width) in widths.iter().enumerate() {
                    let dashes = "-".repeat(width + 1);
                    let right = if column == 0 { "-|" } else { ":|" };
                    write!(f, "{}{dashes}{right}", if column == 0 { "|" } else { "" })?;
                }
                writeln!(f)?;
            }
        }
        Ok(())
    }
}

fn wide(cell: &str) -> usize {
    cell.chars().count()
}

/// About three digits; a dash for no number.
pub(crate) fn figure(number: f64) -> String {
    match number.abs() {
        _ if number.is_nan() => "–".to_owned(),
        100.0.. => grouped(number),
        10.0.. => format!("{number:.1}"),
        _ => format!("{number:.2}"),
    }
}

/// With a comma before each thousand.
pub(crate) fn grouped(number: f64) -> String {
    let digits = format!("{number:.0}");
    let mut grouped = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}
