import { describe, expect, it } from "vitest";
import { conversation } from "../testing/messages.ts";
import { activeBranch } from "./branch.ts";
import { buildContext } from "./context.ts";
import type { NewTranscriptEntry, TranscriptEntry } from "./entries.ts";
import {
  applyPrune,
  PRUNE_PLACEHOLDER,
  type PruneOptions,
  planPrune,
  prunePlaceholderWith,
} from "./prune.ts";
import { applyPruneRecords, pruneEntry, pruneRecordOf } from "./prune-records.ts";
import { textOf } from "./text.ts";

/** A transcript that grows from its leaf, or from another entry. */
function transcript() {
  const entries: TranscriptEntry[] = [];
  return {
    entries,
    append(entry: NewTranscriptEntry, parentId = entries.at(-1)?.id ?? null): TranscriptEntry {
      const id = `e${entries.length}`;
      entries.push({
        ...entry,
        id,
        parentId,
        timestamp: new Date(1_000 * entries.length).toISOString(),
      });
      return entries.at(-1)!;
    },
  };
}

const OPTIONS = { protectTokens: 100, minimumTokens: 0 };

function prunedSession(options: PruneOptions = OPTIONS) {
  const session = transcript();
  for (const message of conversation({ turns: 6, tools: 2, toolResultChars: 2_000 }))
    session.append({ type: "message", message });
  const unpruned = buildContext(activeBranch(session.entries));
  const plan = planPrune(
    unpruned.items.map(({ message }) => message),
    options,
  );
  const last = session.entries.at(-1)!;
  session.append(pruneEntry(unpruned.items, plan, "threshold"));
  return { session, unpruned, plan, last };
}

const textsOf = (entries: readonly TranscriptEntry[]) =>
  buildContext(activeBranch(entries)).items.map(({ message }) => textOf(message));

describe("a recorded prune", () => {
  it("is applied whenever the context is built, byte-identical after a restart, and rewrites no entry", () => {
    const { session, plan } = prunedSession();
    expect(plan.clear.length).toBeGreaterThan(3);
    const written = JSON.stringify(session.entries);
    const context = buildContext(activeBranch(session.entries));
    expect(plan.clear.map((index) => textOf(context.items[index]!.message))).toEqual(
      plan.clear.map(() => plan.placeholder),
    );
    const reloaded: TranscriptEntry[] = JSON.parse(written);
    expect(JSON.stringify(buildContext(activeBranch(reloaded)).items)).toBe(
      JSON.stringify(context.items),
    );
    expect(JSON.stringify(session.entries)).toBe(written);
  });

  it("names each result by its id where a tool shows it, always in the same bytes", () => {
    const placeholder = prunePlaceholderWith("session_read");
    const { session, plan } = prunedSession({ ...OPTIONS, placeholder });
    const context = buildContext(activeBranch(session.entries));
    for (const index of plan.clear) {
      const { id, message } = context.items[index]!;
      const said = `[output pruned for context; session_read with id "${id}" shows it]`;
      expect(textOf(message)).toBe(said);
    }
    const messages = context.items.map(({ message }) => message);
    for (const later of [{ ...OPTIONS, placeholder }, OPTIONS])
      expect(planPrune(messages, later).clear).toEqual([]);
    const nameless = conversation({ turns: 6, tools: 2, toolResultChars: 2_000 });
    const bare = applyPrune(nameless, planPrune(nameless, { ...OPTIONS, placeholder }));
    expect(bare.map(textOf)).toContain(PRUNE_PLACEHOLDER);
  });

  it("is seen by a context that grows, which otherwise keeps its items", () => {
    const { session, unpruned } = prunedSession();
    const grown = buildContext(activeBranch(session.entries), unpruned);
    expect(grown.items).toEqual(buildContext(activeBranch(session.entries)).items);
    session.append({ type: "message", message: { role: "user", content: "next" } });
    const again = buildContext(activeBranch(session.entries), grown);
    expect(again.items.slice(0, -1).every((item, index) => item === grown.items[index])).toBe(true);
  });

  it("does not concern another branch", () => {
    const { session, last } = prunedSession();
    session.append(
      { type: "message", message: { role: "user", content: "from before the prune" } },
      last.id,
    );
    expect(textsOf(session.entries)).not.toContain("[output pruned for context]");
  });

  it("clears an entry once and for all: a later record changes neither its bytes nor what the first one said", () => {
    const { session, unpruned, plan } = prunedSession();
    const before = JSON.stringify(buildContext(activeBranch(session.entries)).items);
    session.append(pruneEntry(unpruned.items, { ...plan, placeholder: "[gone]" }, "manual"));
    expect(JSON.stringify(buildContext(activeBranch(session.entries)).items)).toBe(before);
  });

  it("falls away with what a later compaction replaces, and holds for what that keeps", () => {
    const { session, unpruned, plan } = prunedSession();
    const kept = unpruned.items[plan.clear.at(-1)! - 1]!;
    session.append({
      type: "compaction",
      summary: "s",
      firstKeptEntryId: kept.entryId,
      tokensBefore: 1,
    });
    const texts = textsOf(session.entries);
    expect(texts[0]).toBe("s");
    expect(texts.filter((text) => text === plan.placeholder).length).toBeGreaterThan(0);
    session.append({
      type: "compaction",
      summary: "t",
      firstKeptEntryId: unpruned.items.at(-1)!.entryId,
      tokensBefore: 1,
    });
    expect(textsOf(session.entries)).not.toContain(plan.placeholder);
  });

  it("names entries, placeholder, tokens and reason; data of another form is no record and clears nothing", () => {
    const { session, plan } = prunedSession();
    const entry = session.entries.at(-1)!;
    expect(pruneRecordOf(entry)).toEqual({
      v: 1,
      entryIds: plan.clear.map((index) => `e${index}`),
      placeholder: plan.placeholder,
      tokensFreed: plan.freed,
      reason: "threshold",
    });
    const odd = { ...entry, data: { v: 2, entryIds: ["e3"] } } as TranscriptEntry;
    const items = [
      {
        entryId: "e3",
        id: "e3",
        message: session.entries[3]!.type === "message" ? session.entries[3]!.message : neverHere(),
      },
    ];
    expect(applyPruneRecords(items, [odd])).toBe(items);
    expect(pruneRecordOf({ ...entry, customType: "other" } as TranscriptEntry)).toBeUndefined();
  });

  it("clears tool results only, whatever a record names", () => {
    const session = transcript();
    session.append({ type: "message", message: { role: "user", content: "keep me" } });
    session.append({
      type: "custom",
      customType: "clew.prune",
      data: { v: 1, entryIds: ["e0"], placeholder: "x", tokensFreed: 1, reason: "r" },
    });
    expect(textsOf(session.entries)).toEqual(["keep me"]);
  });
});

function neverHere(): never {
  throw new Error("the fixture's third entry is a message");
}
