"""A stand-in for the Hugging Face hub, on loopback: the pages its client asks for, and parts of files.

It answers what huggingface_hub 0.30 to 2.4 ask: a model's page, its tree, paths-info, and `resolve`, which
sends the client on to another address as the real hub does for large files. It counts what it gave away,
and it can fail on purpose.
"""

import contextlib
import json
import os
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Hub:
    """`with Hub({"owner/name": folder}) as hub`: serves what lies in each folder.

    Attributes:
        url: for HF_ENDPOINT.
        commits: {repository: commit of its only revision, "main"}.
        given: bytes of files that went out. `ranges`: what was asked for, (file, start, end).
        drop_after: where not None, the connection is cut once that many bytes of files went out.
        gated: repositories whose files are refused.
        deaf: whether "Range" is ignored, as by a server that only knows whole files.
    """

    def __init__(self, folders):
        self.folders = {name: Path(folder) for name, folder in folders.items()}
        self.commits = {name: f"{k:040x}" for k, name in enumerate(self.folders, start=0xC0FFEE)}
        self.given, self.ranges, self.drop_after = 0, [], None
        self.gated, self.deaf = set(), False

    def __enter__(self):
        class Handler(_Handler):
            hub = self

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))
        self._thread.start()
        return self

    def __exit__(self, *error):
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


class _Handler(BaseHTTPRequestHandler):
    hub: Hub
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def do_GET(self):
        path = unquote(urlsplit(self.path).path)
        if match := re.fullmatch(r"/api/models/([^/]+/[^/]+)(?:/revision/(.+))?", path):
            if self._known(match[1], match[2]):
                self._say({"id": match[1], "sha": self.hub.commits[match[1]], "siblings": []})
        elif match := re.fullmatch(r"/api/models/([^/]+/[^/]+)/tree/([^/]+)(?:/(.*))?", path):
            if self._known(match[1], match[2]):
                self._tree(match[1], match[3] or "")
        elif match := re.fullmatch(r"/([^/]+/[^/]+)/resolve/([^/]+)/(.+)", path):
            if self._known(match[1], match[2]):
                self._resolve(match[1], match[3])
        elif match := re.fullmatch(r"/parts/([^/]+/[^/]+)/(.+)", path):
            self._part(self.hub.folders[match[1]] / match[2])
        else:
            self._refuse(404, "")

    do_HEAD = do_GET

    def do_POST(self):
        asked = self.rfile.read(int(self.headers["Content-Length"])).decode()
        match = re.fullmatch(r"/api/models/([^/]+/[^/]+)/paths-info/([^/]+)", unquote(self.path))
        if match and self._known(match[1], match[2]):
            files = self._files(match[1])
            # A form in older clients, JSON in newer ones: the name stands in both.
            self._say([about for name, about in files.items() if name in unquote(asked)])

    def _known(self, repository, revision):
        if repository not in self.hub.folders:
            self._refuse(401, "RepoNotFound")
        elif revision not in (None, "main", self.hub.commits[repository]):
            self._refuse(404, "RevisionNotFound")
        else:
            return True
        return False

    def _files(self, repository):
        folder = self.hub.folders[repository]
        return {
            path.relative_to(folder).as_posix(): {
                "type": "file",
                "path": path.relative_to(folder).as_posix(),
                "size": path.stat().st_size,
                "oid": "0" * 40,
            }
            for path in folder.rglob("*")
            if path.is_file()
        }

    def _tree(self, repository, below):
        here = [a for n, a in self._files(repository).items() if os.path.dirname(n) == below]
        if below and not here:
            self._refuse(404, "EntryNotFound")
        else:
            self._say(here)

    def _resolve(self, repository, file):
        if repository in self.hub.gated:
            self._refuse(403, "GatedRepo")
        elif file not in self._files(repository):
            self._refuse(404, "EntryNotFound")
        else:
            self.send_response(302)
            self.send_header("Location", f"{self.hub.url}/parts/{repository}/{file}")
            self.send_header("Content-Length", "0")
            self.end_headers()

    def _part(self, path):
        size = path.stat().st_size
        asked = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
        if asked and not self.hub.deaf:
            start, end = int(asked[1]), min(int(asked[2]) + 1, size)
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {start}-{end - 1}/{size}")
        else:
            start, end = 0, size
            self.send_response(200)
        self.hub.ranges.append((path.name, start, end))
        self.send_header("Content-Length", str(end - start))
        self.end_headers()
        with open(path, "rb") as file, contextlib.suppress(ConnectionError):
            file.seek(start)
            while start < end:
                block = file.read(min(2**18, end - start))
                if self.hub.drop_after is not None:
                    block = block[: max(0, self.hub.drop_after - self.hub.given)]
                if not block:
                    self.close_connection = True
                    return
                self.wfile.write(block)
                self.hub.given += len(block)
                start += len(block)

    def _say(self, what):
        content = json.dumps(what).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def _refuse(self, status, code):
        self.send_response(status)
        self.send_header("X-Error-Code", code)
        self.send_header("Content-Length", "0")
        self.end_headers()
