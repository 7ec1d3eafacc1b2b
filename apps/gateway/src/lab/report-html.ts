// Writes a comparison as one page that needs nothing from anywhere.

import { type Chart, drawChart, escapeHtml, type Line } from "./charts.ts";
import { type Compared, figuresOf, NOTES, notShownOf, planTable } from "./compare.ts";
import type { PlayedPoint } from "./shapes.ts";

/** Calls over which shares are averaged, so that a line can be read. */
const AVERAGED = 15;

/** Pure. `madeAt`: ISO 8601. */
export function renderReport(
  all: readonly Compared[],
  { version, madeAt }: { version: string; madeAt: string },
): string {
  const { headings, rows } = planTable(all.map(figuresOf));
  const recordings = [...new Set(all.map(({ recording }) => recording))];
  const sections = recordings.map((recording) =>
    renderRecording(
      recording,
      all.filter((one) => one.recording === recording),
    ),
  );
  // A narrow page lays rows out as blocks, which takes their roles from them.
  const head = headings.map((text) => `<th role="columnheader">${escapeHtml(text)}</th>`);
  const cells = (texts: readonly string[]) =>
    texts.map(
      (text, at) =>
        `<td role="cell" data-heading="${escapeHtml(headings[at] ?? "")}">${escapeHtml(text)}</td>`,
    );
  const row = (inside: readonly string[]) => `<tr role="row">${inside.join("")}</tr>`;
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Engines compared</title><style>${STYLE}</style></head><body><main>
<h1>Engines compared</h1>
<p>Clew ${escapeHtml(version)}, ${escapeHtml(madeAt.slice(0, 16).replace("T", " "))}.</p>
${NOTES.map((note) => `<p>${escapeHtml(note)}</p>`).join("\n")}
<table role="table" aria-label="Figures"><thead role="rowgroup">${row(head)}</thead><tbody role="rowgroup">${rows.map((texts) => row(cells(texts))).join("\n")}</tbody></table>
${sections.join("\n")}
</main></body></html>
`;
}

function renderRecording(recording: string, compared: readonly Compared[]): string {
  const [first] = compared;
  const about = `${first!.model}, window ${first!.contextWindow.toLocaleString("en-US")} tokens`;
  const legend = compared.map(
    ({ engine }, at) => `<li class="key-${at}">${escapeHtml(engine.asked)}</li>`,
  );
  const troubles = compared.flatMap(troublesOf).map((text) => `<li>${escapeHtml(text)}</li>`);
  return `<section><h2>${escapeHtml(recording)}</h2><p>${escapeHtml(about)}</p>
<ul class="legend">${legend.join("")}</ul>
${troubles.length === 0 ? "" : `<ul class="troubles">${troubles.join("")}</ul>`}
${planCharts(compared).map(drawChart).join("\n")}</section>`;
}

function troublesOf({ engine, failures, callsNotMade }: Compared): string[] {
  const turns = failures.slice(0, 5).map(({ turn, reason }) => `turn ${turn}: ${reason}`);
  return [
    ...(engine.degraded === null
      ? []
      : [`${engine.asked} was set aside (${engine.degraded}); ${engine.ran} answered.`]),
    ...turns.map((text) => `${engine.asked}, ${text}`),
    ...(callsNotMade > 0
      ? [
          `${engine.asked}: ${callsNotMade} recorded calls were not made, because their turn had failed.`,
        ]
      : []),
  ];
}

/** Pure. */
export function planCharts(compared: readonly Compared[]): Chart[] {
  const lines = (value: (points: readonly PlayedPoint[]) => (number | null)[]): Line[] =>
    compared.map(({ engine, points }) => ({ name: engine.asked, values: value(points) }));
  const each = (value: (point: PlayedPoint) => number | null) =>
    lines((points) => points.map(value));
  const budget = compared[0]?.points[0]?.promptBudget ?? null;
  const hasCost = compared.every(({ points }) => points.every(({ cost }) => cost !== null));
  return [
    {
      ...{ title: "Tokens per call", unit: "tokens", lines: each(({ tokens }) => tokens.total) },
      ...(budget !== null && { limit: { name: "prompt budget", value: budget } }),
    },
    ...(hasCost
      ? [
          {
            title: "Cost so far",
            unit: "$",
            lines: lines((points) => sums(points, (point) => point.cost!.total)),
          },
        ]
      : []),
    {
      title: "From the cache",
      unit: "%",
      lines: lines((points) =>
        shares(points, ({ cache }) => [cache.read, cache.read + cache.written]),
      ),
    },
    {
      title: "Names in view",
      unit: "%",
      lines: lines((points) =>
        shares(points, ({ evidence }) => [evidence.present, evidence.needed]),
      ),
    },
    { title: "Entries not shown", unit: "entries", lines: each(notShownOf) },
    {
      title: "Time of the engine so far",
      unit: "ms",
      lines: lines((points) => sums(points, (point) => point.engineMs)),
    },
  ];
}

function sums(points: readonly PlayedPoint[], value: (point: PlayedPoint) => number): number[] {
  let total = 0;
  return points.map((point) => (total += value(point)));
}

/** Percent, over the newest calls; null where there is nothing to share. */
function shares(
  points: readonly PlayedPoint[],
  parts: (point: PlayedPoint) => [number, number],
): (number | null)[] {
  const known = points.map(parts);
  return known.map((_, at) => {
    const recent = known.slice(Math.max(0, at - AVERAGED + 1), at + 1);
    const of = recent.reduce((sum, [, whole]) => sum + whole, 0);
    return of === 0 ? null : (100 * recent.reduce((sum, [part]) => sum + part, 0)) / of;
  });
}

const COLOURS = ["#0b6e99", "#c2410c", "#4d7c0f", "#7e22ce", "#a16207", "#be185d"];

const STYLE = [
  ":root{color-scheme:light dark;--text:#1c1917;--dim:#57534e;--line:#d6d3d1;--page:#fff}",
  "@media(prefers-color-scheme:dark){:root{--text:#f5f5f4;--dim:#a8a29e;--line:#44403c;--page:#171412}}",
  "body{margin:0;background:var(--page);color:var(--text);font:15px/1.5 system-ui,sans-serif}",
  "main{max-width:90rem;margin:0 auto;padding:1rem}p,section{max-width:60rem}",
  "table{border-collapse:collapse;font-variant-numeric:tabular-nums}",
  "th,td{padding:.25rem .6rem;border-bottom:1px solid var(--line);text-align:right;white-space:nowrap}",
  // No figure is cut off or has to be scrolled to: where a row does not fit, it becomes a block.
  "@media(max-width:90rem){thead{position:absolute;clip-path:inset(50%);width:1px;height:1px;overflow:hidden}table,tbody{display:block}tr{display:grid;grid-template-columns:repeat(auto-fill,minmax(8rem,1fr));gap:.5rem;padding:.75rem 0;border-bottom:1px solid var(--line)}td,td:nth-child(n){display:block;padding:0;border:0;text-align:left;white-space:normal;overflow-wrap:anywhere}td::before{content:attr(data-heading);display:block;color:var(--dim);font-size:.8rem}}",
  "th:nth-child(-n+2),td:nth-child(-n+2){text-align:left}",
  "figure{margin:1.25rem 0}figcaption{font-weight:600}svg{width:100%;height:auto}",
  ".grid{stroke:var(--line)}.tick{fill:var(--dim);font-size:11px}.limit{stroke:var(--dim);stroke-dasharray:5 4}",
  ".line{fill:none;stroke-width:1.6;stroke-linejoin:round}",
  ".legend{display:flex;flex-wrap:wrap;gap:1rem;padding:0;list-style:none}",
  '.legend li::before{content:"";display:inline-block;width:1rem;height:.2rem;margin-right:.4rem;vertical-align:middle;background:currentColor}',
  ...COLOURS.map(
    (colour, at) => `.line-${at}{stroke:${colour}}.key-${at}::before{color:${colour}}`,
  ),
].join("");

/** Engines that one report can tell apart. */
export const MOST_ENGINES = COLOURS.length;
