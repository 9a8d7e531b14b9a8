"""Program for previews: sends valid and invalid responses, by path. Writes its port to the file `port`."""

import base64
import hashlib
import json
import os
import struct
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

RELEASED = threading.Event()
MAGIC = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"


class Program(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def handle_any(self):
        url = urlsplit(self.path)
        name = url.path.strip("/").split("/")[0] or "headers"
        self.query = {key: values[0] for key, values in parse_qs(url.query).items()}
        getattr(self, "on_" + name, self.on_headers)()

    do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = do_PATCH = do_OPTIONS = do_PROPFIND = handle_any

    def body(self):
        if self.headers.get("Transfer-Encoding") == "chunked":
            whole = b""
            while size := int(self.rfile.readline(), 16):
                whole += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
            return whole
        return self.rfile.read(int(self.headers.get("Content-Length", 0)))

    def answer(self, body, status=200, headers=()):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def raw(self, text):
        self.wfile.write(text.encode("latin-1"))
        self.close_connection = True

    def on_headers(self):
        seen = {"line": self.requestline, "headers": [[k.lower(), v] for k, v in self.headers.items()]}
        self.answer(json.dumps(seen).encode())

    def on_echo(self):
        self.answer(self.body())

    def on_big(self):
        left = int(self.query["bytes"])
        self.send_response(200)
        self.send_header("Content-Length", str(left))
        self.end_headers()
        block = bytes(range(256)) * 256
        while left > 0:
            self.wfile.write(block[:left])
            left -= len(block)

    def on_events(self):
        RELEASED.clear()
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self.event("data: first\n\n")
        RELEASED.wait(30)
        self.event("data: second\n\n")
        self.wfile.write(b"0\r\n\r\n")

    def event(self, text):
        self.wfile.write(b"%x\r\n%s\r\n" % (len(text), text.encode()))

    def on_release(self):
        RELEASED.set()
        self.answer(b"released")

    def on_until_close(self):
        self.raw("HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\nuntil the end")

    def on_interim(self):
        self.raw("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")

    def on_not_modified(self):
        self.raw("HTTP/1.1 304 Not Modified\r\nETag: \"a\"\r\nContent-Length: 99\r\n\r\n")

    def on_rubbish(self):
        self.raw("hello, this is not HTTP\r\n\r\n")

    def on_nothing(self):
        self.raw("")

    def on_both_lengths(self):
        self.raw("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n")

    def on_two_lengths(self):
        self.raw("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!")

    def on_folded(self):
        self.raw("HTTP/1.1 200 OK\r\nX-A: b\r\n c\r\nContent-Length: 0\r\n\r\n")

    def on_status_999(self):
        self.raw("HTTP/1.1 999 Odd\r\nContent-Length: 0\r\n\r\n")

    def on_unasked_upgrade(self):
        self.raw("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n")

    def on_endless_headers(self):
        self.raw("HTTP/1.1 200 OK\r\n" + "X-A: b\r\n" * 20000 + "\r\n")

    def on_half(self):
        self.raw("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly this")

    def on_bad_chunk(self):
        self.raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nhello\r\n")

    def on_silence(self):
        RELEASED.clear()
        RELEASED.wait(60)

    def on_early(self):
        self.raw("HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\nConnection: close\r\n\r\nno!")

    def on_redirect(self):
        self.answer(b"", 302, [("Location", self.query["to"])])

    def on_cookies(self):
        self.answer(
            b"",
            headers=[
                ("Set-Cookie", "plain=1"),
                ("Set-Cookie", "deep=2; Path=/app; Domain=localhost; HttpOnly; SameSite=Lax"),
                ("Set-Cookie", "viv_preview=planted; Path=/"),
            ],
        )

    def on_overreach(self):
        self.answer(
            b"<script>1</script>",
            headers=[
                ("Content-Type", "text/html"),
                ("Connection", "X-Private"),
                ("X-Private", "hop"),
                ("Keep-Alive", "timeout=5"),
                ("Cache-Control", "public, max-age=3600"),
                ("Expires", "Thu, 01 Jan 2099 00:00:00 GMT"),
                ("Strict-Transport-Security", "max-age=1"),
                ("Alt-Svc", 'h3="evil:443"'),
                ("WWW-Authenticate", 'Basic realm="your password"'),
                ("Clear-Site-Data", '"*"'),
                ("Service-Worker-Allowed", "/"),
                ("Content-Security-Policy", "default-src *"),
                ("X-Request-Id", "mine"),
                ("X-Own", "kept"),
            ],
        )

    def on_ws(self):
        accept = base64.b64encode(hashlib.sha1((self.headers["Sec-WebSocket-Key"] + MAGIC).encode()).digest())
        self.wfile.write(
            b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            b"Sec-WebSocket-Accept: " + accept + b"\r\n\r\n" + self.frame(0x81, b"hello")
        )
        self.close_connection = True
        while True:
            first, payload = self.read_frame()
            self.wfile.write(self.frame(first, payload))
            if first & 15 == 8:
                return

    def read_frame(self):
        first, second = self.rfile.read(2)
        length = second & 127
        if length == 126:
            (length,) = struct.unpack(">H", self.rfile.read(2))
        elif length == 127:
            (length,) = struct.unpack(">Q", self.rfile.read(8))
        mask = self.rfile.read(4)
        payload = self.rfile.read(length)
        return first, bytes(b ^ mask[i % 4] for i, b in enumerate(payload))

    @staticmethod
    def frame(first, payload):
        size = len(payload)
        if size < 126:
            head = struct.pack(">BB", first, size)
        elif size < 65536:
            head = struct.pack(">BBH", first, 126, size)
        else:
            head = struct.pack(">BBQ", first, 127, size)
        return head + payload

    def on_raw(self):
        """Raw protocol that echoes every byte until the client closes its side."""
        self.wfile.write(b"HTTP/1.1 101 Go On\r\nUpgrade: raw\r\nConnection: Upgrade\r\n\r\n")
        self.close_connection = True
        while data := self.rfile.read1(65536):
            self.wfile.write(data)


server = ThreadingHTTPServer(("127.0.0.1", 0), Program)
with open("port.part", "w") as file:
    file.write(str(server.server_port))
os.rename("port.part", "port")
server.serve_forever()
