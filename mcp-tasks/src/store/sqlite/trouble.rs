//! What went wrong with the file, in words.

use rusqlite::ErrorCode;

use crate::store::StoreError;

/// Why an operation inside a transaction did not succeed.
#[derive(Debug)]
pub(super) enum Fault {
    /// It may not be done. Nothing was written for it.
    Refused(StoreError),
    /// The database could not do it.
    Database(rusqlite::Error),
}

impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Self {
        Self::Refused(error)
    }
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        Self::Database(error)
    }
}

impl From<Fault> for StoreError {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Refused(error) => error,
            Fault::Database(error) => Self::Unavailable(in_words(&error)),
        }
    }
}

/// Why a whole transaction failed.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) words: String,
    /// Whether it may be there after the next start all the same.
    pub(super) unsure: bool,
}

impl Failure {
    /// For a transaction that was never to be committed.
    pub(super) fn before_commit(words: String) -> Self {
        let unsure = false;
        Self { words, unsure }
    }

    /// For a commit that failed: when the disk gives up on it, it is not known
    /// what has reached it.
    pub(super) fn of_commit(error: &rusqlite::Error) -> Self {
        Self {
            words: in_words(error),
            unsure: error.sqlite_error_code() == Some(ErrorCode::SystemIoFailure),
        }
    }

    pub(super) fn to_error(&self) -> StoreError {
        let words = self.words.clone();
        if self.unsure {
            StoreError::Unsure(words)
        } else {
            StoreError::Unavailable(words)
        }
    }
}

/// What a database error means for whoever runs the server.
pub(super) fn in_words(error: &rusqlite::Error) -> String {
    let Some(code) = error.sqlite_error_code() else {
        return error.to_string();
    };
    let words = match code {
        ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => {
            "another program has kept the file locked for more than five seconds; \
             find out which (`fuser FILE`) and let it finish"
        }
        ErrorCode::DatabaseCorrupt => {
            "the file is damaged; stop the server and put back a copy, \
             or save what can be read with `sqlite3 FILE .recover`"
        }
        ErrorCode::NotADatabase => "the file is not a SQLite database, or is encrypted",
        ErrorCode::DiskFull => "the disk is full; make room",
        ErrorCode::ReadOnly => "the file or its directory is read-only; a store writes to both",
        ErrorCode::PermissionDenied | ErrorCode::AuthorizationForStatementDenied => {
            "this user may not use the file; change its owner or its mode"
        }
        ErrorCode::CannotOpen => {
            "the file cannot be opened; this user must be able to write to it \
             and to its directory"
        }
        ErrorCode::SystemIoFailure => "the operating system failed to read or write the file",
        _ => return error.to_string(),
    };
    format!("{words} ({error})")
}
