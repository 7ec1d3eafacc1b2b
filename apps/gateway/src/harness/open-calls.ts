// Tells the calls that a program makes by itself, each of them as it begins and as it ends.
import type { ExecutionEvent } from "@clew/engine-core";
import type { AssistantMessage, ToolResultMessage } from "@clew/plugin-sdk/core";

/** Who answered, on each message. */
export type Signed = Pick<AssistantMessage, "api" | "provider" | "model">;

export interface OwnCall {
  id: string;
  name: string;
  args: Record<string, unknown>;
}

export interface OwnResult {
  text: string;
  isError: boolean;
  /** Ms. Absent: not known. */
  durationMs?: number | null | undefined;
}

type Told = Extract<ExecutionEvent, { type: "messages" }>;

export interface OpenCalls {
  /** Of one that is known already nothing is told. Gives what was told. */
  begin(call: OwnCall): Told | undefined;
  /** Of one that began unheard that is told first. */
  end(call: OwnCall, result: OwnResult): void;
  /** Those that run get a result that says so. */
  endAll(text: string, isError?: boolean): void;
  /** The one of that id that has no result yet. */
  find(id: string): OwnCall | undefined;
  readonly count: number;
}

/** A call is told before anything comes of it, so that a kill leaves the call itself on record. */
export function createOpenCalls(signed: Signed, tell: (event: Told) => void): OpenCalls {
  const open = new Map<string, OwnCall>();
  const known = new Set<string>();
  const begin = (call: OwnCall) => {
    if (known.has(call.id)) return undefined;
    known.add(call.id);
    open.set(call.id, call);
    const told: Told = { type: "messages", messages: [callMessage(call, signed)] };
    tell(told);
    return told;
  };
  const end = (call: OwnCall, { durationMs, ...result }: OwnResult) => {
    begin(call);
    const begun = open.get(call.id);
    if (begun === undefined) return;
    open.delete(call.id);
    tell({
      ...{ type: "messages", messages: [resultMessage(begun, result)] },
      ...(durationMs != null && { durationMs }),
    });
  };
  return {
    ...{ begin, end },
    endAll(text, isError = true) {
      for (const call of [...open.values()]) end(call, { text, isError });
    },
    find: (id) => open.get(id),
    get count() {
      return open.size;
    },
  };
}

const callMessage = ({ id, name, args }: OwnCall, signed: Signed): AssistantMessage => ({
  role: "assistant",
  content: [{ type: "toolCall", id, name, arguments: args }],
  ...{ stopReason: "toolUse", ...signed },
});

const resultMessage = (
  { id, name }: OwnCall,
  { text, isError }: Pick<OwnResult, "text" | "isError">,
): ToolResultMessage => ({
  ...{ role: "toolResult", toolCallId: id, toolName: name, isError },
  content: [{ type: "text", text: text === "" ? "(no output)" : text }],
});
