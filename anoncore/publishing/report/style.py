"""How the report looks: light and dark by the reader's setting, on any width, and on paper."""

STYLE = """
:root { color-scheme: light dark; --text: #1f2328; --soft: #57606a; --back: #ffffff; --panel: #f5f6f8;
  --line: #d5d9de; --good: #1a7f37; --bad: #b42318;
  --s0: #0072b2; --s1: #d55e00; --s2: #00875f; --s3: #b35c8c; --s4: #b87800; --s5: #2f8fc4; }
@media (prefers-color-scheme: dark) {
  :root { --text: #e6e8eb; --soft: #a4acb6; --back: #15181c; --panel: #1e2227; --line: #3a4048; --good: #57c774;
    --bad: #ff8f85; --s0: #4aa3df; --s1: #f0803c; --s2: #2fbf93; --s3: #e09cc4; --s4: #e6a93a; --s5: #7cc4ee; } }
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body { margin: 0; background: var(--back); color: var(--text); font: 16px/1.55 system-ui, sans-serif; }
main { max-width: 1500px; margin: 0 auto; padding: 28px 36px 60px; }
h1 { font-size: 1.8rem; line-height: 1.25; margin: 0 0 6px; overflow-wrap: anywhere; }
h2 { font-size: 1.3rem; margin: 40px 0 10px; padding-top: 12px; border-top: 1px solid var(--line); }
h3 { font-size: 1.05rem; margin: 22px 0 6px; overflow-wrap: anywhere; }
p, li { max-width: 78ch; overflow-wrap: anywhere; }
ul { padding-left: 1.2em; margin: 6px 0; }
li { margin: 3px 0; }
.soft, figcaption { color: var(--soft); font-size: .92rem; }
figcaption { max-width: 72ch; margin-top: 4px; }
.note { background: var(--panel); border-left: 4px solid var(--s1); padding: 8px 14px; max-width: 84ch; }
.tiles { display: grid; grid-template-columns: repeat(auto-fill, minmax(190px, 1fr)); gap: 12px; margin: 14px 0; }
.tile { border: 1px solid var(--line); border-radius: 8px; padding: 10px 14px; background: var(--panel); }
.tile b { display: block; font-size: 1.45rem; line-height: 1.3; }
.tile span { color: var(--soft); font-size: .88rem; }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 540px), 1fr)); gap: 12px 36px; }
figure { margin: 10px 0; max-width: 760px; }
.plot { display: block; width: 100%; height: auto; overflow: visible; }
.plot text { fill: var(--text); font: 12px system-ui, sans-serif; }
.plot .grid { stroke: var(--line); stroke-width: 1; }
.fill { stroke: none; } .line { fill: none; stroke-width: 2.2; }
.fill.s0 { fill: var(--s0); } .fill.s1 { fill: var(--s1); } .fill.s2 { fill: var(--s2); }
.fill.s3 { fill: var(--s3); } .fill.s4 { fill: var(--s4); } .fill.s5 { fill: var(--s5); }
.line.s0 { stroke: var(--s0); } .line.s1 { stroke: var(--s1); } .line.s2 { stroke: var(--s2); }
.line.s3 { stroke: var(--s3); } .line.s4 { stroke: var(--s4); } .line.s5 { stroke: var(--s5); }
.swatch { vertical-align: -2px; margin-right: 8px; }
.scroll { overflow-x: auto; margin: 8px 0 14px; max-width: 100%; }
table { border-collapse: collapse; font-size: .93rem; }
th, td { text-align: left; vertical-align: top; padding: 5px 16px 5px 0; border-bottom: 1px solid var(--line); }
th { font-weight: 600; vertical-align: bottom; }
td:first-child, th:first-child { min-width: 15ch; max-width: 34ch; }
td { max-width: 60ch; overflow-wrap: anywhere; min-width: 5ch; }
td.number { white-space: nowrap; }
.number { text-align: right; overflow-wrap: normal; font-variant-numeric: tabular-nums; }
.good { color: var(--good); } .bad { color: var(--bad); }
pre { background: var(--panel); border: 1px solid var(--line); border-radius: 8px; padding: 12px 16px; overflow-x: auto;
  font: 13px/1.5 ui-monospace, monospace; white-space: pre-wrap; overflow-wrap: anywhere; }
nav ul { columns: 2; max-width: 700px; } a { color: inherit; }
@media (max-width: 700px) { main { padding: 18px 16px 40px; } nav ul { columns: 1; } }
@media print {
  :root { --text: #000000; --soft: #444444; --back: #ffffff; --panel: #f4f4f4; --line: #bbbbbb; --good: #1a7f37;
    --bad: #b42318; --s0: #0072b2; --s1: #d55e00; --s2: #00875f; --s3: #b35c8c; --s4: #b87800; --s5: #2f8fc4; }
  @page { margin: 16mm 14mm; }
  body { font-size: 10.5pt; } main { padding: 0; max-width: none; } nav { display: none; }
  .figures { grid-template-columns: 1fr 1fr; } .scroll { overflow: visible; } table { font-size: 8.5pt; width: 100%; }
  td:first-child, th:first-child { min-width: 12ch; } td.number { white-space: normal; }
  h2, h3 { break-after: avoid; } figure, tr, .tile { break-inside: avoid; }
  * { -webkit-print-color-adjust: exact; print-color-adjust: exact; }
}
"""
