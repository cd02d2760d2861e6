//! What the disk can do without a database: for orientation.

use std::fs::{File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::Path;
use std::time::{Duration, Instant};

const TIME: Duration = Duration::from_millis(400);

/// `fdatasync`s per second.
pub(crate) struct Bare {
    /// After one commit's bytes were appended.
    pub(crate) one: f64,
    /// After those of 64 commits were appended.
    pub(crate) many: f64,
    /// After a page in the middle of the file was written over.
    pub(crate) page: f64,
}

/// How many commits are written at once.
pub(crate) const MANY: usize = 64;

const PAGE: usize = 4096;

pub(crate) fn measure(directory: &Path, commit: usize) -> io::Result<Bare> {
    let mut file = OpenOptions::new()
        .create_new(true)
        .write(true)
        .open(directory.join("bare"))?;
    Ok(Bare {
        one: per_second(&mut file, &vec![b'x'; commit], SeekFrom::End(0))?,
        many: per_second(&mut file, &vec![b'x'; commit * MANY], SeekFrom::End(0))?,
        page: per_second(&mut file, &[b'x'; PAGE], SeekFrom::Start(0))?,
    })
}

fn per_second(file: &mut File, bytes: &[u8], place: SeekFrom) -> io::Result<f64> {
    let begun = Instant::now();
    let mut times = 0_u32;
    while begun.elapsed() < TIME {
        file.seek(place)?;
        file.write_all(bytes)?;
        file.sync_data()?;
        times += 1;
    }
    Ok(f64::from(times) / begun.elapsed().as_secs_f64())
}
