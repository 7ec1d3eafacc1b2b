// Reads what was written down of one session's model calls.
import { readCosts } from "./ledger.ts";
import { type CallLine, dayOf } from "./line.ts";

/** Of the session by this canonical key, whatever it is called since it began anew. */
export async function paidSince(home: string, key: string, at: string): Promise<CallLine[]> {
  const found: CallLine[] = [];
  for await (const { line } of readCosts(home, dayOf(Date.parse(at))))
    if (line.kind === "call" && (line.session === key || key.startsWith(`${line.session}.`)))
      found.push(line);
  return found;
}
