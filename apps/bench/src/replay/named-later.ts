// How many of the names used later each compaction still holds (measure M3).
import {
  type CompactionEntry,
  pathsInLedger,
  splitLedger,
  type TranscriptEntry,
} from "@clew/plugin-sdk/transcript";
import { everythingIn, evidenceOf, observedCompactions, stands } from "../shared/evidence.ts";

/** Sums over compactions. */
export interface NamedLater {
  /** Names used in later tool calls that stand in what was summarised. */
  evidence: number;
  /** Of them named in summary or ledger. */
  named: number;
  /** Of them named by the summary alone. */
  inSummary: number;
  /**
   * Of them inside at least 120 verbatim characters of their source: in the kept messages
   * or quoted in the summary.
   */
  grounded: number;
}

const VERBATIM_CHARS = 120;
const NONE: NamedLater = { evidence: 0, named: 0, inSummary: 0, grounded: 0 };

/** At every compaction of a branch. */
export function namedLater(branch: readonly TranscriptEntry[]): NamedLater {
  return branch.reduce(
    (sum, entry, at) => (entry.type === "compaction" ? add(sum, measure(branch, entry, at)) : sum),
    NONE,
  );
}

/**
 * The same for what the recorded client itself wrote; it kept messages too, which nobody recorded.
 */
export function namedByClient(
  branch: readonly TranscriptEntry[],
): Pick<NamedLater, "evidence" | "inSummary"> {
  return observedCompactions({ branch }).reduce<Pick<NamedLater, "evidence" | "inSummary">>(
    (sum, { cut, summary }) => {
      const names = evidenceOf(branch, cut);
      return {
        evidence: sum.evidence + names.length,
        inSummary: sum.inSummary + names.filter((name) => stands(summary, name)).length,
      };
    },
    NONE,
  );
}

function measure(
  branch: readonly TranscriptEntry[],
  compaction: CompactionEntry,
  at: number,
): NamedLater {
  const keptFrom = branch.findIndex(({ id }) => id === compaction.firstKeptEntryId);
  const names = evidenceOf(branch, keptFrom, at);
  const { summary, ledger } = splitLedger(compaction.summary);
  const inLedger = [ledger, ...pathsInLedger(ledger)];
  const kept = branch.slice(keptFrom, at).map(everythingIn);
  const source = branch.slice(0, keptFrom).map(everythingIn).join("\n");
  const inSummary = names.filter((name) => stands(summary, name));
  return {
    evidence: names.length,
    named: names.filter(
      (name) => inSummary.includes(name) || inLedger.some((text) => stands(text, name)),
    ).length,
    inSummary: inSummary.length,
    grounded: names.filter((name) => stayed(kept, name) || isQuoted(summary, source, name)).length,
  };
}

const stayed = (kept: readonly string[], name: string) =>
  kept.some((text) => text.length >= VERBATIM_CHARS && stands(text, name));

/**
 * Tried with the name at the beginning, in the middle and at the end of the
 * quotation: a few more may be.
 */
function isQuoted(summary: string, source: string, name: string): boolean {
  for (let at = summary.indexOf(name); at >= 0; at = summary.indexOf(name, at + 1)) {
    const spare = VERBATIM_CHARS - name.length;
    for (const from of [at, at - Math.floor(spare / 2), at - spare]) {
      const quotation = from < 0 ? "" : summary.slice(from, from + VERBATIM_CHARS);
      if (quotation.length === VERBATIM_CHARS && source.includes(quotation)) return true;
    }
  }
  return false;
}

function add(one: NamedLater, other: NamedLater): NamedLater {
  return {
    evidence: one.evidence + other.evidence,
    named: one.named + other.named,
    inSummary: one.inSummary + other.inSummary,
    grounded: one.grounded + other.grounded,
  };
}
