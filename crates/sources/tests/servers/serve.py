"""Starts real servers with documents for the tests of sources, on 127.0.0.1 only.

serve.py FOLDER: keeps their data in the folder, writes their addresses to FOLDER/servers.json, prints "ready", and stops
with the process. Signatures for S3 are checked by the code with which Amazon's own client makes them.
"""

import base64
import datetime
import hashlib
import http.server
import ipaddress
import json
import logging
import os
import pwd
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.parse
from pathlib import Path

import boto3
import moto.settings
from cheroot import wsgi
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from moto.server import ThreadedMotoServer
from wsgidav.wsgidav_app import WsgiDAVApp

USER, PASSWORD = "Jürgen", "pass: wörd"
# Keys with characters that need care in a URL, in a signature or in XML.
ODD_KEYS = [
    "odd/a b+c&d=e?f#g.txt",
    "odd/100%.txt",
    "odd/%41.txt",
    "odd/Überblick (1)'*!~.md",
    "odd/<tag>;\"quoted\".txt",
    "odd//double.txt",
    "odd/ends with space ",
    "odd/𝄞/日本.txt",
]


def serve(application):
    """Serves a WSGI application at a free port. Returns its address."""
    server = wsgi.Server(("127.0.0.1", 0), application, numthreads=4)
    server.prepare()
    threading.Thread(target=server.serve, daemon=True).start()
    return f"http://127.0.0.1:{server.bind_addr[1]}"


def s3():
    server = ThreadedMotoServer("127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    address = f"http://{host}:{port}"

    def client(service):
        return boto3.client(
            service,
            endpoint_url=address,
            region_name="eu-central-1",
            aws_access_key_id="setup",
            aws_secret_access_key="setup",
        )

    iam, store = client("iam"), client("s3")
    iam.create_user(UserName="reader")
    may_read = {"Effect": "Allow", "Action": ["s3:Get*", "s3:List*"], "Resource": "*"}
    policy = json.dumps({"Version": "2012-10-17", "Statement": [may_read]})
    iam.put_user_policy(UserName="reader", PolicyName="read", PolicyDocument=policy)
    key = iam.create_access_key(UserName="reader")["AccessKey"]
    where = {"LocationConstraint": "eu-central-1"}
    store.create_bucket(Bucket="documents", CreateBucketConfiguration=where)
    for number in range(1_105):
        store.put_object(Bucket="documents", Key=f"many/{number:04}.txt", Body=b"same")
    for name in ODD_KEYS:
        store.put_object(Bucket="documents", Key=name, Body=name.encode())
    store.put_object(Bucket="documents", Key="odd/folder/", Body=b"")
    # For the tests of object storages.
    iam.create_user(UserName="writer")
    may_write = {"Effect": "Allow", "Action": ["s3:*"], "Resource": "*"}
    policy = json.dumps({"Version": "2012-10-17", "Statement": [may_write]})
    iam.put_user_policy(UserName="writer", PolicyName="write", PolicyDocument=policy)
    writer = iam.create_access_key(UserName="writer")["AccessKey"]
    store.create_bucket(Bucket="objects", CreateBucketConfiguration=where)
    # From now on, every request is authenticated.
    moto.settings.INITIAL_NO_AUTH_ACTION_COUNT = 0
    documents = {
        "endpoint": address,
        "bucket": "documents",
        "access_key_id": key["AccessKeyId"],
        "secret": key["SecretAccessKey"],
        "odd_keys": ODD_KEYS,
    }
    objects = {
        "endpoint": address,
        "access_key_id": writer["AccessKeyId"],
        "secret": writer["SecretAccessKey"],
    }
    return documents, objects


def web_dav(folder):
    for name in ["Sub folder/deep #1?.md", "Übersicht 100%.md", "a+b&c;d.txt", ".hidden/x.md"]:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"content of {name}")
    (folder / "empty").mkdir()
    application = WsgiDAVApp(
        {
            "provider_mapping": {"/dav files": str(folder)},
            "http_authenticator": {"accept_digest": False, "default_to_digest": False},
            "simple_dc": {"user_mapping": {"*": {USER: {"password": PASSWORD}}}},
            "logging": {"enable": False},
            "verbose": 0,
        }
    )
    return {
        "url": f"{serve(application)}/dav%20files",
        "user": USER,
        "secret": PASSWORD,
        "folder": str(folder),
    }


TOKEN = "secret-token"


# Files in Git LFS: what their pointers stand for, with the size that they name.
LFS = {
    "lfs.bin": (b"stored elsewhere", 16),
    "lfs-large.bin": (b"large", 50_000),
    "lfs-lost.bin": (b"lost", 4),
    "lfs-other.bin": (b"other", 5),
}


