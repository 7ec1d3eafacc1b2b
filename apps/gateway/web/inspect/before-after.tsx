// Two texts side by side, or one where they are the same.
import { useMemo } from "preact/hooks";
import { formatNumberOf } from "../../src/conversation/format.ts";
import { diffLines, foldSame } from "./text-diff.ts";

export interface BeforeAfterProps {
  /** What the two are, e.g. "as stored" and "as sent". */
  names: readonly [string, string];
  before: string;
  after: string;
}

export function BeforeAfter({ names, before, after }: BeforeAfterProps) {
  const lines = useMemo(() => foldSame(diffLines(before, after)), [before, after]);
  if (before === after) return <p class="soft">The two texts are the same.</p>;
  return (
    <table class="beside">
      <caption class="hidden">
        {names[0]} and {names[1]}
      </caption>
      <thead>
        <tr>
          <th scope="col">{names[0]}</th>
          <th scope="col">{names[1]}</th>
        </tr>
      </thead>
      <tbody>
        {lines.map(({ kind, before: left, after: right }, index) =>
          kind === "skipped" ? (
            <tr key={index}>
              <td colSpan={2} class="soft">
                {formatNumberOf(Number(left), "line")} the same
              </td>
            </tr>
          ) : (
            <tr key={index} data-change={kind}>
              <td>{left}</td>
              <td>{right}</td>
            </tr>
          ),
        )}
      </tbody>
    </table>
  );
}
