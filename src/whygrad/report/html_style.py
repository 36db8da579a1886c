"""How the HTML looks: text and background are the page's own, so that a dark page stays dark.

JupyterLab's theme is asked for the accents; the fallbacks can be read on light and on dark.
"""

from __future__ import annotations

STYLE = """
.whygrad { --wg-error: var(--jp-error-color1, #d64545); --wg-warning: var(--jp-warn-color1, #b97a00);
  --wg-note: var(--jp-info-color1, #1c8ca8); --wg-second: #5b83d6; --wg-tint: rgba(128, 128, 128, .12);
  font-family: var(--jp-ui-font-family, system-ui, sans-serif); font-size: 14px; line-height: 1.45;
  max-width: 72em; }
.whygrad .wg-summary { font-weight: 600; margin: .4em 0; }
.whygrad .wg-error { --wg-accent: var(--wg-error); }
.whygrad .wg-warning { --wg-accent: var(--wg-warning); }
.whygrad .wg-note { --wg-accent: var(--wg-note); }
.whygrad .wg-diagnostic { border-left: 3px solid var(--wg-accent); margin: .6em 0; padding: .2em .8em; }
.whygrad summary { cursor: pointer; }
.whygrad summary b { color: var(--wg-accent); }
.whygrad .wg-place, .whygrad pre, .whygrad code { font-family: var(--jp-code-font-family, monospace);
  font-size: .93em; }
.whygrad .wg-place { opacity: .75; margin-top: .5em; }
.whygrad pre { background: var(--wg-tint); color: inherit; border-radius: 4px; padding: .5em .7em;
  margin: .3em 0; overflow-x: auto; white-space: pre; line-height: 1.45; }
.whygrad code { background: var(--wg-tint); color: inherit; border-radius: 3px; padding: 0 .25em; }
.whygrad pre code { background: none; padding: 0; font-size: inherit; }
.whygrad .wg-number { opacity: .5; user-select: none; }
.whygrad mark { background: none; color: inherit; padding: 0; border-bottom: 2px solid var(--wg-accent); }
.whygrad mark.wg-primary { background: color-mix(in srgb, var(--wg-accent) 18%, transparent); }
.whygrad mark.wg-secondary { border-bottom: 2px dotted var(--wg-second); }
.whygrad span.wg-primary { color: var(--wg-accent); font-weight: 600; }
.whygrad span.wg-secondary { color: var(--wg-second); }
.whygrad ul { list-style: none; margin: .4em 0; padding: 0; }
.whygrad li { display: grid; grid-template-columns: 3.2em 1fr; margin: .15em 0; }
.whygrad li b { opacity: .75; }
.whygrad table { border-collapse: collapse; margin: .8em 0; }
.whygrad caption { text-align: left; font-weight: 600; padding-bottom: .3em; }
.whygrad th, .whygrad td { text-align: left; padding: .2em 1.2em .2em 0; vertical-align: top;
  border-bottom: 1px solid var(--wg-tint); }
"""
