"""Program that never responds: by path, it sends endless informational responses or nothing. `/live` returns the number
of its other connections. Writes its port to the file `port`."""

import os
import socket
import threading

HINTS = b"HTTP/1.1 103 Early Hints\r\nLink: </style.css>\r\n\r\n" * 500
LOCK = threading.Lock()
LIVE = 0


def serve(connection):
    global LIVE
    with connection:
        path = connection.recv(65536).split(b" ")[1]
        if path == b"/live":
            body = str(LIVE).encode()
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
            return
        with LOCK:
            LIVE += 1
        try:
            while path == b"/hints":
                connection.sendall(HINTS)
            while connection.recv(65536):
                pass
        except OSError:
            pass
        finally:
            with LOCK:
                LIVE -= 1


listener = socket.create_server(("127.0.0.1", 0), backlog=256)
with open("port.new", "w") as file:
    file.write(str(listener.getsockname()[1]))
os.rename("port.new", "port")
while True:
    threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
