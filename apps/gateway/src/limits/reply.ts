// Ends a model call whose reply grows beyond a limit.
import type { ModelPort } from "@clew/engine-core";
import type { AssistantMessage } from "@clew/plugin-sdk/core";
import {
  linkSignals,
  type ModelCall,
  type ModelError,
  type StreamEvent,
} from "@clew/plugin-sdk/host";
import { bytesOf, describeBytes } from "./size.ts";

/** Of what arrived until then the partial message is kept, as of any call that fails. */
export async function* limitReply(
  stream: ModelPort["stream"],
  call: ModelCall,
  limitBytes: number,
): AsyncGenerator<StreamEvent> {
  const { signal, abort, release } = linkSignals(call.signal);
  let bytes = 0;
  try {
    for await (const event of stream({ ...call, signal })) {
      const isOver = bytes > limitBytes;
      if (event.type === "done" || event.type === "error") {
        if (isOver && !call.signal.aborted) yield tooLarge(partialOf(event), limitBytes);
        else yield event;
        return;
      }
      if (isOver) continue;
      bytes += bytesOf([event.type === "tool_call" ? JSON.stringify(event.call) : event.delta]);
      if (bytes <= limitBytes) yield event;
      else abort(new DOMException("The reply is too large.", "AbortError"));
    }
  } finally {
    release();
  }
}

const partialOf = (event: Extract<StreamEvent, { type: "done" | "error" }>) =>
  event.type === "done" ? event.message : event.partial;

function tooLarge(partial: AssistantMessage, limitBytes: number): StreamEvent {
  const message = `the reply is larger than ${describeBytes(limitBytes)} (gateway.limits.replyBytes), and was not read on`;
  const error: ModelError = { kind: "invalid_response", message };
  return { type: "error", error, partial: { ...partial, stopReason: "error" } };
}
