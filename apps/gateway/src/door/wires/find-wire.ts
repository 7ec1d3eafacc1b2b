// Which wire an address of the door speaks.
import { MESSAGES } from "./anthropic-messages.ts";
import type { DoorApi, DoorWire } from "./door-wire.ts";
import { GENERATE_CONTENT } from "./google-generative-ai.ts";
import { readGooglePath } from "./google-path.ts";
import { COMPLETIONS } from "./openai-completions.ts";
import { RESPONSES } from "./openai-responses.ts";

export const DOOR_WIRES: Readonly<Record<DoorApi, DoorWire>> = {
  "openai-completions": COMPLETIONS,
  "openai-responses": RESPONSES,
  "anthropic-messages": MESSAGES,
  "google-generative-ai": GENERATE_CONTENT,
};

/** Undefined: nothing that holds a conversation is posted there. `path` has no query. */
export function wireAt(path: string): DoorWire | undefined {
  if (/\/chat\/completions$/.test(path)) return COMPLETIONS;
  if (/\/responses$/.test(path)) return RESPONSES;
  if (/\/messages$/.test(path)) return MESSAGES;
  const { method } = readGooglePath(path) ?? {};
  return method === "generateContent" || method === "streamGenerateContent"
    ? GENERATE_CONTENT
    : undefined;
}
