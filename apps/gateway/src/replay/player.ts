// Plays one recorded turn through ports that answer with what was recorded.
import type { ClockPort, ModelPort, ToolOutcome, ToolPort } from "@clew/engine-core";
import type { AgentMessage, AssistantMessage, Usage } from "@clew/plugin-sdk/core";
import type { ModelCall, StreamEvent, ToolDefinition } from "@clew/plugin-sdk/host";
import { estimateMessage, estimateMessages, estimateText } from "@clew/plugin-sdk/tokens";
import { hasFailed, type RecordedStep, type RecordedTurn } from "./recorded-turns.ts";

export interface Player {
  model: ModelPort;
  tools: ToolPort;
  clock: ClockPort;
  /** Steps whose reply was not played, with what stood before them. */
  remaining(): RecordedStep[];
}

export interface PlayerOptions {
  turn: RecordedTurn;
  /** Stores what no model call makes. */
  append: (messages: readonly AgentMessage[]) => Promise<void>;
  /** Told at each recorded call, before its reply. */
  onCall: (call: ModelCall) => void;
  /** Tools that calls are told of. Absent: none. */
  offered?: readonly ToolDefinition[] | undefined;
  /** What a provider would have counted of a call whose reply comes `now`. Absent: no cache. */
  usageOf?: ((call: ModelCall, output: number, now: number) => Usage) | undefined;
  /** Counted / estimated tokens of the model: it is counted as the provider would. Absent: 1. */
  tokenRatio?: number | undefined;
}

/**
 * Nothing is executed and nothing is sent anywhere. Time is what the recording says; what a
 * call takes is estimated.
 */
export function createPlayer({
  turn,
  append,
  onCall,
  usageOf,
  offered = [],
  tokenRatio = 1,
}: PlayerOptions): Player {
  let next = 0;
  let now = turn.prompt?.timestamp ?? 0;

  async function* stream(call: ModelCall): AsyncGenerator<StreamEvent> {
    const step = turn.steps[next];
    if (step === undefined) return yield endOfRecording();
    next++;
    onCall(call);
    await append(step.before);
    const { reply } = step;
    now = timeOf(reply) ?? now;
    if (!hasFailed(reply)) return yield { type: "done", message: withUsage(call, reply) };
    const message = reply.errorMessage ?? `The recorded call ended with "${reply.stopReason}".`;
    yield {
      type: "error",
      error: { kind: reply.stopReason === "aborted" ? "aborted" : "invalid_response", message },
      partial: reply,
      // It was asked for all the same, and whoever answers reads the request first.
      estimated: withUsage(call, reply).usage,
    };
  }

  const withUsage = (call: ModelCall, reply: AssistantMessage) => {
    const estimated = withUsageOf(call, reply);
    const usage = usageOf?.(call, estimated.usage?.output ?? 0, now);
    return { ...estimated, usage: promptTimes(usage ?? estimated.usage, tokenRatio) };
  };

  return {
    model: {
      stream,
      complete: async () => ({
        ok: false,
        error: { kind: "unavailable", message: NO_MODEL },
        partial: emptyReply("error", NO_MODEL),
      }),
    },
    tools: {
      list: () => offered,
      async run({ call }) {
        const results = turn.steps[next - 1]?.results ?? [];
        const result = results.find(({ toolCallId }) => toolCallId === call.id);
        now = (result && timeOf(result)) ?? now;
        return recordedOutcome(result);
      },
    },
    clock: { now: () => now, monotonic: () => performance.now() },
    remaining: () => turn.steps.slice(next),
  };
}

/** Pure. Of a count of estimates what a provider counts in their place; replies are as they are. */
export function promptTimes(usage: Usage, ratio: number): Usage {
  if (ratio === 1) return usage;
  const [input, cacheRead, cacheWrite] = [usage.input, usage.cacheRead, usage.cacheWrite].map(
    (tokens) => Math.round(tokens * ratio),
  ) as [number, number, number];
  const totalTokens = input + cacheRead + cacheWrite + usage.output;
  return { ...usage, input, cacheRead, cacheWrite, totalTokens };
}

function recordedOutcome(result: RecordedStep["results"][number] | undefined): ToolOutcome {
  if (result === undefined) {
    const text = "The recording holds no result of this call.";
    return { content: [{ type: "text", text }], isError: true };
  }
  const content = Array.isArray(result.content)
    ? result.content
    : [{ type: "text" as const, text: String(result.content ?? "") }];
  return {
    content,
    isError: result.isError === true,
    ...(result.details !== undefined && { details: result.details }),
  };
}

/** Stands where the name of the model would: no model made this reply. */
const END_OF_RECORDING = "end-of-recording";

const NO_MODEL = "A replay has no model to summarise with.";

/**
 * What the provider counted then was another request: the recorder's history, not what was
 * assembled here. So it is estimated.
 */
function withUsageOf(
  { systemPrompt, messages }: ModelCall,
  reply: AssistantMessage,
): AssistantMessage & { usage: Usage } {
  const input = Math.ceil(
    estimateText(systemPrompt).estimate + estimateMessages(messages).estimate,
  );
  const output = reply.usage?.output || Math.ceil(estimateMessage(reply).estimate);
  return {
    ...reply,
    usage: { input, output, cacheRead: 0, cacheWrite: 0, totalTokens: input + output },
  };
}

/**
 * The recorded turn was left here: by a new message of the person, or because the recording ends.
 */
function endOfRecording(): StreamEvent {
  const message = "The recorded turn ends here.";
  return {
    type: "error",
    error: { kind: "aborted", message },
    partial: { ...emptyReply("aborted", message), model: END_OF_RECORDING },
  };
}

function emptyReply(stopReason: "aborted" | "error", errorMessage: string): AssistantMessage {
  return { role: "assistant", content: [], stopReason, errorMessage };
}

function timeOf(message: AgentMessage): number | undefined {
  return typeof message.timestamp === "number" ? message.timestamp : undefined;
}
