"""A Django project in one file: a form with a CSRF token, and a WebSocket of Channels that checks Origin."""

import os
import sys

from channels.generic.websocket import AsyncWebsocketConsumer
from channels.routing import ProtocolTypeRouter, URLRouter
from channels.security.websocket import AllowedHostsOriginValidator
from django.core.asgi import get_asgi_application
from django.core.management import execute_from_command_line
from django.http import HttpResponse
from django.template import Context, Engine
from django.template.context_processors import csrf
from django.urls import path

SECRET_KEY = "for a test alone"
DEBUG = True
ALLOWED_HOSTS = ["localhost"]
ROOT_URLCONF = __name__
ASGI_APPLICATION = f"{__name__}.application"
INSTALLED_APPS = ["daphne", "channels"]
MIDDLEWARE = ["django.middleware.common.CommonMiddleware", "django.middleware.csrf.CsrfViewMiddleware"]
USE_TZ = True

PAGE = """<!doctype html><title>django</title>
<form method="post">{% csrf_token %}<input name="name"><button>send</button></form><p id="answer">{{ answer }}</p>
<p id="socket"></p>
<script>
const socket = new WebSocket(`${location.protocol.replace("http", "ws")}//${location.host}/echo/`);
socket.onopen = () => socket.send("over a WebSocket");
socket.onmessage = ({ data }) => { document.querySelector("#socket").textContent = data; };
</script>
"""


def page(request):
    answer = f"hello {request.POST['name']}" if request.method == "POST" else ""
    template = Engine().from_string(PAGE)
    return HttpResponse(template.render(Context({"answer": answer, **csrf(request)})))


class Echo(AsyncWebsocketConsumer):
    async def receive(self, text_data=None, bytes_data=None):
        await self.send(text_data=f"echo: {text_data}")


urlpatterns = [path("", page)]

if __name__ == "__main__":
    os.environ["DJANGO_SETTINGS_MODULE"] = "django_app"
    execute_from_command_line([sys.argv[0], "runserver", "--noreload", f"127.0.0.1:{sys.argv[1]}"])
else:
    application = ProtocolTypeRouter(
        {
            "http": get_asgi_application(),
            "websocket": AllowedHostsOriginValidator(URLRouter([path("echo/", Echo.as_asgi())])),
        }
    )
