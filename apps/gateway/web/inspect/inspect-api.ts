// The calls of the gateway's HTTP API that the inspector makes.

import type { Usage } from "../../src/costs/usage.ts";
import type { ShadowView } from "../../src/gateway/session-views.ts";
import { readEvents } from "../../src/http/read-events.ts";
import type { CallPage } from "../../src/inspect/shapes/calls.ts";
import type { EntryPage, EntryText, EntryTrace } from "../../src/inspect/shapes/entries.ts";
import type { FoundText } from "../../src/inspect/shapes/found-text.ts";
import type {
  CallDiff,
  CallView,
  ItemPage,
  ItemText,
  Proof,
  SummaryRow,
} from "../../src/inspect/shapes/one-call.ts";
import type { WhatIfAsk, WhatIfEvent } from "../../src/lab/shapes.ts";
import { createHttp, sessionPath } from "../http.ts";
import type { FateFilter } from "./fates.ts";

export interface EntriesAsked {
  call: string;
  filter: FateFilter;
  /** Of those that the filter lets through. */
  skip: number;
  limit: number;
}

export type CallsAsked = ({ after: string } | { before: string }) & { limit: number };

export interface EngineStatus {
  engineId: string;
  quarantined: readonly unknown[];
  session: {
    /** Why it is set aside for this session alone; null = it is not. */
    setAside: object | null;
    deliveries: { pending: number; blocked: readonly unknown[] };
  } | null;
  /** All of it, for people. */
  text: string;
}

export interface InspectApi {
  /** Calls behind one, or before one ("newest": at the end of all), oldest first. */
  calls(key: string, asked: CallsAsked): Promise<CallPage>;
  /** With its first items; null = there is no such call. */
  call(key: string, id: string, items: number): Promise<CallView | null>;
  items(key: string, id: string, asked: { skip: number; limit: number }): Promise<ItemPage | null>;
  proof(key: string, id: string): Promise<Proof | null>;
  diff(key: string, from: string, to: string): Promise<CallDiff | null>;
  entries(key: string, asked: EntriesAsked): Promise<EntryPage>;
  /** The whole text of one item of a call. */
  item(key: string, call: string, part: string, index: number): Promise<ItemText | null>;
  /** A stored entry in full, with what became of it in a call. */
  entry(key: string, call: string, id: string): Promise<EntryText | null>;
  /** What became of an entry from call to call; null = there is none. */
  trace(key: string, id: string): Promise<EntryTrace | null>;
  /** Null: no call showed it. */
  summary(key: string, id: string): Promise<SummaryRow | null>;
  /** Tells of at most so many entries that say it. */
  find(key: string, text: string, entries: number): Promise<FoundText | null>;
  /** What the session's calls came to, as the gateway counts them. */
  usage(key: string): Promise<Usage>;
  /** Plays the session again; ends with what became of it, or why it cannot be played. */
  whatIf(key: string, ask: WhatIfAsk, signal: AbortSignal): AsyncGenerator<WhatIfEvent>;
  /** Null: no shadow engine was handed any of it. */
  shadow(key: string): Promise<ShadowView | null>;
  engine(key: string): Promise<EngineStatus>;
  /** Gives engines another chance; what came of it, for people. */
  retryEngine(key: string): Promise<string>;
}

/** Where the exact request of a call is, to be saved. */
export const requestPath = (key: string, call: string): string =>
  `${sessionPath(key)}/calls/${call}/request?form=sent`;

/** Where all that is known of a call is, to be saved. */
export const callPath = (key: string, call: string): string => `${sessionPath(key)}/calls/${call}`;

/** Where the session's file is, to be saved. */
export const transcriptPath = (key: string): string => `${sessionPath(key)}/transcript`;

/** `origin`: "" on the page itself. */
export function createInspectApi(origin = ""): InspectApi {
  const http = createHttp(origin);
  const json = async <Body>(path: string): Promise<Body> =>
    (await http.get(path)).json() as Promise<Body>;
  const orNull = async <Body>(path: string): Promise<Body | null> => {
    const response = await http.find(path);
    return response === null ? null : ((await response.json()) as Body);
  };
  return {
    async calls(key, { limit, ...asked }) {
      const query = new URLSearchParams({ limit: `${limit}`, ...asked });
      const found = await orNull<CallPage>(`${sessionPath(key)}/calls?${query}`);
      const since = { sideCalls: 0, cost: null, unanswered: [] };
      const none = {
        calls: [],
        total: 0,
        sums: { calls: 0, turns: 0, sent: 0 },
        peaks: { dearest: null, fullest: null },
        next: null,
        since,
        unreadableTurns: [],
        missingTurns: [],
        letGoTurns: 0,
      };
      return found ?? none;
    },
    call: (key, id, items) => orNull(`${callPath(key, id)}?limit=${items}`),
    items: (key, id, { skip, limit }) =>
      orNull(`${callPath(key, id)}/items?skip=${skip}&limit=${limit}`),
    proof: (key, id) => orNull(`${callPath(key, id)}/proof`),
    diff: (key, from, to) => orNull(`${callPath(key, from)}/diff/${to}`),
    entries: (key, { call, filter, skip, limit }) => {
      const fate = filter.startsWith("in:") ? filter.slice(3) : filter;
      const query = new URLSearchParams({
        ...{ call, skip: `${skip}`, limit: `${limit}` },
        ...(filter !== "all" && { fate }),
      });
      return json(`${sessionPath(key)}/entries?${query}`);
    },
    item: (key, call, part, index) => orNull(`${callPath(key, call)}/items/${part}/${index}`),
    entry: (key, call, id) =>
      orNull(
        `${sessionPath(key)}/entries/${encodeURIComponent(id)}?${new URLSearchParams({ call })}`,
      ),
    trace: (key, id) => orNull(`${sessionPath(key)}/entries/${encodeURIComponent(id)}/calls`),
    summary: (key, id) => orNull(`${sessionPath(key)}/summaries/${encodeURIComponent(id)}`),
    find: (key, text, entries) =>
      orNull(`${sessionPath(key)}/find?${new URLSearchParams({ text, limit: `${entries}` })}`),
    usage: (key) => json(`${sessionPath(key)}/usage`),
    async *whatIf(key, ask, signal) {
      const headers = { "content-type": "application/json" };
      const asked = { method: "POST", headers, body: JSON.stringify(ask), signal };
      const { body } = await http.get(`${sessionPath(key)}/whatif`, asked);
      if (body !== null) yield* readEvents<WhatIfEvent>(body);
    },
    shadow: (key) => orNull(`${sessionPath(key)}/shadow`),
    engine: (key) => json(`/api/engine?${new URLSearchParams({ session: key })}`),
    async retryEngine(key) {
      const path = `${sessionPath(key)}/engine/retry`;
      return ((await (await http.get(path, { method: "POST" })).json()) as { text: string }).text;
    },
  };
}