def lfs_batch(request):
    """The answer of the batch API: where the contents are."""
    asked = json.loads(request["wsgi.input"].read())
    assert asked["operation"] == "download" and asked["ref"] == {"name": "refs/heads/trunk"}, asked
    assert request["CONTENT_TYPE"] == request["HTTP_ACCEPT"] == "application/vnd.git-lfs+json"
    lost = hashlib.sha256(b"lost").hexdigest()
    objects = []
    for one in asked["objects"]:
        if one["oid"] == lost:
            error = {"code": 404, "message": "Object does not exist"}
            objects.append({"oid": one["oid"], "size": one["size"], "error": error})
            continue
        href = f"http://{request['HTTP_HOST']}/lfs/{one['oid']}"
        download = {"href": href, "header": {"X-Lfs": "1"}, "expires_in": 3600}
        actions = {"download": download}
        objects.append({"oid": one["oid"], "size": one["size"], "authenticated": True, "actions": actions})
    return json.dumps({"transfer": "basic", "objects": objects, "hash_algo": "sha256"}).encode()


def git(folder):
    """`git http-backend` for repositories. Those in `private` need a token. `moved` redirects everybody to `public`, and
    `trap` only Git itself.
    """
    work = folder / "work"
    environment = {
        **os.environ,
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_CONFIG_NOSYSTEM": "1",
        **{f"GIT_{who}_{what}": "a@b" for who in ["AUTHOR", "COMMITTER"] for what in ["NAME", "EMAIL"]},
    }

    def run(*arguments, cwd=work):
        command = ["git", "-c", "init.defaultBranch=trunk", *arguments]
        subprocess.run(command, cwd=cwd, env=environment, check=True, stdout=subprocess.DEVNULL)

    work.mkdir(parents=True)
    run("init", "--quiet")
    files = {"README.md": "# Read me", "docs/Überblick 1.md": "über", "docs/.hidden/x.md": "x"}
    files |= {f"docs/many/{number}.txt": f"text {number}" for number in range(40)}
    files["docs/large.txt"] = "x" * 50_000
    for name, (content, size) in LFS.items():
        oid = hashlib.sha256(content).hexdigest()
        files[f"docs/{name}"] = f"version https://git-lfs.github.com/spec/v1\noid sha256:{oid}\nsize {size}\n"
    for name, content in files.items():
        path = work / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    (work / "docs/link.md").symlink_to("../README.md")
    run("add", "--all")
    run("commit", "--quiet", "--message=first")
    run("tag", "v1")
    run("switch", "--quiet", "--create", "feature/x")
    (work / "docs/feature.md").write_text("feature")
    run("add", "--all")
    run("commit", "--quiet", "--message=second")
    run("switch", "--quiet", "trunk")
    for place, has_filters in [("public", "true"), ("private", "true"), ("plain", "false")]:
        repository = folder / "served" / place / "docs.git"
        run("clone", "--quiet", "--bare", str(work), str(repository), cwd=folder)
        run("config", "uploadpack.allowFilter", has_filters, cwd=repository)

    def serve_git(request, start):
        path = request["PATH_INFO"]
        query = request.get("QUERY_STRING", "")
        if path.startswith("/moved/") or path.startswith("/trap/") and "HTTP_GIT_PROTOCOL" in request:
            target = path.replace("moved", "public").replace("trap", "public")
            start("301 Moved", [("Location", f"{target}?{query}")])
            return [b""]
        path = path.replace("/trap/", "/public/")
        authorization = request.get("HTTP_AUTHORIZATION", "").removeprefix("Basic ")
        password = base64.b64decode(authorization).partition(b":")[2].decode()
        if path.startswith("/private/") and password != TOKEN:
            start("401 Unauthorized", [("WWW-Authenticate", "Basic")])
            return [b""]
        if path.startswith("/lfs/"):
            found = [content for content, _ in LFS.values() if path.endswith(hashlib.sha256(content).hexdigest())]
            is_allowed = "HTTP_X_LFS" in request
            start("200 OK" if is_allowed else "403 Forbidden", [("Content-Type", "application/octet-stream")])
            return [b"damaged" if found == [b"other"] else found[0]] if is_allowed else [b""]
        if path.endswith("/docs.git/info/lfs/objects/batch"):
            answer = lfs_batch(request)
            start("200 OK", [("Content-Type", "application/vnd.git-lfs+json")])
            return [answer]
        body = request["wsgi.input"].read()
        names = ["REQUEST_METHOD", "QUERY_STRING", "CONTENT_TYPE", "REMOTE_ADDR"]
        names += ["HTTP_CONTENT_ENCODING", "HTTP_GIT_PROTOCOL"]
        backend = environment | {name: request[name] for name in names if name in request}
        backend |= {
            "PATH_INFO": path,
            "GIT_PROJECT_ROOT": str(folder / "served"),
            "GIT_HTTP_EXPORT_ALL": "1",
            "CONTENT_LENGTH": str(len(body)),
            "GIT_PROTOCOL": request.get("HTTP_GIT_PROTOCOL", ""),
        }
        command = ["git", "http-backend"]
        answer = subprocess.run(command, input=body, env=backend, stdout=subprocess.PIPE).stdout
        head, _, body = answer.partition(b"\r\n\r\n")
        headers = [tuple(line.split(": ", 1)) for line in head.decode().split("\r\n")]
        status = dict(headers).pop("Status", "200 OK")
        start(status, [header for header in headers if header[0] != "Status"])
        return [body]

    return {"url": serve(serve_git), "secret": TOKEN, "work": str(work)}


