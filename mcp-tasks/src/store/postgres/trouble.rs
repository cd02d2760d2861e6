//! What went wrong with the database, in words.

use tokio_postgres::error::SqlState;

use crate::store::StoreError;

/// Why a statement did not succeed.
#[derive(Debug)]
pub(super) enum Trouble {
    /// It may not be done. Nothing was written for it.
    Refused(StoreError),
    /// It got in the way of another, and nothing was done: to be tried again.
    Again,
}

impl From<StoreError> for Trouble {
    fn from(error: StoreError) -> Self {
        Self::Refused(error)
    }
}

/// What an error of a statement that was sent means.
pub(super) fn trouble_with(error: &tokio_postgres::Error) -> Trouble {
    let words = in_words(error);
    match error.code() {
        Some(code)
            if *code == SqlState::T_R_DEADLOCK_DETECTED
                || *code == SqlState::T_R_SERIALIZATION_FAILURE =>
        {
            Trouble::Again
        }
        // The server was about to end, or has: what it had done may be there.
        Some(code) if is_of_ending(code) => StoreError::Unsure(words).into(),
        // It says that it has not done it.
        Some(_) => StoreError::Unavailable(words).into(),
        // The connection broke, at whichever moment.
        None => StoreError::Unsure(words).into(),
    }
}

fn is_of_ending(code: &SqlState) -> bool {
    [
        SqlState::ADMIN_SHUTDOWN,
        SqlState::CRASH_SHUTDOWN,
        SqlState::CANNOT_CONNECT_NOW,
        SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT,
    ]
    .contains(code)
        || code.code().starts_with("08")
}

/// What a database error means for whoever runs the server.
pub(super) fn in_words(error: &tokio_postgres::Error) -> String {
    let Some(problem) = error.as_db_error() else {
        let mut words = error.to_string();
        let mut source = std::error::Error::source(error);
        while let Some(cause) = source {
            words = format!("{words}: {cause}");
            source = cause.source();
        }
        if words.ends_with("password missing") {
            words += ": the address needs one, `postgres://USER:PASSWORD@HOST:PORT/DATABASE`, with \
                      special characters percent-encoded";
        }
        return words;
    };
    let code = problem.code();
    let advice = if *code == SqlState::INSUFFICIENT_PRIVILEGE {
        "; the role must own the schema, or be granted USAGE on it and all rights on its tables \
         and sequences; to make the schema it must be granted CREATE on the database"
    } else if *code == SqlState::TOO_MANY_CONNECTIONS {
        "; give the store a smaller pool (`PostgresStore::builder(..).pool_size(..)`), or the \
         server more connections"
    } else if *code == SqlState::DISK_FULL {
        "; make room on the database's disk"
    } else if *code == SqlState::READ_ONLY_SQL_TRANSACTION {
        "; this is a standby or a read-only connection: name the primary, for instance with \
         `target_session_attrs=read-write` in the URL"
    } else if *code == SqlState::INVALID_SQL_STATEMENT_NAME
        || *code == SqlState::DUPLICATE_PSTATEMENT
    {
        "; prepared statements do not get through: if there is a transaction-mode pooler in \
         between, say so with `PostgresStore::builder(..).pooler()`"
    } else {
        ""
    };
    format!("{}{advice} (SQLSTATE {})", problem.message(), code.code())
}
