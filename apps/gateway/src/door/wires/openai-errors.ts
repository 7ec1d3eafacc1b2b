// What the two wires of OpenAI say when they refuse.
import type { DoorAnswer, Overflow } from "./door-wire.ts";
import { fixedSentence, partsOf, takenBy } from "./overflow-words.ts";

const TYPES: Readonly<Record<number, string>> = {
  401: "authentication_error",
  403: "permission_error",
  404: "not_found_error",
  429: "rate_limit_error",
};

export const openaiError = (
  status: number,
  message: string,
  more: { param?: string; code?: string } = {},
): DoorAnswer => ({
  ...{ status, reason: message },
  body: {
    error: {
      message,
      type: TYPES[status] ?? (status < 500 ? "invalid_request_error" : "server_error"),
      param: more.param ?? null,
      code: more.code ?? null,
    },
  },
});

export const openaiOverflow = (overflow: Overflow, param: string): DoorAnswer =>
  openaiError(
    400,
    `This model's maximum context length is ${overflow.window} tokens. However, you requested ${takenBy(overflow)} tokens${partsOf(overflow, ["messages", "completion"])}.${fixedSentence(overflow)}`,
    { param, code: "context_length_exceeded" },
  );
