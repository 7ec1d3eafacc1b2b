// Holds the cut of a record that a host hands back.
import { createHash } from "node:crypto";
import type { AgentMessage } from "@clew/plugin-sdk/core";
import { estimateMessage } from "@clew/plugin-sdk/tokens";
import { textOf } from "@clew/plugin-sdk/transcript";
import { nameOf } from "../messages/name.ts";
import { coveredBy, ownName, ownRecord } from "../messages/own.ts";
import type { StoredCut } from "../store/cuts.ts";
import type { Standing } from "./show.ts";

/**
 * The cuts, of which that of the record `own` holds under every budget; `stored`: those that count
 * under another, too; `messages`: all else that the host handed over, one or more. Where the cut is
 * not known, the record stands before them all.
 */
export function withHandedBack(
  cuts: ReadonlyMap<string, StoredCut>,
  {
    own,
    messages,
    stored,
  }: { own: AgentMessage; messages: readonly AgentMessage[]; stored: readonly StoredCut[] },
): ReadonlyMap<string, StoredCut> {
  const standing = standingFor(own);
  const [begin, next] = messages.slice(0, 2).map(nameOf);
  const known = [...cuts.values(), ...stored].filter(({ name }) => name === standing.name);
  const inPlace = known.find(
    ({ first, request }) => begin === first || (begin === request && next === first),
  );
  const cut = inPlace ?? { ...asCut(standing, begin!), ...(known[0] && carried(known[0])) };
  const held = { ...cut, ceiling: Infinity, handedBack: standing.record };
  return new Map(cuts).set(cut.first, held);
}

/** What the record says by itself. */
export function standingFor(own: AgentMessage): Standing {
  const record = own.role === "compactionSummary" ? own.summary : textOf(own);
  return {
    ...{ record, covered: coveredBy(record), request: null, parts: new Map() },
    name: ownName(own) ?? createHash("sha256").update(record).digest("hex").slice(0, 16),
    time: own.timestamp ?? null,
  };
}

function asCut({ record, name, ...standing }: Standing, first: string): StoredCut {
  const { estimate, high } = estimateMessage(ownRecord(record, { name, timestamp: undefined }));
  const tokens = { estimate, high };
  return { ...standing, ...{ id: UNKNOWN, name, first, ceiling: Infinity, tokens } };
}

/** No cut of a database has it. */
const UNKNOWN = -1;

/** What holds of a cut wherever its record stands. */
const carried = ({ id, newestHere, parts, covered, time }: StoredCut) => ({
  ...{ id, parts, covered, time },
  ...(newestHere !== undefined && { newestHere }),
});
