// Turns the bytes of a Messages answer into stream events.
import type { StopReason } from "@clew/plugin-sdk/core";
import { isRecord } from "@clew/plugin-sdk/host";
import type { DecoderOptions, StreamDecoder } from "../provider.ts";
import { type Answer, createAnswerDecoder, type EventReader } from "../shared/answer.ts";
import { isCallId } from "../shared/call-id.ts";
import { parseToolArguments } from "../shared/tool-arguments.ts";
import { toldIn } from "./told.ts";
import { readUsage } from "./usage.ts";

/** What a stop reason means; one that is not here counts as "stop". */
const STOP_REASONS: Readonly<Record<string, StopReason>> = {
  max_tokens: "length",
  model_context_window_exceeded: "length",
  tool_use: "toolUse",
};

export function createMessagesDecoder(options: DecoderOptions): StreamDecoder {
  return createAnswerDecoder(options, "Anthropic Messages", (answer) => new MessageReader(answer));
}

const READ_AS_THEY_CAME: ReadonlySet<unknown> = new Set(["text", "thinking", "redacted_thinking"]);

type Json = Readonly<Record<string, unknown>>;

/** A block that is arriving. */
interface OpenBlock {
  head: Json;
  /** Arguments so far. */
  input: string;
  /** What a compaction says, so far. */
  content: string;
  /** What else it holds, for the provider alone. */
  sealed: Json;
}

class MessageReader implements EventReader {
  readonly #answer: Answer;
  /** By their number: some servers let the pieces of several come in turns. */
  readonly #open = new Map<unknown, OpenBlock>();
  #usage: Json = {};
  #stopReason: string | undefined;
  /** A call whose arguments cannot be read. */
  #broken: string | undefined;
  #isWhole = false;

  constructor(answer: Answer) {
    this.#answer = answer;
  }

  read(event: Json): void {
    switch (event.type) {
      case "message_start":
        this.#begin(recordOf(event.message));
        break;
      case "content_block_start":
        this.#startBlock(event.index, recordOf(event.content_block));
        break;
      case "content_block_delta":
        this.#answer.reply.inBlock(event.index);
        this.#readDelta(recordOf(event.delta), this.#open.get(event.index));
        break;
      case "content_block_stop":
        this.#stopBlock(event.index);
        break;
      case "message_delta":
        this.#answer.tell(toldIn(event));
        this.#readEnding(recordOf(event.delta), event.usage);
        break;
      case "message_stop":
        this.#isWhole = true;
        this.finish();
        break;
      case "message":
        this.#readDocument(event);
    }
  }

  finish(): void {
    if (!this.#isWhole || this.#stopReason === undefined) return;
    const stopReason = STOP_REASONS[this.#stopReason] ?? "stop";
    // Some servers end the answer without ending its last block.
    if (stopReason !== "length") for (const index of this.#open.keys()) this.#stopBlock(index);
    if (this.#stopReason === "refusal") this.#answer.failAsFiltered();
    // At the length limit a half-written call is no surprise: it is left out.
    else if (this.#broken !== undefined && stopReason !== "length")
      this.#answer.failAsUnreadable(this.#broken);
    else this.#answer.done(stopReason);
  }

  #begin(message: Json): void {
    const { id, usage } = message;
    if (typeof id === "string" && id !== "") this.#answer.reply.responseId = id;
    this.#answer.tell(toldIn(message));
    this.#count(usage);
  }

  #readEnding({ stop_reason: reason }: Json, usage: unknown): void {
    if (typeof reason === "string") this.#stopReason = reason;
    this.#count(usage);
  }

  /** Counts are told twice, and the later ones are of the whole reply. */
  #count(usage: unknown): void {
    const told = Object.entries(recordOf(usage)).filter(([, value]) => value != null);
    this.#usage = { ...this.#usage, ...Object.fromEntries(told) };
    this.#answer.reply.usage = readUsage(this.#usage);
  }

  /** An answer that was not streamed: the same blocks, each at once. */
  #readDocument(message: Json): void {
    this.#begin(message);
    const content: readonly unknown[] = Array.isArray(message.content) ? message.content : [];
    for (const [index, block] of content.entries()) {
      this.#startBlock(index, recordOf(block));
      this.#stopBlock(index);
    }
    this.#readEnding(message, undefined);
    this.#isWhole = true;
    this.finish();
  }

  #startBlock(index: unknown, head: Json): void {
    this.#answer.reply.beginBlock(index);
    const open = { head, input: "", content: "", sealed: {} };
    this.#open.set(index, open);
    if (head.type === "text") this.#answer.text(head.text);
    if (head.type === "thinking") this.#readDelta(head, open);
  }

  #readDelta(delta: Json, open: OpenBlock | undefined): void {
    if (open?.head.type === "compaction") {
      readCompaction(open, delta);
      return;
    }
    const { thinking, signature, partial_json: input } = delta;
    this.#answer.text(delta.type === "text_delta" ? delta.text : undefined);
    this.#answer.thinking(thinking, "signed");
    if (isText(signature)) this.#answer.reply.sign(signature, "signed");
    if (open !== undefined && isText(input)) open.input += input;
  }

  #stopBlock(index: unknown): void {
    const open = this.#open.get(index);
    this.#open.delete(index);
    if (open === undefined) return;
    const { reply } = this.#answer;
    const { type, data } = open.head;
    reply.inBlock(index);
    if (type === "tool_use") this.#readCall(open);
    else if (type === "redacted_thinking" && isText(data)) reply.redacted(data);
    else if (!READ_AS_THEY_CAME.has(type)) this.#readOpaque(open);
    reply.endBlock();
  }

  #readCall({ head, input }: OpenBlock): void {
    const { id, name } = head;
    const parsed = parseToolArguments(input || JSON.stringify(head.input ?? {}));
    if (!parsed.ok || !isCallId(id) || !isText(name)) this.#broken ??= isText(name) ? name : "";
    else this.#answer.reply.toolCall({ type: "toolCall", id, name, arguments: parsed.value });
  }

  /** What only the provider understands goes back as it came, put together. */
  #readOpaque({ head, input, content, sealed }: OpenBlock): void {
    if (!isText(head.type)) return;
    const parsed = parseToolArguments(input);
    this.#answer.reply.opaque(head.type, {
      ...head,
      ...(input !== "" && parsed.ok && { input: parsed.value }),
      ...sealed,
      ...(content !== "" && { content }),
    });
  }
}

/** Its summary comes in pieces; whatever stands beside it goes back as it is. */
function readCompaction(open: OpenBlock, { type: _type, content, ...rest }: Json): void {
  if (isText(content)) open.content += content;
  open.sealed = { ...open.sealed, ...rest };
}

const recordOf = (value: unknown): Json => (isRecord(value) ? value : {});

const isText = (value: unknown): value is string => typeof value === "string" && value !== "";
