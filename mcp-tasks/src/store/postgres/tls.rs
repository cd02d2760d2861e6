//! How connections are kept from the eyes of others.

/// What makes connections.
pub(super) type Tls = tokio_postgres::NoTls;

pub(super) fn tls() -> Tls {
    tokio_postgres::NoTls
}
