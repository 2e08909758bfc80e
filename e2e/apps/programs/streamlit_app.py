"""A slider, and a text that the server computes from it."""

import streamlit

value = streamlit.slider("number", 0, 100, 10)
streamlit.write(f"the square is {value * value}")
