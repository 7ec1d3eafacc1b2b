// Which engine a replay runs, and under which configuration.
import type { ModelPort } from "@clew/engine-core";
import type { ExactCounter } from "@clew/plugin-sdk/tokens";
import { textOf } from "@clew/plugin-sdk/transcript";
import { PRICE } from "./prices.ts";

/** An engine as it is named on the command line: "legacy", or "legacy:no-model". */
export interface EngineChoice {
  name: string;
  engineId: string;
  /** False: nobody answers whoever wants a summary. */
  hasSummaries: boolean;
}

const NO_MODEL = ":no-model";

/** Pure. */
export function readEngineChoice(name: string): EngineChoice {
  const hasSummaries = !name.endsWith(NO_MODEL);
  return { name, engineId: hasSummaries ? name : name.slice(0, -NO_MODEL.length), hasSummaries };
}

/** What the replay's gateway is configured with. Pure. */
export function configOf(
  { engineId }: EngineChoice,
  { base, pluginFolders }: { base: Record<string, unknown>; pluginFolders: readonly string[] },
): Record<string, unknown> {
  const agents = recordIn(base, "agents");
  const defaults = recordIn(agents, "defaults");
  const plugins = recordIn(base, "plugins");
  return {
    ...base,
    // A recorded turn is as long as it was.
    agents: {
      ...agents,
      defaults: { maxModelCalls: 100_000, timeoutSeconds: 100_000, ...defaults },
    },
    plugins: {
      ...plugins,
      slots: { ...recordIn(plugins, "slots"), contextEngine: engineId },
      load: { ...recordIn(plugins, "load"), paths: [...pluginFolders] },
    },
  };
}

/** The section under `key`; empty where there is none. */
export function recordIn(value: Record<string, unknown>, key: string): Record<string, unknown> {
  const found = value[key];
  return typeof found === "object" && found !== null ? (found as Record<string, unknown>) : {};
}

/** The model of summaries, watched: what its calls cost, or that there is none. */
export function watchSummaries(
  { hasSummaries }: EngineChoice,
  counter: ExactCounter,
): { wrap: (model: ModelPort) => ModelPort; cost: () => number } {
  let cost = 0;
  const complete =
    (model: ModelPort): ModelPort["complete"] =>
    async (call) => {
      const answer = await model.complete(call);
      const asked = [call.systemPrompt, ...call.messages.map(textOf)];
      const input = asked.reduce((sum, text) => sum + counter.count(text), 0);
      const output = answer.ok ? counter.count(textOf(answer.message)) : 0;
      cost += PRICE.input * input + PRICE.output * output;
      return answer;
    };
  const refuse: ModelPort["complete"] = async () => ({
    ok: false,
    error: { kind: "auth", message: "There is no model here." },
    partial: { role: "assistant", content: [], stopReason: "error" },
  });
  return {
    wrap: (model) => ({ ...model, complete: hasSummaries ? complete(model) : refuse }),
    cost: () => cost,
  };
}
