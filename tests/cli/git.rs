//! Git repositories, and a server that hands out their commits.

use flate2::{Compression, write::ZlibEncoder};
use gix::{
    ObjectId, Repository,
    objs::tree::EntryKind,
    objs::{Kind, TreeRefIter},
};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::{Arc, Mutex};

/// A bare repository in a folder.
pub(crate) struct Git(pub(crate) Repository);

impl Git {
    pub(crate) fn new(folder: &Path) -> Self {
        std::fs::create_dir_all(folder).unwrap();
        Self(gix::init_bare(folder).unwrap())
    }

    /// Commits files to a branch: by path, text, and whether they are links or (with a hash as their text) submodules.
    pub(crate) fn commit(&self, branch: &str, files: &[(&str, &str, EntryKind)]) -> ObjectId {
        let mut tree = self.0.edit_tree(self.0.empty_tree().id).unwrap();
        for (path, text, kind) in files {
            let id = match kind {
                EntryKind::Commit => ObjectId::from_hex(text.as_bytes()).unwrap(),
                _ => self.0.write_blob(text).unwrap().detach(),
            };
            tree.upsert(*path, *kind, id).unwrap();
        }
        let tree = tree.write().unwrap();
        let who = gix::actor::SignatureRef::from_bytes(b"a <a@example.org> 1700000000 +0000");
        let who = who.unwrap();
        let name = format!("refs/heads/{branch}");
        let parents = self.0.try_find_reference(&name).unwrap();
        let parents = parents.map(|mut found| found.peel_to_id().unwrap().detach());
        let commit = self
            .0
            .commit_as(who, who, name.as_str(), "a change", tree, parents);
        commit.unwrap().detach()
    }

    pub(crate) fn tag(&self, name: &str, commit: ObjectId) {
        let expected = gix::refs::transaction::PreviousValue::Any;
        let who = gix::actor::SignatureRef::from_bytes(b"a <a@example.org> 1700000000 +0000");
        let who = who.unwrap();
        let tag = self
            .0
            .tag(name, commit, Kind::Commit, Some(who), "a tag", expected);
        tag.unwrap();
    }

    /// The references as `ls-refs` of protocol version 2 has them.
    fn references(&self) -> String {
        let head = self.0.head_name().unwrap().unwrap().as_bstr().to_string();
        let mut found = BTreeMap::new();
        for reference in self.0.references().unwrap().all().unwrap() {
            let mut reference = reference.unwrap();
            let name = reference.name().as_bstr().to_string();
            let id = reference.target().id().to_owned();
            let peeled = reference.peel_to_id().unwrap().detach();
            found.insert(name, (id, peeled));
        }
        let mut text = String::new();
        if let Some((id, _)) = found.get(&head) {
            text += &packet(&format!("{id} HEAD symref-target:{head}\n"));
        }
        for (name, (id, peeled)) in &found {
            let peeled = if id == peeled {
                String::new()
            } else {
                format!(" peeled:{peeled}")
            };
            text += &packet(&format!("{id} {name}{peeled}\n"));
        }
        text + "0000"
    }

    /// An object and all that it needs, without the commits before it.
    fn needed(&self, id: ObjectId, objects: &mut BTreeMap<ObjectId, (Kind, Vec<u8>)>) {
        let object = self.0.find_object(id).unwrap();
        if objects
            .insert(id, (object.kind, object.data.clone()))
            .is_some()
        {
            return;
        }
        match object.kind {
            Kind::Tag => self.needed(object.to_tag_ref().target(), objects),
            Kind::Commit => self.needed(object.to_commit_ref().tree(), objects),
            Kind::Tree => {
                for entry in TreeRefIter::from_bytes(&object.data, gix::hash::Kind::Sha1) {
                    let entry = entry.unwrap();
                    if !entry.mode.is_commit() {
                        self.needed(entry.oid.to_owned(), objects);
                    }
                }
            }
            Kind::Blob => {}
        }
    }

