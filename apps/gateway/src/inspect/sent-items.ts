// Keeps what the newest call of a session sent, at the cost of what changed.
import type { ModelCallReport, ReportItem } from "@clew/engine-core";
import type { Treatment } from "./fates.ts";
import { type Estimates, noTokens, sourceOf } from "./sources.ts";

/** How one sent item was treated, and the entries that were merged into it. */
export interface ItemTreatment {
  treatment: Treatment;
  merged: readonly string[];
}

export interface SentItems {
  readonly items: readonly ReportItem[];
  /** How each entry was sent. */
  readonly sent: ReadonlyMap<string, Treatment>;
  /** Estimated tokens of the messages. */
  readonly tokens: Readonly<Estimates>;
  /** Summaries of the engine that stand in the call, in order. */
  readonly summaries: readonly ReportItem[];
  /** How many the engine made itself, of which it does not say what they cover. */
  readonly madeByEngine: number;
  /** Takes in the next call; the entries that are sent otherwise than before. */
  advance(
    messages: ModelCallReport["messages"],
    treat: (item: ReportItem, index: number) => ItemTreatment,
  ): ReadonlySet<string>;
}

const MERGED: Treatment = {
  cleared: null,
  marks: [{ kind: "changed", rule: "merged into the message before it" }],
};

export function createSentItems(): SentItems {
  const items: ReportItem[] = [];
  /** Entries of each item. */
  const ids: (readonly string[])[] = [];
  const sent = new Map<string, Treatment>();
  /** An entry may be sent twice, and what leaves a request is what came last. */
  const stacks = new Map<string, Treatment[]>();
  const tokens = noTokens();
  let madeByEngine = 0;
  let summaries: readonly ReportItem[] = [];

  const count = (item: ReportItem, times: 1 | -1) => {
    tokens[sourceOf(item)] += times * item.tokens;
    if (item.source.kind === "engine") madeByEngine += times;
    if (item.source.kind === "summary")
      summaries = times > 0 ? [...summaries, item] : summaries.slice(0, -1);
  };
  const put = (id: string, treatment: Treatment) => {
    stacks.set(id, [...(stacks.get(id) ?? []), treatment]);
    sent.set(id, treatment);
  };
  const take = (id: string) => {
    const rest = stacks.get(id)?.slice(0, -1) ?? [];
    stacks.set(id, rest);
    const newest = rest.at(-1);
    if (newest !== undefined) sent.set(id, newest);
    else {
      stacks.delete(id);
      sent.delete(id);
    }
  };
  return {
    ...{ items, sent, tokens },
    get summaries() {
      return summaries;
    },
    get madeByEngine() {
      return madeByEngine;
    },
    advance({ kept, items: added }, treat) {
      const touched = new Set<string>();
      while (items.length > kept) {
        count(items.pop()!, -1);
        for (const id of ids.pop()!) {
          take(id);
          touched.add(id);
        }
      }
      for (const item of added) {
        const { source } = item;
        const { treatment, merged } = treat(item, items.length);
        const entries = source.kind === "entry" ? [source.entryId, ...merged] : [];
        for (const [at, id] of entries.entries()) {
          put(id, at === 0 ? treatment : MERGED);
          touched.add(id);
        }
        count(item, 1);
        items.push(item);
        ids.push(entries);
      }
      return touched;
    },
  };
}
