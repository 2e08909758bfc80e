"""Program output as text for readers that pay for each word, such as language models. Pure: no I/O."""
