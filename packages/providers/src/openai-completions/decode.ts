// Turns the bytes of a Chat Completions answer into stream events.
import type { StopReason, ThinkingCarrier, ToolCallBlock } from "@clew/plugin-sdk/core";
import type { ModelError, StreamEvent } from "@clew/plugin-sdk/host";
import { createParser } from "eventsource-parser";
import type { DecoderOptions, StreamDecoder } from "../provider.ts";
import { ReplyBuilder } from "../shared/reply.ts";
import { classifyError, type FailureOrigin, invalidResponse } from "../shared/wire-errors.ts";
import { CallAssembler } from "./call-assembler.ts";
import { type Chunk, type Delta, readUsage } from "./chunk.ts";
import { DetailAssembler } from "./details.ts";

/** What a finish reason means; one that is not here counts as "stop". */
const STOP_REASONS: Readonly<Record<string, StopReason>> = {
  length: "length",
  max_tokens: "length",
  tool_calls: "toolUse",
  function_call: "toolUse",
};

/** Reasons by which a server says that it gave up in the middle. */
const GAVE_UP = new Set(["error", "abort"]);

/** What an answer can be instead of a reply; each completes "… sent". */
const NOT_A_REPLY = {
  page: "a web page instead of a model's answer; check that the base URL ends in the API's version path, such as /v1.",
  noJson:
    "a piece of its answer that is no JSON; try again, or check that this server speaks Chat Completions.",
  gaveUp: "half an answer and said that it stopped because of an error; try again.",
  brokenOff: "an answer that broke off before its end; try again.",
};

export function createChatDecoder(options: DecoderOptions): StreamDecoder {
  return new ChatDecoder(options);
}

class ChatDecoder implements StreamDecoder {
  readonly #origin: FailureOrigin;
  readonly #contentType: string;
  readonly #reply: ReplyBuilder;
  readonly #calls: CallAssembler;
  readonly #details = new DetailAssembler();
  readonly #utf8 = new TextDecoder();
  readonly #sse = createParser({ onEvent: ({ data }) => this.#readData(data) });
  #events: StreamEvent[] = [];
  #unstreamed = "";
  #finishReason: string | undefined;
  #ended = false;

  constructor({ call, endpoint, contentType, now }: DecoderOptions) {
    this.#origin = { provider: call.model.provider, endpoint, now };
    this.#contentType = contentType?.split(";")[0]?.trim().toLowerCase() ?? "";
    this.#reply = new ReplyBuilder(call, now);
    this.#calls = new CallAssembler(`call_${now().toString(36)}_${call.messages.length}_`);
  }

