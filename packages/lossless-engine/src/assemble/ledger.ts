// What is known of the messages before a cut, from the newest earlier cut on.
import type { AgentMessage } from "@clew/plugin-sdk/core";
import { inSlices, pause, stepsInSlices } from "@clew/plugin-sdk/host";
import {
  EMPTY_LEDGER,
  foldLedgerInSlices,
  type LedgerState,
  restoreSteps,
  type TranscriptEntry,
} from "@clew/plugin-sdk/transcript";
import { nameOf } from "../messages/name.ts";
import { isRecall } from "../messages/quoting.ts";
import { patiently } from "../patiently.ts";
import { ledgerOf, type StoredCut } from "../store/cuts.ts";
import type { Store } from "../store/store.ts";

/** What is known, and of how many messages. */
export interface Known {
  readonly state: LedgerState;
  readonly covered: number;
}

/**
 * What is known of the first `end` of `messages`, and of what the cut among them stands for.
 */
export async function knownBefore(
  store: Store,
  {
    messages,
    end,
    cuts,
    aside,
    signal,
  }: {
    messages: readonly AgentMessage[];
    end: number;
    cuts: ReadonlyMap<string, StoredCut>;
    /** See `Talk`. */
    aside: ReadonlySet<AgentMessage>;
    signal?: AbortSignal | undefined;
  },
): Promise<Known> {
  const base = await newestKnown(store, { messages, end, cuts, signal });
  const state = await withSaid(base.state, messages.slice(base.from, end), { aside, signal });
  return { state, covered: base.covered + end - base.from };
}

/** What is known when `messages` were said too. */
export async function withSaid(
  before: LedgerState,
  messages: readonly AgentMessage[],
  { aside, signal }: { aside: ReadonlySet<AgentMessage>; signal?: AbortSignal | undefined },
): Promise<LedgerState> {
  const entries: TranscriptEntry[] = [];
  // What was looked up stands where it was said first, and may have changed since.
  const isSaid = (message: AgentMessage) => !aside.has(message) && !isRecall(message);
  await inSlices(
    messages,
    (message) => {
      if (isSaid(message)) entries.push(asEntry(message));
    },
    { signal },
  );
  return foldLedgerInSlices(before, entries, { signal });
}

async function newestKnown(
  store: Store,
  {
    messages,
    end,
    cuts,
    signal,
  }: {
    messages: readonly AgentMessage[];
    end: number;
    cuts: ReadonlyMap<string, StoredCut>;
    signal?: AbortSignal | undefined;
  },
): Promise<Known & { from: number }> {
  if (cuts.size > 0)
    for (let from = Math.min(end, messages.length - 1); from >= 0; from--) {
      const cut = cuts.get(nameOf(messages[from]!));
      if (cut === undefined) continue;
      await pause(signal);
      const saved = await patiently(() => ledgerOf(store, cut.newestHere ?? cut.id), signal);
      const state =
        saved === undefined
          ? undefined
          : await stepsInSlices(restoreSteps(JSON.parse(saved)), { signal });
      if (state !== undefined) return { state, from, covered: cut.covered };
      // What it stands for is not among the messages.
      if (cut.handedBack !== undefined) return { state: EMPTY_LEDGER, from, covered: cut.covered };
    }
  return { state: EMPTY_LEDGER, from: 0, covered: 0 };
}

function asEntry(message: AgentMessage): TranscriptEntry {
  const id = nameOf(message);
  return { type: "message", id, parentId: null, timestamp: "", message };
}
