"""Starts real servers with documents for the tests of sources, on 127.0.0.1 only.

serve.py FOLDER: keeps their data in the folder, writes their addresses to FOLDER/servers.json, prints "ready", and stops
with the process. Signatures for S3 are checked by the code with which Amazon's own client makes them.
"""

import json
import logging
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


def main():
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    folder = Path(sys.argv[1])
    servers = {"s3": s3(), "web_dav": web_dav(folder / "web_dav")}
    (folder / "servers.json").write_text(json.dumps(servers))
    print("ready", flush=True)
    threading.Event().wait()


main()
