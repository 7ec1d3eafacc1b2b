// Follows turns that somebody else began, from any moment on.
import type { AgentMessage } from "@clew/plugin-sdk/core";
import type { GatewayEvent, LiveCall, RunningTurn } from "../src/events/shapes.ts";
import type { StreamedEvent } from "../src/http/event-stream.ts";
import {
  applyEvent,
  endTurn,
  isRunning,
  type LiveTurn,
  problemOf,
  startTurn,
} from "./live-turn.ts";

export interface JoinedTurn {
  turn: LiveTurn;
  /** What is being sent, or was last; null = no model was asked yet. */
  call: LiveCall | null;
  /** Its last call is being answered. */
  isAnswered: boolean;
  /** Calls that ended since it was joined. */
  ended: number;
}

/** By canonical key of the session. */
export type Joined = Readonly<Record<string, JoinedTurn>>;

/**
 * Pure. A turn that is over says so itself, whoever is told of it, and stays until `withoutEnded`:
 * its reply may not be read yet.
 */
export function applyGatewayEvent(joined: Joined, event: GatewayEvent): Joined {
  switch (event.type) {
    case "hello":
    case "reset":
      return Object.fromEntries(event.running.map((turn) => [turn.session, joinTurn(turn)]));
    case "started":
      return { ...joined, [event.session]: BEGINNING };
    case "accepted":
    case "message":
      return change(joined, event.session, (known) => ({
        ...known,
        turn: withMessage(known.turn, event.entryId, event.message),
      }));
    case "call":
      return change(joined, event.session, (known) => ({
        ...known,
        call: withAllItems(event.call, known.call),
        isAnswered: false,
      }));
    case "call_end":
      return change(joined, event.session, (known) => ({ ...known, ended: known.ended + 1 }));
    case "text":
    case "thinking":
      return change(joined, event.session, ({ turn, ...known }) => ({
        ...known,
        turn: applyEvent(turn, event),
        isAnswered: true,
      }));
    case "tool_start":
    case "tool_end":
    case "notice":
      return change(joined, event.session, ({ turn, ...known }) => ({
        ...known,
        // What is too large to be told is missing; only the ids count here.
        turn: applyEvent(turn, event as unknown as StreamedEvent),
      }));
    case "done": {
      const known = joined[event.session];
      if (known === undefined) return joined;
      return {
        ...joined,
        [event.session]: { ...known, turn: endTurn(known.turn, problemOf(event.error)) },
      };
    }
    default:
      return joined;
  }
}

/** Pure. Without the turns of `ended` that are over; one that began meanwhile is another one. */
export function withoutEnded(joined: Joined, ended: Joined): Joined {
  return Object.fromEntries(
    Object.entries(joined).filter(
      ([key, { turn }]) => isRunning(turn) || ended[key]?.turn !== turn,
    ),
  );
}

export const hasEnded = (joined: Joined): boolean =>
  Object.values(joined).some(({ turn }) => !isRunning(turn));

const BEGINNING: JoinedTurn = {
  turn: { ...startTurn(""), phase: "running", isStored: true, entries: [] },
  call: null,
  isAnswered: false,
  ended: 0,
};

function joinTurn({ prompt, text, thinking, tools, call }: RunningTurn): JoinedTurn {
  const { turn } = BEGINNING;
  const begun = prompt === null ? turn : withMessage(turn, prompt.entryId, prompt.message);
  const running = tools.map(({ id }) => [id, "running"] as const);
  return {
    turn: { ...begun, arriving: { text, thinking }, tools: Object.fromEntries(running) },
    call,
    isAnswered: text !== "" || thinking !== "",
    ended: 0,
  };
}

/** What is told of no turn under way, or of one that is over, begins none. */
function change(joined: Joined, key: string, to: (known: JoinedTurn) => JoinedTurn): Joined {
  const known = joined[key];
  return known === undefined || !isRunning(known.turn) ? joined : { ...joined, [key]: to(known) };
}

/** `message` undefined: it is not told here, and stands in what is stored. */
function withMessage(turn: LiveTurn, entryId: string, message: AgentMessage | undefined): LiveTurn {
  if (message === undefined) return turn;
  const arriving = message.role === "assistant" ? { text: "", thinking: "" } : turn.arriving;
  const entry = { type: "message" as const, id: entryId, message };
  return { ...turn, arriving, entries: [...turn.entries, entry] };
}

/** Only what is new in a call is told; what was before it is known by its predecessor. */
function withAllItems(call: LiveCall, before: LiveCall | null): LiveCall {
  const { kept, items } = call.messages;
  if (kept === 0 || items === null) return call;
  const known = before?.messages.items ?? null;
  return {
    ...call,
    messages: { kept, items: known === null ? null : [...known.slice(0, kept), ...items] },
  };
}