    fn pack(&self, wanted: &[ObjectId]) -> Vec<u8> {
        let mut objects = BTreeMap::new();
        for id in wanted {
            self.needed(*id, &mut objects);
        }
        let count = u32::try_from(objects.len()).unwrap();
        let mut pack = [
            b"PACK".as_slice(),
            &2_u32.to_be_bytes(),
            &count.to_be_bytes(),
        ]
        .concat();
        for (kind, data) in objects.values() {
            let kind = match kind {
                Kind::Commit => 1,
                Kind::Tree => 2,
                Kind::Blob => 3,
                Kind::Tag => 4,
            };
            let mut left = data.len() >> 4;
            let mut byte = (kind << 4) | (data.len() & 15) as u8;
            while left > 0 {
                pack.push(byte | 128);
                byte = (left & 127) as u8;
                left >>= 7;
            }
            pack.push(byte);
            let mut encoder = ZlibEncoder::new(&mut pack, Compression::fast());
            encoder.write_all(data).unwrap();
            encoder.finish().unwrap();
        }
        let mut hasher = gix::hash::hasher(gix::hash::Kind::Sha1);
        hasher.update(&pack);
        pack.extend_from_slice(hasher.try_finalize().unwrap().as_bytes());
        pack
    }

    /// What is answered to a request of protocol version 2.
    fn answer(&self, request: &str) -> Vec<u8> {
        if request.contains("command=ls-refs") {
            return self.references().into_bytes();
        }
        let wanted = request.match_indices("want ").map(|(at, word)| {
            let start = at + word.len();
            ObjectId::from_hex(&request.as_bytes()[start..start + 40]).unwrap()
        });
        let wanted: Vec<_> = wanted.collect();
        if let Some(id) = wanted.iter().find(|id| !self.0.has_object(id)) {
            return packet(&format!("ERR upload-pack: not our ref {id}")).into_bytes();
        }
        let mut text = packet("shallow-info\n");
        for id in &wanted {
            let commit = self.0.find_object(*id).unwrap().peel_to_commit().unwrap();
            text += &packet(&format!("shallow {}\n", commit.id));
        }
        text += "0001";
        text += &packet("packfile\n");
        let mut answer = text.into_bytes();
        for chunk in self.pack(&wanted).chunks(60_000) {
            let _ = write!(answer, "{:04x}\x01", chunk.len() + 5);
            answer.extend_from_slice(chunk);
        }
        answer.extend_from_slice(b"0000");
        answer
    }
}

/// A line as git has them, behind its length.
fn packet(text: &str) -> String {
    let mut packet = String::new();
    let _ = write!(packet, "{:04x}{text}", text.len() + 4);
    packet
}

/// Serves repositories over HTTP: those in folders below one, by their path.
pub(crate) struct GitServer {
    port: u16,
    pub(crate) requests: Arc<Mutex<Vec<String>>>,
}

impl GitServer {
    pub(crate) fn start(root: &Path) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (root, log) = (root.to_owned(), Arc::clone(&requests));
        std::thread::spawn(move || {
            for connection in listener.incoming().map_while(Result::ok) {
                let (root, log) = (root.clone(), Arc::clone(&log));
                std::thread::spawn(move || serve(&connection, &root, &log));
            }
        });
        Self { port, requests }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}/{path}", self.port)
    }
}

fn serve(mut connection: &TcpStream, root: &Path, log: &Mutex<Vec<String>>) {
    let mut reader = BufReader::new(connection);
    let mut first = String::new();
    reader.read_line(&mut first).unwrap();
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        if line.trim().is_empty() {
            break;
        }
        if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    let target = first.split(' ').nth(1).unwrap_or_default().to_owned();
    log.lock().unwrap().push(target.clone());
    let end = target.find(".git/").map(|at| at + 4);
    let folder = end.map(|end| root.join(target[1..end].trim_start_matches('/')));
    let (status, kind, content) = match folder.filter(|folder| folder.exists()) {
        Some(_) if target.ends_with("/info/refs?service=git-upload-pack") => {
            let lines = [
                "version 2\n",
                "ls-refs\n",
                "fetch=shallow\n",
                "object-format=sha1\n",
            ];
            let lines: String = lines.map(packet).concat();
            let text = format!("{}0000{lines}0000", packet("# service=git-upload-pack\n"));
            (
                200,
                "application/x-git-upload-pack-advertisement",
                text.into_bytes(),
            )
        }
        Some(folder) if target.ends_with("/git-upload-pack") => {
            let git = Git(gix::open_opts(folder, gix::open::Options::isolated()).unwrap());
            let answer = git.answer(&String::from_utf8_lossy(&body));
            (200, "application/x-git-upload-pack-result", answer)
        }
        _ => (404, "text/plain", Vec::new()),
    };
    let head = format!(
        "HTTP/1.1 {status} Test\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        content.len()
    );
    let _ = connection.write_all(&[head.into_bytes(), content].concat());
}
