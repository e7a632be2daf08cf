//! Submodules: where `.gitmodules` says that they come from.

use gix::config::{File, file::Metadata};
use url::Url;

/// The address of the submodule in a folder, as `.gitmodules` has it.
pub(super) fn address(modules: &[u8], folder: &str) -> Option<String> {
    let file = File::from_bytes_no_includes(
        modules,
        Metadata::api(),
        gix::config::file::init::Options::default(),
    );
    let file = file.ok()?;
    let mut sections = file.sections_by_name("submodule")?;
    sections.find_map(|section| {
        let path = section.value("path")?;
        let is_it = path.as_slice() == folder.as_bytes();
        let url = section.value("url").filter(|_| is_it)?;
        String::from_utf8(url.to_vec()).ok()
    })
}

/// The whole address of a submodule of a repository: those that begin with a dot are meant from the repository's own.
pub(super) fn absolute(address: &str, of: &str) -> Option<String> {
    if !address.starts_with("./") && !address.starts_with("../") {
        return Some(address.to_owned());
    }
    let mut base = Url::parse(of).ok()?;
    // A folder, so that `..` is its parent.
    let path = format!("{}/", base.path().trim_end_matches('/'));
    base.set_path(&path);
    base.join(address).ok().map(String::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn submodules_are_found_by_their_folder() {
        let modules = b"[submodule \"x\"]\n\tpath = libs/x\n\turl = https://host/x.git\n[submodule \"y\"]\n\turl = ../y.git\n\tpath = y\n";
        assert_eq!(
            address(modules, "libs/x").as_deref(),
            Some("https://host/x.git")
        );
        assert_eq!(address(modules, "y").as_deref(), Some("../y.git"));
        assert_eq!(address(modules, "z"), None);
        assert_eq!(address(b"[", "z"), None);
    }

    #[test]
    fn relative_addresses_are_meant_from_the_repository() {
        let of = "https://user:word@host/org/repo.git";
        for (address, expected) in [
            ("../other.git", "https://user:word@host/org/other.git"),
            ("../../a/b", "https://user:word@host/a/b"),
            ("./c", "https://user:word@host/org/repo.git/c"),
            ("https://else/x", "https://else/x"),
            ("git@host:x", "git@host:x"),
        ] {
            assert_eq!(absolute(address, of).as_deref(), Some(expected));
        }
    }
}
