//! The programs of the installed PostgreSQL, and who runs them: they refuse to be
//! run by root.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use super::VARIABLE;

/// Where Debian keeps each version's programs.
const DEBIAN: &str = "/usr/lib/postgresql";

/// The programs of one version, and a user that may run them.
#[derive(Debug)]
pub(super) struct Programs {
    folder: PathBuf,
    user: Option<User>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct User {
    pub(super) user: u32,
    pub(super) group: u32,
}

impl Programs {
    /// Looks for them on the path, then where Debian has them.
    pub(super) fn find() -> Self {
        let path = env::var_os("PATH").unwrap_or_default();
        let on_path = env::split_paths(&path).find_map(|folder| {
            // The others are where the program is that a link leads to.
            let initdb = fs::canonicalize(folder.join("initdb")).ok()?;
            initdb.parent().map(Path::to_owned)
        });
        let folder = on_path.or_else(newest_of_debian);
        let folder = folder.unwrap_or_else(|| {
            panic!(
                "these tests need PostgreSQL: install it (Debian: apt-get install postgresql), \
                 so that `initdb` is on the path or in {DEBIAN}/*/bin; or set {VARIABLE} to \
                 postgres://USER@HOST:PORT/DATABASE, of a role that may create databases"
            )
        });
        let is_root = rustix::process::geteuid().is_root();
        Self {
            folder,
            user: is_root.then(User::who_is_not_root),
        }
    }

    /// Who runs them, if it is not who runs the tests.
    pub(super) fn user(&self) -> Option<User> {
        self.user
    }

    /// One of them, by its path.
    pub(super) fn path(&self, program: &str) -> PathBuf {
        self.folder.join(program)
    }

    /// Any program, run by the same user.
    pub(super) fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        // The tests' folder may be closed to that user.
        command.current_dir("/").stdin(Stdio::null());
        if let Some(user) = self.user {
            command.uid(user.user).gid(user.group);
        }
        command
    }

    /// Runs one of them to its end.
    ///
    /// # Errors
    ///
    /// What it said, if it did not go well.
    pub(super) fn run(
        &self,
        program: &str,
        arguments: impl IntoIterator<Item = impl AsRef<OsStr>>,
    ) -> Result<(), String> {
        let path = self.path(program);
        let output = self.command(&path).args(arguments).output();
        let output = output.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        if output.status.success() {
            return Ok(());
        }
        let Output { stdout, stderr, .. } = output;
        let said = [stdout, stderr].concat();
        Err(format!("{program}: {}", String::from_utf8_lossy(&said)))
    }
}

impl User {
    /// The one that the package makes, else the one that owns nothing.
    fn who_is_not_root() -> Self {
        let id = |flag: &str, name: &str| {
            let output = Command::new("id").args([flag, name]).output().ok()?;
            let number = String::from_utf8(output.stdout).ok()?;
            number.trim().parse().ok()
        };
        let found = ["postgres", "nobody"].iter().find_map(|name| {
            Some(Self {
                user: id("-u", name)?,
                group: id("-g", name)?,
            })
        });
        found.expect("PostgreSQL does not run as root, and there is no user `postgres` or `nobody`")
    }
}

fn newest_of_debian() -> Option<PathBuf> {
    let versions = fs::read_dir(DEBIAN).ok()?.flatten();
    let versions = versions.filter_map(|entry| {
        let version: u32 = entry.file_name().to_str()?.parse().ok()?;
        let folder = entry.path().join("bin");
        folder.join("initdb").exists().then_some((version, folder))
    });
    versions.max().map(|(_, folder)| folder)
}
