// Puts the deltas of tool calls together, whichever way a server numbers them.
import type { ToolCallBlock } from "@clew/plugin-sdk/core";
import { isRecord } from "@clew/plugin-sdk/host";
import { isCallId } from "../shared/call-id.ts";
import { parseToolArguments } from "../shared/tool-arguments.ts";
import { type ToolCallDelta, thoughtSignatureOf } from "./chunk.ts";

interface OpenCall {
  index: number | undefined;
  id: string;
  name: string;
  argumentsText: string;
  thoughtSignature: string | undefined;
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

  /** `delta` is what a server sent as one; anything but an object is passed over. */
  push(delta: unknown): void {
    if (!isRecord(delta)) return;
    const piece: ToolCallDelta = { ...delta, id: isCallId(delta.id) ? delta.id : "" };
    const call = this.#find(piece) ?? this.#open(piece);
    const { name, arguments: fragment } = piece.function ?? {};
    call.id ||= piece.id ?? "";
    // Some servers repeat the name with every delta; none sends it in pieces.
    call.name ||= textOf(name);
    call.thoughtSignature ??= thoughtSignatureOf(piece);
    // Some servers send the arguments as an object instead of text.
    if (typeof fragment === "string") call.argumentsText += fragment;
    else if (typeof fragment === "object" && fragment !== null)
      call.argumentsText += JSON.stringify(fragment);
  }

  /** All calls, in order. */
  finish(): AssembledCall[] {
    return this.#calls.map(({ id, name, argumentsText, thoughtSignature }, position) => {
      const parsed = parseToolArguments(argumentsText);
      if (!parsed.ok || name === "") return { name, call: undefined };
      return {
        name,
        call: {
          type: "toolCall",
          id: id || `${this.#idPrefix}${position}`,
          name,
          arguments: parsed.value,
          ...(thoughtSignature !== undefined && { thoughtSignature }),
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
    const call: OpenCall = {
      index: index ?? undefined,
      id: "",
      name: "",
      argumentsText: "",
      thoughtSignature: undefined,
    };
    this.#calls.push(call);
    return call;
  }
}

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");
