// The offline model, which is deterministic and needs neither key nor network.
import type { Usage } from "@clew/plugin-sdk/core";
import {
  createSlices,
  type ModelCall,
  type ModelError,
  type StreamEvent,
} from "@clew/plugin-sdk/host";
import { estimateMessages, estimateText } from "@clew/plugin-sdk/tokens";
import { planOfflineReply } from "../offline/plan.ts";
import type { LocalDriver } from "../provider.ts";
import { ReplyBuilder } from "../shared/reply.ts";
import { abortError } from "../shared/wire-errors.ts";

/**
 * Api "offline". It quotes the best-matching sentence from the messages it is shown, or says that
 * it was shown none, first asking a search, grep or recall tool once; it acknowledges statements,
 * extracts summaries, and runs `call <tool> {json}`. The same call gives the same reply. Like a
 * real provider it bills tokens (estimated) and refuses a request larger than the model's window.
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { offline } from "@clew/providers/drivers/offline";
 *
 * assert.equal(offline.kind, "local");
 * ```
 */
export const offline: LocalDriver = { kind: "local", api: "offline", stream: streamOffline };

async function* streamOffline({
  call,
  now,
}: {
  call: ModelCall;
  now: () => number;
}): AsyncGenerator<StreamEvent> {
  const reply = new ReplyBuilder(call, now);
  const failed = (error: ModelError): StreamEvent => {
    return {
      type: "error",
      error,
      partial: reply.message(error.kind === "aborted" ? "aborted" : "error", error.message),
    };
  };
  // Nothing else here waits for anybody: many calls in a row would keep others waiting.
  const slices = createSlices();
  await slices.next();
  const input = requestTokens(call);
  if (slices.isOver()) await slices.next();
  if (input > call.model.contextWindow) return yield failed(overflowError(call, input));

  const plan = planOfflineReply(call);
  if (plan.kind === "tool") {
    const { name, argumentsObject } = plan;
    // Unique in the transcript: the assembled history alone may have the same length in every turn.
    const block = {
      type: "toolCall" as const,
      id: `offline_${now().toString(36)}_${call.messages.length}`,
      name,
      arguments: argumentsObject,
    };
    reply.toolCall(block);
    reply.usage = usage(input, `${name} ${JSON.stringify(argumentsObject)}`);
    yield { type: "tool_call", call: block };
    return yield { type: "done", message: reply.message("toolUse") };
  }
  const limit = Math.min(
    call.maxOutputTokens ?? Number.POSITIVE_INFINITY,
    call.model.maxOutputTokens,
  );
  const said = headWithin(plan.text, limit);
  for (const delta of said.match(/\S+\s*|\s+/g) ?? []) {
    if (call.signal.aborted) return yield failed(abortError());
    reply.text(delta);
    yield { type: "text", delta };
  }
  reply.usage = usage(input, said);
  yield { type: "done", message: reply.message(said === plan.text ? "stop" : "length") };
}

/** Estimated tokens of everything the request holds. */
function requestTokens(call: ModelCall): number {
  const tools = call.tools.length === 0 ? 0 : estimateText(JSON.stringify(call.tools)).estimate;
  return (
    estimateText(call.systemPrompt).estimate + tools + estimateMessages(call.messages).estimate
  );
}

/** The text, or as many of its words as `limit` tokens hold. */
function headWithin(text: string, limit: number): string {
  if (estimateText(text).estimate <= limit) return text;
  let head = "";
  let spent = 0;
  for (const word of text.match(/\S+\s*|\s+/g) ?? []) {
    spent += estimateText(word).estimate;
    if (spent > limit) break;
    head += word;
  }
  return head;
}

function usage(input: number, said: string): Usage {
  const output = estimateText(said).estimate;
  return { input, output, cacheRead: 0, cacheWrite: 0, totalTokens: input + output };
}

function overflowError({ model }: ModelCall, observedTokens: number): ModelError {
  const message = `The request holds about ${observedTokens} tokens, but the window of model "${model.id}" holds ${model.contextWindow}; make the context smaller.`;
  return { kind: "overflow", message, observedTokens };
}
