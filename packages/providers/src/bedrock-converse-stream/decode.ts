// Turns the bytes of a Converse answer into stream events.
import type { StopReason } from "@clew/plugin-sdk/core";
import { isRecord } from "@clew/plugin-sdk/host";
import type { DecoderOptions, StreamDecoder } from "../provider.ts";
import { type Answer, createAnswerDecoder, type EventReader } from "../shared/answer.ts";
import { isCallId } from "../shared/call-id.ts";
import { parseToolArguments } from "../shared/tool-arguments.ts";
import { converseEvents } from "./events.ts";
import { readUsage } from "./usage.ts";

export function createConverseDecoder(options: DecoderOptions): StreamDecoder {
  const reader = (answer: Answer) => new ConverseReader(answer);
  return createAnswerDecoder(options, "Amazon Bedrock's Converse", reader, converseEvents);
}

/** What a stop reason means; one that is not here counts as "stop". */
const STOP_REASONS: Readonly<Record<string, StopReason>> = {
  max_tokens: "length",
  model_context_window_exceeded: "length",
  tool_use: "toolUse",
};
const FILTERED: ReadonlySet<string> = new Set([
  "guardrail_intervened",
  "content_filtered",
  "refusal",
]);

type Json = Readonly<Record<string, unknown>>;

/** A block that is arriving, of the kinds that are whole only at their end. */
interface OpenBlock {
  /** What its start told; undefined = a block without one. */
  start: Json | undefined;
  /** Arguments so far. */
  input: string;
  /** Base64 so far, of thinking that only the provider reads. */
  redacted: string[];
  signature: string;
  /** Results of a tool the provider ran, so far. */
  results: unknown[];
}

const newBlock = (start?: Json): OpenBlock => ({
  start,
  input: "",
  redacted: [],
  signature: "",
  results: [],
});

class ConverseReader implements EventReader {
  readonly #answer: Answer;
  /** By their number: the pieces of several may come in turns. */
  readonly #open = new Map<unknown, OpenBlock>();
  #stopReason: string | undefined;
  /** A call whose arguments cannot be read. */
  #broken: string | undefined;
  /** Usage is told last. */
  #isWhole = false;

  constructor(answer: Answer) {
    this.#answer = answer;
  }

  read(event: Json): void {
    const { contentBlockIndex: index } = event;
    switch (event.type) {
      case "contentBlockStart":
        this.#startBlock(index, recordOf(event.start));
        break;
      case "contentBlockDelta":
        this.#readDelta(index, recordOf(event.delta));
        break;
      case "contentBlockStop":
        this.#stopBlock(index);
        break;
      case "messageStop":
        this.#stopReason = textOf(event.stopReason);
        break;
      case "metadata":
        this.#end(event);
        break;
      default:
        if (isRecord(event.output)) this.#readDocument(event);
    }
  }