def feed():
    """A feed that loses its first entry when `?later` is asked for."""
    items = [f"<item><guid>{n}</guid><title>Entry {n}</title></item>" for n in range(3)]

    def serve_feed(request, start):
        kept = items[1:] if request.get("QUERY_STRING") == "later" else items
        start("200 OK", [("Content-Type", "application/rss+xml")])
        title = "<title>Feed</title>"
        return [f'<rss version="2.0"><channel>{title}{"".join(kept)}</channel></rss>'.encode()]

    return {"url": serve(serve_feed)}


# With characters that need quotes, or that quotes cannot have.
PASSWORDS = {"ann": 'se"cret \\1', "jürgen": "pass: wörd"}
# How Dovecot asks whose token it is.
OAUTH2 = """
introspection_mode = get
introspection_url = {tokens}/introspect?token=
username_attribute = user
active_attribute = active
active_value = true
"""


class Tokens(http.server.BaseHTTPRequestHandler):
    """Grants the token `access-USER` for the refresh token `refresh-USER`, and says whose it is."""

    def answer(self, status, body):
        text = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def do_GET(self):
        query = urllib.parse.urlparse(self.path).query
        [token] = urllib.parse.parse_qs(query)["token"]
        user = token.removeprefix("access-")
        self.answer(200, {"active": "true" if token != user else "false", "user": user})

    def do_POST(self):
        form = self.rfile.read(int(self.headers["Content-Length"])).decode()
        form = {name: values[0] for name, values in urllib.parse.parse_qs(form).items()}
        token = form.get("refresh_token", "")
        if form.get("grant_type") != "refresh_token" or not token.startswith("refresh-"):
            return self.answer(400, {"error": "invalid_grant"})
        token = token.replace("refresh-", "access-", 1)
        self.answer(200, {"token_type": "Bearer", "expires_in": 3599, "access_token": token})

    def log_message(self, *_):
        pass


def token_server():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Tokens)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_address[1]}"


