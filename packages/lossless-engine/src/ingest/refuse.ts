// Says which messages cannot be stored, and why.
import { type AgentMessage, ContextEngineError } from "@clew/plugin-sdk/core";
import type { Refusal } from "../store/messages.ts";

/** True: it has a role, by which everybody tells messages apart. */
export const isMessage = (value: unknown): value is AgentMessage =>
  typeof value === "object" && value !== null && "role" in value && typeof value.role === "string";

const MOST_NAMED = 5;
const MOST_NAME_CHARS = 80;

/** Throws where there is anything to say; whatever else was told is stored by then. */
export function refuse(refused: readonly Refusal[], shapeless: number): void {
  if (refused.length === 0 && shapeless === 0) return;
  const names = refused.slice(0, MOST_NAMED).map(({ name }) => name.slice(0, MOST_NAME_CHARS));
  const problems = [
    ...(shapeless === 0 ? [] : [`${shapeless} of what it was told are no messages with a role`]),
    ...(refused.length === 0
      ? []
      : [`no JSON can be written of ${names.join(", ")} (${refused[0]!.why})`]),
  ];
  throw new ContextEngineError(
    "REQUEST_INVALID",
    `The lossless engine did not store everything: ${problems.join(", and ")}; all else of the call is stored, so mend these and tell them again.`,
    { engineId: "lossless" },
  );
}

/** Throws where the key of a turn came again with messages that nobody told before. */
export function refuseReusedKey(key: string | undefined, names: readonly string[]): void {
  if (names.length === 0) return;
  const named = names.slice(0, MOST_NAMED).map((name) => name.slice(0, MOST_NAME_CHARS));
  throw new ContextEngineError(
    "REQUEST_INVALID",
    `The lossless engine did not commit a turn: its key ${JSON.stringify(key?.slice(0, MOST_NAME_CHARS))} is that of an earlier turn, and ${named.join(", ")} was not in it; commit what is new under a key of its own.`,
    { engineId: "lossless", operation: "commitTurn" },
  );
}

/** What a method was called with; throws where that names no session. */
export function callOf<Params extends { sessionId: string }>(method: string, params: Params) {
  const given: unknown = params;
  if (
    typeof given === "object" &&
    given !== null &&
    "sessionId" in given &&
    typeof given.sessionId === "string"
  )
    return params;
  throw new ContextEngineError(
    "REQUEST_INVALID",
    `The lossless engine cannot answer ${method}: it was given no session; pass sessionId and what the method asks for.`,
    { engineId: "lossless", operation: method },
  );
}
