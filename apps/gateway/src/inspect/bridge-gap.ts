// Finds again which messages a call is a difference to whose report is damaged.
import { type ReportItem, whatIsSaid } from "@clew/engine-core";
import { estimateMessage } from "@clew/plugin-sdk/tokens";
import { buildContext, type ContextItem, type TranscriptEntry } from "@clew/plugin-sdk/transcript";
import { requestHashOf } from "../reports/request-proof.ts";
import { contentHash } from "../text/content-hash.ts";
import type { PlacedCall } from "./placed-call.ts";

export interface GapToBridge {
  /** The first call behind it that can be read. */
  placed: PlacedCall;
  /** All messages of the last call before it. */
  before: readonly ReportItem[];
  /** The branch of the call. */
  path: readonly TranscriptEntry[];
}

/**
 * Pure. All messages of the call; null = nobody can tell them. What was stored in between was most
 * likely sent as it is stored: the hash of the request proves it or does not.
 */
export function bridgeGap({ placed, before, path }: GapToBridge): ReportItem[] | null {
  const { kept, items } = placed.call.messages;
  const stored = buildContext(path).items;
  const newest = before.findLast(({ source }) => source.kind === "entry")?.source;
  const seen = stored.findLastIndex(
    ({ entryId }) => newest?.kind === "entry" && newest.entryId === entryId,
  );
  const likely = [
    () => [...before, ...stored.slice(seen + 1).map(itemOf)],
    () => stored.map(itemOf),
  ];
  for (const list of likely) {
    const all = [...list().slice(0, kept), ...items];
    if (
      all.length === kept + items.length &&
      requestHashOf(placed, all) === placed.call.requestHash
    )
      return all;
  }
  return null;
}

/** As a report would tell of it. */
const itemOf = ({ entryId, message }: ContextItem): ReportItem => ({
  source: { kind: "entry", entryId },
  role: message.role,
  ...{ code: "history", reason: "history" },
  tokens: Math.ceil(estimateMessage(message).estimate),
  hash: contentHash(JSON.stringify(whatIsSaid(message))),
});
