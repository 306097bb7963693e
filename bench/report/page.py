"""The shell of docs/benchmarks.html: one file with its style in it, for light and dark, wide and narrow, without a script."""

import html

from . import blocks

STYLE = """
:root { color-scheme: light dark; --paper: #fdfdfc; --ink: #1c2024; --soft: #5b6570; --rule: #dde1e5; --card: #ffffff; --accent: #b3261e;
  --bar: #9aa7b4; --floor: #c9d0d6; --link: #14508c; --c0: #1f6fb4; --c1: #2e8540; --c2: #8350a8; --c3: #b05d00; --c4: #007f86; --c5: #a83279;
  --c6: #6b6f00; --c7: #4a5bbf; }
@media (prefers-color-scheme: dark) { :root { --paper: #14171a; --ink: #e6e9ec; --soft: #9da7b1; --rule: #2d343b; --card: #1b2025;
  --accent: #ff7a6e; --bar: #5f6d7b; --floor: #3d4750; --link: #7fb8f0; --c0: #6db3f2; --c1: #6ecb7f; --c2: #c79af0; --c3: #f0a35c; --c4: #55cfd6;
  --c5: #f08cc8; --c6: #cfd35a; --c7: #a0acff; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.55 system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; }
main, header, footer { max-width: 1120px; margin: 0 auto; padding: 0 20px; }
header { padding-top: 32px; }
main > p, main > ul { max-width: 46rem; }
h1 { font-size: 2rem; line-height: 1.2; margin: 0 0 8px; }
h2 { font-size: 1.4rem; margin: 48px 0 8px; padding-top: 12px; border-top: 2px solid var(--rule); }
h3 { font-size: 1.1rem; margin: 32px 0 8px; }
a { color: var(--link); }
nav ul { display: flex; flex-wrap: wrap; gap: 4px 18px; padding: 0; margin: 12px 0 0; list-style: none; }
code { font: 0.9em ui-monospace, "DejaVu Sans Mono", monospace; overflow-wrap: anywhere; }
pre { background: var(--card); border: 1px solid var(--rule); border-radius: 6px; padding: 12px 14px; overflow-x: auto; }
pre code { overflow-wrap: normal; }
.plots { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 440px), 1fr)); gap: 16px; margin: 12px 0; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(150px, 1fr)); gap: 12px; list-style: none; padding: 0; margin: 20px 0; max-width: none; }
.tiles li { background: var(--card); border: 1px solid var(--rule); border-top: 3px solid var(--accent); border-radius: 6px; padding: 10px 14px; }
.tiles span { display: block; line-height: 1.35; }
.tiles .what { font-size: 0.82rem; color: var(--soft); min-height: 1.1rem; }
.tiles .figure { font-size: 1.75rem; font-weight: 700; font-variant-numeric: tabular-nums; }
.tiles .text { font-size: 0.88rem; }
.tiles .small { font-size: 0.78rem; color: var(--soft); margin-top: 4px; }
figure { margin: 0; padding: 14px 16px 10px; background: var(--card); border: 1px solid var(--rule); border-radius: 8px; display: flex;
  flex-direction: column; min-width: 0; }
figcaption { order: -1; font-weight: 600; font-size: 0.92rem; line-height: 1.35; margin-bottom: 8px; }
svg { display: block; width: 100%; height: auto; font: 13px system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; overflow: visible; }
svg text { fill: var(--ink); }
svg .value { font-variant-numeric: tabular-nums; fill: var(--soft); font-size: 12px; }
svg .tick, svg .note { fill: var(--soft); font-size: 12px; }
svg .note { font-style: italic; font-size: 12px; }
svg .headline { font-weight: 700; }
svg text.headline { fill: var(--accent); }
.grid { stroke: var(--rule); fill: none; }
.mark { stroke: var(--ink); stroke-width: 1.2; stroke-dasharray: 2 2; fill: none; }
.interval { stroke: var(--ink); stroke-width: 1.6; fill: none; }
.bar { fill: var(--bar); }
.bar.floor { fill: var(--floor); }
.bar.headline { fill: var(--accent); }
.line { fill: none; stroke-width: 1.8; stroke: var(--line); }
.line.headline { stroke-width: 3.2; }
.line.floor { stroke-dasharray: 5 4; }
.leader { stroke: var(--line); stroke-width: 0.8; opacity: 0.6; fill: none; }
.dot { fill: var(--line); stroke: var(--card); stroke-width: 1; }
svg .label.c0, svg .label.c1, svg .label.c2, svg .label.c3, svg .label.c4, svg .label.c5, svg .label.c6, svg .label.c7 { fill: var(--line); }
svg .label { font-size: 12.5px; }
.headline { --line: var(--accent); } .floor { --line: var(--soft); }
.c0 { --line: var(--c0); } .c1 { --line: var(--c1); } .c2 { --line: var(--c2); } .c3 { --line: var(--c3); } .c4 { --line: var(--c4); }
.c5 { --line: var(--c5); } .c6 { --line: var(--c6); } .c7 { --line: var(--c7); }
details { margin: 8px 0; }
summary { cursor: pointer; color: var(--link); padding: 6px 0; }
.table { overflow-x: auto; margin: 12px 0; }
table { border-collapse: collapse; font-size: 0.92rem; }
caption { text-align: left; font-weight: 600; padding-bottom: 6px; }
th, td { text-align: left; vertical-align: top; padding: 5px 14px 5px 0; border-bottom: 1px solid var(--rule); font-weight: 400; }
thead th { font-weight: 600; border-bottom: 2px solid var(--rule); vertical-align: bottom; }
.number { text-align: right; font-variant-numeric: tabular-nums; }
td.note { text-align: left; color: var(--soft); font-style: italic; font-size: 0.85rem; min-width: 11rem; }
tbody th { position: sticky; left: 0; background: var(--paper); min-width: 8rem; }
td { min-width: 5.5rem; }
tr.headline th[scope=row] { font-weight: 700; color: var(--accent); }
:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
footer { margin-top: 48px; padding-top: 16px; padding-bottom: 40px; color: var(--soft); font-size: 0.9rem; border-top: 1px solid var(--rule); }
@media (max-width: 480px) { main, header, footer { padding-left: 12px; padding-right: 12px; } figure { padding: 10px 10px 8px; } h1 { font-size: 1.6rem; } }
@media (max-width: 640px) { table.cards thead { display: none; } table.cards, .cards tbody, .cards tr, .cards th, .cards td, .cards caption { display: block; }
  .cards tr { background: var(--card); border: 1px solid var(--rule); border-radius: 6px; padding: 8px 12px; margin-bottom: 8px; }
  .cards th, .cards td { border: 0; padding: 1px 0; background: none; position: static; }
  .cards th { font-weight: 600; } .cards td:empty { display: none; }
  .cards td::before { content: attr(data-label) ": "; color: var(--soft); } }
@media print { details > * { display: block; } figure { break-inside: avoid; } }
"""


def page(made, note):
    """The whole file; the first heading is its title, those of level 2 its contents."""
    title = next((block.text for block in made if isinstance(block, blocks.Heading)), "Benchmarks")
    contents = [block for block in made if isinstance(block, blocks.Heading) and block.level == 2]
    links = "\n".join(f'<li><a href="#{block.anchor}">{html.escape(block.text)}</a></li>' for block in contents)
    rest = made[1:] if made and isinstance(made[0], blocks.Heading) else made
    return "\n".join([
        "<!DOCTYPE html>", f"<!-- {note} -->", '<html lang="en">', "<head>", '<meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">', f"<title>{html.escape(title)}</title>",
        f"<style>{STYLE}</style>", "</head>", "<body>", "<header>", f"<h1>{html.escape(title)}</h1>",
        *([f'<nav aria-label="Contents"><ul>\n{links}\n</ul></nav>'] if links else []),
        "</header>", "<main>", blocks.body(rest), "</main>",
        f"<footer>{html.escape(note[:1].upper() + note[1:])}.</footer>", "</body>", "</html>", ""])
