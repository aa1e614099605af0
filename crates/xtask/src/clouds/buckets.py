"""Makes the bucket `test` on a server that speaks S3, and the container `test` on one that speaks Azure Blob Storage.

Their clients make no buckets: those are an operator's. Usage: buckets.py S3_PORT AZURE_PORT
"""

import base64
import hashlib
import hmac
import sys
import time
import urllib.error
import urllib.request
from email.utils import formatdate

# The account every emulator of Azure has; it is no secret.
ACCOUNT = "devstoreaccount1"
KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
# How long a server may take to start.
PATIENCE_S = 30


def put(url: str, headers: dict[str, str]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while True:
        request = urllib.request.Request(url, data=b"", headers=headers, method="PUT")
        try:
            urllib.request.urlopen(request, timeout=10).close()
            return
        except urllib.error.HTTPError as error:
            if error.code == 409:  # It is there already.
                return
            raise
        except urllib.error.URLError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)


def azure(port: str) -> None:
    date = formatdate(usegmt=True)
    version = "2021-08-06"
    headers = {"x-ms-date": date, "x-ms-version": version, "Content-Type": "application/octet-stream"}
    named = f"x-ms-date:{date}\nx-ms-version:{version}\n"
    resource = f"/{ACCOUNT}/{ACCOUNT}/test\nrestype:container"
    signed = "PUT\n\n\n\n\napplication/octet-stream\n\n\n\n\n\n\n" + named + resource
    digest = hmac.new(base64.b64decode(KEY), signed.encode(), hashlib.sha256).digest()
    headers["Authorization"] = f"SharedKey {ACCOUNT}:{base64.b64encode(digest).decode()}"
    put(f"http://127.0.0.1:{port}/{ACCOUNT}/test?restype=container", headers)


def main() -> None:
    s3_port, azure_port = sys.argv[1:]
    put(f"http://127.0.0.1:{s3_port}/test", {})
    azure(azure_port)


main()
