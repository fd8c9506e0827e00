"""An S3 server on 127.0.0.1 with one empty bucket; says where it is in its first line, and serves until it is killed."""

import json
import logging
import signal

import boto3
import moto.settings
from moto.server import ThreadedMotoServer

REGION = "eu-central-1"

logging.disable(logging.CRITICAL)
server = ThreadedMotoServer("127.0.0.1", port=0, verbose=False)
server.start()
host, port = server.get_host_and_port()
endpoint = f"http://{host}:{port}"


def client(service):
    own = {"aws_access_key_id": "setup", "aws_secret_access_key": "setup"}
    return boto3.client(service, endpoint_url=endpoint, region_name=REGION, **own)


client("s3").create_bucket(Bucket="objects", CreateBucketConfiguration={"LocationConstraint": REGION})
iam = client("iam")
iam.create_user(UserName="writer")
policy = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": ["s3:*"], "Resource": "*"}]}
iam.put_user_policy(UserName="writer", PolicyName="write", PolicyDocument=json.dumps(policy))
key = iam.create_access_key(UserName="writer")["AccessKey"]
# From now on, every request is authenticated.
moto.settings.INITIAL_NO_AUTH_ACTION_COUNT = 0
told = {"endpoint": endpoint, "bucket": "objects", "access_key_id": key["AccessKeyId"], "secret": key["SecretAccessKey"]}
print(json.dumps(told), flush=True)
signal.pause()
