// The part of the address that names a call and what of it is open.
import { type NamedPlace, placeInWords } from "../../src/inspect/call-words.ts";
import { callId } from "../../src/inspect/placed-call.ts";
import type { FateFilter } from "./fates.ts";
import type { Metric } from "./sources.ts";

/** What is open beside a call. */
export type Opened =
  | { kind: "entry"; id: string }
  | { kind: "summary"; id: string }
  | { kind: "item"; id: string };

/** What is shown below the columns. */
export const DOCK_TABS = ["why", "what-if", "shadow", "compaction", "engine", "sessions"] as const;
export type DockTab = (typeof DOCK_TABS)[number];

const METRICS = ["tokens", "cost", "cache"] as const satisfies readonly Metric[];

export interface Place {
  /** Null: the newest one, whichever that is. "t58": the first of turn 58, until it is known. */
  call: string | null;
  /** The call it is compared with; null = the one before. */
  from: string | null;
  filter: FateFilter;
  opened: Opened | null;
  tab: DockTab;
  /** Of the plot. */
  metric: Metric;
}

export const NEWEST: Place = {
  ...{ call: null, from: null, filter: "all", opened: null, tab: "why", metric: "tokens" },
};

/** Pure. The newest call of another session, looked at in the same way. */
export const newestAs = ({ tab, metric }: Place): Place => ({ ...NEWEST, tab, metric });

/** "calls/58.3?from=58.2&fate=cleared&entry=1f2e3d4c". */
export function pathOfPlace({ call, from, filter, opened, tab, metric }: Place): string {
  const query = new URLSearchParams({
    ...(from !== null && { from }),
    ...(filter !== "all" && { fate: filter }),
    ...(opened !== null && { [opened.kind]: opened.id }),
    ...(tab !== NEWEST.tab && { show: tab }),
    ...(metric !== NEWEST.metric && { by: metric }),
  });
  const path = call === null ? "calls" : `calls/${encodeURIComponent(call)}`;
  return query.size === 0 ? path : `${path}?${query}`;
}

/** Pure. Whether there may be a call of that name: "58.3". */
export const isCallName = (text: string): boolean => /^\d+\.\d+$/.test(text);

/** Pure. "58.3", or "t58" for a turn. */
export const nameOfPlace = ({ turn, number }: NamedPlace): string =>
  number === null ? `t${turn}` : callId({ turn, number });

/** Pure. Null: it names no turn. */
export function turnNamed(name: string | null): number | null {
  const turn = /^t(\d{1,9})$/.exec(name ?? "")?.[1];
  return turn === undefined ? null : Number(turn);
}

/** Pure. As calls and turns are named in a place; what names none stays as it is. */
export function nameInWords(words: string): string {
  const text = words.trim();
  const place = placeInWords(/^\d{1,9}$/.test(text) ? `t${text}` : text);
  return place === null ? words : nameOfPlace(place);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

const KINDS = ["entry", "summary", "item"] as const;

/** Null: it names no call. What cannot be read of the rest means nothing. */
export function placeInPath(path: string): Place | null {
  const [head = "", query = ""] = path.split("?");
  const [word, call = ""] = head.split("/");
  if (word !== "calls") return null;
  const given = new URLSearchParams(query);
  const from = given.get("from");
  const kind = KINDS.find((each) => given.has(each));
  return {
    // What is no name of a call is named all the same: that there is none is said.
    call: call === "" ? null : nameInWords(decoded(call)),
    from: from === "" || from === null ? null : nameInWords(from),
    filter: filterOf(given.get("fate")),
    opened: kind === undefined ? null : { kind, id: given.get(kind) ?? "" },
    tab: DOCK_TABS.find((each) => each === given.get("show")) ?? NEWEST.tab,
    metric: METRICS.find((each) => each === given.get("by")) ?? NEWEST.metric,
  };
}

const FILTERS = [
  ...["all", "shown", "summary", "cleared", "left-out", "shortened", "changed"],
] as readonly string[];

function filterOf(text: string | null): FateFilter {
  if (text === null) return "all";
  return FILTERS.includes(text) || text.startsWith("in:") ? (text as FateFilter) : "all";
}
