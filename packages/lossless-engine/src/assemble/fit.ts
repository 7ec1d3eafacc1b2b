// Decides how much of each of the newest messages a crowded view shows.
import type { AgentMessage } from "@clew/plugin-sdk/core";
import type { Steps } from "@clew/plugin-sdk/host";
import { canBeShortened, type Part, shortened } from "../messages/shorten.ts";
import { type Count, sum } from "./count.ts";
import { requestBefore } from "./plan.ts";

/** A view that may be too large. */
export interface FitInput {
  readonly messages: readonly AgentMessage[];
  /** Index of the first message behind the record. */
  readonly from: number;
  /** Tokens. */
  readonly budget: number;
  /** The newest messages are shown whole where they fit into this many tokens. Absent: `budget`. */
  readonly limit?: number | undefined;
  /** Tokens of the smallest record; 0 = none is needed. */
  readonly leastRecord: number;
  readonly count: Count;
}

/** How much is shown of what. */
export interface Fit {
  /** Index of a request before `from` that is shown behind the record; -1 = there is none. */
  readonly request: number;
  /** By index: what is shown of messages that are not shown whole. */
  readonly parts: ReadonlyMap<number, Part>;
  /** What remains for the record, in tokens by the high estimate. */
  readonly left: number;
}

/** Characters of each text that are tried, the most first: each a fifth less than the last. */
const CHARS: readonly number[] = [
  ...Array.from({ length: 28 }, (_, step) => Math.round(32_768 * 0.8 ** step)),
  0,
];
const WITH_PICTURES = CHARS.map((chars): Part => ({ chars, pictures: true }));
const WITHOUT_PICTURES = CHARS.map((chars): Part => ({ chars, pictures: false }));
/** Of a request so many times as much stays as of a result beside it. */
const REQUEST_TIMES = 4;
/** Of the budget: kept free for an older request while the newest messages are looked at. */
const REQUEST_SHARE = 0.25;
/** Of the budget: what the newest messages may take once they have to be cut anyway. */
const CUT_SHARE = 0.7;
/** Of what the newest messages leave: the rest is the record's. */
const REQUEST_SHARE_OF_REST = 0.5;

/**
 * Results that came at once lose the same, the request less than they. What a request before the
 * newest messages says is cut rather than left out, and a picture goes last.
 */
export function* planFit(input: FitInput): Steps<Fit> {
  const { messages, from, budget, leastRecord, count } = input;
  const request = requestBefore(messages, from);
  const asked = messages[request];
  const askedTokens = asked === undefined ? 0 : count(asked).high;
  const room = budget - leastRecord;
  const parts = yield* partsOfKept(input, room, Math.min(askedTokens, REQUEST_SHARE * budget));
  const kept = messages.slice(from).map((message, index) => {
    const part = parts.get(from + index);
    return part === undefined ? message : shortened(message, part);
  });
  const rest = room - sum(kept, count).high;
  if (asked === undefined) return { request, parts, left: rest + leastRecord };
  yield;
  const part = yield* partOfRequest(asked, { rest, count });
  const shown = part === undefined ? asked : shortened(asked, part);
  if (part !== undefined && shown !== asked) parts.set(request, part);
  return { request, parts, left: rest + leastRecord - count(shown).high };
}

function* partsOfKept(
  { messages, from, budget, limit = budget, count }: FitInput,
  room: number,
  forRequest: number,
): Steps<Map<number, Part>> {
  const kept = messages.slice(from);
  if (sum(kept, count).high <= limit - budget + room - forRequest) return new Map();
  const most = Math.min(room - forRequest, CUT_SHARE * budget);
  let parts = new Map<number, Part>();
  for (const part of [...WITH_PICTURES, ...WITHOUT_PICTURES]) {
    parts = new Map();
    let high = 0;
    for (const [index, message] of kept.entries()) {
      const chars = message.role === "user" ? REQUEST_TIMES * part.chars : part.chars;
      const shown = canBeShortened(message) ? shortened(message, { ...part, chars }) : message;
      if (shown !== message) parts.set(from + index, { ...part, chars });
      high += count(shown).high;
      yield;
    }
    if (high <= most) break;
  }
  return parts;
}

/** Undefined: all of it. */
function* partOfRequest(
  asked: AgentMessage,
  { rest, count }: { rest: number; count: Count },
): Steps<Part | undefined> {
  const share = REQUEST_SHARE_OF_REST * rest;
  if (count(asked).high <= share) return undefined;
  function* within(parts: readonly Part[], most: number): Steps<Part | undefined> {
    for (const part of parts) {
      if (count(shortened(asked, part)).high <= most) return part;
      yield;
    }
    return undefined;
  }
  // A picture that fits is shown, also where that leaves the record little.
  return (
    (yield* within(WITH_PICTURES, share)) ??
    (yield* within(WITH_PICTURES, rest)) ??
    (yield* within(WITHOUT_PICTURES, rest)) ??
    WITHOUT_PICTURES.at(-1)
  );
}
