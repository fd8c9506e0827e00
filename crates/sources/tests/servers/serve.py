"""Starts real servers with documents for the tests of sources, on 127.0.0.1 only.

serve.py FOLDER: keeps their data in the folder, writes their addresses to FOLDER/servers.json, prints "ready", and stops
with the process. Signatures for S3 are checked by the code with which Amazon's own client makes them.
"""

import base64
import json
import logging
import os
import subprocess
import sys
import threading
from pathlib import Path

import boto3
import moto.settings
from cheroot import wsgi
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
    # From now on, every request is authenticated.
    moto.settings.INITIAL_NO_AUTH_ACTION_COUNT = 0
    return {
        "endpoint": address,
        "bucket": "documents",
        "access_key_id": key["AccessKeyId"],
        "secret": key["SecretAccessKey"],
        "odd_keys": ODD_KEYS,
    }


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


def git(folder):
    """`git http-backend` for repositories. Those in `private` need a token, and `moved` redirects to `public`."""
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
    files["docs/lfs.bin"] = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n"
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
        if path.startswith("/moved/"):
            start("301 Moved", [("Location", path.replace("moved", "public") + "?" + query)])
            return [b""]
        authorization = request.get("HTTP_AUTHORIZATION", "").removeprefix("Basic ")
        password = base64.b64decode(authorization).partition(b":")[2].decode()
        if path.startswith("/private/") and password != TOKEN:
            start("401 Unauthorized", [("WWW-Authenticate", "Basic")])
            return [b""]
        body = request["wsgi.input"].read()
        names = ["REQUEST_METHOD", "PATH_INFO", "QUERY_STRING", "CONTENT_TYPE", "REMOTE_ADDR"]
        names += ["HTTP_CONTENT_ENCODING", "HTTP_GIT_PROTOCOL"]
        backend = environment | {name: request[name] for name in names if name in request}
        backend |= {
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


def main():
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    folder = Path(sys.argv[1])
    servers = {
        "s3": s3(),
        "web_dav": web_dav(folder / "web_dav"),
        "git": git(folder / "git"),
        "feed": feed(),
    }
    (folder / "servers.json").write_text(json.dumps(servers))
    print("ready", flush=True)
    threading.Event().wait()


main()
