/** The style of a report, on a screen and on paper. */

export const STYLE = `
:root { color-scheme: light dark; --fg: #1b1f24; --soft: #57606a; --line: #d0d7de; --bg: #fff; --panel: #f6f8fa; --good: #1a7f37;
  --bad: #c2222d; --warn: #9a6700; --accent: #2f6fb2; --band: #2f6fb233; }
@media (prefers-color-scheme: dark) { :root { --fg: #e6edf3; --soft: #9198a1; --line: #3d444d; --bg: #0d1117; --panel: #161b22; --good: #3fb950;
  --bad: #f85149; --warn: #d29922; --accent: #6ca6e8; --band: #6ca6e833; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 2rem 1.25rem 4rem; max-width: 62rem; color: var(--fg); background: var(--bg);
  font: 15px/1.5 system-ui, "Segoe UI", "Helvetica Neue", Arial, sans-serif; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: 0 0 .3rem; overflow-wrap: anywhere; }
h2 { font-size: 1.15rem; margin: 2.2rem 0 .6rem; padding-bottom: .25rem; border-bottom: 1px solid var(--line); }
.answer { font-size: 24px; line-height: 1.3; font-weight: 600; margin: 0 0 1rem; overflow-wrap: anywhere; }
p { margin: .5rem 0; } .soft { color: var(--soft); } ul { margin: .4rem 0; padding-left: 1.2rem; } p, li, .blank { overflow-wrap: anywhere; }
.pill { display: inline-block; padding: .05rem .55rem; border-radius: 1rem; border: 1px solid currentColor; font-weight: 600; font-size: .9rem; }
.good { color: var(--good); } .bad { color: var(--bad); } .warn { color: var(--warn); }
.notice { border: 1px solid var(--warn); border-left-width: 5px; background: var(--panel); padding: .5rem 1rem; border-radius: 4px; margin: 1rem 0; }
.notice h2 { border: 0; margin: 0 0 .2rem; padding: 0; font-size: 1rem; }
.blank { border: 1.5px dashed var(--warn); border-radius: 4px; min-height: 2.6rem; padding: .2rem .6rem; margin: .35rem 0; font-size: .85rem; }
td .blank { min-height: 1.6rem; min-width: 7rem; margin: 0; } h3 { font-size: 1rem; margin: 1.4rem 0 .2rem; }
.wide { overflow-x: auto; } table { border-collapse: collapse; width: 100%; font-size: .88rem; }
th, td { text-align: left; vertical-align: top; padding: .28rem .6rem .28rem 0; border-bottom: 1px solid var(--line); overflow-wrap: break-word; }
th { color: var(--soft); font-weight: 600; overflow-wrap: normal; } .n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .15rem 1.2rem; margin: .5rem 0; } dt { color: var(--soft); } dd { margin: 0; overflow-wrap: anywhere; }
code, pre { font: .84rem/1.45 ui-monospace, "SFMono-Regular", Menlo, Consolas, monospace; }
pre { background: var(--panel); border: 1px solid var(--line); border-radius: 4px; padding: .7rem .9rem; white-space: pre-wrap; overflow-wrap: anywhere; }
.plots { display: grid; grid-template-columns: repeat(auto-fill, minmax(22rem, 1fr)); gap: 1rem 1.5rem; }
figure { margin: 0; break-inside: avoid; } svg { width: 100%; height: auto; display: block; } figcaption { color: var(--soft); font-size: .8rem; }
.compact table { font-size: .8rem; } .compact td:first-child { min-width: 9rem; } .compact th, .compact td { padding-right: .45rem; }
svg text { font-size: 10px; fill: var(--soft); font-family: inherit; } svg .grid { stroke: var(--line); stroke-width: .6; } svg .base { stroke: var(--soft); }
svg .bar { fill: var(--accent); } svg .pale { opacity: .35; } svg .failed { fill: var(--bad); } svg .mark { stroke: var(--soft); stroke-dasharray: 3 2; } svg text.mark { stroke: none; }
svg .limit { stroke: var(--bad); stroke-width: 1.4; } svg text.limit { stroke: none; fill: var(--bad); font-weight: 600; }
svg .band { fill: var(--band); } svg .line { fill: none; stroke: var(--accent); stroke-width: 1.6; } svg .whole { fill: none; stroke: var(--soft); stroke-dasharray: 4 3; }
.small { font-size: .8rem; } .cell { display: inline-block; padding: .05rem .4rem; border-radius: 3px; background: color-mix(in srgb, currentColor 12%, transparent); }
@media (max-width: 40rem) { dl { grid-template-columns: 1fr; gap: 0; } dd { margin-bottom: .3rem; } .plots { grid-template-columns: 1fr; }
  .wide table { min-width: 38rem; } }
@media print {
  :root { color-scheme: light; --fg: #000; --soft: #444; --line: #bbb; --bg: #fff; --panel: #f4f4f4; --good: #14602a; --bad: #a11622; --warn: #7a5200; --accent: #2f6fb2; --band: #2f6fb233; }
  @page { margin: 16mm 14mm; }
  body { max-width: none; padding: 0; font-size: 10pt; print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  h2 { break-after: avoid; } tr, .notice, dl, .blank { break-inside: avoid; } h3 { break-after: avoid; } thead { display: table-header-group; } .wide { overflow: visible; }
  .compact table { font-size: 7.5pt; } .compact td:first-child { min-width: 32mm; }
  .plots { grid-template-columns: 1fr 1fr; } .paper-break { break-before: page; } pre { font-size: 7pt; columns: 2; } table { font-size: 8.5pt; }
}
`;
