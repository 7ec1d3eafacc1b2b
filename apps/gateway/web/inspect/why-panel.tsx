// Why the call holds what it holds, and what it, its turn and the session come to.
import type { Usage } from "../../src/costs/usage.ts";
import type { CallRow, CallView } from "../../src/inspect/shapes.ts";
import { formatCount } from "../format.ts";
import { planLedger } from "./ledger.ts";

export interface WhyPanelProps {
  view: CallView;
  rows: readonly CallRow[];
  /** Null: not read yet. */
  usage: Usage | null;
}

export function WhyPanel({ view, rows, usage }: WhyPanelProps) {
  const { row, why, rebuilt } = view;
  return (
    <div class="why">
      <ul>
        <li>{describeRoom(row)}</li>
        {why.map((sentence) => (
          <li key={sentence}>{sentence}</li>
        ))}
        <li data-bad={!rebuilt.isSame}>
          {rebuilt.isSame
            ? `The request can be made again to the byte (${row.requestHash.slice(0, 12)}).`
            : `The request cannot be made again to the byte: ${rebuilt.why ?? "nobody knows why"}.`}
        </li>
      </ul>
      <Ledger row={row} rows={rows} usage={usage} />
    </div>
  );
}

/** Pure. */
function describeRoom({ tokens, promptBudget, contextWindow }: CallRow): string {
  if (promptBudget === null) return `${formatCount(tokens.total)} tokens; the budget is not known.`;
  const left = promptBudget - tokens.total;
  const room =
    left < 0 ? `${formatCount(-left)} over budget` : `${formatCount(left)} below the budget`;
  const window = contextWindow === null ? "" : ` in a window of ${formatCount(contextWindow)}`;
  return `${formatCount(tokens.total)} of ${formatCount(promptBudget)} tokens${window}: ${room}.`;
}

function Ledger({ row, rows, usage }: Omit<WhyPanelProps, "view"> & { row: CallRow }) {
  return (
    <table class="ledger">
      <caption class="hidden">Cost and cache</caption>
      <thead>
        <tr>
          <td />
          <th scope="col">call {row.id}</th>
          <th scope="col">turn {row.turn}</th>
          <th scope="col">session</th>
        </tr>
      </thead>
      <tbody>
        {planLedger(row, rows, usage).map(({ label, call, turn, session }) => (
          <tr key={label}>
            <th scope="row">{label}</th>
            <td>{call}</td>
            <td>{turn}</td>
            <td>{session}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
