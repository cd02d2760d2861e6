//! The network between a server and its database, which a test can take away.

use std::sync::Arc;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::Cluster;

/// Passes on what comes, to a cluster and back; it ends when it is dropped.
pub struct Relay {
    port: u16,
    passes: Arc<watch::Sender<Passes>>,
    accepting: JoinHandle<()>,
}

/// What a relay does with what comes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Passes {
    Everything,
    /// It keeps what comes, and nobody hears of it.
    Later,
    /// It breaks connections, and takes none.
    Nothing,
}

impl Relay {
    /// A relay that passes on everything, at a loopback port.
    pub async fn to(cluster: &Cluster) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let port = listener.local_addr().expect("it is bound").port();
        let passes = Arc::new(watch::Sender::new(Passes::Everything));
        let accepting = tokio::spawn(accept(listener, cluster.port(), Arc::clone(&passes)));
        Self {
            port,
            passes,
            accepting,
        }
    }

    /// The port that it listens on.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Falls silent: connections stay, and what is sent on them arrives only when
    /// it [mends](Self::mend), even if the sender is gone by then.
    pub fn hold(&self) {
        self.passes.send_replace(Passes::Later);
    }

    /// Breaks all connections, with what was on the way, and every new one.
    pub fn cut(&self) {
        self.passes.send_replace(Passes::Nothing);
    }

    /// Passes on everything again.
    pub fn mend(&self) {
        self.passes.send_replace(Passes::Everything);
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.accepting.abort();
        self.cut();
    }
}

async fn accept(listener: TcpListener, port: u16, passes: Arc<watch::Sender<Passes>>) {
    while let Ok((near, _)) = listener.accept().await {
        let mut passes = passes.subscribe();
        tokio::spawn(async move {
            let decided = passes.wait_for(|passes| *passes != Passes::Later).await;
            let decided = decided.map(|passes| *passes);
            if !matches!(decided, Ok(Passes::Everything)) {
                return;
            }
            let Ok(far) = TcpStream::connect(("127.0.0.1", port)).await else {
                return;
            };
            // A question and its answer are small, and wait for each other.
            let _ = (near.set_nodelay(true), far.set_nodelay(true));
            let (from_near, to_near) = near.into_split();
            let (from_far, to_far) = far.into_split();
            tokio::join!(
                pass(from_near, to_far, passes.clone()),
                pass(from_far, to_near, passes),
            );
        });
    }
}

/// Passes on one direction until it ends or is broken.
async fn pass(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    mut passes: watch::Receiver<Passes>,
) {
    let mut bytes = vec![0; 64 * 1024];
    let mut until_broken = passes.clone();
    let broken = until_broken.wait_for(|passes| *passes == Passes::Nothing);
    let passing = async {
        while let Ok(length @ 1..) = from.read(&mut bytes).await {
            mended(&mut passes).await;
            if to.write_all(&bytes[..length]).await.is_err() {
                return;
            }
        }
        // That the connection has ended is news as well.
        mended(&mut passes).await;
    };
    tokio::select! {
        () = passing => {}
        broken = broken => drop(broken),
    }
}

async fn mended(passes: &mut watch::Receiver<Passes>) {
    let waited = passes.wait_for(|passes| *passes == Passes::Everything);
    // Without a relay there is nothing to wait for.
    drop(waited.await);
}