  push(bytes: Uint8Array): StreamEvent[] {
    const text = this.#utf8.decode(bytes, { stream: true });
    // A server that knows no streaming answers with one JSON document.
    if (this.#contentType === "application/json") this.#unstreamed += text;
    else if (this.#contentType === "text/html") this.#fail(this.#invalid(NOT_A_REPLY.page));
    else this.#sse.feed(text);
    return this.#take();
  }

  end(): StreamEvent[] {
    if (this.#unstreamed !== "") this.#readData(this.#unstreamed);
    // The last event may lack its closing empty line.
    else this.#sse.feed("\n\n");
    this.#finish();
    this.#fail(this.#invalid(NOT_A_REPLY.brokenOff));
    return this.#take();
  }

  fail(error: ModelError): StreamEvent[] {
    this.#fail(error);
    return this.#take();
  }

  #readData(data: string): void {
    if (this.#ended) return;
    const chunk = data.trim() === "[DONE]" ? "done" : parseChunk(data);
    if (chunk === "done") this.#finish();
    else if (chunk === undefined) this.#fail(this.#invalid(NOT_A_REPLY.noJson));
    else if (chunk.error != null)
      this.#fail(classifyError({ kind: "text", ...errorText(chunk.error) }, this.#origin));
    else this.#readChunk(chunk);
  }

  #readChunk({ id, usage, choices }: Chunk): void {
    if (typeof id === "string" && id !== "") this.#reply.responseId ??= id;
    this.#reply.usage = readUsage(usage) ?? this.#reply.usage;
    const choice = choices?.[0];
    if (choice == null) return;
    this.#readDelta(choice.delta ?? choice.message ?? {});
    this.#finishReason = choice.finish_reason || this.#finishReason;
  }

  #readDelta(delta: Delta): void {
    const { reasoning_content: content, reasoning_details: details } = delta;
    const thinking = content || delta.reasoning;
    this.#details.push(details);
    if (typeof thinking === "string" && thinking !== "") {
      this.#reply.thinking(thinking, this.#carrierOf(delta));
      this.#events.push({ type: "thinking", delta: thinking });
    }
    const text = delta.content || delta.refusal;
    if (typeof text === "string" && text !== "") {
      this.#reply.text(text);
      this.#events.push({ type: "text", delta: text });
    }
    const calls: unknown = delta.tool_calls;
    if (Array.isArray(calls)) for (const call of calls) this.#calls.push(call);
  }

  #carrierOf({ reasoning_content: content }: Delta): ThinkingCarrier {
    if (this.#details.finish().length > 0) return "reasoning_details";
    return content ? "reasoning_content" : "reasoning";
  }

  /**
   * Ends the reply, if the server said why it stopped. Calls are given out only now: until then one
   * may have been cut off.
   */
  #finish(): void {
    if (this.#ended || this.#finishReason === undefined) return;
    const stopReason = STOP_REASONS[this.#finishReason] ?? "stop";
    const calls = this.#calls.finish();
    const broken = calls.find(({ call }) => call === undefined);
    // At the length limit a half-written call is no surprise: it is left out, and the stop reason
    // says why.
    const unreadable = broken !== undefined && stopReason !== "length";
    if (this.#finishReason === "content_filter") this.#fail(this.#filtered());
    else if (GAVE_UP.has(this.#finishReason)) this.#fail(this.#invalid(NOT_A_REPLY.gaveUp));
    else if (unreadable) this.#fail(this.#invalid(unreadableCall(broken.name)));
    else
      this.#done(
        calls.flatMap(({ call }) => call ?? []),
        stopReason,
      );
  }

  #done(calls: readonly ToolCallBlock[], stopReason: StopReason): void {
    const details = this.#details.finish();
    if (details.length > 0) this.#reply.carry("reasoning_details", details);
    for (const call of calls) {
      this.#reply.toolCall(call);
      this.#events.push({ type: "tool_call", call });
    }
    this.#ended = true;
    // Some servers say "stop" beside calls, and some "tool_calls" without any: what is there
    // counts.
    const actual = calls.length > 0 ? "toolUse" : stopReason === "toolUse" ? "stop" : stopReason;
    this.#events.push({ type: "done", message: this.#reply.message(actual) });
  }

  #fail(error: ModelError): void {
    if (this.#ended) return;
    this.#ended = true;
    const partial = this.#reply.message(
      error.kind === "aborted" ? "aborted" : "error",
      error.message,
    );
    this.#events.push({ type: "error", error, partial });
  }

  #invalid(what: string): ModelError {
    return invalidResponse(what, this.#origin);
  }

  #filtered(): ModelError {
    return {
      kind: "invalid_request",
      message: `The content filter of provider "${this.#origin.provider}" stopped the reply; change the request.`,
    };
  }

  #take(): StreamEvent[] {
    const events = this.#events;
    this.#events = [];
    return events;
  }
}

/**
 * A tool must not run with guessed arguments, and a person should know which model could not write
 * them.
 */
function unreadableCall(name: string): string {
  return `a call of tool "${name.slice(0, 64)}" whose arguments are no JSON object, so it was not run; try again, or use a model that calls tools well.`;
}

/** Trusted no further than its outermost shape: every field is checked where it is read. */
function parseChunk(data: string): Chunk | undefined {
  try {
    const value: unknown = JSON.parse(data);
    return typeof value === "object" && value !== null ? (value as Chunk) : undefined;
  } catch {
    return undefined;
  }
}

/** An error told inside the stream; some servers put the HTTP status into its code. */
function errorText(error: unknown): { text: string; status?: number } {
  const text = JSON.stringify({ error });
  const code =
    typeof error === "object" && error !== null ? (error as { code?: unknown }).code : undefined;
  return typeof code === "number" && code >= 400 && code < 600 ? { text, status: code } : { text };
}
