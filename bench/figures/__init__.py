"""The figures, in the order of measurement and display."""

from bench.figures.bulk import output, reattach, viewers
from bench.figures.calls import calls, prompt
from bench.figures.code import code, contexts
from bench.figures.interrupt import interrupt
from bench.figures.keys import beside_a_flood, beside_code, echo
from bench.figures.many import many
from bench.figures.printed import printed
from bench.figures.tokens import tokens
from bench.lab import Figure

FIGURES: dict[str, Figure] = {
    "many": many,  # first, because it would reuse memory freed by other figures, which would then not be counted
    "echo": echo,
    "flood": beside_a_flood,
    "displays": beside_code,
    "output": output,
    "printed": printed,
    "interrupt": interrupt,
    "reattach": reattach,
    "viewers": viewers,
    "prompt": prompt,
    "calls": calls,
    "code": code,
    "contexts": contexts,
    "tokens": tokens,
}
