// Stops a turn at a call of its client until the result is brought.
import type { ToolOutcome, ToolPort } from "@clew/engine-core";
import type { ToolCallBlock, ToolResultMessage, UserBlock } from "@clew/plugin-sdk/core";
import type { ModelCall } from "@clew/plugin-sdk/host";
import type { TurnClient } from "../../host/turn-client.ts";
import type { ClientAsk } from "../ask/client-ask.ts";
import type { Audience } from "./audience.ts";
import type { NewestTurn } from "./newest-turn.ts";

export interface OpenTurn {
  readonly client: TurnClient;
  /** Calls that the client makes; others are Clew's own business. */
  readonly isClients: (call: ToolCallBlock) => boolean;
  /** The message that began it; "" before it is stored. */
  entryId: string;
  /** How many answers it gave. */
  answers: number;
  /** Where what happens is written; what happens while nobody asks is in the transcript alone. */
  audience: Audience;
  /** Whether these results are what it waits for. */
  waitsFor(newest: Pick<NewestTurn, "results">): boolean;
  /** The model has spoken: these are its calls. */
  hasCalled(calls: readonly ToolCallBlock[]): void;
  /** Goes on where it stopped. */
  goOn(newest: NewestTurn, ask: ClientAsk): void;
}

export interface OpenTurnOptions {
  ask: ClientAsk;
  audience: Audience;
  /** Resolves when somebody hears the model, or nobody will. */
  attended: TurnClient["attended"];
  ownTools: TurnClient["ownTools"];
  /** Told that it waits, and that it does not any more. */
  onWaiting: (waits: boolean) => void;
}

/** What the model is told of a call that a client passed over. */
const NO_RESULT: ToolOutcome = {
  content: [{ type: "text", text: "The client gave no result of this call." }],
  isError: true,
};

export function createOpenTurn(options: OpenTurnOptions): OpenTurn {
  const { ask, audience, attended, ownTools, onWaiting } = options;
  let asked = ask;
  /** What a request asks of the next call alone: in a loop the model would never come to an end. */
  let chooses = true;
  let calls: readonly ToolCallBlock[] = [];
  let outcomes = new Map<string, ToolOutcome>();
  let wake: (() => void) | undefined;
  const wait = (signal: AbortSignal) =>
    new Promise<void>((resolve, reject) => {
      const stop = () => {
        wake = undefined;
        onWaiting(false);
        reject(signal.reason as Error);
      };
      wake = () => {
        signal.removeEventListener("abort", stop);
        wake = undefined;
        onWaiting(false);
        resolve();
      };
      signal.addEventListener("abort", stop, { once: true });
      onWaiting(true);
      turn.audience.pause();
    });
  const tools: ToolPort = {
    // The same in the whole turn.
    list: () => ask.tools,
    async run({ call, signal }) {
      if (!outcomes.has(call.id)) await wait(signal);
      return outcomes.get(call.id) ?? NO_RESULT;
    },
  };
  const turn: OpenTurn = {
    client: {
      ...{ ownTools, tools, system: ask.system, attended },
      ask(call) {
        const isFirst = chooses;
        chooses = false;
        return withAsk(call, asked, isFirst);
      },
    },
    isClients: ({ name }) => ask.tools.some((tool) => tool.name === name),
    ...{ entryId: "", answers: 0, audience },
    waitsFor: ({ results }) =>
      wake !== undefined && results.some((result) => answeredBy(result, calls) !== undefined),
    hasCalled(made) {
      calls = made.filter(turn.isClients);
      outcomes = new Map();
    },
    goOn(newest, next) {
      asked = next;
      chooses = true;
      outcomes = outcomesOf(newest, calls);
      wake?.();
    },
  };
  return turn;
}

/** By id; where the wire has none, the first of that name. */
export const answeredBy = (
  { toolCallId: id, toolName: name }: ToolResultMessage,
  calls: readonly ToolCallBlock[],
): ToolCallBlock | undefined =>
  id === "" ? calls.find((call) => call.name === name) : calls.find((call) => call.id === id);

/** Of each call, with what is said beside the results. */
export function outcomesOf(
  { results, said }: Pick<NewestTurn, "results" | "said">,
  calls: readonly ToolCallBlock[],
): Map<string, ToolOutcome> {
  const outcomes = new Map<string, ToolOutcome>();
  for (const result of results) {
    const open = calls.filter(({ id }) => !outcomes.has(id));
    const call = answeredBy(result, open);
    if (call !== undefined)
      outcomes.set(call.id, { content: result.content, isError: result.isError });
  }
  for (const { id } of calls) if (!outcomes.has(id)) outcomes.set(id, NO_RESULT);
  const last = calls.at(-1);
  if (last !== undefined && said.length > 0)
    outcomes.set(last.id, withWords(outcomes.get(last.id)!, said));
  return outcomes;
}

/** A turn has one message of a person: what is said beside results is read behind the last one. */
const withWords = (outcome: ToolOutcome, said: readonly UserBlock[]): ToolOutcome => ({
  ...outcome,
  content: [...outcome.content, { type: "text", text: BESIDE }, ...said],
});

const BESIDE = "[Said by the user beside these results:]";

function withAsk(call: ModelCall, ask: ClientAsk, isFirst: boolean): ModelCall {
  const { maxOutputTokens, temperature, reasoning, parallelToolCalls, responseFormat } = ask;
  const most = Math.min(
    maxOutputTokens ?? Number.POSITIVE_INFINITY,
    call.maxOutputTokens ?? Number.POSITIVE_INFINITY,
    call.model.maxOutputTokens,
  );
  const choice = isFirst ? ask.toolChoice : undefined;
  return {
    ...call,
    ...(maxOutputTokens !== undefined && { maxOutputTokens: most }),
    ...(temperature !== undefined && { temperature }),
    ...(reasoning !== undefined && { reasoning }),
    ...(parallelToolCalls !== undefined && { parallelToolCalls }),
    ...(responseFormat !== undefined && { responseFormat }),
    ...(choice !== undefined && { toolChoice: choice }),
  };
}
