// Turns the bytes of a Chat Completions answer into stream events.
import type { StopReason, ThinkingCarrier } from "@clew/plugin-sdk/core";
import { isRecord } from "@clew/plugin-sdk/host";
import type { DecoderOptions, StreamDecoder } from "../provider.ts";
import { type Answer, createAnswerDecoder, type EventReader } from "../shared/answer.ts";
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

/** `wire` is its name for people: others stream in the same way. */
export function createChatDecoder(
  options: DecoderOptions,
  wire = "Chat Completions",
): StreamDecoder {
  const { now, call } = options;
  const idPrefix = `call_${now().toString(36)}_${call.messages.length}_`;
  return createAnswerDecoder(options, wire, (answer) => new ChunkReader(answer, idPrefix));
}

class ChunkReader implements EventReader {
  readonly #answer: Answer;
  readonly #calls: CallAssembler;
  readonly #details = new DetailAssembler();
  #finishReason: string | undefined;

  constructor(answer: Answer, idPrefix: string) {
    this.#answer = answer;
    this.#calls = new CallAssembler(idPrefix);
  }

  read(chunk: Chunk): void {
    const { id, usage, choices } = chunk;
    const { reply } = this.#answer;
    // Mistral tells of an error by the object itself.
    if (chunk.object === "error")
      this.#answer.failAsTold({ ...chunk, code: chunk.raw_status_code });
    if (typeof id === "string" && id !== "") reply.responseId ??= id;
    reply.usage = readUsage(usage) ?? reply.usage;
    const choice = choices?.[0];
    if (choice == null) return;
    this.#readDelta(choice.delta ?? choice.message ?? {});
    this.#finishReason = choice.finish_reason || this.#finishReason;
  }

  #readDelta(delta: Delta): void {
    this.#details.push(delta.reasoning_details);
    this.#answer.thinking(delta.reasoning_content || delta.reasoning, this.#carrierOf(delta));
    if (Array.isArray(delta.content)) for (const piece of delta.content) this.#readPiece(piece);
    else this.#answer.text(delta.content || delta.refusal);
    const calls: unknown = delta.tool_calls;
    if (Array.isArray(calls)) for (const call of calls) this.#calls.push(call);
  }

  /** Mistral's content: a text, or a thought in texts of its own. */
  #readPiece(piece: unknown): void {
    if (!isRecord(piece)) return;
    if (piece.type === "text") this.#answer.text(piece.text);
    const thoughts: readonly unknown[] = Array.isArray(piece.thinking) ? piece.thinking : [];
    for (const thought of thoughts)
      if (isRecord(thought)) this.#answer.thinking(thought.text, "chunk");
    const { signature } = piece;
    if (typeof signature === "string" && signature !== "")
      this.#answer.reply.sign(signature, "chunk");
  }

  #carrierOf({ reasoning_content: content }: Delta): ThinkingCarrier {
    if (this.#details.finish().length > 0) return "reasoning_details";
    return content ? "reasoning_content" : "reasoning";
  }

  /** The server said why it stopped, or the reply is not whole. */
  finish(): void {
    const reason = this.#finishReason;
    if (reason === undefined) return;
    const stopReason = STOP_REASONS[reason] ?? "stop";
    const calls = this.#calls.finish();
    const broken = calls.find(({ call }) => call === undefined);
    if (reason === "content_filter") this.#answer.failAsFiltered();
    else if (GAVE_UP.has(reason)) this.#answer.failAsGivenUp();
    // At the length limit a half-written call is no surprise: it is left out, and the stop reason
    // says why.
    else if (broken !== undefined && stopReason !== "length")
      this.#answer.failAsUnreadable(broken.name);
    else {
      const details = this.#details.finish();
      if (details.length > 0) this.#answer.reply.carry("reasoning_details", details);
      for (const { call } of calls) if (call !== undefined) this.#answer.reply.toolCall(call);
      this.#answer.done(stopReason);
    }
  }
}
