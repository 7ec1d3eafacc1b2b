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
  /** Place of the block that may still grow. */
  #at: number | undefined;
  /** Places of numbered blocks that may still grow. */
  readonly #numbered = new Map<number, number>();
  /** The same of all of them, also of those that ended: some end before one that began earlier. */
  readonly #places = new Map<number, number>();
  #number: number | undefined;
  usage: Usage | undefined;
  /** The provider's id of the reply. */
  responseId: string | undefined;

  constructor(call: ModelCall, now: () => number) {
    this.#call = call;
    this.#now = now;
  }

  /** What comes next does not go on with the block before it. */
  endBlock(): void {
    if (this.#number !== undefined) this.#numbered.delete(this.#number);
    this.#at = undefined;
    this.#number = undefined;
  }

  /** A block of this number begins; those that have begun may still grow. */
  beginBlock(number: unknown): void {
    this.#at = undefined;
    this.#number = typeof number === "number" ? number : undefined;
    this.#numberAnew();
    if (this.#number !== undefined) this.#numbered.delete(this.#number);
  }

  /** What comes next belongs to the block of this number, which may have begun before others. */
  inBlock(number: unknown): void {
    if (number === this.#number || typeof number !== "number") return;
    this.#number = number;
    if (!this.#numbered.has(number)) this.#numberAnew();
    this.#at = this.#numbered.get(number);
  }

  /** Some servers give a number twice: where blocks stand no longer follows from it then. */
  #numberAnew(): void {
    if (this.#number !== undefined && this.#places.has(this.#number)) this.#places.clear();
  }

  text(delta: string): void {
    const last = this.#open();
    this.#grow(last?.type === "text" ? { ...last, text: last.text + delta } : undefined, {
      type: "text",
      text: delta,
    });
  }

  /** Goes on with the last block when that is thinking of the same carrier. */
  thinking(delta: string, carrier?: ThinkingCarrier): void {
    const last = this.#open();
    const goesOn = last?.type === "thinking" && last.carrier === carrier;
    this.#grow(goesOn ? { ...last, thinking: last.thinking + delta } : undefined, {
      type: "thinking",
      thinking: delta,
      ...(carrier !== undefined && { carrier }),
    });
  }

  /** The proof of the thinking that arrives; a block of its own where nothing was told of it. */
  sign(thinkingSignature: string, carrier: ThinkingCarrier): void {
    const last = this.#open();
    this.#grow(last?.type === "thinking" ? { ...last, thinkingSignature } : undefined, {
      type: "thinking",
      thinking: "",
      thinkingSignature,
      carrier,
    });
  }

  /** Thinking that only the provider can read. */
  redacted(data: string): void {
    this.#push({ type: "redacted_thinking", data });
  }

  /** The provider's own proof of the text that is arriving; false when none is. */
  signText(textSignature: string): boolean {
    const last = this.#open();
    if (last?.type !== "text" || this.#at === undefined) return false;
    this.#blocks[this.#at] = { ...last, textSignature };
    return true;
  }

  /** What the newest thinking of this carrier holds beside its text; a block of its own if none. */
  carry(carrier: ThinkingCarrier, carried: unknown): void {
    const at = this.#blocks.findLastIndex(
      (block) => block.type === "thinking" && block.carrier === carrier,
    );
    const block = this.#blocks[at];
    if (block?.type === "thinking") this.#blocks[at] = { ...block, carried };
    else {
      this.endBlock();
      this.#numbered.clear();
      this.#places.clear();
      this.#blocks.unshift({ type: "thinking", thinking: "", carrier, carried });
    }
  }

  toolCall(block: ToolCallBlock): void {
    this.#push(block);
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
    this.#push({ type: "provider", api, provider, model, kind, data });
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
    return this.#at === undefined ? undefined : this.#blocks[this.#at];
  }

  /** A block that came whole: nothing goes on with it. */
  #push(block: AssistantBlock): void {
    this.#place(block);
    this.#at = undefined;
  }

  #grow(grown: AssistantBlock | undefined, fresh: AssistantBlock): void {
    if (grown !== undefined && this.#at !== undefined) this.#blocks[this.#at] = grown;
    else this.#at = this.#place(fresh);
  }

  /** At the end, but before the blocks of higher numbers. */
  #place(block: AssistantBlock): number {
    const number = this.#number;
    if (number === undefined) return this.#blocks.push(block) - 1;
    const after = [...this.#places].filter(([other]) => other > number);
    const at = Math.min(this.#blocks.length, ...after.map(([, place]) => place));
    this.#blocks.splice(at, 0, block);
    for (const places of [this.#numbered, this.#places])
      for (const [other, place] of places) if (place >= at) places.set(other, place + 1);
    this.#numbered.set(number, at);
    this.#places.set(number, at);
    return at;
  }
}
