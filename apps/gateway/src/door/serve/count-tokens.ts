// Says how many tokens a request would have, where no model server is asked that knows it.
import { isRecord } from "@clew/plugin-sdk/host";
import { estimateMessages, estimateText } from "@clew/plugin-sdk/tokens";
import type { Config } from "../../config/schema.ts";
import { fromJson, toJson } from "../../own-json.ts";
import { headerOf } from "../../passing/raw-headers.ts";
import { parseSessionName } from "../../sessions/keys.ts";
import { readAsk } from "../ask/read-ask.ts";
import { type DoorVisit, SESSION_HEADER } from "../call/door-call.ts";
import { type DoorParts, doorAgent } from "../call/parts.ts";
import { newestTurn } from "../session/newest-turn.ts";
import { toAgentMessages } from "../transcript/agent-messages.ts";
import type { DoorAnswer, DoorWire, JsonObject } from "../wires/door-wire.ts";

/** Canonical; undefined: the client owns the history. */
export function sessionOfCount(
  { headers }: Pick<DoorVisit, "headers">,
  config: Config,
): string | undefined {
  const { mode, session } = config.door;
  const named = headerOf(headers, SESSION_HEADER);
  if (mode === "transparent" || (mode === "auto" && named === undefined)) return undefined;
  return parseSessionName(named ?? session.name, doorAgent(config))?.key;
}

/** An estimate. In a session, what its last call held, and what is new. */
export async function countTokens(
  { sessions }: Pick<DoorParts, "sessions">,
  visit: DoorVisit & { wire: DoorWire },
  key: string | undefined,
): Promise<DoorAnswer> {
  const { wire } = visit;
  const body = bodyOf(visit);
  // A body without a message list is that of a request with none.
  const request = wire.read({ [wire.list]: [], ...body }, visit.path);
  if (body === undefined || request === undefined)
    return wire.error(400, "The body is no JSON object with a list of messages.");
  const { system, tools } = readAsk(wire.api, body, request);
  const held = key === undefined ? undefined : await sessions.tokensIn(key);
  const { results, said } = newestTurn(wire, request);
  const messages =
    held === undefined
      ? toAgentMessages(wire.api, request.messages.slice(request.leading), {
          toolNames: new Map(),
        })
      : [...results, { role: "user" as const, content: [...said] }];
  const fixed = held ?? estimateText(system + (tools.length > 0 ? toJson(tools) : ""));
  const tokens =
    (typeof fixed === "number" ? fixed : fixed.estimate) + estimateMessages(messages).estimate;
  return {
    status: 200,
    body: wire.api === "google-generative-ai" ? { totalTokens: tokens } : { input_tokens: tokens },
  };
}

/** Google's clients may send the whole request within. */
function bodyOf({ bytes }: Pick<DoorVisit, "bytes">): JsonObject | undefined {
  try {
    const body: unknown = fromJson(new TextDecoder().decode(bytes));
    if (!isRecord(body)) return undefined;
    return isRecord(body.generateContentRequest) ? body.generateContentRequest : body;
  } catch {
    return undefined;
  }
}
