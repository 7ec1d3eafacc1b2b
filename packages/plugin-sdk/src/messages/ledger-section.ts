// Where a ledger stands in a summary, and how to take it off again.
import { escapeTags } from "./wrap-record.ts";

const BEGIN = "\n\n<ledger>\n";
const END = "\n</ledger>";

/**
 * `summary` followed by the text of a ledger, each with the tags of ours that stand in it as text;
 * the summary alone when the ledger names nothing.
 */
export function withLedger(summary: string, ledger: string): string {
  const own = escapeTags(summary);
  return ledger === "" ? own : `${own}${BEGIN}${escapeTags(ledger)}${END}`;
}

/**
 * A summary taken apart: its own words, and its ledger's text; empty when it holds none. A ledger's
 * text has no blank line in it.
 */
export function splitLedger(summary: string): { summary: string; ledger: string } {
  const at = summary.endsWith(END) ? summary.lastIndexOf(BEGIN) : -1;
  return at < 0
    ? { summary, ledger: "" }
    : { summary: summary.slice(0, at), ledger: summary.slice(at + BEGIN.length, -END.length) };
}
