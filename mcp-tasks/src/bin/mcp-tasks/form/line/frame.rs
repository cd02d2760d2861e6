//! What a terminal shows while a line is typed: lines that fit, and the cursor among
//! them. It is drawn again in its place whenever something changes.

use std::io::{self, Write};

use console::measure_text_width;
use crossterm::style::{Color, ResetColor, SetForegroundColor};
use crossterm::terminal::{Clear, ClearType};
use crossterm::{cursor, queue};
use unicode_segmentation::UnicodeSegmentation as _;

/// A piece of text in a colour; in none, where there are none.
pub(super) struct Piece<'a>(pub(super) Option<Color>, pub(super) &'a str);

/// Lines, laid out for a terminal of some width.
#[derive(Debug, Default)]
pub(super) struct Frame {
    rows: Vec<Row>,
    /// The row and the column of the cursor.
    cursor: (usize, usize),
}

#[derive(Debug, Default)]
struct Row {
    text: String,
    width: usize,
}

/// What has been drawn, to be drawn over.
#[derive(Debug, Default)]
pub(super) struct Drawn {
    widths: Vec<usize>,
    cursor: (usize, usize),
}

impl Frame {
    /// Adds pieces, broken where a row is full. The cursor comes to stand before the
    /// piece with the number `cursor_at`.
    pub(super) fn push(&mut self, pieces: &[Piece<'_>], cursor_at: Option<usize>, width: usize) {
        self.rows.push(Row::default());
        for (index, Piece(colour, text)) in pieces.iter().enumerate() {
            if cursor_at == Some(index) {
                let last = self.last();
                self.cursor = if last.width < width {
                    (self.rows.len() - 1, self.last().width)
                } else {
                    self.rows.push(Row::default());
                    (self.rows.len() - 1, 0)
                };
            }
            self.paint(*colour);
            for cluster in text.graphemes(true) {
                let wide = measure_text_width(cluster);
                if self.last().width + wide > width && self.last().width > 0 {
                    self.paint(colour.map(|_| Color::Reset));
                    self.rows.push(Row::default());
                    self.paint(*colour);
                }
                let last = self.last();
                last.text.push_str(cluster);
                last.width += wide;
            }
            self.paint(colour.map(|_| Color::Reset));
        }
    }

    fn last(&mut self) -> &mut Row {
        let last = self.rows.len() - 1;
        &mut self.rows[last]
    }

    fn paint(&mut self, colour: Option<Color>) {
        use crossterm::Command as _;
        let text = &mut self.last().text;
        // Writing to a text does not fail.
        let _written = match colour {
            None => Ok(()),
            Some(Color::Reset) => ResetColor.write_ansi(text),
            Some(colour) => SetForegroundColor(colour).write_ansi(text),
        };
    }

    /// At most so many rows, those around the cursor.
    fn cut_to(&mut self, height: usize) {
        let more = self.rows.len().saturating_sub(height);
        // One row stays visible below the cursor, if there is one and room for it.
        let above = (self.cursor.0 + 2).saturating_sub(height);
        let above = above.min(more).min(self.cursor.0);
        self.rows.drain(..above);
        self.rows.truncate(height);
        self.cursor.0 -= above;
    }

    /// Draws it over what was drawn before.
    pub(super) fn draw(
        mut self,
        out: &mut impl Write,
        before: &Drawn,
        (columns, height): (usize, usize),
    ) -> io::Result<Drawn> {
        self.cut_to(height);
        before.clear(out, columns)?;
        for (index, row) in self.rows.iter().enumerate() {
            let end = if index + 1 < self.rows.len() {
                "\r\n"
            } else {
                ""
            };
            write!(out, "{}{end}", row.text)?;
        }
        let up = (self.rows.len() - 1).saturating_sub(self.cursor.0);
        if up > 0 {
            queue!(out, cursor::MoveUp(count(up)))?;
        }
        queue!(out, cursor::MoveToColumn(count(self.cursor.1)))?;
        out.flush()?;
        Ok(Drawn {
            widths: self.rows.iter().map(|row| row.width).collect(),
            cursor: self.cursor,
        })
    }
}

impl Drawn {
    /// Leaves it as it is; the cursor stands below.
    pub(super) fn leave(&self, out: &mut impl Write) -> io::Result<()> {
        let down = self.widths.len().saturating_sub(self.cursor.0 + 1);
        if down > 0 {
            queue!(out, cursor::MoveDown(count(down)))?;
        }
        out.write_all(b"\r\n")?;
        out.flush()
    }

    /// Takes away what was drawn; the cursor stands where it began.
    pub(super) fn clear(&self, out: &mut impl Write, columns: usize) -> io::Result<()> {
        // In a terminal that is narrower than before, rows have become several.
        let folded = |width: &usize| width.saturating_sub(1) / columns.max(1) + 1;
        let above = &self.widths[..self.cursor.0.min(self.widths.len())];
        let up = above.iter().map(folded).sum::<usize>() + self.cursor.1 / columns.max(1);
        if up > 0 {
            queue!(out, cursor::MoveUp(count(up)))?;
        }
        queue!(
            out,
            cursor::MoveToColumn(0),
            Clear(ClearType::FromCursorDown)
        )
    }
}

fn count(cells: usize) -> u16 {
    u16::try_from(cells).unwrap_or(u16::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn laid_out(before: &str, after: &str, width: usize) -> (Vec<String>, (usize, usize)) {
        let mut frame = Frame::default();
        let pieces = [Piece(None, before), Piece(None, after)];
        frame.push(&pieces, Some(1), width);
        let rows = frame.rows.into_iter().map(|row| row.text).collect();
        (rows, frame.cursor)
    }

    #[test]
    fn rows_are_broken_where_they_are_full_and_the_cursor_is_among_them() {
        assert_eq!(laid_out("abc", "", 10), (vec!["abc".into()], (0, 3)));
        assert_eq!(
            laid_out("abcd", "ef", 4),
            (vec!["abcd".into(), "ef".into()], (1, 0))
        );
        assert_eq!(
            laid_out("a漢漢", "e\u{301}!", 4),
            (vec!["a漢".into(), "漢e\u{301}!".into()], (1, 2))
        );
    }

    #[test]
    fn of_more_than_fits_what_is_around_the_cursor_is_shown() {
        let mut out = Vec::new();
        let mut frame = Frame::default();
        let long = "x".repeat(90) + "end";
        frame.push(&[Piece(None, &long), Piece(None, "")], Some(1), 10);
        let drawn = frame.draw(&mut out, &Drawn::default(), (10, 4)).unwrap();
        assert_eq!(drawn.widths.len(), 4);
        assert!(String::from_utf8(out).unwrap().contains("end"));
    }

    #[test]
    fn where_there_is_one_row_it_is_that_of_the_cursor() {
        let mut out = Vec::new();
        let mut frame = Frame::default();
        frame.push(&[Piece(None, "typed"), Piece(None, "")], Some(1), 10);
        frame.push(&[Piece(None, "[help]")], None, 10);
        frame.draw(&mut out, &Drawn::default(), (10, 1)).unwrap();
        let shown = String::from_utf8(out).unwrap();
        assert!(
            shown.contains("typed") && !shown.contains("help"),
            "{shown:?}"
        );
    }
}
