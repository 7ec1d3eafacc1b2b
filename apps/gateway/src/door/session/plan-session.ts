// Decides in which session a request is answered.
import { isRecord } from "@clew/plugin-sdk/host";
import { toJson } from "../../own-json.ts";
import { headerOf } from "../../passing/raw-headers.ts";
import { parseSessionName, shortName } from "../../sessions/keys.ts";
import type { DoorCall } from "../call/door-call.ts";
import { SESSION_HEADER } from "../call/door-call.ts";
import type { DoorAnswer, DoorWire } from "../wires/door-wire.ts";
import { openaiError } from "../wires/openai-errors.ts";
import { placeOfReply, type ReplyPlace } from "./reply-id.ts";

export interface PlannedSession {
  /** Canonical. */
  key: string;
  /** The reply that the request goes on from. Absent: from wherever the session is. */
  after?: ReplyPlace;
}

export interface SessionNames {
  /** Whose session a short name is. */
  agentId: string;
  /** Those that a client may name as its model, "clew/<agent>". */
  agents: readonly string[];
  /** The session of requests that name none. */
  unnamed: string;
  /** An id that no session has. */
  newId: () => string;
}

/** Header, then conversation, then the reply before, then what the settings say. */
export function planSession(
  { wire, headers, body, request }: Pick<DoorCall, "wire" | "headers" | "body" | "request">,
  { agentId, agents, unnamed, newId }: SessionNames,
): PlannedSession | { refused: DoorAnswer } {
  const isResponses = wire.api === "openai-responses";
  const wrong = isResponses ? wrongIn(body) : undefined;
  if (wrong !== undefined) return { refused: wrong };
  const previous = isResponses ? textIn(body.previous_response_id) : undefined;
  const place = previous === undefined ? undefined : placeOfReply(previous);
  if (previous !== undefined && place === undefined) return { refused: noSuchReply(previous) };
  const named =
    decoded(headerOf(headers, SESSION_HEADER)) ??
    (isResponses ? conversationOf(body.conversation) : undefined);
  // A conversation of Responses that nobody named before begins with its first request.
  const name = named ?? place?.key ?? (isResponses ? `door-${newId()}` : unnamed);
  const asked = /^clew\/(.+)$/.exec(request.model)?.[1];
  const known = [agentId, ...agents];
  if (asked !== undefined && !known.includes(asked)) return { refused: noSuchAgent(wire, asked) };
  const session = parseSessionName(name, asked ?? agentId);
  if (session === undefined)
    return { refused: wire.error(400, `${toJson(name)} is no name of a session.`) };
  const { key } = session;
  if (!known.includes(session.agentId)) return { refused: noSuchAgent(wire, session.agentId) };
  if (place !== undefined && place.key !== key)
    return { refused: ofAnotherSession(previous!, place.key, key) };
  return place === undefined ? { key } : { key, after: place };
}

export const noSuchAgent = (wire: DoorWire, id: string): DoorAnswer =>
  wire.error(
    404,
    `There is no agent ${toJson(id)} here; the agents of agents.list are listed with the models.`,
  );

/** In the words by which clients know it. */
export const noSuchReply = (id: string): DoorAnswer =>
  openaiError(400, `Previous response with id '${id}' not found.`, {
    param: "previous_response_id",
    code: "previous_response_not_found",
  });

const ofAnotherSession = (id: string, its: string, asked: string): DoorAnswer =>
  openaiError(
    400,
    `Previous response with id '${id}' is in session ${toJson(shortName(its))}, and the request names session ${toJson(shortName(asked))}; leave out one of the two.`,
    { param: "previous_response_id", code: "previous_response_of_another_session" },
  );

/** A model server of that wire would keep its replies; one of another wire does not. */
export const notKeptAcross = (id: string): DoorAnswer =>
  openaiError(
    400,
    `Previous response with id '${id}' not found: this model's server keeps no responses. Send the whole conversation, or let Clew keep it: name a conversation or a session (x-clew-session).`,
    { param: "previous_response_id", code: "previous_response_not_found" },
  );

export const notTheNewest = (id: string): DoorAnswer =>
  openaiError(
    400,
    `Previous response with id '${id}' is not the newest of its session, and a session has one history; go on from the newest, or begin another session.`,
    { param: "previous_response_id", code: "previous_response_not_newest" },
  );

/** What nobody can be meant by; undefined: nothing is wrong. */
function wrongIn({
  conversation,
  previous_response_id: previous,
}: Record<string, unknown>): DoorAnswer | undefined {
  const isText = (value: unknown) => value == null || typeof value === "string";
  if (!isText(previous))
    return openaiError(400, "previous_response_id must be the id of a response.", {
      ...{ param: "previous_response_id", code: "invalid_type" },
    });
  if (isText(conversation) || (isRecord(conversation) && typeof conversation.id === "string"))
    return undefined;
  return openaiError(400, "conversation must be a name, or an object whose id is one.", {
    ...{ param: "conversation", code: "invalid_type" },
  });
}

const textIn = (value: unknown) => (typeof value === "string" && value !== "" ? value : undefined);

const conversationOf = (value: unknown) => textIn(isRecord(value) ? value.id : value);

/** Headers hold no other letters than those of ASCII. */
function decoded(name: string | undefined): string | undefined {
  try {
    return name === undefined || name === "" ? undefined : decodeURIComponent(name);
  } catch {
    return name;
  }
}
