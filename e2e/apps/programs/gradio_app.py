"""A text box, and an answer that the server streams. Run it with a port and, for a preview by path, its root path."""

import sys

import gradio


def greet(name):
    answer = "hello"
    for letter in f" {name}":
        answer += letter
        yield answer


gradio.Interface(fn=greet, inputs=gradio.Textbox(label="name"), outputs=gradio.Textbox(label="answer")).launch(
    server_name="127.0.0.1", server_port=int(sys.argv[1]), quiet=True
)
