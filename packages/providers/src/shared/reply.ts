// Collects what a model streams into the assistant message it becomes.
import type {
  AssistantBlock,
  AssistantMessage,
  StopReason,
  ToolCallBlock,
  Usage,
} from "@clew/plugin-sdk/core";
import type { ModelCall } from "@clew/plugin-sdk/host";

/** The blocks of one reply, in the order they arrived. */
export class ReplyBuilder {
  readonly #call: ModelCall;
  readonly #now: () => number;
  #blocks: AssistantBlock[] = [];
  usage: Usage | undefined;

  constructor(call: ModelCall, now: () => number) {
    this.#call = call;
    this.#now = now;
  }

  text(delta: string): void {
    const last = this.#blocks.at(-1);
    this.#replaceLast(last?.type === "text" ? { ...last, text: last.text + delta } : undefined, {
      type: "text",
      text: delta,
    });
  }

  thinking(delta: string): void {
    const last = this.#blocks.at(-1);
    const grown =
      last?.type === "thinking" ? { ...last, thinking: last.thinking + delta } : undefined;
    this.#replaceLast(grown, { type: "thinking", thinking: delta });
  }

  toolCall(block: ToolCallBlock): void {
    this.#blocks.push(block);
  }

  /** The message so far. Usage is left out when the provider told none: unknown is not zero. */
  message(stopReason: StopReason, errorMessage?: string): AssistantMessage {
    const { api, provider, id } = this.#call.model;
    return {
      role: "assistant",
      content: this.#blocks.slice(),
      stopReason,
      ...(errorMessage !== undefined && { errorMessage }),
      api,
      provider,
      model: id,
      ...(this.usage !== undefined && { usage: this.usage }),
      timestamp: this.#now(),
    };
  }

  #replaceLast(grown: AssistantBlock | undefined, fresh: AssistantBlock): void {
    if (grown === undefined) this.#blocks.push(fresh);
    else this.#blocks[this.#blocks.length - 1] = grown;
  }
}
