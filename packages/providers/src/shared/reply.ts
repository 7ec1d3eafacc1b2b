// Collects what a model streams into the assistant message it becomes.
import type {
  AssistantBlock,
  AssistantMessage,
  StopReason,
  ThinkingCarrier,
  ToolCallBlock,
  Usage,
} from "@clew/plugin-sdk/core";
import type { ModelCall } from "@clew/plugin-sdk/host";

/** The blocks of one reply, in the order they arrived. */
export class ReplyBuilder {
  readonly #call: ModelCall;
  readonly #now: () => number;
  #blocks: AssistantBlock[] = [];
  /** Blocks before this place are whole. */
  #begin = 0;
  usage: Usage | undefined;
  /** The provider's id of the reply. */
  responseId: string | undefined;

  constructor(call: ModelCall, now: () => number) {
    this.#call = call;
    this.#now = now;
  }

  /** What comes next does not go on with the block before it. */
  endBlock(): void {
    this.#begin = this.#blocks.length;
  }

  text(delta: string): void {
    const last = this.#open();
    this.#replaceLast(last?.type === "text" ? { ...last, text: last.text + delta } : undefined, {
      type: "text",
      text: delta,
    });
  }

  /** Goes on with the last block when that is thinking of the same carrier. */
  thinking(delta: string, carrier?: ThinkingCarrier): void {
    const last = this.#open();
    const goesOn = last?.type === "thinking" && last.carrier === carrier;
    this.#replaceLast(goesOn ? { ...last, thinking: last.thinking + delta } : undefined, {
      type: "thinking",
      thinking: delta,
      ...(carrier !== undefined && { carrier }),
    });
  }

  /** The proof of the thinking that arrives; a block of its own where nothing was told of it. */
  sign(thinkingSignature: string, carrier: ThinkingCarrier): void {
    const last = this.#open();
    this.#replaceLast(last?.type === "thinking" ? { ...last, thinkingSignature } : undefined, {
      type: "thinking",
      thinking: "",
      thinkingSignature,
      carrier,
    });
  }

  /** Thinking that only the provider can read. */
  redacted(data: string): void {
    this.#blocks.push({ type: "redacted_thinking", data });
  }

  /** The provider's own proof of the text that is arriving; false when none is. */
  signText(textSignature: string): boolean {
    const last = this.#open();
    if (last?.type !== "text") return false;
    this.#blocks[this.#blocks.length - 1] = { ...last, textSignature };
    return true;
  }

  /** What the newest thinking of this carrier holds beside its text; a block of its own if none. */
  carry(carrier: ThinkingCarrier, carried: unknown): void {
    const at = this.#blocks.findLastIndex(
      (block) => block.type === "thinking" && block.carrier === carrier,
    );
    const block = this.#blocks[at];
    if (block?.type === "thinking") this.#blocks[at] = { ...block, carried };
    else this.#blocks.unshift({ type: "thinking", thinking: "", carrier, carried });
  }

  toolCall(block: ToolCallBlock): void {
    this.#blocks.push(block);
  }

  calls(): ToolCallBlock[] {
    return this.#blocks.filter((block) => block.type === "toolCall");
  }

  dropCalls(): void {
    this.#blocks = this.#blocks.filter((block) => block.type !== "toolCall");
  }

  /** What only the provider of this call understands. */
  opaque(kind: string, data: unknown): void {
    const { api, provider, id: model } = this.#call.model;
    this.#blocks.push({ type: "provider", api, provider, model, kind, data });
  }

  /** The message so far. Usage is left out when the provider told none: unknown is not zero. */
  message(stopReason: StopReason, errorMessage?: string): AssistantMessage {
    const { api, provider, id, account } = this.#call.model;
    return {
      role: "assistant",
      content: this.#blocks.slice(),
      stopReason,
      ...(errorMessage !== undefined && { errorMessage }),
      api,
      provider,
      model: id,
      ...(account !== undefined && { account }),
      ...(this.responseId !== undefined && { responseId: this.responseId }),
      ...(this.usage !== undefined && { usage: this.usage }),
      timestamp: this.#now(),
    };
  }

  /** The block that may still grow. */
  #open(): AssistantBlock | undefined {
    return this.#blocks.length > this.#begin ? this.#blocks.at(-1) : undefined;
  }

  #replaceLast(grown: AssistantBlock | undefined, fresh: AssistantBlock): void {
    if (grown === undefined) this.#blocks.push(fresh);
    else this.#blocks[this.#blocks.length - 1] = grown;
  }
}
