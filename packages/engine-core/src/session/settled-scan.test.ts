import {
  type NewTranscriptEntry,
  ORIGIN,
  placeEntry,
  ROLE,
  type TranscriptEntry,
} from "@clew/plugin-sdk/transcript";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { findPendingTurns } from "./pending-turns.ts";
import { settledScan } from "./settled-scan.ts";
import { messageIds } from "./told-messages.ts";

const said = (role: "user" | "assistant") => ({
  type: "message" as const,
  message: { role, content: role === "user" ? "x" : [], stopReason: "stop" } as never,
});
const someEntry = fc.constantFrom<NewTranscriptEntry>(
  said("user"),
  said("assistant"),
  { type: "custom_message", customType: "note", content: "noted" },
  { type: "custom", customType: "mine" },
  { type: "custom_message", customType: "openclaw.runtime-context", content: "hidden" },
);
/** A branch, and which of its messages an engine has acknowledged. */
const someBranch = fc.array(fc.tuple(someEntry, fc.boolean()), { maxLength: 30 }).map((parts) => {
  const branch = parts.map(([entry], index) =>
    placeEntry(entry, {
      id: `e${index}`,
      parentId: index === 0 ? null : `e${index - 1}`,
      timestamp: "",
    }),
  );
  const ids = parts.flatMap(([, isAcknowledged], index) => (isAcknowledged ? [`e${index}`] : []));
  return { branch, record: { root: "s", acknowledged: new Set(ids), refused: new Map() } };
});

/** The same branch of entries that may not be read up to `end`. */
const unread = (branch: readonly TranscriptEntry[], end: number) =>
  branch.map((entry, index): TranscriptEntry => {
    if (entry.type !== "message" || index >= end) return entry;
    const { type, id, parentId, timestamp } = entry;
    const known = { [ORIGIN]: id, [ROLE]: entry.message.role };
    return Object.defineProperty({ type, id, parentId, timestamp, ...known }, "message", {
      get: () => {
        throw new Error(`entry ${id} was read`);
      },
    }) as TranscriptEntry;
  });

describe("a search for pending turns that knows nothing yet", () => {
  it("finds every turn that holds what was not acknowledged, with its place on the branch", () => {
    fc.assert(
      fc.property(someBranch, ({ branch, record }) => {
        const { turns } = findPendingTurns(branch, record, null);
        const told = messageIds(branch);
        const lastMessage = branch.findLastIndex(({ type }) => type === "message");
        const wanted = messageIds(branch.slice(0, lastMessage + 1)).filter(
          (id) => !record.acknowledged.has(id),
        );
        expect(turns.flatMap(({ fresh }) => [...fresh])).toEqual(wanted);
        for (const { messages, notes } of turns)
          for (const { id, rawSeq, position } of [...notes, ...messages]) {
            expect(branch[rawSeq]!.id).toBe(id);
            expect(told[position]).toBe(id);
          }
      }),
    );
  });

  it("reads no message of the turns before", () => {
    fc.assert(
      fc.property(someBranch, ({ branch, record }) => {
        const { settled } = settledScan(branch, record);
        const late = unread(branch, settled);
        expect(settledScan(late, record).settled).toBe(settled);
        expect(findPendingTurns(late, record, null).turns).toEqual(
          findPendingTurns(branch, record, null).turns,
        );
      }),
    );
  });
});
