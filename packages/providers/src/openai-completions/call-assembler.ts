// Puts the deltas of tool calls together, whichever way a server numbers them.
import type { ToolCallBlock } from "@clew/plugin-sdk/core";
import type { ToolCallDelta } from "./chunk.ts";
import { parseToolArguments } from "./tool-arguments.ts";

interface OpenCall {
  index: number | undefined;
  id: string;
  name: string;
  argumentsText: string;
}

/** A call as it arrived; `call` is undefined when its arguments cannot be read. */
export interface AssembledCall {
  name: string;
  call: ToolCallBlock | undefined;
}

export class CallAssembler {
  readonly #idPrefix: string;
  #calls: OpenCall[] = [];

  /**
   * `idPrefix` starts the id of a call whose server gave none; it must be new in this transcript.
   */
  constructor(idPrefix: string) {
    this.#idPrefix = idPrefix;
  }

  push(delta: ToolCallDelta): void {
    const call = this.#find(delta) ?? this.#open(delta);
    const { name, arguments: fragment } = delta.function ?? {};
    call.id ||= delta.id ?? "";
    // Some servers repeat the name with every delta; none sends it in pieces.
    call.name ||= name ?? "";
    // Some servers send the arguments as an object instead of text.
    if (typeof fragment === "string") call.argumentsText += fragment;
    else if (typeof fragment === "object" && fragment !== null)
      call.argumentsText += JSON.stringify(fragment);
  }

  /** All calls, in order. */
  finish(): AssembledCall[] {
    return this.#calls.map(({ id, name, argumentsText }, position) => {
      const parsed = parseToolArguments(argumentsText);
      if (!parsed.ok || name === "") return { name, call: undefined };
      return {
        name,
        call: {
          type: "toolCall",
          id: id || `${this.#idPrefix}${position}`,
          name,
          arguments: parsed.value,
        },
      };
    });
  }

  /**
   * The call a delta continues. An id of its own begins another call even under a used index: some
   * servers number every call 0.
   */
  #find({ index, id }: ToolCallDelta): OpenCall | undefined {
    const numbered = typeof index === "number";
    const candidate = numbered
      ? this.#calls.findLast((call) => call.index === index)
      : this.#calls.at(-1);
    if (candidate === undefined || !id || candidate.id === "" || candidate.id === id)
      return candidate;
    return undefined;
  }

  #open({ index }: ToolCallDelta): OpenCall {
    const call = { index: index ?? undefined, id: "", name: "", argumentsText: "" };
    this.#calls.push(call);
    return call;
  }
}
