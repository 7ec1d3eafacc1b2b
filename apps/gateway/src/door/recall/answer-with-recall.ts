// Lets a client's model look into its session, and passes on only its last reply.
import type { AssistantMessage } from "@clew/plugin-sdk/core";
import type { StreamEvent } from "@clew/plugin-sdk/host";
import { estimateText } from "@clew/plugin-sdk/tokens";
import type { UpstreamAnswer } from "../../passing/ask-upstream.ts";
import type { RawHeaders } from "../../passing/raw-headers.ts";
import { editBody } from "../body/edit-body.ts";
import type { DoorOutlet } from "../call/door-call.ts";
import type { DoorTurn } from "../turn/door-turn.ts";
import { peekReply } from "../upstream/peek-reply.ts";
import { reach, type Unreached } from "../upstream/reach.ts";
import { type MadeView, TOOLS } from "../view/make-view.ts";
import { tokensOf } from "../view/weigh.ts";
import type { JsonObject } from "../wires/door-wire.ts";
import { type AnsweredCall, OFFERED_TOOLS } from "../wires/offered-tools.ts";
import { type HeldReply, holdReply } from "./hold-reply.ts";
import type { LookUp } from "./look-up.ts";
import {
  MOST_LOOK_UPS,
  NO_ROOM,
  type PlannedAnswer,
  planRecall,
  roomOfEach,
} from "./plan-recall.ts";
import { readWholeReply } from "./read-whole-reply.ts";

type ReachParts = Parameters<typeof reach>[0];

export interface RecallAsked {
  turn: DoorTurn;
  /** The answer to the view as it was sent first. */
  answer: UpstreamAnswer;
  view: MadeView;
  /** Tokens that all of it may take. */
  room: number;
  outlet: DoorOutlet;
  named: RawHeaders;
}

export interface Recalled {
  /** Replies before the last one, of which the client sees nothing. */
  earlier: readonly AssistantMessage[];
  /** Calls of ours. */
  lookedUp: number;
  /**
   * The last reply, with what was told of it while it came; or why there is none: an answer that is
   * an error, or no answer.
   */
  last: (HeldReply & { events: readonly StreamEvent[] }) | UpstreamAnswer | Unreached;
}

/** Throws an AbortError, and nothing else that is not a bug. */
export async function answerWithRecall(
  parts: ReachParts & { lookUp: LookUp; answerBytes: number },
  { turn, answer, view, room, outlet, named }: RecallAsked,
): Promise<Recalled> {
  const { call, upstream, key } = turn;
  const { api } = call.wire;
  const ours = new Set(parts.lookUp.tools.map(({ name }) => name));
  const earlier: AssistantMessage[] = [];
  const added: JsonObject[] = [];
  let lookedUp = 0;
  for (let asked = answer; ; ) {
    const events: StreamEvent[] = [];
    const peek = peekReply({
      ...{ api, resolved: upstream.resolved, answer: asked },
      ...{ maxBytes: parts.answerBytes, onEvent: (event) => events.push(event) },
    });
    const held = await holdReply(asked, outlet, { peek, named, maxBytes: parts.answerBytes });
    const { message, madeUpIds } = held.reply;
    const isWhole = held.end === "whole" && held.reply.error === undefined;
    const planned = isWhole ? planRecall(message, ours) : [];
    if (planned.length === 0) return { earlier, lookedUp, last: { ...held, events } };
    earlier.push(message);
    const said = repliedMessages(held, api, planned);
    if (said === undefined) return { earlier, lookedUp, last: UNREADABLE };
    if (earlier.length > MOST_LOOK_UPS) return { earlier, lookedUp, last: ENDLESS };
    added.push(...said);
    const answered: AnsweredCall[] = [];
    for (const [at, one] of planned.entries()) {
      const left = room - tokensOf(added) - tokensOf(answered);
      const share = roomOfEach(left, planned.slice(at));
      const told = await tell(parts.lookUp, one, { key, left, share, signal: outlet.gone });
      if (one.kind === "run") lookedUp++;
      answered.push({ call: one.call, hasId: madeUpIds?.(one.call.id) !== true, ...told });
    }
    added.push(...OFFERED_TOOLS[api].answer(answered));
    const mayGoOn = earlier.length < MOST_LOOK_UPS;
    const body = editBody(call.outline, {
      messages: view.edited.messages,
      values: view.edited.values.filter(({ path }) => mayGoOn || path[0] !== TOOLS),
      added,
    });
    const signal = outlet.gone;
    const next = await reach(parts, { visit: call, upstream, body, signal, isUnpacked: true });
    if ("problem" in next || next.status >= 400) return { earlier, lookedUp, last: next };
    asked = next;
  }
}

const UNREADABLE: Unreached = {
  status: 502,
  problem: "The model looked into its session in a reply that could not be read.",
};
const ENDLESS: Unreached = {
  status: 502,
  problem: "The model went on looking into its session when it was not offered to any more.",
};

/** Undefined: the bytes are not what the wire's own reader made of them. */
function repliedMessages(
  { pieces }: HeldReply,
  api: DoorTurn["call"]["wire"]["api"],
  planned: readonly PlannedAnswer[],
): JsonObject[] | undefined {
  try {
    const text = new TextDecoder().decode(Buffer.concat(pieces));
    const ids = planned.map(({ call }) => call.id);
    return readWholeReply(api, text, ids);
  } catch {
    return undefined;
  }
}

async function tell(
  lookUp: LookUp,
  planned: PlannedAnswer,
  { key, left, share, signal }: { key: string; left: number; share: number; signal: AbortSignal },
): Promise<{ text: string; isError: boolean }> {
  if (planned.kind === "told") return { text: planned.text, isError: true };
  if (left <= 0) return { text: NO_ROOM, isError: true };
  const { call } = planned;
  const found = await lookUp.run({ key, call, room: share, signal });
  return estimateText(found.text).high > left ? { text: NO_ROOM, isError: true } : found;
}
