// What an emulated model replies to a check.
import type { EmulatedReply, ReceivedRequest } from "@clew/providers/testing";
import { FOUND } from "./check.ts";
import { LOOK, PLEASE_LOOK } from "./checks.ts";

/** It calls when it is told to and may, and thinks when it is asked to. */
export function likeModel({ text, body }: ReceivedRequest): EmulatedReply {
  const thinking = body !== null && asksToThink(body) ? "Step by step." : "";
  const isTold = text.includes(PLEASE_LOOK) && !text.includes(FOUND) && offersTools(text);
  return isTold
    ? { thinking, toolCalls: [{ name: "look", arguments: { path: "a" } }] }
    : { thinking, text: "Hello." };
}

const offersTools = (text: string) => text.includes(LOOK.description);

/** By the fields of any wire. */
function asksToThink(body: object): boolean {
  const text = JSON.stringify(body);
  return /"(?:thinking":\{"type":"(?:enabled|adaptive)|thinkingConfig"|reasoning_effort"|reasoning":\{[^}]*"effort":"[a-z]|reasoningConfig")/.test(
    text,
  );
}
