//! How connections are kept from the eyes of others.
//!
//! With `sslmode=require` in the URL a connection is encrypted, and the server's
//! certificate must be one that this host trusts, for the name in the URL. Otherwise
//! it is not encrypted: a connection that may or may not be would be neither.

use tokio_postgres::Config;
use tokio_postgres::config::SslMode;

/// What makes connections.
#[cfg(feature = "postgres-tls")]
pub(super) type Tls = tokio_postgres_rustls::MakeRustlsConnect;

/// What makes connections.
#[cfg(not(feature = "postgres-tls"))]
pub(super) type Tls = tokio_postgres::NoTls;

/// What makes connections as `config` wants them.
///
/// # Errors
///
/// Words for whoever runs the server.
pub(super) fn tls(config: &mut Config) -> Result<Tls, String> {
    if config.get_ssl_mode() == SslMode::Prefer {
        config.ssl_mode(SslMode::Disable);
    }
    make(config)
}

#[cfg(feature = "postgres-tls")]
fn make(_: &Config) -> Result<Tls, String> {
    use std::sync::Arc;

    use rustls::ClientConfig;
    use rustls::crypto::aws_lc_rs::default_provider;
    use rustls_platform_verifier::BuilderVerifierExt;

    let trusted = ClientConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .and_then(BuilderVerifierExt::with_platform_verifier);
    let client = trusted.map_err(|error| format!("TLS cannot be used here: {error}"))?;
    let client = client.with_no_client_auth();
    Ok(tokio_postgres_rustls::MakeRustlsConnect::new(client))
}

#[cfg(not(feature = "postgres-tls"))]
fn make(config: &Config) -> Result<Tls, String> {
    match config.get_ssl_mode() {
        SslMode::Disable => Ok(tokio_postgres::NoTls),
        _ => Err(
            "the URL asks for TLS (`sslmode`), and this program was built without it: give \
             `mcp-tasks` the feature `postgres-tls`"
                .to_owned(),
        ),
    }
}
