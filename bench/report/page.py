"""The shell of docs/benchmarks.html: one file with its style in it, for light and dark, wide and narrow, without a script."""

import html
import os

from . import blocks

STYLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "style.css")


def page(made, note):
    """The whole file; the first heading is its title, those of level 2 its contents."""
    with open(STYLE, encoding="utf-8") as file:
        style = file.read()
    title = next((block.text for block in made if isinstance(block, blocks.Heading)), "Benchmarks")
    contents = [block for block in made if isinstance(block, blocks.Heading) and block.level == 2]
    links = "\n".join(f'<li><a href="#{block.anchor}">{html.escape(block.text)}</a></li>' for block in contents)
    rest = made[1:] if made and isinstance(made[0], blocks.Heading) else made
    return "\n".join(
        [
            "<!DOCTYPE html>",
            f"<!-- {note} -->",
            '<html lang="en">',
            "<head>",
            '<meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{html.escape(title)}</title>",
            f"<style>\n{style}</style>",
            "</head>",
            "<body>",
            "<header>",
            f"<h1>{html.escape(title)}</h1>",
            *([f'<nav aria-label="Contents"><ul>\n{links}\n</ul></nav>'] if links else []),
            "</header>",
            "<main>",
            blocks.body(rest),
            "</main>",
            f"<footer>{html.escape(note[:1].upper() + note[1:])}.</footer>",
            "</body>",
            "</html>",
            "",
        ]
    )