DOVECOT = """
base_dir = {folder}/run
state_dir = {folder}/state
log_path = {folder}/dovecot.log
protocols = imap
listen = 127.0.0.1
default_internal_user = {internal}
default_internal_group = {internal_group}
default_login_user = {login}
service imap-login {{
  chroot =
  inet_listener imap {{
    port = {port}
  }}
  inet_listener imaps {{
    port = {tls_port}
    ssl = yes
  }}
}}
service anvil {{
  chroot =
  unix_listener anvil-auth-penalty {{
    mode = 0
  }}
}}
auth_failure_delay = 0
ssl = yes
ssl_cert = <{folder}/server.pem
ssl_key = <{folder}/server.key
disable_plaintext_auth = no
auth_mechanisms = plain xoauth2
auth_username_chars =
first_valid_uid = 1
passdb {{
  driver = oauth2
  mechanisms = xoauth2
  args = {folder}/oauth2.conf
}}
passdb {{
  driver = passwd-file
  mechanisms = plain
  args = {folder}/users
}}
userdb {{
  driver = static
  args = uid={uid} gid={gid} home={folder}/homes/%u
}}
mail_location = maildir:~/Maildir
namespace inbox {{
  inbox = yes
  separator = /
}}
"""


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def certificates(folder):
    """A certificate of `mail.test` and of this machine, from an authority in `ca.pem`."""
    now = datetime.datetime.now(datetime.timezone.utc)

    def make(name, issuer, key, issuer_key, extension):
        names = [x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, one)]) for one in (name, issuer)]
        builder = x509.CertificateBuilder().subject_name(names[0]).issuer_name(names[1])
        builder = builder.public_key(key.public_key()).serial_number(x509.random_serial_number())
        builder = builder.not_valid_before(now).not_valid_after(now + datetime.timedelta(days=30))
        return builder.add_extension(extension, critical=False).sign(issuer_key, hashes.SHA256())

    ca_key, key = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
    ca = make("Test", "Test", ca_key, ca_key, x509.BasicConstraints(ca=True, path_length=None))
    hosts = [x509.DNSName("mail.test"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
    server = make("mail.test", "Test", key, ca_key, x509.SubjectAlternativeName(hosts))
    pem = serialization.Encoding.PEM
    (folder / "ca.pem").write_bytes(ca.public_bytes(pem))
    (folder / "server.pem").write_bytes(server.public_bytes(pem))
    private = (serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    (folder / "server.key").write_bytes(key.private_bytes(pem, *private))


def messages(maildir):
    """Files by their name in a Maildir."""
    for number in range(450):
        text = f"Date: Sun, 01 Nov 2026 10:00:00 +0000\r\nSubject: Message {number}\r\n\r\nText {number}\r\n"
        yield maildir / f"new/1.{number:03}.test", text.encode()
    yield maildir / "cur/2.deleted.test:2,T", b"Subject: Deleted\r\n\r\n"
    yield maildir / "cur/3.seen.test:2,S", "Subject: =?utf-8?Q?=C3=9Cber?=\r\n\r\nséen\r\n".encode()
    yield maildir / "cur/4.bytes.test:2,", b"Subject: caf\xe9\r\n\r\n\xff\xfe)\r\nA1 OK {5}\r\n"
    yield maildir / "cur/5.large.test:2,", b"Subject: Large\r\n\r\n" + b"x" * 20_000
    yield maildir / "cur/6.empty.test:2,", b"\r\n"
    yield maildir / ".Entw&APw-rfe.R&-D/new/7.draft.test", b"Subject: Draft\r\n\r\ndraft\r\n"


def imap(folder):
    folder.mkdir()
    certificates(folder)
    is_root = os.getuid() == 0
    # Dovecot refuses to deliver to root.
    owner = pwd.getpwnam("nobody") if is_root else pwd.getpwuid(os.getuid())
    encoded = {user: base64.b64encode(word.encode()).decode() for user, word in PASSWORDS.items()}
    lines = [f"{user}:{{PLAIN.B64}}{word}::::::\n" for user, word in encoded.items()]
    (folder / "users").write_text("".join(lines))
    tokens = token_server()
    (folder / "oauth2.conf").write_text(OAUTH2.format(tokens=tokens))
    for user in PASSWORDS:
        for path, content in messages(folder / "homes" / user / "Maildir"):
            for part in ["cur", "new", "tmp"]:
                (path.parent.parent / part).mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
    if is_root:
        for path in [folder / "homes", *(folder / "homes").rglob("*")]:
            os.chown(path, owner.pw_uid, owner.pw_gid)
        # The folder is one of mkdtemp, which others may not enter.
        for path in [folder, folder.parent]:
            path.chmod(0o755)
    ports = {"port": free_port(), "tls_port": free_port()}
    config = DOVECOT.format(
        folder=folder,
        internal="dovecot" if is_root else owner.pw_name,
        internal_group="dovecot" if is_root else owner.pw_gid,
        login="dovenull" if is_root else owner.pw_name,
        uid=owner.pw_uid,
        gid=owner.pw_gid,
        **ports,
    )
    (folder / "dovecot.conf").write_text(config)
    program = "/usr/sbin/dovecot" if Path("/usr/sbin/dovecot").exists() else "dovecot"
    server = subprocess.Popen([program, "-F", "-c", folder / "dovecot.conf"])

    def stop(*_):
        server.terminate()
        server.wait()
        os._exit(0)

    signal.signal(signal.SIGTERM, stop)
    for _ in range(100):
        try:
            socket.create_connection(("127.0.0.1", ports["port"])).close()
            break
        except OSError:
            time.sleep(0.1)
    homes = str(folder / "homes")
    return ports | {"users": PASSWORDS, "authority": str(folder / "ca.pem"), "homes": homes, "tokens": tokens}


def main():
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    folder = Path(sys.argv[1])
    documents, objects = s3()
    servers = {
        "s3": documents,
        "objects": objects,
        "web_dav": web_dav(folder / "web_dav"),
        "git": git(folder / "git"),
        "feed": feed(),
        "imap": imap(folder / "imap"),
    }
    (folder / "servers.json").write_text(json.dumps(servers))
    print("ready", flush=True)
    threading.Event().wait()


main()
