"""The runtime's end of a link: the server, its calls and streams that generators feed.

It knows no method: the packages that handle methods import it, never the reverse.
"""
