"""A headless Chromium driven over the DevTools protocol, with the standard library alone."""

import base64
import json
import os
import pathlib
import shutil
import socket
import struct
import subprocess
import tempfile
import time
import urllib.request


class WebSocket:
    """Just enough of RFC 6455 for one local, unfragmented text conversation."""

    def __init__(self, url):
        host, path = url.removeprefix("ws://").split("/", 1)
        name, port = host.split(":")
        self.socket = socket.create_connection((name, int(port)), timeout=60)
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket.sendall(
            f"GET /{path} HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n".encode())
        reply = b""
        while b"\r\n\r\n" not in reply:
            reply += self.socket.recv(1)
        if b" 101 " not in reply.split(b"\r\n")[0]:
            raise RuntimeError(f"no WebSocket: {reply!r}")

    def _read(self, size):
        data = b""
        while len(data) < size:
            piece = self.socket.recv(size - len(data))
            if not piece:
                raise RuntimeError("the browser closed the connection")
            data += piece
        return data

    def send(self, text):
        payload = text.encode()
        mask = os.urandom(4)
        head = b"\x81"
        if len(payload) < 126:
            head += struct.pack("!B", 0x80 | len(payload))
        elif len(payload) < 65536:
            head += struct.pack("!BH", 0x80 | 126, len(payload))
        else:
            head += struct.pack("!BQ", 0x80 | 127, len(payload))
        self.socket.sendall(head + mask + bytes(b ^ mask[i % 4] for i, b in enumerate(payload)))

    def receive(self):
        message = b""
        while True:
            first, second = self._read(2)
            size = second & 0x7F
            if size == 126:
                size = struct.unpack("!H", self._read(2))[0]
            elif size == 127:
                size = struct.unpack("!Q", self._read(8))[0]
            payload = self._read(size)
            if first & 0x0F == 8:
                raise RuntimeError("the browser closed the connection")
            if first & 0x0F in (0, 1):
                message += payload
                if first & 0x80:
                    return message.decode()


class Browser:
    """One page of a headless Chromium; use it in a `with` block."""

    def __init__(self):
        self.binary = next((b for b in map(shutil.which, ("chromium", "chromium-browser",
                                                          "google-chrome")) if b), None)
        if self.binary is None:
            raise FileNotFoundError("no Chromium on PATH: apt-get install chromium")

    def __enter__(self):
        self.profile = tempfile.mkdtemp(prefix="breakeven-web-")
        self.process = subprocess.Popen(
            [self.binary, "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run",
             "--disable-dev-shm-usage", "--remote-debugging-port=0", "--remote-allow-origins=*",
             f"--user-data-dir={self.profile}", "about:blank"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        port_file = pathlib.Path(self.profile, "DevToolsActivePort")
        end = time.monotonic() + 60
        while not (port_file.exists() and port_file.read_text().strip()):
            if time.monotonic() > end or self.process.poll() is not None:
                self.__exit__(None, None, None)
                raise RuntimeError("Chromium did not start")
            time.sleep(0.05)
        port = int(port_file.read_text().split()[0])
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        while True:
            pages = json.load(opener.open(f"http://127.0.0.1:{port}/json/list"))
            pages = [page for page in pages if page["type"] == "page"]
            if pages or time.monotonic() > end:
                break
            time.sleep(0.05)
        self.connection = WebSocket(pages[0]["webSocketDebuggerUrl"])
        self.last_id = 0
        self.events = []
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        return self

    def __exit__(self, *_):
        if hasattr(self, "connection"):
            self.connection.socket.close()
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.profile, ignore_errors=True)

    def call(self, method, **parameters):
        self.last_id += 1
        self.connection.send(json.dumps({"id": self.last_id, "method": method,
                                         "params": parameters}))
        while True:
            message = json.loads(self.connection.receive())
            if message.get("id") == self.last_id:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']}")
                return message["result"]
            self.events.append(message)

    def open(self, path):
        """Loads a local file and waits until it is whole."""
        self.events.clear()
        self.call("Page.navigate", url="file://" + os.path.abspath(path))
        end = time.monotonic() + 60
        while self.evaluate("document.readyState") != "complete":
            if time.monotonic() > end:
                raise RuntimeError("the page does not finish loading")
            time.sleep(0.05)

    def evaluate(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in result:
            raise RuntimeError(str(result["exceptionDetails"]))
        return result["result"].get("value")

    def problems(self):
        """Console errors and warnings, exceptions and blocked content since the page was opened."""
        self.evaluate("0")  # Collects what is waiting.
        found = []
        for event in self.events:
            method, parameters = event.get("method"), event.get("params", {})
            if method == "Runtime.exceptionThrown":
                found.append(str(parameters["exceptionDetails"]))
            if method == "Runtime.consoleAPICalled" and parameters["type"] in ("error", "warning"):
                found.append(str(parameters["args"]))
            if method == "Log.entryAdded":
                found.append(str(parameters["entry"]))
        return found

    def requests(self):
        """URLs asked for since the page was opened, the page itself and data URLs left out."""
        urls = [event["params"]["request"]["url"] for event in self.events
                if event.get("method") == "Network.requestWillBeSent"]
        return [url for url in urls[1:] if not url.startswith("data:")]

    def set_view(self, width, height, dark=False):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=width < 600)
        self.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def screenshot(self, path, clip=None):
        parameters = {"format": "png", "captureBeyondViewport": True}
        if clip:
            parameters["clip"] = dict(zip(("x", "y", "width", "height"), clip), scale=1)
        image = self.call("Page.captureScreenshot", **parameters)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(image))
