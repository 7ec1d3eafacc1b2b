// What replies of the Chat Completions wire are made of.
import { blocksOf, type EmulatedReply, type ScriptedCall } from "../server/reply.ts";
import type { Carrier } from "./carriers.ts";

export const callId = (call: ScriptedCall, nonce: string, index: number): string =>
  call.id ?? `call_emulated_${nonce}_${index}`;

/** All words of one kind; undefined = there are none. */
export function wordsOf(reply: EmulatedReply, type: "text" | "thinking"): string | undefined {
  const found = blocksOf(reply).flatMap((block) => (block.type === type ? [block.text] : []));
  return found.length === 0 ? undefined : found.join("");
}

/** Reasoning as the server carries it; `isWhole`: signed, as after its last piece. */
export function carried(carrier: Carrier | undefined, words: string, isWhole: boolean): object {
  switch (carrier?.kind ?? "reasoning_content") {
    case "reasoning_content":
      return { reasoning_content: words };
    case "details": {
      const signature =
        isWhole && carrier?.maker === "anthropic" ? { signature: carrier.sign(words) } : {};
      const detail = { type: "reasoning.text", text: words, index: 0, format: "unknown" };
      return { reasoning: words, reasoning_details: [{ ...detail, ...signature }] };
    }
    default:
      return { reasoning: words };
  }
}

/** What comes with the first call of a reply. */
export function besideCall(carrier: Carrier | undefined, id: string) {
  const isSigned = carrier?.kind === "call_signature";
  const isEncrypted = carrier?.kind === "details" && carrier.maker === "google";
  return {
    call: isSigned ? { extra_content: { google: { thought_signature: carrier.sign(id) } } } : {},
    details: isEncrypted
      ? [
          {
            type: "reasoning.encrypted",
            data: carrier.sign(id),
            id,
            index: 1,
            format: "google-gemini-v1",
          },
        ]
      : [],
  };
}
