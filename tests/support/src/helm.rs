//! The real Helm, run on a test cluster.

use crate::{Error, Helm};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Folders below a home that Helm and its libraries look for, by the variables that name them.
const FOLDERS: [(&str, &str); 5] = [
    ("HOME", ""),
    ("XDG_CACHE_HOME", "cache"),
    ("XDG_CONFIG_HOME", "config"),
    ("XDG_DATA_HOME", "data"),
    ("TMPDIR", "tmp"),
];
/// Variables that would change what Helm does.
const PREFIXES: [&str; 2] = ["HELM_", "KUBE"];

/// Tells the homes of one process apart.
static HOMES: AtomicUsize = AtomicUsize::new(0);

impl Helm {
    /// Runs the real `helm` on a cluster, in a namespace, and waits for its end.
    ///
    /// `kubeconfig` is the content of a file, as [`crate::Access::kubeconfig`] gives it. Every run has a home of its own, which
    /// goes with it: nothing that the user or another run has set up matters.
    ///
    /// # Errors
    ///
    /// When `helm` cannot be built or started. A run that fails is no error: see the status of what is returned.
    pub fn run(
        self,
        kubeconfig: &str,
        namespace: &str,
        arguments: &[&str],
    ) -> Result<Output, Error> {
        let program = self.program()?;
        let home = Home::new(kubeconfig)?;
        let inherited = std::env::vars_os().map(|(name, _)| name).filter(|name| {
            let name = name.to_string_lossy();
            PREFIXES.iter().any(|prefix| name.starts_with(prefix))
        });
        let mut command = Command::new(&program);
        for name in inherited {
            command.env_remove(name);
        }
        command
            .args(arguments)
            .envs(FOLDERS.map(|(name, folder)| (name, home.folder.join(folder))))
            .env("KUBECONFIG", home.kubeconfig())
            .env("HELM_NAMESPACE", namespace)
            .stdin(Stdio::null())
            .output()
            .map_err(Error::file("run", program))
    }

    /// The same from asynchronous code.
    ///
    /// # Errors
    ///
    /// When `helm` cannot be built or started.
    pub async fn run_aside(
        self,
        kubeconfig: &str,
        namespace: &str,
        arguments: &[&str],
    ) -> Result<Output, Error> {
        let (kubeconfig, namespace) = (kubeconfig.to_owned(), namespace.to_owned());
        let arguments: Vec<String> = arguments.iter().map(ToString::to_string).collect();
        tokio::task::spawn_blocking(move || {
            let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
            self.run(&kubeconfig, &namespace, &arguments)
        })
        .await?
    }
}

/// A folder that is there for one run.
struct Home {
    folder: PathBuf,
}

impl Home {
    fn new(kubeconfig: &str) -> Result<Self, Error> {
        let number = HOMES.fetch_add(1, Ordering::Relaxed);
        let name = format!("whipstaff-helm-{}-{number}", std::process::id());
        let home = Self {
            folder: std::env::temp_dir().join(name),
        };
        for (_, folder) in FOLDERS {
            let folder = home.folder.join(folder);
            fs::create_dir_all(&folder).map_err(Error::file("create", folder))?;
        }
        write_private(&home.kubeconfig(), kubeconfig)?;
        Ok(home)
    }

    fn kubeconfig(&self) -> PathBuf {
        self.folder.join("kubeconfig")
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        // What is left in a folder for temporary files harms nobody.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Helm warns of a kubeconfig that others can read.
fn write_private(path: &Path, content: &str) -> Result<(), Error> {
    use std::io::Write as _;
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path).map_err(Error::file("create", path))?;
    file.write_all(content.as_bytes())
        .map_err(Error::file("write", path))
}
