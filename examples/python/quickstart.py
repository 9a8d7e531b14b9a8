#!/usr/bin/env python3
"""A Vivarium sandbox from Python, with the standard library alone.

VIV_SERVER and VIV_API_KEY select the server and the key. Without them, it uses a server on this machine.
"""

import json
import os
import pathlib
import urllib.error
import urllib.request
import uuid

SERVER = os.environ.get("VIV_SERVER", "http://127.0.0.1:8000")


def api_key():
    """Returns the key in the environment, or the key that a server on this machine wrote."""
    if "VIV_API_KEY" in os.environ:
        return os.environ["VIV_API_KEY"]
    home = os.environ.get("VIV_HOME", pathlib.Path.home() / ".vivarium")
    return (pathlib.Path(home) / "credentials").read_text().strip()


class Problem(Exception):
    """Error of the server, with its message and the whole response."""

    def __init__(self, status, answer):
        super().__init__(answer.get("error", f"HTTP status {status}"))
        self.status = status
        self.answer = answer


class Sandbox:
    """Sandbox of one thread. It is created if the thread has none."""

    def __init__(self, user, thread, key=None):
        self.user = user
        self.thread = thread
        self.key = key or api_key()
        self.session = None
        self.connect()

    def connect(self):
        body = {"user_id": self.user, "thread_id": self.thread}
        try:
            answer = self._json("/create_session", body)
        except Problem as problem:
            # The thread already has a sandbox. This is not a failure: the response contains the session.
            if problem.status != 409 or problem.answer.get("status") != "existing":
                raise
            answer = problem.answer
        self.session = answer["session_id"]

    def execute(self, command, timeout=30):
        """Runs a command. If the sandbox has expired, it creates a new one, once, without the old files."""
        try:
            return self._execute(command, timeout)
        except Problem as problem:
            if problem.status != 404:
                raise
        self.connect()
        return self._execute(command, timeout)

    def stream(self, command, timeout=30):
        """Runs a command and yields its events while it runs."""
        body = {"session_id": self.session, "command": command, "timeout": timeout}
        with self._open("/execute", body, timeout + 30, Accept="application/x-ndjson") as lines:
            for line in lines:
                yield json.loads(line)

    def upload(self, name, data):
        boundary = uuid.uuid4().hex
        parts = [
            f'--{boundary}\r\nContent-Disposition: form-data; name="{field}"\r\n\r\n{value}\r\n'.encode()
            for field, value in (("session_id", self.session), ("filename", name))
        ]
        parts.append(f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="x"\r\n\r\n'.encode())
        parts += [data, f"\r\n--{boundary}--\r\n".encode()]
        request = self._request("/upload_file", b"".join(parts))
        request.add_header("Content-Type", f"multipart/form-data; boundary={boundary}")
        with self._send(request, 60) as answer:
            return json.load(answer)

    def download(self, name):
        with self._open("/download_file", {"session_id": self.session, "filename": name}, 60) as answer:
            return answer.read()

    def files(self):
        with self._send(self._request(f"/list_files?session_id={self.session}"), 30) as answer:
            return json.load(answer)["files"]

    def end(self):
        self._json("/cleanup", {"session_id": self.session})

    def _execute(self, command, timeout):
        body = {"session_id": self.session, "command": command, "timeout": timeout}
        return self._json("/execute", body, timeout + 30)

    def _json(self, path, body, patience=30):
        with self._open(path, body, patience) as answer:
            return json.load(answer)

    def _open(self, path, body, patience, **headers):
        request = self._request(path, json.dumps(body).encode(), **headers)
        request.add_header("Content-Type", "application/json")
        return self._send(request, patience)

    def _request(self, path, data=None, **headers):
        return urllib.request.Request(SERVER + path, data, {"X-API-Key": self.key, **headers})

    @staticmethod
    def _send(request, patience):
        try:
            return urllib.request.urlopen(request, timeout=patience)
        except urllib.error.HTTPError as error:
            raise Problem(error.code, json.load(error)) from None


def main():
    box = Sandbox("alice", "python-example")
    box.upload("numbers.txt", b"3\n1\n2\n")
    print(box.execute("sort -n numbers.txt > sorted.txt; cat sorted.txt")["stdout"], end="")
    for event in box.stream("echo one; sleep 0.1; echo two >&2; exit 3"):
        if event["type"] in ("stdout", "stderr"):
            print(event["type"], event["data"], end="")
        elif event["type"] == "exit":
            print("exit code", event["exit_code"])
    print(box.download("sorted.txt").decode().split())
    print(sorted(entry["name"] for entry in box.files()))
    box.end()


if __name__ == "__main__":
    main()
