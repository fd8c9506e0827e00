//! An object storage beside the database: begun, checked at the start, backed up, and left again.

use std::{fs, path::Path, process::Command};

use reqwest::header::{COOKIE, RANGE};
use serde_json::{Value, json};

use crate::{
    backups::{Running, glasshouse, say},
    harness::{EMAIL, PASSWORD, new_folder},
};

const FILE_BYTES: usize = 200_000;

fn content() -> Vec<u8> {
    (0..FILE_BYTES).map(|at| (at % 253) as u8).collect()
}

/// The program with an object storage in a folder.
fn with_storage(dir: &Path, storage: &Path, arguments: &[&str]) -> Command {
    let mut command = glasshouse("", dir, arguments);
    let url = format!("file://{}", storage.display());
    command.env("GLASSHOUSE_OBJECT_STORAGE_URL", url);
    command
}

const SERVE: [&str; 2] = ["--listen", "127.0.0.1:0"];

/// The number of objects.
fn objects(storage: &Path) -> usize {
    let folders = fs::read_dir(storage).unwrap().map(|it| it.unwrap().path());
    folders
        .filter(|path| path.is_dir())
        .map(|folder| fs::read_dir(folder).unwrap().count())
        .sum()
}

struct Chat {
    credential: String,
    path: String,
}

impl Chat {
    /// An account with a chat with a large file.
    async fn begin(server: &mut Running) -> Self {
        let account = json!({"email": EMAIL, "name": "Ada", "password": PASSWORD});
        let set_up = server.call("POST", "/api/v1/setup", &account).await;
        server.credential = set_up.cookie();
        let chat = json!({"title": "Files"});
        let chat = server.call("POST", "/api/v1/chats", &chat).await.json();
        let id = chat["id"].as_str().unwrap();
        let path = format!("/api/v1/chats/{id}/files/content?path=/large.bin");
        let put = server.client.put(format!("{}{path}", server.url));
        let put = put.header(COOKIE, &server.credential).body(content());
        let answer = put.send().await.unwrap();
        assert!(answer.status().is_success(), "{answer:?}");
        Self {
            credential: server.credential.clone(),
            path,
        }
    }

    /// Checks that the file can be read, in whole and in part.
    async fn check(&self, server: &Running) {
        let get = || {
            let get = server.client.get(format!("{}{}", server.url, self.path));
            get.header(COOKIE, &self.credential)
        };
        let whole = get().send().await.unwrap().bytes().await.unwrap();
        assert_eq!(whole, content());
        let part = get().header(RANGE, "bytes=70000-70009").send().await;
        let part = part.unwrap();
        assert_eq!(part.status(), 206);
        assert_eq!(part.bytes().await.unwrap(), content()[70_000..70_010]);
    }
}

#[tokio::test]
async fn contents_go_to_an_object_storage_and_back() {
    let [old, new, storage, other] = [(); 4].map(|()| new_folder());
    let mut server = Running::from(with_storage(&old, &storage, &SERVE));
    let chat = Chat::begin(&mut server).await;
    assert_eq!(objects(&storage), 1);
    chat.check(&server).await;
    server.stop();

    // A server that cannot read it does not start.
    let (good, words) = say(glasshouse("", &old, &SERVE));
    assert!(
        !good && words.contains("object_storage.url is not set"),
        "{words}"
    );
    let (good, words) = say(with_storage(&old, &other, &SERVE));
    assert!(
        !good && words.contains("is not the object storage"),
        "{words}"
    );
    let wrong = Path::new("/proc/nowhere");
    let (good, words) = say(with_storage(&old, wrong, &SERVE));
    assert!(!good && words.contains("object_storage.url"), "{words}");
    let (_, words) = say(with_storage(&old, &storage, &["doctor"]));
    assert!(words.contains("can be used"), "{words}");

    // A backup is restored without it.
    let copy = old.join("copy.gz");
    let path = copy.to_str().unwrap();
    let (good, words) = say(with_storage(&old, &storage, &["backup", path]));
    assert!(good && words.contains("has everything"), "{words}");
    let (good, words) = say(glasshouse("", &new, &["restore", path]));
    assert!(good, "{words}");
    let server = Running::start("", &new);
    chat.check(&server).await;
    server.stop();
    let copy = old.join("rows.gz");
    let rows = copy.to_str().unwrap();
    let arguments = ["backup", "--without-objects", rows];
    let (good, words) = say(with_storage(&old, &storage, &arguments));
    assert!(good && words.contains("are not in it"), "{words}");

    // Back to the database, and to the objects again.
    let (good, words) = say(glasshouse(
        "",
        &old,
        &["storage", "move", "--to", "database"],
    ));
    assert!(
        !good && words.contains("object_storage.url is not set"),
        "{words}"
    );
    let to_database = ["storage", "move", "--to", "database"];
    let (good, words) = say(with_storage(&old, &storage, &to_database));
    assert!(good && words.contains("Moved: 1 contents"), "{words}");
    assert_eq!(objects(&storage), 0);
    let server = Running::start("", &old);
    chat.check(&server).await;
    server.stop();
    let to_objects = ["storage", "move", "--to", "objects"];
    let (good, words) = say(with_storage(&old, &storage, &to_objects));
    assert!(good && words.contains("Moved: 1 contents"), "{words}");
    assert_eq!(objects(&storage), 1);

    // While the storage fails, nothing is stored or read in part, and the server tells so.
    let mut server = Running::from(with_storage(&old, &storage, &SERVE));
    server.credential.clone_from(&chat.credential);
    fs::rename(&storage, storage.with_extension("away")).unwrap();
    fs::write(&storage, "no folder").unwrap();
    let answer = server.call("GET", &chat.path, &Value::Null).await;
    assert_ne!(answer.status, 200, "{answer:?}");
    server.get("/api/v1/chats").await;
    fs::remove_file(&storage).unwrap();
    fs::rename(storage.with_extension("away"), &storage).unwrap();
    chat.check(&server).await;
    server.stop();
    for dir in [old, new, storage, other] {
        let _ = fs::remove_dir_all(dir);
    }
}
