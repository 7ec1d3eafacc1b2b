// Why the call holds what it holds, and what it, its turn and the session come to.

import { useMemo } from "preact/hooks";
import { formatCount } from "../../src/conversation/format.ts";
import { UNPAID } from "../../src/costs/unpaid.ts";
import type { Usage } from "../../src/costs/usage.ts";
import type { CallPage, CallRow } from "../../src/inspect/shapes/calls.ts";
import type { CallView, Proof } from "../../src/inspect/shapes/one-call.ts";
import { familyHeading, planLedger, usageOf } from "./ledger.ts";

export interface WhyPanelProps {
  /** Of the session. */
  session: string;
  view: CallView;
  /** Null: not known yet. */
  proof: Proof | null;
  rows: readonly CallRow[];
  /** Null: not read yet. */
  usage: Usage | null;
  sums: CallPage["sums"];
}

export function WhyPanel({ session, view, proof, rows, usage, sums }: WhyPanelProps) {
  const { row, why } = view;
  return (
    <div class="why">
      <ul>
        <li>{describeRoom(row)}</li>
        {why.map((sentence) => (
          <li key={sentence}>{sentence}</li>
        ))}
        {usage !== null && usage.unpaid !== null && <li>{UNPAID[usage.unpaid]}</li>}
        {proof !== null && <li data-bad={!proof.isSame}>{describeProof(proof, row)}</li>}
      </ul>
      <Ledger session={session} row={row} rows={rows} usage={usage} sums={sums} />
    </div>
  );
}

/** Pure. Of Clew's record of the request: a driver puts it on the wire in its provider's form. */
function describeProof(
  { isSame, why }: Proof,
  { requestHash }: Pick<CallRow, "requestHash">,
): string {
  return isSame
    ? `The request can be made again to the byte, as Clew recorded it and handed it to the provider's driver (hash ${requestHash}).`
    : (why ?? "The request cannot be made again to the byte, and nobody knows why.");
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

function Ledger({
  session: key,
  row,
  rows,
  usage,
  sums,
}: Omit<WhyPanelProps, "view" | "proof"> & { row: CallRow }) {
  const lines = useMemo(
    () => planLedger(row, rows, { key, usage, sums }),
    [key, row, rows, usage, sums],
  );
  const family = usage === null ? null : familyHeading(usageOf(usage, key));
  return (
    <table class="ledger">
      <caption class="hidden">Cost and cache</caption>
      <thead>
        <tr>
          <td />
          <th scope="col">call {row.id}</th>
          <th scope="col">turn {row.turn}</th>
          <th scope="col">session</th>
          {family !== null && <th scope="col">{family}</th>}
        </tr>
      </thead>
      <tbody>
        {lines.map(({ label, call, turn, session, family: withOthers }) => (
          <tr key={label}>
            <th scope="row">{label}</th>
            <td>{call}</td>
            <td>{turn}</td>
            <td>{session}</td>
            {family !== null && <td>{withOthers}</td>}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