  finish(): void {
    if (!this.#isWhole || this.#stopReason === undefined) return;
    const stopReason = STOP_REASONS[this.#stopReason] ?? "stop";
    // Some servers end the answer without ending its last block.
    if (stopReason !== "length") for (const index of this.#open.keys()) this.#stopBlock(index);
    if (FILTERED.has(this.#stopReason)) this.#answer.failAsFiltered();
    else if (this.#stopReason === "malformed_model_output") this.#answer.failAsGivenUp();
    else if (this.#stopReason === "malformed_tool_use")
      this.#answer.failAsUnreadable(this.#broken ?? "");
    // At the length limit a half-written call is no surprise: it is left out.
    else if (this.#broken !== undefined && stopReason !== "length")
      this.#answer.failAsUnreadable(this.#broken);
    else this.#answer.done(stopReason);
  }

  #end({ usage }: Json): void {
    this.#answer.reply.usage = readUsage(recordOf(usage));
    this.#isWhole = true;
    this.finish();
  }

  /** An answer that was not streamed: the same blocks, each at once. */
  #readDocument(document: Json): void {
    const { content } = recordOf(recordOf(document.output).message);
    for (const [index, block] of (Array.isArray(content) ? content.map(recordOf) : []).entries()) {
      const { toolUse, toolResult, reasoningContent } = block;
      const { reasoningText, redactedContent } = recordOf(reasoningContent);
      if (isRecord(toolUse) || isRecord(toolResult)) this.#startBlock(index, block);
      this.#readDelta(index, {
        text: block.text,
        reasoningContent: { ...recordOf(reasoningText), redactedContent },
      });
      if (isRecord(toolUse)) this.#blockAt(index).input = JSON.stringify(toolUse.input ?? {});
      this.#stopBlock(index);
    }
    this.#stopReason = textOf(document.stopReason);
    this.#end(document);
  }

  #startBlock(index: unknown, start: Json): void {
    this.#answer.reply.beginBlock(index);
    this.#open.set(index, newBlock(start));
  }

  /** Texts and thinking begin without a word. */
  #blockAt(index: unknown): OpenBlock {
    const open = this.#open.get(index) ?? newBlock();
    this.#open.set(index, open);
    return open;
  }

  #readDelta(index: unknown, { text, toolUse, toolResult, reasoningContent }: Json): void {
    const open = this.#blockAt(index);
    this.#answer.reply.inBlock(index);
    this.#answer.text(text);
    open.input += textOf(recordOf(toolUse).input) ?? "";
    if (Array.isArray(toolResult)) open.results.push(...(toolResult as unknown[]));
    const { text: thinking, signature, redactedContent } = recordOf(reasoningContent);
    this.#answer.thinking(thinking, "signed");
    open.signature += textOf(signature) ?? "";
    if (isText(redactedContent)) open.redacted.push(redactedContent);
  }

  #stopBlock(index: unknown): void {
    const { start, signature, redacted, ...open } = this.#blockAt(index);
    const { reply } = this.#answer;
    reply.inBlock(index);
    if (signature !== "") reply.sign(signature, "signed");
    if (redacted.length > 0) reply.redacted(joinedBase64(redacted));
    const call = recordOf(start?.toolUse);
    if (isRecord(start?.toolUse) && call.type === undefined) this.#readCall(call, open.input);
    else if (start !== undefined) this.#readOpaque(start, open);
    reply.endBlock();
    this.#open.delete(index);
  }

  #readCall({ toolUseId: id, name }: Json, input: string): void {
    const parsed = parseToolArguments(input);
    if (!parsed.ok || !isCallId(id) || !isText(name)) this.#broken ??= isText(name) ? name : "";
    else this.#answer.reply.toolCall({ type: "toolCall", id, name, arguments: parsed.value });
  }

  /** Calls and results of the provider's own tools go back as they came, put together. */
  #readOpaque(start: Json, { input, results }: Pick<OpenBlock, "input" | "results">): void {
    const { toolUse, toolResult } = start;
    const parsed = parseToolArguments(input);
    if (isRecord(toolUse) && parsed.ok)
      this.#answer.reply.opaque("toolUse", { toolUse: { ...toolUse, input: parsed.value } });
    if (isRecord(toolResult)) {
      const content = results.length > 0 ? results : (toolResult.content ?? []);
      this.#answer.reply.opaque("toolResult", { toolResult: { ...toolResult, content } });
    }
  }
}

/** Pieces may each have been padded. */
function joinedBase64(pieces: readonly string[]): string {
  const [first = ""] = pieces;
  if (pieces.length === 1) return first;
  try {
    return btoa(pieces.map((piece) => atob(piece)).join(""));
  } catch {
    return pieces.join("");
  }
}

const recordOf = (value: unknown): Json => (isRecord(value) ? value : {});

const isText = (value: unknown): value is string => typeof value === "string" && value !== "";

const textOf = (value: unknown): string | undefined => (isText(value) ? value : undefined);
