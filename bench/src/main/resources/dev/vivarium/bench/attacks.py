"""Hostile clients for `make bench ARGS="--only attacks"`.

Usage: attacks.py ATTACK PORT KEY SANDBOX. Prints `ready` when the attack has started and continues until standard
input ends. Every request uses the loopback address.
"""

import os
import selectors
import socket
import sys
import threading
import time

ATTACK, PORT, KEY, SANDBOX = sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4]
AUTHORIZATION = f"Authorization: Bearer {KEY}\r\n"
HINTS = b"HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\n\r\n" * 256


def connect(receive_buffer=None):
    """Opens a connection to the server, or returns None if the server refuses it."""
    client = socket.socket()
    # The attacker has its own address.
    client.bind(("127.0.0.2", 0))
    client.settimeout(5)
    if receive_buffer:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
    try:
        client.connect(("127.0.0.1", PORT))
        return client
    except OSError:
        client.close()
        return None


def send(client, text):
    """Reports whether the server still accepts bytes."""
    try:
        client.sendall(text.encode())
        return True
    except OSError:
        return False


def request(method, path, body=None):
    head = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\n{AUTHORIZATION}"
    if body is None:
        return head + "\r\n"
    return f"{head}Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n{body}"


def ready():
    print("ready", flush=True)


def keep_open(count, first_bytes, next_bytes):
    """Holds `count` connections, sends `next_bytes` on each once a second, and replaces those that the server closes."""
    clients = []
    announced = False
    while True:
        began = time.monotonic()
        alive = []
        for client in clients:
            if is_open(client) and send(client, next_bytes):
                alive.append(client)
            else:
                client.close()
        clients = alive
        for _ in range(count - len(clients)):
            client = connect()
            if client is None:
                break
            if send(client, first_bytes):
                clients.append(client)
        if not announced:
            announced = True
            ready()
        time.sleep(max(0.0, 1 - (time.monotonic() - began)))


def is_open(client):
    try:
        return client.recv(4096, socket.MSG_DONTWAIT) != b""
    except BlockingIOError:
        return True
    except OSError:
        return False


def slow_headers():
    keep_open(1300, "GET /health HTTP/1.1\r\nHost: localhost\r\n", "X-Slow: 1\r\n")


def slow_bodies():
    head = f"POST /execute HTTP/1.1\r\nHost: localhost\r\n{AUTHORIZATION}"
    keep_open(600, head + "Content-Type: application/json\r\nContent-Length: 5000\r\n\r\n{", " ")


def unread_listings():
    """80 recursive listings of a large tree. The client reads none of them."""
    listing = request("GET", f"/sandboxes/{SANDBOX}/files/?recursive=true")
    clients = []
    announced = False
    while True:
        clients = [client for client in clients if client.fileno() >= 0]
        while len(clients) < 80:
            client = connect(receive_buffer=4096)
            if client is None:
                break
            send(client, listing)
            clients.append(client)
        if not announced:
            announced = True
            ready()
        time.sleep(1)


def large_outputs():
    """60 callers that repeatedly run a command with 20 MiB of output."""
    command = "head -c 10485760 /dev/zero; head -c 10485760 /dev/zero >&2"
    body = f'{{"session_id":"{SANDBOX}","command":"{command}"}}'
    for _ in range(60):
        threading.Thread(target=repeat_execute, args=(body,), daemon=True).start()
    ready()
    threading.Event().wait()


def repeat_execute(body):
    call = request("POST", "/execute", body).replace("Host:", "Connection: close\r\nHost:")
    while True:
        client = connect()
        if client is None:
            time.sleep(0.2)
            continue
        refused = False
        try:
            client.settimeout(60)
            client.sendall(call.encode())
            head = client.recv(65536)
            refused = not head.startswith(b"HTTP/1.1 200")
            while client.recv(1 << 20):
                pass
        except OSError:
            refused = True
        client.close()
        if refused:
            time.sleep(1)


def abandoned_heads():
    """1,100 HEAD requests for a sparse file of 1 TB; each caller disconnects at once."""
    head = request("HEAD", f"/sandboxes/{SANDBOX}/files/sparse")
    announced = False
    while True:
        for _ in range(1100):
            client = connect()
            if client:
                send(client, head)
                client.close()
        if not announced:
            announced = True
            ready()
        time.sleep(1)


def preview_hints():
    """120 callers of a preview whose program answers 103 without end; each disconnects after a moment."""
    call = request("GET", f"/sandboxes/{SANDBOX}/ports/8103/")
    announced = False
    while True:
        clients = [client for client in (connect() for _ in range(120)) if client]
        for client in clients:
            send(client, call)
        time.sleep(0.5)
        for client in clients:
            client.close()
        if not announced:
            announced = True
            ready()
        time.sleep(0.5)


def hints_server():
    """An allowed host that answers 103 without end. Prints its port; serves until standard input ends."""
    listener = socket.create_server(("127.0.0.1", 0), backlog=256)
    listener.setblocking(False)
    selector = selectors.DefaultSelector()
    selector.register(listener, selectors.EVENT_READ)
    print(listener.getsockname()[1], flush=True)
    while True:
        for key, _ in selector.select():
            if key.fileobj is listener:
                client, _ = listener.accept()
                client.setblocking(False)
                selector.register(client, selectors.EVENT_WRITE)
                continue
            try:
                key.fileobj.send(HINTS)
            except BlockingIOError:
                pass
            except OSError:
                selector.unregister(key.fileobj)
                key.fileobj.close()


def watch_standard_input():
    while sys.stdin.buffer.read(4096):
        pass
    os._exit(0)


ATTACKS = {
    "slow-headers": slow_headers,
    "slow-bodies": slow_bodies,
    "unread-listings": unread_listings,
    "large-outputs": large_outputs,
    "abandoned-heads": abandoned_heads,
    "preview-hints": preview_hints,
    "hints-server": hints_server,
}

threading.Thread(target=watch_standard_input, daemon=True).start()
ATTACKS[ATTACK]()
