// How the figures of stores and engines read in a terminal.
import { formatTable } from "../../../gateway/src/terminal/table.ts";
import { exponentsOf, type Row, type Verdict, verdictsOn } from "./figures.ts";

/** Worst three first, then every figure by size, and how each grows. */
export function formatSpeed(rows: readonly Row[]): string {
  const names = [...new Set(rows.map(({ name }) => name))];
  const verdicts = verdictsOn(rows.filter(({ name }) => name !== FLOOR));
  const missed = verdicts.filter(({ value, atMost }) => !(value <= atMost));
  return [
    `Worst three beside their goals:\n${verdicts.slice(0, 3).map(sentence).join("\n")}`,
    ...names.map((name) => tableOf(rows.filter((row) => row.name === name))),
    `${verdicts.length - missed.length} of ${verdicts.length} goals are met.`,
    ...(missed.length > 0 ? [missed.map(sentence).join("\n")] : []),
  ].join("\n\n");
}

/** The name of what every engine is compared with. */
export const FLOOR = "floor";

const sentence = ({ name, messages, measure, value, atMost }: Verdict) =>
  `  ${value <= atMost ? "met    " : "MISSED "} ${name}, ${measure} at ${messages.toLocaleString("en")}: ${figure(value)} (goal ${atMost})`;

function tableOf(rows: readonly Row[]): string {
  const measures = [...new Set(rows.flatMap((row) => Object.keys(row.measures)))];
  const exponents = exponentsOf(rows);
  const headings = [
    rows[0]!.name,
    ...rows.map(({ messages }) => messages.toLocaleString("en")),
    "exponent",
  ];
  const body = measures.map((measure) => [
    measure,
    ...rows.map(({ measures: { [measure]: value } }) =>
      value === undefined ? "–" : figure(value),
    ),
    exponents[measure] === undefined ? "–" : exponents[measure].toFixed(2),
  ]);
  const size = ["bytes/message", ...rows.map((row) => row.bytesPerMessage.toFixed(0)), "–"];
  return formatTable(headings, [size, ...body]);
}

function figure(value: number): string {
  if (Number.isNaN(value)) return "wrong";
  if (value >= 100) return value.toFixed(0);
  return value >= 1 ? value.toFixed(2) : value.toFixed(3);
}
