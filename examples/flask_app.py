"""Commands for the users of a Flask application: python flask_app.py 'http://127.0.0.1:8080/#token=…'

The threads of the web server share one client. Needs `pip install flask`.
"""

import logging
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from urllib.error import HTTPError
from urllib.request import urlopen

from flask import Flask, Response
from werkzeug.serving import make_server

import hawse
import hawse.sync


def create_app(client: hawse.sync.Client) -> Flask:
    app = Flask(__name__)
    box = client.sandbox()

    @app.get("/square/<int:number>")
    def square(number: int) -> dict[str, int]:
        return {"square": int(box.exec(f"echo $(({number} * {number}))", check=True).text)}

    @app.get("/count/<int:last>")
    def count(last: int) -> Response:
        def lines() -> Iterator[str]:
            with box.processes.start(["seq", str(last)]) as process:  # killed if the user disconnects
                for line in process.stdout.lines():
                    yield f"{line}\n"

        return Response(lines(), mimetype="text/plain")

    @app.get("/files/<path:path>")
    def read(path: str) -> bytes:
        return box.files.read(path)

    @app.errorhandler(hawse.NotFoundError)
    def not_found(error: hawse.NotFoundError) -> tuple[dict[str, str], int]:
        return {"code": error.code}, 404

    return app


def get(url: str) -> str:
    try:
        with urlopen(url) as answer:
            return str(answer.read().decode())
    except HTTPError as error:
        with error:
            return f"{error.code} {error.read().decode()}"


def main(address: str) -> None:
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    with hawse.sync.connect(address) as client:
        server = make_server("127.0.0.1", 0, create_app(client), threaded=True)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        url = f"http://127.0.0.1:{server.server_port}"
        try:
            with ThreadPoolExecutor(8) as users:
                for answer in users.map(lambda number: get(f"{url}/square/{number}"), range(8)):
                    print(answer.strip())
            print("streamed:", get(f"{url}/count/3").split())
            print("missing:", get(f"{url}/files/nothing-here").strip())
        finally:
            server.shutdown()
            thread.join()
            server.server_close()


if __name__ == "__main__":
    main(sys.argv[1])
